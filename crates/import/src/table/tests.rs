//! Tables in every form, and what must not be taken for a measurement.

use super::*;
use crate::lines::lines;

/// A phase's name and its printed figures.
type Shown = (String, Vec<(f64, String)>);

/// Each record's label and its phases.
fn records(text: &str) -> Vec<(String, Vec<Shown>)> {
    let lines = lines(text);
    let found = read(&lines, &|_| true).unwrap();
    found
        .into_iter()
        .map(|(_, draft)| {
            let phases = draft.phases.iter().map(|phase| {
                let figures = phase.figures.iter().map(|it| (it.value, it.unit.clone()));
                (phase.name(), figures.collect())
            });
            (draft.label.clone().unwrap_or_default(), phases.collect())
        })
        .collect()
}

/// The first figure of each phase of each record.
fn values(text: &str) -> Vec<(String, Vec<f64>)> {
    let first = |(label, phases): (String, Vec<Shown>)| {
        (label, phases.iter().map(|(_, figures)| figures[0].0).collect())
    };
    records(text).into_iter().map(first).collect()
}

fn expected(rows: &[(&str, &[f64])]) -> Vec<(String, Vec<f64>)> {
    rows.iter().map(|(label, values)| ((*label).to_owned(), values.to_vec())).collect()
}

const CARDS: [(&str, &[f64]); 2] = [
    ("SanDisk Extreme 64GB A2", &[43.2, 38.1, 11.02, 3.61]),
    ("Samsung EVO Plus 64GB", &[44.0, 25.3, 11.24, 2.78]),
];

#[test]
fn a_device_a_row_is_read_in_each_form() {
    let markdown = "\
| Card | Seq read | Seq write | 4k random read | 4k random write |
|------|---------:|----------:|---------------:|----------------:|
| SanDisk Extreme 64GB A2 | 43.2 MB/s | 38.1 MB/s | 11.02 MB/s | 3.61 MB/s |
| Samsung EVO Plus 64GB   | **44.0** MB/s | 25.3 MB/s | 11.24 MB/s | 2.78 MB/s |
";
    let csv = "\
card,seq_read_MBps,seq_write_MBps,rand4k_read_MBps,rand4k_write_MBps
SanDisk Extreme 64GB A2,43.2,38.1,11.02,3.61
\"Samsung EVO Plus 64GB\",44.0,25.3,11.24,2.78
";
    let german = "\
Karte;Lesen seq. (MB/s);Schreiben seq. (MB/s);4K zufällig lesen (MB/s);4K zufällig schreiben (MB/s)
SanDisk Extreme 64GB A2;43,2;38,1;11,02;3,61
Samsung EVO Plus 64GB;44,0;25,3;11,24;2,78
";
    let aligned = "\
All values in MB/s.

Card                     Seq read  Seq write  4k rand read  4k rand write
SanDisk Extreme 64GB A2      43.2       38.1         11.02           3.61
Samsung EVO Plus 64GB        44.0       25.3         11.24           2.78
";
    let tabs = csv.replace(',', "\t");
    for text in [markdown, csv, german, aligned, &tabs] {
        assert_eq!(values(text), expected(&CARDS), "{text}");
        let names: Vec<String> = records(text)[0].1.iter().map(|(name, _)| name.clone()).collect();
        let same = ["sequential-read", "sequential-write", "random-read-4k", "random-write-4k"];
        assert_eq!(names, same, "{text}");
    }
}

#[test]
fn a_device_a_column_and_one_device_are_read() {
    let columns = "\
| Test | SanDisk Extreme 64GB A2 | Samsung EVO Plus 64GB |
|---|---|---|
| Seq read (MB/s) | 43.2 | 44.0 |
| Seq write (MB/s) | 38.1 | 25.3 |
| 4k rand read (MB/s) | 11.02 | 11.24 |
| 4k rand write (MB/s) | 3.61 | 2.78 |
";
    assert_eq!(values(columns), expected(&CARDS));
    let one = "\
# Amazon Basics 64GB

| Block Size | 4k (IOPS)         | 1m (IOPS)       |
|------------|-------------------|-----------------|
| Randread   | 15.08 MB/s (3770) | 92.01 MB/s (89) |
| Randwrite  | 5.57 MB/s (1392)  | 74.54 MB/s (72) |
";
    let found = records(one);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].0, "Amazon Basics 64GB");
    let first = (
        "random-read-4k".to_owned(),
        vec![(15.08, "MB/s".to_owned()), (3770.0, "IOPS".to_owned())],
    );
    assert_eq!(found[0].1[0], first);
    assert_eq!(found[0].1.len(), 4);
}

