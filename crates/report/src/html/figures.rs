//! The sections of charts. Each chart has its figures beside it in a table that can be opened.

use cardproof_rating::{is_told_in_iops, pauses_in};
use cardproof_record::{OpName, PercentileInterval, Phase, Record};
use cardproof_units::Nanos;

use super::HtmlError;
use super::parts::{About, Charts, close_fold, close_table, open_fold, open_table};
use crate::charts::{
    Curve, bad_over_cycles, boundaries, columns, latency, rate_over_time, rate_text, slice_length,
    speed_over_cycles, sweeps, waits_over_time,
};
use crate::clean::one_line;
use crate::kept::{Entry, mark, write_mark};
use crate::markup::{Markup, markup};
use crate::rows::{rate_and_interval, shown};

/// By what a chart's table unfolds.
const FIGURES: &str = "Figures";

/// The most rows of a chart's table; longer ones say no more.
const TABLE_ROWS_MAX: usize = 40;

/// Appends the sections of charts.
pub(super) fn write(
    page: &mut Markup,
    charts: &mut Charts,
    record: &Record,
) -> Result<(), HtmlError> {
    let mut figures = Figures { page, record, charts };
    figures.endurance()?;
    figures.geometry()?;
    figures.over_time()?;
    figures.latencies()
}

struct Figures<'p> {
    page: &'p mut Markup,
    record: &'p Record,
    charts: &'p mut Charts,
}

impl Figures<'_> {
    /// The course of an endurance run: bad pages and speed over the cycles.
    fn endurance(&mut self) -> Result<(), HtmlError> {
        let Some(run) = self.record.endurance() else { return Ok(()) };
        self.page.literal(
            "<section id=\"endurance\">\n<h2>Over the cycles</h2>\n<div class=\"grid\">\n",
        );
        for chart in [bad_over_cycles(run), speed_over_cycles(run)].into_iter().flatten() {
            markup!(self.page, "<figure>\n<figcaption><h3>{}</h3></figcaption>\n", &chart.title);
            self.charts.draw(self.page, &chart, About::subject(&chart.title), &[], Vec::new())?;
            self.page.literal("</figure>\n");
        }
        self.page.literal("</div>\n</section>\n");
        Ok(())
    }

    fn geometry(&mut self) -> Result<(), HtmlError> {
        let (boundaries, sweeps) = (boundaries(self.record), sweeps(self.record));
        if boundaries.is_none() && sweeps.is_none() {
            return Ok(());
        }
        self.page.literal(
            "<section id=\"timings\">\n<h2>Timings of the card's geometry</h2>\n<p>The first chart \
             shows the extra time of reads across boundaries, by the alignment of the boundary, with one \
             line for each pass. A step at an alignment shows a page or an allocation unit. The second \
             chart shows the rate of sequential writes.</p>\n",
        );
        for chart in [boundaries, sweeps].iter().flatten() {
            markup!(self.page, "<figure>\n<figcaption>{}</figcaption>\n", &chart.title);
            self.charts.draw(self.page, chart, About::subject(&chart.title), &[], Vec::new())?;
            self.page.literal("</figure>\n");
        }
        self.page.literal("</section>\n");
        Ok(())
    }

    fn over_time(&mut self) -> Result<(), HtmlError> {
        let record = self.record;
        let with_series: Vec<usize> = (0..record.phases.len())
            .filter(|&index| !columns(&record.phases[index], 1).is_empty())
            .collect();
        if with_series.is_empty() {
            return Ok(());
        }
        let heading = match with_series.len() {
            1 => "One test over time".to_owned(),
            tests => format!("{tests} tests over time"),
        };
        open_fold(self.page, "over-time", &heading);
        self.page.literal(
            "<p>Each test has two charts: the upper chart shows the rate, the lower chart shows the longest latency. Pauses are \
             shaded. In a pause, the storage finishes no operation. A card with many pauses feels slow, even if its rate is high. \
             If the axis reaches 250 ms, a dashed line marks it: the SD specification allows a card to be \
             busy for up to this time.</p>\n<div class=\"grid\">\n",
        );
        for index in with_series {
            self.phase(index)?;
        }
        self.page.literal("</div>\n");
        close_fold(self.page);
        Ok(())
    }

    fn phase(&mut self, index: usize) -> Result<(), HtmlError> {
        let phase = &self.record.phases[index];
        let name = one_line(&phase.name);
        markup!(self.page, "<figure>\n<figcaption><h3>{}</h3>", &name);
        markup!(self.page, "<p>{}</p></figcaption>\n", &self.phase_in_words(index));
        if let Some(chart) = rate_over_time(self.record, index) {
            let unit = if is_told_in_iops(phase) { "IOPS" } else { "MB/s" };
            markup!(self.page, "<p class=\"axis\">{}</p>\n", unit);
            let subject = format!("{name}, rate in {unit}");
            self.charts.draw(
                self.page,
                &chart,
                About::subject(&subject),
                &["rate".to_owned()],
                Vec::new(),
            )?;
        }
        if let Some(chart) = waits_over_time(self.record, index) {
            self.page.literal("<p class=\"axis\">longest latency</p>\n");
            let names = ["longest latency".to_owned()];
            let subject = format!("{name}, longest latency");
            self.charts.draw(self.page, &chart, About::subject(&subject), &names, Vec::new())?;
        }
        write_series(self.page, phase, &name);
        self.page.literal("</figure>\n");
        Ok(())
    }

    fn phase_in_words(&self, index: usize) -> String {
        let phase = &self.record.phases[index];
        let rate = rate_and_interval(phase)
            .map(|(rate, interval)| match interval {
                Some(interval) => format!("{rate} ({interval})."),
                None => format!("{rate}, stated without an interval."),
            })
            .unwrap_or_default();
        let pauses = pauses_in(self.record, index);
        let pauses = match pauses.iter().map(|pause| pause.length).max() {
            None => String::new(),
            Some(longest) if pauses.len() == 1 => format!("One pause of {longest}."),
            Some(longest) => format!("{} pauses; the longest: {longest}.", pauses.len()),
        };
        format!("{rate} {pauses}").trim().to_owned()
    }

    fn latencies(&mut self) -> Result<(), HtmlError> {
        let charts = [
            latency(self.record, "Reads", |phase| phase.op == OpName::Read),
            latency(self.record, "Writes and mixed", |phase| phase.op != OpName::Read),
        ];
        if charts.iter().all(Option::is_none) {
            return Ok(());
        }
        open_fold(self.page, "latency", "How long single operations take");
        self.page.literal(
            "<p>Each point of a \
             curve shows which share of the operations (vertical) took longer than a time (horizontal). A \
             curve further to the left is better.</p>\n\
             <div class=\"grid\">\n",
        );
        let headings = [("Reads", "reads"), ("Writes and mixed", "writes and mixed")];
        for ((heading, operations), drawn) in headings.iter().zip(&charts) {
            let Some((chart, curves)) = drawn else { continue };
            markup!(self.page, "<figure>\n<figcaption><h3>{}</h3></figcaption>\n", heading);
            let name = |curve: &Curve| one_line(&self.record.phases[curve.phase].name);
            let names: Vec<String> = curves.iter().map(name).collect();
            let marks = curves.iter().map(|curve| mark(curve.tone, curve.dashes));
            let legend: Vec<Entry> = marks.zip(names.iter().cloned()).collect();
            let subject = format!("share of operations that took longer, {operations}");
            self.charts.draw(self.page, chart, About::subject(&subject), &names, legend)?;
            write_legend(self.page, self.record, curves);
            write_latencies(self.page, self.record, curves, heading);
            self.page.literal("</figure>\n");
        }
        self.page.literal("</div>\n");
        close_fold(self.page);
        Ok(())
    }
}

