//! Fitting a drawn chart into a page.
//!
//! Many charts share one page, so their ids must differ; they must grow and shrink with it; they
//! must have a name for those who do not see them; and they must be small.

use std::fmt::Write;

use super::{Chart, PlotError};
use crate::clean::Html;

/// Appends the drawing of `chart` to `page` under the name `id`, which no other chart has.
///
/// # Errors
/// `svg` is not one `<svg>` element.
pub(crate) fn embed(
    page: &mut String,
    svg: &str,
    chart: &Chart,
    id: &str,
) -> Result<(), PlotError> {
    let inside = svg.strip_prefix("<svg").and_then(|rest| rest.trim_end().strip_suffix("</svg>"));
    let (_, children) = inside.and_then(|rest| rest.split_once('>')).ok_or(PlotError::NoSvg)?;
    // Writing to a string cannot fail.
    let _ = write!(
        page,
        "<svg role=\"img\" aria-labelledby=\"{id}\" viewBox=\"0 0 {} {}\" fill=\"var(--ink)\">\
         <title id=\"{id}\">{}</title>",
        chart.width,
        chart.height,
        Html(&chart.title)
    );
    let children = children.replace("kuva-clip-", &format!("{id}-"));
    for part in children.split_inclusive('>') {
        append_part(page, part);
    }
    page.push_str("</svg>\n");
    Ok(())
}

/// Appends text and the tag after it, the tag's numbers cut to two decimals; leaves out comments
/// and grounds that paint nothing.
fn append_part(page: &mut String, part: &str) {
    let at = part.find('<').unwrap_or(part.len());
    let (text, tag) = part.split_at(at);
    page.push_str(text);
    if tag.starts_with("<!--") || (tag.starts_with("<rect width=\"100%\"") && tag.contains("none"))
    {
        return;
    }
    let mut decimals = None;
    for c in tag.chars() {
        decimals = match (c, decimals) {
            ('.', _) => Some(0),
            ('0'..='9', Some(count)) => Some(count + 1),
            _ => None,
        };
        if decimals.is_none_or(|count| count <= 2) {
            page.push(c);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::{Axis, Scale};

    fn chart() -> Chart {
        let axis = Axis { scale: Scale::Linear, low: 0.0, high: 1.0, tick: |v| v.to_string() };
        let title = "a <b>".to_owned();
        Chart { title, width: 360.0, height: 170.0, x: axis, y: axis, layers: Vec::new() }
    }

    #[test]
    fn a_drawing_becomes_part_of_a_page() {
        let svg = "<svg xmlns=\"x\" width=\"1\"><!-- by y --><rect width=\"100%\" fill=\"none\" />\
                   <g clip-path=\"url(#kuva-clip-0)\"><path d=\"M 1.23456 7.00000001\" /></g>\
                   <text>0.12345</text></svg>";
        let mut page = String::new();
        embed(&mut page, svg, &chart(), "c7").unwrap();
        assert_eq!(
            page,
            "<svg role=\"img\" aria-labelledby=\"c7\" viewBox=\"0 0 360 170\" fill=\"var(--ink)\">\
             <title id=\"c7\">a &lt;b&gt;</title>\
             <g clip-path=\"url(#c7-0)\"><path d=\"M 1.23 7.00\" /></g>\
             <text>0.12345</text></svg>\n"
        );
    }

    #[test]
    fn a_text_that_is_no_drawing_is_refused() {
        for svg in ["", "<div></div>", "<svg", "<svg></g>"] {
            assert_eq!(
                embed(&mut String::new(), svg, &chart(), "c"),
                Err(PlotError::NoSvg),
                "{svg}"
            );
        }
    }
}
