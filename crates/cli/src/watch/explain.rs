//! `watch --explain`: a log of iostat in words; of other monitors what they tell.

mod others;

use std::path::Path;

use cardproof_import::iostat::{IostatError, iostat};
use cardproof_import::monitors;
use cardproof_import::{clean, decode};
use cardproof_rating::limits::{LogExplanation, LogState, explain_log};
use cardproof_rating::words::log::story;
use cardproof_record::IostatLog;
use cardproof_report::ExplainedDocument;
use cardproof_units::{Bytes, in_words};

use super::args::WatchArgs;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::output::{self, Sink};
use crate::pasted::{self, Reader};
use crate::talk;

/// A week of `iostat 1` for two devices is as long.
const LENGTH_MAX: Bytes = Bytes::mib(256);

/// The longest name of a state, of those that are not told in words below.
const STATE_WIDTH: usize = 24;

/// Explains the log at `path`.
pub(super) fn run(path: &Path, args: &WatchArgs) -> Result<Exit, Failure> {
    let text = read(path)?;
    let log = iostat(&text).or_else(|_| in_a_paste(&text));
    if let (Err(_), Some(monitor)) = (&log, monitors::monitor(&text)) {
        return others::show(&text, monitor, path, args.json);
    }
    let log = log.map_err(|error| {
        let name = path.display().to_string();
        // A log of iostat that is broken stays one, whatever else is in the text.
        let is_iostat = matches!(error, IostatError::Heading { .. });
        let advice = pasted::other(&text, Reader::Watch, path).filter(|_| !is_iostat);
        Failure::usage(match advice {
            Some(advice) => format!("{name} is no log of a storage's use: {advice}"),
            None => format!("{name} is not a log that can be explained: {error}",),
        })
    })?;
    let explanations = explain_log(&log, args.interval);
    if explanations.is_empty() {
        return Err(Failure::usage(format!(
            "{} holds only iostat's first report, which counts since boot; let it run on, as in \
             `iostat 20`",
            path.display()
        )));
    }
    let text = if args.json { json(&explanations)? } else { page(&explanations) };
    output::write(&Sink::Stdout, &text)?;
    Ok(Exit::Done)
}

/// The log in a text from a mail or a web page. A log as iostat wrote it is not copied for this: it may be
/// as long as memory.
fn in_a_paste(text: &str) -> Result<IostatLog, IostatError> {
    let cleaned = clean(text);
    iostat(&cleaned.text).map_err(|error| match error {
        IostatError::Heading { line, missing } => {
            IostatError::Heading { line: cleaned.number_of(line), missing }
        }
        error => error,
    })
}

fn read(path: &Path) -> Result<String, Failure> {
    let bytes = input::read(path, LENGTH_MAX).map_err(|error| {
        Failure::of_opening(
            &error,
            format!(
                "cannot read {}: {error}; name a log of iostat",
                path.display(),
                error = in_words(&error)
            ),
        )
    })?;
    Ok(String::from_utf8(bytes).unwrap_or_else(|error| decode(error.as_bytes()).into_owned()))
}

/// All explanations as text for the terminal.
fn page(explanations: &[LogExplanation]) -> String {
    let width = usize::from(talk::width()).clamp(20, 100);
    let mut page = String::new();
    let is_idle = |explanation: &&LogExplanation| {
        explanations.len() > 1
            && explanation.states.iter().all(|share| share.state == LogState::Idle)
    };
    for explanation in explanations.iter().filter(|explanation| !is_idle(explanation)) {
        if !page.is_empty() {
            page.push('\n');
        }
        for paragraph in &story(explanation) {
            page.push_str(&cardproof_report::wrapped(paragraph, width as u16));
            page.push('\n');
        }
        for share in &explanation.states {
            let state = share.state.words();
            page.push_str(&format!("  {state:<STATE_WIDTH$}  {}\n", share.words()));
        }
    }
    let idle: Vec<&str> =
        explanations.iter().filter(is_idle).map(|explanation| &*explanation.device).collect();
    if !idle.is_empty() {
        page.push_str(&format!("\nIdle throughout: {}.\n", idle.join(", ")));
    }
    page
}

/// All explanations as one JSON document.
fn json(explanations: &[LogExplanation]) -> Result<String, Failure> {
    let mut text = serde_json::to_string_pretty(&ExplainedDocument::of_devices(explanations))
        .map_err(Failure::because("the explanation cannot be put into JSON"))?;
    text.push('\n');
    Ok(text)
}
