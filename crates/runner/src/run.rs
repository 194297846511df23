//! A whole run: phase after phase within the time, the record kept up to date.

mod data;

use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::{Caching, Directness, FileState, Target, Usage};
use cardproof_record::{
    self as record, EndedBy, Estimate, Phase, Record, State, Warning, WarningCause,
};
use cardproof_units::{Iops, Nanos, Throughput, with_causes};
use cardproof_workload::{Access, DataPattern, Generation, OpStream, PhaseSpec, Role};

use crate::account::{self, PhaseRange};
use crate::again::{Again, better};
use crate::events::{Event, Observer, Progress};
use crate::figures::{figures, may_end};
use crate::history::Written;
use crate::meter::{Histograms, Meter};
use crate::monitor::Monitor;
use crate::parts::Parts;
use crate::phase::{PhaseEnd, PhaseLoop};
use crate::plan::{Plan, time_for_first};
use crate::rest::rest_before;
use crate::span_state::SpanState;
use crate::surroundings;

/// Why nothing is written to what is there: there is no leave to destroy it.
const ONLY_READ: &str = "writing would destroy its data";

/// A phase is given at least this, however little of the run's time is left.
const PHASE_MIN: Nanos = Nanos::from_millis(200);

/// An observer is told of progress this often.
const PROGRESS_EVERY: Nanos = Nanos::from_millis(100);

/// Runs `plan` on `target` and completes `draft`, which holds everything but the phases and totals.
///
/// It ends when every phase has had its turn, when `stop` turns true (the record is then
/// [`State::Partial`]), or when the target is done for ([`State::Failed`]). Phases that could not
/// be measured say why.
pub fn run(
    target: &mut dyn Target,
    plan: &Plan,
    draft: Record,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Record {
    run_on(target, plan, draft, observer, stop, &mut SpanState::default())
}

/// The same on a span that earlier runs have left as `span_state` says, and which it leaves so.
pub(crate) fn run_on(
    target: &mut dyn Target,
    plan: &Plan,
    draft: Record,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
    span_state: &mut SpanState,
) -> Record {
    let mut record = draft;
    span_state.begin_run();
    record.state = State::Running;
    let Some(mut histograms) = Histograms::new() else {
        record.state = State::Failed;
        return record;
    };
    let start = target.now();
    let cost_before = target.cost();
    let mut run = Run {
        deadline: start.saturating_add(plan.time_budget),
        target,
        plan,
        stop,
        data: DataPattern::new(plan.seed),
        generation: Generation::default(),
        span_state,
        written: Vec::new(),
        given_up: None,
        decided: None,
    };
    observer.observe(Event::Checkpoint(&record));
    for index in 0..plan.profile.phases.len() {
        let count = plan.profile.phases.len();
        let spec = &plan.profile.phases[index];
        observer.observe(Event::PhaseStarted { index, count, spec });
        let phase = run.phase_at_best(index, &mut histograms, &mut record, observer);
        observer.observe(Event::PhaseFinished { index, phase: &phase });
        let was_interrupted = phase.ended_by == Some(EndedBy::Interrupted);
        let may_end = {
            let name = phase.name.clone();
            record.phases.push(phase);
            record.measured_to_bytes = data::measured_to(&record.phases);
            record.figures = figures(&plan.profile, &record.phases);
            may_end(&plan.profile, &name, &record.figures)
        };
        record.monitor = monitor(cost_before, run.target.cost());
        record.monitor.seen =
            observer.monitor().map(|monitor| surroundings::summary(&record.phases, monitor.cost()));
        if was_interrupted || stop.load(Ordering::Relaxed) {
            record.state = State::Partial;
            break;
        }
        observer.observe(Event::Checkpoint(&record));
        if may_end {
            break;
        }
    }
    record.data_check = run.check_all(&mut record);
    if record.state == State::Running {
        record.state = if run.given_up.is_some() { State::Failed } else { State::Complete };
    }
    observer.observe(Event::Checkpoint(&record));
    record
}

/// What the run has cost between `before` and `now`.
fn monitor(before: Option<Usage>, now: Option<Usage>) -> record::RunCost {
    let (Some(before), Some(now)) = (before, now) else {
        return record::RunCost::default();
    };
    record::RunCost {
        cpu_user_ns: Some(now.cpu_user.saturating_sub(before.cpu_user)),
        cpu_system_ns: Some(now.cpu_system.saturating_sub(before.cpu_system)),
        memory_peak_bytes: Some(now.memory_peak),
        ..record::RunCost::default()
    }
}

struct Run<'a> {
    target: &'a mut dyn Target,
    plan: &'a Plan,
    stop: &'a AtomicBool,
    deadline: Nanos,
    data: DataPattern,
    generation: Generation,
    span_state: &'a mut SpanState,
    /// What the phases have written, in their order.
    written: Vec<Written>,
    /// Why no later phase can work.
    given_up: Option<String>,
    /// Why nothing depends on later phases any more.
    decided: Option<String>,
}

