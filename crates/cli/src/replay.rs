//! `cardproof replay`: a recorded job done again on a storage.
//!
//! The same safety as for a run: a directory gets a file of our own, a device is written to only
//! with leave to destroy.

mod args;

use std::path::Path;

use cardproof_io::Usage;
use cardproof_record::{Job, Monitor, PhaseState, ProfileInfo, Record, Replay, State, TargetKind};
use cardproof_runner::{ReplayPlan, ReplayProgress, Watcher};
use cardproof_sim::Keeping;
use cardproof_units::{Bytes, Nanos, Seed};
use cardproof_workload::trace::{REGION, Reach, Shape, TraceReader};

use crate::exit::{Exit, Failure};
use crate::monitor::Beside;
use crate::output::{self, Sink};
use crate::result;
use crate::run::{blank, clean_up, conditions, fresh_name, random_bits};
use crate::signals::Signals;
use crate::store::Store;
use crate::talk::{self, Talk};
use crate::target::{self, Opened, Wanted};
use crate::traces;

pub(crate) use args::ReplayArgs;

/// Replays what `args` name.
pub(crate) fn run(args: &ReplayArgs, signals: &Signals) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet);
    result::check_outputs(&args.output)?;
    let bytes = traces::load(&args.trace)?;
    let trace = TraceReader::new(&bytes).map_err(|error| traces::broken(&args.trace, &error))?;
    let reach =
        Reach::of(&trace).map_err(|error| Failure::usage(format!("{}: {error}", args.trace)))?;
    let seed = match args.seed {
        Some(seed) => seed,
        None => Seed::from_bits(random_bits()?),
    };
    let mut opened = open(args, &reach, seed, talk)?;
    let store = Store::open()?;
    let plan = ReplayPlan {
        think_factor: args.think.0,
        queue_depth: args.queue_depth,
        span: opened.span,
        seed,
        lay_out: opened.scratch.is_some(),
    };
    let (id, created) = name_and_time(&args.target, trace.header().name.as_str(), seed)?;
    let profile = ProfileInfo {
        name: "replay".to_owned(),
        version: 1,
        time_budget_ns: Nanos::ZERO,
        extra: Default::default(),
    };
    let draft = blank(profile, seed, conditions(&opened), id, created);
    announce(args, &trace, &draft, &opened, talk);
    let cost_before = opened.target.cost();
    let mut teller = Teller { talk, told_percent: 0 };
    let is_real = opened.kind != TargetKind::Simulated;
    let mut watch =
        is_real.then(|| Beside::start(draft.conditions.device.name.as_deref())).flatten();
    let filesystem = draft.conditions.filesystem.as_ref().map(|known| &*known.kind);
    let beside = watch.as_mut().map(|monitor| Watcher { monitor, filesystem });
    let replay = cardproof_runner::replay(
        &mut *opened.target,
        &trace,
        &plan,
        &mut |progress| teller.tell(progress),
        signals.stop(),
        beside,
    );
    drop(watch);
    let monitor = cost(cost_before, opened.target.cost());
    clean_up(opened, talk);
    let record = Record { monitor, ..filled(draft, replay) };
    store.save(&record)?;
    show(args, &record, talk)?;
    talk.note(&format!("\nRecord: {}", store.record_path(&record.id).display()));
    Ok(exit_of(&record, signals))
}

/// Opens the target, or refuses: what a trace writes is written.
fn open(args: &ReplayArgs, reach: &Reach, seed: Seed, talk: Talk) -> Result<Opened, Failure> {
    // A file of ours has no room to waste; a device has its size.
    let span = if args.target.is_dir() {
        reach.packed()
    } else {
        // No device is so large that the last region would not end.
        let end = reach.end.get().checked_next_multiple_of(REGION.get());
        Bytes(end.unwrap_or(u64::MAX))
    };
    let wanted = Wanted {
        target: &args.target,
        size: args.size,
        access: &args.access,
        expect_device: None,
        // Nobody reads the bytes again.
        keeping: Keeping::Nothing,
    };
    if reach.writes
        && args.access.destroy.is_none()
        && target::simulated_name(&args.target).is_none()
        && !args.target.is_dir()
        && args.target.exists()
    {
        return Err(Failure::refused(format!(
            "the job in {} writes, and replaying it on {} would destroy its data; name a directory \
             on it instead, or add --destroy if that is what you want",
            args.trace,
            args.target.display()
        )));
    }
    target::open_named(&wanted, span, seed, &talk)
}

