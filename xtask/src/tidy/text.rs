//! Rules for every text file: no unfinished places, no trace of one machine.

use std::path::Path;

use super::finding::Finding;

/// What may stand in no file, and why. The words are put together here so that this file does
/// not hold them either.
fn forbidden() -> [(String, &'static str); 6] {
    [
        (["TO", "DO"].concat(), "finish it, or open an issue"),
        (["FIX", "ME"].concat(), "finish it, or open an issue"),
        (["XX", "X"].concat(), "finish it, or open an issue"),
        (["/", "work/"].concat(), "a path of one machine; make it relative"),
        (["/", "root/"].concat(), "a path of one machine; make it relative"),
        (["shared", "/reference"].concat(), "a path outside of this repository; name the source"),
    ]
}

/// The findings in the file at `path` that holds `text`. The lock file is cargo's.
pub(super) fn check(path: &Path, text: &str) -> Vec<Finding> {
    if path.extension().is_some_and(|extension| extension == "lock") {
        return Vec::new();
    }
    let forbidden = forbidden();
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (word, remedy) in &forbidden {
            if stands_alone(line, word) {
                findings.push(Finding::new(path, index + 1, format!("`{word}`: {remedy}")));
            }
        }
    }
    findings
}

/// Whether `word` is in `line` and not just the end of a longer word or path.
fn stands_alone(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line[..start].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '}' | 'X'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_forbidden_word_is_found_with_its_line() {
        for (word, _) in forbidden() {
            let findings = check(Path::new("a.txt"), &format!("fine\nhere: {word}"));
            assert_eq!(findings.len(), 1, "{word}");
            assert_eq!(findings[0].line, 2);
        }
    }

    #[test]
    fn a_relative_path_and_a_template_are_fine() {
        let template = format!(".cardproof-{}", "X".repeat(8));
        for line in ["../files/here", "network/x", &template] {
            assert!(check(Path::new("a.rs"), line).is_empty(), "{line}");
        }
    }

    #[test]
    fn the_lock_file_is_cargos() {
        assert!(check(Path::new("Cargo.lock"), &forbidden()[0].0).is_empty());
    }
}