impl Run<'_> {
    /// Runs the phase at `index`, and once more if it was disturbed and there is room.
    fn phase_at_best(
        &mut self,
        index: usize,
        histograms: &mut Histograms,
        record: &mut Record,
        observer: &mut dyn Observer,
    ) -> Phase {
        let first = self.phase(index, None, histograms, record, observer);
        let left = self.deadline.saturating_sub(self.target.now());
        let again = Again::new(self.plan, index, &first, record.bytes_written, left)
            .filter(|_| !self.stop.load(Ordering::Relaxed));
        let Some(again) = again else { return first };
        observer.observe(Event::PhaseRepeated { index, first: &first });
        let second = self.phase(index, Some(&again), histograms, record, observer);
        better(first, second)
    }

    /// Runs the phase at `index`, as a second try if it is one, or says why not.
    fn phase(
        &mut self,
        index: usize,
        again: Option<&Again>,
        histograms: &mut Histograms,
        record: &mut Record,
        observer: &mut dyn Observer,
    ) -> Phase {
        let spec = again.map_or(&self.plan.profile.phases[index], |again| &again.spec);
        let place = PhaseRange {
            span_offset: self.plan.span_offset,
            span: self.span_state.span_for(spec, self.plan.span),
            queue_depth: spec.queue_depth.min(self.target.abilities().queue_depth_max),
        };
        if let Some(cause) = &self.decided {
            return account::spared(spec, place, cause);
        }
        if let Some(cause) = self.hindrance(spec, place) {
            return account::not_begun(spec, place, &cause);
        }
        if spec.arrangement.file != FileState::AsIs {
            self.span_state.empty();
            self.written.clear();
        }
        let directness = match self.target.arrange(spec.arrangement) {
            Ok(directness) => directness,
            Err(error) => return account::not_begun(spec, place, &with_causes(&error)),
        };
        let stream = match OpStream::new(spec, place.span_offset, place.span, self.plan.seed) {
            Ok(stream) => stream,
            Err(error) => return account::not_begun(spec, place, &with_causes(&error)),
        };
        let slots = self.target.slots_for(place.queue_depth);
        if let Err(error) = self.target.prepare(slots, spec.block_size) {
            return account::not_begun(spec, place, &with_causes(&error));
        }
        let time = self.time_for(index, again);
        rest_before(self.target, time);
        // The rest was of the run's time too.
        let time = self.time_for(index, again);
        let cost = self.target.cost();
        if let Some(monitor) = observer.monitor() {
            monitor.begin();
        }
        histograms.clear();
        // From here on everything is the phase's time: a look at the system takes milliseconds.
        let mut meter = Meter::new(histograms, spec, self.target.now());
        let (stream_before, generation_before) = (stream.clone(), self.generation);
        let filesystem = record.conditions.filesystem.as_ref().map(|known| known.kind.clone());
        let parts = Parts::new(spec, directness.is_direct(), filesystem, cost);
        let end = self.measure(spec, time, (place, stream), &mut meter, (record, parts), observer);
        let seen = observer.monitor().and_then(Monitor::end);
        let cost = (cost, self.target.cost());
        record.bytes_read += meter.bytes_read;
        record.bytes_written += meter.bytes_written;
        if let Some(error) = end.error.as_ref().filter(|error| error.is_final()) {
            self.given_up = Some(with_causes(error));
        }
        let mut phase = account::run(spec, place, &mut meter, &end);
        phase.warnings.extend(self.span_warnings(spec, place));
        self.span_state.note(spec, place.span, &end);
        phase.warnings.extend(cache_warning(spec, &directness));
        if let (Some(seen), Some(monitor)) = (&seen, observer.monitor()) {
            let own = meter.own(spec.block_size, directness.is_direct());
            let own_cpu = surroundings::own_cpu(cost.0, cost.1, &seen.whole);
            let surroundings = surroundings::surroundings(seen, own, own_cpu);
            let filesystem = record.conditions.filesystem.as_ref().map(|known| &*known.kind);
            let disturbances = monitor.disturbances(&surroundings, filesystem);
            surroundings::note(&mut phase, surroundings, disturbances);
            let is_disturbed = meter.undisturbed.has_disturbed() || !phase.disturbances.is_empty();
            if is_disturbed && phase.is_measured() {
                phase.undisturbed = meter.undisturbed.estimate();
            }
        }
        self.note_written(spec, stream_before, generation_before, &end);
        if spec.writes() && end.error.is_none() {
            phase.data_check = self.check_phase(record);
        }
        self.decided = verdict(spec, &phase);
        phase
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one phase")]
    fn measure(
        &mut self,
        spec: &PhaseSpec,
        time: Option<Nanos>,
        (place, stream): (PhaseRange, OpStream),
        meter: &mut Meter<'_>,
        (record, mut parts): (&Record, Parts),
        observer: &mut dyn Observer,
    ) -> PhaseEnd {
        let start = meter.start();
        let (run_deadline, bytes_max) = (self.deadline, self.plan.profile.bytes_written_max());
        let written_before = record.bytes_written;
        let mut next_progress = start;
        let mut tick = |now: Nanos, meter: &Meter<'_>, target: &dyn Target| {
            if now >= next_progress {
                next_progress = now + PROGRESS_EVERY;
                let written = written_before + meter.bytes_written;
                observer.observe(Event::Progress(Progress {
                    time_left: run_deadline.saturating_sub(now),
                    bytes_to_write_left: bytes_max.map(|max| max.saturating_sub(written)),
                    ..progress(meter)
                }));
            }
            parts.ended(meter, observer.monitor()?, || target.cost())
        };
        PhaseLoop {
            spec,
            slots: self.target.slots_for(place.queue_depth),
            span_offset: place.span_offset,
            stream,
            data: self.data,
            generation: &mut self.generation,
            meter,
            is_laid_out: self.span_state.is_known(),
            deadline: time.map(|time| start.saturating_add(time)),
            stop: self.stop,
            tick: &mut tick,
            target: self.target,
        }
        .run()
    }

    /// How long the phase at `index`, or a second try of it, may take; `None` where time does not
    /// end it.
    fn time_for(&mut self, index: usize, again: Option<&Again>) -> Option<Nanos> {
        let left = self.deadline.saturating_sub(self.target.now());
        let planned = || time_for_first(self.plan.profile.phases[index..].iter(), left);
        let time = again.map_or_else(planned, |again| Some(again.time));
        time.map(|time| time.max(PHASE_MIN))
    }

    /// Why `spec` cannot begin, if it cannot.
    fn hindrance(&self, spec: &PhaseSpec, place: PhaseRange) -> Option<String> {
        if let Some(cause) = &self.given_up {
            return Some(format!("skipped, because {cause}"));
        }
        if spec.writes() && self.target.abilities().read_only {
            return Some(ONLY_READ.to_owned());
        }
        if self.span_state.is_missing(spec, place.span) {
            return Some("the test file was not written".to_owned());
        }
        None
    }

    /// Doubts about where a phase was run.
    fn span_warnings(&self, spec: &PhaseSpec, place: PhaseRange) -> Vec<Warning> {
        let mut warnings = Vec::new();
        let wanted = spec.span.unwrap_or(self.plan.profile.span);
        if place.span < wanted && spec.role != Role::LayOut {
            warnings.push(WarningCause::RangeReduced {
                span_bytes: place.span,
                wanted_bytes: wanted,
                out_of_time: place.span < spec.span_within(self.plan.span),
            });
        }
        if self.target.abilities().read_only {
            if !self.target.abilities().written_before {
                warnings.push(WarningCause::ReadOnlyTarget);
            }
        } else if self.span_state.is_unwritten(spec, place.span) {
            warnings.push(WarningCause::NeverWritten);
        }
        warnings.into_iter().map(Warning::from).collect()
    }
}

