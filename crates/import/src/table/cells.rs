//! Which lines of a text can be a table, and the cells of each of them.

use crate::lines::Line;
use crate::view::{Letters, Needle, trimmed};

/// How the columns of a table are parted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// By `|`, as in Markdown.
    Pipes,
    /// By commas, semicolons or tabs.
    Separated(char),
    /// By two spaces or more.
    Aligned,
    /// No table: one line of several figures with their names.
    Inline,
}

/// Lines in a row that can be a table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Block {
    pub(super) form: Form,
    /// The index of the first line.
    pub(super) start: usize,
    /// The index behind the last.
    pub(super) end: usize,
    /// The cells of its lines, without rules; the first line is the heading.
    pub(super) rows: Vec<Vec<String>>,
}

/// No table has more columns.
const COLUMNS_MAX: usize = 64;

/// No heading of a table is shorter, in bytes: `a;b;c`.
const LENGTH_MIN: usize = 5;

/// No line of a table is longer, in bytes.
const LENGTH_MAX: usize = 2048;

/// The blocks among the lines that are free.
pub(super) fn blocks(lines: &[Line], is_free: &dyn Fn(usize) -> bool) -> Vec<Block> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(form) = form_of(&lines[at]).filter(|_| is_free(at)) else {
            at += 1;
            continue;
        };
        let mut end = at + 1;
        // Web pages put a blank line below each.
        let is_spaced = lines.get(at + 1).is_some_and(|next| next.number == lines[at].number + 2);
        let step = if is_spaced { 2 } else { 1 };
        while form != Form::Inline
            && end < lines.len()
            && is_free(end)
            && lines[end].number <= lines[end - 1].number + step
            && goes_on(form, &lines[end].text)
        {
            end += 1;
        }
        let has_words = lines[at..end].iter().any(names_operation);
        if has_words && has_heading(form, &lines[at..end]) {
            found.push(Block { form, start: at, end, rows: rows(form, &lines[at..end]) });
        }
        at = end;
    }
    found
}

/// Whether a line says that something was read or written.
fn names_operation(line: &Line) -> bool {
    const WORDS: [Needle; 11] = [
        Needle::new("read"),
        Needle::new("write"),
        Needle::new("rd"),
        Needle::new("wr"),
        Needle::new("lese"),
        Needle::new("schreib"),
        Needle::new("lect"),
        Needle::new("crit"),
        Needle::new("iops"),
        Needle::new("hdparm"),
        Needle::new("r/w"),
    ];
    let view = line.view();
    if !WORDS.iter().any(|word| view.may_hold_in_any_case(word)) {
        return false;
    }
    let lower = view.text.to_lowercase();
    WORDS.iter().any(|word| lower.contains(word.word()))
}

/// The form of a table that `text` can be a line of.
fn form_of(line: &Line) -> Option<Form> {
    let text = &*line.text;
    if !(LENGTH_MIN..=LENGTH_MAX).contains(&text.len()) {
        return None;
    }
    let marks = Separators::of(line);
    if marks.pipes >= 2 || marks.bars >= 2 {
        return Some(Form::Pipes);
    }
    let counts = [('\t', marks.tabs), (';', marks.semicolons), (',', marks.commas)];
    for (separator, count) in counts {
        let is_prose = || separator == ',' && are_of_prose(text);
        if count >= 2 && !is_prose() && count_separated(text, separator) >= 3 {
            return Some(Form::Separated(separator));
        }
    }
    // The first column may have no heading.
    if marks.gaps >= 2 && count_aligned(text) + usize::from(text.starts_with("  ")) >= 3 {
        return Some(Form::Aligned);
    }
    let is_inline = super::inline::is_candidate(line);
    is_inline.then_some(Form::Inline)
}

/// Whether each comma ends a part of a sentence or parts decimals, as in `4k lesen 8,9 MB/s, schreiben 1,2 MB/s`.
fn are_of_prose(text: &str) -> bool {
    let bytes = text.as_bytes();
    let mut ends = 0;
    for (at, _) in text.match_indices(',') {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let after = bytes.get(at + 1).copied();
        let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
        if after == Some(b' ') {
            ends += 1;
        } else if !(is_digit(before) && is_digit(after)) {
            return false;
        }
    }
    ends > 0
}

/// How many of each mark that can part columns a line has.
#[derive(Clone, Copy, Debug, Default)]
struct Separators {
    pipes: usize,
    /// Those that draw boxes.
    bars: usize,
    tabs: usize,
    semicolons: usize,
    commas: usize,
    /// Places with two blanks or more.
    gaps: usize,
}

