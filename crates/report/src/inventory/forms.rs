//! The rows of many records as text, CSV, Markdown and HTML.

use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table};

use cardproof_rating::Defect;
use cardproof_rating::wording::bare;
use cardproof_units::{Iops, Throughput};

use super::Entry;
use crate::clean::Markdown;
use crate::clean::csv_quoted;
use crate::columns::{beginning, columns_of, left};
use crate::comparison::cut_apart;
use crate::html::{end_page, head};
use crate::markup::{Markup, markup};

/// Cards in a file or a pipe are cut as for a terminal so wide.
const WIDTH_OF_FILES: u16 = 80;

/// Lines are at least so wide.
const WIDTH_MIN: usize = 60;

/// A card's name keeps at least so many columns.
const CARD_MIN: usize = 12;

/// Stands between two columns.
const GAP: &str = "  ";

/// The width of the table of rates, the longest name in it, and where its verdicts stand.
const TABLE_WIDTH: u16 = 80;
const TABLE_NAME_MAX: usize = 24;
const VERDICT: usize = 1;

/// A longer label moves the rest of its own row alone, and so does a longer result where lines must fit.
const LABEL_MAX: usize = 16;
const RESULT_MAX: usize = 22;

/// A result that is cut keeps at least so many columns.
const RESULT_MIN: usize = 16;

/// The rows for a terminal, ending in a newline, one line each: id, label, day, result, card.
/// `latest` is the id of the record that `latest` names. No id and no label is cut, since a user copies them. Where
/// `width` is known, results and cards are cut to fit in so many columns; elsewhere both are whole.
#[must_use]
pub fn inventory_text(entries: &[Entry], latest: Option<&str>, width: Option<u16>) -> String {
    let is_fitted = width.is_some();
    let width = usize::from(width.unwrap_or(WIDTH_OF_FILES)).clamp(WIDTH_MIN, 120);
    let mut rows: Vec<[String; 4]> = entries
        .iter()
        .map(|entry| {
            let label = entry.label.clone().unwrap_or_default();
            [entry.short_id().to_owned(), label, entry.day().to_owned(), entry.result()]
        })
        .collect();
    if is_fitted {
        cut_results(&mut rows, entries, latest, width);
    }
    let widths: Vec<usize> = (0..4).map(|column| widest(&rows, column, is_fitted)).collect();
    // Where no record has a label, there is no column of labels.
    let shown: Vec<usize> = (0..4).filter(|&column| widths[column] > 0).collect();
    let mut out = String::new();
    for (entry, row) in entries.iter().zip(&rows) {
        let of_row = |column: usize| widths[column].max(columns_of(&row[column])) + GAP.len();
        let taken: usize = shown.iter().map(|&column| of_row(column)).sum();
        // Behind the card it takes no room from the cards of other rows.
        let mark = mark(entry, latest);
        let card_width = width.saturating_sub(taken + columns_of(mark)).max(CARD_MIN);
        let cells = shown.iter().map(|&column| left(&row[column], widths[column]));
        let card = if is_fitted {
            cut_end(&entry.card_in_short, card_width)
        } else {
            entry.card_in_short.clone()
        };
        let line = cells.chain([card]).collect::<Vec<_>>().join(GAP);
        out.push_str(line.trim_end());
        out.push_str(mark);
        out.push('\n');
    }
    out
}

/// How wide a column of `rows` is. A longer label or result moves the rest of its own row alone; results keep
/// their column where nothing has to fit (not `is_fitted`).
fn widest(rows: &[[String; 4]], column: usize, is_fitted: bool) -> usize {
    const LABEL: usize = 1;
    const RESULT: usize = 3;
    let columns = || rows.iter().map(|row| columns_of(&row[column]));
    let most = columns().max().unwrap_or(0);
    let limit = match column {
        LABEL => LABEL_MAX,
        RESULT if is_fitted => RESULT_MAX,
        _ => return most,
    };
    if most <= limit {
        return most;
    }
    columns().filter(|&text| (1..=limit).contains(&text)).max().unwrap_or(limit)
}

