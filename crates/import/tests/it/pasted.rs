//! Outputs between other things: articles, mails, forums, prompts, other systems' line ends.

use cardproof_import::{Imported, decode, import};
use cardproof_record::{Record, WarningCode};

use crate::{all_of, fixture, origin};

/// A table as it is pasted, with so many IOPS of 4 KiB.
fn table(read: u64, write: u64) -> String {
    format!(
        "                                                    random    random\n\
         \x20             kB  reclen    write  rewrite    read    reread    read     write\n\
         \x20         102400       4     3000     3100     7900     7950 {:>8} {:>9}\n\
         \x20         102400   16384    18000    18100    66000    66100    66050     17900\n",
        read * 4,
        write * 4,
    )
}

fn found(text: &str) -> Imported {
    let found = all_of(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(found.refused, []);
    found
}

/// Label, device, and the random rates of 4 KiB.
fn told(record: &Record) -> (Option<&str>, Option<&str>, Vec<f64>) {
    let card = record.conditions.device.card.as_ref();
    let random = record
        .phases
        .iter()
        .filter(|phase| phase.name.starts_with("random") && phase.name.contains("-4k"));
    let rates = random.filter_map(|phase| Some(phase.point_iops()?.0)).collect();
    (record.label.as_deref(), card.and_then(|card| card.product.as_deref()), rates)
}

#[test]
fn an_article_of_a_dozen_tables_is_a_dozen_cards() {
    let mut text = "# SD cards compared\n\nSome words about cards on a board.\n\n".to_owned();
    for card in 0..12_u64 {
        let (read, write) = (1000 + card * 100, 200 + card * 50);
        text.push_str(&format!(
            "## Brand {card} {}GB\n\nInserted:\n\n```\n[  {card}2.345678] mmc0: new ultra high speed SDR104 SDHC \
             card at address aaaa\n[  {card}2.400000] mmcblk0: mmc0:aaaa SL{card}2G 14.8 GiB\n\
             root@board:~# time iozone -e -I -a -s 100M -r 4k -r 16384k -i 0 -i 1 -i 2\n{}\n\
             real\t4m{card}.123s\nuser\t0m0.5s\nsys\t0m7.9s\n```\n\nThis one is fine.\n\n",
            16 << (card % 4),
            table(read, write)
        ));
    }
    let found = found(&text);
    assert_eq!(found.records.len(), 12);
    for (card, record) in (0..12_u64).zip(&found.records) {
        let label = format!("Brand {card} {}GB", 16 << (card % 4));
        let product = format!("SL{card}2G");
        let rates = vec![(1000 + card * 100) as f64, (200 + card * 50) as f64];
        assert_eq!(told(record), (Some(&*label), Some(&*product), rates));
        let doubts: Vec<WarningCode> =
            record.phases.iter().flat_map(|phase| &phase.warnings).map(|it| it.code).collect();
        assert_eq!(doubts, [], "the command says that access was direct");
    }
}

#[test]
fn names_before_tables_keep_cards_apart_and_runs_together() {
    let text = format!(
        "My old Samsung EVO 32GB:\n{}\nand the new Kingston 64GB:\n{}\nRun 2\n{}",
        table(2000, 500),
        table(3000, 900),
        table(3010, 905)
    );
    let found = found(&text);
    let told: Vec<_> = found.records.iter().map(told).collect();
    assert_eq!(told[0], (Some("My old Samsung EVO 32GB"), None, vec![2000.0, 500.0]));
    let rates = vec![3000.0, 900.0, 3010.0, 905.0];
    assert_eq!(told[1], (Some("and the new Kingston 64GB"), None, rates));
    assert_eq!(told.len(), 2);
}

#[test]
fn a_test_of_its_own_after_a_sentence_is_of_the_same_card() {
    let text = format!(
        "Write test:\n{}\nand now reading:\n{}",
        fixture("dd-english.txt"),
        fixture("hdparm-t.txt")
    );
    assert_eq!(found(&text).records.len(), 1);
}

#[test]
fn quotes_prompts_and_other_systems_line_ends_change_nothing() {
    let text = table(2345, 678);
    let expected = told(&found(&text).records[0]).2;
    assert_eq!(expected, [2345.0, 678.0]);
    let quoted: String = text.lines().map(|line| format!("> {line}\n")).collect();
    let twice: String = quoted.lines().map(|line| format!("> {line}\n")).collect();
    let html: String = text.lines().map(|line| format!("&gt; {line}<br>\n")).collect();
    let dated: String =
        text.lines().map(|line| format!("2024-05-01T10:11:12.1234567Z {line}\n")).collect();
    let fenced = format!("Hello,\n\n```\n$ cat result\n{text}```\nregards\n");
    let crlf = text.replace('\n', "\r\n");
    let tabs = text
        .lines()
        .map(|line| format!("{}\n", line.split_whitespace().collect::<Vec<_>>().join("\t")))
        .collect();
    for changed in [quoted, twice, html, dated, fenced, crlf, tabs] {
        assert_eq!(told(&found(&changed).records[0]).2, expected, "{changed}");
    }
    let wide: Vec<u8> =
        [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let record = &import(&decode(&wide), None, &origin()).unwrap().records[0];
    assert_eq!(told(record).2, expected);
}

#[test]
fn columns_that_are_empty_stay_empty_without_a_command() {
    let row = "          102400       4     8000     8100                       10000      2000\n";
    let heading = table(1, 1).lines().take(2).map(|line| format!("{line}\n")).collect::<String>();
    let found = found(&format!("{heading}{row}"));
    assert_eq!(told(&found.records[0]).2, [2500.0, 500.0]);
    assert!(found.records[0].phases.iter().all(|phase| !phase.name.starts_with("sequential-read")));
}

#[test]
fn what_was_passed_over_is_listed() {
    let text = format!("Hello\n\nthere\n{}bye\n", table(1000, 100));
    let runs: Vec<(usize, usize, usize)> =
        found(&text).skipped.iter().map(|run| (run.first, run.last, run.count)).collect();
    assert_eq!(runs, [(1, 3, 2), (8, 8, 1)]);
}

#[test]
fn an_output_that_contradicts_itself_does_not_take_the_others_with_it() {
    let broken = fixture("dd-english.txt").replace("566 MB/s", "566 kB/s");
    let text = format!("## A 32GB\n{}\n## B 32GB\n{broken}", table(1000, 100));
    let found = all_of(&text).unwrap();
    assert_eq!((found.records.len(), found.refused.len()), (1, 1));
    assert!(!found.refused[0].to_string().contains("changed"), "{}", found.refused[0]);
}

#[test]
fn a_list_of_devices_describes_them_and_owns_no_table() {
    let text = format!(
        "  * 238.8GB \"Samsung EE4S5\" UHS SDR104 SDXC card as /dev/mmcblk1: date 05/2023, manfid/oemid: \
         0x00001b/0x534d, hw/fw rev: 0x3/0x0\n  * 29.1GB \"Samsung BJTD4R\" HS400 Enhanced strobe eMMC 5.1 card as \
         /dev/mmcblk0: date 09/2023, manfid/oemid: 0x000015/0x0100, hw/fw rev: 0x0/0x0300000000000000\n\n\
         The card in the slot:\n{}",
        table(2549, 694)
    );
    let found = found(&text);
    let products: Vec<_> = found.records.iter().map(|record| told(record).1).collect();
    assert_eq!(products, [Some("EE4S5"), Some("BJTD4R"), None]);
    assert_eq!(told(&found.records[2]).2, [2549.0, 694.0]);
}

#[test]
fn too_many_measurements_are_refused_with_the_limit() {
    let line = "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 51.2039 s, 21.0 MB/s\n";
    let error = all_of(&line.repeat(50_001)).unwrap_err();
    assert!(error.to_string().contains("50000"), "{error}");
}

#[test]
fn a_copy_of_nothing_is_no_measurement_and_refuses_nothing() {
    let nothing = "0+0 records in\n0+0 records out\n0 bytes copied, 0.267377 s, 0.0 kB/s\n";
    let record = &found(&format!("{nothing}{}", fixture("dd-english.txt"))).records[0];
    assert_eq!(record.phases.len(), 1);
}
