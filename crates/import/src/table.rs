//! Tables of results that people type: Markdown, CSV, columns parted by tabs or spaces, and lines such as
//! `4k read- 9.32 MB/s 4k write- 2.96 MB/s`.
//!
//! A figure is taken only where headings say what was done and in which unit: in the heading of its column
//! or row, in the cell, or in the one sentence around the table that names a unit. A heading with a word
//! that is not understood is left out with its column, so that a claim, a price or a difference is never
//! taken for a measurement. Which mark parts decimals is decided for the whole table; a number that could be
//! read in two ways is left out.

mod cells;
mod grid;
mod inline;
mod metric;
mod numbers;
mod units;

use cardproof_record::{PatternName, WarningCode};
use cardproof_units::{Bytes, Iops};

use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use crate::labels;
use crate::lines::Line;
use crate::readers::hdparm::READS_AHEAD;
use crate::refusals::check_count;
use crate::{ForeignTool, ImportError};
use metric::{Direction, Metric, Source};
use units::RateUnit;

/// A figure with all that its headings say of it.
#[derive(Clone, Debug, PartialEq)]
struct Measured {
    metric: Metric,
    direction: Direction,
    /// The words of its heading.
    heading: String,
    value: f64,
    unit: RateUnit,
    /// The same in the other unit, as in `24.34 MB/s (6086)`.
    second: Option<(f64, RateUnit)>,
    /// The other end of a range such as `58-62 MB/s`, of which the value is the lowest.
    highest: Option<f64>,
}

/// What a table says of one device.
#[derive(Clone, Debug, Default, PartialEq)]
struct Entry {
    name: Option<String>,
    model: Option<String>,
    capacity_bytes: Option<Bytes>,
    board: Option<String>,
    figures: Vec<Measured>,
}

/// A record for each device of each table in `lines`, with the index of the line at which it begins. Only
/// lines that `is_free` are looked at; those that are read are claimed.
///
/// # Errors
/// There are more measurements than a text may hold.
pub(super) fn read(
    lines: &[Line],
    is_free: &dyn Fn(usize) -> bool,
) -> Result<Vec<(usize, RecordDraft)>, ImportError> {
    let mut found = Vec::new();
    let mut measurements = 0;
    for block in cells::blocks(lines, is_free) {
        let around = || unit_around(lines, &block);
        let entries = match &block.form {
            cells::Form::Inline => {
                inline::entry(lines[block.start].text.trim()).into_iter().collect()
            }
            _ => grid::entries(&block.rows, &around),
        };
        let label = || label_above(lines, block.start);
        let drafts: Vec<RecordDraft> =
            entries.into_iter().filter_map(|it| it.draft(&label)).collect();
        if drafts.is_empty() {
            continue;
        }
        measurements += drafts.iter().map(RecordDraft::measurements).sum::<usize>();
        check_count(measurements)?;
        lines[block.start..block.end].iter().for_each(Line::claim);
        found.extend(drafts.into_iter().map(|draft| (block.start, draft)));
    }
    Ok(found)
}

/// No sentence further away is about a table, in lines.
const AROUND_MAX: usize = 3;

/// The only unit that the lines around a block name.
fn unit_around(lines: &[Line], block: &cells::Block) -> Option<RateUnit> {
    let first = block.start.saturating_sub(AROUND_MAX);
    let last = (block.end + AROUND_MAX).min(lines.len());
    let around = lines[first..block.start].iter().chain(&lines[block.end..last]);
    let mut units = around.filter_map(|line| units::unit_in_sentence(&line.text));
    let unit = units.next()?;
    units.all(|other| other == unit).then_some(unit)
}

/// The name in a heading or a sentence above the line at `start`.
fn label_above(lines: &[Line], start: usize) -> Option<String> {
    let above = lines[start.saturating_sub(AROUND_MAX)..start].iter().rev();
    above.filter(|line| !line.is_claimed()).find_map(|line| {
        let view = line.view();
        match labels::between(&view) {
            labels::Between::Heading(heading) if !labels::is_only_about_test(heading) => {
                labels::name(heading)
            }
            labels::Between::Prose(text) if labels::is_name(text) => labels::name(text),
            _ => None,
        }
    })
}

