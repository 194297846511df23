//! Pictures and their figures as files to save: links that hold the file itself, without a script.

use crate::clean::put;
use crate::kept::ChartFile;
use crate::markup::{Markup, markup};
use crate::wrap::sentence;

/// A page being written, and its charts.
#[derive(Default)]
pub(super) struct Page {
    pub(super) text: Markup,
    pub(super) charts: Vec<ChartFile>,
}

/// Appends links that save `file`, the chart about `subject`, and keeps it for those who want files.
pub(super) fn write(page: &mut Page, subject: &str, file: ChartFile) {
    let heading = sentence(subject);
    let ChartFile { name, csv, .. } = &file;
    markup!(
        page.text,
        "<p class=\"save\"><a download=\"{}.svg\" href=\"data:image/svg+xml,{}\">Save {} as \
         SVG</a> <a download=\"{}.csv\" href=\"data:text/csv,{}\">{} as CSV</a></p>\n",
        name,
        percent_encoded(&file.svg()),
        heading,
        name,
        percent_encoded(csv),
        heading
    );
    page.charts.push(file);
}

/// `text` as the data of a URL: all but letters, digits and a few signs by their bytes.
fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b',' | b'/' => {
                out.push(char::from(byte));
            }
            other => put!(out, "%{other:02X}"),
        }
    }
    out
}
