//! A simulated card as a [`Target`]: the clockwork, the bytes, and a clock that moves only when
//! somebody waits.
//!
//! A request's end is known when it is submitted; [`complete`](Target::complete) moves the clock
//! to it. No time passes between operations but what the host's `submit_overhead` says, so a
//! run of a minute takes as long as its arithmetic.

use std::collections::VecDeque;

use cardproof_io::{
    Abilities, Completion, Described, Directness, Engine, Fault, Op, OpKind, PowerSwitch, Slot,
    Submission, SubmitError, Target, TargetError, Wait,
};
use cardproof_units::{Bytes, Nanos, Seed};

use crate::check::{ModelError, check};
use crate::contents::{Contents, ShortStore, Shorthand, Store, StoreError};
use crate::fault::{QueueFault, QueueFaults};
use crate::host::Host;
use crate::model::{LOGICAL_BLOCK, Model};
use crate::slots::Slots;
use crate::timing::{Mechanism, Served, WearState};

/// How many requests the host keeps in its own queue before the card's.
const HOST_QUEUE: u16 = 256;

/// Whether a simulated card keeps its bytes.
#[derive(Clone, Copy, Debug)]
pub enum Keeping {
    /// What is read is what was last written.
    Bytes,
    /// As [`Bytes`](Self::Bytes), with the sectors that this recognises kept as numbers, so that
    /// writing GiBs of them takes no memory.
    Short(Shorthand),
    /// Only time is simulated; reads leave the buffer as it is.
    Nothing,
}

/// How worn a simulated card is: the truth that an endurance estimate is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wear {
    /// The erases of all allocation units together.
    pub erases_total: u64,
    /// The erases of the most worn unit.
    pub erases_max: u32,
    /// Units left to stand in for worn ones.
    pub spare_units_left: u32,
    /// Whether the card has turned read-only.
    pub worn_out: bool,
}

/// Access to a target's bytes in which no time passes, for those who break them on purpose.
pub trait Peek {
    /// Copies what lies at `offset` into `into`.
    fn peek(&self, offset: Bytes, into: &mut [u8]);

    /// Puts `from` at `offset`.
    fn poke(&mut self, offset: Bytes, from: &[u8]);
}

/// A target that knows when its next operation will be over, so that somebody with a real clock
/// can wait for that moment.
pub trait Due {
    /// When the next operation in flight will be over, if nothing else comes before.
    fn next_due(&mut self) -> Option<Nanos>;
}

/// A target for somebody with a real clock and a thread of his own.
pub trait PacedTarget: Target + Due + Send {}

impl<T: Target + Due + Send> PacedTarget for T {}

/// A simulated card in a simulated host.
#[derive(Debug)]
pub struct SimulatedTarget {
    abilities: Abilities,
    mechanism: Mechanism,
    contents: Option<Box<dyn Store>>,
    slots: Slots,
    /// Completions not yet handed out, the earliest first.
    pending: VecDeque<Completion>,
    clock: Nanos,
    submit_overhead: Nanos,
    /// Flushes are answered at once, whatever is volatile.
    ignores_flush: bool,
    /// Discards are answered, and cost and save no time.
    ignores_discard: bool,
    queue_faults: Option<QueueFaults>,
    is_off: bool,
}

impl SimulatedTarget {
    /// A new, empty card; `seed` decides every random choice of its model.
    ///
    /// # Errors
    /// [`ModelError`] where the parameters describe no possible card or host.
    pub fn new(
        model: &Model,
        host: &Host,
        seed: Seed,
        keeping: Keeping,
    ) -> Result<Self, ModelError> {
        check(model, host)?;
        let contents: Option<Box<dyn Store>> = match keeping {
            Keeping::Bytes => Some(Box::new(Contents::new(model.capacity.get()))),
            Keeping::Short(shorthand) => Some(Box::new(ShortStore::new(shorthand))),
            Keeping::Nothing => None,
        };
        Ok(Self::with_contents(model, host, seed, contents))
    }

