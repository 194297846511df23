//! Ways in which mail, forums and hands damage an output.

use super::dice::Dice;
use super::outputs::{Output, OutputKind};
use super::{CardTruth, Paste, Row};

/// One way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Damage {
    /// Nothing was done.
    None,
    /// `> ` before each line, once or twice.
    Quoted,
    /// `// ` before each line.
    Comment,
    /// `# ` before each line.
    Hash,
    /// Line numbers.
    Numbered,
    /// A fence of Markdown around it.
    Fence,
    /// Entities and `<br>` of a web page.
    Html,
    /// Line ends of Windows.
    Crlf,
    /// UTF-16 with its mark.
    Utf16,
    /// Lines wrapped at 80 columns.
    Wrapped,
    /// The end is missing.
    CutEnd,
    /// The lines before the first figure are missing.
    LostHead,
    /// Sentences around it.
    Prose,
    /// A prompt before it.
    Prompt,
    /// Times of a log before each line.
    Dated,
    /// Four blanks before each line, as Markdown marks code.
    Indented,
    /// A blank line below each line.
    DoubleSpaced,
    /// Tags of a web page around it.
    Tags,
    /// Colours of a terminal.
    Coloured,
    /// Blanks of a web page that do not break.
    NoBreakSpaces,
    /// Two cards under their names.
    TwoCards,
}

/// What is done to the lines as a whole, of which one is chosen.
const WHOLE: [Damage; 17] = [
    Damage::None,
    Damage::Quoted,
    Damage::Comment,
    Damage::Hash,
    Damage::Numbered,
    Damage::Fence,
    Damage::Html,
    Damage::Crlf,
    Damage::Utf16,
    Damage::Wrapped,
    Damage::Prompt,
    Damage::Dated,
    Damage::Indented,
    Damage::DoubleSpaced,
    Damage::Tags,
    Damage::Coloured,
    Damage::NoBreakSpaces,
];

/// Names of cards as people write them over an output.
const NAMES: [&str; 6] = [
    "SanDisk Ultra 32GB",
    "Samsung EVO Plus 64GB",
    "Kingston Canvas 128GB",
    "Lexar 633x 32 GB",
    "no name 16GB",
    "Transcend 300S",
];

/// The forms of a name over an output.
const HEADINGS: [(&str, &str); 5] =
    [("", ":"), ("## ", ""), ("**", "**"), ("### ", ":"), ("Card ", ":")];

/// The paste that `outputs` of `kind` become.
pub(super) fn damaged(kind: OutputKind, outputs: Vec<Output>, dice: &mut Dice) -> Paste {
    let is_two = outputs.len() > 1;
    let mut damage = Vec::new();
    let mut outputs: Vec<Vec<Row>> = outputs.into_iter().map(|output| output.rows).collect();
    // What is cut is the end of the text, and what is lost its head.
    if kind.can_be_cut() && dice.one_in(8) {
        damage.push(Damage::CutEnd);
        if let Some(last) = outputs.last_mut() {
            let kept = 1 + dice.below(last.len());
            last.truncate(kept);
        }
    }
    if kind.has_free_lines() && dice.one_in(8) {
        damage.push(Damage::LostHead);
        if let Some(first) = outputs.first_mut() {
            let figures = |row: &Row| !row.told.is_empty() || row.has_fault;
            let at = first.iter().position(figures).unwrap_or(0);
            first.drain(..dice.below(at + 1));
        }
    }
    let cards: Vec<CardTruth> = outputs.iter().flat_map(|rows| cards_of(rows)).collect();
    let mut lines: Vec<String> = Vec::new();
    let whole = *dice.of(&WHOLE);
    if is_two {
        damage.push(Damage::TwoCards);
    }
    let first_name = dice.below(NAMES.len());
    // Comments and headings have the same mark.
    let headings = if whole == Damage::Hash { &HEADINGS[..1] } else { &HEADINGS[..] };
    let heading = *dice.of(headings);
    for (index, rows) in outputs.iter().enumerate() {
        if is_two {
            let name = NAMES[(first_name + index) % NAMES.len()];
            lines.push(format!("{}{name}{}", heading.0, heading.1));
        }
        lines.extend(rows.iter().map(|row| row.text.clone()));
        if dice.one_in(2) {
            lines.push(String::new());
        }
    }
    if whole == Damage::Prompt {
        lines.insert(0, "pi@raspberrypi:~ $ cat result.txt".to_owned());
    }
    let mut text = apply(whole, &lines, dice);
    if whole != Damage::None {
        damage.push(whole);
    }
    if dice.one_in(4) {
        damage.push(Damage::Prose);
        text =
            format!("Hello, my board is slow and I tested it.\n\n{text}\n\nWhat do you think?\n");
    }
    let bytes = encode(whole, &text);
    if damage.is_empty() {
        damage.push(Damage::None);
    }
    Paste { bytes, cards, kind, damage }
}

