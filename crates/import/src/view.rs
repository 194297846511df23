//! A line as its recognisers see it: trimmed once, and with the characters that stand in it.
//!
//! Most lines of a long text are no tool's sign, and thirty readers ask each of them for dozens of
//! words. A word cannot stand in a line that lacks one of its characters, or two of them beside each other,
//! so most searches end before they begin. What a line has is found once, when the text is cut into lines.

/// Which characters a text holds: a bit for each letter and for some punctuation, one for all digits, one for
/// marks of quoting, and one for everything else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letters(u64);

/// The place of the bit of marks of quoting and of characters that are not printable ASCII.
const MARK: u8 = 60;

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
        // What a terminal, a web page or a mail may have left, and no plain line of an output has.
        b'<' | b'>' | b'&' | b'[' | b']' | b'`' | b'\\' => MARK,
        byte if !matches!(byte, b'\t' | b' '..=b'~') => MARK,
        b'-' => 61,
        b'+' => 62,
        _ => 63,
    }
}

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

    /// Whether all of `other` are among them.
    pub(super) const fn hold(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }
}

/// Which characters stand beside each other in a text, small and capital letters as the same: many pairs share a
/// bit. Where the bit of a pair is missing, no such pair is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Pairs(u64);

/// What a byte adds to the facts about a text.
#[derive(Clone, Copy)]
struct Known {
    letter: u64,
    /// Its part of the place of the pair of which it is the first.
    first: u32,
    /// Its part of the place of the pair of which it is the second.
    second: u32,
}

static KNOWN: [Known; 256] = {
    let mut known = [Known { letter: 0, first: 0, second: 0 }; 256];
    let mut byte = 0;
    while byte < known.len() {
        let small = (byte as u8).to_ascii_lowercase();
        known[byte] = Known {
            letter: bit(byte as u8),
            first: (small.wrapping_mul(29) & 63) as u32,
            second: (small.wrapping_mul(83).rotate_left(3) & 63) as u32,
        };
        byte += 1;
    }
    known
};

impl Pairs {
    const NONE: Self = Self(0);
    const ALL: Self = Self(u64::MAX);

    const fn of_word(word: &str) -> Self {
        let bytes = word.as_bytes();
        let (mut found, mut at) = (Self::NONE, 1);
        while at < bytes.len() {
            found.add(bytes[at - 1], bytes[at]);
            at += 1;
        }
        found
    }

    const fn bit(first: u8, second: u8) -> u64 {
        1 << (KNOWN[first as usize].first ^ KNOWN[second as usize].second)
    }

    const fn add(&mut self, first: u8, second: u8) {
        self.0 |= Self::bit(first, second);
    }

    const fn has(self, first: u8, second: u8) -> bool {
        self.0 & Self::bit(first, second) != 0
    }

    const fn hold(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }
}

/// What stands in a text and what may stand there: which characters, and which of them beside each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    letters: Letters,
    pairs: Pairs,
}

/// A longer text has nearly all pairs, in bytes.
const PAIRS_LENGTH_MAX: usize = 512;

impl Facts {
    /// Those of `text`.
    pub(super) fn of(text: &str) -> Self {
        let mut letters = 0;
        if text.len() > PAIRS_LENGTH_MAX {
            for byte in text.as_bytes() {
                letters |= KNOWN[usize::from(*byte)].letter;
            }
            return Self { letters: Letters(letters), pairs: Pairs::ALL };
        }
        let (mut pairs, mut before) = (0_u64, 0);
        for byte in text.as_bytes() {
            let known = &KNOWN[usize::from(*byte)];
            letters |= known.letter;
            pairs |= 1 << ((before ^ known.second) & 63);
            before = known.first;
        }
        Self { letters: Letters(letters), pairs: Pairs(pairs) }
    }

    /// Whether the text is as a tool printed it: it holds printable ASCII characters alone, and none that
    /// [`lines`](super::lines::lines) takes off or ends a line at.
    pub(super) const fn are_of_printed(self) -> bool {
        self.letters.0 & 1 << MARK == 0
    }

