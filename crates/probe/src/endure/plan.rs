//! What one cycle writes and reads, and in which order.

use cardproof_evidence::capacity::stamp::Stamp;
use cardproof_units::{Bytes, Seed};
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bad::PAGE;
use super::state::Pass;
use crate::capacity::shuffle;

/// Bounds of the size of a piece, and how many pieces a span is cut into between them.
const PIECE_MIN: u64 = 64 << 10;
const PIECE_MAX: u64 = 4 << 20;
const PIECES: u64 = 4096;

/// The least span: below, a page is more than 0.1 % of it.
const SPAN_MIN: u64 = 4 << 20;

/// The hot spot: this part of the span, within bounds, in the middle of the span.
const HOT_PART: u64 = 100;
const HOT_MIN: u64 = 1 << 20;
const HOT_MAX: u64 = 256 << 20;

/// Where a cycle writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// The whole span, in random order.
    Random,
    /// The whole span, from its start to its end.
    Sequential,
    /// A hundredth of the span, 256 MiB at most, in random writes of 4 KiB.
    HotSpot,
    /// The writes of a trace as (offset, length) in bytes, in their order; what lies beyond the span
    /// starts again from zero.
    Trace(Vec<(u64, u64)>),
}

impl Pattern {
    /// Its name in documents.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Sequential => "sequential",
            Self::HotSpot => "hot-spot",
            Self::Trace(_) => "trace",
        }
    }
}

/// What the user asks of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wish {
    /// Where each cycle writes.
    pub pattern: Pattern,
    /// The run ends after so many cycles.
    pub cycles_max: Option<u64>,
    /// The run ends once so much was written.
    pub bytes_max: Option<Bytes>,
}

/// Why there is no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// The span is too small.
    #[error("{span} is too little to wear out: name at least 4 MiB")]
    TooSmall {
        /// The size of the span.
        span: Bytes,
    },
    /// The trace writes nothing.
    #[error("the trace holds no write; name a trace that writes")]
    NoWrites,
}

/// What every cycle does.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) wish: Wish,
    pub(super) seed: Seed,
    /// The number by which the sectors of this run are known.
    salt: u64,
    pub(super) span: u64,
    writes: Vec<(u64, u64)>,
    reads: Vec<(u64, u64)>,
    is_shuffled: bool,
    /// Pages that a cycle writes.
    pages: u64,
}

impl Plan {
    /// A plan for a target of `span`; all orders and data follow from `seed`.
    ///
    /// # Errors
    /// The span is too small, or the trace writes nothing.
    pub fn new(span: Bytes, wish: Wish, seed: Seed) -> Result<Self, PlanError> {
        if span.get() < SPAN_MIN {
            return Err(PlanError::TooSmall { span });
        }
        let span = span.get() / PAGE * PAGE;
        let piece = (span / PIECES).next_power_of_two().clamp(PIECE_MIN, PIECE_MAX);
        let (writes, reads) = match &wish.pattern {
            Pattern::Random | Pattern::Sequential => {
                let pieces = cut(0, span, piece);
                (pieces.clone(), pieces)
            }
            Pattern::HotSpot => {
                let size = (span / HOT_PART).clamp(HOT_MIN, HOT_MAX) / PAGE * PAGE;
                let start = (span - size) / 2 / PAGE * PAGE;
                let pieces = cut(start, start + size, PAGE);
                (pieces.clone(), pieces)
            }
            Pattern::Trace(requests) => {
                let writes = folded(requests, span);
                if writes.is_empty() {
                    return Err(PlanError::NoWrites);
                }
                let reads = union(&writes);
                (writes, reads)
            }
        };
        let is_shuffled = matches!(wish.pattern, Pattern::Random | Pattern::HotSpot);
        let pages = reads.iter().map(|(_, length)| length / PAGE).sum();
        let salt = seed.derive("endurance stamps");
        Ok(Self { wish, seed, salt, span, writes, reads, is_shuffled, pages })
    }

    /// Pages that a cycle writes.
    #[must_use]
    pub const fn pages(&self) -> u64 {
        self.pages
    }

    /// The span in bytes.
    #[must_use]
    pub const fn span_bytes(&self) -> u64 {
        self.span
    }

    /// Bytes that a cycle writes.
    #[must_use]
    pub fn cycle_bytes(&self) -> u64 {
        self.writes.iter().map(|(_, length)| length).sum()
    }

    /// The longest piece in bytes.
    pub(super) fn piece_max(&self) -> u64 {
        let all = self.writes.iter().chain(&self.reads);
        all.map(|(_, length)| *length).max().unwrap_or(PAGE)
    }

    /// The number by which the sectors of this run are known.
    #[must_use]
    pub const fn salt(&self) -> u64 {
        self.salt
    }

    /// The same plan, whose sectors are known by `salt`: those of two runs with one seed then differ.
    #[must_use]
    pub fn salted(self, salt: u64) -> Self {
        Self { salt, ..self }
    }