impl Separators {
    fn of(line: &Line) -> Self {
        // A blank at which no line breaks is two bytes of another kind.
        const GAP: Needle = Needle::new("  ");
        let (text, view) = (&*line.text, line.view());
        let mut found = Self::default();
        if text.is_ascii() && !view.holds(&GAP) {
            found.commas = count(text, b',');
            found.pipes = count(text, b'|');
            found.tabs = count(text, b'\t');
            if view.has(const { Letters::of_word(";") }) {
                found.semicolons = count(text, b';');
            }
            return found;
        }
        let mut blanks = 0;
        for byte in text.bytes() {
            match byte {
                b'|' => found.pipes += 1,
                b'\t' => found.tabs += 1,
                b';' => found.semicolons += 1,
                b',' => found.commas += 1,
                // The first byte of a bar, among others.
                0xe2 => found.bars += 1,
                _ => {}
            }
            // Two bytes are a blank at which no line breaks.
            blanks = if matches!(byte, b' ' | 0xc2 | 0xa0) { blanks + 1 } else { 0 };
            found.gaps += usize::from(blanks == 2);
        }
        if found.bars >= 2 {
            found.bars = text.matches('│').count();
        }
        found
    }
}

/// How often `mark` stands in `text`.
fn count(text: &str, mark: u8) -> usize {
    let Some(first) = memchr::memchr(mark, text.as_bytes()) else { return 0 };
    let mut found = 0;
    for byte in &text.as_bytes()[first..] {
        found += usize::from(*byte == mark);
    }
    found
}

/// Whether a table of `form` goes on in `text`.
fn goes_on(form: Form, text: &str) -> bool {
    if text.len() > LENGTH_MAX {
        return false;
    }
    match form {
        Form::Pipes => is_rule(text) || text.contains('|') || text.contains('│'),
        Form::Separated(separator) => text.starts_with('#') || text.contains(separator),
        Form::Aligned => is_rule(text) || count_aligned(text) >= 2,
        Form::Inline => false,
    }
}

/// Whether a line only draws: `|---|---:|`, `+-----+`, `=====`.
fn is_rule(text: &str) -> bool {
    let text = trimmed(text);
    text.len() >= 3 && text.chars().all(|c| "|+-=:─┼├┤┬┴┌┐└┘━ \t".contains(c))
}

/// Whether the first of the lines that is no rule has no figure in its cells.
fn has_heading(form: Form, lines: &[Line]) -> bool {
    let is_comment = |line: &&Line| form != Form::Aligned && line.shown().starts_with('#');
    let mut kept = lines.iter().filter(|line| !is_rule(&line.text) && !is_comment(line));
    let Some(first) = kept.next() else { return false };
    let is_figure = |cell: &String| super::grid::is_figure(cell);
    form == Form::Inline || !rows(form, std::slice::from_ref(first)).iter().flatten().any(is_figure)
}

/// The cells of the lines of a table.
fn rows(form: Form, lines: &[Line]) -> Vec<Vec<String>> {
    let kept = lines.iter().filter(|line| !is_rule(&line.text));
    if form != Form::Aligned {
        return kept
            .filter(|line| !line.text.trim_start().starts_with('#'))
            .map(|line| match form {
                Form::Separated(separator) => separated(&line.text, separator),
                _ => piped(&line.text),
            })
            .collect();
    }
    let mut lines: Vec<Vec<AlignedCell>> = kept.map(|line| aligned(&line.text)).collect();
    name_first_column(&mut lines);
    let Some(heading) = lines.first() else { return Vec::new() };
    let places: Vec<(usize, usize)> = heading.iter().map(|cell| (cell.start, cell.end)).collect();
    let full = || lines.iter().filter(|cells| cells.len() == places.len());
    // Only where whole rows stand below their headings does a place tell whose a lone figure is.
    let is_in_columns = full().all(|cells| are_below(&places, cells)) && full().count() > 1;
    let texts = |cells: Vec<AlignedCell>| cells.into_iter().map(|cell| cell.text).collect();
    let count = places.len();
    lines
        .into_iter()
        .map(|cells| match cells.len() == count {
            true => texts(cells),
            false if is_in_columns => under(&places, cells),
            false => Vec::new(),
        })
        .collect()
}

/// Puts an empty heading over the first column, where the heading has none and all rows begin before it.
fn name_first_column(lines: &mut [Vec<AlignedCell>]) {
    let Some((heading, rows)) = lines.split_first_mut() else { return };
    let Some(first) = heading.first().map(|cell| cell.start) else { return };
    let is_before = |row: &Vec<AlignedCell>| row.len() == heading.len() + 1 && row[0].end <= first;
    if !rows.is_empty() && rows.iter().all(is_before) {
        heading.insert(0, AlignedCell { text: String::new(), start: 0, end: first });
    }
}

