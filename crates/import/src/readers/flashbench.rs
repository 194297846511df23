//! flashbench: timings of reads at boundaries (`-a`), and rates of writing into several units in turn
//! (`--open-au`) or at the beginning (`--find-fat`), as typed observations.
//!
//! Every repeat is kept. Nothing is concluded here: the unit's size and the number of open units are
//! inferred from a record's `flash_timings`. flashbench's K and M are powers of 1000. It does not
//! repeat its command, so how many units were open and in which order is known only where a command
//! line or a heading of a script (`AU=5, linear access`) stands before the rates.

use cardproof_record::{
    BlockRates, BoundaryRun, BoundaryTiming, FirstAreaRun, OpenUnitsRun, PatternName,
};
use cardproof_units::{Bytes, Nanos, Throughput};

use crate::draft::RecordDraft;
use crate::lines::{Line, last_number};
use crate::refusals::check_count;
use crate::text::{is_near, number, quantities, whole};
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::Flashbench;

/// No larger boundary or block is told apart by any flash device.
const SIZE_MAX: Bytes = Bytes::gib(1 << 10);

pub(super) fn is_sign(view: &View) -> bool {
    const START: Beginnings = Beginnings::new(&["align"]);
    START.begin(view.text) && boundary(view.text).is_some() || rates(view.text).is_some()
}

/// What the writes below a command or a heading do.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Writes {
    OpenUnits { units: Option<u32>, order: PatternName, unit_bytes: Option<Bytes> },
    FirstArea,
}

impl Default for Writes {
    fn default() -> Self {
        Self::OpenUnits { units: None, order: PatternName::Unknown, unit_bytes: None }
    }
}

