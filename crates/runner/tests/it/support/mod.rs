//! A target in memory on a clock of its own, and runs on it.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use cardproof_io::faulty::{Failure, FaultyTarget};
use cardproof_io::{
    Abilities, Completion, Directness, Engine, Op, OpKind, Slot, Submission, SubmitError, Target,
    TargetError, Usage, Wait,
};
use cardproof_record::{Phase, PhaseState, ProfileInfo, Record, Tool};
use cardproof_runner::{Observer, Plan, Silent, run};
use cardproof_units::{Bytes, Nanos, Seed};
use cardproof_workload::{Profile, standard};

/// Storage in memory: every operation takes a millisecond of a clock that only operations move.
pub(crate) struct Memory {
    abilities: Abilities,
    contents: Vec<u8>,
    buffers: Vec<Vec<u8>>,
    clock: Nanos,
    service: Nanos,
    /// How long it stops after every 2000 operations.
    pause: Nanos,
    /// From which operation on it serves otherwise, and how.
    later: Option<(u64, Nanos)>,
    operations: u64,
    queued: Vec<(Op, Nanos)>,
    /// Time that passes outside of operations.
    elsewhere: Rc<Cell<Nanos>>,
    /// Its clock, for others to read.
    shown: Rc<Cell<Nanos>>,
    /// How much longer an operation takes at a time, since others use it as well.
    beside_others: fn(Nanos) -> Nanos,
    cost: Option<Usage>,
}

/// Its clock at first.
pub(crate) const START: Nanos = Nanos::from_secs(1000);

impl Memory {
    pub(crate) fn new(size: Bytes) -> Self {
        Self {
            abilities: Abilities {
                engine: Engine::Simulated,
                engine_fallback: None,
                size,
                logical_block: Bytes(512),
                directness: Directness::Direct,
                read_only: false,
                written_before: false,
                discard: false,
                keeps_data: true,
                queue_depth_max: 64,
            },
            contents: vec![0; size.as_len()],
            buffers: Vec::new(),
            clock: START,
            service: Nanos::from_millis(1),
            pause: Nanos::ZERO,
            later: None,
            operations: 0,
            queued: Vec::new(),
            elsewhere: Rc::default(),
            shown: Rc::new(Cell::new(START)),
            beside_others: |_| Nanos::ZERO,
            cost: None,
        }
    }

    pub(crate) fn read_only(mut self) -> Self {
        self.abilities.read_only = true;
        self
    }

    pub(crate) fn with_service(mut self, service: Nanos) -> Self {
        self.service = service;
        self
    }

    pub(crate) fn with_pause(mut self, pause: Nanos) -> Self {
        self.pause = pause;
        self
    }

    /// Whose operations take longer at times, by what `beside_others` says of the time since its start.
    pub(crate) fn beside(mut self, beside_others: fn(Nanos) -> Nanos) -> Self {
        self.beside_others = beside_others;
        self
    }

    /// Its clock.
    pub(crate) fn clock(&self) -> Rc<Cell<Nanos>> {
        Rc::clone(&self.shown)
    }

    pub(crate) fn slow_down_after(&mut self, operations: u64, service: Nanos) {
        self.later = Some((operations, service));
    }

    /// On a computer, whose time driving it costs.
    pub(crate) fn on_a_computer(mut self) -> Self {
        self.cost = Some(Usage::default());
        self
    }

    /// Where somebody else may spend time on its clock.
    pub(crate) fn elsewhere(&self) -> Rc<Cell<Nanos>> {
        Rc::clone(&self.elsewhere)
    }

    pub(crate) fn with_depth(mut self, depth: u16) -> Self {
        self.abilities.queue_depth_max = depth;
        self
    }

    fn perform(&mut self, op: &Op) -> Bytes {
        let range = op.offset.as_len()..(op.offset + op.length).as_len();
        let buffer = &mut self.buffers[op.slot.index()];
        match op.kind {
            OpKind::Read => buffer[..op.length.as_len()].copy_from_slice(&self.contents[range]),
            OpKind::Write => self.contents[range].copy_from_slice(&buffer[..op.length.as_len()]),
            OpKind::Flush | OpKind::Discard => {}
        }
        op.length
    }
}

