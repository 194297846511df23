//! What fio's three outputs have in common: shapes, depths, rates, and how they must fit together.

use cardproof_record::{ErrorCause, OpName, PatternName, Stated, Warning, WarningCode};
use cardproof_units::{Bytes, Iops, Throughput};

use crate::draft::{Cache, PhaseDraft, Printed, Sync};
use crate::readers::failed::io_errors;
use crate::text::{is_near, kernel_name};
use crate::view::{Needle, View};
use crate::{ForeignTool, ImportError};

pub(super) const TOOL: ForeignTool = ForeignTool::Fio;

/// What is said where reports of an unfinished run were left out.
pub(super) const AT_INTERVALS: &str =
    "fio reported at intervals; only the last report of each run was read";

/// Engines that have one operation in flight whatever depth is asked for.
const SYNCHRONOUS: [&str; 6] = ["psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"];

/// What a pasted command line asks for.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Command {
    /// Whether operations pass the page cache by, where the options say so.
    pub(super) is_direct: Option<bool>,
    pub(super) sync: Sync,
    /// Whether the options limit the rate, so that the figures are the limit's and not the storage's.
    pub(super) is_limited: bool,
    /// What the only job does, where the options say so.
    pub(super) shape: Option<(OpName, PatternName)>,
    /// Its block size; zero if not told.
    pub(super) block: Bytes,
    /// Its operations in flight; 0 if not told.
    pub(super) depth: u16,
    /// Of 100 operations of a mixed job, how many are to read, where the options say so.
    pub(super) read_percent: Option<u8>,
}

/// fio's share of reads in a mixed job that asks for none.
pub(super) const DEFAULT_MIX: u8 = 50;

/// The value of `rwmixread` or `rwmixwrite`: 0 to 100.
pub(super) fn mix(value: &str) -> Option<u8> {
    value.parse().ok().filter(|percent| *percent <= 100)
}

/// What is said where the options limit the rate.
pub(super) const LIMITED: &str =
    "fio's options limit the rate, so the figure is that of the limit and not of the storage";

/// Notes that a job ended with the system's error `code`, and the fault of the storage where it is one.
pub(super) fn fail(phase: &mut PhaseDraft, code: u64) {
    phase.failed = Some(format!("fio reports error {code} for this job"));
    // EIO, ENODATA and EREMOTEIO, EILSEQ and EBADMSG, ETIMEDOUT, EROFS, ENXIO and ENODEV of Linux. Others,
    // such as a full file system, are no fault of the storage.
    let cause = match code {
        5 | 61 | 121 => ErrorCause::Io,
        74 | 84 => ErrorCause::Crc,
        110 => ErrorCause::Timeout,
        30 => ErrorCause::ReadOnly,
        6 | 19 => ErrorCause::Gone,
        _ => return,
    };
    phase.fault = Some(io_errors(phase.op, 0, cause));
}

/// The doubt about a rate that was limited.
pub(super) fn limited() -> Warning {
    Warning::stated(WarningCode::RateLimited, LIMITED)
}

/// Options that limit the rate.
pub(super) const LIMITS: [&str; 3] = ["rate", "rate_iops", "thinktime"];

impl Command {
    /// The options of fio in a line; nothing where it is no command line of fio.
    pub(super) fn of(view: &View) -> Option<Self> {
        let options = options_in(view)?;
        // Before a value one dash is as good as two.
        let with_one_dash = |word: &'_ str| word.starts_with('-') && word.contains('=');
        let options = options.split_whitespace().filter_map(|word| {
            let short = || word.strip_prefix('-').filter(|_| with_one_dash(word));
            word.strip_prefix("--").or_else(short)
        });
        let mut command = Self::default();
        let (mut has_any, mut has_job, mut jobs) = (false, false, 0);
        // One operation in flight is fio's default.
        let (mut depth, mut engine) = (Some(1), "");
        for option in options {
            has_any = true;
            let (name, value) = option.split_once('=').unwrap_or((option, "1"));
            match (name, value) {
                ("direct", value) => command.is_direct = Some(is_on(value)),
                ("buffered", value) => command.is_direct = Some(!is_on(value)),
                ("fsync" | "fdatasync", value) => {
                    let every = value.parse().ok().filter(|count| *count > 0);
                    command.sync = every.map_or(command.sync, Sync::Every);
                }
                ("sync", value) if is_on(value) => command.sync = Sync::Every(1),
                ("end_fsync", "1") => command.sync = Sync::AtEnd,
                ("rw" | "readwrite", value) => {
                    (has_job, command.shape) = (true, shape_of(unquoted(value)));
                }
                ("name", _) => jobs += 1,
                ("bs" | "blocksize", value) => {
                    command.block = size_of(Some(unquoted(value))).unwrap_or(Bytes::ZERO);
                }
                ("iodepth", value) => depth = unquoted(value).parse().ok(),
                ("ioengine", value) => engine = unquoted(value),
                ("rwmixread", value) => command.read_percent = mix(unquoted(value)),
                ("rwmixwrite", value) => {
                    command.read_percent = mix(unquoted(value)).map(|writes| 100 - writes);
                }
                (name, _) if LIMITS.contains(&name) => command.is_limited = true,
                _ => {}
            }
        }
        // A whole job without the option is buffered: that is fio's default.
        let is_whole = !view.line.contains("...") && !view.line.contains('\u{2026}');
        if command.is_direct.is_none() && has_job && is_whole {
            command.is_direct = Some(false);
        }
        command.depth = depth_of(engine, depth.unwrap_or(0));
        // With several jobs or a part of the options nobody can say whose they are.
        if jobs > 1 || !is_whole {
            (command.shape, command.block, command.depth) = (None, Bytes::ZERO, 0);
        }
        has_any.then_some(command)
    }

