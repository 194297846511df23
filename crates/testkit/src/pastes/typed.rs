//! What people type: tables of several cards, and figures of programs with windows.

use cardproof_record::OpName;

use super::Row;
use super::dice::{Dice, printed};

/// Names of cards in a column.
const CARDS: [&str; 6] = [
    "SanDisk Extreme 64GB",
    "Samsung EVO Plus",
    "Kingston Canvas Go",
    "Lexar 633x",
    "Transcend 300S",
    "Intenso Class 4",
];

/// Columns of figures: the heading with its unit, and the operation.
const COLUMNS: [(&str, OpName, f64, f64); 4] = [
    ("Seq read MB/s", OpName::Read, 15.0, 95.0),
    ("Seq write MB/s", OpName::Write, 5.0, 80.0),
    ("4k read IOPS", OpName::Read, 300.0, 4000.0),
    ("4k write IOPS", OpName::Write, 50.0, 2500.0),
];

/// How the cells of a table are parted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Markdown,
    Columns,
    Separated(char),
}

/// A table of two to six cards, each of which is a record.
pub(super) fn table(form: Form, dice: &mut Dice) -> Vec<Row> {
    let count = 2 + dice.below(4);
    let first = dice.below(CARDS.len());
    let mut rows = vec![Row::new(heading(form))];
    if form == Form::Markdown {
        rows.push(Row::new("|------|---:|---:|---:|---:|"));
    }
    for index in 0..count {
        let name = CARDS[(first + index) % CARDS.len()];
        let figures = COLUMNS.map(|(heading, op, low, high)| {
            let digits = usize::from(heading.ends_with("MB/s"));
            let (text, value) = printed(dice.between(low, high), digits);
            (text, op, value)
        });
        let cells: Vec<&str> =
            std::iter::once(name).chain(figures.iter().map(|(text, ..)| text.as_str())).collect();
        let row = Row { begins_card: true, ..Row::new(line(form, &cells)) };
        rows.push(figures.iter().fold(row, |row, (_, op, value)| row.tells(*op, *value)));
    }
    rows
}

fn heading(form: Form) -> String {
    let cells: Vec<&str> =
        std::iter::once("Card").chain(COLUMNS.iter().map(|(name, ..)| *name)).collect();
    line(form, &cells)
}

fn line(form: Form, cells: &[&str]) -> String {
    match form {
        Form::Markdown => format!("| {} |", cells.join(" | ")),
        Form::Separated(mark) => cells.join(&mark.to_string()),
        Form::Columns => {
            let (name, figures) = cells.split_first().unwrap_or((&"", &[]));
            let figures: String = figures.iter().map(|cell| format!("{cell:>16}")).collect();
            format!("{name:<22}{figures}")
        }
    }
}

/// The lines of a program with a window.
pub(super) fn app(dice: &mut Dice) -> Vec<Row> {
    match dice.below(3) {
        0 => amorphous(dice),
        1 => blackmagic(dice),
        _ => gnome(dice),
    }
}

fn amorphous(dice: &mut Dice) -> Vec<Row> {
    let mut rows = vec![
        Row::new("AmorphousDiskMark 4.0.1"),
        Row::new("              Read [MB/s]  Write [MB/s]"),
    ];
    for (test, high) in
        [("SEQ1M QD8", 95.0), ("SEQ1M QD1", 90.0), ("RND4K QD64", 12.0), ("RND4K QD1", 9.0)]
    {
        let (read, was_read) = printed(dice.between(high / 10.0, high), 2);
        let (write, written) = printed(dice.between(high / 20.0, high), 2);
        let row = Row::new(format!("{test:<12}{read:>11}{write:>13}"));
        rows.push(row.tells(OpName::Read, was_read).tells(OpName::Write, written));
    }
    rows
}

fn blackmagic(dice: &mut Dice) -> Vec<Row> {
    let (write, written) = printed(dice.between(5.0, 90.0), 1);
    let (read, was_read) = printed(dice.between(10.0, 95.0), 1);
    vec![
        Row::new("Blackmagic Disk Speed Test"),
        Row::new(format!("Write: {write} MB/s")).tells(OpName::Write, written),
        Row::new(format!("Read: {read} MB/s")).tells(OpName::Read, was_read),
    ]
}

fn gnome(dice: &mut Dice) -> Vec<Row> {
    let (read, was_read) = printed(dice.between(10.0, 95.0), 1);
    let (write, written) = printed(dice.between(5.0, 90.0), 1);
    let (access, _) = printed(dice.between(0.3, 5.0), 2);
    vec![
        Row::new("Sample Size: 10.0 MiB (10,485,760 bytes)"),
        Row::new(format!("Average Read Rate: {read} MB/s (100 samples)"))
            .tells(OpName::Read, was_read),
        Row::new(format!("Average Write Rate: {write} MB/s (100 samples)"))
            .tells(OpName::Write, written),
        Row::new(format!("Average Access Time: {access} msec (1000 samples)")),
    ]
}
