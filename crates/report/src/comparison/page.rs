//! The comparison as one HTML file that needs nothing else.

use cardproof_rating::compare::{Comparison, Use};
use cardproof_record::Record;

use super::bars;
use super::overview::{Grid, GridColumn, Overview, overview};
use super::pictures;
use super::save::Page;
use super::sections::{Section, sections};
use crate::clean::Html;
use crate::clean::put;
use crate::html::{HtmlError, end_page, head};
use crate::kept::ChartFile;

/// How charts become files that a page without a script cannot make.
const KEEPING: &str = "<p class=\"note\">Every chart as PNG, SVG and CSV: \
                       <code>cardproof compare CARD CARD ... --charts DIR</code></p>\n";

/// The comparison as one HTML file: no network, no script, no font. It has all details. `records` are
/// the first of each card, in the order of the comparison.
///
/// # Errors
/// A chart could not be drawn.
pub fn comparison_html(
    comparison: &Comparison,
    wanted: Use,
    records: &[&Record],
) -> Result<String, HtmlError> {
    Ok(page_of(comparison, wanted, records)?.text)
}

/// The charts of that page, as files of their own.
///
/// # Errors
/// A chart could not be drawn.
pub fn comparison_charts(
    comparison: &Comparison,
    wanted: Use,
    records: &[&Record],
) -> Result<Vec<ChartFile>, HtmlError> {
    Ok(page_of(comparison, wanted, records)?.charts)
}

fn page_of(comparison: &Comparison, wanted: Use, records: &[&Record]) -> Result<Page, HtmlError> {
    let mut page = Page::default();
    head(&mut page.text, "Comparison");
    page.text.push_str(
        "<header>\n<p class=\"kind\">cardproof comparison</p>\n<h1>Comparison</h1>\n</header>\n\
         <main>\n",
    );
    write_overview(&mut page.text, &overview(comparison, wanted));
    bars::write(&mut page, comparison);
    pictures::write(&mut page, comparison, wanted, records)?;
    if !page.charts.is_empty() {
        page.text.push_str(KEEPING);
    }
    page.text.push_str("<section id=\"details\">\n<h2>Every figure</h2>\n");
    for section in sections(comparison, wanted) {
        write(&mut page.text, &section);
    }
    page.text.push_str("</section>\n");
    end_page(&mut page.text);
    Ok(page)
}

fn write_overview(page: &mut String, overview: &Overview) {
    put!(page, "<section class=\"answer\">\n<h2>{}</h2>\n", Html(&overview.heading));
    for sentence in &overview.answer {
        put!(page, "<p><strong>{}</strong></p>\n", Html(sentence));
    }
    put!(page, "<p>{}</p>\n", Html(&overview.weighting));
    overview.grids.iter().for_each(|grid| write_grid(page, grid));
    for note in &overview.notes {
        put!(page, "<p class=\"note\">{}</p>\n", Html(note));
    }
    page.push_str("</section>\n");
}

fn write_grid(page: &mut String, grid: &Grid) {
    let label = grid.heading.as_deref().unwrap_or("All cards, best first");
    if grid.heading.is_some() {
        put!(page, "<h3>{}</h3>\n", Html(label));
    }
    put!(
        page,
        "<p class=\"hint\">Scroll the table sideways for all columns.</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\
         <table class=\"cards\">\n<thead><tr><th scope=\"col\">card</th>",
        Html(label)
    );
    for title in grid.columns.iter().skip(2).map(GridColumn::title) {
        put!(page, "<th scope=\"col\">{}</th>", Html(&title));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in &grid.rows {
        let gap = if row[0].is_empty() { "" } else { "&nbsp;" };
        put!(page, "<tr><th scope=\"row\">{}{gap}{}</th>", Html(&row[0]), Html(&row[1]));
        for cell in &row[2..] {
            put!(page, "<td>{}</td>", Html(cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table></div>\n");
}

fn write(page: &mut String, section: &Section) {
    put!(page, "<details>\n<summary>{}</summary>\n", Html(&section.heading));
    for paragraph in &section.about {
        put!(page, "<p>{}</p>\n", Html(paragraph));
    }
    put!(
        page,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>",
        Html(&section.heading)
    );
    for column in &section.columns {
        put!(page, "<th scope=\"col\">{}</th>", Html(column));
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in &section.rows {
        for (index, cell) in row.iter().enumerate() {
            if index == 0 {
                put!(page, "<tr><th scope=\"row\">{}</th>", Html(cell));
            } else {
                put!(page, "<td>{}</td>", Html(cell));
            }
        }
        for _ in row.len()..section.columns.len() {
            page.push_str("<td></td>");
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody>\n</table></div>\n");
    for note in &section.notes {
        put!(page, "<p class=\"note\">{}</p>\n", Html(note));
    }
    page.push_str("</details>\n");
}