    /// Those of two texts, the first of which ends in the byte `end` and the second of which begins with
    /// `start`, with a space between.
    pub(super) const fn with(self, end: u8, start: u8, other: Self) -> Self {
        let mut pairs = Pairs(self.pairs.0 | other.pairs.0);
        pairs.add(end, b' ');
        pairs.add(b' ', start);
        Self { letters: Letters(self.letters.0 | other.letters.0 | bit(b' ')), pairs }
    }
}

/// A word to look for.
#[derive(Debug)]
pub(super) struct Needle {
    word: &'static str,
    letters: Letters,
    pairs: Pairs,
}

impl Needle {
    pub(super) const fn new(word: &'static str) -> Self {
        Self { word, letters: Letters::of_word(word), pairs: Pairs::of_word(word) }
    }

    /// The word itself.
    pub(super) const fn word(&self) -> &'static str {
        self.word
    }
}

/// Words with which a line may begin.
#[derive(Debug)]
pub(super) struct Beginnings {
    words: &'static [&'static str],
    /// The characters beside each other at the beginning of all of them: the first two, the second and the third, the
    /// third and the fourth.
    pairs: [Pairs; 3],
}

impl Beginnings {
    /// `words` of two bytes or more.
    pub(super) const fn new(words: &'static [&'static str]) -> Self {
        let (mut pairs, mut at) = ([Pairs::NONE; 3], 0);
        while at < words.len() {
            let word = words[at].as_bytes();
            let mut place = 0;
            while place < pairs.len() {
                if place + 1 < word.len() {
                    pairs[place].add(word[place], word[place + 1]);
                } else {
                    pairs[place] = Pairs::ALL;
                }
                place += 1;
            }
            at += 1;
        }
        Self { words, pairs }
    }

    /// Whether `text` begins with one of them.
    pub(super) fn begin(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let [first, second, ..] = bytes else { return false };
        let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
        if !(self.pairs[0].has(*first, *second)
            && self.pairs[1].has(*second, byte(2))
            && self.pairs[2].has(byte(2), byte(3)))
        {
            return false;
        }
        let is_it = |word: &&str| word.as_bytes()[0] == *first && text.starts_with(word);
        self.words.iter().any(is_it)
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
        let is_it = |known: &&str| {
            known.len() == word.len() && known.as_bytes()[0] == word.as_bytes()[0] && *known == word
        };
        self.may_have(word) && self.words.iter().any(is_it)
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
        let is_first = |byte: &u8| KNOWN[usize::from(*byte)].letter & self.first.0 != 0;
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

/// `text` without white space before it.
pub(super) fn trimmed_start(text: &str) -> &str {
    let blanks = text.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match text.as_bytes().get(blanks) {
        Some(byte) if byte.is_ascii_graphic() => &text[blanks..],
        _ => text.trim_start(),
    }
}

/// A line, what is left of it without the white space around it, and what stands in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'l> {
    /// The line with what stands before and behind its words.
    pub(super) line: &'l str,
    /// The same without white space around it.
    pub(super) text: &'l str,
    facts: Facts,
}

impl<'l> View<'l> {
    /// The view of a text that is no line of one that was cut; others have their [`Line::view`].
    ///
    /// [`Line::view`]: super::lines::Line::view
    pub(super) fn of(line: &'l str) -> Self {
        Self { line, text: trimmed(line), facts: Facts::of(line) }
    }

    /// The view of a `line` of which all is known; `text` is the line without the white space around it.
    pub(super) const fn known(line: &'l str, text: &'l str, facts: Facts) -> Self {
        Self { line, text, facts }
    }

    /// Whether `needle` stands in it.
    pub(super) fn holds(&self, needle: &Needle) -> bool {
        self.facts.letters.hold(needle.letters)
            && self.facts.pairs.hold(needle.pairs)
            && self.line.contains(needle.word)
    }

    /// Whether `needle` may stand in it, in small or capital letters.
    pub(super) const fn may_hold_in_any_case(&self, needle: &Needle) -> bool {
        self.facts.pairs.hold(needle.pairs)
    }

    /// Whether all of `letters` stand in it.
    pub(super) const fn has(&self, letters: Letters) -> bool {
        self.facts.letters.hold(letters)
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
            assert_eq!(trimmed_start(text), text.trim_start(), "{text:?}");
        }
    }
}
