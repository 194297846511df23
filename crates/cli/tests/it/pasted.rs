//! What people paste of health, of the kernel and of monitors: the finding first, in words.

use std::fs;

use crate::home::Home;
use crate::process::run;

fn write(home: &Home, name: &str, content: &str) -> String {
    let path = home.place().join(name);
    fs::write(&path, content).unwrap();
    path.to_str().unwrap().to_owned()
}

fn fixture(name: &str) -> String {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../import/tests/import/");
    fs::read_to_string(format!("{place}{name}")).unwrap()
}

/// The page of `words` over a file of `content`, at `status`.
fn page(words: &[&str], content: &str, status: i32) -> String {
    let home = Home::new();
    let file = write(&home, "paste.txt", content);
    let ended = run(home.cardproof(&[words, &[file.as_str()]].concat())).expect(status);
    format!("{}{}", ended.stdout, ended.stderr)
}

fn assert_holds(page: &str, told: &[&str]) {
    for told in told {
        assert!(page.contains(told), "'{told}' is not in:\n{page}");
    }
}

#[test]
fn health_reads_reports_of_drives_in_words() {
    let sound = page(&["health", "--raw"], &fixture("smartctl-nvme.txt"), 0);
    assert_holds(&sound, &["97 % used", "100 % left", "917.9 TB"]);
    let failed = page(&["health", "--raw"], &fixture("smartctl-ata-failed.txt"), 4);
    assert_holds(
        &failed,
        &["FAILED", "1,975", "Reallocated_Sector_Ct is 1", "1. copy your data to another device"],
    );
    let worn = page(&["health", "--raw"], &fixture("nvme-smart-log.txt"), 4);
    assert_holds(&worn, &["critical warning", "1,204 media errors", "limit is 10 %"]);
}

#[test]
fn health_tells_what_messages_of_the_kernel_mean() {
    let dying = "Oct 02 11:22:33 pi kernel: I/O error, dev sda, sector 12 op 0x1:(WRITE) flags 0x800\n\
        Oct 02 11:22:34 pi kernel: EXT4-fs error (device sda2): ext4_journal_check_start:83: aborted\n\
        Oct 02 11:22:36 pi kernel: EXT4-fs (sda2): Remounting filesystem read-only\n";
    assert_holds(&page(&["health", "--raw"], dying, 4), &["COPY YOUR DATA NOW", "on sda2"]);
    // Lines that were chosen acquit nothing.
    let power = "[    9.1] hwmon hwmon1: Undervoltage detected!\n[   12.1] hwmon hwmon1: Voltage normalised\n";
    let page_of_power = page(&["health", "--raw"], power, 0);
    assert_holds(&page_of_power, &["watch it", "Points to: the power supply"]);
    let both = "[1.0] I/O error, dev sda, sector 12 op 0x1:(WRITE) flags 0x800\n\
        [2.0] I/O error, dev mmcblk0, sector 8 op 0x0:(READ) flags 0x800\n";
    assert_holds(&page(&["health", "--raw"], both, 2), &["sda, mmcblk0", "identify --raw"]);
}

#[test]
fn health_says_why_a_program_read_nothing() {
    let bridge = r#"{"smartctl":{"messages":[{"string":"/dev/sda: Unknown USB bridge [0x152d:0x0583 (0x205)]","severity":"error"}],"exit_status":1}}"#;
    assert_holds(&page(&["health", "--raw"], bridge, 1), &["USB bridge", "-d sat --json"]);
    let card = "sudo ./sdmon /dev/mmcblk0\n{\n\"version\": \"v\",\n\"device\":\"/dev/mmcblk0\",\n\
        \"error1\":\"1st CMD56 CALL FAILED: Operation timed out\"\n}\n";
    assert_holds(&page(&["health", "--raw"], card, 1), &["does not answer CMD56", "endure"]);
}

