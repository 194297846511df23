//! sysbench's test of files, of versions 0.4 to 1.0.
//!
//! Its Kb, Mb and Gb are powers of 1024 bytes, as version 1.0 prints. A mixed test reads and writes in the
//! printed ratio. Unless `--file-extra-flags=direct` was given, which the line about flags tells (`16384`,
//! `directio`), it uses the page cache, and flushes every so many requests.

use cardproof_record::{OpName, PatternName, Stated};
use cardproof_units::{Bytes, Iops, Throughput};

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::text::{is_near, number, quantities};
use crate::view::{Beginnings, Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::Sysbench;

pub(super) fn is_sign(view: &View) -> bool {
    const PARTS: [Needle; 2] =
        [Needle::new("Requests/sec executed"), Needle::new("total file size")];
    const FIRST: Beginnings = Beginnings::new(&[
        "fsyncs/s:",
        "read, MiB/s:",
        "written, MiB/s:",
        "Read/Write ratio for combined random IO test:",
        "Periodic FSYNC enabled, calling fsync()",
        "Number of random requests for random IO:",
        "Operations performed:",
    ]);
    FIRST.begin(view.text)
        || view.holds(&PARTS[0])
        || view.holds(&PARTS[1]) && view.text.ends_with("total file size")
}

/// What the lines of a run say.
#[derive(Clone, Debug, Default)]
struct Run {
    line: usize,
    threads: Option<u16>,
    is_direct: Option<bool>,
    span: Bytes,
    block: Bytes,
    read_share: Option<f64>,
    fsync_every: u64,
    test: Option<(OpName, PatternName)>,
    /// Requests a second of all, of reads, of writes.
    requests: Option<f64>,
    reads: Option<f64>,
    writes: Option<f64>,
    /// MiB a second of all, of reads, of writes: as printed with the unit.
    rate: Option<(f64, &'static str)>,
    read_rate: Option<f64>,
    write_rate: Option<f64>,
}

/// The record of all runs.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut run = Run::default();
    for line in lines {
        draft.check_count()?;
        let text = line.shown();
        // Parameters after results are those of another run.
        if run.has_result() && Run::default().parameter(text) {
            std::mem::take(&mut run).add(&mut draft)?;
        }
        if run.parameter(text) || run.result(text) {
            line.claim();
            run.line = line.number;
        } else if let Some(version) = text.strip_prefix("sysbench ") {
            let version = version.split([' ', ':']).next().unwrap_or_default();
            if version.starts_with(|c: char| c.is_ascii_digit()) {
                line.claim();
                draft.version = Some(version.to_owned());
            }
        }
    }
    run.add(&mut draft)?;
    if draft.phases.is_empty() {
        let expected = "'N Requests/sec executed' or 'reads/s: N'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

impl Run {
    const fn has_result(&self) -> bool {
        self.requests.is_some() || self.reads.is_some() || self.read_rate.is_some()
    }

    /// Takes over a line about what is asked for.
    fn parameter(&mut self, text: &str) -> bool {
        if let Some(count) = text.strip_prefix("Number of threads:") {
            self.threads = count.trim().parse().ok();
        } else if let Some(flags) = text.strip_prefix("Extra file open flags:") {
            self.is_direct = direct(flags.trim());
        } else if let Some(size) = text.strip_suffix("total file size") {
            self.span = size_of(size).unwrap_or_default();
        } else if let Some(size) = text.strip_prefix("Block size ") {
            self.block = size_of(size).unwrap_or_default();
        } else if let Some(ratio) =
            text.strip_prefix("Read/Write ratio for combined random IO test:")
        {
            self.read_share = number(ratio.trim()).map(|ratio| ratio / (1.0 + ratio));
        } else if let Some(rest) =
            text.strip_prefix("Periodic FSYNC enabled, calling fsync() each ")
        {
            self.fsync_every = rest.split(' ').next().and_then(|it| it.parse().ok()).unwrap_or(0);
        } else if let Some(test) = text.strip_prefix("Doing ") {
            self.test = Some(match test {
                "random r/w test" => (OpName::Mixed, PatternName::Random),
                "random read test" => (OpName::Read, PatternName::Random),
                "random write test" => (OpName::Write, PatternName::Random),
                "sequential read test" => (OpName::Read, PatternName::Sequential),
                "sequential write (creation) test" | "sequential rewrite test" => {
                    (OpName::Write, PatternName::Sequential)
                }
                _ => return false,
            });
        } else {
            return false;
        }
        true
    }

    /// Takes over a line about what was measured.
    fn result(&mut self, text: &str) -> bool {
        let after = |name: &str| text.strip_prefix(name).and_then(|rest| number(rest.trim()));
        if text.contains("Requests/sec executed") {
            let numbers = quantities(text);
            self.requests = numbers.first().map(|it| it.value);
        } else if text.starts_with("Read ") && text.contains("Total transferred") {
            let rate = text.split_once('(').map(|(_, rate)| quantities(rate)).unwrap_or_default();
            self.rate = rate.first().and_then(|it| Some((it.value, unit(it.unit)?)));
        } else if let Some(rate) = after("reads/s:") {
            self.reads = Some(rate);
        } else if let Some(rate) = after("writes/s:") {
            self.writes = Some(rate);
        } else if let Some(rate) = after("read, MiB/s:") {
            self.read_rate = Some(rate);
        } else if let Some(rate) = after("written, MiB/s:") {
            self.write_rate = Some(rate);
        } else {
            return text.starts_with("fsyncs/s:") || text.starts_with("Operations performed:");
        }
        true
    }

    /// Adds the phase of the run, where it has a result.
    fn add(self, draft: &mut RecordDraft) -> Result<(), ImportError> {
        if !self.has_result() {
            return Ok(());
        }
        let (op, pattern) = self.test.unwrap_or((self.op(), PatternName::Unknown));
        let mut phase = PhaseDraft::new(op, pattern);
        (phase.block, phase.span) = (self.block, self.span);
        phase.depth = self.threads.unwrap_or(0);
        if op == OpName::Mixed {
            let counted =
                self.reads.zip(self.writes).map(|(reads, writes)| reads / (reads + writes));
            let share = self.read_share.or(counted).filter(|share| share.is_finite());
            phase.read_percent = (share.unwrap_or(0.0) * 100.0).round() as u8;
        }
        if op != OpName::Read && self.fsync_every > 0 {
            phase.sync = Sync::Every(self.fsync_every);
        }
        phase.cache = match self.is_direct {
            Some(true) => Cache::Bypassed,
            Some(false) => Cache::Used(
                "sysbench used the page cache, so its figures may be those of memory: its flags ask for no direct I/O",
            ),
            None => Cache::Unknown("sysbench's line about its flags is missing"),
        };
        self.set_rates(&mut phase);
        self.check(&phase)?;
        draft.phases.push(phase);
        Ok(())
    }

    /// What the figures alone tell of the operation.
    fn op(&self) -> OpName {
        match (self.reads, self.writes) {
            (Some(reads), Some(0.0)) if reads > 0.0 => OpName::Read,
            (Some(0.0), Some(writes)) if writes > 0.0 => OpName::Write,
            (Some(_), Some(_)) => OpName::Mixed,
            _ => OpName::Unknown,
        }
    }

    fn set_rates(&self, phase: &mut PhaseDraft) {
        let add = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
        let iops = self.requests.or(add(self.reads, self.writes));
        let mib = 1_048_576.0;
        let of_both = add(self.read_rate, self.write_rate).map(|rate| rate * mib);
        let of_all = self.rate.map(|(rate, unit)| rate * scale(unit));
        phase.stated = Stated {
            iops: iops.map(Iops),
            throughput_bytes_per_s: of_all.or(of_both).map(Throughput),
            read_iops: self.reads.map(Iops),
            write_iops: self.writes.map(Iops),
        };
        let figures = [
            ("requests", self.requests, "/s", None),
            ("reads", self.reads, "/s", None),
            ("writes", self.writes, "/s", None),
            ("read", self.read_rate, "MiB/s", Some(mib)),
            ("written", self.write_rate, "MiB/s", Some(mib)),
            (
                "transferred",
                self.rate.map(|it| it.0),
                self.rate.map_or("", |it| it.1),
                self.rate.map(|it| scale(it.1)),
            ),
        ];
        for (name, value, unit, bytes) in figures {
            let Some(value) = value else { continue };
            let printed = Printed::new(name, value, unit);
            phase.figures.push(match bytes {
                Some(bytes) => printed.in_bytes_per_s(bytes),
                None => printed,
            });
        }
    }

    /// Holds requests, block and rate against each other.
    fn check(&self, phase: &PhaseDraft) -> Result<(), ImportError> {
        let Stated { iops: Some(iops), throughput_bytes_per_s: Some(rate), .. } = phase.stated
        else {
            return Ok(());
        };
        let block = self.block.as_f64();
        if block == 0.0 || is_near(iops.0 * block, rate.0, 0.03, 0.02 * 1_048_576.0) {
            return Ok(());
        }
        let what = format!("{} requests/s of {} are not {}", iops.0, self.block, rate);
        Err(ImportError::Contradiction { tool: TOOL, line: self.line, what })
    }
}

/// Whether the flags ask for direct I/O: version 0.4 prints the number of O_DIRECT, 0.5 a set of bits, 1.0
/// a word.
fn direct(flags: &str) -> Option<bool> {
    match flags {
        "0" | "(none)" => Some(false),
        // O_DIRECT of x86 and of ARM; of version 0.5.
        "16384" | "65536" | "3" | "2" => Some(true),
        _ if flags.contains("direct") => Some(true),
        _ => None,
    }
}

/// The unit of a rate as it is called here.
fn unit(unit: &str) -> Option<&'static str> {
    match unit {
        "Kb/sec" | "KiB/sec" => Some("KiB/s"),
        "Mb/sec" | "MiB/sec" => Some("MiB/s"),
        "Gb/sec" | "GiB/sec" => Some("GiB/s"),
        "b/sec" | "B/sec" => Some("B/s"),
        _ => None,
    }
}

fn scale(unit: &str) -> f64 {
    match unit {
        "KiB/s" => 1024.0,
        "MiB/s" => 1_048_576.0,
        "GiB/s" => 1_073_741_824.0,
        _ => 1.0,
    }
}

/// A size such as `16Kb`, `4Gb`, `1GiB`.
fn size_of(text: &str) -> Option<Bytes> {
    let numbers = quantities(text);
    let size = numbers.first()?;
    let unit = match size.unit {
        "b" | "B" => 1.0,
        "Kb" | "KiB" => 1024.0,
        "Mb" | "MiB" => 1_048_576.0,
        "Gb" | "GiB" => 1_073_741_824.0,
        "Tb" | "TiB" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some(Bytes((size.value * unit) as u64))
}
