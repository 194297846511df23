//! dd's last line, in any language: bytes, a time, and a rate.
//!
//! GNU dd translates every word, writes decimals as the country does and picks a unit that fits;
//! busybox writes MiB and calls them MB; BSD's writes bytes a second. Only the order is the same
//! everywhere: first the bytes, last the rate, the seconds before it. So the numbers are taken by
//! their place, the rate is computed from bytes and seconds, which have no unit to mistake, and the
//! printed rate must agree with it in one of the units that its name can mean.
//!
//! The output does not tell whether dd read or wrote; that is known only where its command line
//! stands in the text.

mod error;

use cardproof_units::{Bytes, Nanos};

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::refusals::{Refusals, check_count};
use crate::text::{QUANTITIES_MAX, Quantity, is_near, kernel_name, quantities, whole};
use crate::view::{Letters, Needle, View};
use crate::{ForeignTool, ImportError};
use cardproof_record::{Finding, FindingKind, OpName, PatternName};
pub(super) use error::{cause_of, device_of, op_of};
use error::{error_in, is_message};

const TOOL: ForeignTool = ForeignTool::Dd;

/// What the line looks like.
const EXPECTED: &str = "'N bytes copied, N s, N MB/s' in any language";

/// What a dd command asks for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Command {
    pub(super) op: OpName,
    pub(super) sync: Sync,
    pub(super) is_direct: bool,
    /// Whether all options are known.
    pub(super) is_told: bool,
    pub(super) block: Bytes,
    /// Whether the command stands in a loop, and so before several outputs.
    pub(super) is_looped: bool,
    /// Whether no storage is asked for anything, such as from `/dev/zero` to `/dev/null`.
    pub(super) is_of_memory: bool,
}

impl Default for Command {
    fn default() -> Self {
        Self {
            op: OpName::Unknown,
            sync: Sync::None,
            is_direct: false,
            is_told: false,
            block: Bytes::ZERO,
            is_looped: false,
            is_of_memory: false,
        }
    }
}

pub(super) fn is_sign(view: &View) -> bool {
    figures_in(view).is_some() || records_in(view).is_some() || is_message(view)
}

/// The numbers of one line: the amount, the seconds, the rate.
struct Figures<'t> {
    amount: Quantity<'t>,
    seconds: Quantity<'t>,
    rate: Quantity<'t>,
}

/// How the units end that [`meanings`] knows.
const RATES: [Needle; 8] = [
    Needle::new("b/"),
    Needle::new("s/"),
    Needle::new("k/"),
    Needle::new("m/"),
    Needle::new("g/"),
    Needle::new("t/"),
    Needle::new("\u{411}/"),
    Needle::new("\u{431}/"),
];

/// The figures of a line that ends in a rate after at least two other numbers, of which the first is
/// whole; or those of a sentence around dd's words, or in a translation whose second is unknown here,
/// where the rate is that of amount and time.
fn figures_in<'l>(view: &View<'l>) -> Option<Figures<'l>> {
    const NEEDED: Letters = Letters::of_word("0/");
    if !view.has(NEEDED) || !RATES.iter().any(|rate| view.may_hold_in_any_case(rate)) {
        return None;
    }
    let numbers = quantities(view.line);
    if numbers.len() == QUANTITIES_MAX {
        return None;
    }
    let last = numbers.iter().rposition(|it| it.unit.contains('/')).filter(|last| *last >= 2)?;
    let (seconds, rate) = (numbers[last - 1], numbers[last]);
    let (_, time) = rate.unit.split_once('/')?;
    let meanings = meanings(rate.unit);
    let is_time = seconds.unit == time || is_second(seconds.unit);
    // The figures prove each other: a large amount, over a time with the rate's own word for seconds,
    // gives the rate.
    let is_certain = |amount: f64| {
        let is_rate = |unit: &f64| is_near(rate.value * unit, amount / seconds.value, 0.06, 0.0);
        is_time && amount >= 1e5 && seconds.value > 0.0 && meanings.iter().any(is_rate)
    };
    let is_last = last + 1 == numbers.len();
    // A line of several rates is one that people type.
    let is_only = !numbers[..last].iter().any(|it| it.unit.contains('/'));
    let is_plain = is_last
        && is_only
        && !meanings.is_empty()
        && is_second(time)
        && is_plain(view, &seconds, &rate);
    let mut amounts = numbers[..last - 1].iter().enumerate().filter(|(_, it)| is_amount(it));
    let (_, amount) =
        amounts.find(|(at, amount)| *at == 0 && is_plain || is_certain(amount.value))?;
    Some(Figures { amount: *amount, seconds, rate })
}

