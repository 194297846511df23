//! A line as its recognisers see it: trimmed once, and with the characters that stand in it.
//!
//! Most lines of a long text are no tool's sign, and twenty readers ask each of them for dozens of
//! words. A word cannot stand in a line that lacks one of its characters, so most searches end before
//! they begin.

/// Which characters a text holds: a bit for each letter and for some punctuation, one for all digits,
/// and one for everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letters(u64);

const fn bit(byte: u8) -> u64 {
    1 << match byte {
        b'a'..=b'z' => byte - b'a',
        b'A'..=b'Z' => byte - b'A' + 26,
        b'0'..=b'9' => 52,
        b' ' => 53,
        b'"' => 54,
        b'(' => 55,
        b':' => 56,
        b'/' => 57,
        b';' => 58,
        b'=' => 59,
        b'[' => 60,
        b'-' => 61,
        b'+' => 62,
        _ => 63,
    }
}

/// The bit of each byte.
static BITS: [u64; 256] = {
    let mut bits = [0; 256];
    let mut byte = 0;
    while byte < bits.len() {
        bits[byte] = bit(byte as u8);
        byte += 1;
    }
    bits
};

impl Letters {
    /// Those of a word that is known when the program is built.
    pub(super) const fn of_word(word: &str) -> Self {
        let bytes = word.as_bytes();
        let (mut bits, mut at) = (0, 0);
        while at < bytes.len() {
            bits |= bit(bytes[at]);
            at += 1;
        }
        Self(bits)
    }

    fn of(text: &str) -> Self {
        Self(text.bytes().fold(0, |bits, byte| bits | BITS[usize::from(byte)]))
    }

    /// Whether all of `other` are among them.
    pub(super) const fn hold(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }
}

/// A word to look for.
#[derive(Debug)]
pub(super) struct Needle {
    word: &'static str,
    letters: Letters,
}

impl Needle {
    pub(super) const fn new(word: &'static str) -> Self {
        Self { word, letters: Letters::of_word(word) }
    }
}

/// Words with which a line may begin.
#[derive(Debug)]
pub(super) struct Beginnings {
    words: &'static [&'static str],
    /// The first letters of all of them.
    first: Letters,
    shortest: usize,
}

impl Beginnings {
    /// `words`, none of which is empty.
    pub(super) const fn new(words: &'static [&'static str]) -> Self {
        let (mut first, mut shortest, mut at) = (0, usize::MAX, 0);
        while at < words.len() {
            first |= bit(words[at].as_bytes()[0]);
            if words[at].len() < shortest {
                shortest = words[at].len();
            }
            at += 1;
        }
        Self { words, first: Letters(first), shortest }
    }

    /// Whether `text` begins with one of them.
    pub(super) fn begin(&self, text: &str) -> bool {
        let Some(first) = text.as_bytes().first() else { return false };
        let is_it = |word: &&str| word.as_bytes()[0] == *first && text.starts_with(word);
        text.len() >= self.shortest
            && BITS[usize::from(*first)] & self.first.0 != 0
            && self.words.iter().any(is_it)
    }
}

/// Words of small ASCII letters that mean the same.
#[derive(Debug)]
pub(super) struct Words {
    words: &'static [&'static str],
    /// The first letters of all of them, small and capital.
    first: Letters,
    /// A bit for each of their lengths.
    lengths: u32,
}