#[test]
fn two_units_of_one_measurement_are_one_phase() {
    let csv = "\
card,model,capacity_gb,app_class,vendor,read_MBps,read_iops,write_MBps,write_iops
Adata Premier,AUSDH32GUICL10A1-RA1,32,A1,Newegg,4.9,1231,1.6,409
";
    let found = records(csv);
    assert_eq!(found[0].0, "Adata Premier 32 GB");
    let names: Vec<&str> = found[0].1.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["read", "write"]);
    assert_eq!(found[0].1[0].1, [(4.9, "MB/s".to_owned()), (1231.0, "IOPS".to_owned())]);
}

#[test]
fn what_is_not_understood_is_left_out() {
    // A claim, a price, a difference, and bits.
    let text = "\
| Card | Claimed read MB/s | Read MB/s | Price | Gain over read | Write Mbps |
|---|---|---|---|---|---|
| SanDisk Extreme 128GB | 100 | 23.4 | 19.99 | 12 | 180 |
| Samsung EVO 128GB | n/a | ~22 | 20 | 3 | 90 |
";
    assert_eq!(values(text), expected(&[("SanDisk Extreme 128GB", &[23.4])]));
    for text in [
        // No unit.
        "| Card | Read | Write |\n|---|---|---|\n| SanDisk 32GB | 20 | 10 |\n",
        // A specification and not a measurement.
        "| Model | Read speed up to | Write speed up to |\n|---|---|---|\n| SanDisk 32GB | 170 MB/s | 90 MB/s |\n",
        // Another tool's table.
        "Device   tps   kB_read/s   kB_wrtn/s\nmmcblk0  2.0   10.0   20.0\n",
        "We read,write,and,compare MB/s\nhere,there,1,2\n",
        // Nobody says what was measured.
        "12.5,3.4,MB/s read\n",
    ] {
        assert_eq!(values(text), [], "{text}");
    }
}

#[test]
fn a_number_that_can_be_read_in_two_ways_is_left_out() {
    let table = |read: &str, write: &str, iops: &str| {
        let text = format!(
            "| Card | Read MB/s | Write MB/s | Read IOPS 4k |\n|-|-|-|-|\n| SanDisk A | {read} | {write} | {iops} |\n"
        );
        values(&text).first().map(|(_, values)| values.clone()).unwrap_or_default()
    };
    assert_eq!(table("1,231", "2,345", "3"), [3.0]);
    assert_eq!(table("12,5", "2,345", "3"), [12.5, 2.345, 3.0]);
    assert_eq!(table("1,231", "12.5", "3,456"), [1231.0, 12.5, 3456.0]);
    assert_eq!(table("1.5", "2,5", "7"), [1.5, 2.5, 7.0]);
    assert_eq!(table("1.5", "2,5", "1,234"), [1.5, 2.5]);
    assert_eq!(table("9.5", "2.5", "1,234"), [9.5, 2.5, 1234.0]);
}

#[test]
fn a_table_of_several_typists_keeps_what_has_one_reading() {
    let text = "| Card | Seq read (MB/s) | 4k read (IOPS) |\n|---|---|---|\n\
        | EVO Plus 128GB | 43.5 | 2.310 |\n| Extreme 64GB | 44,1 | 1,004 |\n| Old 8GB | 1.021,5 | 900 |\n";
    let rows: [(&str, &[f64]); 3] =
        [("EVO Plus 128GB", &[43.5]), ("Extreme 64GB", &[44.1]), ("Old 8GB", &[1021.5, 900.0])];
    assert_eq!(values(text), expected(&rows));
    let text = "\"date\",\"label\",\"randread_iops\",\"seqread_MBps\"\n\
        \"2025-01-02\",\"card A\",\"2411\",\"88.2\"\n\"2025-01-03\",\"card B\",\"1811\",\"43.0\"\n";
    let rows: [(&str, &[f64]); 2] = [("card A", &[2411.0, 88.2]), ("card B", &[1811.0, 43.0])];
    assert_eq!(values(text), expected(&rows));
}

