//! Reports of jobs on files: done, stopped, and met by a fault.

use cardproof_rating::judge;
use cardproof_record::{
    Activity, CpuActivity, JobRun, PhaseState, PhaseSurroundings, Record, State, Warning,
    WarningCode,
};
use cardproof_report::{brief, html, markdown, summary};
use cardproof_testkit::records::package_installation;
use cardproof_units::Nanos;

fn plain(record: &Record) -> String {
    summary(record, &judge(record), 80, false)
}

/// The installation with its run changed.
fn with(change: impl FnOnce(&mut JobRun), state: State) -> Record {
    let mut record = package_installation();
    change(&mut record.job_runs[0]);
    Record { state, ..record }
}

#[test]
fn a_job_on_a_terminal() {
    insta::assert_snapshot!(plain(&package_installation()));
}

#[test]
fn a_job_in_markdown() {
    let record = package_installation();
    insta::assert_snapshot!(markdown(&record, &judge(&record)));
}

#[test]
fn a_page_of_a_job_has_no_empty_sections() {
    let record = package_installation();
    let page = html(&record, &judge(&record)).unwrap();
    assert!(page.contains("Installing 40 packages: 32.0 s."), "{page}");
    for empty in ["aily use", "<h2>Measured</h2>", "<h2>Verdicts</h2>"] {
        assert!(!page.contains(empty), "{empty}");
    }
}

#[test]
fn a_stopped_job_has_no_estimate_of_the_whole() {
    let text = plain(&with(|run| run.state = PhaseState::Partial, State::Partial));
    assert!(text.contains("Installing 40 packages: stopped after 32.0 s."), "{text}");
    assert!(!text.contains("would take"), "{text}");
}

#[test]
fn a_fault_gives_a_cause_and_no_time() {
    let cause = "in the step unpack: could not sync a file: no space left".to_owned();
    let failed = |run: &mut JobRun| {
        run.state = PhaseState::NotMeasured { cause };
        run.duration_ns = Nanos::ZERO;
        run.steps.clear();
        run.syncs = None;
        run.settle_ns = None;
    };
    let text = plain(&with(failed, State::Failed));
    assert!(text.contains("was not measured: in the step unpack"), "{text}");
    assert!(!text.contains("took") && !text.contains("would take"), "{text}");
}

#[test]
fn the_limit_of_a_job_is_shown() {
    let cpu = CpuActivity { cpus: 4, user: 0.1, idle: 0.9, ..CpuActivity::default() };
    let activity =
        Activity { window_ns: Nanos::from_secs(32), cpu: Some(cpu), ..Activity::default() };
    let seen = PhaseSurroundings { activity, own_cpu: Some(0.02), ..PhaseSurroundings::default() };
    let record = with(|run| run.surroundings = Some(Box::new(seen)), State::Complete);
    let limit = "What set the figures\n  - package-install-short: small writes of the storage set the figures";
    assert!(plain(&record).contains(limit), "{}", plain(&record));
    let page = html(&record, &judge(&record)).unwrap();
    assert!(page.contains("<h2>What set the figures</h2>"), "{page}");
}

#[test]
fn a_job_s_doubts_are_told() {
    let message = "of 124 MiB that the job read only 0 bytes came from the storage".to_owned();
    let doubt = Warning::stated(WarningCode::Memory, message);
    let text = plain(&with(|run| run.warnings.push(doubt), State::Complete));
    assert!(text.contains("Doubts\n  - of 124 MiB that the job read"), "{text}");
}

#[test]
fn transactions_are_told_with_their_rate_and_what_a_crash_costs() {
    use cardproof_record::{Estimate, JobTransactions};
    use cardproof_units::Iops;
    let change = |run: &mut JobRun| {
        run.deed = "SQLite 3.50.2 in its mode wal-normal".to_owned();
        run.transactions = Some(JobTransactions {
            count: 4000,
            per_s: Some(Estimate {
                estimate: Iops(85.0),
                low: Iops(80.0),
                high: Iops(90.0),
                confidence: 0.99,
            }),
            latency_ns: run.syncs.as_ref().unwrap().latency_ns,
            a_crash_costs: "the last ones can be lost".to_owned(),
            is_durable: false,
        });
    };
    let record = with(change, State::Complete);
    let text = markdown(&record, &judge(&record));
    let rate =
        "SQLite 3.50.2 in its mode wal-normal: 85 database transactions a second (80 to 90).";
    assert!(text.contains(rate), "{text}");
    assert!(text.contains("The last ones can be lost."), "{text}");
    assert!(!text.contains("It wrote"), "{text}");
}

#[test]
fn the_fastest_mode_that_loses_nothing_is_named_first() {
    use cardproof_record::{Estimate, JobTransactions};
    use cardproof_units::Iops;
    let mode = |base: &JobRun, name: &str, low: f64, is_durable: bool| {
        let mut run = base.clone();
        run.deed = format!("SQLite in its mode {name}");
        run.transactions = Some(JobTransactions {
            count: 4000,
            per_s: Some(Estimate {
                estimate: Iops(low + 10.0),
                low: Iops(low),
                high: Iops(low + 20.0),
                confidence: 0.99,
            }),
            latency_ns: run.syncs.as_ref().unwrap().latency_ns,
            a_crash_costs: "unknown".to_owned(),
            is_durable,
        });
        run
    };
    let said = |wal_full: f64, is_default_measured: bool| {
        let mut record = with(|_| {}, State::Complete);
        let base = record.job_runs[0].clone();
        record.job_runs = vec![
            mode(&base, "delete", 90.0, true),
            mode(&base, "wal-full", wal_full, true),
            mode(&base, "wal-normal", 9000.0, false),
        ];
        if !is_default_measured {
            record.job_runs[0].transactions = None;
        }
        let page = brief(&record, &judge(&record), 80, false);
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let clear = said(290.0, true);
    let best = "Fastest of those that lose nothing in a power cut: SQLite in its mode wal-full, 3.0 times as fast";
    assert!(clear.contains(best), "{clear}");
    assert!(clear.find(best) < clear.find("SQLite in its mode delete: 100"), "{clear}");
    let none = said(105.0, true);
    assert!(
        none.contains("is clearly faster than the default, SQLite in its mode delete."),
        "{none}"
    );
    let unknown = said(290.0, false);
    assert!(!unknown.contains("the default"), "{unknown}");
}
