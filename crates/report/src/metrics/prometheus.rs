//! The facts as text for Prometheus: its own text format 0.0.4, which node_exporter's textfile collector reads, and
//! OpenMetrics 1.0, which Prometheus asks a listener for.
//!
//! The two differ: OpenMetrics names a metric without the suffix of its kind, knows units and the kind `info`, and
//! has an end.

use std::fmt::Write;

use super::facts::Facts;
use super::filled::{Filled, filled};
use super::table::Kind;

/// The media type of [`prometheus`].
pub const PROMETHEUS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The media type of [`open_metrics`].
pub const OPEN_METRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The facts in the text format of Prometheus.
#[must_use]
pub fn prometheus(facts: &Facts<'_>) -> String {
    let mut text = String::new();
    for row in filled(facts) {
        let name = row.metric.name();
        let kind = match row.metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge | Kind::Info => "gauge",
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "# HELP {name} {}", row.metric.help);
        let _ = writeln!(text, "# TYPE {name} {kind}");
        put_samples(&mut text, &row);
    }
    text
}

/// The facts in the text format of OpenMetrics.
#[must_use]
pub fn open_metrics(facts: &Facts<'_>) -> String {
    let mut text = String::new();
    for row in filled(facts) {
        let base = row.metric.base;
        let kind = match row.metric.kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Info => "info",
        };
        // Writing to a string does not fail.
        let _ = writeln!(text, "# TYPE {base} {kind}");
        if !row.metric.unit.is_empty() {
            let _ = writeln!(text, "# UNIT {base} {}", row.metric.unit);
        }
        let _ = writeln!(text, "# HELP {base} {}", row.metric.help);
        put_samples(&mut text, &row);
    }
    text.push_str("# EOF\n");
    text
}

fn put_samples(text: &mut String, row: &Filled) {
    let name = row.metric.name();
    for sample in &row.samples {
        let labels: Vec<String> = sample
            .labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", escaped(value)))
            .collect();
        let labels =
            if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(text, "{name}{labels} {}", sample.value);
    }
}

/// The value of a label between quotes.
fn escaped(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