/// The record of all runs in `lines`.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut reader = Reader::default();
    for line in lines {
        check_count(reader.count)?;
        let view = line.view();
        let text = view.text;
        if let Some(timing) = boundary(text) {
            line.claim();
            reader.add_boundary(timing);
        } else if let Some(rates) = rates(text) {
            line.claim();
            reader.add_rates(rates);
        } else {
            reader.end_run();
            if let Some(context) = context(&view) {
                line.claim();
                reader.context = context;
            }
        }
    }
    reader.end_run();
    draft.flash_timings = reader.timings;
    if draft.flash_timings.is_empty() {
        let expected = "'align N pre N on N post N diff N' or '4MiB 8.79M/s'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

#[derive(Default)]
struct Reader {
    timings: cardproof_record::FlashTimings,
    context: Context,
    boundaries: Vec<BoundaryTiming>,
    rates: Vec<BlockRates>,
    /// How many rows there are by now.
    count: usize,
}

/// What is known of the runs to come.
#[derive(Clone, Copy, Debug, Default)]
struct Context {
    writes: Writes,
    block_bytes: Option<Bytes>,
}

impl Reader {
    /// A larger alignment than the last one begins another run.
    fn add_boundary(&mut self, timing: BoundaryTiming) {
        let is_next = |last: &BoundaryTiming| last.alignment_bytes > timing.alignment_bytes;
        if !self.rates.is_empty() || !self.boundaries.last().is_none_or(is_next) {
            self.end_run();
        }
        self.boundaries.push(timing);
        self.count += 1;
    }

    /// A larger block than the last one begins another run.
    fn add_rates(&mut self, rates: BlockRates) {
        let is_next = |last: &BlockRates| last.block_bytes > rates.block_bytes;
        if !self.boundaries.is_empty() || !self.rates.last().is_none_or(is_next) {
            self.end_run();
        }
        self.rates.push(rates);
        self.count += 1;
    }

    fn end_run(&mut self) {
        if !self.boundaries.is_empty() {
            let rows = std::mem::take(&mut self.boundaries);
            let block_bytes = self.context.block_bytes;
            self.timings.boundaries.push(BoundaryRun { block_bytes, rows });
        }
        if self.rates.is_empty() {
            return;
        }
        let rows = std::mem::take(&mut self.rates);
        // `--find-fat` prints a rate for each of several units, `--open-au` one for them all.
        let is_first_area = rows.iter().any(|row| row.bytes_per_s.len() > 1);
        match self.context.writes {
            Writes::OpenUnits { units, order, unit_bytes } if !is_first_area => {
                self.timings.open_units.push(OpenUnitsRun { units, order, unit_bytes, rows });
            }
            Writes::OpenUnits { .. } | Writes::FirstArea => {
                self.timings.first_areas.push(FirstAreaRun { rows });
            }
        }
    }
}

/// A row such as `align 4194304 pre 741µs on 1.08ms post 788µs diff 317µs`.
fn boundary(text: &str) -> Option<BoundaryTiming> {
    let rest = text.strip_prefix("align")?;
    let words: Vec<&str> = rest.split_whitespace().take(10).collect();
    let [alignment, "pre", before, "on", across, "post", after, "diff", difference] = words[..]
    else {
        return None;
    };
    let alignment = whole(alignment).map(Bytes).filter(|size| *size <= SIZE_MAX)?;
    let (negative, difference) = match difference.strip_prefix('-') {
        Some(size) => (true, size),
        None => (false, difference),
    };
    let difference_ns = nanos(difference)? * if negative { -1.0 } else { 1.0 };
    if !agrees(difference_ns, nanos(across)?, nanos(before)?, nanos(after)?) {
        return None;
    }
    let time = |word| nanos(word).map(|nanos: f64| Nanos(nanos.round() as u64));
    Some(BoundaryTiming {
        alignment_bytes: alignment,
        before_ns: time(before)?,
        across_ns: time(across)?,
        after_ns: time(after)?,
        difference_ns,
    })
}

/// Whether the difference is that of the times, which are printed with three digits. It is not where a
/// micro sign was lost on the way, so that `308µs` reads as seconds.
fn agrees(difference: f64, across: f64, before: f64, after: f64) -> bool {
    let expected = across - f64::midpoint(before, after);
    is_near(difference, expected, 0.01, 0.02 * (across + before + after))
}

/// A time such as `741µs`, `1.08ms`, `-1166ns` without its sign, in nanoseconds. The micro sign is one
/// of two characters, or what a wrong character set makes of it. flashbench cuts a time of seven characters, so
/// `-13790ns` is printed as `-13790n`. No read takes a minute.
fn nanos(word: &str) -> Option<f64> {
    let digits = word.trim_end_matches(|c: char| !c.is_ascii_digit());
    let scale = match &word[digits.len()..] {
        "ns" | "n" => 1.0,
        "us" | "\u{b5}s" | "\u{3bc}s" | "\u{c2}\u{b5}s" | "\u{fffd}s" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    number(digits).map(|value| value * scale).filter(|nanos| *nanos < 6e10)
}

/// A row has no more rates.
const RATES_MAX: usize = 64;

/// A row such as `4MiB 8.79M/s` or `512KiB 16.4M/s 16.7M/s`.
fn rates(text: &str) -> Option<BlockRates> {
    // Most lines of other tools end here.
    if !text.as_bytes().first().is_some_and(u8::is_ascii_digit) || !text.ends_with("/s") {
        return None;
    }
    let mut words = text.split_whitespace();
    let block_bytes = size(words.next()?)?;
    let bytes_per_s: Option<Vec<Throughput>> = words.map(rate).take(RATES_MAX + 1).collect();
    let bytes_per_s = bytes_per_s.filter(|rates| (1..=RATES_MAX).contains(&rates.len()))?;
    Some(BlockRates { block_bytes, bytes_per_s })
}

fn rate(word: &str) -> Option<Throughput> {
    let amount = word.strip_suffix("/s")?;
    let digits = amount.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let scale = match &amount[digits.len()..] {
        "B" => 1.0,
        "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => return None,
    };
    number(digits).map(|value| Throughput(value * scale))
}

/// A size such as `4MiB`, `512KiB`, `512B`.
fn size(word: &str) -> Option<Bytes> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &word[digits.len()..] {
        "B" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        _ => return None,
    };
    let count = whole(digits).filter(|count| (1..1 << 20).contains(count))?;
    Some(Bytes(count << shift)).filter(|size| *size <= SIZE_MAX)
}

/// What a command line or a heading of a script tells of the runs below it.
fn context(view: &View) -> Option<Context> {
    const COMMAND: Needle = Needle::new("flashbench ");
    const UNITS: Needle = Needle::new("AU=");
    if view.holds(&COMMAND) {
        return Some(of_command(view.text));
    }
    if has_in_any_case(view.text, "find fat") {
        return Some(Context { writes: Writes::FirstArea, block_bytes: None });
    }
    if !view.holds(&UNITS) {
        return None;
    }
    let (_, rest) = view.text.split_once("AU=")?;
    let units = quantities(rest).first().map(|count| count.value).filter(|count| *count <= 64.0)?;
    let order = if rest.contains("random") {
        PatternName::Random
    } else if rest.contains("linear") {
        PatternName::Sequential
    } else {
        PatternName::Unknown
    };
    let units = Some(units as u32);
    Some(Context {
        writes: Writes::OpenUnits { units, order, unit_bytes: None },
        block_bytes: None,
    })
}

/// Whether `words`, in small or capital letters, stand in `text`.
fn has_in_any_case(text: &str, words: &str) -> bool {
    let is_it = |part: &[u8]| part.eq_ignore_ascii_case(words.as_bytes());
    text.as_bytes().windows(words.len()).any(is_it)
}

fn of_command(text: &str) -> Context {
    let value = |name: &str| {
        let (_, rest) = text.split_once(name)?;
        let rest = rest.trim_start_matches(['=', ' ']);
        let digits = rest.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
        option_size(digits)
    };
    let units = value("--open-au-nr").and_then(|count| u32::try_from(count).ok());
    let order =
        if text.contains("--random") { PatternName::Random } else { PatternName::Sequential };
    let unit_bytes = value("--erasesize").map(Bytes);
    let writes = if text.contains("--find-fat") {
        Writes::FirstArea
    } else {
        Writes::OpenUnits { units, order, unit_bytes }
    };
    Context { writes, block_bytes: value("--blocksize").map(Bytes) }
}

/// A number of an option: `4096`, `4k`, `$[4 * 1024]` is none.
fn option_size(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let shift = match &word[digits.len()..] {
        "" => 0,
        "k" | "K" => 10,
        "m" | "M" => 20,
        _ => return None,
    };
    let count = whole(digits).filter(|count| (1..1 << 40).contains(count))?;
    count.checked_shl(shift).filter(|size| *size <= SIZE_MAX.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::lines;

    #[test]
    fn repeats_are_kept_apart_and_units_are_not_mixed_up() {
        let text = "flashbench -a /dev/mmcblk0 --blocksize=1024\n\
                    align 8192\tpre 785µs\ton 808µs\tpost 725µs\tdiff 53.3µs\n\
                    align 4096\tpre 784µs\ton 788µs\tpost 779µs\tdiff -1166ns\n\
                    align 2048\tpre 1.54ms\ton 1.51ms\tpost 1.51ms\tdiff -13790n\n\
                    align 8192\tpre 1.1ms\ton 808us\tpost 725\u{fffd}s\tdiff -104us\n";
        let timings = read(&lines(text)).unwrap().flash_timings;
        let counts: Vec<usize> = timings.boundaries.iter().map(|run| run.rows.len()).collect();
        assert_eq!(counts, [3, 1], "a row whose unit was cut off does not end a run");
        assert_eq!(timings.boundaries[0].rows[2].difference_ns, -13_790.0);
        let row = timings.boundaries[0].rows[1];
        assert_eq!((row.alignment_bytes, row.before_ns), (Bytes(4096), Nanos(784_000)));
        assert_eq!(row.difference_ns, -1166.0);
        assert_eq!(timings.boundaries[0].block_bytes, Some(Bytes(1024)));
        assert_eq!(timings.boundaries[1].rows[0].before_ns, Nanos(1_100_000));
    }

    #[test]
    fn what_a_script_says_of_the_rates_is_kept_with_them() {
        let text = "======= find FAT: 1 =======\n4MiB 16.9M/s 16.6M/s\n2MiB 898K/s 1.02M/s\n\
                    ======= AU=5, random access =======\n4MiB 17.7M/s\n2MiB 17.5M/s\n\
                    ./flashbench --open-au --open-au-nr=3 --erasesize=4194304 /dev/sdb\n\
                    4MiB    8.79M/s\n512KiB  900K/s\n";
        let timings = read(&lines(text)).unwrap().flash_timings;
        let row = &timings.first_areas[0].rows[1];
        assert_eq!(row.bytes_per_s, [Throughput(898e3), Throughput(1.02e6)]);
        let of = |index: usize| {
            let run: &OpenUnitsRun = &timings.open_units[index];
            (run.units, run.order, run.unit_bytes, run.rows.len())
        };
        assert_eq!(of(0), (Some(5), PatternName::Random, None, 2));
        let unit = Some(Bytes::mib(4));
        assert_eq!(of(1), (Some(3), PatternName::Sequential, unit, 2));
    }

    #[test]
    fn a_row_whose_micro_signs_were_lost_is_not_read() {
        for text in [
            "align 4096 pre 1.33ms on 1.65ms post 1.35ms diff 308s",
            "align 4096 pre 784s on 788s post 779s diff 6s",
        ] {
            assert!(!is_sign(&View::of(text)), "{text}");
        }
        assert!(is_sign(&View::of("align 4096 pre 1.33ms on 1.65ms post 1.35ms diff 308µs")));
    }

    #[test]
    fn other_lines_are_no_timings() {
        for text in ["align 4096 pre 1ms on 2ms post", "4MiB", "4MiB 8.79M", "4 8.79M/s", "align"] {
            assert!(!is_sign(&View::of(text)), "{text}");
        }
    }
}
