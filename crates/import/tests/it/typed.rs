//! Published tables, typed as people type them: every figure in its row. Those that the product ships, small ones
//! of other articles, and large ones where they lie beside the project.

use std::fs;
use std::path::PathBuf;

use cardproof_record::Record;
use cardproof_testkit::skip;

use crate::all_of;

/// A shipped table: its file, the column of names, and the columns of figures with the headings that a
/// person would type over them.
struct Table {
    file: &'static str,
    name: &'static str,
    /// Columns that tell devices or runs apart, and how a person would head them.
    others: &'static [(&'static str, &'static str)],
    /// Columns that say what the figures of a row are.
    aspects: &'static [(&'static str, &'static str)],
    figures: &'static [(&'static str, &'static str)],
}

const TABLES: [Table; 9] = [
    Table {
        file: "sd-card-bench-2018.csv",
        name: "device",
        others: &[],
        aspects: &[],
        figures: &[
            ("read_1k_iops", "1k read IOPS"),
            ("write_1k_iops", "1k write IOPS"),
            ("read_4k_iops", "4k read IOPS"),
            ("write_4k_iops", "4k write IOPS"),
            ("read_16k_iops", "16k read IOPS"),
            ("write_16k_iops", "16k write IOPS"),
            ("seq_read_MBps", "Seq read MB/s"),
            ("seq_write_MBps", "Seq write MB/s"),
        ],
    },
    Table {
        file: "fio-mixed-rpi3-2018.csv",
        name: "card",
        others: &[],
        aspects: &[],
        figures: &[
            ("read_MBps", "4k read MB/s"),
            ("read_iops", "4k read IOPS"),
            ("write_MBps", "4k write MB/s"),
            ("write_iops", "4k write IOPS"),
        ],
    },
    Table {
        file: "fio-pi5-2024.csv",
        name: "card",
        others: &[],
        aspects: &[],
        figures: &[
            ("randread_4k_iops", "Random read 4k (IOPS)"),
            ("randwrite_4k_iops", "Random write 4k (IOPS)"),
            ("read_1m_MBps", "Read 1m (MB/s)"),
            ("write_1m_MBps", "Write 1m (MB/s)"),
        ],
    },
    Table {
        file: "fsync-by-filesystem.csv",
        name: "device",
        others: &[],
        aspects: &[],
        figures: &[
            ("rand_read_KBps", "rand read [KB/s]"),
            ("rand_write_KBps", "rand write [KB/s]"),
        ],
    },
    Table {
        file: "iozone-pi-ssd.csv",
        name: "card",
        others: &[],
        aspects: &[],
        figures: &[
            ("rand_read_4k_MBps", "4K random read (MB/s)"),
            ("rand_write_4k_MBps", "4K random write (MB/s)"),
            ("read_1m_MBps", "1M seq read (MB/s)"),
            ("write_1m_MBps", "1M seq write (MB/s)"),
        ],
    },
    Table {
        file: "iozone-rpi3-2018.csv",
        name: "card",
        others: &[],
        aspects: &[],
        figures: &[
            ("rand_read_MBps", "Random read MB/s"),
            ("rand_write_MBps", "Random write MB/s"),
        ],
    },
    Table {
        file: "microsd-benchmarks-pi.csv",
        name: "card",
        others: &[],
        aspects: &[],
        figures: &[
            ("hdparm_MBps", "hdparm MB/s"),
            ("dd_write_MBps", "dd write MB/s"),
            ("rand_read_4k_MBps", "4K random read MB/s"),
            ("rand_write_4k_MBps", "4K random write MB/s"),
        ],
    },
    Table {
        file: "dd-rpi3-rpi4-yacy.csv",
        name: "card",
        others: &[("host", "Board")],
        aspects: &[],
        figures: &[("write_MBps", "dd write (MB/s)"), ("read_MBps", "dd read (MB/s)")],
    },
    Table {
        file: "iozone-cards-2018-2022.csv",
        name: "card",
        others: &[("year", "Year")],
        aspects: &[("block_kib", "Record size (KiB)")],
        figures: &[
            ("write", "write kB/s"),
            ("rewrite", "rewrite kB/s"),
            ("read", "read kB/s"),
            ("reread", "reread kB/s"),
            ("random_read", "random read kB/s"),
            ("random_write", "random write kB/s"),
        ],
    },
];

/// Tables that are too large to keep a copy of.
const BESIDE: [Table; 3] = [
    Table {
        file: "fio-pi5-2024-all-blocks.csv",
        name: "device",
        others: &[("mode", "Mode")],
        aspects: &[("pattern", "Pattern"), ("block", "Block size")],
        figures: &[("MBps", "MB/s"), ("iops", "IOPS")],
    },
    Table {
        file: "microsd-express-2025.csv",
        name: "card",
        others: &[("firmware", "Firmware"), ("cooling", "Cooling"), ("run", "Run")],
        aspects: &[("test", "Test")],
        figures: &[("MBps", "MB/s")],
    },
    Table {
        file: "emmc-modules.csv",
        name: "device",
        others: &[("source", "Source")],
        aspects: &[("pattern", "Pattern"), ("block", "Block size")],
        figures: &[("MBps", "MB/s"), ("iops", "IOPS")],
    },
];

/// Where large tables lie: beside the project, or one step above.
fn beside(file: &str) -> Option<PathBuf> {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let places = ["../../../shared", "../../../../shared"];
    let paths = places.map(|place| manifest.join(place).join("reference/turn3").join(file));
    paths.into_iter().find(|path| path.exists())
}

