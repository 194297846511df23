//! ioping's statistics: requests one at a time, and how long they took.
//!
//! Its rate is that of the time in which requests were under way (`requests completed in`), not of
//! the second that ioping waits between them, which is another line. Its units are powers of 1024,
//! as it prints. It does not tell whether it passed the page cache by (`-D`), nor whether it went
//! through the target in order (`-L`); a command before it does.

use cardproof_units::{Bytes, Iops, Nanos, Throughput};

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use crate::lines::{Line, last_number};
use crate::text::{Quantity, is_near, kernel_name, quantities};
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};
use cardproof_record::{FilesystemInfo, OpName, PatternName, Stated};

const TOOL: ForeignTool = ForeignTool::Ioping;

/// What the line with the rate looks like.
const EXPECTED: &str = "'N requests completed in N ms, N KiB read, N iops, N MiB/s'";

/// What stands in the line with the rate.
const SUMMARY: Needle = Needle::new(" requests completed in ");

pub(super) fn is_sign(view: &View) -> bool {
    let is_title = |text: &str| text.ends_with("ioping statistics ---");
    view.text.starts_with('-') && view.line.starts_with("--- ") && is_title(view.text)
        || view.holds(&SUMMARY)
}

/// Whether another run begins with a line.
pub(super) fn is_start(view: &View) -> bool {
    view.line.starts_with("--- ") && is_sign(view)
}