    /// Whether the page cache was passed by; `untold` where the options do not say.
    pub(super) const fn cache(self, untold: &'static str) -> Cache {
        match self.is_direct {
            Some(true) => Cache::Bypassed,
            Some(false) => Cache::Used(
                "fio's command does not ask for direct I/O, so its figures may be those of memory",
            ),
            None => Cache::Unknown(untold),
        }
    }
}

/// A size as fio's options have them: a number, and powers of 1024 by their letter.
pub(super) fn size_of(text: Option<&str>) -> Option<Bytes> {
    let text = text?.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let power = match &text[digits.len()..] {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        "p" | "pb" | "pib" => 50,
        _ => return None,
    };
    let count: u64 = digits.parse().ok().filter(|count| *count > 0)?;
    count.checked_mul(1 << power).map(Bytes)
}

fn unquoted(value: &str) -> &str {
    value.trim_matches(['"', '\'', '`'])
}

/// Whether a line is a command of fio.
pub(super) fn is_command(view: &View) -> bool {
    let is_option =
        |word: &str| word.starts_with("--") || word.starts_with('-') && word.contains('=');
    options_in(view).is_some_and(|options| options.split_whitespace().any(is_option))
}

/// What follows the program's name in a line.
fn options_in<'l>(view: &View<'l>) -> Option<&'l str> {
    const NAME: Needle = Needle::new("fio ");
    const OPTION: Needle = Needle::new("-");
    if !(view.holds(&OPTION) && view.holds(&NAME)) {
        return None;
    }
    view.line.split_once("fio ").map(|(_, options)| options)
}

/// The device that the command of fio in a line works on, where it is one.
pub(super) fn device_in(view: &View) -> Option<String> {
    let options = options_in(view)?;
    let (_, path) = options.split_once("-filename=")?;
    kernel_name(path.split_whitespace().next()?.trim_matches(['"', '\'']))
}

/// Whether an option's value switches it on; an option alone does. `none` is one of `sync`.
pub(super) fn is_on(value: &str) -> bool {
    !matches!(value.trim_matches(['"', '\'']), "0" | "false" | "none")
}

/// Whether a line says that a signal ended fio before its time.
pub(super) fn is_ended_by_signal(view: &View) -> bool {
    const ENDED: Needle = Needle::new("fio: terminating on signal");
    const JOB: Needle = Needle::new("fio: pid=");
    view.holds(&ENDED) || view.holds(&JOB) && view.line.contains("got signal")
}

/// What a job's `rw` asks for; with a number after a colon fio skips or repeats, which has no like
/// here.
pub(super) fn shape_of(rw: &str) -> Option<(OpName, PatternName)> {
    let shape = match rw {
        "read" => (OpName::Read, PatternName::Sequential),
        "write" => (OpName::Write, PatternName::Sequential),
        "rw" | "readwrite" => (OpName::Mixed, PatternName::Sequential),
        "randread" => (OpName::Read, PatternName::Random),
        "randwrite" => (OpName::Write, PatternName::Random),
        "randrw" => (OpName::Mixed, PatternName::Random),
        _ => return None,
    };
    Some(shape)
}

/// How many operations `engine` keeps in flight when asked for `depth`.
pub(super) fn depth_of(engine: &str, depth: u16) -> u16 {
    if SYNCHRONOUS.contains(&engine) { 1 } else { depth }
}

/// How many operations are in flight behind the figures of a job with `copies` of `depth` each. Where
/// the figures are those of one copy among others that ran beside it, there is no depth with which
/// they could be compared: 0, not known.
pub(super) const fn depth_of_copies(depth: u16, copies: u16, are_summed: bool) -> u16 {
    match (copies, are_summed) {
        (0 | 1, _) => depth,
        (_, true) => depth.saturating_mul(copies),
        (_, false) => 0,
    }
}

/// One direction's figures, in bytes and operations a second.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) bytes_per_s: f64,
    pub(super) iops: f64,
    pub(super) ops: u64,
    pub(super) bytes: u64,
    /// Throughput and operations a second as printed.
    pub(super) printed: Vec<Printed>,
}

