//! The sections of charts. Each chart has its figures beside it in a table that can be opened.

use cardproof_rating::compare::positions;
use cardproof_rating::{
    Finding, PUBLISHED_CARDS, PUBLISHED_SOURCE, doubts, is_told_in_iops, pauses_in, shown_rate,
};
use cardproof_record::{OpName, PercentileInterval, Phase, Record};
use cardproof_units::{Iops, Nanos};

use super::HtmlError;
use crate::charts::{
    Chart, Curve, Dashes, RatePoint, Tone, bad_over_cycles, boundaries, columns, draw, field,
    latency, rate_over_time, rate_text, slice_length, speed_over_cycles, sweeps, waits_over_time,
};
use crate::clean::one_line;
use crate::kept::{ChartFile, csv_of, main_mark, mark, with_legend};
use crate::markup::{Markup, markup};
use crate::rows::{rate_and_interval, shown};
use crate::wrap::{bound, sentence};

/// The most rows of a chart's table; longer ones say no more.
const TABLE_ROWS_MAX: usize = 40;

/// Appends the sections of charts. Jobs alone have no place among devices.
pub(super) fn write(
    page: &mut Markup,
    record: &Record,
    is_jobs_only: bool,
) -> Result<Vec<ChartFile>, HtmlError> {
    let mut figures = Figures { page, record, charts: Vec::new() };
    figures.endurance()?;
    figures.geometry()?;
    figures.over_time()?;
    figures.latencies()?;
    if !is_jobs_only {
        figures.among_published()?;
    }
    Ok(figures.charts)
}

struct Figures<'p> {
    page: &'p mut Markup,
    record: &'p Record,
    charts: Vec<ChartFile>,
}

