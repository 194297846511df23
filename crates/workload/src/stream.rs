//! The operations of one phase, one after the other, from a seed.

use cardproof_io::OpKind;
use cardproof_units::{Bytes, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::mix::Mix;
use crate::{Access, Permutation, PhaseSpec, Repetition, SpecError};

/// One operation to come: what and where. Its length is the phase's block size; a flush has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOp {
    /// What it does.
    pub kind: OpKind,
    /// Where it starts, from the target's first byte; zero for a flush.
    pub offset: Bytes,
}

/// An endless stream of operations. When it ends is the runner's business.
#[derive(Clone, Debug)]
pub struct OpStream {
    random: Xoshiro256PlusPlus,
    order: Order,
    first: Bytes,
    block_size: Bytes,
    blocks: u64,
    mix: Mix,
    fsync_every: Option<u32>,
    writes_since_flush: u32,
}

#[derive(Clone, Debug)]
enum Order {
    Sequential { next: u64 },
    AnyTime,
    Once { permutation: Permutation, next: u64 },
}

impl OpStream {
    /// The operations of `spec` on the `span` that begins at `span_offset`.
    ///
    /// # Errors
    /// The phase cannot be run in that span.
    pub fn new(
        spec: &PhaseSpec,
        span_offset: Bytes,
        span: Bytes,
        seed: Seed,
    ) -> Result<Self, SpecError> {
        let blocks = spec.blocks_in(span)?;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed.derive(&spec.name));
        let order = match spec.access {
            Access::Sequential => Order::Sequential { next: 0 },
            Access::Random(Repetition::Allowed) => Order::AnyTime,
            Access::Random(Repetition::EachBlockOnce) => {
                Order::Once { permutation: Permutation::new(blocks, random.next_u64()), next: 0 }
            }
        };
        Ok(Self {
            random,
            order,
            first: span_offset + spec.alignment_offset,
            block_size: spec.block_size,
            blocks,
            mix: Mix::new(spec.read_percent),
            fsync_every: spec.fsync_every,
            writes_since_flush: 0,
        })
    }

    /// The operation that comes next.
    pub fn next_op(&mut self) -> StreamOp {
        if self.fsync_every.is_some_and(|every| self.writes_since_flush >= every) {
            self.writes_since_flush = 0;
            return StreamOp { kind: OpKind::Flush, offset: Bytes::ZERO };
        }
        let block = self.next_block();
        let kind = self.mix.next(|| self.random.next_u64());
        self.writes_since_flush += u32::from(kind == OpKind::Write && self.fsync_every.is_some());
        StreamOp { kind, offset: self.first + self.block_size * block }
    }

    fn next_block(&mut self) -> u64 {
        match &mut self.order {
            Order::Sequential { next } => {
                let block = *next;
                *next = if block + 1 == self.blocks { 0 } else { block + 1 };
                block
            }
            Order::AnyTime => below(self.blocks, self.random.next_u64()),
            Order::Once { permutation, next } => {
                if *next == self.blocks {
                    *permutation = Permutation::new(self.blocks, self.random.next_u64());
                    *next = 0;
                }
                let block = permutation.get(*next).unwrap_or(0);
                *next += 1;
                block
            }
        }
    }
}

