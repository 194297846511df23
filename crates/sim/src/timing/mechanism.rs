//! A card on a host as one clockwork: takes requests in order and says when each is over.

use cardproof_io::Fault;
use cardproof_units::Seed;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::heat::HeatState;
use super::hybrid::HybridMap;
use super::lanes::Lanes;
use super::noise::Scatter;
use super::pace::Pace;
use super::page_map::{PageMapState, WriteWork};
use super::reader::Reader;
use super::service::Service;
use super::volatile::CacheState;
use super::wear::WearState;
use super::written::WrittenPages;
use crate::host::Host;
use crate::model::{Discarding, Model, ReadErrors, Writing};

mod by_times;

/// When a request is over, and what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Served {
    /// In nanoseconds on the card's clock.
    pub(crate) completed: u64,
    /// Why it failed, if it did.
    pub(crate) fault: Option<Fault>,
}

/// How the card maps addresses.
#[derive(Debug)]
enum Map {
    Hybrid(HybridMap),
    Page(PageMapState),
}

/// The timing of one card on one host.
#[derive(Debug)]
pub(crate) struct Mechanism {
    command: u64,
    jitter: u64,
    max_transfer: u64,
    bus: Pace,
    unit_size: u64,
    reader: Reader,
    map: Map,
    lanes: Lanes,
    /// Whether the host lets the card see more than one command at a time.
    is_queued: bool,
    service: Option<Service>,
    heat: Option<HeatState>,
    cache: Option<CacheState>,
    discard: Discarding,
    read_errors: ReadErrors,
    scatter: Scatter,
    written: WrittenPages,
    wear: WearState,
}

impl Mechanism {
    /// A new card of kind `model` in `host`.
    pub(crate) fn new(model: &Model, host: &Host, seed: Seed) -> Self {
        let capacity = model.capacity.get();
        let unit_size = model.allocation_unit.get();
        let units = usize::try_from(capacity.div_ceil(unit_size)).unwrap_or(usize::MAX);
        let bus = Pace::new(host.bus);
        let random = Xoshiro256PlusPlus::seed_from_u64(seed.derive("simulated card"));
        let cache = model.cache.as_ref().filter(|_| host.uses_cache);
        Self {
            command: host.command_overhead.get(),
            jitter: host.jitter.get(),
            max_transfer: host.max_transfer.get(),
            bus,
            unit_size,
            reader: Reader::new(&model.read, unit_size, bus),
            map: match &model.write {
                Writing::Hybrid(hybrid) => Map::Hybrid(HybridMap::new(hybrid, unit_size, units)),
                Writing::PageMap(page_map) => Map::Page(PageMapState::new(page_map, unit_size)),
            },
            lanes: Lanes::new(model.ways.min(host.queue_depth)),
            is_queued: host.queue_depth > 1,
            service: model.service.as_ref().map(Service::new),
            heat: model.heat.as_ref().map(|heat| HeatState::new(heat, &host.cooling)),
            cache: cache.map(CacheState::new),
            discard: model.discard.unwrap_or(Discarding {
                latency: cardproof_units::Nanos::ZERO,
                per_unit: cardproof_units::Nanos::ZERO,
                frees_room: false,
            }),
            read_errors: model.read_errors,
            scatter: Scatter::new(&model.noise, random),
            written: WrittenPages::new(capacity),
            wear: WearState::new(&model.endurance, units),
        }
    }

    /// Reads; the request is cut into commands of the host's largest size.
    pub(crate) fn read(&mut self, now: u64, offset: u64, length: u64) -> Served {
        let mut served = Served { completed: now, fault: None };
        self.in_commands(offset, length, |card, offset, length, continues| {
            let end = card.read_command(now, offset, length, continues);
            served.completed = served.completed.max(end);
            if card.read_is_lost() {
                served.fault = Some(Fault::InputOutput);
            }
        });
        served
    }

    /// Writes; the request is cut into commands of the host's largest size.
    pub(crate) fn write(&mut self, now: u64, offset: u64, length: u64) -> Served {
        if self.wear.worn_out() {
            return self.refuse_write(now);
        }
        let mut served = Served { completed: now, fault: None };
        self.in_commands(offset, length, |card, offset, length, continues| {
            let end = card.write_command(now, offset, length, continues);
            served.completed = served.completed.max(end);
        });
        self.written.mark(offset, length);
        served
    }

    /// Makes everything durable. Where nothing is volatile there is nothing to do.
    pub(crate) fn flush(&self, now: u64) -> Served {
        let completed = self.cache.as_ref().map_or(now, |cache| cache.flush(now) + self.command);
        Served { completed, fault: None }
    }

    /// Discards.
    pub(crate) fn discard(&mut self, now: u64, offset: u64, length: u64) -> Served {
        if self.wear.worn_out() {
            return self.refuse_write(now);
        }
        let units = length.div_ceil(self.unit_size);
        let work = self.discard.latency.get() + self.discard.per_unit.get() * units;
        let freed = self.written.clear(offset, length);
        match &mut self.map {
            Map::Hybrid(map) => map.discard(offset, length),
            Map::Page(map) if self.discard.frees_room => map.free(freed),
            Map::Page(_) => {}
        }
        let completed = self.lanes.write(now, 0, self.command + work, 0);
        Served { completed, fault: None }
    }

