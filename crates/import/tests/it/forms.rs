//! The forms in which people paste outputs: cut, by another version, with a command, in another
//! country, in the marks of a web page. Each case was once refused, misread or joined with another.

use cardproof_record::{Record, WarningCode};

use crate::all_of;

/// What a text holds: for each record its label, and for each phase its name, its rate as printed and
/// whether it passed the page cache by (`direct`), used it (`cached`) or does not tell (`unknown`).
pub(crate) fn told(text: &str) -> Vec<String> {
    let found = all_of(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(found.refused, [], "{text}");
    found.records.iter().flat_map(lines_of).collect()
}

fn lines_of(record: &Record) -> Vec<String> {
    let label = record.label.iter().map(|label| format!("{label}:"));
    let phases = record.phases.iter().map(|phase| {
        let has = |code| phase.warnings.iter().any(|warning| warning.code == code);
        let cache = match (has(WarningCode::Buffered), has(WarningCode::CacheUnknown)) {
            (true, _) => "cached",
            (_, true) => "unknown",
            _ => "direct",
        };
        let own = record.figures.iter().filter(|it| it.phases == [phase.name.as_str()]);
        let figures: Vec<String> =
            own.take(2).map(|it| format!("{} {}", it.value, it.unit).trim().to_owned()).collect();
        format!("{} {} {cache}", phase.name, figures.join(", "))
    });
    label.chain(phases).collect()
}

/// Whether each text holds what stands beside it.
pub(crate) fn check(cases: &[(&str, &[&str])]) {
    for (text, expected) in cases {
        assert_eq!(told(text), *expected, "{text}");
    }
}

const ROW: &str = "  kB  reclen    write  rewrite    read    reread    read     write\n\
                   102400       4     2211     2455     8901     8990     7805     3012\n";

/// The phases of [`ROW`], of which nothing or something is known.
fn of_row(cache: &str) -> Vec<String> {
    let names = [
        ("sequential-write-4k-qd1", 2211),
        ("sequential-write-4k-qd1-again", 2455),
        ("sequential-read-4k-qd1", 8901),
        ("sequential-read-4k-qd1-again", 8990),
        ("random-read-4k-qd1", 7805),
        ("random-write-4k-qd1", 3012),
    ];
    names.map(|(name, rate)| format!("{name} {rate} kB/s {cache}")).to_vec()
}

#[test]
fn a_command_before_an_iozone_table_tells_of_it_wherever_it_stands() {
    let options = "-e -I -a -s 100M -r 4k -i 0 -i 1 -i 2";
    for before in [
        format!("# taskset -c 5 iozone {options}"),
        format!("\u{276f} sudo nice -n -5 iozone {options}"),
        format!("PS C:\\> iozone.exe {options} | tee x.log"),
        "pi@pi:~ $ iozone -e -I -a \\\n    -s 100M -r 4k \\\n    -i 0 -i 1 -i 2".to_owned(),
        format!("Tested with `iozone {options}`:\n"),
        "\tInclude fsync in write timing\n\tO_DIRECT feature enabled\n\tAuto Mode".to_owned(),
    ] {
        let found: Vec<String> = told(&format!("{before}\n{ROW}"))
            .into_iter()
            .filter(|line| !line.ends_with(':'))
            .collect();
        assert_eq!(found, of_row("direct"), "{before}");
    }
}

#[test]
fn iozone_s_other_modes_take_no_table_with_them() {
    let sums = "$ iozone -t 4 -s 100M -i 0\n\tThroughput test with 4 processes\n\
                \tChildren see throughput for  4 initial writers \t=   22334.56 kB/sec\n";
    let mut both = of_row("unknown");
    both.push("sequential-write-qd4-buffered 22334.56 kB/s cached".to_owned());
    assert_eq!(told(&format!("{ROW}\niozone test complete.\n{sums}")), both);
    let operations = "$ iozone -a -I -O -i 0 -s 1M -r 4k\n\tOutput is in ops/sec\n  kB reclen write rewrite\n 1024 4 600 700\n";
    let expected = [
        "sequential-write-4k-qd1 600 ops/s direct",
        "sequential-write-4k-qd1-again 700 ops/s direct",
    ];
    assert_eq!(told(operations), expected);
}

#[test]
fn tables_of_markdown_and_lines_behind_bars_are_read() {
    let table =
        "| kB | reclen | write | rewrite |\n|---:|---:|---:|---:|\n| 1024 | 4 | 600 | 700 |\n";
    let expected = [
        "sequential-write-4k-qd1 600 kB/s unknown",
        "sequential-write-4k-qd1-again 700 kB/s unknown",
    ];
    assert_eq!(told(table), expected);
    let barred: String = ROW.lines().map(|line| format!("| {line}\n")).collect();
    assert_eq!(told(&barred), of_row("unknown"));
    assert!(all_of("| kB | reclen | write | rewrite |\n| 1024 | 4 | | 700 |\n").is_err(), "a hole");
}

#[test]
fn names_of_cards_in_the_marks_of_web_pages_keep_cards_apart() {
    let two = [
        ["Kingston 16GB\n-------------\n", "Lexar 32GB\n==========\n"],
        ["<h3>Kingston 16GB</h3>\n<pre class=\"x\">\n", "</pre><h3>Lexar 32GB</h3>\n<pre>\n"],
        [
            "<details><summary>Kingston 16GB</summary>\n",
            "</details>\n<details><summary>Lexar 32GB</summary>\n",
        ],
        ["[size=150][b]Kingston 16GB[/b][/size]\n[code]", "[/code]\n[b]Lexar 32GB[/b]\n[code]"],
        [
            "### [Kingston 16GB](https://shop.example/1)\n",
            "### [Lexar 32GB](https://shop.example/2)\n",
        ],
        ["<p>Kingston&nbsp;16GB</p>\n", "<font size=\"2\">Lexar 32GB</font><br>\n"],
        [
            "Kingston 16GB\n\n[  2.1] mmcblk0: mmc0:aaaa SC16G 14.8 GiB\n",
            "Lexar 32GB\n\n[ 99.1] mmcblk0: mmc0:0001 EB1QT 29.8 GiB\n",
        ],
    ];
    for [first, second] in two {
        let text = format!("{first}{ROW}{second}{ROW}");
        let expected = [
            vec!["Kingston 16GB:".to_owned()],
            of_row("unknown"),
            vec!["Lexar 32GB:".to_owned()],
            of_row("unknown"),
        ];
        assert_eq!(told(&text), expected.concat(), "{text}");
    }
}

#[test]
fn an_output_twice_is_one_card_and_its_own_lines_are_no_names() {
    // A list of devices names each as one of its own.
    let names = crate::fixture_names().into_iter().filter(|name| !name.starts_with("sbc-bench"));
    for name in names {
        let text = crate::fixture(&name);
        let found = all_of(&format!("{}\n\n{text}", text.trim_end())).unwrap();
        assert_eq!((found.records.len(), found.refused.len()), (1, 0), "{name}");
    }
}

#[test]
fn entities_of_web_pages_and_logs_before_each_line_are_taken_off() {
    let page = ROW.replace("  ", "&nbsp;&#160;");
    let logged: String =
        ROW.lines().map(|line| format!("Jan  6 12:00:00 board iozone[812]: {line}\n")).collect();
    for text in [page, logged] {
        assert_eq!(told(&text), of_row("unknown"), "{text}");
    }
}

#[test]
fn dd_is_known_in_the_words_and_units_of_more_countries_and_systems() {
    let records = "1024+0 records in\n1024+0 records out\n";
    for (line, figure) in [
        ("1073741824 bytes (1.0 G) copied, 51.2039 s, 20 M/s", "20 M/s"),
        ("скопировано 1073741824 байта (1,1 ГБ), 51,2039 с, 21,0 МБ/с", "21 МБ/с"),
        ("1073741824 bájt (1,1 GB) másolva, 51,2039 mp, 21,0 MB/mp", "21 MB/mp"),
        ("I got 1073741824 bytes (1.1 GB) copied, 51.2039 s, 21.0 MB/s with it", "21 MB/s"),
    ] {
        let expected = [format!("sequential-transfer-1m-qd1 {figure} unknown")];
        assert_eq!(told(&format!("{records}{line}\n")), expected, "{line}");
    }
    check(&[(
        "$ dd if=/dev/zero of=t bs=1M count=1024 oflag=direct 2>&1 | tail -1\n\
         1073741824 bytes (1.1 GB, 1.0 GiB) copied, 51.2039 s, 21.0 MB/s\n",
        &["sequential-write-1m-qd1 21 MB/s direct"],
    )]);
    let memory = "$ dd if=/dev/zero of=/dev/null bs=1M count=1024\n\
                  1073741824 bytes (1.1 GB, 1.0 GiB) copied, 0.1204 s, 8.9 GB/s\n";
    assert!(all_of(memory).is_err(), "memory is no storage");
    let other = "512 B 1.2 MB/s 2.3 MB/s\n";
    assert!(all_of(other).unwrap_err().to_string().contains("not the output of a known tool"));
}

#[test]
fn hdparm_s_lines_that_became_one_and_its_offsets_are_read() {
    check(&[(
        "/dev/sda: Timing buffered disk reads: 62 MB in 3.07 seconds = 20.21 MB/sec\n\
             /dev/sdb: Timing O_DIRECT disk reads (offset 12 GB): 120 MB in  3.01 seconds =  39.87 MB/sec\n",
        &[
            "sequential-read-2m-qd1-buffered 20.21 MB/sec cached",
            "sequential-read-2m-qd1 39.87 MB/sec direct",
        ],
    )]);
    let two = "/dev/sda: Timing buffered disk reads: 62 MB in 3.07 seconds = 20.21 MB/sec\n\
               /dev/sdb: Timing buffered disk reads: 62 MB in 3.07 seconds = 20.21 MB/sec\n";
    assert_eq!(all_of(two).unwrap().records.len(), 2, "two devices");
}

const FIO: &str = "j: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, \
                   ioengine=libaio, iodepth=32\nfio-3.28\nStarting 1 process\n\
                   j: (groupid=0, jobs=1): err= 0: pid=1: Sat Jan  6 12:00:00 2024\n  \
                   read: IOPS=2848, BW=11.1MiB/s (11.7MB/s)(668MiB/60012msec)\n\
                   Disk stats (read/write):\n  sda: ios=170500/12, merge=0/3, util=99.91%\n";

#[test]
fn fio_s_command_counts_for_its_own_output_only() {
    let direct =
        "$ fio --name=j --rw=randread --bs=4k --ioengine=libaio \\\n  --iodepth=32 --direct=1\n";
    let one_dash = "fio -name=j -direct=1 -rw=randread -iodepth=32\n";
    let cached = "$ fio --name=j --rw=randread --bs=4k --ioengine=libaio --iodepth=32\n";
    let rate = "11.1 MiB/s, 2848 IOPS";
    for command in [direct, one_dash] {
        let expected = [format!("random-read-4k-qd32 {rate} direct")];
        assert_eq!(told(&format!("{command}{FIO}")), expected);
    }
    let expected = [
        format!("random-read-4k-qd32 {rate} direct"),
        format!("random-read-4k-qd32-buffered {rate} cached"),
        format!("random-read-4k-qd32-run2 {rate} unknown"),
    ];
    assert_eq!(told(&format!("{direct}{FIO}\n{cached}{FIO}\n{FIO}")), expected);
}

#[test]
fn fio_s_other_units_sizes_and_errors_are_read() {
    let decimal = FIO.replace("BW=11.1MiB/s (11.7MB/s)(668MiB", "BW=11.7MB/s (11.1MiB/s)(700MB");
    let found = all_of(&decimal).unwrap();
    assert_eq!(found.records[0].phases[0].point_throughput().unwrap().0, 11.7e6, "kb_base=1000");
    let range = FIO.replace("(R) 4096B-4096B", "(R) 4096B-128KiB");
    assert_eq!(told(&range), ["random-read-qd32 11.1 MiB/s, 2848 IOPS unknown"]);
    let failed = FIO.replace("err= 0:", "err= 5 (file:io_u.c:1787, error=Input/output error):");
    assert!(!all_of(&failed).unwrap().records[0].phases[0].is_measured());
    check(&[(
        "$ fio job.fio | grep IOPS\n  read: IOPS=2848, BW=11.1MiB/s (11.7MB/s)(668MiB/60012msec)\n",
        &["read 11.1 MiB/s, 2848 IOPS unknown"],
    )]);
}

/// fio's JSON of two jobs.
fn json() -> String {
    let job = |rw: &str, read: u64, write: u64| {
        let direction = |rate: u64| {
            format!(
                "{{\"io_bytes\": {}, \"bw\": {rate}, \"iops\": {}.5, \"runtime\": 1000, \"total_ios\": 1}}",
                rate * 1024,
                rate / 4
            )
        };
        format!(
            "{{\"jobname\": \"{rw}\",\n\"error\": 0,\n\"job options\": {{\"rw\": \"{rw}\", \"bs\": \"4k\"}},\n\
             \"read\": {},\n\"write\": {},\n\"iodepth_level\": {{\"1\": 100.0}}}}",
            direction(read),
            direction(write)
        )
    };
    format!(
        "{{\n\"fio version\": \"fio-3.28\",\n\"global options\": {{\"direct\": \"1\", \"iodepth\": \"8\"}},\n\
         \"jobs\": [\n{},\n{}\n]\n}}\n",
        job("randread", 8000, 0),
        job("randwrite", 0, 2000)
    )
}

#[test]
fn of_fio_s_json_that_is_cut_the_whole_jobs_are_read() {
    let text = json();
    let (read, write) = (
        "random-read-4k-qd1 8000 KiB/s, 2000.5 IOPS direct",
        "random-write-4k-qd1 2000 KiB/s, 500.5 IOPS direct",
    );
    assert_eq!(told(&text), [read, write]);
    assert_eq!(told(&format!("result: {}", text.replace('\n', " "))), [read, write]);
    let cut = |end: &str| text[..text.rfind(end).unwrap()].to_owned();
    for (end, expected) in
        [("]", vec![read, write]), ("\"iops\": 500", vec![read]), ("\"error\"", vec![read])]
    {
        let found = all_of(&cut(end)).unwrap();
        assert_eq!(found.records.iter().flat_map(lines_of).collect::<Vec<_>>(), expected, "{end}");
        assert!(found.records[0].warnings[0].to_string().contains("cut off"), "{end}");
    }
    let shortened = text.replacen("\"iodepth_level\"", "...\n\"iodepth_level\"", 1);
    let untold = read.replace("-qd1", "");
    assert_eq!(told(&shortened), [untold], "what follows the fault is not read, and so no depth");
    // Half of a job that writes may be anything.
    let first = text[..text.find("\"write\"").unwrap()].replace("randread", "randrw");
    assert!(all_of(&first).is_err());
    let clients = text
        .replace("\"jobs\"", "\"client_stats\"")
        .replace("\"randwrite\",\n\"error", "\"All clients\",\n\"error");
    assert_eq!(told(&clients), [read], "the sum of all clients is none of them");
}

#[test]
fn ioping_s_command_tells_of_the_cache_and_the_order() {
    let summary = "4 KiB <<< . (ext4 /dev/sda1 28.9 GiB): request=2 time=800 us\n\n\
                   --- . (ext4 /dev/sda1 28.9 GiB) ioping statistics ---\n\
                   9 requests completed in 7.20 ms, 36 KiB read, 1.25 k iops, 4.88 MiB/s\n";
    let rates = "1.25 k iops, 4.88 MiB/s";
    for (command, phase) in [
        ("$ ioping -c 10 -D .\n", format!("random-read-4k-qd1 {rates} direct")),
        ("# ioping -DL .\n", format!("sequential-read-4k-qd1 {rates} direct")),
        ("ioping -c 10 .\n", format!("random-read-4k-qd1-buffered {rates} cached")),
        ("", format!("read-4k-qd1 {rates} unknown")),
    ] {
        assert_eq!(told(&format!("{command}{summary}")), [phase], "{command}");
    }
    let old = "4 KiB from . (ext4 /dev/sda1): request=1 time=800 us\n\n\
               --- . (ext4 /dev/sda1) ioping statistics ---\n\
               2 requests completed in 1.00 s, 1.2 k iops, 4.9 MiB/s\n";
    assert_eq!(told(old), ["transfer-4k-qd1 1.2 k iops, 4.9 MiB/s unknown"]);
}

#[test]
fn outputs_of_two_cards_below_each_other_are_two_records() {
    for name in
        ["h2testw-sound.txt", "h2testw-lost.txt", "sd_bench-nuttx.txt", "crystaldiskmark-5.txt"]
    {
        let text = crate::fixture(name);
        let both = format!("Card 1 (Kingston 32GB):\n{text}\nCard 2 (no name 64GB):\n{text}");
        let labels: Vec<Option<String>> =
            all_of(&both).unwrap().records.into_iter().map(|record| record.label).collect();
        let expected = ["Card 1 (Kingston 32GB)", "Card 2 (no name 64GB)"];
        assert_eq!(labels, expected.map(|label| Some(label.to_owned())), "{name}");
    }
}

#[test]
fn crystaldiskmark_and_kdiskmark_in_one_text_are_not_mixed_up() {
    let (windows, linux) =
        (crate::fixture("crystaldiskmark-7-0.txt"), crate::fixture("kdiskmark-honest.txt"));
    let text = format!("## On Windows, 64GB\n{windows}\n## On Linux, 64GB\n{linux}");
    let found = all_of(&text).unwrap();
    let tools: Vec<&str> = found.records.iter().map(|record| &*record.tool.name).collect();
    assert_eq!((tools, found.refused), (vec!["crystaldiskmark", "kdiskmark"], vec![]));
}

#[test]
fn fio_s_lines_of_agnostics_count_without_their_sentences() {
    check(&[(
        "Test : SD Card Speed Test\nRun 1\nprepare-file;0;0;10556;20\nseq-write;0;0;14160;27\n\
         rand-4k-write;0;0;855;213\nrand-4k-read;3534;883;0;0\n",
        &[
            "sequential-write-4m-qd32 14160 KB/sec direct",
            "random-write-4k-qd32 213 IOPS direct",
            "random-read-4k-qd32 883 IOPS direct",
        ],
    )]);
}

#[test]
fn iostat_s_json_that_is_still_open_tells_its_whole_reports() {
    let disk = |rate: u32| {
        format!(
            "{{\"disk\": [{{\"disk_device\": \"sda\", \"tps\": 1, \"kB_read/s\": {rate}, \"kB_wrtn/s\": 0}}]}}"
        )
    };
    let open = |count: u32| {
        let reports: Vec<String> = (1..=count).map(|report| disk(report * 100)).collect();
        format!(
            "{{\"sysstat\": {{\"hosts\": [{{\"number-of-cpus\": 4, \"statistics\": [{}",
            reports.join(",\n")
        )
    };
    let rate = |text: &str| {
        all_of(text).unwrap().records[0].phases[0].point_throughput().unwrap().0 / 1024.0
    };
    assert_eq!(rate(&open(3)), 250.0, "the first counts since boot");
    let cut = open(3);
    assert_eq!(rate(&cut[..cut.len() - 30]), 200.0, "a report that is cut does not count");
}

#[test]
fn pages_in_one_line_invisible_characters_and_backslashes_are_read() {
    let page = format!("<pre>{}</pre>\n", ROW.trim_end().replace('\n', "<br />"));
    let invisible = ROW.replace("  ", "\u{200b}  ");
    let markdown = ROW.replace('\n', "\\\n");
    for text in [page, invisible, markdown] {
        assert_eq!(told(&text), of_row("unknown"), "{text}");
    }
}

#[test]
fn rows_of_other_programs_below_a_table_are_none_of_it() {
    let vmstat = " r  b   swpd   free   buff  cache\n 30 21 4 5 6 7\n 1 0 0 812344 33424 120000\n";
    assert_eq!(told(&format!("{ROW}{vmstat}")), of_row("unknown"));
}

#[test]
fn outputs_that_lost_their_line_ends_are_read() {
    check(&[
        (
            "1024+0 records in 1024+0 records out 1073741824 bytes (1.1 GB) copied, 51.2039 s, 21.0 MB/s\n",
            &["sequential-transfer-qd1 21 MB/s unknown"],
        ),
        (
            "/dev/sda: Timing cached reads: 1532 MB in 2.00 seconds = 766.12 MB/sec Timing buffered \
             disk reads: 410 MB in 3.00 seconds = 136.61 MB/sec\n",
            &["sequential-read-2m-qd1-buffered 136.61 MB/sec cached"],
        ),
    ]);
}

#[test]
fn a_line_that_is_cut_or_contradicts_itself_does_not_take_the_others_with_it() {
    let whole = " Timing buffered disk reads: 410 MB in  3.00 seconds = 136.61 MB/sec\n";
    let expected = ["sequential-read-2m-qd1-buffered 136.61 MB/sec cached"];
    assert_eq!(told(&format!("{whole} Timing buffered disk reads: 410 MB in  3.0\n")), expected);
    let line = |rate: &str| format!("1073741824 bytes (1.1 GB) copied, 51.2039 s, {rate} MB/s\n");
    let found = all_of(&format!("{}{}{}", line("21.0"), line("91.0"), line("20.9"))).unwrap();
    let phases: Vec<String> = found.records.iter().flat_map(lines_of).collect();
    assert_eq!(phases.len(), 2, "{phases:?}");
    assert_eq!((found.refused.len(), found.skipped.len()), (1, 0));
    assert!(found.refused[0].to_string().starts_with("line 2:"), "{:?}", found.refused);
}

#[test]
fn commands_of_dd_and_fio_on_two_devices_are_two_records() {
    let dd = |device: &str| {
        format!(
            "# dd if=/dev/{device} of=/dev/null bs=1M iflag=direct\n1073741824 bytes (1.1 GB) copied, 51.2039 s, 21.0 MB/s\n"
        )
    };
    let fio = |device: &str| {
        format!("# fio --name=j --filename=/dev/{device} --rw=randread --direct=1\n{FIO}")
    };
    let devices = |text: &str| -> Vec<Option<String>> {
        all_of(text).unwrap().records.into_iter().map(|it| it.conditions.device.name).collect()
    };
    let two = vec![Some("mmcblk0".to_owned()), Some("sda".to_owned())];
    assert_eq!(devices(&format!("{}{}", dd("mmcblk0"), dd("sda"))), two);
    assert_eq!(devices(&format!("{}{}", fio("mmcblk0"), fio("sda"))), two);
    assert_eq!(devices(&format!("{}{}", dd("mmcblk0"), fio("mmcblk0p2"))).len(), 1);
}
