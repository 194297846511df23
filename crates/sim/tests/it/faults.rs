//! Every fault does its harm, where and when it is told to, and no other.

use crate::support::{holds, op, read, run, write};
use cardproof_io::{Fault, Op, OpKind, Slot, Submission, Target, Wait};
use cardproof_sim::fault::{
    AtRisk, Effect, FaultRule, FaultyCard, PowerCutTarget, PowerLoss, When,
};
use cardproof_sim::{Keeping, Peek, SimulatedTarget, find};
use cardproof_units::{Bytes, Nanos, Seed};

fn card() -> SimulatedTarget {
    find("sandisk-ultra-a1").unwrap().build(Seed::from_bits(3), Keeping::Bytes).unwrap()
}

fn faulty(effect: Effect, when: When) -> FaultyCard<SimulatedTarget> {
    let mut target = FaultyCard::new(card(), vec![FaultRule { effect, when }], Seed::from_bits(3));
    target.prepare(2, Bytes::kib(64)).unwrap();
    target
}

#[test]
fn the_second_operation_fails_and_does_nothing() {
    let mut target = faulty(Effect::Fail(Fault::InputOutput), When::at(2));
    write(&mut target, 0, 4096, 1).outcome.unwrap();
    assert_eq!(write(&mut target, 0, 4096, 2).outcome, Err(Fault::InputOutput));
    assert!(holds(&mut target, 0, 4096, 1));
}

#[test]
fn a_range_fails_and_its_neighbours_work() {
    let when = When::touching(Some(OpKind::Read), 8192..12_288);
    let mut target = faulty(Effect::Fail(Fault::InputOutput), when);
    write(&mut target, 0, 65_536, 1).outcome.unwrap();
    assert!(holds(&mut target, 0, 8192, 1) && holds(&mut target, 12_288, 8192, 1));
    for offset in [4096, 8192] {
        let completion = run(&mut target, op(OpKind::Read, offset, 8192));
        assert_eq!(completion.outcome, Err(Fault::InputOutput));
    }
}

#[test]
fn a_timeout_takes_its_time() {
    let mut target = faulty(Effect::TimeOut(Nanos::from_secs(30)), When::at(1));
    let completion = write(&mut target, 0, 4096, 1);
    assert_eq!(completion.outcome, Err(Fault::TimedOut));
    assert_eq!(completion.latency(), Nanos::from_secs(30));
    assert!(write(&mut target, 0, 4096, 1).latency() < Nanos::from_millis(10));
}

#[test]
fn other_operations_overtake_one_that_times_out() {
    let mut target = faulty(Effect::TimeOut(Nanos::from_secs(30)), When::at(1));
    for number in 0..2 {
        let op = Op { slot: Slot(number), ..op(OpKind::Read, 0, 4096) };
        assert_eq!(target.submit(op).unwrap(), Submission::Queued);
    }
    let mut completions = Vec::new();
    target.complete(Wait::One, &mut completions).unwrap();
    assert_eq!((completions.len(), completions[0].slot), (1, Slot(1)));
    target.complete(Wait::One, &mut completions).unwrap();
    assert_eq!(completions[1].outcome, Err(Fault::TimedOut));
}

/// How many bits differ from `byte`.
fn bits_off(bytes: &[u8], byte: u8) -> u32 {
    bytes.iter().map(|found| (found ^ byte).count_ones()).sum()
}

#[test]
fn bits_flip_in_transit_once() {
    let mut target = faulty(Effect::FlipBits(3), When::at(2));
    write(&mut target, 0, 4096, 0x55).outcome.unwrap();
    assert_eq!(bits_off(&read(&mut target, 0, 4096), 0x55), 3);
    assert_eq!(bits_off(&read(&mut target, 0, 4096), 0x55), 0);
}

#[test]
fn bits_flip_on_the_flash_for_good_and_leave_the_callers_bytes_alone() {
    let mut target = faulty(Effect::FlipBits(3), When::at(1));
    write(&mut target, 0, 4096, 0x55).outcome.unwrap();
    assert!(target.buffer(Slot(0))[..4096].iter().all(|&byte| byte == 0x55));
    for _ in 0..2 {
        assert_eq!(bits_off(&read(&mut target, 0, 4096), 0x55), 3);
    }
}

#[test]
fn a_stuck_block_keeps_its_own_pattern() {
    let mut target = faulty(Effect::Stick, When::touching(None, 8192..8704));
    write(&mut target, 0, 65_536, 1).outcome.unwrap();
    let stuck = read(&mut target, 8192, 512);
    write(&mut target, 0, 65_536, 2).outcome.unwrap();
    assert_eq!(read(&mut target, 8192, 512), stuck);
    assert!(bits_off(&stuck, 2) > 1000, "noise");
    assert!(holds(&mut target, 0, 8192, 2) && holds(&mut target, 8704, 8192, 2));
}

#[test]
fn a_misdirected_write_lands_elsewhere() {
    let mut target = faulty(Effect::Misdirect(Bytes(16_384)), When::at(2));
    write(&mut target, 0, 65_536, 1).outcome.unwrap();
    assert_eq!(write(&mut target, 4096, 4096, 2).outcome, Ok(Bytes(4096)));
    assert!(holds(&mut target, 4096, 4096, 1) && holds(&mut target, 20_480, 4096, 2));
}

