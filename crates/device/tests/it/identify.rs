//! Identification of machines that lie, and dumps that must not tell too much.

use std::fs;
use std::path::Path;

use crate::common::{Tree, machines};
use cardproof_device::Sysroot;
use cardproof_device::identify::{CeilingSource, Identity, StorageChoice, identify, storages};
use cardproof_registers::parse_hex;
use proptest::prelude::*;

/// The recorded machines, as text.
fn trees() -> Vec<String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trees");
    let mut paths: Vec<_> = fs::read_dir(directory).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// Looks at everything that can be looked at.
fn look_at_all(root: &Sysroot) {
    for storage in storages(root) {
        let place = StorageChoice::Named(format!("/dev/{}", storage.name).into());
        if let Ok(identity) = identify(root, &place) {
            serde_json::to_string(&identity).unwrap();
        }
    }
    let identity = identify(root, &StorageChoice::System).unwrap();
    assert!(!identity.unknown.iter().any(|unknown| unknown.needed.is_empty()));
}

#[test]
fn no_serial_number_name_or_path_is_in_a_dump() {
    let machines: [Tree; 7] = [
        machines::pi4_with_sd_card("179:2"),
        machines::pi_with_emmc(),
        machines::usb_stick_on_usb2(),
        machines::nvme_with_luks_and_btrfs(),
        machines::array_of_sata_and_usb3(),
        machines::virtual_machine_with_loop(),
        machines::garbage(),
    ];
    for tree in machines {
        tree.file("sys/fs/btrfs/SECRET-uuid/devices/dm-0", "");
        let root = tree.root().with_journal();
        look_at_all(&root);
        for name in ["/dev/loop7", "/dev/dm-0"] {
            let _ = identify(&root, &StorageChoice::Named(name.into()));
        }
        let dump = root.dump();
        let told: Vec<&str> = dump.lines().filter(|line| line.contains("SECRET")).collect();
        assert!(told.is_empty(), "{told:#?}");
        assert!(dump.lines().count() > 10, "{dump}");
    }
}

#[test]
fn a_dump_of_a_directory_tells_what_the_directory_tells() {
    for tree in [machines::pi4_with_sd_card("179:2"), machines::usb_stick_on_usb2()] {
        let root = tree.root().with_journal();
        let first = identify(&root, &StorageChoice::System).unwrap();
        let again =
            identify(&Sysroot::from_dump(&root.dump()).unwrap(), &StorageChoice::System).unwrap();
        assert_eq!(first.device, again.device);
        assert_eq!(first.settings, again.settings);
        assert_eq!(first.host, again.host);
    }
}

/// Without debugfs and kernel log the board is what is left, and says so; a record gets no ceiling
/// from it, for no measurement may be doubted because of a guess.
#[test]
fn what_only_the_board_tells_is_no_fact_of_a_record() {
    let tree = machines::pi4_with_sd_card("179:2");
    let identity = identify(&tree.root(), &StorageChoice::System).unwrap();
    let ceiling = identity.ceiling.unwrap();
    assert_eq!((ceiling.source, ceiling.bytes_per_s), (CeilingSource::Board, 50_000_000));
    assert_eq!(identity.device.link_ceiling_bytes_per_s, None);
    let bus = identity.unknown.iter().find(|unknown| unknown.what.starts_with("bus mode"));
    assert!(bus.unwrap().reason.contains("debugfs"));
}

#[test]
fn a_machine_without_sysfs_says_so() {
    let identity = identify(&Tree::new().root(), &StorageChoice::System).unwrap();
    assert!(identity.unknown[0].reason.contains("no sysfs"), "{:?}", identity.unknown);
}

/// The recorded machine with an eMMC, with `changed` in the place of each line `PATH = …`, or without
/// the line where that is empty, and more lines.
fn emmc(changes: &[(&str, &str)], more: &[String]) -> Identity {
    let text = include_str!("../trees/nanopi_emmc_hs200.txt");
    let lines = text.lines().filter_map(|line| {
        let (path, _) = line.split_once(" = ").unwrap_or((line, ""));
        match changes.iter().find(|(end, _)| path.ends_with(end)) {
            Some((_, "")) => None,
            Some((_, content)) => Some(format!("{path} = {content}")),
            None => Some(line.to_owned()),
        }
    });
    let tree = lines.chain(more.iter().cloned()).collect::<Vec<_>>().join("\n");
    identify(&Sysroot::from_dump(&tree).unwrap(), &StorageChoice::System).unwrap()
}

