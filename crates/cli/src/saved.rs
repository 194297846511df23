//! `cardproof rate` and `cardproof report`: what a saved record says today.
//!
//! A record is named by its file, by its id among those kept, or as the latest of them.

use std::path::{Path, PathBuf};

use cardproof_record::Record;
use cardproof_report::{Entry, inventory_text};
use cardproof_session::{LATEST, Store};
use cardproof_units::Bytes;

use crate::args::{OutputArgs, RateArgs, ReportArgs};
use crate::charts;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::inventory;
use crate::output::{self, Sink};
use crate::result::{self, Requirement};
use crate::talk::{self, Talk};

/// No record is longer: ten runs of the longest profile take a tenth of it.
const LENGTH_MAX: Bytes = Bytes::mib(64);

/// Judges a record by the rules of this version.
pub(crate) fn rate(args: &RateArgs) -> Result<Exit, Failure> {
    let requirements = Requirement::parse_all(&args.require)?;
    args.json.iter().try_for_each(output::check)?;
    let records: Vec<Record> =
        args.records.iter().map(|name| read(&locate(name)?)).collect::<Result<_, _>>()?;
    if let Some(sink) = &args.json {
        output::write(sink, &judged(&records)?)?;
    }
    if !args.quiet && args.json != Some(Sink::Stdout) {
        show(&records)?;
    }
    let mut exit = Exit::Done;
    for record in &records {
        let unmet = Requirement::unmet(&requirements, record, args.accept_indication);
        if !unmet.is_empty() {
            exit = Exit::NotMet;
            let of = if records.len() > 1 { format!(" ({})", record.id) } else { String::new() };
            let note = format!("\nRequired, but not passed{of}: {}.", unmet.join(", "));
            Talk::new(args.quiet).note(&note);
        }
    }
    Ok(exit)
}

/// One record in full, or of several a row each.
fn show(records: &[Record]) -> Result<(), Failure> {
    let text = match records {
        [record] => {
            let verdicts = cardproof_rating::judge(record);
            let width = talk::width();
            format!("\n{}", cardproof_report::summary(record, &verdicts, width, talk::is_styled()))
        }
        several => {
            let entries: Vec<Entry> = several.iter().map(Entry::of).collect();
            inventory_text(&entries, None, talk::width())
        }
    };
    output::write(&Sink::Stdout, &text)?;
    let hint = match records {
        [_] => "\nWith every reason and chart: cardproof report RECORD --html FILE",
        _ => "\nWhich is the best: cardproof compare RECORD RECORD ...",
    };
    Talk::new(false).note(hint);
    Ok(())
}

/// The records with their verdicts as JSON: one document, or a list of them.
fn judged(records: &[Record]) -> Result<String, Failure> {
    let documents: Vec<String> =
        records.iter().map(result::judged_json).collect::<Result<_, _>>()?;
    Ok(match documents.as_slice() {
        [only] => only.clone(),
        several => format!("[\n{}]\n", several.join(",\n")),
    })
}

/// Makes a report of a record; without a wish, HTML beside the record.
pub(crate) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let path = locate(&args.record)?;
    let record = read(&path)?;
    let OutputArgs { json, html, markdown } = &args.output;
    let has_wish = json.is_some()
        || html.is_some()
        || markdown.is_some()
        || args.charts.is_some()
        || args.picture.is_some();
    let is_from_stdin = path == Path::new("-");
    let html = match (html, has_wish) {
        (None, false) if is_from_stdin => {
            return Err(Failure::usage(
                "where shall the report go? Give --html FILE or --markdown FILE",
            ));
        }
        (None, false) => Some(path.with_extension("html")),
        (html, _) => html.clone(),
    };
    let outputs = OutputArgs { json: json.clone(), html, markdown: markdown.clone() };
    result::check_outputs(&outputs)?;
    args.charts.as_deref().map_or(Ok(()), charts::check)?;
    if let Some(picture) = &args.picture {
        output::check(&Sink::File(picture.path.clone()))?;
    }
    let verdicts = cardproof_rating::judge(&record);
    // The reports asked for are all that is wanted, so the summary stays away.
    result::show(&record, &verdicts, &outputs, Talk::new(true))?;
    let talk = Talk::new(args.quiet);
    if let Some(directory) = &args.charts {
        let drawn = cardproof_report::charts(&record, &verdicts)
            .map_err(Failure::because("the charts cannot be drawn"))?;
        charts::write(directory, &drawn)?;
        talk.note(&format!("{} charts: {}", drawn.len(), directory.display()));
    }
    if let Some(picture) = &args.picture {
        charts::write_picture(picture, &cardproof_report::result_picture(&record, &verdicts))?;
        talk.note(&format!("Picture: {}", picture.path.display()));
    }
    if let Some(path) = &outputs.html {
        talk.note(&format!("Report: {}", path.display()));
    }
    Ok(Exit::Done)
}

/// The file of the record that `name` names: itself, or one of those kept, by its id or as the
/// latest.
pub(crate) fn locate(name: &Path) -> Result<PathBuf, Failure> {
    // Where it cannot be told whether there is such a file, reading it tells why.
    if name == Path::new("-") || name.try_exists().unwrap_or(true) {
        return Ok(name.to_owned());
    }
    if let Some(path) = name.to_str().map(Store::find).transpose()?.flatten() {
        return Ok(path);
    }
    let mut labelled = match name.to_str() {
        Some(label) => inventory::labelled(label)?,
        None => Vec::new(),
    };
    if labelled.len() > 1 {
        let ids: Vec<&str> = labelled.iter().map(|(_, record)| record.id.as_str()).collect();
        return Err(Failure::usage(format!(
            "{} records have the label '{}': {}; give one of these ids",
            ids.len(),
            name.display(),
            ids.join(", ")
        )));
    }
    if let Some((path, _)) = labelled.pop() {
        return Ok(path);
    }
    if name == Path::new(LATEST) {
        return Err(Failure::usage(
            "there is no record yet; measure something first: cardproof run",
        ));
    }
    Err(Failure::usage(format!(
        "there is no file and no record '{}'; name a file, the id or the \
         label of a record, or latest; `cardproof list` shows them",
        name.display()
    )))
}

/// The record in the file at `path`, or on standard input.
pub(crate) fn read(path: &Path) -> Result<Record, Failure> {
    let name = || match Sink::of(path) {
        Sink::Stdout => "standard input".to_owned(),
        Sink::File(path) => path.display().to_string(),
    };
    let text = input::read_text(path, LENGTH_MAX).map_err(|error| {
        Failure::of_opening(
            &error,
            format!("cannot read {}: {error}; name the file of a record", name()),
        )
    })?;
    Record::from_json(&text).map_err(|error| {
        Failure::usage(format!(
            "{}: {error}; name a file that cardproof saved or printed with --json",
            name()
        ))
    })
}