impl Words {
    /// `words`, none of which is empty or as long as 32 bytes.
    pub(super) const fn new(words: &'static [&'static str]) -> Self {
        let (mut first, mut lengths, mut at) = (0, 0, 0);
        while at < words.len() {
            let byte = words[at].as_bytes()[0];
            first |= bit(byte) | bit(byte.to_ascii_uppercase());
            lengths |= 1 << words[at].len();
            at += 1;
        }
        Self { words, first: Letters(first), lengths }
    }

    /// Whether `word` is one of them as it stands.
    pub(super) fn have(&self, word: &str) -> bool {
        self.may_have(word) && self.words.contains(&word)
    }

    /// Whether `word` is one of them in small or capital letters.
    pub(super) fn have_in_any_case(&self, word: &str) -> bool {
        if word.is_ascii() {
            let is_it = |known: &&str| known.eq_ignore_ascii_case(word);
            return self.may_have(word) && self.words.iter().any(is_it);
        }
        // Of other characters few have a small letter that is one of these.
        let small = || word.chars().flat_map(char::to_lowercase);
        small().all(|c| c.is_ascii()) && self.words.iter().any(|known| small().eq(known.chars()))
    }

    fn may_have(&self, word: &str) -> bool {
        let is_first = |byte: &u8| BITS[usize::from(*byte)] & self.first.0 != 0;
        word.len() < 32
            && self.lengths & 1 << word.len() != 0
            && word.as_bytes().first().is_some_and(is_first)
    }
}

/// `text` without white space around it.
pub(super) fn trimmed(text: &str) -> &str {
    let is_shown = |byte: &u8| !matches!(byte, b' ' | b'\t');
    let bytes = text.as_bytes();
    let first = bytes.iter().position(is_shown);
    let last = bytes.iter().rposition(is_shown);
    match first.zip(last) {
        // Other characters may be white space too.
        Some((first, last))
            if bytes[first].is_ascii_graphic() && bytes[last].is_ascii_graphic() =>
        {
            &text[first..=last]
        }
        _ => text.trim(),
    }
}

/// A line, what is left of it without the white space around it, and its characters.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'l> {
    /// The line with what stands before and behind its words.
    pub(super) line: &'l str,
    /// The same without white space around it.
    pub(super) text: &'l str,
    letters: Letters,
}

impl<'l> View<'l> {
    pub(super) fn of(line: &'l str) -> Self {
        Self { line, text: trimmed(line), letters: Letters::of(line) }
    }

    /// Whether `needle` stands in it.
    pub(super) fn holds(&self, needle: &Needle) -> bool {
        self.letters.hold(needle.letters) && self.line.contains(needle.word)
    }

    /// Whether all of `letters` stand in it.
    pub(super) const fn has(&self, letters: Letters) -> bool {
        self.letters.hold(letters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_where_it_stands_and_nowhere_else() {
        let needle = Needle::new("fio version");
        for (line, expected) in [
            ("\"fio version\" : \"fio-3.33\"", true),
            ("\t\u{b5}fio version", true),
            ("noisrev oif", false),
            ("fio", false),
            ("", false),
        ] {
            assert_eq!(View::of(line).holds(&needle), expected, "{line}");
        }
    }

    #[test]
    fn a_beginning_is_known_by_more_than_its_first_letter() {
        let beginnings = Beginnings::new(&["Data OK:", "Creating file", "*Usable"]);
        for (text, expected) in [
            ("Data OK: 3", true),
            ("*Usable* size", true),
            ("Date", false),
            ("data", false),
            ("", false),
        ] {
            assert_eq!(beginnings.begin(text), expected, "{text}");
        }
    }

    #[test]
    fn a_word_is_known_in_any_case_of_its_letters() {
        let words = Words::new(&["kingston", "sd"]);
        for (word, expected) in [
            ("Kingston", true),
            ("\u{212a}INGSTON", true),
            ("SD", true),
            ("ssd", false),
            ("s\u{e9}", false),
            ("", false),
        ] {
            assert_eq!(words.have_in_any_case(word), expected, "{word}");
        }
        assert!(words.have("sd") && !words.have("SD"));
    }

    #[test]
    fn white_space_of_any_kind_is_taken_off() {
        for text in ["", " ", "a", "a b", " a", "a\t", "\u{a0}a\u{3000}", "\u{e9}", "\u{e9} "] {
            assert_eq!(trimmed(text), text.trim(), "{text:?}");
        }
    }
}
