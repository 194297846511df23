//! What the phases of these profiles have in common.

use cardproof_io::{Arrangement, Caching, Calls, FileState};
use cardproof_units::{Bytes, Nanos};

use crate::{
    Access, Aggregate, Ends, FigureSpec, Origin, PhaseSpec, Quantity, Repetition, Role, TimeLimit,
    Unit,
};

/// fio's random order where it keeps a map: each block once.
pub(super) const ONCE: Access = Access::Random(Repetition::EachBlockOnce);

/// Operations past the page cache, on the file as it is, over all of `span` and no further.
pub(super) fn pass(
    name: &str,
    access: Access,
    read_percent: u8,
    block_size: Bytes,
    queue_depth: u16,
    span: Bytes,
) -> PhaseSpec {
    PhaseSpec {
        name: name.to_owned(),
        role: Role::Measure,
        access,
        span: Some(span),
        arrangement: Arrangement::default(),
        read_percent,
        block_size,
        alignment_offset: Bytes::ZERO,
        queue_depth,
        fsync_every: None,
        flush_at_end: false,
        rate_limit: None,
        ends: Ends {
            time: TimeLimit::None,
            bytes: Some(span),
            ops: None,
            precision: None,
            decision: None,
        },
    }
}

/// The laying out of a file before it is read, which no tool counts.
pub(super) fn lay_out(name: &str, span: Bytes) -> PhaseSpec {
    PhaseSpec {
        role: Role::LayOut,
        flush_at_end: true,
        ..on_reserved(pass(name, Access::Sequential, 0, Bytes::mib(1), 2, span))
    }
}

/// On a fresh file whose space is reserved, as fio has it.
pub(super) fn on_reserved(phase: PhaseSpec) -> PhaseSpec {
    let file = FileState::Reserved(phase.span.unwrap_or_default());
    PhaseSpec { arrangement: Arrangement { file, ..phase.arrangement }, ..phase }
}

/// On a fresh file that grows, as most tools have it.
pub(super) fn on_growing(phase: PhaseSpec) -> PhaseSpec {
    let arrangement = Arrangement { file: FileState::Growing, ..phase.arrangement };
    PhaseSpec { arrangement, ..phase }
}

/// By plain system calls, one after the other.
pub(super) fn plain(phase: PhaseSpec) -> PhaseSpec {
    PhaseSpec { arrangement: Arrangement { calls: Calls::Plain, ..phase.arrangement }, ..phase }
}

/// Through the page cache.
pub(super) fn cached(phase: PhaseSpec) -> PhaseSpec {
    let caching = Caching::Through { random: phase.access != Access::Sequential };
    PhaseSpec { arrangement: Arrangement { caching, ..phase.arrangement }, ..phase }
}

/// With a flush at the end, inside the time that is counted.
pub(super) fn flushed(phase: PhaseSpec) -> PhaseSpec {
    PhaseSpec { flush_at_end: true, ..phase }
}

/// For no longer than `time`.
pub(super) fn within(phase: PhaseSpec, time: Nanos) -> PhaseSpec {
    PhaseSpec { ends: Ends { time: TimeLimit::Fixed(time), ..phase.ends }, ..phase }
}

/// A figure of one phase.
pub(super) fn figure(
    tool: &str,
    name: &str,
    unit: Unit,
    quantity: Quantity,
    phase: &str,
) -> FigureSpec {
    FigureSpec {
        name: name.to_owned(),
        tool: tool.to_owned(),
        unit,
        origin: Origin::Phases {
            phases: vec![phase.to_owned()],
            quantity,
            aggregate: Aggregate::Mean,
        },
    }
}

/// iozone's and fio's "kB/s" and "KiB/s": both are 1024 bytes.
pub(super) fn kibibytes(name: &str) -> Unit {
    Unit::of_bytes(name, 1024.0)
}

/// dd's "MB/s": a million bytes.
pub(super) fn megabytes() -> Unit {
    Unit::of_bytes("MB/s", 1e6)
}

/// hdparm's "MB/sec", which are MiB.
pub(super) fn mebibytes() -> Unit {
    Unit::of_bytes("MB/sec", 1_048_576.0)
}
