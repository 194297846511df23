//! Predictions: what they follow, what bounds them, how well they do, and when there is none.

use cardproof_rating::prediction::{
    LeftOut, Method, PredictedJob, Prediction, leave_one_out, numbers, predictions,
};
use cardproof_record::{Estimate, OpName, PhaseState, Record, Stated, Warning, WarningCode};
use cardproof_testkit::records;
use cardproof_units::Iops;

fn prediction(record: &Record, job: PredictedJob) -> Prediction {
    let all = predictions(record).unwrap();
    all.into_iter().find(|prediction| prediction.job == job).unwrap()
}

/// The typical card with these 4 KiB random writes.
fn writing(low: f64, value: f64, high: f64) -> Record {
    let mut record = records::typical_a1_card();
    let phase = record.phases.iter_mut().find(|phase| phase.name == "random-write-4k-qd1").unwrap();
    let [estimate, low, high] = [value, low, high].map(Iops);
    phase.iops = Some(Estimate { estimate, low, high, confidence: 0.99 });
    record
}

fn left_out(job: PredictedJob) -> LeftOut {
    leave_one_out(Method::Requests, job)
}

#[test]
fn cards_left_out_are_predicted_as_well_as_the_design_document_says() {
    for (job, mean, worst) in [
        (PredictedJob::Boot, 0.10, 0.251),
        (PredictedJob::Install, 0.08, 0.18),
        (PredictedJob::Removal, 0.11, 0.35),
        (PredictedJob::Reinstall, 0.09, 0.33),
    ] {
        let left_out = left_out(job);
        assert!(left_out.mean_error() <= mean, "{job:?}: {}", left_out.mean_error());
        assert!(left_out.worst_error() <= worst, "{job:?}: {}", left_out.worst_error());
    }
}

#[test]
fn the_model_is_worth_more_than_any_baseline() {
    for job in PredictedJob::ALL {
        for method in Method::ALL.into_iter().filter(|method| *method != Method::Requests) {
            let (model, baseline) = (left_out(job), leave_one_out(method, job));
            assert!(model.mean_error() < baseline.mean_error(), "{job:?}, {method:?}");
        }
    }
}

#[test]
fn a_card_left_out_has_no_part_in_its_own_prediction() {
    let industrial = |job| {
        left_out(job).cards.into_iter().find(|card| card.name == "SanDisk Industrial").unwrap()
    };
    let reinstall = industrial(PredictedJob::Reinstall);
    let in_sample = {
        let mut record = writing(762.0, 762.0, 762.0);
        record.phases.retain(|phase| phase.op == OpName::Write);
        prediction(&record, PredictedJob::Reinstall).time.as_secs_f64()
    };
    assert!(reinstall.predicted_s < in_sample, "the outlier pulls upwards where it takes part");
    assert!(reinstall.error() < -0.3, "it is under-predicted: {}", reinstall.error());
}

#[test]
fn the_counts_are_those_of_the_traces() {
    let install = numbers(PredictedJob::Install);
    assert!((install.writes - 45_404.0).abs() < 1.0, "{install:?}");
    assert!((numbers(PredictedJob::Removal).writes - 8_139.0).abs() < 1.0);
    assert!((numbers(PredictedJob::Reinstall).writes - 16_778.0).abs() < 1.0);
    assert!((0.02..0.2).contains(&install.merging), "{install:?}");
    let per_package = install.cpu_s / 400.0;
    let again = numbers(PredictedJob::Reinstall).cpu_s / 150.0;
    assert!((again / per_package - 1.0).abs() < 0.1, "a package costs the processor the same");
}

#[test]
fn slower_writes_never_make_a_job_faster() {
    let mut last = 0.0;
    for iops in [20_000.0, 2_000.0, 1_999.0, 700.0, 100.0, 33.0, 5.0] {
        let time = prediction(&writing(iops, iops, iops), PredictedJob::Install).time.as_secs_f64();
        assert!(time > last, "{iops} IOPS: {time} s");
        last = time;
    }
}

#[test]
fn an_uncertain_figure_widens_the_range() {
    let sure = prediction(&writing(690.0, 700.0, 710.0), PredictedJob::Install);
    let unsure = prediction(&writing(350.0, 700.0, 1050.0), PredictedJob::Install);
    assert_eq!(sure.time, unsure.time);
    assert!(unsure.low < sure.low && unsure.high > sure.high, "{sure:?} {unsure:?}");
    let unbounded = prediction(&writing(0.0, 700.0, 1400.0), PredictedJob::Install);
    assert_eq!(unbounded.high, None);
    assert!(unbounded.text().contains("at least"), "{}", unbounded.text());
}

#[test]
fn jobs_in_words() {
    let records = [
        records::typical_a1_card(),
        records::slow_class4(),
        records::read_only_device(),
        records::ram_disk(),
        records::interrupted(),
    ];
    let text: Vec<String> = records.iter().map(in_words).collect();
    insta::assert_snapshot!(text.join("\n"));
}

fn in_words(record: &Record) -> String {
    match predictions(record) {
        Ok(all) => all.iter().map(|one| one.text() + "\n").collect(),
        Err(why) => format!("not predicted: {why}\n"),
    }
}

#[test]
fn without_random_reads_only_the_boot_has_no_prediction() {
    let mut record = records::typical_a1_card();
    record.phases.retain(|phase| phase.name != "random-read-16k-qd1");
    let jobs: Vec<PredictedJob> = predictions(&record).unwrap().iter().map(|one| one.job).collect();
    assert_eq!(jobs, [PredictedJob::Install, PredictedJob::Removal, PredictedJob::Reinstall]);
}

/// What an import of another tool's report gives: rates without intervals.
#[test]
fn rates_that_another_tool_stated_predict_as_well() {
    let mut record = records::typical_a1_card();
    for phase in &mut record.phases {
        let iops = phase.iops.take().map(|rate| rate.estimate);
        let rate = phase.throughput_bytes_per_s.take().map(|rate| rate.estimate);
        phase.stated = Some(Stated { iops, throughput_bytes_per_s: rate, ..Stated::default() });
    }
    let times = |record: &Record| -> Vec<_> {
        predictions(record).unwrap().iter().map(|one| (one.job, one.time)).collect()
    };
    assert_eq!(times(&record), times(&records::typical_a1_card()));
}

#[test]
fn figures_in_doubt_or_missing_give_no_prediction() {
    let spoils: [fn(&mut Record); 3] = [
        |record| {
            let message = "for the test".to_owned();
            record.warnings.push(Warning::stated(WarningCode::CopyOnWrite, message));
        },
        |record| {
            let phase = &mut record.phases.iter_mut().find(|p| p.name == "random-write-4k-qd1");
            phase.as_mut().unwrap().state = PhaseState::Partial;
        },
        |record| record.phases.retain(|phase| phase.name != "random-write-4k-qd1"),
    ];
    for spoil in spoils {
        let mut record = records::typical_a1_card();
        spoil(&mut record);
        assert!(predictions(&record).is_err());
    }
}