    /// What a sector at `offset` holds after `cycle`.
    pub(super) fn stamp(&self, offset: u64, cycle: u64) -> Stamp {
        Stamp { salt: self.salt, address_bytes: offset, generation: cycle as u32 }
    }

    /// How many pieces a pass has.
    pub(super) fn count(&self, pass: Pass) -> u64 {
        self.of(pass).len() as u64
    }

    fn of(&self, pass: Pass) -> &[(u64, u64)] {
        match pass {
            Pass::Write => &self.writes,
            Pass::Read => &self.reads,
        }
    }

    /// A piece by its number.
    pub(super) fn piece(&self, pass: Pass, number: u64) -> (u64, u64) {
        self.of(pass)[number as usize]
    }

    /// The numbers of the pieces in the order of `cycle`. What is shuffled is read in the order of
    /// writing, so that each piece rests as long as the others.
    pub(super) fn order(&self, pass: Pass, cycle: u64) -> Vec<u64> {
        let mut order: Vec<u64> = (0..self.count(pass)).collect();
        if self.is_shuffled {
            let seed = self.seed.derive("endurance order") ^ cycle.wrapping_mul(0x9e37_79b9);
            shuffle(&mut order, &mut Xoshiro256PlusPlus::seed_from_u64(seed));
        }
        order
    }
}

/// The bytes from `from` to `to` in pieces.
fn cut(from: u64, to: u64, piece: u64) -> Vec<(u64, u64)> {
    let starts = (from..to).step_by(piece as usize);
    starts.map(|start| (start, piece.min(to - start))).collect()
}

/// Requests on whole pages within the span, no longer than a piece.
fn folded(requests: &[(u64, u64)], span: u64) -> Vec<(u64, u64)> {
    let mut writes = Vec::new();
    for &(offset, length) in requests.iter().filter(|(_, length)| *length > 0) {
        let from = offset / PAGE * PAGE % span;
        let length = ((offset % PAGE + length).div_ceil(PAGE) * PAGE).min(span);
        for (start, length) in cut(from, from + length, PIECE_MAX) {
            let first = length.min(span.saturating_sub(start));
            writes.extend((first > 0).then_some((start, first)));
            writes.extend((first < length).then_some(((start + first) % span, length - first)));
        }
    }
    writes
}

/// All bytes of `pieces` once, in order.
fn union(pieces: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut sorted = pieces.to_vec();
    sorted.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (start, length) in sorted {
        match joined.last_mut() {
            Some((from, so_far)) if *from + *so_far >= start => {
                *so_far = (*so_far).max(start + length - *from);
            }
            _ => joined.push((start, length)),
        }
    }
    joined.into_iter().flat_map(|(start, length)| cut(start, start + length, PIECE_MIN)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(span: Bytes, pattern: Pattern) -> Result<Plan, PlanError> {
        let wish = Wish { pattern, cycles_max: None, bytes_max: None };
        Plan::new(span, wish, Seed::from_bits(1))
    }

    #[test]
    fn every_cycle_writes_the_whole_span_in_another_order() {
        let plan = plan(Bytes(64_000_000_000), Pattern::Random).unwrap();
        assert_eq!(plan.cycle_bytes(), 64_000_000_000 / PAGE * PAGE);
        assert_ne!(plan.order(Pass::Write, 1), plan.order(Pass::Write, 2));
        assert_eq!(plan.order(Pass::Write, 1), plan.order(Pass::Read, 1));
        let mut order = plan.order(Pass::Write, 1);
        order.sort_unstable();
        assert!(order.into_iter().eq(0..plan.count(Pass::Write)));
    }

    #[test]
    fn a_hot_spot_is_a_hundredth_in_pages() {
        let plan = plan(Bytes::gib(8), Pattern::HotSpot).unwrap();
        assert_eq!(plan.cycle_bytes(), (8 << 30) / 100 / PAGE * PAGE);
        assert_eq!(plan.piece_max(), PAGE);
    }

    #[test]
    fn a_trace_is_folded_into_the_span_and_read_once() {
        let trace = vec![(0, 8192), (100, 10), ((64 << 20) - 4096, 8192), (1 << 40, 5000)];
        let plan = plan(Bytes::mib(64), Pattern::Trace(trace)).unwrap();
        assert!(plan.writes.iter().all(|(start, length)| start + length <= 64 << 20));
        assert_eq!(plan.pages(), 3, "pages 0 and 1 and the last");
        assert_eq!(plan.cycle_bytes(), 8192 + 4096 + 8192 + 8192);
    }

    #[test]
    fn what_cannot_be_worn_out_is_an_error() {
        assert!(plan(Bytes::mib(1), Pattern::Random).is_err());
        assert_eq!(
            plan(Bytes::mib(8), Pattern::Trace(vec![(0, 0)])).unwrap_err(),
            PlanError::NoWrites
        );
    }
}
