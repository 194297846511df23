//! A record in the making: what an importer knows of a phase, and the form that it takes.
//!
//! The phases get their names from what they did, as those of cardproof's own profiles do, so that
//! like can be found and compared with like. A figure that the tool printed in a unit of its own is
//! kept beside the converted one.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem;

use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use serde_json::Map;

use super::lines::Line;
use super::refusals::{FIGURE_MOST, Refusals, check_count, impossible};
use super::text::short_size;
use super::{ForeignTool, ImportError};
use cardproof_record::{
    Conditions, DeviceInfo, EngineName, Figure, Finding, FindingKind, FlashTimings, HostInfo,
    JobTime, Latency, OpName, PatternName, Phase, PhaseState, ProfileInfo, Record, State, Stated,
    SyncMode, TargetInfo, TargetKind, Tool, Verification, Warning, WarningCode,
};

/// A figure as the tool printed it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Printed {
    /// What the tool calls it.
    pub(super) name: String,
    pub(super) value: f64,
    /// The tool's unit, as printed or as documented; empty for a bare number.
    pub(super) unit: String,
    /// What one of that unit is in bytes a second, where it is a rate of bytes.
    pub(super) unit_bytes_per_s: Option<f64>,
    /// The tool, where it is known by now.
    pub(super) tool: Option<ForeignTool>,
}

impl Printed {
    /// The figure `value` with its `unit`, which the tool calls `name`.
    pub(super) fn new(name: &str, value: f64, unit: &str) -> Self {
        Self {
            name: name.to_owned(),
            value,
            unit: unit.to_owned(),
            unit_bytes_per_s: None,
            tool: None,
        }
    }

    /// The same, of a unit of so many bytes a second.
    pub(super) fn in_bytes_per_s(self, unit_bytes_per_s: f64) -> Self {
        Self { unit_bytes_per_s: Some(unit_bytes_per_s), ..self }
    }

    /// The figure, from `phases`.
    fn finish(self, phases: Vec<String>) -> Figure {
        Figure {
            name: self.name,
            tool: self.tool.map_or("", ForeignTool::name).to_owned(),
            value: self.value,
            unit: self.unit,
            unit_bytes_per_s: self.unit_bytes_per_s,
            phases,
        }
    }
}

/// How a phase's writes were made durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sync {
    /// They were not, or it is not known.
    #[default]
    None,
    /// Once, at the end.
    AtEnd,
    /// After every so many.
    Every(u64),
}

