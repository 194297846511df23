//! Figures parted from what a tool prints around them: a table without its log, a window's figures below
//! its name in a sentence, a last line behind a message.

use crate::all_of;
use crate::forms::{check, told};

#[test]
fn a_program_with_a_window_may_be_named_at_the_end_of_a_line() {
    let lines = "Random Read 9.94 MB/s, 2545.2 IOPS(4K)\nRandom Write 3.67 MB/s, 940.4 IOPS(4K)\n";
    let phases = [
        "random-read-4k 9.94 MB/s, 2545.2 IOPS unknown",
        "random-write-4k 3.67 MB/s, 940.4 IOPS unknown",
    ];
    for (heading, label) in [
        (
            "Sony Xperia, Sandisk Extreme 128 GB, AndroBench 5.0.1:",
            "Sony Xperia, Sandisk Extreme 128 GB:",
        ),
        ("Samsung EVO Plus 64GB (AndroBench)", "Samsung EVO Plus 64GB:"),
    ] {
        check(&[(&format!("{heading}\n{lines}"), &[label, phases[0], phases[1]])]);
    }
    check(&[
        (&format!("Here is what AndroBench says:\n{lines}"), &phases),
        (
            "AmorphousDiskMark 4.0\nSequential Read 1MiB (QD=8): 88.21 MB/s\n\
             Random Write 4KiB (QD= 64, T= 1): 3.2 MB/s [781.3 IOPS]\n",
            &[
                "sequential-read-1m-qd8 88.21 MB/s unknown",
                "random-write-4k-qd64 3.2 MB/s, 781.3 IOPS unknown",
            ],
        ),
    ]);
    for prose in [
        "AndroBench is what the seller used.\nUp to 90 MB/s read, 40 MB/s write\n",
        "I have no AndroBench on my phone\nRandom read 9.94 MB/s\n",
    ] {
        assert!(all_of(prose).is_err(), "{prose}");
    }
}

#[test]
fn the_table_of_pibenchmarks_is_read_without_its_log() {
    let table = |write: u32| {
        format!(
            "     Category                  Test                      Result\n\
             HDParm                    Disk Read                 41.90 MB/s\n\
             HDParm                    Cached Disk Read          42.14 MB/s\n\
             DD                        Disk Write                19.6 MB/s\n\
             FIO                       4k random read            2764 IOPS (11058 KB/s)\n\
             FIO 4k random write {write} IOPS ({} KB/s)\n\
             IOZone                    4k read                   9310 KB/s\n\
             IOZone                    4k write                  -\n\
                                       Score: 1172\n",
            write * 4
        )
    };
    let phases = |write: u32| {
        [
            "sequential-read-2m-qd1 41.9 MB/s direct".to_owned(),
            "sequential-write-4k-qd1-buffered 19.6 MB/s cached".to_owned(),
            format!("random-write-4k-qd64 {write} IOPS, {} KB/s direct", write * 4),
            "random-read-4k-qd64 2764 IOPS, 11058 KB/s direct".to_owned(),
            "sequential-read-4k-qd1 9310 KB/s direct".to_owned(),
        ]
    };
    assert_eq!(told(&table(729)), phases(729));
    let two = format!("SanDisk Ultra 32GB\n\n{}\nSamsung EVO 32GB\n\n{}", table(729), table(905));
    let bare = told(&format!("{}\n{}", table(729), table(905)));
    assert_eq!(bare, [phases(729), phases(905)].concat());
    assert_eq!(all_of(&format!("{}\n{}", table(729), table(905))).unwrap().records.len(), 2);
    let found = told(&two);
    let names = ["SanDisk Ultra 32GB:".to_owned()];
    let second = ["Samsung EVO 32GB:".to_owned()];
    assert_eq!(found, [&names[..], &phases(729), &second, &phases(905)].concat());
}

#[test]
fn a_message_of_dd_parts_no_run_from_its_command() {
    let progress = "31809601536 bytes (32 GB, 30 GiB) copied, 1702 s, 18.7 MB/s\n";
    let end = "31828475904 bytes (32 GB, 30 GiB) copied, 1703.52 s, 18.7 MB/s\n";
    for (message, records) in [
        (
            "dd: error writing '/dev/sdb': No space left on device",
            "7589+0 records in\n7588+0 records out",
        ),
        (
            "dd: Fehler beim Schreiben von '/dev/sdb': Auf dem Gerät ist kein Speicherplatz mehr verfügbar",
            "7589+0 Datensätze ein\n7588+0 Datensätze aus",
        ),
        (
            "dd: error writing '/dev/sdb': Input/output error",
            "7589+1 records in\n7588+1 records out",
        ),
    ] {
        let text = format!(
            "# dd if=/dev/zero of=/dev/sdb bs=4M oflag=direct status=progress\n{progress}{message}\n{records}\n{end}"
        );
        let told = told(&text);
        assert!(told.len() == 1 && told[0].contains("write"), "{message}: {told:?}");
    }
}