impl Rates {
    pub(super) fn has_run(&self) -> bool {
        self.bytes > 0 || self.bytes_per_s > 0.0
    }

    /// The block size that makes the operations the bytes, where there is a whole one.
    pub(super) fn block(&self) -> Option<Bytes> {
        if self.ops == 0 {
            return self.block_by_rates();
        }
        self.bytes.is_multiple_of(self.ops).then(|| Bytes(self.bytes / self.ops))
    }

    /// The power of two that makes the operations a second the bytes a second, where old versions count no operations.
    /// They print whole numbers of both.
    fn block_by_rates(&self) -> Option<Bytes> {
        let rounding = 1.0 / self.iops + 1024.0 / self.bytes_per_s;
        if self.iops <= 0.0 || self.bytes_per_s <= 0.0 || rounding > ROUNDING_MAX {
            return None;
        }
        let told = self.bytes_per_s / self.iops;
        let power = told.log2().round().clamp(9.0, 30.0);
        let is_near = (told / power.exp2() - 1.0).abs() <= rounding;
        is_near.then(|| Bytes(1 << power as u32))
    }
}

/// Sets a phase's figures from what was read, what was written, and what fio tells of both together.
pub(super) fn state(phase: &mut PhaseDraft, directions: [&Rates; 3]) {
    let [read, write, united] = directions;
    let sum = |of: fn(&Rates) -> f64| directions.into_iter().map(of).sum::<f64>();
    let is_mixed = read.has_run() && write.has_run();
    phase.stated = Stated {
        iops: Some(Iops(sum(|rates| rates.iops))),
        throughput_bytes_per_s: Some(Throughput(sum(|rates| rates.bytes_per_s))),
        read_iops: is_mixed.then_some(Iops(read.iops)),
        write_iops: is_mixed.then_some(Iops(write.iops)),
    };
    let add = |of: fn(&Rates) -> u64| directions.into_iter().map(of).fold(0, u64::saturating_add);
    phase.ops = add(|rates| rates.ops);
    phase.bytes = Bytes(add(|rates| rates.bytes));
    phase.written_of_mixed = (!united.has_run()).then_some(Bytes(write.bytes));
    for (name, rates) in ["read", "write", "mixed"].into_iter().zip(directions) {
        if rates.has_run() {
            let named =
                |it: &Printed| Printed { name: format!("{name} {}", it.name), ..it.clone() };
            phase.figures.extend(rates.printed.iter().map(named));
        }
    }
}

/// Rates that are rounded by more than this share tell no block size.
const ROUNDING_MAX: f64 = 0.05;

/// Mixes are asked for in such steps.
const USUAL_MIX_STEP: f64 = 5.0;

/// fio draws the direction of each operation, so that what was done is about so many per cent off what was asked.
const MIX_SCATTER: f64 = 1.5;

/// The share of reads that was asked for, as far as what was done shows it, where no option tells: the usual mix
/// that is near, or else the share itself.
pub(super) fn read_percent(read: &Rates, write: &Rates) -> u8 {
    let all = read.iops + write.iops;
    if all <= 0.0 {
        return 0;
    }
    let done = read.iops / all * 100.0;
    let usual = (done / USUAL_MIX_STEP).round() * USUAL_MIX_STEP;
    // A share of 0 or 100 is no mix.
    let is_near = (done - usual).abs() <= MIX_SCATTER && usual > 0.0 && usual < 100.0;
    (if is_near { usual } else { done.round() }) as u8
}

/// The operation that rates speak of; of both together it is not known.
pub(super) fn op_of(read: &Rates, write: &Rates, united: &Rates) -> OpName {
    match (read.has_run(), write.has_run()) {
        (true, false) => OpName::Read,
        (false, true) => OpName::Write,
        (false, false) if united.has_run() => OpName::Unknown,
        _ => OpName::Mixed,
    }
}

/// Refuses a rate that is not that of its bytes in `seconds`, which is exact to `tick` seconds.
pub(super) fn check(
    line: usize,
    rates: &Rates,
    seconds: f64,
    tick: f64,
) -> Result<(), ImportError> {
    if seconds <= 0.0 {
        return Ok(());
    }
    let share = 0.02 + tick / seconds;
    if is_near(rates.bytes_per_s, rates.bytes as f64 / seconds, share, 4096.0) {
        return Ok(());
    }
    let what = format!(
        "{} bytes in {seconds} s are not {:.0} bytes a second",
        rates.bytes, rates.bytes_per_s
    );
    Err(ImportError::Contradiction { tool: TOOL, line, what })
}

/// The longest name of a job that is kept.
const NOTE_CHARS_MAX: usize = 40;

/// The name of a job as a part of the name of what it measured: small letters, digits and hyphens.
pub(super) fn note_of(job: &str) -> String {
    let words = job.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let name = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    name.chars().take(NOTE_CHARS_MAX).collect()
}