/// Whether operations passed the page cache by. Where they did not, or nobody knows, the figures
/// may be those of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cache {
    /// They did.
    Bypassed,
    /// They went through it, as these words tell.
    Used(&'static str),
    /// It is not known, as these words say.
    Unknown(&'static str),
}

/// A phase in the making. What stays at its default is not known.
#[derive(Clone, Debug)]
pub(super) struct PhaseDraft {
    pub(super) op: OpName,
    pub(super) pattern: PatternName,
    /// What sets it apart from a phase of the same shape, such as `again`.
    pub(super) note: Cow<'static, str>,
    /// Of 100 operations of a mixed phase, how many read.
    pub(super) read_percent: u8,
    pub(super) block: Bytes,
    pub(super) span: Bytes,
    pub(super) depth: u16,
    pub(super) sync: Sync,
    pub(super) ops: u64,
    pub(super) bytes: Bytes,
    /// How many of the bytes of a mixed phase were written, where the tool tells.
    pub(super) written_of_mixed: Option<Bytes>,
    pub(super) duration: Nanos,
    pub(super) stated: Stated,
    pub(super) latency: Option<Latency>,
    pub(super) cache: Cache,
    pub(super) warnings: Vec<Warning>,
    /// Why there are no figures.
    pub(super) failed: Option<String>,
    /// The fault of the storage that ended it.
    pub(super) fault: Option<FindingKind>,
    /// How much was read back and was as written; zero where that is not told.
    pub(super) right: Option<Bytes>,
    pub(super) figures: Vec<Printed>,
}

impl PhaseDraft {
    /// A phase of which no more is known than this.
    pub(super) fn new(op: OpName, pattern: PatternName) -> Self {
        let read_percent = u8::from(op == OpName::Read) * 100;
        Self {
            op,
            pattern,
            note: Cow::Borrowed(""),
            read_percent,
            block: Bytes::ZERO,
            span: Bytes::ZERO,
            depth: 0,
            sync: Sync::None,
            ops: 0,
            bytes: Bytes::ZERO,
            written_of_mixed: None,
            duration: Nanos::ZERO,
            stated: Stated::default(),
            latency: None,
            cache: Cache::Bypassed,
            warnings: Vec::new(),
            failed: None,
            fault: None,
            right: None,
            figures: Vec::new(),
        }
    }

    /// The same with a rate in bytes a second, and what the tool printed for it.
    pub(super) fn at(mut self, bytes_per_s: f64, figure: Printed) -> Self {
        self.stated.throughput_bytes_per_s = Some(Throughput(bytes_per_s));
        self.figures.push(figure);
        self
    }

    /// Fills in what follows from the rest by arithmetic alone.
    fn complete(&mut self) {
        let block = self.block.as_f64();
        let Stated { iops, throughput_bytes_per_s: rate, .. } = &mut self.stated;
        if block > 0.0 {
            *iops = iops.or(rate.map(|rate| Iops(rate.0 / block)));
            *rate = rate.or(iops.map(|iops| Throughput(iops.0 * block)));
            if self.ops == 0 {
                self.ops = self.bytes.0 / self.block.0;
            }
        }
        if let Some(rate) = rate.filter(|rate| rate.0 > 0.0)
            && self.duration == Nanos::ZERO
        {
            self.duration = Nanos::from_secs_f64(self.bytes.as_f64() / rate.0);
        }
    }

    /// Whether both are called the same, without making the names.
    pub(super) fn has_the_name_of(&self, other: &Self) -> bool {
        let is_cached = |phase: &Self| matches!(phase.cache, Cache::Used(_));
        (self.op, self.pattern, self.block, self.depth, self.sync)
            == (other.op, other.pattern, other.block, other.depth, other.sync)
            && self.read_percent == other.read_percent
            && self.note == other.note
            && is_cached(self) == is_cached(other)
    }

    /// A name like those of cardproof's own phases, such as `random-write-4k-qd1`.
    pub(super) fn name(&self) -> String {
        let pattern = match self.pattern {
            PatternName::Sequential => "sequential",
            PatternName::Random => "random",
            PatternName::Unknown => "",
        };
        let op = match self.op {
            OpName::Read => "read",
            OpName::Write => "write",
            OpName::Mixed => "mixed",
            OpName::Unknown => "transfer",
        };
        let shares = format!("{}-{}", self.read_percent, 100 - self.read_percent.min(100));
        let parts = [
            pattern.to_owned(),
            op.to_owned(),
            if self.block > Bytes::ZERO { short_size(self.block) } else { String::new() },
            if self.op == OpName::Mixed { shares } else { String::new() },
            if self.depth > 0 { format!("qd{}", self.depth) } else { String::new() },
            match self.sync {
                Sync::Every(1) => "fsync".to_owned(),
                Sync::Every(ops) => format!("fsync-every-{ops}"),
                Sync::None | Sync::AtEnd => String::new(),
            },
            if matches!(self.cache, Cache::Used(_)) { "buffered" } else { "" }.to_owned(),
            self.note.clone().into_owned(),
        ];
        let known: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        known.join("-")
    }

    fn finish(mut self, name: String) -> Phase {
        self.complete();
        self.failed = self.failed.or_else(|| impossible(&self.stated));
        let has_failed = self.failed.is_some();
        let mut warnings = self.warnings.clone();
        let doubt = match self.cache {
            Cache::Bypassed => None,
            Cache::Used(message) => Some((WarningCode::Buffered, message)),
            Cache::Unknown(message) => Some((WarningCode::CacheUnknown, message)),
        };
        let doubt = doubt.map(|(code, message)| Warning::stated(code, message));
        warnings.extend(doubt);
        Phase {
            read_percent: self.read_percent,
            block_size_bytes: self.block,
            span_bytes: self.span,
            queue_depth: self.depth,
            sync: match self.sync {
                Sync::None => SyncMode::None,
                Sync::AtEnd => SyncMode::FlushAtEnd,
                Sync::Every(ops) => format!("fsync-every-{ops}").into(),
            },
            state: match self.failed {
                Some(cause) => PhaseState::NotMeasured { cause },
                None => PhaseState::Measured,
            },
            ops: self.ops,
            bytes: self.bytes,
            duration_ns: self.duration,
            stated: (!has_failed).then_some(self.stated),
            latency_ns: self.latency.filter(|_| !has_failed),
            verification: self.right.map(Verification::all_right),
            warnings,
            ..Phase::begun(name, self.op, self.pattern)
        }
    }
}

/// A record has no more doubts: nobody reads on.
const WARNINGS_MAX: usize = 256;

/// A record has no more findings: a log of errors goes on and on.
const FINDINGS_MAX: usize = 256;

/// A record in the making.
#[derive(Clone, Debug)]
pub(super) struct RecordDraft {
    /// What measured: one tool, or several on one card.
    pub(super) tools: Vec<ForeignTool>,
    /// The tool's version, where it prints one.
    pub(super) version: Option<String>,
    /// When it began, as it prints it.
    pub(super) began: Option<String>,
    /// The name that stands over the output.
    pub(super) label: Option<String>,
    /// Whether a signal ended the tool before its time.
    pub(super) is_partial: bool,
    pub(super) conditions: Conditions,
    pub(super) phases: Vec<PhaseDraft>,
    /// Whole jobs that were timed.
    pub(super) jobs: Vec<JobTime>,
    /// Faults of the storage that the tool has seen.
    pub(super) findings: Vec<Finding>,
    /// Figures that belong to no phase.
    pub(super) figures: Vec<Printed>,
    pub(super) flash_timings: FlashTimings,
    pub(super) warnings: Vec<Warning>,
    /// Lines that were left out.
    pub(super) refused: Refusals,
}

impl RecordDraft {
    /// A record of `tool` with nothing in it.
    pub(super) fn new(tool: ForeignTool) -> Self {
        let target = TargetInfo { kind: TargetKind::Unknown, ..TargetInfo::default() };
        Self {
            tools: vec![tool],
            version: None,
            began: None,
            label: None,
            is_partial: false,
            conditions: Conditions { target, ..Conditions::default() },
            phases: Vec::new(),
            jobs: Vec::new(),
            findings: Vec::new(),
            figures: Vec::new(),
            flash_timings: FlashTimings::default(),
            warnings: Vec::new(),
            refused: Refusals::default(),
        }
    }

    /// Adds a doubt in words, once.
    pub(super) fn warn(&mut self, code: WarningCode, message: impl Into<String>) {
        let warning = Warning::stated(code, message);
        if self.warnings.len() < WARNINGS_MAX && !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Adds what the tool says of the storage in `line`.
    pub(super) fn find(&mut self, line: &Line, what: FindingKind) {
        let tool = self.tools.first().map_or("", |tool| tool.name());
        self.add_finding(Finding::at(what, tool, line.number));
    }

    /// Adds a finding, unless there are too many.
    pub(super) fn add_finding(&mut self, finding: Finding) {
        if self.findings.len() < FINDINGS_MAX {
            self.findings.push(finding);
        }
    }

    /// Whether anything was measured, or at least the device is told.
    pub(super) fn has_content(&self) -> bool {
        !(self.phases.is_empty()
            && self.jobs.is_empty()
            && self.figures.is_empty()
            && self.findings.is_empty()
            && self.flash_timings.is_empty()
            && self.conditions.device.size_bytes.is_none())
    }

    /// Refuses more measurements than a record can show.
    pub(super) fn check_count(&self) -> Result<(), ImportError> {
        check_count(self.measurements())
    }

    /// How many measurements there are.
    pub(super) fn measurements(&self) -> usize {
        let of_boundaries = self.flash_timings.boundaries.iter().map(|run| run.rows.len());
        let of_units = self.flash_timings.open_units.iter().map(|run| run.rows.len());
        let of_areas = self.flash_timings.first_areas.iter().map(|run| run.rows.len());
        let timings: usize = of_boundaries.chain(of_units).chain(of_areas).sum();
        self.phases.len() + self.figures.len() + timings
    }

    /// Marks all figures that no tool is named for as those of `tool`.
    pub(super) fn sign(&mut self, tool: ForeignTool) {
        let of_phases = self.phases.iter_mut().flat_map(|phase| &mut phase.figures);
        for figure in of_phases.chain(&mut self.figures) {
            figure.tool.get_or_insert(tool);
        }
    }

    /// Takes over what `other` tells of the same card.
    pub(super) fn absorb(&mut self, other: Self) {
        let is_same_tool = self.tools == other.tools;
        for tool in other.tools {
            if !self.tools.contains(&tool) {
                self.tools.push(tool);
            }
        }
        if is_same_tool {
            self.version = self.version.take().or(other.version);
        } else {
            self.version = None;
        }
        self.began = self.began.take().or(other.began);
        self.label = self.label.take().or(other.label);
        self.is_partial |= other.is_partial;
        self.conditions = merged(mem::take(&mut self.conditions), other.conditions);
        self.phases.extend(other.phases);
        self.jobs.extend(other.jobs);
        self.figures.extend(other.figures);
        other.findings.into_iter().for_each(|finding| self.add_finding(finding));
        self.flash_timings.boundaries.extend(other.flash_timings.boundaries);
        self.flash_timings.open_units.extend(other.flash_timings.open_units);
        self.flash_timings.first_areas.extend(other.flash_timings.first_areas);
        for warning in other.warnings {
            self.warn(warning.code, warning.to_string());
        }
    }

    /// The record called `id`, read at `read_at`.
    pub(super) fn finish(self, id: String, read_at: &str) -> Record {
        let (bytes_written, bytes_read) = moved(&self.phases);
        let names = names_of_their_own(&self.phases);
        let mut figures = Vec::new();
        let mut findings = self.findings;
        let mut phases = Vec::with_capacity(self.phases.len());
        let first_tool = self.tools.first().map_or("", |tool| tool.name());
        for (mut draft, name) in self.phases.into_iter().zip(names) {
            let fault = draft.fault.take();
            findings.extend(fault.map(|what| Finding::of_phase(what, first_tool)));
            let printed = mem::take(&mut draft.figures);
            let sound = printed.into_iter().filter(|it| it.value.abs() < FIGURE_MOST);
            figures.extend(sound.map(|it| it.finish(vec![name.clone()])));
            phases.push(draft.finish(name));
        }
        figures.extend(self.figures.into_iter().map(|it| it.finish(Vec::new())));
        let mut conditions = self.conditions;
        conditions.target.direct = !phases.is_empty() && phases.iter().all(is_direct);
        let name = self.tools.iter().map(|tool| tool.name()).collect::<Vec<_>>().join("+");
        let tool = Tool { name: name.clone(), version: self.version.unwrap_or_default() };
        let profile = ProfileInfo::untimed(name, 0);
        Record {
            state: if self.is_partial { State::Partial } else { State::Complete },
            label: self.label,
            conditions,
            bytes_written,
            bytes_read,
            phases,
            warnings: self.warnings,
            began_as_printed: self.began,
            jobs: self.jobs,
            findings,
            figures,
            flash_timings: self.flash_timings,
            ..Record::begun(id, read_at.to_owned(), tool, profile)
        }
    }
}

/// What either of two tells of the same surroundings; the first, where both do.
fn merged(first: Conditions, second: Conditions) -> Conditions {
    let (device, other) = (first.device, second.device);
    let (host, other_host) = (first.host, second.host);
    Conditions {
        target: TargetInfo {
            size_bytes: first.target.size_bytes.max(second.target.size_bytes),
            engine: Some(first.target.engine)
                .filter(|engine| *engine != EngineName::default())
                .unwrap_or(second.target.engine),
            ..first.target
        },
        device: DeviceInfo {
            name: device.name.or(other.name),
            model: device.model.or(other.model),
            vendor: device.vendor.or(other.vendor),
            transport: device.transport.or(other.transport),
            size_bytes: device.size_bytes.or(other.size_bytes),
            card: device.card.or(other.card),
            bus: device.bus.or(other.bus),
            ..DeviceInfo::default()
        },
        host: HostInfo {
            board: host.board.or(other_host.board),
            kernel: host.kernel.or(other_host.kernel),
            architecture: host.architecture.or(other_host.architecture),
            cpus: host.cpus.or(other_host.cpus),
            memory_bytes: host.memory_bytes.or(other_host.memory_bytes),
            soc: host.soc.or(other_host.soc),
            ..HostInfo::default()
        },
        filesystem: first.filesystem.or(second.filesystem),
        settings: first.settings,
        unknown: first.unknown,
        extra: Map::new(),
    }
}

fn is_direct(phase: &Phase) -> bool {
    let is_doubt = |warning: &Warning| {
        matches!(warning.code, WarningCode::Buffered | WarningCode::CacheUnknown)
    };
    !phase.warnings.iter().any(is_doubt)
}

/// The bytes written and read, as far as the tools tell which is which.
fn moved(phases: &[PhaseDraft]) -> (Bytes, Bytes) {
    let both = phases.iter().map(|phase| match phase.op {
        OpName::Write => (phase.bytes, Bytes::ZERO),
        OpName::Read => (Bytes::ZERO, phase.bytes),
        OpName::Mixed => phase.written_of_mixed.map_or((Bytes::ZERO, Bytes::ZERO), |written| {
            (written, phase.bytes.saturating_sub(written))
        }),
        OpName::Unknown => (Bytes::ZERO, Bytes::ZERO),
    });
    let add = |a: Bytes, b: Bytes| Bytes(a.0.saturating_add(b.0));
    both.fold((Bytes::ZERO, Bytes::ZERO), |sum, one| (add(sum.0, one.0), add(sum.1, one.1)))
}

/// The names of `phases`, the second of one name being called `…-run2`: a bare number reads as a queue depth.
fn names_of_their_own(phases: &[PhaseDraft]) -> Vec<String> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let of_its_own = |name: String| {
        let count = known.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name}-run{count}") }
    };
    phases.iter().map(PhaseDraft::name).map(of_its_own).collect()
}