/// What stands behind the row of the record that `latest` names.
fn mark(entry: &Entry, latest: Option<&str>) -> &'static str {
    if latest == Some(&*entry.id) { " (latest)" } else { "" }
}

/// Cuts the results of `rows`, so that id, label, day, result and the least of a card fit in `width` columns.
fn cut_results(rows: &mut [[String; 4]], entries: &[Entry], latest: Option<&str>, width: usize) {
    let before = (0..3).map(|column| widest(rows, column, true)).filter(|&columns| columns > 0);
    let taken: usize = before.map(|columns| columns + GAP.len()).sum();
    let card = entries.iter().map(|it| columns_of(&it.card_in_short)).max().unwrap_or(0);
    for (row, entry) in rows.iter_mut().zip(entries) {
        let after = GAP.len() + card.min(CARD_MIN) + columns_of(mark(entry, latest));
        let room = width.saturating_sub(taken + after).max(RESULT_MIN);
        if columns_of(&row[3]) > room {
            row[3] = cut_end(&entry.result(), room);
        }
    }
}

/// `text` without the end that does not fit in `width` columns.
fn cut_end(text: &str, width: usize) -> String {
    if columns_of(text) <= width {
        return text.to_owned();
    }
    let kept = beginning(text, width.saturating_sub(1));
    format!("{}\u{2026}", kept.trim_end())
}

/// The rows as a table for a terminal of 80 columns, ending in a newline: name, verdict, rates.
#[must_use]
pub fn inventory_table(entries: &[Entry]) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    table.set_width(TABLE_WIDTH);
    table.set_header([
        "record",
        "verdict",
        "4 KiB\nread\nIOPS",
        "4 KiB\nwrite\nIOPS",
        "4 KiB\nsynced\nIOPS",
        "seq.\nread\nMB/s",
        "seq.\nwrite\nMB/s",
    ]);
    let names = super::names(entries);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for (entry, name) in entries.iter().zip(cut_apart(&names, TABLE_NAME_MAX)) {
        let verdict = match (entry.verified(), entry.met.as_slice()) {
            _ if entry.ended.is_some() => entry.result(),
            (Some(verified), _) => verified,
            (None, []) if entry.missed.is_empty() && entry.undecided.is_empty() => {
                entry.found_in_short()
            }
            (None, []) if entry.is_card => "no class passed".to_owned(),
            (None, met) if entry.is_card => format!("passed {}", met.join(" ")),
            (None, _) => {
                entry.of_classes(|word, classes| format!("{word} {}", classes.join(" "))).remove(0)
            }
        };
        let figures = figures(entry).map(|it| if it.is_empty() { "-".to_owned() } else { it });
        let row = [name, verdict].into_iter().chain(figures);
        table.add_row(row);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 1));
        if index > 1 {
            column.set_cell_alignment(CellAlignment::Right);
        }
        // Only a verdict is broken to several lines.
        if index != VERDICT {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table.to_string().lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

const HEADINGS: [&str; 9] = [
    "record",
    "date",
    "card",
    "result",
    "random read, IOPS",
    "random write, IOPS",
    "synced write, IOPS",
    "sequential read, MB/s",
    "sequential write, MB/s",
];

/// The columns of figures begin here.
const FIRST_FIGURE: usize = 4;

fn cells(entry: &Entry, name: String) -> [String; 9] {
    let [read, write, synced, sequential_read, sequential_write] = figures(entry);
    [
        name,
        entry.day().to_owned(),
        entry.card.clone(),
        entry.verdicts(),
        read,
        write,
        synced,
        sequential_read,
        sequential_write,
    ]
}

/// The rates without their units, in the order of [`HEADINGS`]; empty where not known.
fn figures(entry: &Entry) -> [String; 5] {
    let iops = |rate: Option<f64>| rate.map_or(String::new(), |rate| bare(&Iops(rate)));
    let mb = |rate: Option<f64>| rate.map_or(String::new(), |rate| bare(&Throughput(rate)));
    [
        iops(entry.random_read_iops),
        iops(entry.random_write_iops),
        iops(entry.synced_write_iops),
        mb(entry.sequential_read_bytes_per_s),
        mb(entry.sequential_write_bytes_per_s),
    ]
}

/// The rows as CSV (RFC 4180 with line feeds), with a line of headings. What is not known is empty.
#[must_use]
pub fn inventory_csv(entries: &[Entry]) -> String {
    let mut out = String::from(
        "id,label,created,tool,profile,complete,card,size_bytes,met,missed,undecided,\
         random_read_iops,random_write_iops,synced_write_iops,sequential_read_bytes_per_s,\
         sequential_write_bytes_per_s,doubts,capacity,found,defect\n",
    );
    let number = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:.1}"));
    for entry in entries {
        let line = [
            csv_quoted(&entry.id),
            csv_quoted(entry.label.as_deref().unwrap_or_default()),
            csv_quoted(entry.created.as_deref().unwrap_or_default()),
            csv_quoted(&entry.tool),
            csv_quoted(&entry.profile),
            entry.is_complete.to_string(),
            csv_quoted(&entry.card),
            entry.size_bytes.map_or(String::new(), |size| size.get().to_string()),
            entry.met.join(" "),
            entry.missed.join(" "),
            entry.undecided.join(" "),
            number(entry.random_read_iops),
            number(entry.random_write_iops),
            number(entry.synced_write_iops),
            number(entry.sequential_read_bytes_per_s),
            number(entry.sequential_write_bytes_per_s),
            csv_quoted(&entry.doubts.join("; ")),
            csv_quoted(entry.capacity.as_deref().unwrap_or_default()),
            csv_quoted(entry.found.as_deref().unwrap_or_default()),
            csv_quoted(&entry.defect.as_ref().map_or_else(String::new, Defect::words)),
        ];
        out.push_str(&line.join(","));
        out.push('\n');
    }
    out
}

