//! The comparison as one HTML file that needs nothing else.

use cardproof_rating::compare::{Comparison, Use};
use cardproof_record::Record;

use super::bars;
use super::overview::{Grid, GridColumn, Overview, overview};
use super::pictures;
use super::save::Page;
use super::sections::{Section, sections};
use crate::framed::FramedPage;
use crate::html::{HtmlError, end_page, head};
use crate::kept::ChartFile;
use crate::markup::{Markup, markup};

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
    Ok(page_of(comparison, wanted, records)?.text.into_text())
}

/// The same page for a frame around it.
///
/// # Errors
/// A chart could not be drawn.
pub fn comparison_page(
    comparison: &Comparison,
    wanted: Use,
    records: &[&Record],
) -> Result<FramedPage, HtmlError> {
    Ok(FramedPage::new(page_of(comparison, wanted, records)?.text.into_parts()))
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
    page.text.literal(
        "<header>\n<p class=\"kind\">cardproof comparison</p>\n<h1>Comparison</h1>\n</header>\n\
         <main>\n",
    );
    write_overview(&mut page.text, &overview(comparison, wanted));
    bars::write(&mut page, comparison);
    pictures::write(&mut page, comparison, wanted, records)?;
    if !page.charts.is_empty() {
        page.text.literal(KEEPING);
    }
    page.text.literal("<section id=\"details\">\n<h2>Every figure</h2>\n");
    for section in sections(comparison, wanted) {
        write(&mut page.text, &section);
    }
    page.text.literal("</section>\n");
    end_page(&mut page.text);
    Ok(page)
}

fn write_overview(page: &mut Markup, overview: &Overview) {
    markup!(page, "<section class=\"answer\">\n<h2>{}</h2>\n", &overview.heading);
    for sentence in &overview.answer {
        markup!(page, "<p><strong>{}</strong></p>\n", sentence);
    }
    overview.grids.iter().for_each(|grid| write_grid(page, grid));
    for note in &overview.notes {
        markup!(page, "<p class=\"note\">{}</p>\n", note);
    }
    page.literal("</section>\n");
}

fn write_grid(page: &mut Markup, grid: &Grid) {
    let label = grid.heading.as_deref().unwrap_or("All cards, best first");
    if grid.heading.is_some() {
        markup!(page, "<h3>{}</h3>\n", label);
    }
    markup!(
        page,
        "<p class=\"hint\">Scroll the table sideways for all columns.</p>\n\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\
         <table class=\"cards\">\n<thead><tr><th scope=\"col\">card</th>",
        label
    );
    for title in grid.columns.iter().skip(2).map(GridColumn::title) {
        markup!(page, "<th scope=\"col\">{}</th>", &title);
    }
    page.literal("</tr></thead>\n<tbody>\n");
    for row in &grid.rows {
        markup!(page, "<tr><th scope=\"row\">{}", row[0]);
        if !row[0].is_empty() {
            page.literal("&nbsp;");
        }
        markup!(page, "{}</th>", row[1]);
        for cell in &row[2..] {
            markup!(page, "<td>{}</td>", cell);
        }
        page.literal("</tr>\n");
    }
    page.literal("</tbody>\n</table></div>\n");
}

fn write(page: &mut Markup, section: &Section) {
    markup!(page, "<details>\n<summary>{}</summary>\n", &section.heading);
    for paragraph in &section.about {
        markup!(page, "<p>{}</p>\n", paragraph);
    }
    markup!(
        page,
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>",
        &section.heading
    );
    for column in &section.columns {
        markup!(page, "<th scope=\"col\">{}</th>", column);
    }
    page.literal("</tr></thead>\n<tbody>\n");
    for row in &section.rows {
        for (index, cell) in row.iter().enumerate() {
            if index == 0 {
                markup!(page, "<tr><th scope=\"row\">{}</th>", cell);
            } else {
                markup!(page, "<td>{}</td>", cell);
            }
        }
        for _ in row.len()..section.columns.len() {
            page.literal("<td></td>");
        }
        page.literal("</tr>\n");
    }
    page.literal("</tbody>\n</table></div>\n");
    for note in &section.notes {
        markup!(page, "<p class=\"note\">{}</p>\n", note);
    }
    page.literal("</details>\n");
}
