//! Outputs that tell of faults and of no speed, and those of two more tools.

use cardproof_record::OpName;

use super::Row;
use super::dice::{Dice, printed};

/// Messages of the kernel about one card.
pub(super) fn kernel_log(dice: &mut Dice) -> Vec<Row> {
    let mut time = dice.between(10.0, 5000.0);
    let mut rows = Vec::new();
    let sector = dice.below(60_000_000);
    let messages = [
        "mmc0: new ultra high speed SDR104 SDHC card at address aaaa".to_owned(),
        "mmcblk0: mmc0:aaaa SC32G 29.7 GiB".to_owned(),
        format!(
            "mmcblk0: error -110 transferring data, sector {sector}, nr 8, cmd response 0x900, card status 0x0"
        ),
        format!(
            "I/O error, dev mmcblk0, sector {sector} op 0x0:(READ) flags 0x0 phys_seg 1 prio class 2"
        ),
        "Aborting journal on device mmcblk0p2-8.".to_owned(),
        "EXT4-fs (mmcblk0p2): Remounting filesystem read-only".to_owned(),
    ];
    for (index, message) in messages.into_iter().enumerate() {
        time += dice.between(0.001, 1.0);
        let row = Row::new(format!("[{time:>12.6}] {message}"));
        rows.push(Row { has_fault: index > 1, ..row });
    }
    rows
}

/// bonnie++ 1.96 with all columns.
pub(super) fn bonnie(dice: &mut Dice) -> Vec<Row> {
    let [write, rewrite, read] = [(4000.0, 60_000.0), (2000.0, 30_000.0), (9000.0, 90_000.0)]
        .map(|(low, high)| dice.between(low, high).round());
    let row = Row::new(format!(
        "raspberrypi   7888M   754  97 {write:.0}   9 {rewrite:.0}   4  3479  88 {read:.0}   5 258.5   2"
    ));
    vec![
        Row::new("Version  1.96       ------Sequential Output------ --Sequential Input- --Random-"),
        Row::new("Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--"),
        Row::new("Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP"),
        row.tells(OpName::Write, write).tells(OpName::Unknown, rewrite).tells(OpName::Read, read),
    ]
}

/// AS SSD Benchmark.
pub(super) fn as_ssd(dice: &mut Dice) -> Vec<Row> {
    let mut rows = vec![
        Row::new("AS SSD Benchmark 2.0.7316.34247"),
        Row::new("------------------------------"),
        Row::new("Name: Generic MassStorage"),
        Row::new("Size: 57.28 GB"),
        Row::new("Date: 2024/11/28 14:18:03"),
    ];
    for (section, high) in [("Sequential:", 95.0), ("4K:", 9.0), ("4K-64Threads:", 12.0)] {
        rows.push(Row::new("------------------------------"));
        rows.push(Row::new(section));
        rows.push(Row::new("------------------------------"));
        for (name, op) in [("Read", OpName::Read), ("Write", OpName::Write)] {
            let (rate, value) = printed(dice.between(high / 20.0, high), 2);
            rows.push(Row::new(format!("{name}: {rate} MB/s")).tells(op, value));
        }
    }
    rows
}
