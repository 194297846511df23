//! A job through a log-structured layer in words: does it pay on this card?

use cardproof_rating::{LogGain, log_gain};
use cardproof_record::{LogTrial, Record, TimeRatio};
use cardproof_units::{Nanos, rounded_down, rounded_up};

use crate::clean::one_line;

/// The heading above it in every report.
pub(crate) const HEADING: &str = "Writes as a log";

/// What the log did for the job of `record`, in lines; empty where none was tried.
pub(crate) fn layout_lines(record: &Record) -> Vec<String> {
    let Some(trial) = record.layout() else { return Vec::new() };
    let mut lines = vec![verdict(trial)];
    lines.extend(times(trial));
    lines.push(work(trial));
    lines
}

/// The verdict as a sentence; empty where no log was tried.
pub(crate) fn sentence(record: &Record) -> String {
    let result = |trial| format!("Written as a log {}.", verdict(trial));
    record.layout().map_or(String::new(), result)
}

fn verdict(trial: &LogTrial) -> String {
    let mode = match &*trial.mode {
        "barriers" => "with barriers (a flush waits for all writes)".to_owned(),
        "delayed" => "without waiting (a power cut can lose the newest writes)".to_owned(),
        other => one_line(other),
    };
    let between = |ratio: TimeRatio| {
        let TimeRatio { low, high, confidence, .. } = ratio;
        let (low, high) = (rounded_down(low, 2), rounded_up(high, 2));
        format!("{low} to {high}, {:.0} % confidence", 100.0 * confidence)
    };
    let times = |ratio: TimeRatio| {
        let digits = if ratio.estimate < 2.0 { 2 } else { 1 };
        format!("{:.digits$} times faster", ratio.estimate)
    };
    let verdict = match log_gain(trial) {
        LogGain::Unknown => "not compared, since a replay did not end".to_owned(),
        LogGain::Lasting(ratio) => format!("{} on this card ({})", times(ratio), between(ratio)),
        LogGain::WhileNew(ratio) => format!(
            "no lasting gain on this card; {} only while the log is new ({}), because cleaning a full log \
             costs this gain",
            times(ratio),
            between(ratio)
        ),
        LogGain::None(ratio) => {
            let loss = if ratio.high < 1.0 { "; the plain layout is faster" } else { "" };
            format!("no gain on this card ({}){loss}", between(ratio))
        }
    };
    format!("{mode}: {verdict}")
}

fn times(trial: &LogTrial) -> Option<String> {
    let list =
        |times: &[Nanos]| times.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    (!trial.plain_ns.is_empty()).then(|| {
        format!("plain layout: {}; through the log: {}", list(&trial.plain_ns), list(&trial.log_ns))
    })
}

fn work(trial: &LogTrial) -> String {
    let LogTrial { written_bytes, asked_bytes, moved_bytes, cleaned_segments, .. } = trial;
    let replays = match trial.log_ns.len() {
        1 => "the replay through the log".to_owned(),
        count => format!("the {count} replays through the log together"),
    };
    format!(
        "{replays} wrote {asked_bytes} of the job's data, and {written_bytes} with the log's own data. \
         Cleaning emptied {cleaned_segments} segments and moved {moved_bytes}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contents::Contents;
    use cardproof_record::Trial;
    use cardproof_testkit::records;
    use cardproof_units::Bytes;

    fn trial(low: f64, estimate: f64, high: f64) -> LogTrial {
        LogTrial {
            mode: "barriers".to_owned(),
            ratio: Some(TimeRatio { estimate, low, high, confidence: 0.95 }),
            plain_ns: vec![Nanos::from_secs(6)],
            log_ns: vec![Nanos::from_secs(1)],
            written_bytes: Bytes::mib(2),
            asked_bytes: Bytes::mib(1),
            moved_bytes: Bytes::ZERO,
            cleaned_segments: 0,
            segment_bytes: Bytes::mib(4),
            extra: Default::default(),
        }
    }

    #[test]
    fn a_gain_has_a_number_and_a_missing_gain_is_named() {
        for (low, estimate, high, expected) in [
            (5.8, 6.1, 6.4, "6.1 times faster on this card"),
            (1.9, 2.0, 2.1, "2.0 times faster on this card"),
            (
                1.2,
                1.25,
                1.3,
                "no lasting gain on this card; 1.25 times faster only while the log is new",
            ),
            (0.9, 1.2, 1.5, "no gain on this card"),
            (1.01, 1.02, 1.03, "no gain on this card"),
            (0.7, 0.8, 0.9, "the plain layout is faster"),
        ] {
            let said = verdict(&trial(low, estimate, high));
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn a_comparison_whose_replays_failed_leads_with_itself_and_has_no_verdicts() {
        let mut record = records::typical_a1_card();
        record.phases.clear();
        let cut_off = LogTrial { ratio: None, log_ns: Vec::new(), ..trial(1.0, 1.0, 1.0) };
        record.trial = Some(Trial::Layout(cut_off));
        let contents = Contents::from_record(&record, &cardproof_rating::judge(&record));
        assert!(contents.is_jobs_only && !contents.has_verdicts());
        assert!(contents.headline.starts_with("Written as a log"), "{}", contents.headline);
    }
}