    /// The wear so far.
    pub(crate) const fn wear(&self) -> &WearState {
        &self.wear
    }

    /// How warm the card is at `now`, in thousandths of a degree Celsius, if its heat is modelled.
    pub(crate) fn millicelsius(&mut self, now: u64) -> Option<i32> {
        self.heat.as_mut().map(|heat| heat.millicelsius(now))
    }

    /// Acts on each command of a request: its offset, its length, and whether it continues the one
    /// before.
    fn in_commands(
        &mut self,
        offset: u64,
        length: u64,
        mut act: impl FnMut(&mut Self, u64, u64, bool),
    ) {
        let (first, mut offset, mut left) = (offset, offset, length);
        while left > 0 {
            let part = left.min(self.max_transfer);
            act(self, offset, part, offset > first);
            offset += part;
            left -= part;
        }
    }

    fn read_command(&mut self, now: u64, offset: u64, length: u64, continues: bool) -> u64 {
        if self.service.is_some() {
            return self.read_by_times(now, offset, length, continues);
        }
        let work = self.reader.read(offset, length, &mut self.written);
        let mut latency = work.latency;
        if let Map::Page(map) = &mut self.map {
            map.idle_until(|| self.lanes.start(now));
            if !work.sequential {
                latency += map.look_up(offset);
            }
        }
        latency += self.retry();
        let latency = self.command() + self.scatter.apply(latency, now);
        let start = self.lanes.start(now);
        let pace = self.pace_percent(start);
        let end = self.lanes.read(now, latency * 100 / pace, work.transfer * 100 / pace);
        self.note_work(start, end, false);
        self.note_busy(end);
        end
    }

    fn write_command(&mut self, now: u64, offset: u64, length: u64, continues: bool) -> u64 {
        if self.service.is_some() {
            return self.write_by_times(now, offset, length, continues);
        }
        let WriteWork { latency, data, pause, .. } = self.write_work(now, offset, length);
        let latency = self.cache.as_ref().map_or(latency, |cache| cache.combined(latency));
        let start = self.lanes.start(now);
        let program = self.scatter.apply(latency + data, now) * 100 / self.pace_percent(start);
        self.note_work(start, start + program, true);
        // The data's time on the bus is part of the time the model gives a write, which was
        // found on a bus; a slower bus than the card adds what it is slower by.
        let transfer = self.bus.nanos(length);
        let command = self.command();
        let end = match &mut self.cache {
            Some(cache) => {
                let arrived = self.lanes.transfer(now, command, transfer);
                cache.take(arrived, length, program, pause)
            }
            None => {
                let program = program.saturating_sub(transfer);
                self.lanes.write(now, command + transfer, program, pause)
            }
        };
        self.note_busy(end);
        end
    }

    fn write_work(&mut self, now: u64, offset: u64, length: u64) -> WriteWork {
        match &mut self.map {
            Map::Hybrid(map) => {
                let latency = map.write(offset, length, &mut self.wear);
                WriteWork { latency, data: 0, beyond_cache: 0, pause: 0 }
            }
            Map::Page(map) => {
                map.idle_until(|| self.lanes.start(now));
                map.write(offset, length, &mut self.scatter, &mut self.wear)
            }
        }
    }

    /// The time that the host takes for this command beside the card.
    fn command(&mut self) -> u64 {
        self.command + self.scatter.up_to(self.jitter)
    }

    /// The extra time of a read that needs a second attempt.
    fn retry(&mut self) -> u64 {
        let retries = self.scatter.happens(self.read_errors.retries_ppm.into(), 1_000_000);
        if retries { self.read_errors.retry.get() } else { 0 }
    }

    /// The pace that heat allows work that begins at `start`, in percent.
    fn pace_percent(&mut self, start: u64) -> u64 {
        self.heat.as_mut().map_or(100, |heat| heat.pace_percent(start))
    }

    fn note_work(&mut self, start: u64, end: u64, is_write: bool) {
        if let Some(heat) = &mut self.heat {
            heat.note_work(start, end, is_write);
        }
    }

    fn note_busy(&mut self, end: u64) {
        if let Map::Page(map) = &mut self.map {
            map.busy_until(end);
        }
    }

    fn refuse_write(&mut self, now: u64) -> Served {
        let completed = self.lanes.write(now, 0, self.command, 0);
        Served { completed, fault: Some(Fault::WriteProtected) }
    }

    /// Whether the flash gave a read up.
    fn read_is_lost(&mut self) -> bool {
        let ReadErrors { lost_ppb_new, lost_ppb_worn, .. } = self.read_errors;
        if lost_ppb_worn == 0 && lost_ppb_new == 0 {
            return false;
        }
        let worn = u64::from(lost_ppb_worn.saturating_sub(lost_ppb_new));
        let share = worn * u64::from(self.wear.life_used_permille()) / 1000;
        self.scatter.happens(u64::from(lost_ppb_new) + share, 1_000_000_000)
    }
}
