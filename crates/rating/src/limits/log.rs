//! What a log of iostat tells: by device, in which state it was for how long, and what limited.
//!
//! A log with `-x` says how busy the device was, and that decides. A plain log says only what was
//! moved. There, small writes that go on without a rest at a rate below what any card of class A1
//! must do are the card's ceiling: a machine with work to do would have done more of them on
//! better storage. Between that and a rate that no card need be ashamed of, the log cannot tell
//! whether storage or processor was waited for, and says so.

use cardproof_record::{IostatCpu, IostatLog, IostatReport, IostatRow, Limit};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};

use super::storage::{BUSY, SMALL};
use super::{Evidence, Limiting, LogState, OfLog, StateShare};

/// Less than this a second is background, not work: a journal and some logs.
const WORK: Throughput = Throughput(100.0 * 1024.0);

/// Fewer transactions than this a second are idling even where they move a little.
const IDLE: Iops = Iops(0.5);

/// A side that moves this share of the bytes is what the device did.
const MOSTLY: f64 = 0.7;

/// Small writes below this rate, without a rest, are a card's ceiling. A1 asks for 500 a second
/// at 4 KiB (SD Physical Layer Specification 5.1); the writes of a busy system are larger and
/// wait for flushes, which costs a good card a factor of five at the most.
const CEILING: Iops = Iops(100.0);

/// The share of the working time after which a state is what the log is about.
const PREVAILS: f64 = 0.5;

/// What a log tells of one device.
#[derive(Clone, Debug, PartialEq)]
pub struct LogExplanation {
    /// The kernel's name of the device.
    pub device: String,
    /// Whether the log begins with a report since boot, which does not count.
    pub leaves_out_first: bool,
    /// How many reports tell of it, without one since boot.
    pub reports: u64,
    /// How long they took; `None` where the log does not say.
    pub time: Option<Nanos>,
    /// What was read in all, as far as the log says.
    pub read: Bytes,
    /// What was written in all.
    pub written: Bytes,
    /// Its states in the order in which they first came, without repetitions next to each other,
    /// at most the first of each.
    pub states: Vec<StateShare>,
    /// The longest mean time of a read in one report; only with `-x`.
    pub read_await_max: Option<Nanos>,
    /// The longest mean time of a write in one report; only with `-x`.
    pub write_await_max: Option<Nanos>,
    /// The most requests that waited in a report in which none ended; absent if there is no such report.
    pub stalled_requests_max: Option<f64>,
    /// Whether what was written includes what was discarded, as `iostat -s` adds them.
    pub includes_discards: bool,
    /// What limited, with figures.
    pub limited_by: Limiting,
}

/// One report of a device, with what is known of its time.
#[derive(Clone, Copy, Debug)]
struct Sample<'log> {
    row: &'log IostatRow,
    cpu: Option<IostatCpu>,
    window: Option<Nanos>,
    state: LogState,
}

/// Explains `log`, device by device; `interval` is iostat's, where the log does not tell it. A
/// report that counts since boot is left out unless it is about as short as the others.
#[must_use]
pub fn explain_log(log: &IostatLog, interval: Option<Nanos>) -> Vec<LogExplanation> {
    let mut devices: Vec<&str> = Vec::new();
    for row in log.reports.iter().flat_map(|report| &report.rows) {
        if !devices.contains(&row.device.as_str()) {
            devices.push(&row.device);
        }
    }
    devices.iter().filter_map(|device| explain(log, device, interval)).collect()
}

fn explain(log: &IostatLog, device: &str, interval: Option<Nanos>) -> Option<LogExplanation> {
    let samples = samples(log, device, interval);
    if samples.is_empty() {
        return None;
    }
    let of_device = |report: &&IostatReport| report.rows.iter().any(|row| row.device == device);
    let leaves_out_first = samples.len() < log.reports.iter().filter(of_device).count();
    let states = shares(&samples);
    let bytes = |rate: fn(&IostatRow) -> Throughput| {
        let each = samples.iter().filter_map(|sample| {
            sample.window.map(|window| rate(sample.row).0 * window.as_secs_f64())
        });
        Bytes(each.sum::<f64>().round() as u64)
    };
    let limited_by = limit(&samples, &states, device, log.cpus);
    Some(LogExplanation {
        device: device.to_owned(),
        reports: samples.len() as u64,
        leaves_out_first,
        time: time_of(samples.iter()),
        read: bytes(|row| row.read_per_s),
        written: bytes(|row| row.written_per_s),
        states,
        read_await_max: samples.iter().filter_map(|sample| sample.row.read_await).max(),
        write_await_max: samples.iter().filter_map(|sample| sample.row.write_await).max(),
        stalled_requests_max: samples
            .iter()
            .filter(|sample| sample.state == LogState::Stalled)
            .filter_map(|sample| sample.row.queue)
            .reduce(f64::max),
        includes_discards: samples.iter().any(|sample| sample.row.includes_discards),
        limited_by,
    })
}

