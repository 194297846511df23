//! Jobs in words: how long each took, step by step, and what it waited for.

use cardproof_rating::whole_job_time;
use cardproof_record::{JobRun, JobStep, JobTransactions, PhaseState, Record};
use cardproof_units::{Bytes, Nanos};

use crate::clean::one_line;
use crate::wrap::sentence;

/// The heading under which jobs stand.
pub(crate) const HEADING: &str = "Jobs";

/// What was seen of each job, in sentences.
pub(crate) fn jobs(record: &Record) -> Vec<String> {
    record.job_runs.iter().flat_map(of_run).collect()
}

/// Each job with its time, and what the whole job would take.
pub(crate) fn briefly(record: &Record) -> Vec<Vec<String>> {
    let after_crash = |run: &JobRun| {
        let transactions = run.transactions.as_ref()?;
        Some(crash(transactions))
    };
    let lines = |run: &JobRun| {
        [Some(outcome(run)), after_crash(run), whole(run)].into_iter().flatten().collect()
    };
    let best = best_durable(&record.job_runs).map(|best| vec![best]);
    best.into_iter().chain(record.job_runs.iter().map(lines)).collect()
}

/// Each job in a sentence.
pub(crate) fn headline(record: &Record) -> String {
    record.job_runs.iter().map(outcome).collect::<Vec<_>>().join(" ")
}

/// The fastest way of several in which a database keeps every acknowledged transaction, beside the first, which is the
/// database's own default; `None` where there are no two.
fn best_durable(runs: &[JobRun]) -> Option<String> {
    let rate = |run: &JobRun| run.transactions.as_ref().filter(|it| it.is_durable)?.per_s;
    let (first, others) = runs.split_first()?;
    let usual = rate(first)?;
    let durable = others.iter().filter_map(|run| Some((run, rate(run)?)));
    let (run, rate) = durable.max_by(|a, b| a.1.low.0.total_cmp(&b.1.low.0))?;
    Some(if rate.low.0 > usual.high.0 {
        format!(
            "Fastest of those that lose nothing in a power cut: {}, {:.1} times as fast as the default.",
            one_line(&run.deed),
            rate.estimate.0 / usual.estimate.0
        )
    } else {
        format!(
            "None that loses nothing in a power cut is clearly faster than the default, {}.",
            one_line(&first.deed)
        )
    })
}

/// What a crash costs.
fn crash(transactions: &JobTransactions) -> String {
    format!("{}.", sentence(&one_line(&transactions.a_crash_costs)))
}

fn of_run(run: &JobRun) -> Vec<String> {
    if let Some(transactions) = &run.transactions {
        return vec![outcome(run), each_transaction(transactions)];
    }
    let whole = whole(run);
    let parts = [Some(outcome(run)), whole, steps(run), waits(run), settle(run), moved(run)];
    parts.into_iter().flatten().collect()
}

/// What was done, and how long it took or why that is not known.
fn outcome(run: &JobRun) -> String {
    let deed = sentence(&one_line(&run.deed));
    let rate = run.transactions.as_ref().and_then(|transactions| transactions.per_s);
    match (&run.state, rate) {
        (PhaseState::Measured, Some(rate)) => {
            let (rate, least, most) = (rate.estimate.0, rate.low.0, rate.high.0);
            format!("{deed}: {rate:.0} database transactions a second ({least:.0} to {most:.0}).")
        }
        (PhaseState::Measured, None) => format!("{deed}: {}.", run.duration_ns),
        (PhaseState::Partial, _) => format!("{deed}: stopped after {}.", run.duration_ns),
        (PhaseState::NotMeasured { cause }, _) => {
            format!("{deed} was not measured: {}.", one_line(cause))
        }
        (PhaseState::Unknown, _) => format!("{deed} ended in a state of a newer version."),
    }
}

/// How long a transaction takes, and what it is worth.
fn each_transaction(transactions: &JobTransactions) -> String {
    let JobTransactions { count, latency_ns, .. } = transactions;
    format!(
        "Latency of {count} transactions: median {}, p99 {}, max {}. {}",
        latency_ns.p50,
        latency_ns.p99,
        latency_ns.max,
        crash(transactions)
    )
}

/// What the whole job would take.
fn whole(run: &JobRun) -> Option<String> {
    let (part, time) = (run.part_of.as_ref()?, whole_job_time(run)?);
    Some(format!(
        "The full job {}, which syncs {:.1} times as often, would take about {time}.",
        one_line(&part.name),
        part.syncs_ratio
    ))
}

fn steps(run: &JobRun) -> Option<String> {
    let timed = run.steps.iter().filter(|step| step.duration_ns > Nanos::ZERO);
    let steps: Vec<String> = timed.map(of_step).collect();
    (steps.len() > 1).then(|| format!("Steps: {}.", steps.join(", ")))
}

fn of_step(step: &JobStep) -> String {
    let JobStep { name, duration_ns, sync_ns, syncs } = step;
    let name = one_line(name);
    if *syncs == 0 {
        return format!("{name} {duration_ns}");
    }
    let noun = if *syncs == 1 { "sync" } else { "syncs" };
    format!("{name} {duration_ns} ({sync_ns} waiting for {syncs} {noun})")
}

fn waits(run: &JobRun) -> Option<String> {
    let syncs = run.syncs.as_ref()?;
    let share = 100.0 * syncs.total_ns.as_secs_f64() / run.duration_ns.as_secs_f64().max(1e-9);
    let latency = &syncs.latency_ns;
    Some(format!(
        "The job waited for {} syncs in {share:.0} % of its time: median {}, p99 {}, max {}.",
        syncs.count, latency.p50, latency.p99, latency.max
    ))
}

fn settle(run: &JobRun) -> Option<String> {
    // Nobody removes a card faster.
    let is_felt = |time: &Nanos| *time >= Nanos::from_secs(1);
    let time = run.settle_ns.filter(|_| run.state == PhaseState::Measured).filter(is_felt)?;
    Some(format!(
        "After the job, {time} passed until all data was on the storage. Wait this long before you \
         remove the card."
    ))
}

fn moved(run: &JobRun) -> Option<String> {
    if matches!(run.state, PhaseState::NotMeasured { .. }) {
        return None;
    }
    let fetched = run
        .bytes_from_storage
        .map_or(String::new(), |bytes| format!(", of which {bytes} came from the storage"));
    let read = match run.bytes_read {
        Bytes::ZERO => "nothing".to_owned(),
        read => format!("{read}{fetched}"),
    };
    Some(format!("The job alone wrote {} to files and read {read}.", run.bytes_written))
}
