//! A device of the family as a [`Target`] on a clock of its own.

use std::collections::VecDeque;

use cardproof_io::{
    Abilities, Completion, Described, Directness, Engine, Fault, Op, OpKind, Slot, Submission,
    SubmitError, Target, TargetError, Wait,
};
use cardproof_units::{Bytes, Nanos};

use super::SECTOR;
use super::cells::{Cells, Data, Numbering};
use super::flaws::{Effect, Flaws};
use super::layout::Layout;
use super::reducing::Reducing;
use super::slots::Slots;
use super::specimen::Specimen;
use super::store::{Store, Takes};
use super::void::{Found, Void};

/// The most requests at the device at a time.
const QUEUE: u16 = 32;

/// How fast a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pace {
    /// For each request.
    pub(crate) request: Nanos,
    /// For each sector read.
    pub(crate) read_sector: Nanos,
    /// For each sector written.
    pub(crate) write_sector: Nanos,
    /// So many bytes are written at eight times the speed before that, as into a cache.
    pub(crate) burst_bytes: u64,
}

/// Which requests beyond the cells fail.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Refuses {
    pub(crate) reads: bool,
    pub(crate) writes: bool,
}

/// A device of the family.
#[derive(Clone, Debug)]
pub(crate) struct Device {
    abilities: Abilities,
    numbering: Numbering,
    layout: Layout,
    void: Void,
    refuses: Refuses,
    never_written: u8,
    cells: Cells,
    /// The hidden store, and what it keeps by address.
    store: Option<(Store, Cells)>,
    reducing: Option<Reducing>,
    flaws: Flaws,
    pace: Pace,
    slots: Slots,
    pending: VecDeque<Completion>,
    clock: Nanos,
    busy_until: Nanos,
    readings: u64,
    written_bytes: u64,
    /// Sectors and data of the first run of the last write.
    last_written: (u64, Data),
}

impl Device {
    pub(super) fn new(specimen: &Specimen, seed: u64, numbering: Numbering) -> Self {
        let abilities = Abilities {
            engine: Engine::Simulated,
            engine_fallback: None,
            size: Bytes(specimen.announced * SECTOR),
            logical_block: specimen.logical_block,
            directness: Directness::Direct,
            read_only: specimen.read_only,
            written_before: false,
            discard: false,
            keeps_data: true,
            queue_depth_max: QUEUE,
        };
        let store = specimen.store.map(|spec| (Store::new(spec, seed), Cells::new(numbering)));
        Self {
            abilities,
            numbering,
            layout: specimen.layout.clone(),
            void: specimen.void,
            refuses: specimen.refuses,
            never_written: specimen.never_written,
            cells: Cells::new(numbering),
            store,
            reducing: specimen.reducing.map(|(saves, budget)| Reducing::new(saves, budget)),
            flaws: Flaws::new(specimen.flaws.clone(), seed),
            pace: specimen.pace,
            slots: Slots::default(),
            pending: VecDeque::new(),
            clock: Nanos::ZERO,
            busy_until: Nanos::ZERO,
            readings: 0,
            written_bytes: 0,
            last_written: (0, Data::Same(0)),
        }
    }

    /// Does `op`; how long it takes, and how it ends.
    fn serve(&mut self, op: &Op) -> (Nanos, Result<Bytes, Fault>) {
        let described = self.slots.take_described(op.slot);
        self.slots.set_found(op.slot, None);
        let (first, sectors) = (op.offset.get() / SECTOR, op.length.get() / SECTOR);
        if op.kind == OpKind::Flush {
            return (self.pace.request, Ok(Bytes::ZERO));
        }
        let effect = self.flaws.meet(op.kind, first, sectors);
        let takes = self.pace.request + effect.takes + self.transfer(op.kind, sectors);
        let outcome = match effect.fault {
            Some(fault) => Err(fault),
            None if op.kind == OpKind::Write => {
                self.write(op.slot, first, sectors, described, &effect)
            }
            None => self.read(op.slot, first, sectors, described, &effect),
        };
        (takes, outcome.map(|()| op.length))
    }

    fn transfer(&mut self, kind: OpKind, sectors: u64) -> Nanos {
        if kind == OpKind::Read {
            return self.pace.read_sector * sectors;
        }
        self.written_bytes += sectors * SECTOR;
        let time = self.pace.write_sector * sectors;
        if self.written_bytes <= self.pace.burst_bytes { Nanos(time.get() / 8) } else { time }
    }

