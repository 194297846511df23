//! `cardproof engine`: one phase of any shape, for developers and for comparing with fio.
//!
//! It saves no record and judges nothing; it prints what the phase did and what it cost.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use cardproof_facts::CONFIDENCE;
use cardproof_io::{Arrangement, Caching, Calls, FileState, NullTarget, Target};
use cardproof_record::{Conditions, EngineDocument, PhaseState, ProfileInfo, Record};
use cardproof_runner::{Event, Monitor, Observer, Plan};
use cardproof_session::{Existing, Identity, SystemMonitor, blank};
use cardproof_units::{Bytes, Iops, Nanos, Seed};
use cardproof_workload::{
    Access, Ends, PhaseSpec, Precision, Profile, Repetition, Role, TimeLimit,
};
use clap::{Args, ValueEnum};

use crate::args::AccessArgs;
use crate::exit::Failure;
use crate::output::{self, Sink};
use crate::talk::Talk;
use crate::terminal::Terminal;

/// What the null target claims to hold.
const NULL_SIZE: Bytes = Bytes::gib(1024);

/// One phase of any shape.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// A file, a block device, or `null` for a target that does nothing
    #[arg(long, value_name = "PATH|null")]
    target: String,
    /// What the operations do
    #[arg(long, value_enum, default_value = "read")]
    op: OpArg,
    /// Percentage of reads (with --op mixed)
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u8).range(0..=100))]
    read_percent: u8,
    /// Order in which addresses are accessed
    #[arg(long, value_enum, default_value = "random")]
    pattern: PatternArg,
    /// Access every block once before repeating any
    #[arg(long)]
    once: bool,
    /// The size of each operation
    #[arg(long, default_value = "4k", value_name = "SIZE")]
    block_size: Bytes,
    /// Offset added to every address, to break the alignment
    #[arg(long, default_value = "0", value_name = "SIZE")]
    alignment_offset: Bytes,
    /// How many operations are kept in flight
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    queue_depth: u16,
    /// Flush after every N writes
    #[arg(long, value_name = "WRITES", value_parser = clap::value_parser!(u32).range(1..))]
    fsync_every: Option<u32>,
    /// Limit to N operations a second
    #[arg(long, value_name = "IOPS", value_parser = clap::value_parser!(u32).range(1..))]
    rate: Option<u32>,
    /// Stop after this time
    #[arg(long, value_name = "TIME")]
    time: Option<Nanos>,
    /// Stop after N operations
    #[arg(long)]
    ops: Option<u64>,
    /// Stop after this many bytes
    #[arg(long, value_name = "SIZE")]
    bytes: Option<Bytes>,
    /// Stop when the 99 % interval of the rate is within ±N %
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(1..=50))]
    precision: Option<u8>,
    /// The range of addresses, from the target's start; all of it by default
    #[arg(long, value_name = "SIZE")]
    size: Option<Bytes>,
    /// Seed for addresses and data
    #[arg(long, default_value = "0")]
    seed: Seed,
    /// How the target may be used.
    #[command(flatten)]
    access: AccessArgs,
    /// Monitor the system during the phase, as `run` does
    #[arg(long)]
    monitor: bool,
    /// Use the page cache (buffered I/O)
    #[arg(long)]
    buffered: bool,
    /// Write the results as JSON, to a file or to standard output
    #[arg(long, default_value = "-", value_name = "FILE|-")]
    json: Sink,
    /// Print errors only, and no results on standard output
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OpArg {
    Read,
    Write,
    Mixed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum PatternArg {
    Sequential,
    Random,
}

/// Only brings a monitor along, if there is one.
struct LoadObserver(Option<SystemMonitor>);

impl Observer for LoadObserver {
    fn observe(&mut self, _event: Event<'_>) {}

    fn monitor(&mut self) -> Option<&mut dyn Monitor> {
        let beside = self.0.as_mut()?;
        Some(beside)
    }
}

/// Runs the phase and prints its figures.
pub(crate) fn run(args: &EngineArgs, stop: &AtomicBool) -> Result<(), Failure> {
    let spec = spec(args);
    let mut target = open(args, &spec)?;
    let abilities = target.abilities().clone();
    let span = args.size.unwrap_or(abilities.size).min(abilities.size);
    spec.blocks_in(span).map_err(|error| Failure::usage(error.to_string()))?;
    let plan = plan(args, spec, span);
    // The record serves to hold the figures; it is not kept.
    let draft = draft(&plan);
    let device = Path::new(&args.target).file_name().and_then(|name| name.to_str());
    let mut observer = LoadObserver(args.monitor.then(|| SystemMonitor::start(device)).flatten());
    let record = cardproof_runner::run(&mut target, &plan, draft, &mut observer, stop);
    let Some(phase) = record.phases.first() else {
        return Err(Failure::incomplete("the phase did not begin"));
    };
    let figures = EngineDocument {
        engine: abilities.engine.name(),
        engine_fallback: abilities.engine_fallback,
        direct: abilities.directness.is_direct(),
        state: phase.state.clone(),
        ops: phase.ops,
        bytes: phase.bytes,
        duration_ns: phase.duration_ns,
        iops: phase.iops.map(|iops| iops.estimate),
        latency_ns: phase.latency_ns,
        flush_latency_ns: phase.flush_latency_ns,
        flushes: phase.flushes,
        cpu_user_ns: record.monitor.cpu_user_ns,
        cpu_system_ns: record.monitor.cpu_system_ns,
        memory_peak_bytes: record.monitor.memory_peak_bytes,
        monitor_cpu_share: record
            .monitor
            .seen
            .and_then(|seen| Some(seen.cpu_ns?.as_secs_f64() / seen.watched_ns.as_secs_f64())),
    };
    let mut text = serde_json::to_string_pretty(&figures)
        .map_err(|error| Failure::incomplete(error.to_string()))?;
    text.push('\n');
    if !(args.quiet && args.json == Sink::Stdout) {
        output::write(&args.json, &text)?;
    }
    match &phase.state {
        PhaseState::NotMeasured { cause } => Err(Failure::incomplete(cause)),
        PhaseState::Measured | PhaseState::Partial | PhaseState::Unknown => Ok(()),
    }
}

fn draft(plan: &Plan) -> Record {
    let profile = ProfileInfo {
        name: plan.profile.name.clone(),
        version: plan.profile.version,
        time_budget_ns: plan.time_budget,
        extra: Default::default(),
    };
    let identity = Identity { id: String::new(), label: None, created: String::new() };
    blank(profile, plan.seed, Conditions::default(), identity)
}

fn open(args: &EngineArgs, spec: &PhaseSpec) -> Result<Box<dyn Target>, Failure> {
    if args.target == "null" {
        let target = NullTarget::new(args.size.unwrap_or(NULL_SIZE));
        return Ok(Box::new(target.map_err(Failure::because("cannot make the null target"))?));
    }
    let existing = Existing { path: Path::new(&args.target), direct: !args.buffered };
    let opened = existing.open(
        &(&args.access).into(),
        spec.writes(),
        &mut Terminal::new(Talk::new(false)),
    )?;
    Ok(opened.target)
}

fn spec(args: &EngineArgs) -> PhaseSpec {
    let default_time = args.ops.is_none() && args.bytes.is_none() && args.precision.is_none();
    PhaseSpec {
        name: "engine".to_owned(),
        role: Role::Measure,
        access: match (args.pattern, args.once) {
            (PatternArg::Sequential, _) => Access::Sequential,
            (PatternArg::Random, false) => Access::Random(Repetition::Allowed),
            (PatternArg::Random, true) => Access::Random(Repetition::EachBlockOnce),
        },
        span: None,
        arrangement: Arrangement {
            caching: match (args.buffered, args.pattern) {
                (false, _) => Caching::Bypassed,
                (true, pattern) => Caching::Through { random: pattern == PatternArg::Random },
            },
            file: FileState::AsIs,
            calls: Calls::Queued,
        },
        read_percent: match args.op {
            OpArg::Read => 100,
            OpArg::Write => 0,
            OpArg::Mixed => args.read_percent,
        },
        block_size: args.block_size,
        alignment_offset: args.alignment_offset,
        queue_depth: args.queue_depth,
        fsync_every: args.fsync_every,
        flush_at_end: false,
        rate_limit: args.rate.map(|rate| Iops(f64::from(rate))),
        ends: Ends {
            time: match args.time {
                Some(time) => TimeLimit::Fixed(time),
                None if default_time => TimeLimit::Fixed(Nanos::from_secs(5)),
                None if args.precision.is_some() => TimeLimit::Fixed(Nanos::from_secs(600)),
                None => TimeLimit::None,
            },
            bytes: args.bytes,
            ops: args.ops,
            precision: args.precision.map(|percent| Precision {
                relative_half_width: f64::from(percent) / 100.0,
                confidence: CONFIDENCE,
                time_min: Nanos::from_millis(500),
                limits: &[],
            }),
            decision: None,
        },
    }
}

fn plan(args: &EngineArgs, spec: PhaseSpec, span: Bytes) -> Plan {
    let profile = Profile {
        name: "engine".to_owned(),
        version: 1,
        purpose: "one phase of any shape".to_owned(),
        source: "the command line".to_owned(),
        span,
        time_budget: Nanos(u64::MAX),
        phases: vec![spec],
        figures: Vec::new(),
        early_ends: Vec::new(),
        notes: Vec::new(),
    };
    Plan { profile, seed: args.seed, span_offset: Bytes::ZERO, span, time_budget: Nanos(u64::MAX) }
}
