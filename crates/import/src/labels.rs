//! Lines between outputs: which name a card, which begin another one, and which say nothing of either.
//!
//! People keep the results of several cards in one file, under headings, behind the kernel's messages
//! or with a sentence before each. A record must not join two cards; where a line leaves that open,
//! `cards` decides by what was measured. A name is taken from such a line only where it is short and
//! holds nothing that identifies a person or a place.

use super::lines::Line;
use super::programs::{PROGRAMS, is_program};
use super::sentences::is_sentence;
use super::text::{find, first_word, has_word};
use super::view::{Needle, View, Words};

/// The longest name that is kept.
const LABEL_CHARS_MAX: usize = 80;

/// Words of headings that name a test and no card.
static TEST_WORDS: Words = Words::new(&[
    "again",
    "bench",
    "benchmark",
    "benchmarks",
    "buffered",
    "cached",
    "direct",
    "iops",
    "output",
    "performance",
    "random",
    "raw",
    "read",
    "reading",
    "result",
    "results",
    "run",
    "sequential",
    "speed",
    "test",
    "testing",
    "tests",
    "throughput",
    "write",
    "writing",
    "log",
]);

/// Words that count repeats of one measurement.
static REPEAT_WORDS: Words = Words::new(&[
    "again",
    "attempt",
    "first",
    "iteration",
    "nd",
    "once",
    "more",
    "pass",
    "rd",
    "repeat",
    "round",
    "run",
    "second",
    "st",
    "test",
    "third",
]);

/// Words that say that a card is meant.
static CARD_WORDS: Words = Words::new(&[
    "card",
    "cards",
    "sd",
    "microsd",
    "emmc",
    "ssd",
    "stick",
    "usb",
    "nvme",
    "sandisk",
    "samsung",
    "kingston",
    "transcend",
    "lexar",
]);

/// What a line between outputs is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Between<'l> {
    /// A heading of a document.
    Heading(&'l str),
    /// A sentence or a name.
    Prose(&'l str),
    /// A command, a message of the kernel, a mark: nothing that names a card.
    Noise,
}

/// What a line that no reader knows is.
pub(super) fn between<'l>(view: &View<'l>) -> Between<'l> {
    match heading(view.text) {
        Some(heading) => Between::Heading(heading),
        None if is_noise(view) => Between::Noise,
        None => Between::Prose(view.text),
    }
}

/// The heading that `line` is when the `next` one underlines it, as in Markdown.
pub(super) fn underlined<'l>(line: &'l Line<'_>, next: Option<&Line<'_>>) -> Option<&'l str> {
    let next = next.filter(|next| next.number == line.number + 1)?;
    let rule = next.shown().as_bytes();
    let mark = *rule.first()?;
    if !(rule.len() >= 3 && matches!(mark, b'=' | b'-') && rule.iter().all(|byte| *byte == mark)) {
        return None;
    }
    let view = line.view();
    let text = view.text;
    // Programs centre their titles over rules, and end their sections' names in a colon.
    let is_of_program = view.line.starts_with("    ") || text.ends_with(':') && !names_card(text);
    let is_value = text.split_once(": ").is_some_and(|(_, value)| {
        value.trim_start().starts_with(|c: char| c.is_ascii_digit()) && !names_card(text)
    });
    let is_heading = !is_of_program
        && !is_value
        && name(text).is_some()
        && matches!(between(&view), Between::Prose(_));
    is_heading.then_some(text)
}

/// What stands around a heading in HTML or in a forum's marks.
const HEADING_MARKS: [(&str, &str); 10] = [
    ("<h1>", "</h1>"),
    ("<h2>", "</h2>"),
    ("<h3>", "</h3>"),
    ("<h4>", "</h4>"),
    ("<b>", "</b>"),
    ("<strong>", "</strong>"),
    ("<summary>", "</summary>"),
    ("**", "**"),
    ("[b]", "[/b]"),
    ("[B]", "[/B]"),
];

/// The text of a heading in Markdown, HTML or a forum's marks.
fn heading(text: &str) -> Option<&str> {
    let inner = match text.as_bytes().first()? {
        b'#' => {
            let inner = text.trim_start_matches('#');
            // A program's banner in a box is centred.
            let is_box = inner.starts_with("    ") && text.ends_with('#');
            if text.len() - inner.len() > 6 || !inner.starts_with([' ', '[', '*']) || is_box {
                return None;
            }
            inner.trim_matches([' ', '#', '[', ']', '*'])
        }
        b'<' | b'*' | b'[' => {
            let marked =
                |(open, close): &(&str, &str)| text.strip_prefix(open)?.strip_suffix(close);
            HEADING_MARKS.iter().find_map(marked)?.trim()
        }
        _ => return None,
    };
    let first = inner.split_whitespace().next()?.trim_start_matches("./");
    let is_command = text.starts_with("# ") && is_program(first);
    (!is_command && inner.chars().any(char::is_alphabetic)).then_some(inner)
}