    fn write(
        &mut self,
        slot: Slot,
        first: u64,
        sectors: u64,
        described: Option<Described>,
        effect: &Effect,
    ) -> Result<(), Fault> {
        if let Some(reducing) = &mut self.reducing {
            reducing.write(first, &self.slots.bytes(slot)[..(sectors * SECTOR) as usize]);
            return Ok(());
        }
        let runs = match described {
            Some(described) => vec![(sectors, Data::Numbers(described.numbers))],
            None => self.numbering.runs(&self.slots.bytes(slot)[..(sectors * SECTOR) as usize]),
        };
        let mut at = first;
        for (length, data) in &runs {
            self.put_unskipped(at, *length, data, effect)?;
            at += length;
        }
        if let Some(run) = runs.into_iter().next() {
            self.last_written = run;
        }
        Ok(())
    }

    /// Writes what a flaw does not leave out.
    fn put_unskipped(
        &mut self,
        first: u64,
        sectors: u64,
        data: &Data,
        effect: &Effect,
    ) -> Result<(), Fault> {
        let end = first + sectors;
        let mut at = first;
        for &(skipped, length) in &effect.skipped {
            let until = skipped.clamp(at, end);
            self.put(at, until - at, &data.after(at - first, self.numbering))?;
            at = at.max((skipped + length).min(end));
        }
        self.put(at, end - at, &data.after(at - first, self.numbering))
    }

    /// Writes to the cells and to the store.
    fn put(&mut self, first: u64, sectors: u64, data: &Data) -> Result<(), Fault> {
        let mut done = 0;
        while done < sectors {
            let (cell, run) = self.layout.at(first + done);
            let length = run.min(sectors - done);
            let part = data.after(done, self.numbering);
            let passes_store = match (cell, &self.store) {
                (_, None) => false,
                (None, Some(_)) => true,
                (Some(_), Some((store, _))) => store.spec().takes == Takes::All,
            };
            match cell {
                Some(cell) => self.cells.put(cell, length, part.clone()),
                None if self.refuses.writes => return Err(Fault::InputOutput),
                None => {}
            }
            if passes_store {
                self.put_into_store(first + done, length, &part);
            }
            done += length;
        }
        Ok(())
    }

    fn put_into_store(&mut self, first: u64, sectors: u64, data: &Data) {
        let Some((store, kept)) = &mut self.store else { return };
        let granule = store.spec().granule;
        let end = first + sectors;
        let mut gone = Vec::new();
        for number in first / granule..end.div_ceil(granule) {
            let (start, stop) = ((number * granule).max(first), ((number + 1) * granule).min(end));
            let is_kept = store.write(number, self.clock, &mut gone);
            // What was too old may come again with this very write.
            for old in gone.drain(..) {
                kept.forget(old * granule, granule);
            }
            if is_kept {
                kept.put(start, stop - start, data.after(start - first, self.numbering));
            }
        }
    }

    fn read(
        &mut self,
        slot: Slot,
        first: u64,
        sectors: u64,
        described: Option<Described>,
        effect: &Effect,
    ) -> Result<(), Fault> {
        self.readings += 1;
        if let Some(reducing) = &self.reducing {
            reducing.read(first, &mut self.slots.bytes(slot)[..(sectors * SECTOR) as usize]);
        } else {
            let parts = self.look(first, sectors)?;
            if let ([(_, Data::Numbers(numbers))], Some(_), true) =
                (&parts[..], described, effect.is_clean())
            {
                self.slots.set_found(slot, Some(*numbers));
                return Ok(());
            }
            let numbering = self.numbering;
            let buffer = self.slots.bytes(slot);
            let mut at = 0;
            for (length, data) in parts {
                let end = at + (length * SECTOR) as usize;
                data.fill(&mut buffer[at..end], numbering);
                at = end;
            }
        }
        self.spoil(slot, first, effect);
        Ok(())
    }

    /// Makes a reading come otherwise than it lies there.
    fn spoil(&mut self, slot: Slot, first: u64, effect: &Effect) {
        let buffer = self.slots.bytes(slot);
        for &(place, sectors) in &effect.flipped {
            for sector in place..place + sectors {
                let bit = sector.wrapping_mul(0x9e37_79b9) % (SECTOR * 8);
                buffer[((sector - first) * SECTOR + bit / 8) as usize] ^= 1 << (bit % 8);
            }
        }
        for &(place, sectors, byte) in &effect.replaced {
            let start = ((place - first) * SECTOR) as usize;
            buffer[start..start + (sectors * SECTOR) as usize].fill(byte);
        }
    }