/// Whether each cell overlaps its own heading.
fn are_below(places: &[(usize, usize)], cells: &[AlignedCell]) -> bool {
    places.iter().zip(cells).all(|(place, cell)| place.0 < cell.end && cell.start < place.1)
}

/// Cells put under the headings that they overlap; a cell that overlaps none or two voids its row.
fn under(places: &[(usize, usize)], cells: Vec<AlignedCell>) -> Vec<String> {
    let mut row = vec![String::new(); places.len()];
    for cell in cells {
        let overlaps =
            |place: &&(usize, &(usize, usize))| place.1.0 < cell.end && cell.start < place.1.1;
        let numbered: Vec<(usize, &(usize, usize))> = places.iter().enumerate().collect();
        let hits: Vec<usize> = numbered.iter().filter(overlaps).map(|(index, _)| *index).collect();
        match hits.as_slice() {
            [only] if row[*only].is_empty() => row[*only] = cell.text,
            _ => return Vec::new(),
        }
    }
    row
}

/// The cells between pipes.
fn piped(text: &str) -> Vec<String> {
    let text = trimmed(text);
    let mark = if text.contains('|') { '|' } else { '│' };
    let text = text.strip_prefix(mark).unwrap_or(text);
    let text = text.strip_suffix(mark).unwrap_or(text);
    text.split(mark).take(COLUMNS_MAX).map(|cell| cell.trim().to_owned()).collect()
}

/// How many cells [`separated`] finds.
fn count_separated(text: &str, separator: char) -> usize {
    let (mut count, mut is_quoted) = (1, false);
    for byte in text.bytes() {
        if byte == b'"' {
            is_quoted = !is_quoted;
        } else if !is_quoted && char::from(byte) == separator {
            count += 1;
        }
    }
    if count > COLUMNS_MAX { 0 } else { count }
}

/// The cells between separators, which may stand in quotes.
fn separated(text: &str, separator: char) -> Vec<String> {
    let count = count_separated(text, separator);
    let mut cells = Vec::with_capacity(count);
    if count == 0 {
        return cells;
    }
    let (mut start, mut is_quoted) = (0, false);
    for (at, byte) in text.bytes().enumerate() {
        if byte == b'"' {
            is_quoted = !is_quoted;
        } else if !is_quoted && char::from(byte) == separator {
            cells.push(unquoted(&text[start..at]));
            start = at + 1;
        }
    }
    cells.push(unquoted(&text[start..]));
    cells
}

/// A cell without quotes and the white space around it.
fn unquoted(cell: &str) -> String {
    if cell.contains('"') {
        trimmed(&cell.replace('"', "")).to_owned()
    } else {
        trimmed(cell).to_owned()
    }
}

/// A cell and where it stands in its line, in characters.
#[derive(Clone, Debug, PartialEq)]
struct AlignedCell {
    text: String,
    start: usize,
    end: usize,
}

/// Whether `c` parts columns where two of it stand beside each other.
const fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\u{a0}')
}

/// How many cells [`aligned`] finds.
fn count_aligned(text: &str) -> usize {
    let (mut count, mut spaces) = (0, 2);
    for c in text.chars() {
        if is_blank(c) {
            spaces += 1;
            continue;
        }
        count += usize::from(spaces >= 2);
        spaces = 0;
    }
    if count > COLUMNS_MAX { 0 } else { count }
}

/// The cells between runs of two spaces or more.
fn aligned(text: &str) -> Vec<AlignedCell> {
    let mut cells: Vec<AlignedCell> = Vec::new();
    let (mut spaces, mut first) = (2, 0);
    for (at, (place, c)) in text.char_indices().enumerate() {
        if is_blank(c) {
            spaces += 1;
            continue;
        }
        if spaces >= 2 {
            if cells.len() == COLUMNS_MAX {
                return Vec::new();
            }
            end_cell(&mut cells, &text[first..place]);
            cells.push(AlignedCell { text: String::new(), start: at, end: at });
            first = place;
        }
        if let Some(cell) = cells.last_mut() {
            cell.end = at + 1;
        }
        spaces = 0;
    }
    end_cell(&mut cells, &text[first..]);
    cells
}

/// Gives the last cell its text.
fn end_cell(cells: &mut [AlignedCell], text: &str) {
    if let Some(cell) = cells.last_mut() {
        cell.text = text.trim_end_matches(is_blank).replace('\u{a0}', " ");
    }
}