/// The rows as a table in Markdown. Text from a record cannot make markup.
#[must_use]
pub fn inventory_markdown(entries: &[Entry]) -> String {
    let lines: Vec<&str> =
        (0..HEADINGS.len()).map(|at| if at < FIRST_FIGURE { "---" } else { "---:" }).collect();
    let mut out = format!("| {} |\n| {} |\n", HEADINGS.join(" | "), lines.join(" | "));
    for (entry, name) in entries.iter().zip(super::names(entries)) {
        let cells = cells(entry, name).map(|cell| Markdown(&cell).to_string());
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    out
}

/// The rows as one HTML file: no network, no script, no font.
#[must_use]
pub fn inventory_html(entries: &[Entry]) -> String {
    let mut page = Markup::with_capacity(64 * 1024);
    let title = format!("{} records", entries.len());
    head(&mut page, &title);
    markup!(
        page,
        "<header>\n<p class=\"kind\">cardproof list</p>\n<h1>{}</h1>\n</header>\n<main>\n\
         <section>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"Records\"><table class=\"cards\">\n<thead><tr>",
        title
    );
    for (at, heading) in HEADINGS.into_iter().enumerate() {
        match at {
            0..FIRST_FIGURE => markup!(page, "<th scope=\"col\" class=\"words\">{}</th>", heading),
            _ => markup!(page, "<th scope=\"col\">{}</th>", heading),
        }
    }
    page.literal("</tr></thead>\n<tbody>\n");
    for (entry, name) in entries.iter().zip(super::names(entries)) {
        for (at, cell) in cells(entry, name).iter().enumerate() {
            match at {
                0 => markup!(page, "<tr><th scope=\"row\">{}</th>", cell),
                1..FIRST_FIGURE => markup!(page, "<td class=\"words\">{}</td>", cell),
                _ => markup!(page, "<td>{}</td>", cell),
            }
        }
        page.literal("</tr>\n");
    }
    page.literal(
        "</tbody>\n</table></div>\n<p class=\"note\">Passed: the highest class of each kind \
         that passed. A higher class includes the lower ones. Not passed: the lowest class of each kind that \
         was not passed. This is not a certificate.</p>\n</section>\n",
    );
    end_page(&mut page);
    page.into_text()
}