/// The reports of `device` that count.
fn samples<'log>(log: &'log IostatLog, device: &str, interval: Option<Nanos>) -> Vec<Sample<'log>> {
    let usual = interval.or_else(|| usual_window(log));
    let of_device = log.reports.iter().enumerate().filter_map(|(index, report)| {
        let row = report.rows.iter().find(|row| row.device == device)?;
        let window = row.window().or(usual);
        let since_boot = index == 0
            && log.reports.len() > 1
            && is_since_boot(log.first_is_since_boot, row.window(), usual);
        (!since_boot).then(|| Sample { row, cpu: report.cpu, window, state: state(row, report) })
    });
    of_device.collect()
}

/// A first report under iostat's own heading counts since boot; one of a cut log does where it is
/// far longer than the others.
fn is_since_boot(has_heading: bool, window: Option<Nanos>, usual: Option<Nanos>) -> bool {
    let is_far_longer =
        window.zip(usual).is_some_and(|(window, usual)| window.get() / 10 > usual.get());
    has_heading || is_far_longer
}

/// The median of the windows that the rows know, in whole seconds, as iostat has them.
fn usual_window(log: &IostatLog) -> Option<Nanos> {
    let rows = log.reports.iter().skip(usize::from(log.reports.len() > 1));
    let mut windows: Vec<Nanos> =
        rows.flat_map(|report| &report.rows).filter_map(IostatRow::window).collect();
    windows.sort_unstable();
    let median = windows.get(windows.len() / 2)?;
    Some(Nanos::from_secs_f64(median.as_secs_f64().round().max(1.0)))
}

/// Processors that wait for storage so long while none of its requests ends: the storage does not answer.
const STALL_WAIT: f64 = 0.2;

/// Whether `row` is of the only storage of `report` and the processors wait for it, where the log does not
/// say how busy it is.
fn is_waited_for(row: &IostatRow, report: &IostatReport) -> bool {
    let is_storage =
        |row: &&IostatRow| !["loop", "ram", "zram"].iter().any(|name| row.device.starts_with(name));
    let is_only = report.rows.iter().filter(is_storage).count() == 1 && is_storage(&row);
    let waits = report.cpu.and_then(|cpu| cpu.iowait).is_some_and(|wait| wait >= STALL_WAIT);
    row.utilisation.is_none() && is_only && waits
}

fn state(row: &IostatRow, report: &IostatReport) -> LogState {
    let (read, moved) = (row.read_per_s.0, row.moved_per_s().0);
    let is_busy = row.utilisation.is_some_and(|share| share >= BUSY);
    if row.transactions_per_s < IDLE {
        let has_waiting = row.queue.is_some_and(|queue| queue >= 1.0);
        let is_stalled = is_busy && has_waiting || is_waited_for(row, report);
        return if is_stalled { LogState::Stalled } else { LogState::Idle };
    }
    if moved < WORK.0 && !is_busy {
        return LogState::Background;
    }
    // Linux counts a flush without data as a write of nothing.
    let flushes =
        row.flushes_per_s.unwrap_or_default().0.min(row.writes_per_s.unwrap_or_default().0);
    let is_small = moved < SMALL.as_f64() * (row.transactions_per_s.0 - flushes);
    // The short form does not tell reads from writes.
    let share = if row.of_both_per_s.is_some() { 0.5 } else { read / moved };
    match (share, is_small) {
        (share, true) if share >= MOSTLY => LogState::SmallReads,
        (share, false) if share >= MOSTLY => LogState::LargeReads,
        (share, true) if share <= 1.0 - MOSTLY => LogState::SmallWrites,
        (share, false) if share <= 1.0 - MOSTLY => LogState::LargeWrites,
        _ => LogState::Mixed,
    }
}