#[test]
fn figures_in_a_line_are_read_with_the_name_before_them() {
    let cases: [(&str, &str, &[f64]); 3] = [
        ("4k read- 9.32 MB/s 4k write- 2.96 MB/s", "", &[9.32, 2.96]),
        (
            "Samsung EVO+ 32GB: 4k read 9.32 MB/s, 4k write 2.96 MB/s",
            "Samsung EVO+ 32GB",
            &[9.32, 2.96],
        ),
        ("hdparm: 20.5 MB/s, dd write: 18 MB/s", "", &[20.5, 18.0]),
    ];
    for (text, label, expected) in cases {
        assert_eq!(values(text), [(label.to_owned(), expected.to_vec())], "{text}");
    }
    for text in [
        "Sequential Read: 180 MB/s",
        "Up to 170 MB/s read, up to 90 MB/s write",
        "4K random read up to 4000 IOPS, 4K random write up to 2000 IOPS",
        "I got 4k read 9.32 MB/s and my friend 4k write 2.96 MB/s",
        "read 100 MB/s, write 90 MB/s",
    ] {
        assert_eq!(values(text), [], "{text}");
    }
}

#[test]
fn an_empty_cell_moves_no_figure() {
    let text = "\
Card            Read MB/s   Write MB/s
SanDisk 32GB         43.2         38.1
Samsung 32GB                      25.3
Lexar 32GB           44.0
";
    let found = records(text);
    let names = |at: usize| found[at].1.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>();
    assert_eq!(values(text)[1], ("Samsung 32GB".to_owned(), vec![25.3]));
    assert_eq!((names(1), names(2)), (vec!["write"], vec!["read"]));
    assert_eq!(values(text)[2], ("Lexar 32GB".to_owned(), vec![44.0]));
}

#[test]
fn marks_of_markdown_go_and_join_no_number() {
    let table = |cell: &str| {
        let text = format!(
            "| Card | Seq read MB/s | Seq write MB/s |\n|---|---|---|\n| A | {cell} | 38.1 |\n"
        );
        values(&text).into_iter().map(|(_, values)| values).collect::<Vec<_>>()
    };
    assert_eq!(table("**43.2**"), [[43.2, 38.1]]);
    assert_eq!(table("`43.2`"), [[43.2, 38.1]]);
    for joined in ["43*2", "43**2", "43`2"] {
        assert_eq!(table(joined), [[38.1]], "{joined}");
    }
}

#[test]
fn sizes_of_requests_are_no_devices() {
    let atto = "\
ATTO Disk Benchmark
Transfer Size  Write (MB/s)  Read (MB/s)
0.5 KB   0.4   1.3
4 KB     2.9   9.1
64 KB   14.2  41.8
1024 KB 21.5  88.1
";
    // Of the last row it is not certain which figure is which.
    let found = records(atto);
    assert_eq!(found.len(), 1, "{found:?}");
    let names: Vec<&str> = found[0].1.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["write-512b", "read-512b", "write-4k", "read-4k", "write-64k", "read-64k"]);
    let first: Vec<f64> = found[0].1.iter().map(|(_, figures)| figures[0].0).collect();
    assert_eq!(first, [0.4, 1.3, 2.9, 9.1, 14.2, 41.8]);
}

#[test]
fn rows_that_say_what_their_figures_are_go_to_their_device() {
    let text = "\
| Card | Pattern | Block size | MB/s | IOPS |
|---|---|---|---|---|
| SanDisk Extreme 64GB A2 | randread | 4k | 15.08 | 3681 |
| SanDisk Extreme 64GB A2 | randwrite | 4k | 5.57 | 1360 |
| Samsung EVO Plus 64GB | randread | 4k | 9.1 | 2221 |
| Samsung EVO Plus 64GB | randread | 4k | 9.3 | 2270 |
| Samsung EVO Plus 64GB | boot time | 4k | 9.3 | 2270 |
";
    let wanted: [(&str, &[f64]); 3] = [
        ("SanDisk Extreme 64GB A2", &[15.08, 5.57]),
        ("Samsung EVO Plus 64GB", &[9.1]),
        ("Samsung EVO Plus 64GB", &[9.3]),
    ];
    assert_eq!(values(text), expected(&wanted));
    let names: Vec<String> = records(text)[0].1.iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, ["random-read-4k", "random-write-4k"]);
}