impl Entry {
    /// The record of the entry; nothing without a figure.
    fn draft(self, label: &dyn Fn() -> Option<String>) -> Option<RecordDraft> {
        if self.figures.is_empty() {
            return None;
        }
        let mut draft = RecordDraft::new(ForeignTool::Table);
        draft.label = self.name.or_else(label);
        draft.conditions.device.model = self.model;
        draft.conditions.device.size_bytes = self.capacity_bytes;
        draft.conditions.host.board = self.board;
        let is_of_mb = |it: &Measured| {
            [Some(it.unit), it.second.map(|it| it.1)].contains(&Some(RateUnit::MegaBytes))
        };
        if self.figures.iter().any(is_of_mb) {
            draft.warn(
                WarningCode::Other,
                "MB/s is read as 10^6 bytes a second; many tools print 2^20 bytes under this name, \
                 which is 4.9 % more",
            );
        }
        for figure in self.figures {
            add(&mut draft.phases, &figure);
        }
        Some(draft)
    }
}

/// Rates of one measurement in two units differ no more than this by rounding and by what MB means.
const SAME_SHARE_MAX: f64 = 0.12;

/// Adds a figure to the phase that it is a second form of, or as a phase of its own.
fn add(phases: &mut Vec<PhaseDraft>, figure: &Measured) {
    let phase = phase(figure);
    let name = phase.name();
    let twin = phases.iter_mut().find(|it| it.name() == name && is_other_form(it, figure));
    match twin {
        Some(known) => {
            known.stated.iops = known.stated.iops.or(phase.stated.iops);
            let rate = phase.stated.throughput_bytes_per_s;
            known.stated.throughput_bytes_per_s = known.stated.throughput_bytes_per_s.or(rate);
            known.figures.extend(phase.figures);
        }
        None => phases.push(phase),
    }
}

/// Whether `figure` tells in the other unit what `phase` tells.
fn is_other_form(phase: &PhaseDraft, figure: &Measured) -> bool {
    let block = figure.metric.block.unwrap_or_default().as_f64();
    match (phase.stated.iops, phase.stated.throughput_bytes_per_s, figure.unit.bytes_per_s()) {
        (Some(iops), None, Some(unit)) => {
            let rate = figure.value * unit;
            block == 0.0 || (iops.0 * block - rate).abs() <= SAME_SHARE_MAX * rate
        }
        (None, Some(rate), None) => {
            block == 0.0 || (figure.value * block - rate.0).abs() <= SAME_SHARE_MAX * rate.0
        }
        _ => false,
    }
}

fn phase(figure: &Measured) -> PhaseDraft {
    let metric = &figure.metric;
    let pattern = metric.pattern.unwrap_or(PatternName::Unknown);
    let mut phase = PhaseDraft::new(figure.direction.op(), pattern);
    phase.block = metric.block.unwrap_or_default();
    phase.depth = metric.depth.unwrap_or(0);
    phase.cache = match metric.source {
        Some(Source::Hdparm) => Cache::Used(READS_AHEAD),
        _ => Cache::Unknown("the table does not say whether the page cache was in use"),
    };
    let source = metric.source.map(Source::name);
    let again = metric.is_again.then_some("again");
    let lowest = figure.highest.map(|_| "lowest");
    phase.note = [source, again, lowest].into_iter().flatten().collect::<Vec<_>>().join("-").into();
    let all = [Some((figure.value, figure.unit)), figure.second];
    for (value, unit) in all.into_iter().flatten() {
        let printed = Printed::new(&figure.heading, value, unit.name());
        match unit.bytes_per_s() {
            Some(bytes) => phase = phase.at(value * bytes, printed.in_bytes_per_s(bytes)),
            None => {
                phase.stated.iops = Some(Iops(value));
                phase.figures.push(printed);
            }
        }
    }
    if let Some(highest) = figure.highest {
        let name = format!("{}, highest", figure.heading);
        let printed = Printed::new(&name, highest, figure.unit.name());
        phase.figures.push(match figure.unit.bytes_per_s() {
            Some(bytes) => printed.in_bytes_per_s(bytes),
            None => printed,
        });
    }
    phase
}

#[cfg(test)]
mod tests;
