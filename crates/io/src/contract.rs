//! The suite that every [`Target`] passes, whatever is behind it.
//!
//! Each check is named after the sentence of the contract that it holds a target to and panics
//! where the target breaks it. Call [`check_all`] with a function that makes a fresh target of
//! at least [`SIZE_MIN`].

#![allow(clippy::expect_used, clippy::panic, reason = "a broken contract is a failed test")]

use cardproof_units::{Bytes, Nanos};

use crate::{
    Completion, Filling, Op, OpKind, Slot, Submission, SubmitError, Target, TargetError, Wait,
};

/// The smallest target on which the suite can run.
pub const SIZE_MIN: Bytes = Bytes::mib(1);

/// Holds the targets that `make` makes to every sentence of the contract.
///
/// # Panics
/// Where a target breaks the contract.
pub fn check_all(make: &mut dyn FnMut() -> Box<dyn Target>) {
    the_clock_never_goes_back(&mut *make());
    waiting_until_a_time_ends_at_that_time(&mut *make());
    every_operation_completes_once(&mut *make());
    what_was_written_is_read(&mut *make());
    what_is_filled_at_the_write_is_written(&mut *make());
    bad_operations_are_refused(&mut *make());
    a_slot_in_flight_is_left_alone(&mut *make());
    a_read_only_target_refuses_writes(&mut *make());
    buffers_are_not_replaced_under_operations(&mut *make());
}

/// The block the suite works with: what the target needs, and at least 4 KiB.
fn block_of(target: &dyn Target) -> Bytes {
    Bytes(target.abilities().logical_block.get().max(4096))
}

/// Submits `op` and returns its completion, whichever way it comes.
fn run(target: &mut dyn Target, op: Op) -> Completion {
    match target.submit(op).expect("a sound operation is taken") {
        Submission::Done(completion) => completion,
        Submission::Queued => {
            let mut completions = Vec::new();
            while completions.is_empty() {
                target.complete(Wait::One, &mut completions).expect("the engine works");
            }
            assert_eq!(completions.len(), 1, "one operation completes once");
            completions[0]
        }
        Submission::Busy => panic!("busy with nothing in flight"),
    }
}

/// A pattern that differs from block to block.
fn fill(buffer: &mut [u8], block_number: u64) {
    for (index, byte) in buffer.iter_mut().enumerate() {
        *byte = (block_number.wrapping_mul(31) as u8) ^ (index as u8) ^ ((index >> 8) as u8);
    }
}

fn the_clock_never_goes_back(target: &mut dyn Target) {
    let block = block_of(target);
    target.prepare(1, block).expect("one slot can be had");
    let mut last = target.now();
    for number in 0..64 {
        let op = Op { slot: Slot(0), kind: OpKind::Read, offset: block * number, length: block };
        let completion = run(target, op);
        let now = target.now();
        assert!(last <= completion.submitted, "submitted before the time read before it");
        assert!(completion.submitted <= completion.completed, "completed before submitted");
        assert!(completion.completed <= now, "completed in the future");
        last = now;
    }
}

fn waiting_until_a_time_ends_at_that_time(target: &mut dyn Target) {
    let block = block_of(target);
    target.prepare(1, block).expect("one slot can be had");
    let deadline = target.now() + Nanos::from_millis(5);
    let mut completions = Vec::new();
    while target.now() < deadline {
        target.complete(Wait::Until(deadline), &mut completions).expect("the engine works");
    }
    assert!(completions.is_empty(), "a completion of nothing");
}

