//! `cardproof run`: from the command line to a verdict, a saved record and a report.

use std::path::Path;

use cardproof_io::Abilities;
use cardproof_record::{
    Conditions, PhaseState, ProfileInfo, Record, State, TargetInfo, TargetKind, Tool,
};
use cardproof_runner::{Event, Observer, Plan, Repeat};
use cardproof_units::{Bytes, Seed};
use cardproof_workload::Profile;

use crate::args::RunArgs;
use crate::chosen;
use crate::databases;
use crate::exit::{Exit, Failure};
use crate::jobs;
use crate::monitor::Beside;
use crate::progress::ProgressView;
use crate::result::{self, Requirement};
use crate::signals::Signals;
use crate::store::Store;
use crate::talk::Talk;
use crate::target::{self, Opened};

/// So many rounds SNIA's test gives a drive to reach steady state.
const STEADY_RUNS_MAX: u32 = 25;

/// How often to run it.
fn repeat(args: &RunArgs) -> Repeat {
    let runs = match args.repeat {
        Some(runs) => runs,
        None if args.until_steady => STEADY_RUNS_MAX,
        None => Repeat::ONCE.runs,
    };
    Repeat { runs, until_steady: args.until_steady }
}

/// Measures what `args` name.
pub(crate) fn run(args: &RunArgs, signals: &Signals) -> Result<Exit, Failure> {
    if let Some(job) = cardproof_workload::jobs::find(&args.profile) {
        return jobs::run(args, job, signals);
    }
    if args.profile == databases::NAME {
        return databases::run(args, signals);
    }
    let talk = Talk::new(args.quiet);
    let profile = chosen::profile(args)?;
    let requirements = Requirement::parse_all(&args.require)?;
    result::check_outputs(&args.output)?;
    let seed = match args.seed {
        Some(seed) => seed,
        None => Seed::from_bits(random_bits()?),
    };
    let mut opened = target::open_named(&args.into(), profile.span, seed, &talk)?;
    let store = Store::open()?;
    let profile = chosen::for_host(profile, args, &opened.surroundings.device, talk);
    let plan = plan(args, profile, seed, opened.span);
    let (id, created) = name_and_time(args, &plan)?;
    let draft = draft(&plan, conditions(&opened), id, created);
    talk.note(&subject(&args.target, &draft));
    let repeat = repeat(args);
    announce(&plan, repeat.runs, &opened, talk);
    plan.profile.notes.iter().for_each(|note| talk.note(note));
    let view = ProgressView::new(talk, plan.time_budget * u64::from(repeat.runs));
    let is_real = opened.kind != TargetKind::Simulated;
    let beside = is_real.then(|| Beside::start(draft.conditions.device.name.as_deref())).flatten();
    let mut watcher = Watcher { view, store: &store, beside, failure: None };
    let record = cardproof_runner::run_repeatedly(
        &mut *opened.target,
        &plan,
        repeat,
        draft,
        &mut watcher,
        signals.stop(),
    );
    watcher.view.finish();
    let unsaved = watcher.failure;
    clean_up(opened, talk);
    if let Some(failure) = unsaved {
        // What was measured is not lost with the record.
        result::show(&record, &cardproof_rating::judge(&record), &args.output, talk)?;
        return Err(failure);
    }
    result::publish(&record, &store, &args.output, talk)?;
    Ok(exit_of(&record, signals, &requirements))
}

/// What is run: the profile's phases in the span that there is. A span that the user named is as
/// it should be for the run; the verdicts know what it means.
fn plan(args: &RunArgs, profile: Profile, seed: Seed, span: Bytes) -> Plan {
    let wanted = profile.span;
    let mut profile = profile.with_span(span);
    // Phases tell of a span that is smaller than the profile's own.
    profile.span = wanted;
    Plan {
        seed,
        span_offset: Bytes::ZERO,
        span,
        time_budget: args.time_budget.unwrap_or(profile.time_budget),
        profile,
    }
}

/// What is measured, so that nobody waits a minute for the wrong storage.
fn subject(path: &Path, draft: &Record) -> String {
    let whole = path.canonicalize();
    let name = whole.as_deref().unwrap_or(path).display();
    format!("Measuring {name}: {}.", cardproof_report::title(draft))
}

/// Says what will be written before the first write.
fn announce(plan: &Plan, runs: u32, opened: &Opened, talk: Talk) {
    let abilities = opened.target.abilities();
    if abilities.read_only || opened.kind == TargetKind::Simulated {
        return;
    }
    let runs = u64::from(runs);
    let takes = if plan.profile.is_bounded_by_time() {
        format!("Takes about {} or less", plan.time_budget * runs)
    } else {
        "Takes as long as the storage needs".to_owned()
    };
    let Some(of_one_run) = plan.profile.bytes_written_max() else {
        return talk.note(&format!(
            "{takes}; writes to {} as much and as often as that time allows.",
            plan.span
        ));
    };
    let most = Bytes(of_one_run.get().saturating_mul(runs));
    match opened.scratch {
        Some(_) => talk.note(&format!(
            "{takes}; writes at most {most} to a file of {} that is removed \
             afterwards.",
            plan.span
        )),
        None => {
            let share = 100.0 * plan.span.as_f64() / abilities.size.as_f64();
            let wear = 100.0 * most.as_f64() / abilities.size.as_f64();
            talk.note(&format!(
                "{takes}; OVERWRITES the first {} ({share:.1} % of the device) \
                 with at most {most} in all, as much wear as filling {wear:.1} % of it once.",
                plan.span
            ));
        }
    }
}

