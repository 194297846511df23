//! bonnie++: a file written, rewritten and read in blocks through the page cache, and random seeks.
//!
//! Its K are 1024 bytes; version 2 writes `k`, `m` and `g` behind its rates. With `-f` the columns of single
//! characters stay empty, so that a row has 8 words instead of 12 behind the size. `+++++` stands for what
//! was too short to measure. The machine's name is never taken over. A rewrite reads and writes each block.

use cardproof_record::{OpName, PatternName};
use cardproof_units::Bytes;

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use crate::lines::{Line, last_number};
use crate::text::quantities;
use crate::view::{Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::Bonnie;

/// What stands over its table.
const HEADING: Needle = Needle::new("-Sequential Output-");

pub(super) fn is_sign(view: &View) -> bool {
    view.holds(&HEADING) || csv(view.text).is_some()
}

/// What goes through the page cache.
const CACHE: Cache = Cache::Used(
    "bonnie++ reads and writes through the page cache, so its figures may be those of memory",
);

/// The record of all tables.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut is_table = false;
    let mut row: Option<Row> = None;
    for line in lines {
        draft.check_count()?;
        let view = line.view();
        if view.holds(&HEADING) {
            line.claim();
            is_table = true;
            let version =
                view.text.strip_prefix("Version ").and_then(|it| it.split_whitespace().next());
            draft.version = version.map(str::to_owned).or(draft.version);
        } else if view.text.contains("Sequential Create") {
            is_table = false;
        } else if is_table && is_heading(view.text) {
            line.claim();
        } else if let Some(found) = row_in(view.text).filter(|_| is_table) {
            line.claim();
            found.add(&mut draft);
            row = Some(found);
        } else if let Some(latencies) = view.text.strip_prefix("Latency") {
            if let Some(row) = row.take() {
                line.claim();
                row.add_latencies(latencies, &mut draft);
            }
            is_table = false;
        } else if let Some(found) = csv(view.text) {
            line.claim();
            // The same figures again, for programs.
            if draft.phases.is_empty() {
                found.add(&mut draft);
            }
        }
    }
    if draft.phases.is_empty() && draft.figures.is_empty() {
        let expected = "a row below 'Machine Size K/sec %CP …'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// Whether a line names the columns.
fn is_heading(text: &str) -> bool {
    text.contains("-Per Chr-") || text.contains("%CP") || text.starts_with("Concurrency")
}

/// The rates of a row.
#[derive(Clone, Debug, Default)]
struct Row {
    size: Option<Bytes>,
    /// Written in blocks, rewritten, read in blocks: the number and what one of it is in bytes.
    rates: [Option<(f64, f64)>; 3],
    seeks: Option<f64>,
    /// Whether the columns of single characters are empty.
    is_fast: bool,
}

/// Names of the three rates.
const NAMES: [&str; 3] = ["block write", "rewrite", "block read"];

/// The row in a line: a name, a size, and pairs of a rate and a share of the processor.
fn row_in(text: &str) -> Option<Row> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let (fields, is_fast) = match () {
        () if words.len() >= 13 && is_row(&words[words.len() - 12..]) => (12, false),
        () if words.len() >= 9 && is_row(&words[words.len() - 8..]) => (8, true),
        () => return None,
    };
    let (before, fields) = words.split_at(words.len() - fields);
    let size = size_at_end(before.last()?)?;
    let rate = |at: usize| rate(fields[at * 2]);
    let places = if is_fast { [0, 1, 2] } else { [1, 2, 4] };
    let seeks = fields[fields.len() - 2].parse().ok();
    let rates = places.map(rate);
    Some(Row { size: Some(size), rates, seeks, is_fast })
}

/// Whether `fields` are pairs of a rate and a share.
fn is_row(fields: &[&str]) -> bool {
    fields.chunks(2).all(|pair| {
        let is_rate = rate(pair[0]).is_some() || is_unmeasured(pair[0]);
        let is_share = pair[1].bytes().all(|byte| byte.is_ascii_digit()) || is_unmeasured(pair[1]);
        is_rate && is_share
    })
}

fn is_unmeasured(word: &str) -> bool {
    word.bytes().all(|byte| byte == b'+')
}

/// A rate and what one of its unit is in bytes: `16482`, `549k`, `1.2g`.
fn rate(word: &str) -> Option<(f64, f64)> {
    let (number, unit) = match word.strip_suffix(['k', 'm', 'g', 'K', 'M', 'G']) {
        Some(number) => match word.as_bytes()[word.len() - 1].to_ascii_lowercase() {
            b'k' => (number, 1024.0),
            b'm' => (number, 1_048_576.0),
            _ => (number, 1_073_741_824.0),
        },
        None => (word, 1024.0),
    };
    crate::text::number(number).filter(|_| !number.contains(',')).map(|number| (number, unit))
}

/// The size at the end of a word, which a long name may touch: `7888M`, `disk)15744M`.
fn size_at_end(word: &str) -> Option<Bytes> {
    let word = word.split(':').next()?;
    let number = word.strip_suffix(['M', 'G', 'K'])?;
    let start = number.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let shift = match word.as_bytes()[word.len() - 1] {
        b'K' => 10,
        b'M' => 20,
        _ => 30,
    };
    let number: u64 = number[start..].parse().ok().filter(|it| *it < 1 << 24)?;
    Some(Bytes(number << shift))
}

/// The row of the form for programs of versions 1.96 and later: `1.97,1.97,HOST,1,TIME,SIZE,…`. From form
/// 1.98 on the number of seeks and of their processes stand before the rates.
fn csv(text: &str) -> Option<Row> {
    if !text.starts_with("1.9") {
        return None;
    }
    let fields: Vec<&str> = text.split(',').take(64).collect();
    let is_version = |word: &str| {
        let digits = word.trim_end_matches(|c: char| c.is_ascii_lowercase());
        digits.len() == 4 && (digits.starts_with("1.9") || digits.starts_with("2.0"))
    };
    if fields.len() < 21 || !is_version(fields[0]) || !is_version(fields[1]) {
        return None;
    }
    let first = if fields[0] < "1.98" { 7 } else { 9 };
    let size = size_at_end(fields[5]);
    let rates = [2, 4, 8].map(|behind| rate(fields[first + behind]));
    let seeks = fields[first + 10].parse().ok();
    let row = Row { size, rates, seeks, ..Row::default() };
    row.rates.iter().any(Option::is_some).then_some(row)
}

impl Row {
    /// Adds the phases of the row.
    fn add(&self, draft: &mut RecordDraft) {
        let shapes = [(OpName::Write, ""), (OpName::Unknown, "rewrite"), (OpName::Read, "")];
        for (index, (op, note)) in shapes.into_iter().enumerate() {
            let Some((number, unit)) = self.rates[index] else { continue };
            let mut phase = PhaseDraft::new(op, PatternName::Sequential);
            (phase.note, phase.depth, phase.cache) = (note.into(), 1, CACHE);
            phase.span = self.size.unwrap_or_default();
            let name = match unit as u64 {
                1024 => "KiB/s",
                1_048_576 => "MiB/s",
                _ => "GiB/s",
            };
            let printed = Printed::new(NAMES[index], number, name).in_bytes_per_s(unit);
            draft.phases.push(phase.at(number * unit, printed));
        }
        if let Some(seeks) = self.seeks {
            draft.figures.push(Printed::new("random seeks", seeks, "/s"));
        }
    }

    /// Adds the longest time of each rate to the phases that were added last.
    fn add_latencies(&self, text: &str, draft: &mut RecordDraft) {
        let times = quantities(text);
        let places = match (times.len(), self.is_fast) {
            (6, false) => [1, 2, 4],
            (4, true) => [0, 1, 2],
            _ => return,
        };
        let measured = self.rates.iter().filter(|rate| rate.is_some()).count();
        let first = draft.phases.len().saturating_sub(measured);
        let mut phases = draft.phases[first..].iter_mut();
        for (rate, place) in self.rates.iter().zip(places) {
            let Some(phase) = rate.and_then(|_| phases.next()) else { continue };
            let time = times[place];
            if ["us", "ms", "s"].contains(&time.unit) {
                phase.figures.push(Printed::new("longest operation", time.value, time.unit));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_may_touch_any_character() {
        for word in ["7888M", "disk)7888M", "\u{fffd}7888M", "\u{5b57}7888M:64k"] {
            assert_eq!(size_at_end(word), Some(Bytes::mib(7888)), "{word}");
        }
        assert_eq!(size_at_end("\u{fffd}M"), None);
    }
}