#[test]
fn health_reads_sdmon_of_every_maker() {
    let adata = "{\n\"device\":\"/dev/mmcblk0\",\n\"Adata\":\"true\",\n\"Grown bad block cnt\": 0,\n\
        \"Data area minimum erase cnt\": 0,\n\"Data area maximum erase cnt\": 2,\n\
        \"Data area total erase cnt\": 405,\n\"Data area average erase cnt\": 0,\n\
        \"Raw card capacity\": 59777 MB,\n\"Remaining life\": 100%,\n\"success\":true\n}\n";
    let told = [
        "100 % left",
        "erases max           2",
        "erases total         405",
        "bad blocks later     0",
    ];
    assert_holds(&page(&["health", "--raw"], adata, 0), &told);
    assert_holds(&page(&["import"], adata, 2), &["run `cardproof health --raw"]);
    let transcend = "{\n\"Transcend\":\"true\",\n\"Minimum erase cnt\": 0,\n\"Maximum erase cnt\": 1,\n\
        \"Average erase cnt\": 0,\n\"Remaining card life\": 93%,\n\"success\":true\n}\n";
    assert_holds(&page(&["health", "--raw"], transcend, 0), &["93 % left"]);
    let gib = r#"{"smartctl":{},"ata_smart_attributes":{"table":[{"id":231,"name":"SSD_Life_Left","value":76,"thresh":0,"raw":{"value":76}},{"id":241,"name":"Lifetime_Writes_GiB","value":100,"thresh":0,"raw":{"value":14002}}]}}"#;
    assert_holds(&page(&["health", "--raw"], gib, 0), &["76 % left", "15.0 TB"]);
}

#[test]
fn identify_explains_what_the_kernel_says() {
    let read_only = page(&["identify", "--raw"], &fixture("kernel-log-read-only.txt"), 0);
    let told = ["did not answer in time", "10,372,992", "3,767,312", "became read-only", "back up"];
    assert_holds(&read_only, &told);
    let narrow = page(&["identify", "--raw"], &fixture("kernel-log-syslog.txt"), 0);
    assert_holds(&narrow, &["eMMC HAG2e, 14.7 GiB", "50 MHz", "1 data line", "at most 6.25 MB/s"]);
    let queue = "[    1.48] mmc0: Command Queue Engine enabled, 31 tags\n\
        [    1.49] mmc0: new UHS-I speed SDR104 SDXC card at address 59b4\n\
        [    1.50] mmcblk0: mmc0:59b4 ED2S5 239 GiB\n\
        [  301.12] mmc0: running CQE recovery\n[  301.22] mmc0: running CQE recovery\n";
    let told = ["ED2S5, 239", "command queue on", "2 messages", "dtparam=sd_cqe=0"];
    assert_holds(&page(&["identify", "--raw"], queue, 0), &told);
}

#[test]
fn watch_tells_who_writes_where_a_monitor_does_not_tell_more() {
    let iotop = "    PID  PRIO  USER     DISK READ  DISK WRITE  SWAPIN     IO>    COMMAND\n\
        \x20    95 ?sys root          0.00 B    860.00 K              [jbd2/mmcblk0p2-]\n\
        \x20   145 ?sys root          0.00 B      3.03 M              systemd-journald\n";
    let told = ["systemd-journald: 3.0 MiB", "the journal of mmcblk0p2", "iostat -x 20"];
    assert_holds(&page(&["watch", "--explain"], iotop, 0), &told);
    let pidstat = "10:12:01      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n\
        10:12:06      999       812      0.00    512.00      0.00      44  mariadbd\n";
    assert_holds(&page(&["watch", "--explain"], pidstat, 0), &["mariadbd: 512 KiB a second"]);
    let vmstat = "r  b   swpd   free   buff  cache   si   so    bi    bo   in\n";
    assert_holds(&page(&["watch", "--explain"], vmstat, 2), &["vmstat", "iostat -x 20"]);
    let sar = "06:24:52 PM       DEV       tps     rkB/s     wkB/s   areq-sz    aqu-sz     await     %util\n\
        06:24:54 PM   mmcblk0    196.00    652.00  11760.00     63.33      9.37     42.77    101.75\n";
    assert_holds(&page(&["watch", "--explain"], sar, 0), &["mmcblk0", "196"]);
}
