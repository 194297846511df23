//! What is counted, in the form of OpenMetrics. Nothing in it leads to a request or a person.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

/// Ends of the classes of response times, in seconds.
const CLASSES: [f64; 7] = [0.005, 0.02, 0.05, 0.1, 0.5, 2.0, 10.0];

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

    /// Everything, with the records and models that count, the records that wait for a look, how long ago the dump was made, and the room on the disk.
    #[must_use]
    pub fn text(
        &self,
        totals: (usize, usize),
        waiting: Option<i64>,
        dump_age: Option<Duration>,
        free_bytes: Option<u64>,
    ) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out, totals, waiting, dump_age, free_bytes);
        out
    }

    fn write(
        &self,
        out: &mut String,
        (records, models): (usize, usize),
        waiting: Option<i64>,
        dump_age: Option<Duration>,
        free_bytes: Option<u64>,
    ) -> std::fmt::Result {
        writeln!(out, "# TYPE cardproof_hub_requests counter")?;
        if let Ok(requests) = self.requests.lock() {
            for ((route, status), count) in requests.iter() {
                writeln!(
                    out,
                    "cardproof_hub_requests_total{{route=\"{route}\",status=\"{status}\"}} {count}"
                )?;
            }
        }
        writeln!(out, "# TYPE cardproof_hub_response_seconds histogram")?;
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
        writeln!(out, "cardproof_hub_response_seconds_count {below}")?;
        for (name, count) in [("submissions", &self.submissions), ("deletions", &self.deletions)] {
            writeln!(out, "# TYPE cardproof_hub_{name} counter")?;
            writeln!(out, "cardproof_hub_{name}_total {}", count.load(Ordering::Relaxed))?;
        }
        writeln!(out, "# TYPE cardproof_hub_errors counter")?;
        if let Ok(errors) = self.errors.lock() {
            for (name, count) in errors.iter() {
                writeln!(out, "cardproof_hub_errors_total{{error=\"{name}\"}} {count}")?;
            }
        }
        let mut gauge = |name: &str, value: i64| {
            writeln!(out, "# TYPE cardproof_hub_{name} gauge\ncardproof_hub_{name} {value}")
        };
        gauge("connections", self.connections.load(Ordering::Relaxed))?;
        gauge("records", i64::try_from(records).unwrap_or(i64::MAX))?;
        gauge("models", i64::try_from(models).unwrap_or(i64::MAX))?;
        if let Some(waiting) = waiting {
            gauge("records_waiting", waiting)?;
        }
        if let Some(age) = dump_age {
            gauge("dump_age_seconds", i64::try_from(age.as_secs()).unwrap_or(i64::MAX))?;
        }
        if let Some(bytes) = free_bytes {
            gauge("disk_free_bytes", i64::try_from(bytes).unwrap_or(i64::MAX))?;
        }
        if let Some(bytes) = resident_bytes() {
            gauge("resident_memory_bytes", bytes)?;
        }
        out.push_str("# EOF\n");
        Ok(())
    }
}

/// The memory that this process holds.
fn resident_bytes() -> Option<i64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: i64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages.saturating_mul(i64::try_from(rustix::param::page_size()).ok()?))
}