fn shipped(table: &Table) -> String {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let own = manifest.join("tests/tables").join(table.file);
    let shipped = manifest.join("../rating/data").join(table.file);
    let kept = [own, shipped].into_iter().find(|path| path.exists());
    let path = kept.or_else(|| beside(table.file)).unwrap();
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", table.file))
}

/// A row of a table as it is written.
struct Row {
    name: String,
    others: Vec<String>,
    aspects: Vec<String>,
    figures: Vec<String>,
}

fn rows(table: &Table) -> Vec<Row> {
    let text = shipped(table);
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
    let cells_of = |line: &str, columns: &[(&str, &str)]| -> Vec<String> {
        let cells: Vec<&str> = line.split(',').collect();
        assert_eq!(cells.len(), heading.len(), "{line}");
        let place = |name: &str| heading.iter().position(|it| *it == name).unwrap();
        columns.iter().map(|(name, _)| cells[place(name)].to_owned()).collect()
    };
    lines
        .map(|line| Row {
            name: cells_of(line, &[(table.name, "")]).remove(0),
            others: cells_of(line, table.others),
            aspects: cells_of(line, table.aspects),
            figures: cells_of(line, table.figures),
        })
        .collect()
}

/// The devices that have a figure: the name and the numbers. Rows of one device that say what their figures are
/// belong together until one comes again.
fn expected(table: &Table) -> Vec<(String, Vec<f64>)> {
    let mut found: Vec<(String, Vec<f64>)> = Vec::new();
    let mut last: Option<(String, Vec<String>, Vec<Vec<String>>)> = None;
    for Row { name, others, aspects, figures } in rows(table) {
        let numbers: Vec<f64> = figures.iter().filter_map(|it| it.parse().ok()).collect();
        if numbers.is_empty() {
            continue;
        }
        let goes_on = last.as_ref().is_some_and(|(known, beside, seen)| {
            !aspects.is_empty() && *known == name && *beside == others && !seen.contains(&aspects)
        });
        match (goes_on, &mut last, found.last_mut()) {
            (true, Some((.., seen)), Some((_, known))) => {
                seen.push(aspects);
                known.extend(numbers);
            }
            _ => {
                last = Some((name.clone(), others, vec![aspects]));
                found.push((name, numbers));
            }
        }
    }
    found
}

/// What a text holds: each record's label and its figures.
fn told(table: &Table, text: &str) -> Vec<(String, Vec<f64>)> {
    let found = all_of(text).unwrap_or_else(|error| panic!("{}: {error}\n{text}", table.file));
    let of_record = |record: &Record| {
        let figures = record.figures.iter().map(|figure| figure.value).collect();
        (record.label.clone().unwrap_or_default(), figures)
    };
    found.records.iter().map(of_record).collect()
}

/// The table as its lines of cells.
fn cells(table: &Table) -> Vec<Vec<String>> {
    let columns = [&[("", "Card")], table.others, table.aspects, table.figures].concat();
    let heading: Vec<String> = columns.iter().map(|(_, heading)| (*heading).to_owned()).collect();
    let rows = rows(table)
        .into_iter()
        .map(|row| [vec![row.name], row.others, row.aspects, row.figures].concat());
    std::iter::once(heading).chain(rows).collect()
}

/// The table in Markdown.
fn markdown(table: &Table) -> String {
    let cells = cells(table);
    let rule = format!("|{}", "---|".repeat(cells[0].len()));
    let mut lines: Vec<String> =
        cells.iter().map(|row| format!("| {} |", row.join(" | "))).collect();
    lines.insert(1, rule);
    lines.join("\n")
}

/// The table in columns parted by spaces, figures to the right.
fn columns(table: &Table) -> String {
    let cells = cells(table);
    let width = |at: usize| cells.iter().map(|row| row[at].chars().count()).max().unwrap() + 2;
    let widths: Vec<usize> = (0..cells[0].len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let padded = row.iter().zip(&widths).enumerate().map(|(at, (cell, width))| match at {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        padded.collect::<String>()
    };
    cells.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn separated(table: &Table, separator: &str) -> String {
    cells(table).iter().map(|row| row.join(separator)).collect::<Vec<_>>().join("\n")
}

/// Every figure of a table is in its row, in each form.
fn check(table: &Table) {
    let forms = [markdown(table), columns(table), separated(table, "\t"), separated(table, ";")];
    for text in forms {
        assert_eq!(told(table, &text), expected(table), "{}\n{text}", table.file);
    }
}

#[test]
fn published_tables_typed_by_people_give_every_figure_to_its_row() {
    TABLES.iter().for_each(check);
}

#[test]
fn large_published_tables_give_every_figure_to_its_row() {
    for table in &BESIDE {
        if beside(table.file).is_none() {
            skip(
                "large_published_tables_give_every_figure_to_its_row",
                &format!("{} is not beside the project", table.file),
            );
            return;
        }
        check(table);
    }
}

#[test]
fn the_shipped_tables_themselves_give_every_figure_to_its_row() {
    // The table of iozone names its unit in a comment alone.
    for table in TABLES.iter().filter(|table| table.aspects.is_empty()) {
        let figures = |rows: Vec<(String, Vec<f64>)>| -> Vec<Vec<f64>> {
            rows.into_iter().map(|(_, figures)| figures).collect()
        };
        let read = figures(told(table, &shipped(table)));
        assert_eq!(read, figures(expected(table)), "{}", table.file);
    }
}
