//! What the simulator's tests share: one operation at a time, and blocks that know themselves.

use cardproof_io::{Completion, Op, OpKind, Slot, Submission, Target, Wait};
use cardproof_units::{Bytes, Nanos};

/// Does `op` and waits for it.
pub(crate) fn run(target: &mut dyn Target, op: Op) -> Completion {
    let mut completions = Vec::new();
    match target.submit(op).unwrap() {
        Submission::Done(completion) => return completion,
        Submission::Queued => {}
        Submission::Busy => panic!("busy with nothing in flight"),
    }
    while completions.is_empty() {
        target.complete(Wait::One, &mut completions).unwrap();
    }
    assert_eq!(completions.len(), 1);
    completions[0]
}

/// An operation in slot 0.
pub(crate) fn op(kind: OpKind, offset: u64, length: u64) -> Op {
    Op { slot: Slot(0), kind, offset: Bytes(offset), length: Bytes(length) }
}

/// Writes `length` bytes of `byte`.
pub(crate) fn write(target: &mut dyn Target, offset: u64, length: u64, byte: u8) -> Completion {
    target.buffer(Slot(0))[..length as usize].fill(byte);
    run(target, op(OpKind::Write, offset, length))
}

/// Reads `length` bytes.
pub(crate) fn read(target: &mut dyn Target, offset: u64, length: u64) -> Vec<u8> {
    target.buffer(Slot(0)).fill(0xee);
    let completion = run(target, op(OpKind::Read, offset, length));
    assert_eq!(completion.outcome, Ok(Bytes(length)));
    target.buffer(Slot(0))[..length as usize].to_vec()
}

/// Whether every byte of a read is `byte`.
pub(crate) fn holds(target: &mut dyn Target, offset: u64, length: u64, byte: u8) -> bool {
    read(target, offset, length).iter().all(|&found| found == byte)
}

/// The mean latency of `count` operations of `length`, whose offsets are what `place` makes of
/// their numbers.
pub(crate) fn mean_latency(
    target: &mut dyn Target,
    kind: OpKind,
    length: u64,
    count: u64,
    place: impl Fn(u64) -> u64,
) -> Nanos {
    let start = target.now();
    for number in 0..count {
        run(target, op(kind, place(number), length)).outcome.unwrap();
    }
    (target.now() - start) / count
}

/// Operations a second of random operations on a laid-out span, each block at most once.
pub(crate) fn random_iops(
    target: &mut dyn Target,
    kind: OpKind,
    length: u64,
    span: u64,
    count: u64,
) -> f64 {
    let blocks = span / length;
    let place = |number: u64| (number.wrapping_mul(PRIME) % blocks) * length;
    1.0 / mean_latency(target, kind, length, count, place).as_secs_f64()
}

/// Shares no divisor with any number of blocks in use, so that its multiples visit all of them.
const PRIME: u64 = 2_654_435_761;

/// Writes the first `span` bytes from front to back.
pub(crate) fn lay_out(target: &mut dyn Target, span: u64) {
    let length = 1 << 20;
    mean_latency(target, OpKind::Write, length, span / length, |number| number * length);
}

/// What version `version` of block `number` looks like.
pub(crate) fn block_bytes(number: u64, version: u64) -> [u8; 512] {
    let mut bytes = [0; 512];
    let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ version;
    for part in bytes.chunks_exact_mut(8) {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        part.copy_from_slice(&state.to_le_bytes());
    }
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    bytes[8..16].copy_from_slice(&version.to_le_bytes());
    bytes
}