    /// A card whose bytes lie in `store`, with whatever is there already.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_store(
        model: &Model,
        host: &Host,
        seed: Seed,
        store: Box<dyn Store>,
    ) -> Result<Self, ModelError> {
        check(model, host)?;
        Ok(Self::with_contents(model, host, seed, Some(store)))
    }

    fn with_contents(
        model: &Model,
        host: &Host,
        seed: Seed,
        contents: Option<Box<dyn Store>>,
    ) -> Self {
        let abilities = Abilities {
            engine: Engine::Simulated,
            engine_fallback: None,
            size: model.capacity,
            logical_block: LOGICAL_BLOCK,
            directness: Directness::Direct,
            read_only: false,
            written_before: false,
            discard: model.discard.is_some(),
            keeps_data: contents.is_some(),
            queue_depth_max: HOST_QUEUE,
        };
        Self {
            abilities,
            mechanism: Mechanism::new(model, host, seed),
            contents,
            slots: Slots::default(),
            pending: VecDeque::with_capacity(usize::from(HOST_QUEUE)),
            clock: Nanos::ZERO,
            submit_overhead: host.submit_overhead,
            ignores_flush: false,
            ignores_discard: false,
            queue_faults: None,
            is_off: false,
        }
    }

    /// The same card, which answers flushes at once.
    pub(crate) fn ignoring_flushes(self) -> Self {
        Self { ignores_flush: true, ..self }
    }

    /// The same card, whose discards do nothing.
    pub(crate) fn ignoring_discards(self) -> Self {
        Self { ignores_discard: true, ..self }
    }

    /// The same card, whose queue of `queue_depth` requests breaks data.
    pub(crate) fn with_queue_fault(self, fault: QueueFault, queue_depth: u16, seed: Seed) -> Self {
        Self { queue_faults: Some(QueueFaults::new(fault, queue_depth, seed)), ..self }
    }

    /// How worn the card is.
    #[must_use]
    pub fn wear(&self) -> Wear {
        let wear: &WearState = self.mechanism.wear();
        Wear {
            erases_total: wear.erases_total(),
            erases_max: wear.erases_max(),
            spare_units_left: wear.spares_left(),
            worn_out: wear.worn_out(),
        }
    }

    /// Lets the clockwork serve `op` and moves its bytes.
    fn serve(&mut self, op: &Op) -> Served {
        let (now, offset, length) = (self.clock.get(), op.offset.get(), op.length.get());
        let mut served = match op.kind {
            OpKind::Read => self.mechanism.read(now, offset, length),
            OpKind::Write => self.mechanism.write(now, offset, length),
            OpKind::Flush if self.ignores_flush => Served { completed: now, fault: None },
            OpKind::Flush => self.mechanism.flush(now),
            OpKind::Discard if self.ignores_discard => Served { completed: now, fault: None },
            OpKind::Discard => self.mechanism.discard(now, offset, length),
        };
        // A card that keeps no data never took any as numbers.
        let described = match &self.contents {
            Some(_) => self.slots.described[op.slot.index()].take(),
            None => None,
        };
        if served.fault.is_none()
            && let Err(error) = self.move_data(op, described)
        {
            served.fault = Some(error.fault());
            served.completed += error.delay().get();
        }
        served
    }

    /// Moves the data of `op`, as numbers where they are `described` and the place takes that.
    fn move_data(&mut self, op: &Op, described: Option<Described>) -> Result<(), StoreError> {
        if self.contents.is_none() {
            return Ok(());
        }
        let index = op.slot.index();
        self.slots.found[index] = None;
        if let (Some(data), Some(contents)) = (described, &mut self.contents) {
            let (offset, length) = (op.offset.get(), op.length.get());
            match op.kind {
                OpKind::Write if contents.write_numbers(offset, length, data.numbers)? => {
                    return Ok(());
                }
                OpKind::Write => {
                    (data.fill)(data.numbers, &mut self.slots.bytes(op.slot)[..op.length.as_len()]);
                }
                OpKind::Read => {
                    self.slots.found[index] = contents.read_numbers(offset, length)?;
                    if self.slots.found[index].is_some() {
                        return Ok(());
                    }
                }
                OpKind::Flush | OpKind::Discard => {}
            }
        }
        self.move_bytes(op)
    }

    fn move_bytes(&mut self, op: &Op) -> Result<(), StoreError> {
        let Some(contents) = &mut self.contents else { return Ok(()) };
        let offset = op.offset.get();
        if let Some(faults) = &mut self.queue_faults {
            return faults.move_data(op, &mut self.slots, &mut **contents);
        }
        match op.kind {
            OpKind::Read => {
                contents.read(offset, &mut self.slots.bytes(op.slot)[..op.length.as_len()])
            }
            OpKind::Write => {
                contents.write(offset, &self.slots.bytes(op.slot)[..op.length.as_len()])
            }
            OpKind::Flush if self.ignores_flush => Ok(()),
            OpKind::Flush => contents.flush(),
            OpKind::Discard => contents.discard(offset, op.length.get()),
        }
    }

    /// Puts `completion` where its time belongs; those of the same time stay in order.
    fn enqueue(&mut self, completion: Completion) {
        if self.pending.back().is_none_or(|last| last.completed <= completion.completed) {
            self.pending.push_back(completion);
            return;
        }
        let later = self.pending.iter().rev().take_while(|c| c.completed > completion.completed);
        let place = self.pending.len() - later.count();
        self.pending.insert(place, completion);
    }

    /// Hands out what is over by now.
    fn hand_out(&mut self, completions: &mut Vec<Completion>) {
        while let Some(first) = self.pending.front() {
            if first.completed > self.clock {
                return;
            }
            self.slots.land(first.slot);
            if let Some(faults) = &mut self.queue_faults {
                faults.landed(first.slot);
            }
            completions.push(*first);
            self.pending.pop_front();
        }
    }
}

