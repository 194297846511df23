//! Our own files among those to import: they are results already, and no tool's output.

/// A file that cardproof wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Own {
    /// A report or another page.
    Page,
    /// A record, or another document.
    Document,
    /// A list or a comparison as CSV.
    Table,
}

/// What the first line of our tables begins with.
const TABLES: [&str; 2] =
    ["id,label,created,tool,profile,complete,card,", "measured,card,unit,rate,rate_low,rate_high,"];

impl Own {
    /// What of ours `text` is; `None` where it is of another program.
    pub(super) fn from_text(text: &str) -> Option<Self> {
        let text = text.trim_start();
        let is_page = text.starts_with("<!DOCTYPE html>") && text.contains(" - cardproof</title>");
        let is_table = TABLES.iter().any(|head| text.starts_with(head));
        if is_page {
            Some(Self::Page)
        } else if is_document(text) {
            Some(Self::Document)
        } else {
            is_table.then_some(Self::Table)
        }
    }

    /// Says what the file is, and which command shows it.
    pub(super) const fn words(self) -> &'static str {
        match self {
            Self::Page => {
                "it is a page of cardproof; its record is a file of its own, and `cardproof show` shows that"
            }
            Self::Document => {
                "it is a result of cardproof already; `cardproof show` shows a record"
            }
            Self::Table => {
                "it is a table of cardproof; its records are files of their own, and `cardproof list` lists them"
            }
        }
    }
}

/// Whether the JSON in `text` names one of our schemas before anything else.
fn is_document(text: &str) -> bool {
    let inside = text.strip_prefix('{').map(str::trim_start);
    let value = inside.and_then(|inside| inside.strip_prefix("\"schema\""));
    let value = value.and_then(|rest| rest.trim_start().strip_prefix(':'));
    value.is_some_and(|value| value.trim_start().starts_with("\"cardproof."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_files_are_known_and_others_are_not() {
        let page = "<!DOCTYPE html>\n<html>\n<head><title>A card - cardproof</title>\n";
        for (text, own) in [
            (page, Some(Own::Page)),
            ("{\n  \"schema\": \"cardproof.record/1\",\n", Some(Own::Document)),
            ("id,label,created,tool,profile,complete,card,size_bytes\n", Some(Own::Table)),
            ("<!DOCTYPE html><title>A forum about cardproof</title>", None),
            ("{\"fio version\": \"fio-3.33\"}", None),
            ("512+0 records out", None),
        ] {
            assert_eq!(Own::from_text(text), own, "{text}");
        }
    }
}