fn every_operation_completes_once(target: &mut dyn Target) {
    let block = block_of(target);
    let depth = target.abilities().queue_depth_max.min(16);
    target.prepare(depth, block).expect("the promised depth can be had");
    let blocks = SIZE_MIN.get() / block.get();
    let mut free: Vec<Slot> = (0..depth).map(Slot).collect();
    let mut taken = vec![false; usize::from(depth)];
    let (mut submitted, mut done) = (0_u64, 0_u64);
    let mut completions = Vec::new();
    while done < 500 {
        while submitted < 500 {
            let Some(slot) = free.pop() else { break };
            let offset = block * (submitted * 7 % blocks);
            let op = Op { slot, kind: OpKind::Read, offset, length: block };
            match target.submit(op).expect("a sound operation is taken") {
                Submission::Queued => taken[slot.index()] = true,
                Submission::Done(completion) => {
                    taken[slot.index()] = true;
                    completions.push(completion);
                }
                Submission::Busy => {
                    assert!(submitted > done, "busy with nothing in flight");
                    free.push(slot);
                    break;
                }
            }
            submitted += 1;
        }
        target.complete(Wait::One, &mut completions).expect("the engine works");
        for completion in completions.drain(..) {
            assert!(taken[completion.slot.index()], "a completion of nothing");
            assert_eq!(completion.outcome, Ok(block));
            taken[completion.slot.index()] = false;
            free.push(completion.slot);
            done += 1;
        }
    }
    target.complete(Wait::No, &mut completions).expect("the engine works");
    assert!(completions.is_empty(), "an operation completed twice");
}

fn what_was_written_is_read(target: &mut dyn Target) {
    if target.abilities().read_only || !target.abilities().keeps_data {
        return;
    }
    let block = block_of(target);
    for depth in [1, target.abilities().queue_depth_max.min(4)] {
        target.prepare(depth, block).expect("the promised depth can be had");
        let slot = Slot(depth - 1);
        let blocks = SIZE_MIN.get() / block.get();
        for number in (0..blocks).rev() {
            fill(target.buffer(slot), number + u64::from(depth));
            let op = Op { slot, kind: OpKind::Write, offset: block * number, length: block };
            assert_eq!(run(target, op).outcome, Ok(block));
        }
        assert_eq!(run(target, Op::flush(slot)).outcome, Ok(Bytes::ZERO));
        let mut expected = vec![0; block.as_len()];
        for number in 0..blocks {
            target.buffer(slot).fill(0);
            let op = Op { slot, kind: OpKind::Read, offset: block * number, length: block };
            assert_eq!(run(target, op).outcome, Ok(block));
            fill(&mut expected, number + u64::from(depth));
            assert!(target.buffer(slot) == expected, "block {number} does not hold what it should");
        }
    }
}

fn bad_operations_are_refused(target: &mut dyn Target) {
    let block = block_of(target);
    let (size, logical) = (target.abilities().size, target.abilities().logical_block);
    target.prepare(1, block).expect("one slot can be had");
    let read = |offset, length| Op { slot: Slot(0), kind: OpKind::Read, offset, length };
    let misaligned = |result| matches!(result, Err(SubmitError::Misaligned { .. }));
    let out_of_range = |result| matches!(result, Err(SubmitError::OutOfRange { .. }));
    assert!(misaligned(target.submit(read(Bytes(1), block))));
    assert!(misaligned(target.submit(read(Bytes::ZERO, Bytes(logical.get() - 1)))));
    assert!(misaligned(target.submit(read(Bytes::ZERO, Bytes::ZERO))));
    assert!(out_of_range(target.submit(read(size.round_down_to(logical), block))));
    assert!(out_of_range(target.submit(read(Bytes(u64::MAX).round_down_to(logical), block))));
    let too_long = block + logical;
    assert!(matches!(
        target.submit(read(Bytes::ZERO, too_long)),
        Err(SubmitError::LongerThanBuffer { .. })
    ));
    let elsewhere = Op { slot: Slot(1), ..read(Bytes::ZERO, block) };
    assert_eq!(target.submit(elsewhere), Err(SubmitError::NoSuchSlot(1)));
    assert_eq!(run(target, read(Bytes::ZERO, block)).outcome, Ok(block), "works after refusals");
}

