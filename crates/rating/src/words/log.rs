//! What a log of iostat tells, in words.

use std::fmt;

use cardproof_record::LimitedBy;
use cardproof_units::{Nanos, Throughput};

use crate::limits::{LogExplanation, LogState, OfLog, StateShare};

use super::limits::{in_words, per_s};
use super::wording::whole_percent;

impl LogState {
    /// Its name in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::SmallWrites => "small writes",
            Self::LargeWrites => "large writes",
            Self::SmallReads => "reading (small requests)",
            Self::LargeReads => "reading (large requests)",
            Self::Mixed => "reads and writes",
            Self::Background => "background",
            Self::Idle => "idle",
            Self::Stalled => "stalled (requests waited, none ended)",
        }
    }
}

/// What was done, such as `26 requests/s of 34.7 KiB, 0.92 MB/s`.
fn work(share: &StateShare) -> String {
    let rate = per_s(share.transactions_per_s, "requests");
    format!("{rate} of {} on average, {}", share.mean_bytes, share.bytes_per_s)
}

impl fmt::Display for OfLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Did(share) if share.state == LogState::Stalled => {
                f.write_str("requests waited and none ended")
            }
            Self::Did(share) | Self::Mostly(share) => {
                write!(f, "mostly {}: {}", share.state.words(), work(share))
            }
            Self::Busy(share) => {
                write!(f, "the storage was busy in {} of the working time", whole_percent(*share))
            }
            Self::Slow(rate) => write!(
                f,
                "the programs wrote all the time, yet the storage finished only {}; an A1 card does at least 500 writes \
                 of 4 KiB a second, so the programs waited for the storage",
                per_s(*rate, "writes")
            ),
            Self::CpuFull(share) => {
                write!(f, "the processors were full in {} of the working time", whole_percent(*share))
            }
            Self::CpuBesideIdle(share, device) => write!(
                f,
                "the processors were full in {} of the reports, and {device} had next to nothing to do",
                whole_percent(*share)
            ),
            Self::Elsewhere(share, device) => write!(
                f,
                "tasks waited for I/O in {} of the reports, and {device} had next to nothing to do",
                whole_percent(*share)
            ),
            Self::Spare(waited) => write!(
                f,
                "the storage was busy in only {} of the working time, and the processors had time to spare",
                whole_percent(*waited)
            ),
            Self::Undecided => f.write_str(
                "nothing in it shows the storage at its limit, and a log without -x does not say how busy \
                 it was; `iostat -x 20` or `cardproof watch` does",
            ),
            Self::NothingToDo => f.write_str("there was next to nothing to do"),
        }
    }
}

/// The log from its beginning to its end, paragraph by paragraph.
#[must_use]
pub fn story(explanation: &LogExplanation) -> Vec<String> {
    let LogExplanation { device, reports, time, read, written, .. } = explanation;
    let length = time.map_or(String::new(), |time| format!(" over {}", plain_time(time)));
    let moved = match time {
        Some(_) => format!(": {read} read, {written} written"),
        None => String::new(),
    };
    let reports = counted(*reports);
    let left_out = if explanation.leaves_out_first {
        " The first report is left out: it counts since boot."
    } else {
        ""
    };
    let mut story = vec![format!("{device}: {reports}{length}{moved}.{left_out}")];
    let names: Vec<&str> = explanation.states.iter().map(|share| share.state.words()).collect();
    story.push(match names.as_slice() {
        [only] => format!("All of it {only}."),
        names => format!("The log shows, in this order: {}.", names.join(", then ")),
    });
    story.push(in_words(&LimitedBy::from(explanation.limited_by.clone())));
    story.extend(stalls(explanation));
    story.extend(waits(explanation));
    if explanation.includes_discards {
        story
            .push("What was written includes what was discarded (iostat -s adds them).".to_owned());
    }
    story
}

/// Reports in which the storage answered nothing.
fn stalls(explanation: &LogExplanation) -> Option<String> {
    let share = explanation.states.iter().find(|share| share.state == LogState::Stalled)?;
    let reports = match share.reports {
        1 => "one report".to_owned(),
        count => counted(count),
    };
    let waiting = match explanation.stalled_requests_max {
        Some(count) => format!("up to {count:.0} requests waited and none ended"),
        None => "the processors waited for it and no request ended".to_owned(),
    };
    Some(format!(
        "The storage answered nothing for {reports}: {waiting}. Look for errors in the kernel's \
         messages (dmesg); a card that stops like this is tidying up, too hot, or failing."
    ))
}

fn counted(reports: u64) -> String {
    format!("{reports} report{}", if reports == 1 { "" } else { "s" })
}

/// A mean wait from this on is felt.
const FELT: Nanos = Nanos::from_millis(100);

/// The longest mean waits of reads and writes, where one is felt.
fn waits(explanation: &LogExplanation) -> Option<String> {
    let (read, write) = (explanation.read_await_max, explanation.write_await_max);
    // One column of waits for both says nothing of either.
    let waits = match read == write {
        true => [("requests", read), ("writes", None)],
        false => [("reads", read), ("writes", write)],
    };
    let felt = waits.iter().filter_map(|(name, wait)| Some((name, wait.filter(|it| *it >= FELT)?)));
    let felt: Vec<String> = felt.map(|(name, wait)| format!("{name} took {wait}")).collect();
    let told = felt.join(" and ");
    (!felt.is_empty()).then(|| format!("In the slowest report, {told} on average."))
}

/// Minutes and seconds.
fn plain_time(time: Nanos) -> String {
    let seconds = time.as_secs_f64().round() as u64;
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, 0) => format!("{minutes} min"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

impl StateShare {
    /// Such as `15 min 40 s, 26 transactions/s of 34.7 KiB on average, 0.92 MB/s`.
    #[must_use]
    pub fn words(&self) -> String {
        let time = self.time.map_or_else(|| counted(self.reports), plain_time);
        let is_still = self.bytes_per_s == Throughput::default();
        if is_still { time } else { format!("{time}, {}", work(self)) }
    }
}