/// Whether a number can be that of bytes.
fn is_amount(number: &Quantity<'_>) -> bool {
    number.value.fract() == 0.0 && !number.unit.is_empty()
}

/// Whether nothing but dd's own words stands in a line. Some translations begin with the word for
/// "copied"; then the unit of seconds tells dd's line.
fn is_plain(view: &View, seconds: &Quantity<'_>, rate: &Quantity<'_>) -> bool {
    let ends_in_rate = view.text.trim_end_matches(')').ends_with(rate.unit);
    let is_word = |c: char| c.is_alphabetic() || c == ' ';
    let before = view.text.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
    let starts = before.is_empty() || before.chars().all(is_word) && is_second(seconds.unit);
    starts && ends_in_rate && !seconds.unit.contains('/')
}

/// The count in a line such as `81920+0 records in`, or 0 where some are partial; in some languages it
/// comes last.
fn records_in(view: &View) -> Option<u64> {
    const NEEDED: Letters = Letters::of_word("0+");
    if !view.has(NEEDED) {
        return None;
    }
    let is_count = |c: char| c.is_ascii_digit() || c == '+';
    let mut words = view.line.split(|c: char| !is_count(c)).filter(|word| !word.is_empty());
    let (full, partial) = words.next()?.split_once('+')?;
    let is_alone = words.next().is_none() && view.line.contains(char::is_alphabetic);
    let (full, partial) = (whole(full)?, whole(partial)?);
    is_alone.then_some(if partial == 0 { full } else { 0 })
}

/// Whether `unit` means seconds in any language: Latin `c` stands for the Cyrillic one in old ones.
fn is_second(unit: &str) -> bool {
    matches!(unit, "s" | "sec" | "secs" | "seconds" | "S" | "с" | "c" | "сек" | "秒" | "초" | "seg")
}

/// What the unit of a rate can mean, in bytes a second. Android's dd leaves out the bytes.
fn meanings(unit: &str) -> Vec<f64> {
    let Some((amount, _)) = unit.split_once('/') else { return Vec::new() };
    let power = match amount {
        "bytes" | "B" | "Б" => 0,
        "kB" | "KB" | "kb" | "k" | "K" | "кБ" | "КБ" | "Кб" => 1,
        "MB" | "M" | "МБ" | "Мб" => 2,
        "GB" | "G" | "ГБ" | "Гб" => 3,
        "TB" | "T" | "ТБ" => 4,
        _ => return Vec::new(),
    };
    let mut meanings = vec![1000_f64.powi(power), 1024_f64.powi(power)];
    meanings.dedup();
    meanings
}

/// The record of one or several runs.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut refused = Refusals::default();
    add_errors(lines, &mut draft);
    draft.phases = match find(lines, Command::default(), &mut |error| refused.add(error)) {
        Err(ImportError::Ends { .. }) if !draft.findings.is_empty() => Vec::new(),
        found => found.map_err(|error| refused.first_or(error))?,
    };
    draft.refused = refused;
    Ok(draft)
}

/// So many lines after an error dd tells how much it had copied by then.
const SUMMARY_LINES: usize = 4;

/// Adds the operations that failed; a run that one ended is partial.
fn add_errors(lines: &[Line], draft: &mut RecordDraft) {
    for (index, line) in lines.iter().enumerate() {
        let Some(error) = error_in(&line.view()) else { continue };
        line.claim();
        let after = lines[index + 1..].iter().take(SUMMARY_LINES).find_map(|line| {
            let view = line.view();
            figures_in(&view).map(|figures| Bytes(figures.amount.value as u64))
        });
        let what = FindingKind::IoErrors {
            op: error.op,
            count: 1,
            cause: error.cause,
            files: Vec::new(),
            after_bytes: after,
            offset_bytes: None,
        };
        draft.is_partial = true;
        let device = &mut draft.conditions.device.name;
        *device = device.take().or_else(|| error.device.clone());
        let finding = Finding::at(what, TOOL.name(), line.number);
        draft.add_finding(Finding { device: error.device, ..finding });
    }
}