impl Figures<'_> {
    /// Draws `chart`, and keeps it as a file about `subject`, whose lines have `names`, with `legend` below
    /// it.
    fn draw(
        &mut self,
        chart: &Chart,
        subject: &str,
        names: &[String],
        legend: &[(String, String)],
    ) -> Result<(), HtmlError> {
        let id = format!("chart-{}", self.charts.len() + 1);
        let mut picture = String::new();
        draw(&mut picture, chart, &id)
            .map_err(|source| HtmlError { chart: chart.title.clone(), source })?;
        self.page.drawing(&picture);
        let alone = with_legend(&picture, chart, legend);
        self.charts.push(ChartFile::of(subject, &sentence(subject), &alone, csv_of(chart, names)));
        Ok(())
    }

    /// The course of an endurance run: bad pages and speed over the cycles.
    fn endurance(&mut self) -> Result<(), HtmlError> {
        let Some(run) = &self.record.endurance else { return Ok(()) };
        self.page.literal(
            "<section id=\"endurance\">\n<h2>Over the cycles</h2>\n<div class=\"grid\">\n",
        );
        for chart in [bad_over_cycles(run), speed_over_cycles(run)].into_iter().flatten() {
            markup!(self.page, "<figure>\n<figcaption><h3>{}</h3></figcaption>\n", &chart.title);
            self.draw(&chart, &chart.title, &[], &[])?;
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
            self.draw(chart, &chart.title, &[], &[])?;
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
        self.page.literal(
            "<section id=\"over-time\">\n<h2>Over time</h2>\n<p>Each phase has two \
             charts: the upper chart shows the rate, the lower chart shows the longest latency. Pauses are \
             shaded. In a pause, the storage finishes no operation. A card with many pauses feels slow, even if its rate is high. \
             If the axis reaches 250 ms, a dashed line marks it: the SD specification allows a card to be \
             busy for up to this time.</p>\n<div class=\"grid\">\n",
        );
        for index in with_series {
            self.phase(index)?;
        }
        self.page.literal("</div>\n</section>\n");
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
            self.draw(&chart, &format!("{name}, rate in {unit}"), &["rate".to_owned()], &[])?;
        }
        if let Some(chart) = waits_over_time(self.record, index) {
            self.page.literal("<p class=\"axis\">longest latency</p>\n");
            let names = ["longest latency".to_owned()];
            self.draw(&chart, &format!("{name}, longest latency"), &names, &[])?;
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
        self.page.literal(
            "<section id=\"latency\">\n<h2>How long operations take</h2>\n<p>Each point of a \
             curve shows which share of the operations (vertical) took longer than a time (horizontal). A \
             curve further to the left is better.</p>\n\
             <div class=\"grid\">\n",
        );
        for (heading, drawn) in ["Reads", "Writes and mixed"].iter().zip(&charts) {
            let Some((chart, curves)) = drawn else { continue };
            markup!(self.page, "<figure>\n<figcaption><h3>{}</h3></figcaption>\n", heading);
            let name = |curve: &Curve| one_line(&self.record.phases[curve.phase].name);
            let names: Vec<String> = curves.iter().map(name).collect();
            let marks = curves.iter().map(|curve| mark(curve.tone, curve.dashes));
            let legend: Vec<(String, String)> = marks.zip(names.iter().cloned()).collect();
            let subject = format!("share of operations that took longer, {heading}");
            self.draw(chart, &subject.to_lowercase(), &names, &legend)?;
            write_legend(self.page, self.record, curves);
            write_latencies(self.page, self.record, curves, heading);
            self.page.literal("</figure>\n");
        }
        self.page.literal("</div>\n</section>\n");
        Ok(())
    }

    fn among_published(&mut self) -> Result<(), HtmlError> {
        self.page.literal("<section id=\"published\">\n<h2>Among published devices</h2>\n");
        let doubts = doubts(self.record);
        let ours = our_places(self.record);
        if let Some(doubt) = doubts.iter().find(|doubt| doubt.forbids_all()) {
            let cause = one_line(&doubt.text(self.record));
            markup!(self.page, "<p>Not compared: {}.</p>\n</section>\n", &cause);
            return Ok(());
        }
        if ours.is_empty() {
            self.page.literal(
                "<p>Not compared: the comparison needs 4 KiB random reads and writes with \
                 intervals, and the record does not have both.</p>\n</section>\n",
            );
            return Ok(());
        }
        self.page.literal(
            "<figure>\n<p class=\"axis\">Vertical: 4 KiB random write IOPS; horizontal: \
             4 KiB random read IOPS</p>\n<div class=\"field\">\n<div>\n",
        );
        let our_names = ours.iter().map(|place| format!("this storage, {}", place.label));
        let published = || PUBLISHED_CARDS.iter().map(|card| card.name.to_owned());
        let names: Vec<String> = published().chain(our_names.clone()).collect();
        let our_marks = (0..ours.len()).map(|at| main_mark(Tone::Line(at)));
        let numbers =
            (1..=PUBLISHED_CARDS.len()).map(|at| format!("<text x=\"0\" y=\"4\">{at}</text>"));
        let legend: Vec<(String, String)> =
            our_marks.zip(our_names).chain(numbers.zip(published())).collect();
        let subject = "among published devices: 4 KiB random reads (to the right) and writes (upwards) a \
                       second";
        self.draw(&field(&ours), subject, &names, &legend)?;
        self.page.literal("</div>\n<div>\n");
        write_field_legend(self.page, &ours);
        markup!(
            self.page,
            "</div>\n</div>\n<figcaption><p>Compare other cards with the point \
             of depth 1, because the other cards were measured with one operation at a time. Compare the limits \
             of A1 and A2 (dashed lines) with the point of depth 32, because these limits apply to many \
             operations at a time. Source of the published figures: {}.</p></figcaption>\n",
            PUBLISHED_SOURCE
        );
        for position in positions(self.record) {
            markup!(self.page, "<p>{}</p>\n", &bound(&position.in_words()));
        }
        write_published(self.page, &ours);
        self.page.literal("</figure>\n</section>\n");
        Ok(())
    }
}