/// A number below `bound` from 64 random bits, by multiplication (Lemire 2019, without the
/// rejection: the bias is below 2^-32 for any span that exists).
pub(crate) fn below(bound: u64, random: u64) -> u64 {
    ((u128::from(random) * u128::from(bound)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Ends, Role, TimeLimit};
    use cardproof_units::Nanos;

    fn spec(access: Access, read_percent: u8) -> PhaseSpec {
        PhaseSpec {
            name: "test".to_owned(),
            role: Role::Measure,
            access,
            span: None,
            arrangement: Default::default(),
            read_percent,
            block_size: Bytes(4096),
            alignment_offset: Bytes::ZERO,
            queue_depth: 1,
            fsync_every: None,
            flush_at_end: false,
            rate_limit: None,
            ends: Ends {
                time: TimeLimit::Fixed(Nanos::from_secs(1)),
                bytes: None,
                ops: None,
                precision: None,
                decision: None,
            },
        }
    }

    fn stream(spec: &PhaseSpec, span: Bytes) -> OpStream {
        OpStream::new(spec, Bytes::mib(1), span, Seed::from_bits(1)).unwrap()
    }

    #[test]
    fn a_sequential_stream_wraps_at_the_end_of_its_span() {
        let mut stream = stream(&spec(Access::Sequential, 100), Bytes(3 * 4096 + 100));
        let offsets: Vec<u64> =
            (0..5).map(|_| (stream.next_op().offset - Bytes::mib(1)).get() / 4096).collect();
        assert_eq!(offsets, [0, 1, 2, 0, 1]);
    }

    #[test]
    fn without_repetition_every_block_comes_once_a_round() {
        let spec = spec(Access::Random(Repetition::EachBlockOnce), 0);
        let mut stream = stream(&spec, Bytes(1000 * 4096));
        let rounds: Vec<Vec<u64>> =
            (0..2).map(|_| (0..1000).map(|_| stream.next_op().offset.get()).collect()).collect();
        assert_ne!(rounds[0], rounds[1]);
        for mut round in rounds {
            round.sort_unstable();
            round.dedup();
            assert_eq!(round.len(), 1000);
        }
    }

    #[test]
    fn with_repetition_addresses_stay_inside_and_reach_all_parts() {
        let spec = spec(Access::Random(Repetition::Allowed), 0);
        let mut stream = stream(&spec, Bytes(16 * 4096));
        let mut counts = [0; 16];
        for _ in 0..16_000 {
            counts[((stream.next_op().offset - Bytes::mib(1)).get() / 4096) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_mix_has_the_share_of_reads_asked_for() {
        let mut stream = stream(&spec(Access::Random(Repetition::Allowed), 70), Bytes::mib(1));
        let reads = (0..10_000).filter(|_| stream.next_op().kind == OpKind::Read).count();
        assert_eq!(reads, 7_000);
    }

    #[test]
    fn flushes_follow_every_nth_write() {
        let spec = PhaseSpec { fsync_every: Some(2), ..spec(Access::Sequential, 0) };
        let mut stream = stream(&spec, Bytes::mib(1));
        let kinds: Vec<OpKind> = (0..6).map(|_| stream.next_op().kind).collect();
        use OpKind::{Flush, Write};
        assert_eq!(kinds, [Write, Write, Flush, Write, Write, Flush]);
    }

    #[test]
    fn an_alignment_offset_moves_every_operation_and_none_leaves_the_span() {
        let spec = PhaseSpec {
            alignment_offset: Bytes(512),
            ..spec(Access::Random(Repetition::Allowed), 0)
        };
        let mut stream = stream(&spec, Bytes(4 * 4096));
        for _ in 0..100 {
            let offset = stream.next_op().offset - Bytes::mib(1);
            assert_eq!(offset.get() % 4096, 512);
            assert!(offset.get() + 4096 <= 4 * 4096);
        }
    }

    #[test]
    fn the_seed_alone_decides() {
        let spec = spec(Access::Random(Repetition::Allowed), 50);
        let ops = |seed| {
            let mut stream =
                OpStream::new(&spec, Bytes::ZERO, Bytes::mib(64), Seed::from_bits(seed)).unwrap();
            (0..100).map(|_| stream.next_op()).collect::<Vec<_>>()
        };
        assert_eq!(ops(5), ops(5));
        assert_ne!(ops(5), ops(6));
    }

    #[test]
    fn impossible_phases_are_refused() {
        let fine = spec(Access::Sequential, 100);
        let refused = |spec: PhaseSpec, span| OpStream::new(&spec, Bytes::ZERO, span, Seed::MAX);
        assert!(matches!(refused(fine.clone(), Bytes(4095)), Err(SpecError::SpanTooSmall { .. })));
        let zero = PhaseSpec { block_size: Bytes::ZERO, ..fine.clone() };
        assert!(matches!(refused(zero, Bytes(1 << 20)), Err(SpecError::OutOfRange(_))));
        let endless =
            Ends { time: TimeLimit::None, bytes: None, ops: None, precision: None, decision: None };
        let spec = PhaseSpec { ends: endless, ..fine };
        assert!(matches!(refused(spec, Bytes(1 << 20)), Err(SpecError::Endless)));
    }
}