/// What the rows of an output tell of their cards.
fn cards_of(rows: &[Row]) -> Vec<CardTruth> {
    let mut cards = vec![CardTruth::default()];
    for row in rows {
        if row.begins_card {
            cards.push(CardTruth::default());
        }
        if let Some(card) = cards.last_mut() {
            card.told.extend(row.told.clone());
            card.has_fault |= row.has_fault;
        }
    }
    cards.retain(|card| !card.told.is_empty() || card.has_fault);
    cards
}

/// The lines as one text, damaged in one way.
fn apply(damage: Damage, lines: &[String], dice: &mut Dice) -> String {
    let first = 1 + dice.below(50);
    let depth = 1 + dice.below(2);
    let mark = |index: usize, line: &String| match damage {
        Damage::Quoted => format!("{}{line}", "> ".repeat(depth)),
        Damage::Comment => format!("// {line}"),
        Damage::Hash => format!("# {line}"),
        Damage::Numbered => format!("{:>4}  {line}", first + index),
        Damage::Dated => format!("2024-05-01T10:11:12.1234567Z {line}"),
        Damage::Html => {
            let line = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
            format!("{}<br>", line.replace("  ", "&nbsp; "))
        }
        Damage::Wrapped => wrapped(line),
        Damage::Indented => format!("    {line}"),
        Damage::DoubleSpaced => format!("{line}\n"),
        Damage::Coloured => format!("\u{1b}[32m{line}\u{1b}[0m"),
        Damage::NoBreakSpaces => line.replace("  ", "\u{a0}\u{a0}"),
        _ => line.clone(),
    };
    let marked: Vec<String> =
        lines.iter().enumerate().map(|(index, line)| mark(index, line)).collect();
    let text = marked.join("\n") + "\n";
    match damage {
        Damage::Fence => format!("```\n{text}```\n"),
        Damage::Tags => format!("<pre><code>{text}</code></pre>\n"),
        _ => text,
    }
}

/// `line` broken at blanks so that no part is longer than 80 columns.
fn wrapped(line: &str) -> String {
    const COLUMNS: usize = 80;
    let mut text = String::new();
    let mut rest = line;
    while rest.chars().count() > COLUMNS {
        let end = rest.char_indices().nth(COLUMNS).map_or(rest.len(), |(at, _)| at);
        let Some(at) = rest[..end].rfind(' ').filter(|at| !rest[..*at].trim().is_empty()) else {
            break;
        };
        text.push_str(&rest[..at]);
        text.push('\n');
        rest = &rest[at + 1..];
    }
    text + rest
}

fn encode(damage: Damage, text: &str) -> Vec<u8> {
    match damage {
        Damage::Crlf => text.replace('\n', "\r\n").into_bytes(),
        Damage::Utf16 => {
            [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect()
        }
        _ => text.as_bytes().to_vec(),
    }
}
