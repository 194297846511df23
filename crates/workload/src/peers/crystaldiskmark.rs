//! CrystalDiskMark, and KDiskMark, which does the same through fio.

use cardproof_units::{Bytes, Nanos};

use super::shapes::{flushed, lay_out, megabytes, pass, within};
use crate::{
    Access, Aggregate, FigureSpec, Origin, PhaseSpec, Profile, Quantity, Repetition, Unit,
};

const SIZE: Bytes = Bytes::gib(1);
const LOOPS: u32 = 5;
const LOOP: Nanos = Nanos::from_secs(5);

/// Name, what CrystalDiskMark calls it, order, block size, depth.
const TESTS: [(&str, &str, Access, Bytes, u16); 4] = [
    ("seq1m-q8t1", "SEQ1M Q8T1", Access::Sequential, Bytes::mib(1), 8),
    ("seq1m-q1t1", "SEQ1M Q1T1", Access::Sequential, Bytes::mib(1), 1),
    ("rnd4k-q32t1", "RND4K Q32T1", Access::Random(Repetition::Allowed), Bytes::kib(4), 32),
    ("rnd4k-q1t1", "RND4K Q1T1", Access::Random(Repetition::Allowed), Bytes::kib(4), 1),
];

/// Name and share of reads.
const KINDS: [(&str, u8); 3] = [("read", 100), ("write", 0), ("mix", 70)];

pub(super) fn profile() -> Profile {
    let mut phases = vec![lay_out("lay-out", SIZE)];
    let (mut best, mut mean) = (Vec::new(), Vec::new());
    for (kind, read_percent) in KINDS {
        for (test, shown, access, block_size, depth) in TESTS {
            let name = |round| format!("{test}-{kind}-loop-{round}");
            let phase = |round| {
                let whole = pass(&name(round), access, read_percent, block_size, depth, SIZE);
                loop_of(whole)
            };
            phases.extend((1..=LOOPS).map(phase));
            let names: Vec<String> = (1..=LOOPS).map(name).collect();
            let label = format!("{shown} {kind}");
            best.push(figure(&label, "CrystalDiskMark", Aggregate::Best, names.clone()));
            if kind != "mix" {
                mean.push(figure(&format!("{label}, mean"), "KDiskMark", Aggregate::Mean, names));
            }
        }
    }
    best.extend(mean);
    Profile {
        name: "crystaldiskmark".to_owned(),
        version: 1,
        purpose: "figures to compare with CrystalDiskMark and KDiskMark".to_owned(),
        source: "CrystalDiskMark 8 and KDiskMark 3, default profile with mixes: SEQ1M Q8T1, SEQ1M \
                 Q1T1, RND4K Q32T1, RND4K Q1T1 on 1 GiB, 5 loops of 5 s"
            .to_owned(),
        span: SIZE,
        time_budget: Nanos::from_secs(420),
        phases,
        figures: best,
        early_ends: Vec::new(),
        notes: vec![
            "CrystalDiskMark shows the best of the loops, KDiskMark their mean; both are given."
                .to_owned(),
            "KDiskMark's MB/s are KiB/s divided by 1000, so one is 1024000 bytes a second."
                .to_owned(),
            "As with KDiskMark, writes are flushed inside the time, and a loop ends at the end of \
             the file if that comes before 5 s; CrystalDiskMark on Windows writes through instead."
                .to_owned(),
            "The pauses of 5 s between the tests are left out.".to_owned(),
        ],
    }
}

/// One loop: its time, and no more than the file where it writes, which bounds the wear.
fn loop_of(whole: PhaseSpec) -> PhaseSpec {
    let phase = within(whole, LOOP);
    if phase.writes() {
        return flushed(phase);
    }
    let mut reads = phase;
    reads.ends.bytes = None;
    reads
}

fn figure(name: &str, tool: &str, aggregate: Aggregate, phases: Vec<String>) -> FigureSpec {
    let unit = match aggregate {
        Aggregate::Best => megabytes(),
        Aggregate::Mean => Unit::of_bytes("MB/s", 1_024_000.0),
    };
    FigureSpec {
        name: name.to_owned(),
        tool: tool.to_owned(),
        unit,
        origin: Origin::Phases { phases, quantity: Quantity::Bytes, aggregate },
    }
}