    /// What is read from `first` on, in as few parts as can be.
    fn look(&mut self, first: u64, sectors: u64) -> Result<Vec<(u64, Data)>, Fault> {
        let kept = match &self.store {
            Some((_, kept)) => kept.look(first, sectors),
            None => vec![(sectors, None)],
        };
        let mut parts = Vec::new();
        let mut at = first;
        for (length, data) in kept {
            match data {
                Some(data) => self.join(&mut parts, length, data),
                None => self.look_below(at, length, &mut parts)?,
            }
            at += length;
        }
        self.tell_store(first, sectors);
        Ok(parts)
    }

    /// Lets the store know what was read.
    fn tell_store(&mut self, first: u64, sectors: u64) {
        let Some((store, kept)) = &mut self.store else { return };
        if !store.minds_reading() {
            return;
        }
        let granule = store.spec().granule;
        let mut gone = Vec::new();
        for number in first / granule..(first + sectors).div_ceil(granule) {
            store.read(number, self.clock, &mut gone);
        }
        for old in gone {
            kept.forget(old * granule, granule);
        }
    }

    /// What the cells hold, and the void where there are none.
    fn look_below(
        &self,
        first: u64,
        sectors: u64,
        parts: &mut Vec<(u64, Data)>,
    ) -> Result<(), Fault> {
        let mut done = 0;
        while done < sectors {
            let (cell, run) = self.layout.at(first + done);
            let length = run.min(sectors - done);
            match cell {
                Some(cell) => self.look_at_cells(cell, length, parts),
                None if self.refuses.reads => return Err(Fault::InputOutput),
                None => self.look_into_void(first + done, length, parts),
            }
            done += length;
        }
        Ok(())
    }

    fn look_at_cells(&self, cell: u64, sectors: u64, parts: &mut Vec<(u64, Data)>) {
        for (length, data) in self.cells.look(cell, sectors) {
            self.join(parts, length, data.unwrap_or(Data::Same(self.never_written)));
        }
    }

    fn look_into_void(&self, address: u64, sectors: u64, parts: &mut Vec<(u64, Data)>) {
        match self.void.at(address, self.readings) {
            Found::Data(data) => self.join(parts, sectors, data),
            Found::At(other) => match self.layout.at(other) {
                (Some(cell), run) if run >= sectors => self.look_at_cells(cell, sectors, parts),
                _ => self.join(parts, sectors, Data::Same(self.never_written)),
            },
            Found::LastWritten => {
                let (length, data) = &self.last_written;
                let length = sectors.min(*length);
                if length > 0 {
                    self.join(parts, length, data.clone());
                }
                if length < sectors {
                    self.join(parts, sectors - length, Data::Same(self.never_written));
                }
            }
        }
    }

    /// Adds a part, joined to the last one where it goes on from there.
    fn join(&self, parts: &mut Vec<(u64, Data)>, sectors: u64, data: Data) {
        if let Some((length, last)) = parts.last_mut() {
            let goes_on = match (last.after(*length, self.numbering), &data) {
                (Data::Numbers(next), Data::Numbers(given)) => next == *given,
                (Data::Same(byte), Data::Same(given)) => byte == *given,
                _ => false,
            };
            if goes_on {
                *length += sectors;
                return;
            }
        }
        parts.push((sectors, data));
    }

    /// Hands out what is over by now.
    fn hand_out(&mut self, completions: &mut Vec<Completion>) {
        while let Some(first) = self.pending.front().filter(|first| first.completed <= self.clock) {
            self.slots.set_in_flight(first.slot, false);
            completions.push(*first);
            self.pending.pop_front();
        }
    }
}

impl Target for Device {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        self.clock
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        match self.slots.in_flight() {
            0 => {
                self.slots = Slots::new(slots, buffer_size)?;
                Ok(())
            }
            flying => Err(TargetError::InFlight(flying)),
        }
    }

    fn describe(&mut self, slot: Slot, data: Described) -> bool {
        let takes = self.reducing.is_none() && self.slots.check_free(slot).is_ok();
        if takes {
            self.slots.describe(slot, data);
        }
        takes
    }

    fn described(&self, slot: Slot) -> Option<[u64; 3]> {
        self.slots.found(slot)
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        match self.slots.check_free(slot) {
            Ok(()) => self.slots.bytes(slot),
            Err(_) => &mut [],
        }
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        self.slots.check_free(op.slot)?;
        self.abilities.check(&op, self.slots.buffer_size())?;
        if self.pending.len() >= usize::from(QUEUE) {
            return Ok(Submission::Busy);
        }
        let (takes, outcome) = self.serve(&op);
        // One request after the other, so they end in the order in which they came.
        self.busy_until = self.busy_until.max(self.clock) + takes;
        self.slots.set_in_flight(op.slot, true);
        self.pending.push_back(Completion {
            slot: op.slot,
            kind: op.kind,
            submitted: self.clock,
            completed: self.busy_until,
            outcome,
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
