//! Errors count against the medium that they are of, and not against what has its name after it.

use super::*;

/// The kinds of what counts against `name`, and of what is of earlier media under it.
fn counted(text: &str, name: &str, host: Option<&str>) -> (Vec<TroubleKind>, Vec<TroubleKind>) {
    let log = read_named((1..).zip(text.lines()));
    let now = log.of(name, host).map(|it| it.troubles.clone()).unwrap_or_default();
    let kinds = |troubles: Vec<Trouble>| troubles.into_iter().map(|it| it.kind).collect();
    (kinds(now), kinds(log.errors_before(name, host)))
}

fn card(text: &str) -> (Vec<TroubleKind>, Vec<TroubleKind>) {
    counted(text, "mmcblk0", Some("mmc0"))
}

const IO: TroubleKind = TroubleKind::Io;
const CARD_ERROR: &str = "I/O error, dev mmcblk0, sector 8 op 0x0:(READ) flags 0x0\n";
const DISK_ERROR: &str = "I/O error, dev sda, sector 8 op 0x0:(READ) flags 0x0\n";
const LOOP_ERROR: &str = "I/O error, dev loop0, sector 8 op 0x0:(READ) flags 0x0\n";

/// What the kernel says when a card is found, and when it is gone.
fn found(address: &str, name: &str) -> String {
    format!(
        "mmc0: new high speed SDHC card at address {address}\nmmcblk0: mmc0:{address} {name} 14.8 GiB\n"
    )
}

fn gone(address: &str) -> String {
    format!("mmc0: card {address} removed\n")
}

/// What the kernel says when a stick is found.
fn stick(host: u8, model: &str, blocks: u64) -> String {
    format!(
        "scsi {host}:0:0:0: Direct-Access     {model}     1.26 PQ: 0 ANSI: 5\n\
         sd {host}:0:0:0: [sda] {blocks} 512-byte logical blocks: (16.0 GB/14.9 GiB)\n"
    )
}

#[test]
fn another_card_has_no_errors_of_the_one_before() {
    let first = found("aaaa", "SC16G") + CARD_ERROR + &gone("aaaa");
    assert_eq!(card(&(first.clone() + &found("59b4", "USD00"))), (vec![], vec![IO]));
    // The line that names the first was lost; its address is known.
    let nameless = format!("{CARD_ERROR}{}{}", gone("aaaa"), found("59b4", "USD00"));
    assert_eq!(card(&nameless), (vec![], vec![IO]));
    let own = first + &found("59b4", "USD00") + CARD_ERROR;
    assert_eq!(card(&own), (vec![IO], vec![IO]));
}

#[test]
fn a_card_that_comes_back_by_itself_keeps_its_errors() {
    let back = gone("aaaa") + &found("aaaa", "SC16G");
    let kept = (vec![IO, TroubleKind::Gone], vec![]);
    assert_eq!(card(&(found("aaaa", "SC16G") + CARD_ERROR + &back)), kept);
    // The line with its name is lost among so many errors.
    assert_eq!(card(&format!("{CARD_ERROR}{back}")), kept);
}

#[test]
fn a_card_that_was_swapped_twice_has_its_own_errors_only() {
    let first = found("aaaa", "SC16G") + CARD_ERROR + &gone("aaaa");
    let second = found("59b4", "USD00")
        + "mmc0: Card stuck being busy! __mmc_poll_for_busy\n"
        + &gone("59b4");
    let busy = TroubleKind::StuckBusy;
    assert_eq!(card(&(first.clone() + &second + &found("aaaa", "SC16G"))), (vec![IO], vec![busy]));
    let third = first + &second + &found("0001", "SD32G");
    assert_eq!(card(&third), (vec![], vec![IO, busy]));
}

