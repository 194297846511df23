//! Trigrams of names, by which a search forgives typing.

/// The most trigrams of a text.
const GRAMS_MAX: usize = 64;

/// Three characters in one number.
pub(super) type Gram = u64;

/// The trigrams of `text`, in order: of each word in small letters, with blanks at its ends.
pub(super) fn grams(text: &str) -> Vec<Gram> {
    let plain: String =
        text.chars().map(|c| if c.is_alphanumeric() || c == '+' { c } else { ' ' }).collect();
    let mut grams = Vec::new();
    for word in plain.to_lowercase().split_whitespace() {
        let padded: Vec<char> = format!("  {word} ").chars().collect();
        let gram = |three: &[char]| three.iter().fold(0, |all, c| (all << 21) | u64::from(*c));
        grams.extend(padded.windows(3).map(gram));
    }
    grams.truncate(GRAMS_MAX);
    grams.sort_unstable();
    grams.dedup();
    grams
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_share_most_trigrams_with_their_misspellings() {
        let (right, wrong) = (grams("SanDisk Extreme"), grams("sandsik extreme"));
        let shared = right.iter().filter(|gram| wrong.contains(gram)).count();
        assert!(shared * 3 > right.len() * 2, "{shared} of {}", right.len());
        assert_eq!(grams("EVO+"), grams("  evo+ "));
        assert!(grams("").is_empty());
    }
}
