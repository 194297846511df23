//! The same seed gives the same run, to the nanosecond, on every machine.

use cardproof_io::{Op, OpKind, Slot, Submission, Target, Wait};
use cardproof_sim::catalogue;
use cardproof_units::{Bytes, Seed};

/// Everything a mixed run at some depth returns, as one number (FNV-1a).
fn fingerprint(target: &mut dyn Target) -> u64 {
    target.prepare(4, Bytes::kib(64)).unwrap();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |number: u64| hash = (hash ^ number).wrapping_mul(0x0100_0000_01b3);
    let mut free: Vec<Slot> = (0..4).map(Slot).collect();
    let mut completions = Vec::new();
    for number in 0..4000_u64 {
        let slot = free.pop().unwrap();
        let kind =
            [OpKind::Write, OpKind::Read, OpKind::Write, OpKind::Flush][(number / 3 % 4) as usize];
        let length = Bytes::kib([4, 1, 16, 64][(number % 4) as usize]);
        let offset =
            Bytes::kib(number.wrapping_mul(2_654_435_761) % (1 << 16)).round_down_to(length);
        let op = match kind {
            OpKind::Flush => Op::flush(slot),
            _ => Op { slot, kind, offset, length },
        };
        assert_eq!(target.submit(op).unwrap(), Submission::Queued);
        if free.is_empty() {
            target.complete(Wait::One, &mut completions).unwrap();
        }
        for completion in completions.drain(..) {
            add(u64::from(completion.slot.0));
            add(completion.submitted.get());
            add(completion.completed.get());
            free.push(completion.slot);
        }
    }
    hash
}

fn fingerprints(seed: u64) -> String {
    let mut text = String::new();
    for card in catalogue() {
        let mut target = cardproof_sim::open(card.name, Seed::from_bits(seed)).unwrap();
        text += &format!("{} {:016x}\n", card.name, fingerprint(&mut *target));
    }
    text
}

#[test]
fn a_seed_means_the_same_everywhere() {
    assert_eq!(
        fingerprints(1),
        include_str!("snapshots/fingerprints.txt"),
        "\n{}",
        fingerprints(1)
    );
}

#[test]
fn another_seed_is_another_run() {
    let (one, two) = (fingerprints(1), fingerprints(2));
    let same = one.lines().filter(|line| two.contains(*line)).count();
    assert_eq!(same, 0);
}