/// All runs in `lines`, of `command` unless one stands before them. A line that contradicts itself is
/// left out where `refuse` allows it.
pub(super) fn find(
    lines: &[Line],
    command: Command,
    refuse: &mut dyn FnMut(ImportError) -> Result<(), ImportError>,
) -> Result<Vec<PhaseDraft>, ImportError> {
    let mut phases = Vec::new();
    let mut current = command;
    let mut records = None;
    // A rate that may be one of those that `status=progress` prints, and after which its run goes on.
    let mut progress: Option<Progress> = None;
    for line in lines {
        check_count(phases.len())?;
        let view = line.view();
        if let Some(said) = command_in(&view) {
            line.claim();
            phases.extend(progress.take().map(|it| it.phase));
            current = said;
        } else if is_message(&view) {
            line.claim();
            let op = error_in(&view).map_or(OpName::Unknown, |error| error.op);
            current.op = if current.op == OpName::Unknown { op } else { current.op };
        } else if let Some(count) = records_in(&view) {
            line.claim();
            records = Some(count);
        } else if let Some(figures) = figures_in(&view) {
            line.claim();
            let is_of_progress = figures.have_whole_seconds(&view);
            // A device that was not there or was full: no measurement, and no contradiction.
            if figures.amount.value == 0.0 || current.is_of_memory {
                phases.extend(progress.take().map(|it| it.phase));
                records = None;
                if !is_of_progress && !current.is_looped {
                    current = command;
                }
                continue;
            }
            let phase = match phase(line, &figures, current, records) {
                Err(error @ ImportError::Contradiction { .. }) => {
                    refuse(error)?;
                    continue;
                }
                result => result?,
            };
            let is_final = !is_of_progress || phase.block > Bytes::ZERO;
            let is_further = progress.take_if(|it| !it.is_continued_by(&phase, is_final));
            phases.extend(is_further.map(|it| it.phase));
            if records.is_none() && is_of_progress {
                progress = Some(Progress { phase });
            } else {
                progress = None;
                phases.push(phase);
                current = if current.is_looped { current } else { command };
            }
            records = None;
        }
    }
    phases.extend(progress.map(|it| it.phase));
    if phases.is_empty() {
        let expected = EXPECTED.to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(phases)
}

/// A line that may be one of progress.
struct Progress {
    phase: PhaseDraft,
}

impl Progress {
    /// Whether `next` is the same run later on: more bytes in more time, of the same command.
    fn is_continued_by(&self, next: &PhaseDraft, is_final: bool) -> bool {
        next.bytes >= self.phase.bytes
            && next.duration >= self.phase.duration
            && next.op == self.phase.op
            && (is_final || next.bytes > self.phase.bytes)
    }
}

impl Figures<'_> {
    /// Whether the seconds are printed without a fraction, as in progress.
    fn have_whole_seconds(&self, view: &View) -> bool {
        let Quantity { value, unit } = self.seconds;
        value.fract() == 0.0 && view.line.contains(&format!("{value} {unit}"))
    }
}

fn phase(
    line: &Line,
    figures: &Figures<'_>,
    command: Command,
    records: Option<u64>,
) -> Result<PhaseDraft, ImportError> {
    let Figures { amount, seconds, rate } = figures;
    let bytes = Bytes(amount.value as u64);
    if seconds.value <= 0.0 || bytes == Bytes::ZERO {
        return Err(ImportError::unexpected(TOOL, line.number, EXPECTED, &line.text));
    }
    let bytes_per_s = amount.value / seconds.value;
    let unit_bytes_per_s = agreeing_unit(line, amount, seconds, rate, bytes_per_s)?;
    let of_records = records.filter(|count| *count > 0 && bytes.0.is_multiple_of(*count));
    let is_whole = command.block > Bytes::ZERO && bytes.is_multiple_of(command.block);
    let asked = if is_whole { command.block } else { Bytes::ZERO };
    let block = of_records.map_or(asked, |count| Bytes(bytes.0 / count));
    let draft = PhaseDraft {
        block,
        span: bytes,
        bytes,
        depth: 1,
        sync: command.sync,
        duration: Nanos::from_secs_f64(seconds.value),
        cache: cache(command),
        ..PhaseDraft::new(command.op, PatternName::Sequential)
    };
    let printed = Printed::new("rate", rate.value, rate.unit).in_bytes_per_s(unit_bytes_per_s);
    Ok(draft.at(bytes_per_s, printed))
}

const fn cache(command: Command) -> Cache {
    match (command.is_direct, command.sync) {
        (true, _) => Cache::Bypassed,
        (false, Sync::None) if command.is_told => Cache::Used(
            "dd's command asks for no direct I/O, so the figure may be that of the page cache (memory)",
        ),
        (false, Sync::None) => {
            Cache::Unknown("dd's output does not tell whether the page cache was in use")
        }
        (false, _) => Cache::Used(
            "dd wrote through the page cache, and its figure includes the time to empty it; direct writes may differ",
        ),
    }
}

