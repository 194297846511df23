//! `cardproof rate` and `cardproof report`: what a saved record says today.

use std::path::Path;

use cardproof_record::Record;
use cardproof_units::Bytes;

use crate::args::{OutputArgs, RateArgs, ReportArgs};
use crate::exit::{Exit, Failure};
use crate::input;
use crate::output::Sink;
use crate::result::{self, Requirement};
use crate::talk::Talk;

/// No record is longer: ten runs of the longest profile take a tenth of it.
const LENGTH_MAX: Bytes = Bytes::mib(64);

/// Judges a record by the rules of this version.
pub(crate) fn rate(args: &RateArgs) -> Result<Exit, Failure> {
    let requirements = Requirement::parse_all(&args.require)?;
    let record = read(&args.record)?;
    let outputs = OutputArgs { json: args.json.clone(), html: None, markdown: None };
    result::check_outputs(&outputs)?;
    result::show(&record, &cardproof_rating::judge(&record), &outputs, Talk::new(false))?;
    let is_met = Requirement::all_met(&requirements, &record);
    Ok(if is_met { Exit::Done } else { Exit::NotMet })
}

/// Makes a report of a record; without a wish, HTML beside the record.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let record = read(&args.record)?;
    let OutputArgs { json, html, markdown } = &args.output;
    let has_wish = json.is_some() || html.is_some() || markdown.is_some();
    let is_from_stdin = args.record == Path::new("-");
    let html = match (html, has_wish) {
        (None, false) if is_from_stdin => {
            return Err(Failure::usage(
                "where shall the report go? Give --html FILE or --markdown FILE",
            ));
        }
        (None, false) => Some(args.record.with_extension("html")),
        (html, _) => html.clone(),
    };
    let outputs = OutputArgs { json: json.clone(), html, markdown: markdown.clone() };
    result::check_outputs(&outputs)?;
    // The reports asked for are all that is wanted, so the summary stays away.
    result::show(&record, &cardproof_rating::judge(&record), &outputs, Talk::new(true))?;
    if let Some(path) = &outputs.html {
        Talk::new(false).note(&format!("Report: {}", path.display()));
    }
    Ok(Exit::Done)
}

/// The record in the file at `path`, or on standard input.
pub(crate) fn read(path: &Path) -> Result<Record, Failure> {
    let name = || match Sink::of(path) {
        Sink::Stdout => "standard input".to_owned(),
        Sink::File(path) => path.display().to_string(),
    };
    let text = input::read_text(path, LENGTH_MAX)
        .map_err(|error| Failure::usage(format!("cannot read {}: {error}", name())))?;
    Record::from_json(&text).map_err(|error| {
        Failure::usage(format!(
            "{}: {error}; name a file that cardproof saved or printed with --json",
            name()
        ))
    })
}