impl Target for Memory {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        self.clock += self.elsewhere.take();
        self.clock
    }

    fn cost(&self) -> Option<Usage> {
        self.cost
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        if !self.queued.is_empty() {
            return Err(TargetError::InFlight(self.queued.len()));
        }
        self.buffers = vec![vec![0; buffer_size.as_len()]; usize::from(slots)];
        Ok(())
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        if self.queued.iter().any(|(op, _)| op.slot == slot) {
            return &mut [];
        }
        self.buffers.get_mut(slot.index()).map_or(&mut [], Vec::as_mut_slice)
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        let buffer_size = Bytes(self.buffers.first().map_or(0, |buffer| buffer.len() as u64));
        if op.slot.index() >= self.buffers.len() {
            return Err(SubmitError::NoSuchSlot(op.slot.0));
        }
        if self.queued.iter().any(|(queued, _)| queued.slot == op.slot) {
            return Err(SubmitError::SlotInFlight(op.slot.0));
        }
        self.abilities.check(&op, buffer_size)?;
        self.queued.push((op, self.clock));
        Ok(Submission::Queued)
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let is_paused = self.operations % 2000 == 1999;
        let pause = if is_paused { self.pause } else { Nanos::ZERO };
        let later = self.later.filter(|&(from, _)| self.operations >= from);
        let beside_others = (self.beside_others)(self.clock.saturating_sub(START));
        let service = later.map_or(self.service, |(_, service)| service) + beside_others;
        let due = self.clock + service + pause;
        match wait {
            Wait::Until(deadline) if self.queued.is_empty() || deadline < due => {
                self.clock = self.clock.max(deadline);
            }
            _ if self.queued.is_empty() => {}
            _ => {
                self.clock = due;
                self.operations += 1;
                let (op, submitted) = self.queued.remove(0);
                let outcome = Ok(self.perform(&op));
                let Op { slot, kind, .. } = op;
                let completed = self.clock;
                completions.push(Completion { slot, kind, submitted, completed, outcome });
            }
        }
        self.shown.set(self.clock);
        Ok(())
    }
}

/// A plan of `profile` over all of `size` in its own time.
pub(crate) fn plan(profile: Profile, size: Bytes) -> Plan {
    let time_budget = profile.time_budget;
    let profile = profile.with_span(size);
    Plan { profile, seed: Seed::from_bits(7), span_offset: Bytes::ZERO, span: size, time_budget }
}

/// A record without a phase.
pub(crate) fn draft(plan: &Plan) -> Record {
    let tool = Tool { name: "cardproof".to_owned(), version: "test".to_owned() };
    let profile = ProfileInfo {
        name: plan.profile.name.to_owned(),
        version: plan.profile.version,
        time_budget_ns: plan.time_budget,
        extra: Default::default(),
    };
    let begun = Record::begun("test".to_owned(), "2026-01-01T00:00:00Z".to_owned(), tool, profile);
    Record { seed: plan.seed, ..begun }
}

/// Runs `plan` on `target` with `observer` until `stop`.
pub(crate) fn run_plan(
    target: &mut dyn Target,
    plan: &Plan,
    observer: &mut dyn Observer,
    stop: &AtomicBool,
) -> Record {
    run(target, plan, draft(plan), observer, stop)
}

/// The `standard` profile over all of `memory`, with `failures`.
pub(crate) fn run_standard(memory: Memory, failures: Vec<Failure>) -> Record {
    let plan = plan(standard::profile(), memory.abilities.size);
    let mut target = FaultyTarget::new(memory, failures);
    run_plan(&mut target, &plan, &mut Silent, &AtomicBool::new(false))
}

/// The phase called `name`.
pub(crate) fn phase<'r>(record: &'r Record, name: &str) -> &'r Phase {
    record.phases.iter().find(|phase| phase.name == name).expect("the phase was run")
}

/// The phases that were not measured, and why.
pub(crate) fn causes(record: &Record) -> Vec<(&str, &str)> {
    record
        .phases
        .iter()
        .filter_map(|phase| match &phase.state {
            PhaseState::NotMeasured { cause } => Some((&*phase.name, &**cause)),
            PhaseState::Measured | PhaseState::Partial | PhaseState::Unknown => None,
        })
        .collect()
}
