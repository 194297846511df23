//! Raspberry Pi's SD Card Speed Test, from its diagnostics program agnostics.

use cardproof_units::{Bytes, Nanos};

use super::shapes::{ONCE, figure, flushed, kibibytes, on_reserved, pass, within};
use crate::{Access, EarlyEnd, FigureSpec, Minimum, Origin, PhaseSpec, Profile, Quantity, Unit};

/// The test runs so often before it gives a card up.
const RUNS: u32 = 3;

const SIZE: Bytes = Bytes::mib(256);
const DEPTH: u16 = 32;
const RANDOM: Nanos = Nanos::from_secs(10);

/// What it asks for: KB/s written in sequence, random writes and random reads a second.
const LIMITS: [f64; 3] = [10_000.0, 500.0, 1500.0];

pub(super) fn profile() -> Profile {
    let mut figures: Vec<FigureSpec> = (1..=RUNS).flat_map(figures).collect();
    figures.push(FigureSpec {
        name: "runs that pass (one is enough)".to_owned(),
        tool: "agnostics".to_owned(),
        unit: Unit::plain("runs"),
        origin: Origin::SetsMet { sets: (1..=RUNS).map(limits).collect() },
    });
    Profile {
        name: "agnostics".to_owned(),
        version: 1,
        purpose: "the result of Raspberry Pi's own card test".to_owned(),
        source: "Raspberry Pi's SD Card Speed Test (agnostics): fio libaio iodepth=32 size=256m \
                 direct=1 end_fsync=1, writing by 512k, writing and reading by 4m, 4k random \
                 writes and reads for 10 s each; up to three times until a run passes"
            .to_owned(),
        span: SIZE,
        time_budget: Nanos::from_secs(400),
        phases: (1..=RUNS).flat_map(phases).collect(),
        figures,
        early_ends: (1..=RUNS)
            .map(|run| EarlyEnd { after: named("rand-4k-read", run), limits: limits(run) })
            .collect(),
        notes: vec![
            "The run ends after the first set of phases that passes, as the test does.".to_owned(),
            "Its limits are those of the A1 class, its method is not: see the profile a1 for a \
             verdict with an interval."
                .to_owned(),
        ],
    }
}

fn named(job: &str, run: u32) -> String {
    format!("{job}-run-{run}")
}

fn phases(run: u32) -> Vec<PhaseSpec> {
    let job =
        |name, access, reads, block| pass(&named(name, run), access, reads, block, DEPTH, SIZE);
    let sequential = |name, reads, block| job(name, Access::Sequential, reads, block);
    let random = |name, reads| within(job(name, ONCE, reads, Bytes::kib(4)), RANDOM);
    vec![
        flushed(on_reserved(sequential("prepare-file", 0, Bytes::kib(512)))),
        flushed(sequential("seq-write", 0, Bytes::mib(4))),
        sequential("seq-read", 100, Bytes::mib(4)),
        flushed(random("rand-4k-write", 0)),
        random("rand-4k-read", 100),
    ]
}

fn figures(run: u32) -> Vec<FigureSpec> {
    let rate = |job| rated(job, run);
    let iops = |job| {
        let name = format!("{job} IOPS, run {run}");
        figure("agnostics", &name, Unit::plain("IOPS"), Quantity::Operations, &named(job, run))
    };
    vec![
        rate("prepare-file"),
        rate("seq-write"),
        rate("seq-read"),
        iops("rand-4k-write"),
        iops("rand-4k-read"),
    ]
}

/// fio's terse output gives KiB/s, which the test calls KB/s.
fn rated(job: &str, run: u32) -> FigureSpec {
    let name = format!("{job}, run {run}");
    figure("agnostics", &name, kibibytes("KB/s"), Quantity::Bytes, &named(job, run))
}

fn limits(run: u32) -> Vec<Minimum> {
    let names = [
        format!("seq-write, run {run}"),
        format!("rand-4k-write IOPS, run {run}"),
        format!("rand-4k-read IOPS, run {run}"),
    ];
    let limit = |(figure, at_least)| Minimum { figure, at_least };
    names.into_iter().zip(LIMITS).map(limit).collect()
}