/// That a phase went through the page cache, which no class limit is meant for.
fn cache_warning(spec: &PhaseSpec, directness: &Directness) -> Option<Warning> {
    match (spec.arrangement.caching, directness) {
        (Caching::Through { .. }, Directness::Buffered { .. }) => {
            Some(WarningCause::CachedAsOriginal.into())
        }
        // The kernel gathers small writes into large requests and answers before they are made.
        (Caching::Through { .. }, Directness::Direct) => Some(WarningCause::CacheMissing.into()),
        (Caching::Bypassed, _) => None,
    }
}

/// Why nothing depends on later phases, if `phase` has decided the run. What a disturbed phase has
/// decided is not decided, but for what its undisturbed parts show alone.
fn verdict(spec: &PhaseSpec, phase: &Phase) -> Option<String> {
    let decision = spec.ends.decision.filter(|decision| decision.a_miss_ends_the_run)?;
    let is_sound = phase.disturbances.is_empty();
    let whole = phase.anytime_iops.filter(|_| is_sound);
    let parts = phase.undisturbed.map(|parts| parts.iops);
    let is_missed = |rate: Estimate<Iops>| rate.high < decision.limit;
    let is_decided = phase.is_measured() && whole.into_iter().chain(parts).any(is_missed);
    is_decided.then(|| {
        let limit = Throughput(decision.limit.0 * spec.block_size.as_f64());
        match spec.access {
            Access::Sequential => {
                format!("skipped, because {} failed the limit of {limit}", spec.name)
            }
            Access::Random(_) => {
                format!("skipped, because {} failed the limit of {}", spec.name, decision.limit)
            }
        }
    })
}

/// What the meter shows, but for what only the run knows.
fn progress(meter: &Meter<'_>) -> Progress {
    let (recent, time) = meter.recent();
    Progress {
        iops: Iops::from_ops(recent.ops, time).unwrap_or_default(),
        throughput: Throughput::from_bytes(recent.bytes, time).unwrap_or_default(),
        latency_max: recent.latency_max,
        time_left: Nanos::ZERO,
        bytes_to_write_left: None,
    }
}
