//! What was read, in a table: each phase with its rate and with what the tool printed for it.

use std::collections::HashMap;

use cardproof_rating::findings::{by_gravity, casts_doubt, gravity};
use cardproof_rating::words::findings::sentence;
use cardproof_record::{Figure, Indication, Phase, PhaseState, Record, WarningCode};
use cardproof_report::{columns_of, left, right};
use cardproof_units::Bytes;

/// Figures by the phase that they come from.
type ByPhase<'r> = HashMap<&'r str, Vec<&'r Figure>>;

/// So many findings of one gravity are told.
const FINDINGS_MAX: usize = 6;

/// How many figures are printed; `show --details` prints all.
const ROWS_MAX: usize = 10;

/// The record that was read from the place called `name` in words, ending in a newline: what it says first, then its
/// figures, for lines of `width` columns where that is known.
pub(super) fn of(name: &str, record: &Record, width: Option<u16>) -> String {
    let tool = format!("{} {}", record.tool.name, record.tool.version);
    let mut lines = vec![format!("{name}: {}", tool.trim_end())];
    let name = record.label.as_ref().or(record.conditions.device.model.as_ref());
    lines.extend(name.map(|name| format!("  {name}")));
    lines.extend(findings(record));
    lines.extend(
        cardproof_rating::words::data::right_elsewhere(record).map(|it| format!("  RIGHT: {it}")),
    );
    lines.extend(answer(record));
    lines.extend(record.warnings.iter().map(|warning| format!("  Note: {warning}")));
    lines.extend(doubts(record));
    lines.extend(unknown(record).iter().map(|what| format!("  Unknown: {what}")));
    lines.extend(rows(record, width));
    lines.extend(record.jobs.iter().map(|job| format!("  {}: {}", job.name, job.duration_ns)));
    let geometry = cardproof_rating::geometry(record);
    let found = geometry.map(|geometry| cardproof_rating::geometry_in_words(&geometry));
    lines.extend(found.unwrap_or_default().iter().map(|line| format!("  {line}")));
    lines.extend(timings(record));
    let shown: Vec<String> = lines.iter().map(|line| harmless(line)).collect();
    shown.join("\n") + "\n"
}

/// The figures, of many the first, in lines that fit where `width` is known.
fn rows(record: &Record, width: Option<u16>) -> Vec<String> {
    let mut figures: ByPhase<'_> = HashMap::new();
    for figure in &record.figures {
        for phase in &figure.phases {
            figures.entry(phase).or_default().push(figure);
        }
    }
    let mut cells: Vec<[String; 4]> =
        record.phases.iter().map(|phase| row(phase, &figures)).collect();
    let fits = |lines: &[String]| {
        width.is_none_or(|width| lines.iter().all(|line| columns_of(line) <= width.into()))
    };
    let mut lines = aligned(&cells);
    let has_all = fits(&lines);
    if !has_all {
        // What the tool itself printed gives way to what was read of it.
        let is_figure = |row: &&mut [String; 4]| !row[2].is_empty();
        cells.iter_mut().filter(is_figure).for_each(|row| row[3].clear());
        lines = aligned(&cells);
    }
    let of_none = record.figures.iter().filter(|figure| figure.phases.is_empty());
    lines.extend(of_none.map(|figure| format!("  {}", printed(figure))));
    let more = lines.len().saturating_sub(ROWS_MAX);
    lines.truncate(ROWS_MAX);
    let rest = match (more, has_all) {
        (0, true) => None,
        (0, false) => Some(format!("What {} printed", record.tool.name)),
        (1, _) => Some("1 more figure".to_owned()),
        (more, _) => Some(format!("{more} more figures")),
    };
    lines.extend(rest.map(|rest| format!("  {rest}: cardproof show RECORD --details")));
    lines
}

/// What the figures make likely of the classes, or why they make nothing likely; nothing where the text holds none.
fn answer(record: &Record) -> Vec<String> {
    let told = indicated(record);
    let is_measured = |phase: &&Phase| phase.is_measured();
    if !told.is_empty() || !record.phases.iter().any(|phase| is_measured(&phase)) {
        return told;
    }
    let all = cardproof_rating::indications(record);
    let why = all.first().and_then(|it| it.basis.first());
    vec![match why {
        Some(why) => format!("  No class can be told: {why}"),
        None => "  No class can be told from these figures.".to_owned(),
    }]
}

/// What was found of the storage, the gravest first, each with its line, and below those of one gravity
/// what to do. Faults make all the rest doubtful, and so are said first.
pub(crate) fn findings(record: &Record) -> Vec<String> {
    let findings = by_gravity(record);
    let mut lines = Vec::new();
    for of_one in findings.chunk_by(|a, b| gravity(&a.what) == gravity(&b.what)) {
        let gravity = gravity(&of_one[0].what);
        for finding in of_one.iter().take(FINDINGS_MAX) {
            let place = finding.line.map_or_else(String::new, |line| format!(" (line {line})"));
            lines.push(format!("  {}: {}{place}", gravity.heading(), sentence(finding)));
        }
        if of_one.len() > FINDINGS_MAX {
            lines.push(format!("  and {} more of this kind", of_one.len() - FINDINGS_MAX));
        }
        lines.push(format!("  Next: {}", gravity.advice()));
    }
    if casts_doubt(record) && !record.phases.is_empty() {
        lines.push("  The speeds below are in doubt: they are those of faulty storage.".to_owned());
    }
    lines
}