fn write_series(page: &mut Markup, phase: &Phase, name: &str) {
    let lowest = format!("lowest rate of any {}", slice_length(phase));
    let headings = ["from (s)", "mean rate", &lowest, "longest latency"];
    open_table(page, FIGURES, &format!("Figures of {name} over time"), &headings);
    for column in columns(phase, TABLE_ROWS_MAX) {
        let wait = match column.wait {
            Nanos::ZERO => "none completed".to_owned(),
            wait => wait.to_string(),
        };
        markup!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            format!("{:.2}", column.start.as_secs_f64()),
            rate_text(phase, column.mean),
            rate_text(phase, column.low),
            wait
        );
    }
    close_table(page);
}

fn write_legend(page: &mut Markup, record: &Record, curves: &[Curve]) {
    page.literal("<ul class=\"legend\">\n");
    for curve in curves {
        page.literal("<li>");
        write_mark(page, mark(curve.tone, curve.dashes));
        markup!(page, "{}</li>\n", &one_line(&record.phases[curve.phase].name));
    }
    page.literal("</ul>\n");
}

fn write_latencies(page: &mut Markup, record: &Record, curves: &[Curve], heading: &str) {
    let label = format!("Latencies: {heading}");
    open_table(
        page,
        FIGURES,
        &label,
        &["phase", "operations", "p50", "p99.9", "p99.9 with 99 % confidence", "max"],
    );
    for phase in curves.iter().map(|curve| &record.phases[curve.phase]) {
        let Some(latency) = phase.latency_ns else { continue };
        let [p50, p999, max] = shown(&latency);
        markup!(
            page,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            &one_line(&phase.name),
            phase.ops,
            p50,
            p999,
            percentile_interval(phase),
            max
        );
    }
    close_table(page);
}

/// Between which latencies the 99.9th percentile lies; empty where that is not known.
fn percentile_interval(phase: &Phase) -> String {
    match phase.latency_intervals.map(|intervals| intervals.p999) {
        Some(PercentileInterval { low, high: Some(high) }) => format!("{low} to {high}"),
        Some(PercentileInterval { low, high: None }) => format!("at least {low}"),
        None => String::new(),
    }
}
