//! The comparison as one HTML file that needs nothing else.

use cardproof_rating::compare::{Comparison, Use};

use super::sections::{Section, sections};
use crate::clean::Html;
use crate::html::{end_page, head, put};

/// The comparison as one HTML file: no network, no script, no font; of the uses only `only`, where
/// it is given.
#[must_use]
pub fn comparison_html(comparison: &Comparison, only: Option<Use>) -> String {
    let mut page = String::with_capacity(64 * 1024);
    head(&mut page, "Comparison");
    page.push_str(
        "<header>\n<p class=\"kind\">cardproof comparison</p>\n<h1>Comparison</h1>\n</header>\n\
         <main>\n",
    );
    for section in sections(comparison, only) {
        write(&mut page, &section);
    }
    end_page(&mut page);
    page
}

fn write(page: &mut String, section: &Section) {
    put!(page, "<section>\n<h2>{}</h2>\n", Html(&section.heading));
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
    page.push_str("</section>\n");
}