/// The states in the order in which they first came.
fn shares(samples: &[Sample<'_>]) -> Vec<StateShare> {
    let mut order: Vec<LogState> = Vec::new();
    for sample in samples {
        if !order.contains(&sample.state) {
            order.push(sample.state);
        }
    }
    order.iter().map(|&state| share(state, samples)).collect()
}

fn share(state: LogState, samples: &[Sample<'_>]) -> StateShare {
    let own: Vec<&Sample<'_>> = samples.iter().filter(|sample| sample.state == state).collect();
    let moved = |sample: &&Sample<'_>| sample.row.moved_per_s().0;
    let transactions: f64 = own.iter().map(|sample| sample.row.transactions_per_s.0).sum();
    let bytes: f64 = own.iter().map(moved).sum();
    StateShare {
        state,
        reports: own.len() as u64,
        time: time_of(own.iter().copied()),
        transactions_per_s: Iops(transactions / own.len().max(1) as f64),
        bytes_per_s: Throughput(bytes / own.len().max(1) as f64),
        mean_bytes: Bytes((bytes / transactions.max(f64::MIN_POSITIVE)).round() as u64),
    }
}

/// How long all of `samples` took; `None` where one does not say.
fn time_of<'a>(mut samples: impl Iterator<Item = &'a Sample<'a>>) -> Option<Nanos> {
    samples.try_fold(Nanos::ZERO, |sum, sample| Some(sum.saturating_add(sample.window?)))
}

fn median(rates: impl Iterator<Item = Iops>) -> Iops {
    let mut rates: Vec<f64> = rates.map(|rate| rate.0).collect();
    rates.sort_by(f64::total_cmp);
    Iops(rates.get(rates.len() / 2).copied().unwrap_or_default())
}

/// What limited in the time in which there was work.
fn limit(
    samples: &[Sample<'_>],
    states: &[StateShare],
    device: &str,
    cpus: Option<u32>,
) -> Limiting {
    let is_work = |state| !matches!(state, LogState::Idle | LogState::Background);
    let working: Vec<&Sample<'_>> = samples.iter().filter(|sample| is_work(sample.state)).collect();
    let answer = |limit, evidence: Vec<Evidence>| Limiting {
        limit,
        device: (!matches!(limit, Limit::Cpu | Limit::Nothing | Limit::Elsewhere))
            .then(|| device.to_owned()),
        evidence,
    };
    if working.is_empty() {
        let (limit, evidence) = beside_idle(samples, device, cpus);
        return answer(limit, evidence);
    }
    // A stall says how long, and not at what.
    let main = states
        .iter()
        .filter(|share| is_work(share.state))
        .max_by_key(|share| (share.state != LogState::Stalled, share.reports))
        .copied()
        .unwrap_or_else(|| share(LogState::Idle, samples));
    if let Some(known) = by_busyness(&working, &main, cpus) {
        return answer(known.0, known.1);
    }
    by_rate(&working, &main, samples.len()).map_or_else(
        || answer(Limit::Unknown, of_log([OfLog::Mostly(main), OfLog::Undecided])),
        |(limit, evidence)| answer(limit, evidence),
    )
}

/// What limited while the device had next to nothing to do.
fn beside_idle(samples: &[Sample<'_>], device: &str, cpus: Option<u32>) -> (Limit, Vec<Evidence>) {
    let count = samples.len() as f64;
    let full = samples.iter().filter(|sample| is_full(sample)).count() as f64 / count;
    let waited = samples.iter().filter(|it| stalled(it, cpus) >= Some(0.5)).count() as f64 / count;
    if full >= PREVAILS {
        return (Limit::Cpu, of_log([OfLog::CpuBesideIdle(full, device.to_owned())]));
    }
    if waited >= PREVAILS {
        return (Limit::Elsewhere, of_log([OfLog::Elsewhere(waited, device.to_owned())]));
    }
    (Limit::Nothing, of_log([OfLog::NothingToDo]))
}

/// Whether the processors had nothing left.
fn is_full(sample: &Sample<'_>) -> bool {
    sample.cpu.is_some_and(|cpu| cpu.idle + cpu.iowait.unwrap_or_default() <= 0.1)
}

/// How many tasks waited for I/O on average, on one of `cpus` processors each, where the log tells it.
fn stalled(sample: &Sample<'_>, cpus: Option<u32>) -> Option<f64> {
    iowait(sample).map(|wait| wait * f64::from(cpus.unwrap_or(1)))
}

/// Whether the processors had time to wait, and no task did: then a busy device works in the background.
fn is_unwatched(sample: &Sample<'_>, cpus: Option<u32>) -> bool {
    let has_time = sample.cpu.is_some_and(|cpu| cpu.idle >= 0.5);
    let nobody = stalled(sample, cpus).is_some_and(|waits| waits > 0.0 && waits < 0.1);
    has_time && nobody && cpus.is_some()
}

/// The share of the processors' time in which they waited for storage, where the log tells it.
fn iowait(sample: &Sample<'_>) -> Option<f64> {
    sample.cpu?.iowait
}

/// A log that says how busy device or processors were.
fn by_busyness(
    working: &[&Sample<'_>],
    main: &StateShare,
    cpus: Option<u32>,
) -> Option<(Limit, Vec<Evidence>)> {
    let count = working.len() as f64;
    let share_of = |is_so: &dyn Fn(&Sample<'_>) -> bool| {
        working.iter().filter(|sample| is_so(sample)).count() as f64 / count
    };
    let waits = |sample: &Sample<'_>| match sample.row.utilisation {
        Some(share) => share >= BUSY && !is_unwatched(sample, cpus),
        None => stalled(sample, cpus) >= Some(0.5),
    };
    let is_told = |sample: &Sample<'_>| {
        sample.row.utilisation.is_some() || iowait(sample).is_some() || is_full(sample)
    };
    if share_of(&is_told) < PREVAILS {
        return None;
    }
    if share_of(&waits) >= PREVAILS {
        let mut evidence = of_log([OfLog::Did(*main), OfLog::Busy(share_of(&waits))]);
        let full = share_of(&is_full);
        evidence.extend(
            (full >= PREVAILS).then(|| of_log([OfLog::CpuFull(full)])).into_iter().flatten(),
        );
        return Some((storage_limit(main), evidence));
    }
    if share_of(&is_full) >= PREVAILS {
        return Some((Limit::Cpu, of_log([OfLog::CpuFull(share_of(&is_full))])));
    }
    Some((Limit::Nothing, of_log([OfLog::Mostly(*main), OfLog::Spare(share_of(&waits))])))
}

/// A plain log: small writes without a rest, at a rate that no good card has.
fn by_rate(
    working: &[&Sample<'_>],
    main: &StateShare,
    samples: usize,
) -> Option<(Limit, Vec<Evidence>)> {
    // Large writes in between are the same work, merged: a slow card lets it pile up.
    let writes = |sample: &&&Sample<'_>| {
        matches!(sample.state, LogState::SmallWrites | LogState::LargeWrites)
    };
    let written = working.iter().filter(writes).count() as f64;
    let small =
        working.iter().filter(|sample| sample.state == LogState::SmallWrites).count() as f64;
    let goes_on = working.len() as f64 >= 0.9 * samples as f64;
    let is_written = written >= MOSTLY * working.len() as f64;
    let of_main = working.iter().filter(|sample| sample.state == main.state);
    let usual = median(of_main.map(|sample| sample.row.transactions_per_s));
    let is_slow = main.state == LogState::SmallWrites && usual < CEILING;
    (goes_on && is_written && is_slow && small >= PREVAILS * written).then(|| {
        (storage_limit(main), of_log([OfLog::Did(*main), OfLog::Slow(main.transactions_per_s)]))
    })
}

fn of_log<const N: usize>(evidence: [OfLog; N]) -> Vec<Evidence> {
    evidence.into_iter().map(Evidence::OfLog).collect()
}

fn storage_limit(main: &StateShare) -> Limit {
    match main.state {
        LogState::Stalled => Limit::StorageStall,
        LogState::SmallWrites => Limit::StorageSmallWrite,
        LogState::SmallReads => Limit::StorageSmallRead,
        LogState::Mixed if main.mean_bytes < SMALL => Limit::StorageSmallWrite,
        _ => Limit::StorageSequential,
    }
}