/// The storage's own random reads and writes, at the depths at which both were measured and neither
/// is in doubt.
fn our_places(record: &Record) -> Vec<RatePoint> {
    let place = |(queue_depth, label)| {
        let is_sound =
            |phase: &Phase| phase.warnings.iter().all(|warning| !warning.code.forbids_verdict());
        let iops = |op| {
            let finding = Finding::of_random_4k(record, op, queue_depth);
            let rate = shown_rate(finding.measured().filter(|phase| is_sound(phase))?)?;
            Some(Iops(rate.estimate.per_second())).filter(|iops| iops.0 > 0.0)
        };
        Some(RatePoint { label, read: iops(OpName::Read)?, write: iops(OpName::Write)? })
    };
    [(1, "depth 1"), (32, "depth 32")].into_iter().filter_map(place).collect()
}

/// Opens a table that a reader can unfold; `label` names it.
fn open_table(page: &mut Markup, label: &str, headings: &[&str]) {
    markup!(
        page,
        "<details>\n<summary>Figures</summary>\n<div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>",
        label
    );
    for heading in headings {
        markup!(page, "<th scope=\"col\">{}</th>", heading);
    }
    page.literal("</tr></thead>\n<tbody>\n");
}

fn close_table(page: &mut Markup) {
    page.literal("</tbody>\n</table></div>\n</details>\n");
}

fn write_series(page: &mut Markup, phase: &Phase, name: &str) {
    let lowest = format!("lowest rate of any {}", slice_length(phase));
    let headings = ["from (s)", "mean rate", &lowest, "longest latency"];
    open_table(page, &format!("Figures of {name} over time"), &headings);
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
        let dashes = match curve.dashes {
            Dashes::Whole => "0",
            Dashes::Long => "8 4",
            Dashes::Short => "2 3",
        };
        markup!(
            page,
            "<li><svg aria-hidden=\"true\" viewBox=\"0 0 28 8\"><line x1=\"0\" y1=\"4\" x2=\"28\" \
             y2=\"4\" stroke=\"{}\" stroke-width=\"2.5\" stroke-dasharray=\"{}\"/></svg>{}</li>\n",
            curve.tone.css(),
            dashes,
            &one_line(&record.phases[curve.phase].name)
        );
    }
    page.literal("</ul>\n");
}

fn write_latencies(page: &mut Markup, record: &Record, curves: &[Curve], heading: &str) {
    let label = format!("Latencies: {heading}");
    open_table(
        page,
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

fn write_field_legend(page: &mut Markup, ours: &[RatePoint]) {
    page.literal("<ul class=\"legend column\">\n");
    for (number, place) in ours.iter().enumerate() {
        markup!(
            page,
            "<li><svg aria-hidden=\"true\" viewBox=\"0 0 12 12\"><path d=\"M6 0L12 6L6 12L0 6Z\" \
             fill=\"{}\"/></svg>this storage, {}</li>\n",
            Tone::Line(number).css(),
            place.label
        );
    }
    page.literal("</ul>\n<ol class=\"names\">\n");
    for card in &PUBLISHED_CARDS {
        markup!(page, "<li>{}</li>\n", card.name);
    }
    page.literal("</ol>\n");
}

fn write_published(page: &mut Markup, ours: &[RatePoint]) {
    let headings =
        ["number", "device", "4 KiB read", "4 KiB write", "system start", "desktop install"];
    open_table(page, "Figures of published devices", &headings);
    for RatePoint { label, read, write } in ours {
        markup!(
            page,
            "<tr><td></td><th scope=\"row\">this storage, {}</th><td>{}</td><td>{}</td>\
             <td></td><td></td></tr>\n",
            label,
            read,
            write
        );
    }
    for (index, card) in PUBLISHED_CARDS.iter().enumerate() {
        markup!(
            page,
            "<tr><td>{}</td><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
            index + 1,
            card.name,
            card.random_read,
            card.random_write,
            card.boot,
            card.desktop_install
        );
    }
    close_table(page);
}