#[test]
fn another_stick_is_told_by_its_model_or_size() {
    let disk = |text: &str| counted(text, "sda", None);
    let first = stick(0, "SanDisk  Cruzer Blade", 31_266_816);
    let bad = format!("{first}{DISK_ERROR}");
    let other = stick(1, "Kingston DataTraveler", 31_266_816);
    assert_eq!(disk(&format!("{bad}{other}")), (vec![], vec![IO]));
    let larger = stick(0, "SanDisk  Cruzer Blade", 62_533_632);
    assert_eq!(disk(&format!("{bad}{larger}")), (vec![], vec![IO]));
    let again = stick(1, "SanDisk  Cruzer Blade", 31_266_816);
    assert_eq!(disk(&format!("{bad}{again}")), (vec![IO], vec![]));
    assert_eq!(disk(&format!("{bad}{other}{again}")), (vec![IO], vec![]));
    assert_eq!(disk(&format!("{bad}{other}{larger}")), (vec![], vec![IO]));
    // The lines with its model and size are lost among so many errors.
    assert_eq!(disk(&format!("{DISK_ERROR}{again}")), (vec![IO], vec![]));
}

#[test]
fn another_card_in_a_usb_reader_is_told_by_its_size() {
    let disk = |text: &str| counted(text, "sda", None);
    // Bytes up to Linux 5.10, and sectors since.
    for unit in [512, 1] {
        let out = format!("sda: detected capacity change from {} to 0\n", 31_116_288 * unit);
        let back = |sectors: u64| {
            format!(
                "sd 0:0:0:0: [sda] {sectors} 512-byte logical blocks: (15.9 GB/14.8 GiB)\n\
                 sda: detected capacity change from 0 to {}\n",
                sectors * unit
            )
        };
        let same = format!("{DISK_ERROR}{out}{}", back(31_116_288));
        assert_eq!(disk(&same), (vec![IO], vec![]), "{same}");
        let other = format!("{DISK_ERROR}{out}{}", back(62_333_952));
        assert_eq!(disk(&other), (vec![], vec![IO]), "{other}");
        let bare = format!("{DISK_ERROR}{out}sda: detected capacity change from 0 to 7777792\n");
        assert_eq!(disk(&bare), (vec![], vec![IO]), "{bare}");
    }
}

#[test]
fn another_file_of_a_loop_device_has_no_errors_of_the_one_before() {
    let file = |text: &str| counted(text, "loop0", None);
    let put = "loop0: detected capacity change from 0 to 20480\n";
    assert_eq!(file(&format!("{put}{LOOP_ERROR}{put}")), (vec![], vec![IO]));
    assert_eq!(file(&format!("{LOOP_ERROR}{put}")), (vec![], vec![IO]));
    assert_eq!(file(&format!("{put}{LOOP_ERROR}{put}{put}{LOOP_ERROR}")), (vec![IO], vec![IO]));
    // The file grows under the device.
    let grown = "loop0: detected capacity change from 20480 to 40960\n";
    assert_eq!(file(&format!("{put}{LOOP_ERROR}{grown}")), (vec![IO], vec![]));
    let other = LOOP_ERROR.replace("loop0", "loop1");
    assert_eq!(file(&format!("{put}{LOOP_ERROR}{put}{other}")).0, []);
}

#[test]
fn what_is_said_of_an_address_is_of_the_disk_that_was_there() {
    let offline = "sd 0:0:0:0: Device offlined - not ready after error recovery\n";
    let first = stick(0, "SanDisk  Cruzer Blade", 31_266_816);
    let other = stick(0, "Kingston DataTraveler", 31_266_816);
    let read = |text: &str| read_named((1..).zip(text.lines()));
    let log = read(&format!("{first}{offline}{other}"));
    assert_eq!((log.others.len(), log.errors_before("sda", None).len()), (0, 1), "{log:#?}");
    assert_eq!(read(&format!("{first}{offline}{first}")).others.len(), 1);
}

#[test]
fn only_devices_whose_media_are_changed_tell_a_change_of_size() {
    for line in [
        "nvme0n1: detected capacity change from 0 to 20480",
        "vda: detected capacity change from 20480 to 40960",
        "sda1: detected capacity change from 0 to 20480",
        "loop0: detected capacity change from x to 20480",
        "scsi host0: usb-storage 1-1:1.0",
    ] {
        assert_eq!(event(line), None, "{line}");
    }
}