#[test]
fn limits_of_classes_are_no_measurements() {
    let text = "\
| Class | Random read 4k | Random write 4k |
|---|---|---|
| A1 | 1500 IOPS | 500 IOPS |
| UHS-I U3 | 1 IOPS | 2 IOPS |
| Class 10 | 1 IOPS | 2 IOPS |
";
    assert_eq!(values(text), []);
    let named = "| Card | Random read 4k |  |\n|---|---|---|\n| Adata A2 | 1500 IOPS |  |\n";
    assert_eq!(values(named), expected(&[("Adata A2", &[1500.0])]));
}

#[test]
fn a_rate_that_no_storage_has_is_no_measurement() {
    let text = "card;read MB/s;write MB/s\nSanDisk Ultra 32GB;66;40090000862\n";
    let lines = lines(text);
    let (_, draft) = read(&lines, &|_| true).unwrap().remove(0);
    let record = draft.finish("one".to_owned(), "1970-01-01T00:00:00Z");
    assert!(record.phases[0].stated.is_some() && record.phases[1].stated.is_none());
    assert!(cardproof_record::Record::from_json(&record.to_json().unwrap()).is_ok());
}

#[test]
fn spreads_are_left_out_and_both_ends_of_a_range_are_kept() {
    let text = "\
| Card | seq read | seq write | 4k rand read (IOPS) | 4k rand write |
|---|---|---|---|---|
| One | 43.1 \u{b1} 0.2 MB/s | 32.4 MB/s \u{b1} 1.1 MB/s | 2450 \u{b1}31 | 812 +/- 5 % IOPS |
| Two | 42.9 (\u{b1} 0.1) MB/s | 18-22 MB/s | 2104 (8.6 MB/s) | 600 \u{2013} 655 IOPS |
| Three | 9\u{b1} MB/s | 22-18 MB/s | 12 - | 7 (\u{b1} 3 MB/s |
";
    let rows: [(&str, &[f64]); 2] =
        [("One", &[43.1, 32.4, 2450.0, 812.0]), ("Two", &[42.9, 18.0, 2104.0, 600.0])];
    assert_eq!(values(text), expected(&rows));
    let of_range = &records(text)[1].1[1];
    assert_eq!(of_range.0, "sequential-write-lowest");
    assert_eq!(of_range.1, [(18.0, "MB/s".to_owned()), (22.0, "MB/s".to_owned())]);
}

#[test]
fn short_headings_are_read_in_a_table_whose_unit_stands_above() {
    let text = "\
Here are my numbers (all in MB/s):

                 SeqRd  SeqWr  4kRd  4kWr
Ultra A1 64GB     43.1   19.8   8.2   2.6
Evo Plus 64GB     43.6   30.1   9.9   3.1
";
    let rows: [(&str, &[f64]); 2] =
        [("Ultra A1 64GB", &[43.1, 19.8, 8.2, 2.6]), ("Evo Plus 64GB", &[43.6, 30.1, 9.9, 3.1])];
    assert_eq!(values(text), expected(&rows));
    assert_eq!(records(text)[0].1[3].0, "write-4k");
}

#[test]
fn a_column_of_results_names_no_device_and_all_columns_before_it_tell_of_them() {
    let text = "\
SanDisk Ultra 32GB

| Tool | Test | Result |
|---|---|---|
| fio | 4k random read | 2764 IOPS |
| fio | 4k random write | 729 IOPS |
| iozone | 4k read | 9.3 MB/s |
";
    assert_eq!(values(text), expected(&[("SanDisk Ultra 32GB", &[2764.0, 729.0, 9.3])]));
    assert_eq!(records(text)[0].1[2].0, "read-4k-iozone");
}

#[test]
fn decimal_commas_part_no_columns_of_a_sentence() {
    let text = "Ultra: 4k lesen 8,9 MB/s, 4k schreiben 1,2 MB/s, seq lesen 43,1 MB/s\n";
    assert_eq!(values(text), expected(&[("Ultra", &[8.9, 1.2, 43.1])]));
}

#[test]
fn a_first_column_without_a_heading_names_the_tests_of_two_columns() {
    let text = "\
CrystalDiskMark 8
            Read [MB/s]   Write [MB/s]
SEQ1M Q8T1     93.48         71.20
RND4K Q1T1      9.87          2.70
";
    let found = records(text);
    assert_eq!(found.len(), 1);
    let figures: Vec<f64> = found[0].1.iter().flat_map(|it| &it.1).map(|it| it.0).collect();
    assert_eq!(figures, [93.48, 71.2, 9.87, 2.7]);
}
