//! What was read, in a table: each phase with its rate and with what the tool printed for it.

use std::path::Path;

use cardproof_record::{Figure, Phase, PhaseState, Record};
use cardproof_units::Bytes;

/// The record that was read from `file` in words, ending in a newline.
pub(super) fn of(file: &Path, record: &Record) -> String {
    let tool = format!("{} {}", record.tool.name, record.tool.version);
    let mut lines = vec![format!("{}: {}", file.display(), tool.trim_end())];
    lines
        .extend(aligned(&record.phases.iter().map(|phase| row(phase, record)).collect::<Vec<_>>()));
    lines.extend(record.jobs.iter().map(|job| format!("  {}: {}", job.name, job.duration_ns)));
    let of_none = record.figures.iter().filter(|figure| figure.phases.is_empty());
    lines.extend(of_none.map(|figure| format!("  {}", printed(figure))));
    lines.extend(record.warnings.iter().map(|warning| format!("  Note: {}", warning.message)));
    let shown: Vec<String> = lines.iter().map(|line| harmless(line)).collect();
    shown.join("\n") + "\n"
}

/// A phase's name, its rates, and the tool's own figures.
fn row(phase: &Phase, record: &Record) -> [String; 4] {
    let own = record.figures.iter().filter(|figure| figure.phases.contains(&phase.name));
    let figures: Vec<String> = own.map(printed).collect();
    if let PhaseState::NotMeasured { cause } = &phase.state {
        return [
            phase.name.clone(),
            String::new(),
            String::new(),
            format!("not measured: {cause}"),
        ];
    }
    let iops = phase.point_iops().filter(|_| has_operations(phase));
    let rate = phase.point_throughput();
    let figures =
        if figures.is_empty() { String::new() } else { format!("({})", figures.join(", ")) };
    [
        phase.name.clone(),
        iops.map_or(String::new(), |iops| iops.to_string()),
        rate.map_or(String::new(), |rate| rate.to_string()),
        figures,
    ]
}

/// Whether operations a second mean anything: large blocks are told in bytes a second alone.
fn has_operations(phase: &Phase) -> bool {
    phase.block_size_bytes <= Bytes::kib(64)
}

fn printed(figure: &Figure) -> String {
    format!("{}: {} {}", figure.name, figure.value, figure.unit).trim_end().to_owned()
}

/// The rows in columns, the last one ragged.
fn aligned(rows: &[[String; 4]]) -> Vec<String> {
    let width = |column: usize| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default()
    };
    let [name, iops, rate] = [width(0), width(1), width(2)];
    rows.iter()
        .map(|row| {
            format!("  {:name$}  {:>iops$}  {:>rate$}  {}", row[0], row[1], row[2], row[3])
                .trim_end()
                .to_owned()
        })
        .collect()
}

/// The text without what could steer a terminal.
fn harmless(text: &str) -> String {
    text.chars().filter(|&c| !cardproof_report::steers(c)).collect()
}
