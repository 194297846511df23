//! What monitors tell that are not iostat: who writes, or how long the processors waited. Which device limits
//! they do not tell.

use std::path::Path;

use cardproof_import::clean;
use cardproof_import::monitors::{self, Monitor, Totals, Writer, Written};
use cardproof_report::{ExplainedDocument, ExplainedTotals, ExplainedWriter};
use cardproof_units::Bytes;

use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};

/// The answer names at most this many programs.
const WRITERS_MAX: usize = 10;

/// From this share of waiting on, storage holds the programs up.
const WAITING: f64 = 0.2;

/// Shows what `text`, an output of `monitor` from `path`, tells.
pub(super) fn show(
    text: &str,
    monitor: Monitor,
    path: &Path,
    is_json: bool,
) -> Result<Exit, Failure> {
    let told = |text: &str| (monitors::writers(text), monitors::totals(text));
    let is_empty =
        |(writers, totals): &(Vec<Writer>, Option<Totals>)| writers.is_empty() && totals.is_none();
    // Columns of small numbers look like line numbers, so a text that is read as it is stays so.
    let plain = told(text);
    let found = if is_empty(&plain) { told(&clean(text).text) } else { plain };
    let name = monitor.name();
    if is_empty(&found) {
        return Err(Failure::usage(format!(
            "{} is the output of {name}, and no row of it tells of storage; give the output of \
             `iostat -x 20` of Linux",
            path.display()
        )));
    }
    let (writers, totals) = found;
    let shown = if is_json {
        json(&writers, totals.as_ref())?
    } else {
        page(&writers, totals.as_ref(), name)
    };
    output::write(&Sink::Stdout, &shown)?;
    Ok(Exit::Done)
}

fn page(writers: &[Writer], totals: Option<&Totals>, name: &str) -> String {
    let mut page = String::new();
    if !writers.is_empty() {
        page.push_str(&format!("Who writes, by {name}:\n"));
    }
    for writer in writers.iter().take(WRITERS_MAX) {
        let journal = writer.journal_of.as_ref();
        let journal = journal.map_or_else(String::new, |it| format!(" (the journal of {it})"));
        let written = match writer.written {
            Written::InAll(bytes) => bytes.to_string(),
            Written::PerSecond(rate) => format!("{} a second", Bytes(rate.0.round() as u64)),
        };
        page.push_str(&format!("  {}{journal}: {written}\n", writer.program));
    }
    page.push_str(&totals.map_or_else(String::new, |totals| of_totals(totals, name)));
    page.push_str(&format!(
        "{name} does not tell which storage limits, and by what; `iostat -x 20` does: give its output to \
         this command.\n"
    ));
    page
}

/// All storage together in words, the answer first.
fn of_totals(totals: &Totals, name: &str) -> String {
    let mut text = String::new();
    if let (Some(mean), Some(most)) = (totals.iowait, totals.iowait_max) {
        let answer = if mean >= WAITING {
            "Programs wait for storage"
        } else if most >= WAITING {
            "Programs waited for storage at times"
        } else {
            "Storage holds nothing up"
        };
        text.push_str(&format!(
            "{answer}: the processors waited for it in {:.0} % of their time on average, at most \
             {:.0} %, in {} report{} of {name}.\n",
            100.0 * mean,
            100.0 * most,
            totals.reports,
            if totals.reports == 1 { "" } else { "s" }
        ));
    }
    if let Some(blocked) = totals.blocked_max.filter(|blocked| *blocked >= 1.0) {
        text.push_str(&format!("Up to {blocked:.0} tasks waited at once.\n"));
    }
    let rates = [("read", totals.read_per_s), ("written", totals.written_per_s)];
    let rates: Vec<String> = rates
        .iter()
        .filter_map(|(name, rate)| Some(format!("{name} {:.2} MB/s", (*rate)?.as_mb_per_s())))
        .collect();
    if !rates.is_empty() {
        text.push_str(&format!("All storage together, on average: {}.\n", rates.join(", ")));
    }
    text
}

/// The same as JSON.
fn json(writers: &[Writer], totals: Option<&Totals>) -> Result<String, Failure> {
    let writers = writers.iter().map(|writer| {
        let (written_bytes, written_bytes_per_s) = match writer.written {
            Written::InAll(bytes) => (Some(bytes), None),
            Written::PerSecond(rate) => (None, Some(rate)),
        };
        let (program, journal_of) = (&*writer.program, writer.journal_of.as_deref());
        ExplainedWriter { program, written_bytes, written_bytes_per_s, journal_of }
    });
    let totals = totals.map(|totals| ExplainedTotals {
        reports: totals.reports,
        iowait: totals.iowait,
        iowait_max: totals.iowait_max,
        blocked_tasks_max: totals.blocked_max,
        read_bytes_per_s: totals.read_per_s,
        written_bytes_per_s: totals.written_per_s,
    });
    let document = ExplainedDocument::of_monitor(writers.collect(), totals);
    let mut text = serde_json::to_string_pretty(&document)
        .map_err(Failure::because("the explanation cannot be put into JSON"))?;
    text.push('\n');
    Ok(text)
}
