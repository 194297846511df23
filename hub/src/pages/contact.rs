//! Whom a reader can write to: the operator says it once, and every page has it at its end.

use std::sync::OnceLock;

/// The most characters of it.
const LENGTH_MAX: usize = 200;

/// Whom a reader can write to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    /// As the operator has written it.
    pub words: String,
    /// Where that leads: to an address of the web or of mail; none of other words.
    pub link: Option<String>,
}

impl Contact {
    /// What `text` says.
    ///
    /// # Errors
    /// It is empty, too long, or of several lines.
    pub fn new(text: &str) -> Result<Self, String> {
        let words = text.trim();
        let has_length = (1..=LENGTH_MAX).contains(&words.chars().count());
        if !has_length || words.contains(char::is_control) {
            return Err(format!(
                "give a mail address, a URL or words, up to {LENGTH_MAX} characters"
            ));
        }
        let is_web = ["https://", "http://"].iter().any(|it| words.starts_with(it));
        let of_mail = |c: char| c.is_ascii_alphanumeric() || "@.-_+".contains(c);
        let is_mail = words.split('@').filter(|part| !part.is_empty()).count() == 2
            && words.matches('@').count() == 1
            && words.chars().all(of_mail);
        let link = match (is_web && !words.contains(char::is_whitespace), is_mail) {
            (true, _) => Some(words.to_owned()),
            (false, true) => Some(format!("mailto:{words}")),
            (false, false) => None,
        };
        Ok(Self { words: words.to_owned(), link })
    }
}

/// One process has one operator.
static CONTACT: OnceLock<Contact> = OnceLock::new();

/// Puts `contact` on every page from now on; the first one stays.
pub fn set_contact(contact: Contact) {
    let _ = CONTACT.set(contact);
}

/// What every page has at its end.
#[must_use]
pub fn contact() -> Option<&'static Contact> {
    CONTACT.get()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_links_and_words_are_words() {
        let link = |text: &str| Contact::new(text).map(|it| it.link);
        assert_eq!(link(" hub@example.org "), Ok(Some("mailto:hub@example.org".to_owned())));
        assert_eq!(link("https://example.org/c"), Ok(Some("https://example.org/c".to_owned())));
        for words in ["Anna, Main Street 1", "javascript:alert(1)", "a@b@c", "@b", "a@b?cc=c@d"] {
            assert_eq!(link(words), Ok(None), "{words}");
        }
        for wrong in ["", " ", "a\nb", &"x".repeat(201)] {
            assert!(link(wrong).is_err(), "{wrong}");
        }
    }
}
