//! Pages that say one thing, or ask one.

use askama::Template;

use super::rendered;

/// A link back: an address and its words.
pub type Back<'a> = (&'a str, &'a str);

/// A page that says one thing, with a way back where there is one.
#[must_use]
pub fn message(title: &str, words: &str, back: Option<Back<'_>>) -> String {
    rendered(&Message { title, words, back })
}

#[derive(Template)]
#[template(path = "message.html")]
struct Message<'a> {
    title: &'a str,
    words: &'a str,
    back: Option<Back<'a>>,
}

/// The question before many records are deleted.
#[derive(Debug, Template)]
#[template(path = "delete-many.html")]
pub struct DeleteMany<'a> {
    /// The records.
    pub ids: &'a [&'a str],
    /// Why.
    pub reason: &'a str,
    /// The list that they were shown in.
    pub state: &'a str,
    /// The submitter to which it was narrowed, or nothing.
    pub submitter: &'a str,
    /// The address of the list.
    pub list: &'a str,
}

impl From<DeleteMany<'_>> for String {
    fn from(page: DeleteMany<'_>) -> Self {
        rendered(&page)
    }
}