/// Whether a line is a command behind a prompt, the kernel's or the shell's talk, or a mark.
fn is_noise(view: &View) -> bool {
    const KERNEL: Needle = Needle::new("mmcblk");
    let text = view.text;
    // Prompts, data, paths.
    let is_mark = text.as_bytes().first().is_some_and(|byte| b"$#%{}\"[]|</".contains(byte));
    let is_fence = || text.starts_with("```") || text.starts_with("~~~");
    if is_mark || is_fence() || !has_word(text) {
        return true;
    }
    let first = first_word(text);
    let has_prompt = || {
        matches!(first, "nsh>" | "pxh>" | "INFO" | "WARN" | "ERROR")
            || first.contains('@')
                && (text.contains("$ ") || text.contains("# ") || text.ends_with(['$', '#']))
    };
    let is_time =
        || matches!(first, "real" | "user" | "sys") && text.contains('m') && text.ends_with('s');
    let is_decorated =
        || text.starts_with("==") || text.starts_with("--") || text.starts_with("**");
    let is_kernel = || view.holds(&KERNEL) || first.ends_with(':') && first.starts_with("mmc");
    let is_columns = || first.starts_with("random") && text.matches("random").count() == 2;
    has_prompt()
        || is_time()
        || is_decorated() && !has_capacity(text)
        || is_kernel()
        || is_columns()
        || is_program(without_place(first))
}

/// A command without the `./` before it.
fn without_place(mut word: &str) -> &str {
    while let Some(rest) = word.strip_prefix("./") {
        word = rest;
    }
    word
}

/// Whether `text` names a capacity such as `32GB`, `64 GB`, `128G`.
fn has_capacity(text: &str) -> bool {
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        rest = rest[start..].trim_start_matches(|c: char| c.is_ascii_digit());
        if begins_with_unit(rest.trim_start_matches([' ', '-'])) {
            return true;
        }
    }
    false
}

