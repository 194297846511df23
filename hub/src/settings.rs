//! The file of settings that systemd gives the service (`EnvironmentFile=`): commands find the database's address there,
//! so that no administrator types a password.

use std::path::Path;

use crate::error::Error;

/// The setting with the database's address.
const DATABASE: &str = "CARDPROOF_HUB_DATABASE";

/// The database's address in `file`; none where it names no database.
///
/// # Errors
/// The file cannot be read.
pub fn database(file: &Path) -> Result<Option<String>, Error> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Error::File(format!("cannot read {}", file.display()), error))?;
    Ok(value(&text, DATABASE))
}

/// The value of `name` in `text`, which is written as systemd reads it: the last one counts, in quotes or without.
fn value(text: &str, name: &str) -> Option<String> {
    let of_line = |line: &str| {
        let (key, value) = line.trim_start().split_once('=')?;
        (key.trim_end() == name).then(|| unquoted(value.trim()).to_owned())
    };
    text.lines().filter_map(of_line).next_back().filter(|value| !value.is_empty())
}

/// `text` without the quotes around it.
fn unquoted(text: &str) -> &str {
    let within = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    within('"').or_else(|| within('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_setting_counts_with_quotes_or_without() {
        let of = |text: &str| value(text, DATABASE);
        for text in [
            "CARDPROOF_HUB_DATABASE=postgres://a:b=c@h/d",
            "CARDPROOF_HUB_OPTIONS=--behind-proxy\n CARDPROOF_HUB_DATABASE = \"postgres://a:b=c@h/d\" \n",
            "CARDPROOF_HUB_DATABASE=postgres://old\nCARDPROOF_HUB_DATABASE='postgres://a:b=c@h/d'\n",
        ] {
            assert_eq!(of(text).as_deref(), Some("postgres://a:b=c@h/d"), "{text}");
        }
        for text in ["", "#CARDPROOF_HUB_DATABASE=postgres://h", "CARDPROOF_HUB_DATABASE=\n", "x"] {
            assert_eq!(of(text), None, "{text}");
        }
    }
}
