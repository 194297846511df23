//! The text of a page, into which nothing gets unescaped.
//!
//! A page grows by literals of this crate ([`Markup::literal`]), by the macro [`markup!`], which escapes every
//! value, and by drawings. There is no other way: its text cannot be reached, and a format string that captures
//! a variable by name, past the macro's hands, does not compile.

use std::fmt::{self, Display, Write};

use crate::clean::{Html, next_code};
use crate::drawing::{Drawing, Shape, svg};

/// The text of a page.
#[derive(Debug, Default)]
pub(crate) struct Markup {
    text: String,
    /// The parts before `text`.
    parts: Vec<String>,
}

impl Markup {
    /// An empty page with room for `capacity` bytes.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { text: String::with_capacity(capacity), parts: Vec::new() }
    }

    /// Appends markup of our own.
    pub(crate) fn literal(&mut self, markup: &'static str) {
        self.text.push_str(markup);
    }

    /// Appends a drawing under the name `id`, which no other element of the page has.
    pub(crate) fn drawing(&mut self, drawing: &Drawing, id: &str) {
        self.text.push_str(&svg::element(drawing, id));
    }

    /// Appends `shapes` beside words that say the same; as large as `size`.
    pub(crate) fn ornament(&mut self, size: (f64, f64), shapes: &[Shape]) {
        self.text.push_str(&svg::ornament(size, shapes));
    }

    /// For [`markup!`] alone, which wraps each value in an [`Inserted`].
    pub(crate) fn append_escaped(&mut self, text: fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = self.text.write_fmt(text);
    }

    /// Ends a part, behind which others may put what is theirs.
    pub(crate) fn end_part(&mut self) {
        self.parts.push(std::mem::take(&mut self.text));
    }

    /// The finished page in its parts; those that it has not are empty.
    pub(crate) fn into_parts<const PARTS: usize>(self) -> [String; PARTS] {
        let mut parts = self.parts.into_iter().chain([self.text]);
        std::array::from_fn(|_| parts.next().unwrap_or_default())
    }

    /// The finished page.
    pub(crate) fn into_text(self) -> String {
        self.parts.concat() + &self.text
    }
}

/// What can stand in a page: all that has words, escaped, and the few kinds of markup that are made here.
pub(crate) trait Insert {
    /// Writes it as HTML.
    fn insert(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result;
}

impl<T: Display + ?Sized> Insert for T {
    fn insert(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(Escaping(f), "{self}")
    }
}

/// A sentence of our own, in which backticks set off what is typed.
pub(crate) struct Sentence<'t>(pub(crate) &'t str);

impl Insert for Sentence<'_> {
    fn insert(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        while let Some((before, code, after)) = next_code(rest) {
            write!(f, "{}<code>{}</code>", Html(before), Html(code))?;
            rest = after;
        }
        Html(rest).fmt(f)
    }
}

/// A value on its way into a page.
pub(crate) struct Inserted<'v, T: Insert + ?Sized>(pub(crate) &'v T);

impl<T: Insert + ?Sized> Display for Inserted<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.insert(f)
    }
}

/// Escapes all that is written through it.
struct Escaping<'f, 'b>(&'f mut fmt::Formatter<'b>);

impl Write for Escaping<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        Html(text).fmt(self.0)
    }
}

/// Appends a literal with values to a [`Markup`]; each `{}` stands for the next value, escaped.
macro_rules! markup {
    ($page:expr, $literal:literal $(, $value:expr)* $(,)?) => {
        // `concat!` makes the literal one that captures no variable by name.
        $page.append_escaped(format_args!(
            concat!($literal) $(, $crate::markup::Inserted(&$value))*
        ))
    };
}
pub(crate) use markup;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_escaped_whatever_it_is() {
        let mut page = Markup::default();
        let name = "<img src=q>\u{1b}[2J\u{202e}\"'&".to_owned();
        markup!(page, "<p title=\"{}\">{} of {}</p>", name, &name, 4);
        let escaped = "&lt;img src=q&gt; [2J &quot;&#39;&amp;";
        assert_eq!(page.into_text(), format!("<p title=\"{escaped}\">{escaped} of 4</p>"));
    }

    #[test]
    fn backticks_set_off_what_is_typed() {
        let html = |text| {
            let mut page = Markup::default();
            markup!(page, "{}", Sentence(text));
            page.into_text()
        };
        assert_eq!(
            html("Type `a <b>` or `c`."),
            "Type <code>a &lt;b&gt;</code> or <code>c</code>."
        );
        assert_eq!(html("One ` is <i> no pair."), "One ` is &lt;i&gt; no pair.");
    }
}