/// The record of one run or several.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut request = None;
    let mut command = Command::default();
    for line in lines {
        draft.check_count()?;
        let text = line.shown();
        let view = View::of(text);
        if let Some(found) = request_of(&view) {
            line.claim();
            request = Some(found);
        } else if let Some(said) = command_in(&view) {
            line.claim();
            command = said;
        } else if view.holds(&SUMMARY) {
            line.claim();
            let mut phase = phase(line, request.take())?;
            (phase.pattern, phase.cache) = (command.pattern, command.cache);
            command = Command::default();
            draft.phases.push(phase);
        } else if text.starts_with("--- ") {
            line.claim();
            read_target(text, &mut draft);
        } else if let Some(times) = text.strip_prefix("min/avg/max/mdev = ") {
            line.claim();
            read_times(line, times, &mut draft)?;
        } else if text.starts_with("generated ") && text.contains(" requests in ") {
            line.claim();
        }
    }
    if draft.phases.is_empty() {
        let expected = EXPECTED.to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// What a command asks for.
#[derive(Clone, Copy, Debug)]
struct Command {
    pattern: PatternName,
    cache: Cache,
}

impl Default for Command {
    fn default() -> Self {
        Self {
            pattern: PatternName::Unknown,
            cache: Cache::Unknown(
                "ioping's output does not tell whether the page cache was in use",
            ),
        }
    }
}

/// The command in a line, if there is one. Requests are at random unless asked for otherwise.
fn command_in(view: &View) -> Option<Command> {
    const NAME: Needle = Needle::new("ioping ");
    if !view.holds(&NAME) {
        return None;
    }
    let (before, options) = view.text.split_once("ioping ")?;
    let is_word = !before.ends_with(|c: char| c.is_alphanumeric());
    let flags = |word: &&str| {
        word.strip_prefix('-').is_some_and(|flags| flags.starts_with(char::is_alphabetic))
    };
    let words: Vec<&str> = options.split_whitespace().filter(flags).collect();
    let has = |letter: char, long: &str| {
        words.iter().any(|word| *word == long || !word.starts_with("--") && word.contains(letter))
    };
    if !is_word || words.is_empty() {
        return None;
    }
    let cache = if has('D', "-direct") {
        Cache::Bypassed
    } else {
        Cache::Used(
            "ioping's command does not ask for direct I/O, so its figures may be those of memory",
        )
    };
    let is_in_order = has('L', "-linear");
    let pattern = if is_in_order { PatternName::Sequential } else { PatternName::Random };
    Some(Command { pattern, cache })
}

/// What a line about one request tells.
#[derive(Clone, Copy, Debug)]
struct Request {
    block: Bytes,
    op: OpName,
}

/// The request in a line such as `4 KiB <<< . (ext4 /dev/sda1 …): request=1 time=…`, or of old versions
/// `4096 bytes from . (ext4 /dev/sda1): request=1 time=0.2 ms`, which do not tell reads from writes.
fn request_of(view: &View) -> Option<Request> {
    const NUMBER: Needle = Needle::new("request=");
    if !view.holds(&NUMBER) {
        return None;
    }
    let forms = [(" <<< ", OpName::Read), (" >>> ", OpName::Write), (" from ", OpName::Unknown)];
    let (size, rest, op) = forms.into_iter().find_map(|(arrow, op)| {
        let (size, rest) = view.text.split_once(arrow)?;
        Some((size, rest, op))
    })?;
    if !rest.contains("request=") {
        return None;
    }
    let block = Bytes(quantities(size).first().and_then(bytes_of)? as u64);
    Some(Request { block, op })
}

/// Whether a line is about one request, or about a run, and names no card.
pub(crate) fn is_part(view: &View) -> bool {
    const TIMES: Beginnings = Beginnings::new(&["min/avg/max/mdev = "]);
    const SUMS: Beginnings = Beginnings::new(&["generated "]);
    let text = view.text;
    request_of(view).is_some()
        || TIMES.begin(text)
        || SUMS.begin(text) && text.contains(" requests in ")
}

/// The parts of a summary: `N requests completed in N ms, N KiB read, N iops, N MiB/s`. Up to version
/// 1.0 the amount is missing.
fn phase(line: &Line, request: Option<Request>) -> Result<PhaseDraft, ImportError> {
    let unexpected = || ImportError::unexpected(TOOL, line.number, EXPECTED, &line.text);
    let parts: Vec<&str> = line.shown().split(", ").collect();
    let (requests, amount, iops, rate) = match parts.as_slice() {
        [requests, amount, iops, rate] => (*requests, Some(*amount), *iops, *rate),
        [requests, iops, rate] => (*requests, None, *iops, *rate),
        _ => return Err(unexpected()),
    };
    let op = match amount {
        Some(amount) if amount.ends_with(" read") => OpName::Read,
        Some(amount) if amount.ends_with(" written") => OpName::Write,
        Some(_) => return Err(unexpected()),
        None => request.map_or(OpName::Unknown, |request| request.op),
    };
    let (count, time) = requests.split_once(" requests completed in ").ok_or_else(unexpected)?;
    let scaled = |text: &str| quantities(text).first().map(|it| it.value * scale_of(it.unit));
    let count = scaled(count).filter(|count| *count >= 1.0).ok_or_else(unexpected)?;
    let iops_printed = quantities(iops);
    let printed = iops_printed.first().ok_or_else(unexpected)?;
    let iops = printed.value * scale_of(printed.unit);
    let seconds = seconds_of(time).ok_or_else(unexpected)?;
    let rate_printed = quantities(rate);
    let rate = rate_printed.first().ok_or_else(unexpected)?;
    let per_s = rate.unit.strip_suffix("/s").ok_or_else(unexpected)?;
    let unit_bytes_per_s =
        bytes_of(&Quantity { unit: per_s, value: 1.0 }).ok_or_else(unexpected)?;
    let bytes_per_s = rate.value * unit_bytes_per_s;
    let bytes = match amount {
        Some(amount) => quantities(amount).first().and_then(bytes_of).ok_or_else(unexpected)?,
        None => request.map_or(0.0, |request| request.block.as_f64() * count),
    };
    // Old versions print the time of the whole run, pauses included, beside rates without them.
    let agrees = match amount {
        Some(_) => {
            is_near(iops * seconds, count, 0.02, 1.0)
                && is_near(bytes_per_s * seconds, bytes, 0.02, 1.0)
        }
        // They print one decimal, of thousands of operations too.
        None => request.is_none_or(|request| {
            let block = request.block.as_f64();
            let rounding = unit_bytes_per_s * 0.06 + scale_of(printed.unit) * 0.06 * block;
            is_near(iops * block, bytes_per_s, 0.02, rounding)
        }),
    };
    if !agrees {
        let what = format!("{count} requests in {seconds} s are not {iops} a second");
        return Err(ImportError::Contradiction { tool: TOOL, line: line.number, what });
    }
    let duration = if amount.is_some() { seconds } else { count / iops.max(f64::MIN_POSITIVE) };
    let per_request = if amount.is_some() { bytes / count } else { bytes_per_s / iops };
    Ok(PhaseDraft {
        block: request
            .map(|request| request.block)
            .or_else(|| power_of_two(per_request))
            .unwrap_or(Bytes::ZERO),
        depth: 1,
        ops: count as u64,
        bytes: Bytes(bytes as u64),
        duration: Nanos::from_secs_f64(duration.min(1e9)),
        stated: Stated {
            iops: Some(Iops(iops)),
            throughput_bytes_per_s: Some(Throughput(bytes_per_s)),
            ..Stated::default()
        },
        figures: vec![
            Printed::new(
                "iops",
                printed.value,
                format!("{} iops", printed.unit.trim_end_matches("iops")).trim(),
            ),
            Printed::new("rate", rate.value, rate.unit).in_bytes_per_s(unit_bytes_per_s),
        ],
        ..PhaseDraft::new(op, PatternName::Unknown)
    })
}

/// `k` and its like after a number of things.
fn scale_of(unit: &str) -> f64 {
    match unit {
        "k" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        _ => 1.0,
    }
}

fn seconds_of(text: &str) -> Option<f64> {
    let numbers = quantities(text);
    let time = numbers.first()?;
    let scale = match time.unit {
        "ns" => 1e-9,
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "h" | "hour" => 3600.0,
        _ => return None,
    };
    Some(time.value * scale).filter(|seconds| *seconds > 0.0)
}

fn bytes_of(amount: &Quantity<'_>) -> Option<f64> {
    let power = match amount.unit {
        "B" | "bytes" => 0,
        // The first versions write powers of 1024 in small letters.
        "KiB" | "kb" => 1,
        "MiB" | "mb" => 2,
        "GiB" | "gb" => 3,
        "TiB" => 4,
        _ => return None,
    };
    Some(amount.value * 1024_f64.powi(power))
}

/// The power of two within 2 % of a request's mean size.
fn power_of_two(bytes: f64) -> Option<Bytes> {
    let power = bytes.log2().round();
    let is_sure = (9.0..=30.0).contains(&power) && (bytes / power.exp2() - 1.0).abs() < 0.02;
    is_sure.then(|| Bytes(1 << power as u32))
}

/// File system and device in `--- . (ext4 /dev/sda1 29.1 GiB) ioping statistics ---`; never the
/// path before them.
fn read_target(text: &str, draft: &mut RecordDraft) {
    let Some((_, inside)) = text.rsplit_once('(') else { return };
    let mut words = inside.split_whitespace();
    let (kind, device) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if let Some(name) = kernel_name(device) {
        draft.conditions.device.name = Some(name);
        draft.conditions.filesystem =
            Some(FilesystemInfo { kind: kind.to_owned(), ..FilesystemInfo::default() });
    }
}

/// The times of single requests: least, mean and greatest, kept as the tool's own. The first versions
/// print one unit behind all of them.
fn read_times(line: &Line, times: &str, draft: &mut RecordDraft) -> Result<(), ImportError> {
    let numbers = quantities(times);
    let last_unit = numbers.last().map_or("", |time| time.unit);
    let with_unit = |time: &Quantity<'_>| {
        let own = time.unit.trim_matches('/');
        (time.value, if own.is_empty() { last_unit.to_owned() } else { own.to_owned() })
    };
    let times: Vec<(f64, String)> = numbers.iter().map(with_unit).collect();
    let is_time = |(value, unit): &(f64, String)| {
        *value >= 0.0 && matches!(unit.as_str(), "ns" | "us" | "ms" | "s" | "min" | "h" | "hour")
    };
    let Some(phase) =
        draft.phases.last_mut().filter(|_| times.len() == 4 && times.iter().all(is_time))
    else {
        let expected = "four times such as '10.1 us / 55.9 us / 4.11 ms / 58.2 us'";
        return Err(ImportError::unexpected(TOOL, line.number, expected, &line.text));
    };
    // A run has them once.
    if phase.figures.iter().any(|figure| figure.name == "mdev") {
        return Ok(());
    }
    for (name, (value, unit)) in ["min", "avg", "max", "mdev"].into_iter().zip(times) {
        phase.figures.push(Printed::new(name, value, &unit));
    }
    Ok(())
}
