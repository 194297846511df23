//! Writing to 1, 2, 3 … places in turn, each in an allocation unit of its own.

use cardproof_evidence::geometry::{UnitsRow, UnitsTable};
use cardproof_units::{Bytes, Nanos, Throughput};

use super::bench::{BUFFER, Bench, ProbeError, at_percent};
use super::plan::Plan;

/// Passes over everything that is written to places; all must agree.
pub(super) const PASSES: usize = 2;

/// The most places in turn.
const PLACES_MOST: u64 = 10;

/// Places lie so far apart that no believable unit holds two.
const APART: u64 = 64 << 20;

/// How much of each place is written before, so that there is something to copy.
const FILLED: u64 = 4 << 20;

/// Writes of each number of places that count, and rounds before them that do not.
const WRITES: u64 = 48;
const ROUNDS_BEFORE: u64 = 2;

/// Small writes, for random order.
const SMALL: u64 = 4096;

/// The shorter and the longer of the writes, in per cent of them.
const SHORTER: usize = 30;
const LONGER: usize = 70;

/// Costs so much higher than those of one place end the series two numbers later.
const COLLAPSE: f64 = 3.0;

/// Where the places are.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The first byte of each.
    pub(super) starts: Vec<u64>,
    /// The size of each write in order.
    block: u64,
    /// How much of each place is used.
    pub(super) room: u64,
}

/// The test range has no room for the places.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error(
    "the test range of {range} is too small for {PLACES_MOST} allocation units, which need {needed}"
)]
pub(super) struct TooSmall {
    range: Bytes,
    /// The smallest range that has.
    pub(super) needed: Bytes,
}

impl Places {
    /// Places on a target with allocation units of `unit`, if they are known.
    pub(super) fn new(plan: &Plan, unit: Option<Bytes>) -> Result<Self, TooSmall> {
        let size = plan.scope.size.get();
        let grid = unit.map_or(1 << 20, Bytes::get);
        let wanted = APART.div_ceil(grid) * grid;
        let fitting = size / (PLACES_MOST + 1) / grid * grid;
        let apart = wanted.min(fitting);
        let least = unit.map_or(APART, Bytes::get);
        if apart < least {
            let needed = Bytes((PLACES_MOST + 1) * least.div_ceil(grid) * grid);
            return Err(TooSmall { range: plan.scope.size, needed });
        }
        let quarter = (grid / 4).next_power_of_two();
        let block =
            if unit.is_some() { quarter.clamp(64 << 10, BUFFER.get()) } else { BUFFER.get() };
        // Not at the front, which some cards spare.
        let starts = (1..=PLACES_MOST).map(|number| number * apart).collect();
        let room = FILLED.max(unit.map_or(0, Bytes::get)).min(apart);
        Ok(Self { starts, block, room })
    }

    /// Writes the beginning of every place.
    pub(super) fn fill(&self, bench: &mut Bench<'_>) -> Result<(), ProbeError> {
        for start in &self.starts {
            for step in 0..self.room / BUFFER.get() {
                bench.write(start + step * BUFFER.get(), BUFFER.get())?;
            }
        }
        Ok(())
    }

    /// Rates with more and more places, each written from front to back.
    pub(super) fn linear(&self, bench: &mut Bench<'_>) -> Result<[UnitsTable; 2], ProbeError> {
        let block = self.block;
        let in_place = self.room / block;
        // No more rounds than fit into the place, or a round would begin it anew.
        let series = Series { block, writes: WRITES, rounds_most: in_place };
        series.table(bench, &self.starts, |_, round| round % in_place * block)
    }

    /// Rates with more and more places, each written in small blocks in random order.
    pub(super) fn random(&self, bench: &mut Bench<'_>) -> Result<[UnitsTable; 2], ProbeError> {
        let block = SMALL.max(bench.block);
        let slots = (self.room.min(1 << 20) / block / 2).max(1);
        let orders: Vec<Vec<u64>> = self.starts.iter().map(|_| bench.shuffled(slots)).collect();
        let series = Series { block, writes: WRITES, rounds_most: u64::MAX };
        // Every second block, so that none continues another.
        series.table(bench, &self.starts, |place, round| {
            orders[place][(round % slots) as usize] * 2 * block
        })
    }
}

/// A series over numbers of places.
struct Series {
    block: u64,
    writes: u64,
    rounds_most: u64,
}

impl Series {
    /// Rows for each number of places; `at` says where in a place a round writes. One table has the
    /// rates of the shorter writes and one those of the longer, so that a limit shows in both only
    /// where nearly no write waits before it and nearly every one after it.
    fn table(
        &self,
        bench: &mut Bench<'_>,
        starts: &[u64],
        at: impl Fn(usize, u64) -> u64,
    ) -> Result<[UnitsTable; 2], ProbeError> {
        let mut tables = [UnitsTable::default(), UnitsTable::default()];
        let mut collapsed = 0;
        let mut round_now = 0;
        for units in 1..=starts.len() {
            let counted = self.writes.div_ceil(units as u64).max(4);
            let rounds = (ROUNDS_BEFORE + counted).min(self.rounds_most).max(ROUNDS_BEFORE + 2);
            let mut times = Vec::new();
            for round in 0..rounds {
                for (place, start) in starts[..units].iter().enumerate() {
                    let offset = start
                        + at(place, if self.rounds_most == u64::MAX { round_now } else { round });
                    let time = bench.write(offset, self.block)?;
                    if round >= ROUNDS_BEFORE {
                        times.extend(time);
                    }
                }
                round_now += 1;
            }
            for (table, percent) in tables.iter_mut().zip([SHORTER, LONGER]) {
                table.rows.extend(self.row(units, &times, percent));
            }
            collapsed += u32::from(has_collapsed(&tables[0]));
            if collapsed > 2 {
                break;
            }
        }
        Ok(tables)
    }

    fn row(&self, units: usize, times: &[Nanos], percent: usize) -> Option<UnitsRow> {
        let rate = Throughput::from_bytes(Bytes(self.block), at_percent(times, percent))?;
        Some(UnitsRow { units: u16::try_from(units).ok()?, block: Bytes(self.block), rate })
    }
}

/// Whether the last number of places is much slower than one place.
fn has_collapsed(table: &UnitsTable) -> bool {
    let (Some(first), Some(last)) = (table.rows.first(), table.rows.last()) else { return false };
    first.rate.0 > COLLAPSE * last.rate.0
}
