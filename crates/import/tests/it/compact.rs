//! A record in few lines, for snapshots that a reader can check against the tool's output.

use std::fmt::Write;

use cardproof_record::{Phase, PhaseState, Record};
use cardproof_units::Bytes;
use serde_json::Value;

/// `record` in few lines. Nothing that a tool can tell is left out.
pub(crate) fn compact(record: &Record) -> String {
    let mut out = String::new();
    let tool = &record.tool;
    writeln!(out, "{} {}", tool.name, tool.version).unwrap();
    if let Some(label) = &record.label {
        writeln!(out, "label {label}").unwrap();
    }
    if let Some(began) = &record.began_as_printed {
        writeln!(out, "began {began:?}").unwrap();
    }
    writeln!(out, "{}", plain(&serde_json::to_value(&record.conditions).unwrap())).unwrap();
    for finding in &record.findings {
        writeln!(out, "finding {}", plain(&serde_json::to_value(finding).unwrap())).unwrap();
    }
    for phase in &record.phases {
        write_phase(&mut out, phase, record);
    }
    for job in &record.jobs {
        writeln!(out, "job {} {} s", job.name, job.duration_ns.as_secs_f64()).unwrap();
    }
    for figure in record.figures.iter().filter(|figure| figure.phases.is_empty()) {
        writeln!(out, "figure {}: {} {}", figure.name, figure.value, figure.unit).unwrap();
    }
    if !record.flash_timings.is_empty() {
        writeln!(out, "{}", plain(&serde_json::to_value(&record.flash_timings).unwrap())).unwrap();
    }
    for warning in &record.warnings {
        writeln!(out, "warning: {warning}").unwrap();
    }
    let (written, read) = (record.bytes_written, record.bytes_read);
    writeln!(out, "{written} written, {read} read").unwrap();
    out.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn write_phase(out: &mut String, phase: &Phase, record: &Record) {
    writeln!(
        out,
        "- {} | {:?} {:?} {} % reads, block {}, span {}, depth {}, {}",
        phase.name,
        phase.op,
        phase.pattern,
        phase.read_percent,
        phase.block_size_bytes,
        phase.span_bytes,
        phase.queue_depth,
        phase.sync
    )
    .unwrap();
    if let PhaseState::NotMeasured { cause } = &phase.state {
        writeln!(out, "    not measured: {cause}").unwrap();
    }
    if let Some(stated) = phase.stated {
        let iops = stated.iops.map_or(f64::NAN, |iops| iops.0);
        let rate = stated.throughput_bytes_per_s.map_or(f64::NAN, |rate| rate.0);
        write!(out, "    {iops:.2} IOPS, {rate:.0} B/s").unwrap();
        if let (Some(read), Some(write)) = (stated.read_iops, stated.write_iops) {
            write!(out, ", reads {:.2}, writes {:.2}", read.0, write.0).unwrap();
        }
        let (ops, bytes, time) = (phase.ops, phase.bytes, phase.duration_ns);
        let moved =
            if bytes > Bytes::ZERO { format!("; {ops} in {bytes}, {time}") } else { String::new() };
        writeln!(out, "{moved}").unwrap();
    }
    if let Some(latency) = phase.latency_ns {
        let [p50, p999, max] = [latency.p50, latency.p999, latency.max];
        writeln!(out, "    p50 {p50}, p99.9 {p999}, max {max}").unwrap();
    }
    let told: Vec<String> = record
        .figures
        .iter()
        .filter(|figure| figure.phases == [phase.name.as_str()])
        .map(|figure| format!("{} {} {}", figure.name, figure.value, figure.unit).trim().to_owned())
        .collect();
    writeln!(out, "    printed: {}", told.join("; ")).unwrap();
    for warning in &phase.warnings {
        writeln!(out, "    {:?}: {warning}", warning.code).unwrap();
    }
}

/// The values of a document that are not empty, on one line.
fn plain(value: &Value) -> String {
    match value {
        Value::Object(map) => {
            let parts = map.iter().map(|(name, value)| (name, plain(value)));
            let known = parts.filter(|(_, text)| !text.is_empty());
            let parts: Vec<String> = known.map(|(name, text)| format!("{name}={text}")).collect();
            if parts.is_empty() { String::new() } else { format!("{{{}}}", parts.join(" ")) }
        }
        Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(","),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