/// Doubts about single figures that limit what they say of the storage, each once.
fn doubts(record: &Record) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for doubt in cardproof_rating::doubts(record).iter().filter(|doubt| doubt.phase.is_some()) {
        let code = doubt.warning.code;
        let line = format!("  In doubt: {}", doubt.warning);
        let is_told =
            matches!(code, WarningCode::Memory | WarningCode::RateLimited | WarningCode::Buffered);
        if is_told && told.iter().all(|known| *known != line) {
            told.push(line);
        }
    }
    // Of one kind the first says it.
    told.truncate(DOUBTS_MAX);
    told
}

/// So many doubts about single figures are told.
const DOUBTS_MAX: usize = 2;

/// What the figures make likely of the classes.
fn indicated(record: &Record) -> Vec<String> {
    let of_one = |it: &Indication| {
        let words = cardproof_rating::wording::likelihood(it.outcome);
        let basis = it.basis.first().map_or("", String::as_str);
        format!("  {}: {words}: {basis}", cardproof_rating::wording::class(&it.rule))
    };
    cardproof_rating::telling_indications(record).iter().map(of_one).collect()
}

/// How many runs of timings at boundaries there are.
fn timings(record: &Record) -> Option<String> {
    let timings = &record.flash_timings;
    let runs = [
        (timings.boundaries.len(), "at boundaries"),
        (timings.open_units.len(), "with several open units"),
        (timings.first_areas.len(), "of the first area"),
    ];
    let told = runs.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told.map(|(count, what)| format!("{count} {what}")).collect();
    (!told.is_empty()).then(|| format!("  Runs of timings: {}", told.join(", ")))
}

/// What the output does not tell, each once.
fn unknown(record: &Record) -> Vec<String> {
    let mut told: Vec<String> = Vec::new();
    for phase in &record.phases {
        let of_cache = phase.warnings.iter().filter(|it| it.code == WarningCode::CacheUnknown);
        for warning in of_cache {
            let words = warning.to_string();
            if !told.contains(&words) {
                told.push(words);
            }
        }
    }
    let is_read = |phase: &&Phase| phase.stated.is_some();
    // Which figures they are is seen in the table, where the value is missing.
    let lacking = |what: &str, is: fn(&Phase) -> bool| {
        let all = record.phases.iter().filter(is_read).count();
        match record.phases.iter().filter(is_read).filter(|phase| is(phase)).count() {
            0 => None,
            count if count == all => Some(format!("the {what} of all figures")),
            count => Some(format!("the {what} of {count} of {all} figures")),
        }
    };
    let device = &record.conditions.device;
    let has_device = device.name.is_some() || device.card.is_some() || device.model.is_some();
    told.extend(lacking("block size", |phase| phase.block_size_bytes == Bytes::ZERO));
    told.extend(lacking("queue depth", |phase| phase.queue_depth == 0));
    told.extend((!has_device).then(|| "which device was measured".to_owned()));
    told
}

/// A phase's name, its rates, and the tool's own figures.
fn row(phase: &Phase, figures: &ByPhase<'_>) -> [String; 4] {
    let own = figures.get(phase.name.as_str()).map(Vec::as_slice).unwrap_or_default();
    let figures: Vec<String> = own.iter().map(|figure| printed(figure)).collect();
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
    let name = match figure.name.as_str() {
        "score" => "score, computed by cardproof",
        "score (in the file)" => "score, printed in the file",
        other => other,
    };
    // Beside the rate in MB/s another figure in MB would look like a mistake.
    let is_binary = figure.unit_bytes_per_s == Some(1_048_576.0) && figure.unit.starts_with("MB");
    let unit = if is_binary { ", in MiB" } else { "" };
    format!("{name}: {} {}{unit}", figure.value, figure.unit).trim_end().to_owned()
}

/// The rows in columns, the last one ragged.
fn aligned(rows: &[[String; 4]]) -> Vec<String> {
    let width =
        |column: usize| rows.iter().map(|row| columns_of(&row[column])).max().unwrap_or_default();
    let [name, iops, rate] = [width(0), width(1), width(2)];
    rows.iter()
        .map(|row| {
            let [first, second, third] =
                [left(&row[0], name), right(&row[1], iops), right(&row[2], rate)];
            format!("  {first}  {second}  {third}  {}", row[3]).trim_end().to_owned()
        })
        .collect()
}

/// The text without what could steer a terminal.
fn harmless(text: &str) -> String {
    text.chars().filter(|&c| !cardproof_report::steers(c)).collect()
}
