//! Agreement with fio on a device whose rate the kernel sets.
//!
//! The kernel counts operations in slices of 100 ms, and a group keeps its slice for a while after
//! its last operation. So every run has a group of its own: a program that starts quickly would
//! otherwise use up the rest of the slice of the run before it, which is worth 1 % of a run.

use std::path::Path;

use anyhow::{Result, bail};
use cardproof_testkit::{FioEnd, FioEngine, FioJob, FioPattern, Limits, LoopDevice, Throttle};
use cardproof_units::{Bytes, Nanos};

use super::ours;
use super::rounds::{Better, Comparison, Contender, Rounds};
use super::table::{Row, Table, Target};

/// The whole device: the SD specification's range for random addresses.
const SPAN: Bytes = Bytes::mib(256);

/// The size of a sequential transfer. The kernel splits what has more than 128 pieces of memory and
/// charges some of it twice, so that a limit of 10 MB/s holds at 5 for a MiB, or not, depending on
/// where its buffer lies.
const TRANSFER: Bytes = Bytes::kib(512);

/// How much longer a mixed phase is looked at: fio draws its mix, and how far that strays from
/// what was asked for shrinks with the number of operations.
const MIXED_TIMES: u64 = 3;

/// How far the median ratio may be from one.
const MARGIN: f64 = 0.02;

/// A device, its limits, and how long to look at it.
struct Card {
    name: &'static str,
    limits: Limits,
    /// Long enough that one operation more or less is below half the margin.
    time: Nanos,
    /// Also sequential transfers, where bandwidth is the limit.
    sequential: bool,
    depths: &'static [u16],
}

/// The limits of A1 and A2, and a slow old card.
fn cards() -> [Card; 3] {
    let iops = |read, write| Limits {
        read_iops: Some(read),
        write_iops: Some(write),
        ..Limits::default()
    };
    let bandwidth = Some(Bytes(10_000_000));
    let seconds = Nanos::from_secs;
    [
        Card {
            name: "1500/500",
            limits: iops(1500, 500),
            time: seconds(3),
            sequential: false,
            depths: &[1, 32],
        },
        Card {
            name: "4000/2000",
            limits: iops(4000, 2000),
            time: seconds(3),
            sequential: false,
            depths: &[1, 32],
        },
        Card {
            name: "33 W, 10 MB/s",
            limits: Limits {
                read_iops: None,
                write_iops: Some(33),
                read_bytes: bandwidth,
                write_bytes: bandwidth,
            },
            time: seconds(6),
            sequential: true,
            depths: &[1],
        },
    ]
}

/// Every card, pattern and depth.
pub(super) fn run(program: &Path, rounds: usize) -> Result<Table> {
    let mut table = Table::of_ratios("Agreement with fio on a device limited by the kernel (IOPS)");
    let device = LoopDevice::filled(SPAN, 1)?;
    for card in cards() {
        for job in jobs(&card, &device) {
            table.add(row(program, &card, &job, &device, rounds)?);
        }
    }
    Ok(table)
}

/// What is run on `card`.
fn jobs(card: &Card, device: &LoopDevice) -> Vec<FioJob> {
    let job = |pattern, block_size, queue_depth| FioJob {
        target: device.path().to_owned(),
        engine: FioEngine::IoUring,
        pattern,
        block_size,
        span: SPAN,
        queue_depth,
        end: FioEnd::Time(match pattern {
            FioPattern::RandomMixed(_) => card.time * MIXED_TIMES,
            _ => card.time,
        }),
    };
    let random = [FioPattern::RandomRead, FioPattern::RandomWrite, FioPattern::RandomMixed(70)];
    let mut jobs = Vec::new();
    for &depth in card.depths {
        jobs.extend(random.map(|pattern| job(pattern, Bytes::kib(4), depth)));
    }
    if card.sequential {
        let both = [FioPattern::Read, FioPattern::Write];
        jobs.extend(both.map(|pattern| job(pattern, TRANSFER, 1)));
    }
    jobs
}

/// One row: fio and ours in turn under the same limits.
fn row(
    program: &Path,
    card: &Card,
    job: &FioJob,
    device: &LoopDevice,
    rounds: usize,
) -> Result<Row> {
    let fresh = || Throttle::new(device, &card.limits);
    let mut contenders: [Contender<'_>; 2] = [
        Box::new(|| Ok(job.run(Some(&fresh()?))?.into())),
        Box::new(|| ours::run(program, job, Some(&fresh()?))),
    ];
    let runs = Rounds::run(&mut contenders, rounds)?;
    let Comparison { other, ours, ratio, range } =
        runs.compare(Better::Higher, |sample| sample.iops);
    let name =
        format!("{}: {:?} {} depth {}", card.name, job.pattern, job.block_size, job.queue_depth);
    if let Some(ceiling) = ceiling(&card.limits, job)
        && other > ceiling * 1.1
    {
        bail!("{name}: fio reached {other:.0} IOPS above the limit of {ceiling:.0}: no limit here");
    }
    Ok(Row {
        name,
        other: format!("{other:.1}"),
        ours: format!("{ours:.1}"),
        value: ratio,
        range: Some(range),
        target: Target::OneWithin(MARGIN),
    })
}

/// The most operations a second that `limits` allow for `job`, if they limit it.
fn ceiling(limits: &Limits, job: &FioJob) -> Option<f64> {
    let read_share = match job.pattern {
        FioPattern::Read | FioPattern::RandomRead => 1.0,
        FioPattern::Write | FioPattern::RandomWrite => 0.0,
        FioPattern::RandomMixed(percent) => f64::from(percent) / 100.0,
    };
    let by_bytes =
        |limit: Option<Bytes>| limit.map(|limit| limit.as_f64() / job.block_size.as_f64());
    [
        (limits.read_iops.map(f64::from), read_share),
        (limits.write_iops.map(f64::from), 1.0 - read_share),
        (by_bytes(limits.read_bytes), read_share),
        (by_bytes(limits.write_bytes), 1.0 - read_share),
    ]
    .into_iter()
    .filter(|&(_, share)| share > 0.0)
    .filter_map(|(limit, share)| limit.map(|limit| limit / share))
    .min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tightest_limit_is_the_ceiling() {
        let job = |pattern, block_size| FioJob {
            target: "x".into(),
            engine: FioEngine::IoUring,
            pattern,
            block_size,
            span: SPAN,
            queue_depth: 1,
            end: FioEnd::Ops(1),
        };
        let [a1, _, slow] = cards();
        let cases = [
            (&a1, FioPattern::RandomRead, Bytes::kib(4), 1500.0),
            (&a1, FioPattern::RandomMixed(70), Bytes::kib(4), 500.0 / 0.3),
            (&slow, FioPattern::RandomWrite, Bytes::kib(4), 33.0),
            (&slow, FioPattern::Write, TRANSFER, 10_000_000.0 / 524_288.0),
        ];
        for (card, pattern, block_size, wanted) in cases {
            let ceiling = ceiling(&card.limits, &job(pattern, block_size)).unwrap();
            assert!((ceiling - wanted).abs() < 1e-6, "{}: {pattern:?}: {ceiling}", card.name);
        }
    }
}
