//! Pictures and their figures as files to save: links that hold the file itself, without a script.

use crate::clean::Html;
use crate::html::put;
use crate::wrap::sentence;

/// The colours of a picture that stands outside of the page, and its font: those of the page by day.
const OUTSIDE: &str = "<style>svg{--ink:#1b1f24;--axis:#7a828d;--grid:#e3e7ec;--quiet:#7a828d;\
                       --alarm:#d9480f;--line-0:#0b5fc1;--line-1:#b4530a;--line-2:#0c7a6b;\
                       --line-3:#7b3fc4;--line-4:#b0205f;--line-5:#566270;font-family:sans-serif;\
                       background:#ffffff}</style>";

/// What an SVG file must begin with and a page need not.
const NAMESPACE: &str = " xmlns=\"http&#58;//www.w3.org/2000/svg\"";

/// The height of a line of a legend.
const LINE: f64 = 16.0;

/// `picture`, a chart of `width` and `height`, with `names` below it, each after the mark that stands
/// for it: SVG that lies around (0, 0) and is at most 28 wide.
pub(super) fn with_legend(
    picture: &str,
    (width, height): (f64, f64),
    names: &[(String, String)],
) -> String {
    let whole = height + LINE * names.len() as f64 + 6.0;
    let mut legend = String::new();
    for (at, (mark, name)) in names.iter().enumerate() {
        let y = height + LINE * (at as f64 + 0.75);
        put!(
            legend,
            "<g transform=\"translate(10 {y})\">{mark}<text x=\"34\" y=\"4\">{}</text></g>",
            Html(name)
        );
    }
    let end = format!("{legend}</svg>");
    let sizes = [height, whole].map(|height| format!("viewBox=\"0 0 {width} {height}\""));
    picture.trim_end().replacen(&sizes[0], &sizes[1], 1).replacen("</svg>", &end, 1)
}

/// Appends links that save `picture`, one SVG element about `subject`, and its figures `csv`.
pub(super) fn write(page: &mut String, subject: &str, picture: &str, csv: &str) {
    let heading = sentence(subject);
    let file: String = subject.to_lowercase().replace(' ', "-");
    let namespace = if picture.contains("xmlns=") { "" } else { NAMESPACE };
    let alone = picture.trim_end().replacen("<svg", &format!("<svg{namespace}"), 1).replacen(
        '>',
        &format!(">{OUTSIDE}"),
        1,
    );
    put!(
        page,
        "<p class=\"save\"><a download=\"{file}.svg\" href=\"data:image/svg+xml,{}\">Save {heading} as \
         SVG</a> <a download=\"{file}.csv\" href=\"data:text/csv,{}\">{heading} as CSV</a></p>\n",
        percent_encoded(&alone),
        percent_encoded(csv)
    );
}

/// `text` as the data of a URL: all but letters, digits and a few signs by their bytes.
fn percent_encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for byte in text.replace("&#58;", ":").bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b',' | b'/' => {
                out.push(char::from(byte));
            }
            other => put!(out, "%{other:02X}"),
        }
    }
    out
}