/// The meaning of the rate's unit in which it agrees with bytes and seconds. Times of a few clock
/// ticks are printed with few digits.
fn agreeing_unit(
    line: &Line,
    amount: &Quantity<'_>,
    seconds: &Quantity<'_>,
    rate: &Quantity<'_>,
    bytes_per_s: f64,
) -> Result<f64, ImportError> {
    let share = (0.005 / seconds.value).clamp(0.06, 0.5);
    let agrees = |unit: &f64| is_near(rate.value * unit, bytes_per_s, share, 0.0);
    let distance = |unit: &f64| (rate.value * unit - bytes_per_s).abs();
    let agreeing = meanings(rate.unit).into_iter().filter(agrees);
    if let Some(unit) = agreeing.min_by(|a, b| distance(a).total_cmp(&distance(b))) {
        return Ok(unit);
    }
    let what = format!(
        "{} bytes in {} s are not {} {}",
        amount.value, seconds.value, rate.value, rate.unit
    );
    Err(ImportError::Contradiction { tool: TOOL, line: line.number, what })
}

/// What follows the program's name in a line with operands.
fn operands_in<'l>(view: &View<'l>) -> Option<&'l str> {
    const NAME: Needle = Needle::new("dd ");
    const OPERAND: Needle = Needle::new("f=");
    if !(view.holds(&OPERAND) && view.holds(&NAME)) {
        return None;
    }
    view.line.split_once("dd ").map(|(_, operands)| operands)
}

/// The dd command in a line, if there is one.
fn command_in(view: &View) -> Option<Command> {
    let arguments = operands_in(view)?;
    let value = |key: &str| {
        arguments.split_whitespace().find_map(|word| word.strip_prefix(key)?.strip_prefix('='))
    };
    let (input, output) = (value("if"), value("of"));
    if input.is_none() && output.is_none() {
        return None;
    }
    let is_source = |path: &str| matches!(path, "/dev/zero" | "/dev/urandom" | "/dev/random");
    let is_of_memory = input.is_some_and(is_source) && output == Some("/dev/null");
    let op = match (input, output) {
        (_, Some("/dev/null")) => OpName::Read,
        (Some(input), Some(_)) if is_source(input) => OpName::Write,
        _ => OpName::Unknown,
    };
    let has = |key: &str, flags: &[&str]| {
        value(key).is_some_and(|value| value.split(',').any(|flag| flags.contains(&flag)))
    };
    let sync = if has("oflag", &["dsync", "sync"]) {
        Sync::Every(1)
    } else if has("conv", &["fsync", "fdatasync"]) {
        Sync::AtEnd
    } else {
        Sync::None
    };
    let is_direct = match op {
        OpName::Read => has("iflag", &["direct"]),
        OpName::Write => has("oflag", &["direct"]),
        _ => has("oflag", &["direct"]) && has("iflag", &["direct"]),
    };
    let block = value("bs").and_then(block_of).unwrap_or(Bytes::ZERO);
    let is_looped = is_loop(view.text);
    Some(Command { op, sync, is_direct, is_told: true, block, is_looped, is_of_memory })
}

/// Whether a line is a command of dd.
pub(crate) fn is_command(view: &View) -> bool {
    command_in(view).is_some()
}

/// Whether a command stands in a loop of the shell, as in `for i in 1 2 3; do dd …; done`.
fn is_loop(text: &str) -> bool {
    let before = text.split_once("dd ").map_or("", |(before, _)| before);
    let mut words = before.split(|c: char| c.is_whitespace() || c == ';').rev();
    words.any(|word| word == "do")
        && ["for ", "while ", "until "].iter().any(|it| before.contains(it))
}

/// The device that the dd command in a line reads or writes, where it is one.
pub(crate) fn device_in(view: &View) -> Option<String> {
    let arguments = operands_in(view)?;
    let is_none = |name: &String| {
        matches!(name.as_str(), "zero" | "null" | "urandom" | "random" | "stdin" | "stdout")
    };
    let mut devices = arguments
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("if=").or_else(|| word.strip_prefix("of=")))
        .filter_map(|path| kernel_name(path.trim_matches(['"', '\'', ';'])))
        .filter(|name| !is_none(name));
    // A copy from one to another is of neither.
    devices.next().filter(|_| devices.next().is_none())
}

/// A block size as dd's options have it: powers of 1024 by their letter, of 1000 with a `B` behind.
fn block_of(text: &str) -> Option<Bytes> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit: u64 = match &text[digits.len()..] {
        "" | "c" => 1,
        "kB" | "KB" => 1000,
        "k" | "K" | "KiB" => 1 << 10,
        "MB" => 1_000_000,
        "m" | "M" | "MiB" => 1 << 20,
        "GB" => 1_000_000_000,
        "g" | "G" | "GiB" => 1 << 30,
        _ => return None,
    };
    let count = whole(digits).filter(|count| (1..1 << 30).contains(count))?;
    Some(Bytes(count * unit))
}