impl Target for SimulatedTarget {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        self.clock
    }

    fn temperature_millicelsius(&mut self) -> Option<i32> {
        self.mechanism.millicelsius(self.clock.get())
    }

    fn power(&mut self) -> Option<&mut dyn PowerSwitch> {
        Some(self)
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        if self.slots.flying() > 0 {
            return Err(TargetError::InFlight(self.slots.flying()));
        }
        self.slots = Slots::new(slots, buffer_size)?;
        Ok(())
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        match self.slots.check_free(slot) {
            Ok(()) => self.slots.bytes(slot),
            Err(_) => &mut [],
        }
    }

    fn describe(&mut self, slot: Slot, data: Described) -> bool {
        // A fault of the queue moves bytes.
        let takes = self.queue_faults.is_none()
            && self.contents.as_ref().is_some_and(|contents| contents.takes_numbers());
        if takes && self.slots.check_free(slot).is_ok() {
            self.slots.described[slot.index()] = Some(data);
        }
        takes
    }

    fn described(&self, slot: Slot) -> Option<[u64; 3]> {
        self.slots.found.get(slot.index()).copied().flatten()
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        self.slots.check_free(op.slot)?;
        self.abilities.check(&op, self.slots.buffer_size())?;
        if self.slots.flying() >= usize::from(self.abilities.queue_depth_max) {
            return Ok(Submission::Busy);
        }
        self.clock += self.submit_overhead;
        let Served { completed, fault } = if self.is_off {
            Served { completed: self.clock.get(), fault: Some(Fault::Vanished) }
        } else {
            self.serve(&op)
        };
        self.slots.take_off(op.slot);
        self.enqueue(Completion {
            slot: op.slot,
            kind: op.kind,
            submitted: self.clock,
            completed: Nanos(completed),
            outcome: fault.map_or(Ok(op.length), Err),
        });
        Ok(Submission::Queued)
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        let next = self.pending.front().map(|first| first.completed);
        let until = match (wait, next) {
            (Wait::No, _) | (Wait::One, None) => self.clock,
            (Wait::One, Some(next)) => next,
            (Wait::Until(deadline), next) => next.map_or(deadline, |next| next.min(deadline)),
        };
        self.clock = self.clock.max(until);
        self.hand_out(completions);
        Ok(())
    }
}

/// On a card that keeps no bytes, or whose place for them fails, everything peeks as zeros and
/// nothing can be poked.
impl Peek for SimulatedTarget {
    fn peek(&self, offset: Bytes, into: &mut [u8]) {
        let found = self.contents.as_ref().map(|contents| contents.read(offset.get(), into));
        if !matches!(found, Some(Ok(()))) {
            into.fill(0);
        }
    }

    fn poke(&mut self, offset: Bytes, from: &[u8]) {
        if let Some(contents) = &mut self.contents {
            let _ = contents.write(offset.get(), from);
        }
    }
}

impl PowerSwitch for SimulatedTarget {
    fn cut(&mut self) {
        if self.is_off {
            return;
        }
        self.is_off = true;
        for completion in &mut self.pending {
            // What is over by now was answered, though nobody has asked yet.
            if completion.completed > self.clock {
                completion.completed = self.clock;
                completion.outcome = Err(Fault::Vanished);
            }
        }
        if let Some(contents) = &mut self.contents {
            contents.cut_power();
        }
    }

    fn restore(&mut self) {
        self.is_off = !self.contents.as_ref().is_none_or(|contents| contents.survives());
    }
}

impl Due for SimulatedTarget {
    fn next_due(&mut self) -> Option<Nanos> {
        self.pending.front().map(|first| first.completed)
    }
}
