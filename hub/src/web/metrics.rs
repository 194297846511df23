//! What is counted, in the form of OpenMetrics. Nothing in it leads to a request or a person.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use crate::error::Error;
use crate::store::review::Open;

/// Ends of the classes of response times, in seconds.
const CLASSES: [f64; 7] = [0.005, 0.02, 0.05, 0.1, 0.5, 2.0, 10.0];

/// The version of this program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Counters of one process.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Requests by route and status.
    requests: Mutex<BTreeMap<(String, u16), u64>>,
    /// Response times by class, and those above all.
    times: [AtomicU64; CLASSES.len() + 1],
    micros: AtomicU64,
    /// Submissions that were kept.
    pub submissions: AtomicU64,
    /// Submissions that were deleted.
    pub deletions: AtomicU64,
    /// Errors by name.
    errors: Mutex<BTreeMap<&'static str, u64>>,
    /// Open connections.
    pub connections: AtomicI64,
}

impl Metrics {
    /// Counts a request to `route`, a pattern.
    pub fn request(&self, route: &str, status: u16, took: Duration) {
        if let Ok(mut requests) = self.requests.lock() {
            *requests.entry((route.to_owned(), status)).or_default() += 1;
        }
        let seconds = took.as_secs_f64();
        let class = CLASSES.iter().position(|end| seconds <= *end).unwrap_or(CLASSES.len());
        self.times[class].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.micros.fetch_add(micros, Ordering::Relaxed);
    }

    /// Counts an error.
    pub fn error(&self, name: &'static str) {
        if let Ok(mut errors) = self.errors.lock() {
            *errors.entry(name).or_default() += 1;
        }
    }

    /// Everything, with what `measured` was found now.
    #[must_use]
    pub fn text(&self, measured: &Measured) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out, measured);
        out
    }

    fn write(&self, out: &mut String, measured: &Measured) -> std::fmt::Result {
        head(out, "build", "info", "The version of this program.")?;
        writeln!(out, "cardproof_hub_build_info{{version=\"{VERSION}\"}} 1")?;
        head(out, "requests", "counter", "Requests by route and status.")?;
        if let Ok(requests) = self.requests.lock() {
            for ((route, status), count) in requests.iter() {
                writeln!(
                    out,
                    "cardproof_hub_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}"
                )?;
            }
        }
        self.write_times(out)?;
        for (name, count, help) in [
            ("submissions", &self.submissions, "Records kept."),
            ("deletions", &self.deletions, "Records deleted with a token."),
        ] {
            head(out, name, "counter", help)?;
            writeln!(out, "cardproof_hub_{name}_total {}", count.load(Ordering::Relaxed))?;
        }
        head(out, "errors", "counter", "Answers that were errors, by name.")?;
        if let Ok(errors) = self.errors.lock() {
            // Also those that have not come yet: an alert sees nothing grow that is not there first.
            let mut all: BTreeMap<&str, u64> = Error::NAMES.iter().map(|name| (*name, 0)).collect();
            all.extend(errors.iter());
            for (name, count) in all {
                writeln!(out, "cardproof_hub_errors_total{{error=\"{name}\"}} {count}")?;
            }
        }
        let connections = self.connections.load(Ordering::Relaxed);
        for (name, value, help) in measured.gauges(connections) {
            let Some(value) = value else { continue };
            head(out, name, "gauge", help)?;
            writeln!(out, "cardproof_hub_{name} {value}")?;
        }
        out.push_str("# EOF\n");
        Ok(())
    }

    fn write_times(&self, out: &mut String) -> std::fmt::Result {
        head(out, "response_seconds", "histogram", "How long answers took.")?;
        writeln!(out, "# UNIT cardproof_hub_response_seconds seconds")?;
        let mut below = 0;
        for (class, end) in CLASSES.iter().enumerate() {
            below += self.times[class].load(Ordering::Relaxed);
            writeln!(out, "cardproof_hub_response_seconds_bucket{{le=\"{end:?}\"}} {below}")?;
        }
        below += self.times[CLASSES.len()].load(Ordering::Relaxed);
        let seconds = self.micros.load(Ordering::Relaxed) as f64 / 1e6;
        writeln!(out, "cardproof_hub_response_seconds_bucket{{le=\"+Inf\"}} {below}")?;
        writeln!(out, "cardproof_hub_response_seconds_sum {seconds}")?;
        writeln!(out, "cardproof_hub_response_seconds_count {below}")
    }
}

fn head(out: &mut String, name: &str, kind: &str, help: &str) -> std::fmt::Result {
    writeln!(out, "# TYPE cardproof_hub_{name} {kind}\n# HELP cardproof_hub_{name} {help}")
}

/// What is found when it is asked for; what cannot be found is none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured {
    /// Records that count.
    pub records: usize,
    /// The models that they are of.
    pub models: usize,
    /// What administrators have to look at.
    pub open: Option<Open>,
    /// How long ago the raw data were made.
    pub dump_age: Option<Duration>,
    /// The room on the disk of the data directory.
    pub free_bytes: Option<u64>,
}

impl Measured {
    /// Each gauge by its name, with its value and what it is.
    fn gauges(&self, connections: i64) -> [(&'static str, Option<i64>, &'static str); 8] {
        let whole = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        let [records, models] = [self.records, self.models].map(|it| i64::try_from(it).ok());
        let (waiting, reported) = (self.open.map(|it| it.waiting), self.open.map(|it| it.reported));
        [
            ("connections", Some(connections), "Open connections."),
            ("records", records, "Records that count."),
            ("models", models, "Card models that they are of."),
            (
                "records_waiting",
                waiting,
                "Records that count only when an administrator shows them.",
            ),
            (
                "records_reported",
                reported,
                "Records that readers reported and no administrator has decided on.",
            ),
            (
                "dump_age_seconds",
                self.dump_age.map(|age| whole(age.as_secs())),
                "Age of the raw data; before there are any, time since the start.",
            ),
            (
                "disk_free_bytes",
                self.free_bytes.map(whole),
                "Room on the disk of the data directory; a PostgreSQL server has its own.",
            ),
            ("resident_memory_bytes", resident_bytes(), "Memory of this process."),
        ]
    }
}

/// The memory that this process holds.
fn resident_bytes() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: i64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(i64::try_from(rustix::param::page_size()).ok()?))
}