/// Where a target takes a filling, the next write on the slot carries it, that write alone, and an
/// operation of another kind does not.
fn what_is_filled_at_the_write_is_written(target: &mut dyn Target) {
    if target.abilities().read_only || !target.abilities().keeps_data {
        return;
    }
    let block = block_of(target);
    // The suite's pattern of a block of 4 KiB, which its sectors are parts of.
    let filling = |number| Filling {
        numbers: [number, 0, 0],
        fill: |numbers, sector, buffer| {
            let skipped = sector as usize * 512;
            let mut whole = vec![0; skipped + buffer.len()];
            fill(&mut whole, numbers[0]);
            buffer.copy_from_slice(&whole[skipped..]);
        },
    };
    let at = |slot, kind, number| Op { slot, kind, offset: block * number, length: block };
    let mut expected = vec![0; block.as_len()];
    for depth in [1, target.abilities().queue_depth_max.min(4)] {
        target.prepare(depth, block).expect("the promised depth can be had");
        let slot = Slot(depth - 1);
        for (number, is_read_first) in [(0, false), (1, true)] {
            if !target.fill_at_write(slot, filling(number + 9)) {
                continue;
            }
            if is_read_first {
                assert_eq!(run(target, at(slot, OpKind::Read, 0)).outcome, Ok(block));
                fill(&mut expected, 9);
                assert!(target.buffer(slot) == expected, "a read was filled");
                assert!(target.fill_at_write(slot, filling(number + 9)), "taken once, then not");
            }
            assert_eq!(run(target, at(slot, OpKind::Write, number)).outcome, Ok(block));
            fill(target.buffer(slot), number + 99);
            assert_eq!(run(target, at(slot, OpKind::Write, number + 2)).outcome, Ok(block));
            for (place, wanted) in [(number, number + 9), (number + 2, number + 99)] {
                assert_eq!(run(target, at(slot, OpKind::Read, place)).outcome, Ok(block));
                fill(&mut expected, wanted);
                assert!(target.buffer(slot) == expected, "block {place} holds something else");
            }
        }
    }
}

fn a_slot_in_flight_is_left_alone(target: &mut dyn Target) {
    let block = block_of(target);
    if target.abilities().queue_depth_max < 2 {
        return;
    }
    target.prepare(2, block).expect("two slots can be had");
    let op = Op { slot: Slot(1), kind: OpKind::Read, offset: Bytes::ZERO, length: block };
    if target.submit(op).expect("a sound operation is taken") != Submission::Queued {
        return;
    }
    assert_eq!(target.submit(op), Err(SubmitError::SlotInFlight(1)));
    assert!(target.buffer(Slot(1)).is_empty(), "a buffer in flight was given away");
    let mut completions = Vec::new();
    while completions.is_empty() {
        target.complete(Wait::One, &mut completions).expect("the engine works");
    }
    assert_eq!(target.buffer(Slot(1)).len(), block.as_len());
}

fn a_read_only_target_refuses_writes(target: &mut dyn Target) {
    if !target.abilities().read_only {
        return;
    }
    let block = block_of(target);
    target.prepare(1, block).expect("one slot can be had");
    for kind in [OpKind::Write, OpKind::Discard] {
        let op = Op { slot: Slot(0), kind, offset: Bytes::ZERO, length: block };
        assert_eq!(target.submit(op), Err(SubmitError::ReadOnly));
    }
}

fn buffers_are_not_replaced_under_operations(target: &mut dyn Target) {
    let block = block_of(target);
    if target.abilities().queue_depth_max < 2 {
        return;
    }
    target.prepare(2, block).expect("two slots can be had");
    let op = Op { slot: Slot(0), kind: OpKind::Read, offset: Bytes::ZERO, length: block };
    if target.submit(op).expect("a sound operation is taken") == Submission::Queued {
        assert!(matches!(target.prepare(2, block), Err(TargetError::InFlight(1))));
        let mut completions = Vec::new();
        while completions.is_empty() {
            target.complete(Wait::One, &mut completions).expect("the engine works");
        }
    }
    target.prepare(1, block).expect("buffers can be replaced at rest");
}