/// Whether `text` begins with the unit of a capacity, and not with that of a rate.
fn begins_with_unit(text: &str) -> bool {
    let is_unit = |name: &str| {
        text.split_at_checked(name.len()).is_some_and(|(unit, rest)| {
            unit.eq_ignore_ascii_case(name)
                && !rest.starts_with(|c: char| c.is_alphanumeric() || c == '/')
        })
    };
    ["GB", "TB", "GIB", "TIB", "G"].into_iter().any(is_unit)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether `text` names a capacity or says that a card is meant.
pub(super) fn names_card(text: &str) -> bool {
    has_capacity(text) || words(text).any(|word| CARD_WORDS.have_in_any_case(word))
}

/// Makers whose name says that another product is meant.
static MAKERS: Words = Words::new(&[
    "adata",
    "integral",
    "intenso",
    "kingston",
    "kioxia",
    "lexar",
    "netac",
    "patriot",
    "philips",
    "pny",
    "samsung",
    "sandisk",
    "silicon",
    "sony",
    "toshiba",
    "transcend",
    "verbatim",
]);

/// Words beside a capacity that is that of a test and not of a card.
static SIZE_WORDS: Words =
    Words::new(&["file", "files", "size", "total", "block", "blocks", "data", "ram", "memory"]);

/// Whether `text` names a product, by its maker or its capacity, in other words than
/// `known`, those about tests aside: another card.
pub(super) fn names_other_product(text: &str, known: &str) -> bool {
    let is_of_test = |word: &str| {
        TEST_WORDS.have_in_any_case(word)
            || PROGRAMS.have_in_any_case(word)
            || LINKS.have_in_any_case(word)
    };
    let product = |text: &str| -> Vec<String> {
        words(text).filter(|word| !is_of_test(word)).map(str::to_lowercase).collect()
    };
    let has_size = words(text).any(|word| SIZE_WORDS.have_in_any_case(word));
    let has_maker = words(text).any(|word| MAKERS.have_in_any_case(word));
    let known = product(known);
    let is_known = product(text).iter().all(|word| known.contains(word));
    (has_maker || has_capacity(text) && !has_size) && !is_known
}

/// Whether a line in the middle of an output names another card: by a maker or a capacity, and not by the
/// size of what a program works on.
pub(super) fn begins_card(text: &str) -> bool {
    names_card(text)
        && text.chars().count() <= LABEL_CHARS_MAX
        && !words(text).any(|word| SIZE_WORDS.have_in_any_case(word))
}

/// Whether a heading speaks of a test and not of a card.
pub(super) fn is_about_test(heading: &str) -> bool {
    let is_test = |word: &str| TEST_WORDS.have_in_any_case(word) || PROGRAMS.have_in_any_case(word);
    words(heading).any(is_test) && !has_capacity(heading)
}

/// Words that may stand between those of a test.
static LINKS: Words =
    Words::new(&["a", "and", "for", "now", "of", "running", "the", "then", "to", "with"]);

/// Whether `text` says nothing but which test comes, such as `Running DD READ test...`.
pub(super) fn is_only_about_test(text: &str) -> bool {
    let is_test = |word: &str| {
        TEST_WORDS.have_in_any_case(word)
            || PROGRAMS.have_in_any_case(word)
            || LINKS.have_in_any_case(word)
    };
    words(text).all(is_test) && is_about_test(text)
}

/// Whether `text` only counts a repeat, such as `Run 2` or `2nd run:`.
pub(super) fn is_repeat(text: &str) -> bool {
    // Most sentences begin with another word.
    let end = text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let is_whole = text.as_bytes().get(end).is_none_or(u8::is_ascii);
    if end > 0 && is_whole && !counts_repeat(&text[..end]) {
        return false;
    }
    words(text).all(counts_repeat) && !names_card(text)
}

/// Whether `word` is a number, or counts repeats beside one: `2nd`.
fn counts_repeat(word: &str) -> bool {
    let letters = word.trim_matches(|c: char| c.is_ascii_digit());
    if letters.contains(|c: char| c.is_ascii_digit()) {
        let letters: String = letters.chars().filter(|c| !c.is_ascii_digit()).collect();
        return REPEAT_WORDS.have_in_any_case(&letters);
    }
    letters.is_empty() || REPEAT_WORDS.have_in_any_case(letters)
}

/// Whether two lines differ in a count alone, such as `Align test: 1` and `Align test: 2`.
pub(super) fn is_same_but_count(a: &str, b: &str) -> bool {
    fn without_digits(text: &str) -> impl Iterator<Item = char> {
        text.chars().filter(|c| !c.is_ascii_digit())
    }
    without_digits(a).eq(without_digits(b)) && !names_card(a) && !names_card(b)
}

/// `text` as a card's name, where it is one: short, no sentence, and without a path, an address or a host.
pub(super) fn name(text: &str) -> Option<String> {
    let text = link_text(text.trim()).unwrap_or(text);
    let text = text.trim_matches(|c: char| c.is_whitespace() || "*_`#=:-[]".contains(c));
    let is_path = |part: &str| part.starts_with(|c: char| !c.is_ascii_digit()) || part.is_empty();
    let has_path = text.split('/').skip(1).any(is_path);
    let is_harmless = !has_path && !text.contains(['@', '\\', '\u{fffd}']);
    let has_letters = text.chars().any(char::is_alphabetic);
    let is_short = text.chars().count() <= LABEL_CHARS_MAX;
    let is_name = is_harmless && has_letters && is_short && !is_sentence(text);
    is_name.then(|| text.to_owned())
}

/// The words of a heading that is a link, as in Markdown.
fn link_text(text: &str) -> Option<&str> {
    let (words, address) = text.trim_start_matches('[').split_once("](")?;
    (!words.contains(['[', ']']) && address.ends_with(')')).then_some(words)
}

/// Whether a sentence before an output is likely to name what was measured.
pub(super) fn is_name(text: &str) -> bool {
    let has_program = words(text).any(|word| PROGRAMS.have_in_any_case(word));
    has_capacity(text)
        || !is_story(text)
            && (names_card(text) && !has_program
                || text.trim_end().ends_with(':') && !is_about_test(text))
}

/// Whether a sentence tells what somebody did, and names no maker.
fn is_story(text: &str) -> bool {
    let begins = words(text).next().is_some_and(|word| TELLERS.have_in_any_case(word));
    begins && !words(text).any(|word| MAKERS.have_in_any_case(word))
}

/// Words with which people begin to tell what they did.
static TELLERS: Words = Words::new(&["i", "we", "then", "so", "but", "when", "after", "yesterday"]);

/// The longest heading of a table in which a name is looked for, in bytes.
const TABLE_HEADING_MAX: usize = 1024;

/// The name that stands in an iozone table's heading, before the names of columns.
pub(super) fn in_table_heading(view: &View) -> Option<String> {
    const COLUMN: Needle = Needle::new("random");
    let line = view.line;
    if !view.holds(&COLUMN) || line.len() > TABLE_HEADING_MAX || line.matches("random").count() < 2
    {
        return None;
    }
    let columns = ["random", "bkwd", "record", "stride"];
    let kept: Vec<&str> = line.split_whitespace().filter(|word| !columns.contains(word)).collect();
    (!kept.is_empty()).then(|| name(&kept.join(" "))).flatten()
}

/// The card in a message of the kernel such as `mmcblk0: mmc0:aaaa SC16G 14.8 GiB (ro)`: the block
/// device's name, the card's, and its size as printed.
pub(super) fn card_of_kernel<'l>(view: &View<'l>) -> Option<(&'l str, &'l str, &'l str, &'l str)> {
    const DEVICE: Needle = Needle::new("mmcblk");
    if !view.holds(&DEVICE) {
        return None;
    }
    let line = view.line;
    let at = find(line, "mmcblk")?;
    let end = at + find(&line[at..], ": mmc")?;
    let (device, rest) = (&line[at..end], &line[end + ": mmc".len()..]);
    let mut words = rest.split_whitespace();
    let address = words.next()?;
    let is_address = address.split_once(':').is_some_and(|(host, card)| {
        host.bytes().all(|byte| byte.is_ascii_digit()) && card.len() == 4
    });
    let (name, size, unit) = (words.next()?, words.next()?, words.next()?);
    let is_device = device["mmcblk".len()..].bytes().all(|byte| byte.is_ascii_digit());
    (is_address && is_device && ["GiB", "MiB", "TiB", "GB", "MB"].contains(&unit))
        .then_some((device, name, size, unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_told_from_commands() {
        let cases = [
            ("# Amazon Basics 64GB CQ ON", Some("Amazon Basics 64GB CQ ON")),
            ("#[Amazon Basics 64GB CQ ON]", Some("Amazon Basics 64GB CQ ON")),
            ("### SanDisk Ultra", Some("SanDisk Ultra")),
            ("**Samsung EVO**", Some("Samsung EVO")),
            ("<h3>Kingston</h3>", Some("Kingston")),
            ("# hdparm -tT /dev/hda", None),
            ("#                     v2023-11-30                     #", None),
            ("# ./bench.sh", None),
            ("Samsung EVO", None),
        ];
        for (text, expected) in cases {
            let found = match between(&View::of(text)) {
                Between::Heading(heading) => Some(heading),
                _ => None,
            };
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn underlined_names_are_headings_and_titles_of_programs_are_not() {
        let found = |text: &str| {
            let lines = super::super::lines::lines(text);
            underlined(&lines[0], lines.get(1)).map(str::to_owned)
        };
        for text in ["SanDisk Ultra\n-------------", "SanDisk 32GB:\n====", "Kingston\n---"] {
            assert!(found(text).is_some(), "{text}");
        }
        for text in [
            "      Flexible I/O Tester (fio-3.33)\n-----------",
            "Basic System Information:\n---------------------------------",
            "Kingston\n\n---",
            "Kingston\n- - -",
            "$ ls\n---",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn repeats_are_told_from_other_cards() {
        for text in ["Run 1", "2nd run:", "Second run", "Test 3:", "once more"] {
            assert!(is_repeat(text), "{text}");
        }
        for text in ["Card 2:", "SanDisk Ultra 32GB", "SD 2", "Kingston"] {
            assert!(!is_repeat(text), "{text}");
        }
        assert!(is_only_about_test("Running DD READ test..."));
        assert!(!is_only_about_test("Intenso write test:") && !is_only_about_test("and now"));
        assert!(is_same_but_count("Align test: 1", "Align test: 2"));
        assert!(!is_same_but_count("Ultra 32GB", "Ultra 64GB"));
        assert!(!is_same_but_count("Card 1", "Card 2"));
    }

    #[test]
    fn names_hold_no_place_and_no_person() {
        assert_eq!(name("Samsung EVO Plus 64GB:").as_deref(), Some("Samsung EVO Plus 64GB"));
        for text in ["/media/someone/CARD", "pi@host", "12345", &"x".repeat(81)] {
            assert_eq!(name(text), None, "{text}");
        }
    }

    #[test]
    fn the_kernel_s_card_is_known() {
        let line = "[    2.1] mmcblk0: mmc0:aaaa SC16G 14.8 GiB ";
        assert_eq!(card_of_kernel(&View::of(line)), Some(("mmcblk0", "SC16G", "14.8", "GiB")));
        assert_eq!(card_of_kernel(&View::of("mmcblk0: p1 p2")), None);
        let table = "    FORESEE SLD64G from 05/2021                         random    random";
        assert_eq!(in_table_heading(&View::of("          random    random     bkwd")), None);
        assert_eq!(
            in_table_heading(&View::of(table)).as_deref(),
            Some("FORESEE SLD64G from 05/2021")
        );
    }
}