/// What the record is called and when the run began. A simulated run begins at the start of its own
/// clock, so that the same seed gives the same record to the last byte.
fn name_and_time(args: &RunArgs, plan: &Plan) -> Result<(String, String), Failure> {
    if let Some(card) = target::simulated_name(&args.target) {
        let runs = repeat(args).runs;
        let times = if runs > 1 { format!("-x{runs}") } else { String::new() };
        let id = format!("sim-{card}-{}-{}{times}", plan.profile.name, plan.seed);
        return Ok((id, "1970-01-01T00:00:00Z".to_owned()));
    }
    fresh_name()
}

/// A name that no other run has, and the hour.
pub(crate) fn fresh_name() -> Result<(String, String), Failure> {
    let now = jiff::Timestamp::now();
    let id = format!("{}-{:08x}", now.strftime("%Y%m%dT%H%M%SZ"), random_bits()? as u32);
    Ok((id, now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()))
}

/// Everything of the record that is known before the run.
pub(crate) fn draft(plan: &Plan, conditions: Conditions, id: String, created: String) -> Record {
    let profile = ProfileInfo {
        name: plan.profile.name.clone(),
        version: plan.profile.version,
        time_budget_ns: plan.time_budget,
        extra: Default::default(),
    };
    blank(profile, plan.seed, conditions, id, created)
}

/// A record in which nothing was run yet.
pub(crate) fn blank(
    profile: ProfileInfo,
    seed: Seed,
    conditions: Conditions,
    id: String,
    created: String,
) -> Record {
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let tool = Tool { name: "cardproof".to_owned(), version };
    Record { seed, conditions, ..Record::begun(id, created, tool, profile) }
}

/// The surroundings of what was opened.
pub(crate) fn conditions(opened: &Opened) -> Conditions {
    let Abilities { engine, engine_fallback, size, logical_block, directness, read_only, .. } =
        opened.target.abilities();
    let surroundings = opened.surroundings.clone();
    Conditions {
        target: TargetInfo {
            kind: opened.kind,
            size_bytes: *size,
            logical_block_bytes: *logical_block,
            engine: engine.name().to_owned(),
            engine_fallback: engine_fallback.clone(),
            direct: directness.is_direct(),
            buffered_reason: match directness {
                cardproof_io::Directness::Direct => None,
                cardproof_io::Directness::Buffered { reason } => Some(reason.clone()),
            },
            read_only: *read_only,
            extra: Default::default(),
        },
        device: surroundings.device,
        host: surroundings.host,
        filesystem: surroundings.filesystem,
        settings: surroundings.settings,
        unknown: surroundings.unknown,
        extra: Default::default(),
    }
}

/// 64 bits from the kernel's random source.
pub(crate) fn random_bits() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(Failure::because("the kernel gives no random numbers"))?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Shows progress and saves the record whenever it has grown.
struct Watcher<'a> {
    view: ProgressView,
    store: &'a Store,
    /// Looks at the system, where the run has to do with it.
    beside: Option<Beside>,
    failure: Option<Failure>,
}

impl Observer for Watcher<'_> {
    fn observe(&mut self, event: Event<'_>) {
        match event {
            Event::PhaseStarted { index, count, spec } => {
                self.view.phase_started(index, count, spec);
            }
            Event::Progress(progress) => self.view.progress(&progress),
            Event::PhaseRepeated { first, .. } => self.view.phase_repeated(first),
            Event::PhaseFinished { phase, .. } => self.view.phase_finished(phase),
            // A later save may work again; the last one decides.
            Event::Checkpoint(record) => self.failure = self.store.save(record).err(),
        }
    }

    fn monitor(&mut self) -> Option<&mut dyn cardproof_runner::Monitor> {
        let beside = self.beside.as_mut()?;
        Some(beside)
    }
}

/// Closes the target and removes our directory.
pub(crate) fn clean_up(opened: Opened, talk: Talk) {
    drop(opened.target);
    if let Some(Err(left)) = opened.scratch.map(cardproof_io::scratch::Scratch::remove) {
        talk.note(&left.to_string());
    }
}

/// How a run that has a record ends.
fn exit_of(record: &Record, signals: &Signals, requirements: &[Requirement]) -> Exit {
    let has_failed = record.state == State::Failed
        || record.phases.iter().any(|phase| {
            let not_measured = matches!(phase.state, PhaseState::NotMeasured { .. });
            // A read-only target is not written to; that is no failure, nor is a phase that was
            // not needed any more.
            not_measured
                && !phase.was_spared()
                && !(record.conditions.target.read_only && phase.read_percent < 100)
        });
    match signals.exit() {
        Some(exit) if record.state == State::Partial => exit,
        _ if has_failed => Exit::Incomplete,
        _ if Requirement::all_met(requirements, record) => Exit::Done,
        _ => Exit::NotMet,
    }
}
