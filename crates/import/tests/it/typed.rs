//! The published tables that the product ships, and one of another article, typed as people type them: every figure in its row.

use std::fs;
use std::path::PathBuf;

use cardproof_record::Record;

use crate::all_of;

/// A shipped table: its file, the column of names, and the columns of figures with the headings that a
/// person would type over them.
struct Table {
    file: &'static str,
    name: &'static str,
    figures: &'static [(&'static str, &'static str)],
}

const TABLES: [Table; 7] = [
    Table {
        file: "sd-card-bench-2018.csv",
        name: "device",
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
        figures: &[
            ("rand_read_KBps", "rand read [KB/s]"),
            ("rand_write_KBps", "rand write [KB/s]"),
        ],
    },
    Table {
        file: "iozone-pi-ssd.csv",
        name: "card",
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
        figures: &[
            ("rand_read_MBps", "Random read MB/s"),
            ("rand_write_MBps", "Random write MB/s"),
        ],
    },
    Table {
        file: "microsd-benchmarks-pi.csv",
        name: "card",
        figures: &[
            ("hdparm_MBps", "hdparm MB/s"),
            ("dd_write_MBps", "dd write MB/s"),
            ("rand_read_4k_MBps", "4K random read MB/s"),
            ("rand_write_4k_MBps", "4K random write MB/s"),
        ],
    },
];

fn shipped(table: &Table) -> String {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let own = manifest.join("tests/tables").join(table.file);
    let path = if own.exists() { own } else { manifest.join("../rating/data").join(table.file) };
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", table.file))
}

/// The rows of a shipped table: the name, and the figures as they are written.
fn rows(table: &Table) -> Vec<(String, Vec<String>)> {
    let text = shipped(table);
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
    let column = |name: &str| heading.iter().position(|it| *it == name).unwrap();
    let name = column(table.name);
    let figures: Vec<usize> = table.figures.iter().map(|(it, _)| column(it)).collect();
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let own = figures.iter().map(|at| cells[*at].to_owned()).collect();
            (cells[name].to_owned(), own)
        })
        .collect()
}

/// The rows that hold a figure: the name and the numbers.
fn expected(table: &Table) -> Vec<(String, Vec<f64>)> {
    let numbers = |figures: Vec<String>| figures.iter().filter_map(|it| it.parse().ok()).collect();
    let rows = rows(table).into_iter().map(|(name, figures)| (name, numbers(figures)));
    rows.filter(|(_, numbers): &(String, Vec<f64>)| !numbers.is_empty()).collect()
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
    let heading = std::iter::once("Card").chain(table.figures.iter().map(|(_, heading)| *heading));
    let heading: Vec<String> = heading.map(str::to_owned).collect();
    let rows = rows(table).into_iter().map(|(name, figures)| [vec![name], figures].concat());
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

#[test]
fn published_tables_typed_by_people_give_every_figure_to_its_row() {
    for table in &TABLES {
        let forms =
            [markdown(table), columns(table), separated(table, "\t"), separated(table, ";")];
        for text in forms {
            assert_eq!(told(table, &text), expected(table), "{}\n{text}", table.file);
        }
    }
}

#[test]
fn the_shipped_tables_themselves_give_every_figure_to_its_row() {
    for table in &TABLES {
        let figures = |rows: Vec<(String, Vec<f64>)>| -> Vec<Vec<f64>> {
            rows.into_iter().map(|(_, figures)| figures).collect()
        };
        let read = figures(told(table, &shipped(table)));
        assert_eq!(read, figures(expected(table)), "{}", table.file);
    }
}