/// What the record is called and when the replay began; a simulated one begins at the start of its
/// own clock, so that the same seed gives the same record.
fn name_and_time(target: &Path, trace: &str, seed: Seed) -> Result<(String, String), Failure> {
    if let Some(card) = target::simulated_name(target) {
        let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "-_.".contains(*letter);
        let trace: String = trace.chars().filter(is_plain).take(60).collect();
        let id = format!("sim-{card}-replay-{trace}-{seed}");
        return Ok((id, "1970-01-01T00:00:00Z".to_owned()));
    }
    fresh_name()
}

/// Says what will be done, and written, before the first write.
fn announce(
    args: &ReplayArgs,
    trace: &TraceReader<'_>,
    draft: &Record,
    opened: &Opened,
    talk: Talk,
) {
    let mut shape = Shape::new();
    // An unsound request ends the replay later, with its place.
    trace.restarted().map_while(Result::ok).for_each(|request| shape.add(&request));
    let title = cardproof_report::title(draft);
    talk.note(&format!("Replaying {} on {title}.", trace.header().name));
    if opened.kind == TargetKind::Simulated || shape.bytes_written == Bytes::ZERO {
        return;
    }
    let written = shape.bytes_written;
    match opened.scratch {
        Some(_) => talk.note(&format!(
            "Writes {} once to lay out a file that is removed afterwards, then {written} as the \
             job did.",
            opened.span
        )),
        None => talk.note(&format!(
            "OVERWRITES {} with {written} within its first {}.",
            args.target.display(),
            opened.span
        )),
    }
}

/// What the replay has cost between `before` and `now`; nothing of a simulated one.
fn cost(before: Option<Usage>, now: Option<Usage>) -> Monitor {
    let (Some(before), Some(now)) = (before, now) else { return Monitor::default() };
    Monitor {
        cpu_user_ns: Some(now.cpu_user.saturating_sub(before.cpu_user)),
        cpu_system_ns: Some(now.cpu_system.saturating_sub(before.cpu_system)),
        memory_peak_bytes: Some(now.memory_peak),
        ..Monitor::default()
    }
}

/// `record` with the replay in it. Only a whole job that thought as it was recorded is a job's
/// time.
fn filled(mut record: Record, replay: Replay) -> Record {
    let moved = |requests: &Option<cardproof_record::ReplayedRequests>| {
        requests.as_ref().map_or(Bytes::ZERO, |requests| requests.bytes)
    };
    record.bytes_read = moved(&replay.reads);
    record.bytes_written = moved(&replay.writes);
    record.state = match replay.state {
        PhaseState::Measured => State::Complete,
        PhaseState::Partial => State::Partial,
        PhaseState::NotMeasured { .. } => State::Failed,
    };
    if replay.state == PhaseState::Measured && (replay.think_factor - 1.0).abs() < 1e-9 {
        let name = format!("replay-{}", replay.trace);
        record.jobs.push(Job { name, duration_ns: replay.duration_ns });
    }
    record.replays.push(replay);
    record
}

fn show(args: &ReplayArgs, record: &Record, talk: Talk) -> Result<(), Failure> {
    let verdicts = cardproof_rating::judge(record);
    if result::write_outputs(record, &verdicts, &args.output)? || talk.is_quiet() {
        return Ok(());
    }
    let mut text = "\n".to_owned();
    let width = usize::from(talk::width());
    for line in record.replays.iter().flat_map(cardproof_report::replay_lines) {
        // The first says what was replayed; the others are about it.
        let indent = if text.len() > 1 { "  " } else { "" };
        cardproof_report::wrap_into(&mut text, indent, &line, "    ", width);
    }
    output::write(&Sink::Stdout, &text)
}

fn exit_of(record: &Record, signals: &Signals) -> Exit {
    match (&record.state, signals.exit()) {
        (State::Partial, Some(exit)) => exit,
        (State::Complete, _) => Exit::Done,
        _ => Exit::Incomplete,
    }
}

/// Tells every tenth of the way.
struct Teller {
    talk: Talk,
    told_percent: u64,
}

impl Teller {
    fn tell(&mut self, progress: ReplayProgress) {
        let (done, all, what) = match progress.laid_out {
            Some((done, all)) => (done.get(), all.get(), "laid out"),
            None => (progress.requests, progress.requests_of, "replayed"),
        };
        let percent = u64::try_from(u128::from(done) * 100 / u128::from(all.max(1))).unwrap_or(0);
        if percent / 10 != self.told_percent / 10 {
            self.told_percent = percent;
            if percent > 0 {
                self.talk.note(&format!("  {percent} % {what}"));
            }
        }
    }
}