/// The directory of the eMMC in the tree of [`emmc`].
const CARD: &str = "sys/devices/platform/fe330000.mmc/mmc_host/mmc2/mmc2:0001";

/// The EXT_CSD in the tree of [`emmc`].
fn ext_csd() -> Vec<u8> {
    let text = include_str!("../trees/nanopi_emmc_hs200.txt");
    let hex = text.lines().find_map(|line| line.split_once("/ext_csd = ")).unwrap().1;
    parse_hex(hex).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn made(identity: &Identity) -> Option<&str> {
    identity.device.card.as_ref()?.manufactured.as_deref()
}

/// Today's kernels print byte 0 of EXT_CSD first, and older ones byte 511.
#[test]
fn an_emmc_is_the_same_to_an_old_kernel() {
    let mut register = ext_csd();
    assert_eq!((register[192], register[268]), (8, 4), "the recorded one is of today's");
    let today = emmc(&[], &[]);
    register.reverse();
    assert_eq!(emmc(&[("/ext_csd", &hex(&register))], &[]), today);
    let card = today.device.card.as_ref().unwrap();
    assert_eq!(card.specification.as_deref(), Some("5.1"));
    assert_eq!((card.life_used_percent_max, card.command_queue_depth), (Some(40), Some(32)));
    assert_eq!(today.capacity.register_bytes, today.capacity.kernel_bytes);
}

/// The device's code of the year is 8: 2005, 2021 or 2037. Older kernels know the first span alone,
/// or not the last.
#[test]
fn an_emmcs_year_is_the_later_of_what_the_register_and_the_kernel_say() {
    const CID: &str = "150100414a5444345208deadbeef5801";
    let ext_csd_of = |revision: u8| {
        let mut register = ext_csd();
        register[192] = revision;
        hex(&register)
    };
    for (revision, date, expected) in [
        (8, "", "2021-05"),
        (8, "05/2005", "2021-05"),
        (9, "", "2037-05"),
        (9, "05/2021", "2037-05"),
        (9, "05/2037", "2037-05"),
        (8, "05/2037", "2037-05"),
    ] {
        let (csd, level) = (ext_csd_of(revision), format!("{revision:#x}"));
        for csd in [csd.as_str(), ""] {
            let changes = [("/cid", CID), ("/rev", &*level), ("/ext_csd", csd)];
            let identity = emmc(&changes, &[format!("{CARD}/date = {date}")]);
            assert_eq!(made(&identity), Some(expected), "{revision} {date} {csd}");
        }
    }
}

/// A line of a tree with its content replaced.
fn with_content(line: &str, content: &[u8]) -> String {
    let escaped: String = content.iter().map(|byte| format!("\\x{byte:02x}")).collect();
    match line.split_once(" = ") {
        Some((path, _)) => format!("{path} = {escaped}"),
        None => line.to_owned(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_content_makes_it_panic(
        tree in 0..10_usize,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<Vec<u8>>()), 1..20),
        gone in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let text = trees().swap_remove(tree);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        for (index, content) in &changes {
            let at = 1 + index.index(lines.len() - 1);
            lines[at] = with_content(&lines[at], content);
        }
        for index in &gone {
            lines.remove(1 + index.index(lines.len() - 1));
        }
        let root = Sysroot::from_dump(&lines.join("\n")).unwrap().with_journal();
        look_at_all(&root);
        prop_assert!(Sysroot::from_dump(&root.dump()).is_ok());
    }

    #[test]
    fn no_number_makes_it_panic(tree in 0..10_usize, number in any::<i128>(), every in 1..5_usize) {
        let text = trees().swap_remove(tree);
        let content = number.to_string();
        let lines = text.lines().enumerate().map(|(index, line)| match index % every {
            0 if index > 0 => with_content(line, content.as_bytes()),
            _ => line.to_owned(),
        });
        look_at_all(&Sysroot::from_dump(&lines.collect::<Vec<_>>().join("\n")).unwrap());
    }
}
