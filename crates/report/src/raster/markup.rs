//! The markup of our own drawings, element by element. It is no parser of what others write.

/// A piece of markup.
#[derive(Debug, PartialEq)]
pub(super) enum Element<'s> {
    /// The beginning of an element.
    Open {
        name: &'s str,
        /// The text of its attributes.
        attributes: &'s str,
        /// Whether nothing is inside.
        is_closed: bool,
    },
    /// The end of an element.
    Close(&'s str),
    /// Text between elements.
    Text(String),
}

/// The pieces of `svg`.
pub(super) fn elements(svg: &str) -> Vec<Element<'_>> {
    let mut found = Vec::new();
    let mut rest = svg;
    while let Some((text, after)) = rest.split_once('<') {
        if !text.trim().is_empty() {
            found.push(Element::Text(unescaped(text)));
        }
        let Some((tag, after)) = after.split_once('>') else { break };
        rest = after;
        if let Some(name) = tag.strip_prefix('/') {
            found.push(Element::Close(name));
            continue;
        }
        let is_closed = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let (name, attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        found.push(Element::Open { name, attributes, is_closed });
    }
    found
}

impl Element<'_> {
    /// The attribute called `name`.
    pub(super) fn attribute(&self, name: &str) -> Option<String> {
        let Self::Open { attributes, .. } = self else { return None };
        let mut rest = *attributes;
        while let Some((known, after)) = rest.split_once("=\"") {
            let (value, after) = after.split_once('"')?;
            if known.trim() == name {
                return Some(unescaped(value));
            }
            rest = after;
        }
        None
    }

    /// The attribute called `name` as a number.
    pub(super) fn number(&self, name: &str) -> Option<f64> {
        let value = self.attribute(name)?.trim().parse().ok()?;
        Some(value).filter(|value: &f64| value.is_finite())
    }
}

/// `text` without what `Html` puts in the place of signs.
fn unescaped(text: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#58;", ":"),
        ("&amp;", "&"),
    ];
    pairs.iter().fold(text.to_owned(), |text, (escape, sign)| text.replace(escape, sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_and_text_are_as_they_were_written() {
        let found = elements("<g a=\"1\" bb=\"x &amp; y\"><t/>a &lt;b&gt; c</g>");
        assert_eq!(found.len(), 4);
        assert_eq!(found[0].attribute("bb").as_deref(), Some("x & y"));
        assert_eq!(found[0].number("a"), Some(1.0));
        assert_eq!(found[0].attribute("b"), None);
        assert_eq!(found[2], Element::Text("a <b> c".to_owned()));
        assert_eq!(elements("<never ends"), []);
    }
}