#[test]
fn a_lost_write_is_reported_done() {
    let mut target = faulty(Effect::Lose, When::at(2));
    write(&mut target, 0, 4096, 1).outcome.unwrap();
    assert_eq!(write(&mut target, 0, 4096, 2).outcome, Ok(Bytes(4096)));
    assert!(holds(&mut target, 0, 4096, 1));
}

#[test]
fn a_vanished_card_takes_those_in_flight_with_it() {
    let mut target = faulty(Effect::Vanish, When::at(2));
    for number in 0..2 {
        let op = Op { slot: Slot(number), ..op(OpKind::Read, 0, 4096) };
        assert_eq!(target.submit(op).unwrap(), Submission::Queued);
    }
    let mut completions = Vec::new();
    while completions.len() < 2 {
        target.complete(Wait::One, &mut completions).unwrap();
    }
    assert!(completions.iter().all(|completion| completion.outcome == Err(Fault::Vanished)));
    assert_eq!(run(&mut target, op(OpKind::Read, 0, 512)).outcome, Err(Fault::Vanished));
}

#[test]
fn a_chance_is_kept() {
    let when = When { chance_ppm: 50_000, ..When::ALWAYS };
    let mut target = faulty(Effect::Fail(Fault::InputOutput), when);
    let failed = (0..4000).filter(|_| run(&mut target, op(OpKind::Read, 0, 512)).outcome.is_err());
    assert!((150..250).contains(&failed.count()));
}

fn supplied(loss: PowerLoss) -> PowerCutTarget<SimulatedTarget> {
    let mut target = PowerCutTarget::new(card(), loss, Seed::from_bits(3));
    target.prepare(1, Bytes::kib(64)).unwrap();
    target
}

const LOSES_ALL: PowerLoss = PowerLoss {
    at_operation: None,
    at_risk: AtRisk::Lost,
    honours_flush: true,
    volatile_max: Bytes::mib(8),
};

fn flush(target: &mut dyn Target) {
    assert_eq!(run(target, Op::flush(Slot(0))).outcome, Ok(Bytes::ZERO));
}

#[test]
fn what_was_flushed_survives_and_what_was_not_is_lost() {
    let mut target = supplied(LOSES_ALL);
    write(&mut target, 0, 4096, 1).outcome.unwrap();
    flush(&mut target);
    write(&mut target, 0, 4096, 2).outcome.unwrap();
    target.cut_power();
    assert_eq!(run(&mut target, op(OpKind::Read, 0, 4096)).outcome, Err(Fault::Vanished));
    target.restore_power();
    assert!(holds(&mut target, 0, 4096, 1));
}

#[test]
fn a_lying_flush_loses_what_it_promised() {
    let mut target = supplied(PowerLoss { honours_flush: false, ..LOSES_ALL });
    write(&mut target, 0, 4096, 1).outcome.unwrap();
    flush(&mut target);
    target.cut_power();
    target.restore_power();
    assert!(holds(&mut target, 0, 4096, 0));
}

#[test]
fn only_the_latest_writes_are_volatile() {
    let loss = PowerLoss { honours_flush: false, volatile_max: Bytes::kib(64), ..LOSES_ALL };
    let mut target = supplied(loss);
    for number in 0..32 {
        write(&mut target, number * 4096, 4096, 1).outcome.unwrap();
    }
    target.cut_power();
    target.restore_power();
    assert!(holds(&mut target, 0, 65_536, 1), "too old to be lost");
    assert!(holds(&mut target, 65_536, 65_536, 0));
}

#[test]
fn a_torn_write_is_a_mixture_of_whole_blocks() {
    let mut target = supplied(PowerLoss { at_risk: AtRisk::Torn, ..LOSES_ALL });
    write(&mut target, 0, 65_536, 1).outcome.unwrap();
    flush(&mut target);
    write(&mut target, 0, 65_536, 2).outcome.unwrap();
    target.cut_power();
    target.restore_power();
    let bytes = read(&mut target, 0, 65_536);
    let kept = bytes.chunks(512).filter(|block| block.iter().all(|&byte| byte == 2)).count();
    let lost = bytes.chunks(512).filter(|block| block.iter().all(|&byte| byte == 1)).count();
    assert_eq!(kept + lost, 128);
    assert!((40..88).contains(&kept), "{kept}");
}

#[test]
fn the_power_fails_at_the_operation_asked_for() {
    let mut target = supplied(PowerLoss { at_operation: Some(3), ..LOSES_ALL });
    write(&mut target, 0, 4096, 1).outcome.unwrap();
    flush(&mut target);
    assert_eq!(write(&mut target, 0, 4096, 2).outcome, Err(Fault::Vanished));
    assert!(target.is_off());
    target.restore_power();
    assert!(holds(&mut target, 0, 4096, 1));
}

#[test]
fn peeking_takes_no_time() {
    let mut target = card();
    target.prepare(1, Bytes(4096)).unwrap();
    target.poke(Bytes(4096), &[9; 512]);
    let mut bytes = [0; 1024];
    target.peek(Bytes(3584), &mut bytes);
    assert!(bytes[..512].iter().all(|&byte| byte == 0) && bytes[512..] == [9; 512]);
    assert_eq!(target.now(), Nanos::ZERO);
    assert!(holds(&mut target, 4096, 512, 9));
}
