//! `cardproof list`: many records, a line each; as a table with rates, or as a file for other programs.
//!
//! A file that is no record is named on standard error and left out; it never ends the command.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use cardproof_rating::{CLASSES, Class, wording};
use cardproof_record::{Record, RecordHead};
use cardproof_report::{
    Entry, LIST_SCHEMA, List, inventory_csv, inventory_html, inventory_markdown, inventory_table,
    inventory_text, share_defects, tell_ids_apart,
};
use cardproof_session::{LATEST, Store, open_regular};
use clap::Args;

use cardproof_units::in_words;

use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::saved;
use crate::talk::{self, Talk};

/// What is said where nothing was measured yet, and what to do.
pub(crate) const NO_RECORD: &str =
    "there is no record yet; check a card first: cardproof check DIRECTORY";

/// Which records to list, and where to.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only records whose label, card, profile or id contains this text; case does not matter
    #[arg(value_name = "TEXT")]
    pub(crate) text: Option<String>,
    /// A directory of records; by default that of your saved records
    #[arg(long, value_name = "DIR")]
    pub(crate) from: Option<PathBuf>,
    /// Only records with exactly this label
    #[arg(long, value_name = "NAME")]
    pub(crate) label: Option<String>,
    /// Only records made on this day (UTC) or later, such as 2026-05-31
    #[arg(long, value_name = "DAY", value_parser = day)]
    pub(crate) since: Option<String>,
    /// Only records that passed this class or a higher one, or were as fast, such as A1
    #[arg(long, value_name = "CLASS")]
    pub(crate) passed: Option<String>,
    /// Show the rates of each record
    #[arg(long)]
    pub(crate) details: bool,
    /// The list as CSV, for a spreadsheet
    #[arg(long, value_name = "FILE|-")]
    pub(crate) csv: Option<Sink>,
    /// The list as one HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// The list as Markdown
    #[arg(long, value_name = "FILE|-")]
    pub(crate) markdown: Option<Sink>,
    /// The list as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Lists the records that `args` ask for.
pub(crate) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    check_outputs(args)?;
    let passed = args.passed.as_deref().map(class).transpose()?;
    let directory = match &args.from {
        Some(directory) => directory.clone(),
        None => Store::of_user()?,
    };
    let mut dated = dated(&directory, Talk::new(args.quiet))?;
    let count = dated.len();
    if let (0, Some(directory)) = (count, &args.from) {
        return Err(Failure::usage(format!(
            "there is no record in {}; name a directory of records",
            directory.display()
        )));
    }
    share_defects(&mut dated.iter_mut().map(|(_, entry)| entry).collect::<Vec<_>>());
    tell_ids_apart(&mut dated.iter_mut().map(|(_, entry)| entry).collect::<Vec<_>>());
    dated.retain(|(time, entry)| is_wanted(time, entry, args, passed));
    let entries: Vec<Entry> = dated.into_iter().map(|(_, entry)| entry).collect();
    write_files(args, &entries)?;
    if args.quiet || sinks(args).contains(&Sink::Stdout) {
        return Ok(Exit::Done);
    }
    if entries.is_empty() {
        Talk::new(false).note(&why_empty(count));
        return Ok(Exit::Done);
    }
    print(args, &entries)?;
    tell_lower_classes(&entries, passed);
    Ok(Exit::Done)
}

/// Where the list goes besides the terminal.
fn sinks(args: &ListArgs) -> Vec<Sink> {
    let html = args.html.clone().map(Sink::File);
    let sinks = [args.csv.clone(), html, args.markdown.clone(), args.json.clone()];
    sinks.into_iter().flatten().collect()
}

fn check_outputs(args: &ListArgs) -> Result<(), Failure> {
    let sinks = sinks(args);
    sinks.iter().try_for_each(output::check)?;
    if sinks.iter().filter(|sink| **sink == Sink::Stdout).count() > 1 {
        return Err(Failure::usage(
            "only one of --csv, --markdown and --json can go to standard output; name files for the \
             others",
        ));
    }
    Ok(())
}

fn write_files(args: &ListArgs, entries: &[Entry]) -> Result<(), Failure> {
    let html = args.html.clone().map(Sink::File);
    for (sink, form) in [
        (&args.csv, inventory_csv as fn(&[Entry]) -> String),
        (&html, inventory_html),
        (&args.markdown, inventory_markdown),
    ] {
        sink.iter().try_for_each(|sink| output::write(sink, &form(entries)))?;
    }
    match &args.json {
        Some(sink) => output::write(sink, &json(entries)?),
        None => Ok(()),
    }
}

fn why_empty(count: usize) -> String {
    match count {
        0 => wording::sentence(NO_RECORD),
        1 => "The one record does not match.".to_owned(),
        count => format!("None of the {count} records match; `cardproof list` shows all."),
    }
}

fn print(args: &ListArgs, entries: &[Entry]) -> Result<(), Failure> {
    if args.details {
        return output::write(&Sink::Stdout, &inventory_table(entries));
    }
    let latest = match args.from {
        Some(_) => None,
        None => Store::find(LATEST)?,
    };
    let latest = latest.as_deref().and_then(Path::file_stem).and_then(|stem| stem.to_str());
    output::write(&Sink::Stdout, &inventory_text(entries, latest, talk::width_wanted()))
}

/// That the list names the highest class only, where one was asked for that it does not name.
fn tell_lower_classes(entries: &[Entry], passed: Option<&'static Class>) {
    let Some(class) = passed else { return };
    if entries.iter().any(|entry| !entry.met.iter().any(|met| met == class.name)) {
        Talk::new(false).note(&format!(
            "The list shows only the highest passed class of each kind. A higher class includes {}.",
            class.name
        ));
    }
}

/// A day, as records write it.
fn day(text: &str) -> Result<String, String> {
    let day: jiff::civil::Date =
        text.parse().map_err(|_| "give a day, such as 2026-05-31".to_owned())?;
    Ok(day.to_string())
}

/// The class called `name`.
fn class(name: &str) -> Result<&'static Class, Failure> {
    CLASSES.iter().find(|class| class.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let known: Vec<&str> = CLASSES.iter().map(|class| class.name).collect();
        Failure::usage(format!("there is no class '{name}'; the classes are: {}", known.join(", ")))
    })
}

fn is_wanted(time: &str, entry: &Entry, args: &ListArgs, passed: Option<&'static Class>) -> bool {
    let holds = |text: &String| {
        let text = text.to_lowercase();
        [entry.name(), &entry.id, &entry.card, &entry.profile]
            .iter()
            .any(|field| field.to_lowercase().contains(&text))
    };
    // The highest class of a kind that is met stands for those below it.
    let is_met = |wanted: &&'static Class| {
        let place = |name: &str| CLASSES.iter().position(|class| class.name == name);
        entry
            .met
            .iter()
            .filter_map(|met| place(met))
            .any(|met| CLASSES[met].family == wanted.family && Some(met) >= place(wanted.name))
    };
    args.text.as_ref().is_none_or(holds)
        && args.label.as_ref().is_none_or(|label| entry.label.as_ref() == Some(label))
        && args.since.as_ref().is_none_or(|day| time >= day.as_str())
        && passed.is_none_or(|class| is_met(&class))
}

fn json(entries: &[Entry]) -> Result<String, Failure> {
    let list = List { schema: LIST_SCHEMA, records: entries };
    let text = serde_json::to_string_pretty(&list)
        .map_err(Failure::because("the list cannot be put into JSON"))?;
    Ok(text + "\n")
}

/// The records in `directory` with their times (RFC 3339), the youngest last. A run on a simulated card has no date of its own,
/// so its file's stands for it.
fn dated(directory: &Path, talk: Talk) -> Result<Vec<(String, Entry)>, Failure> {
    let mut read: Vec<(PathBuf, Record)> = Vec::new();
    for path in files(directory)? {
        match saved::read(&path) {
            Ok(record) => read.push((path, record)),
            Err(failure) => talk.note(&format!("Left out: {}", failure.message)),
        }
    }
    read.sort_by_cached_key(|(path, _)| Store::age(path));
    let dated = |(path, record): &(PathBuf, Record)| {
        let entry = Entry::of(record);
        let written = entry.is_simulated.then(|| written(path)).flatten();
        (written.or_else(|| entry.created.clone()).unwrap_or_default(), entry)
    };
    let told = read.iter().filter(|(_, record)| !is_part_of_check(record, &read));
    Ok(told.map(dated).collect())
}

/// Whether `record` is the test of the capacity of a check whose speed is among `all`: that record has both.
fn is_part_of_check(record: &Record, all: &[(PathBuf, Record)]) -> bool {
    let holds_both =
        |other: &Record| !other.phases.is_empty() && other.capacity() == record.capacity();
    record.phases.is_empty()
        && record.capacity().is_some()
        && all.iter().any(|(_, other)| holds_both(other))
}

/// When the file at `path` was written.
fn written(path: &Path) -> Option<String> {
    let time = fs::metadata(path).and_then(|metadata| metadata.modified()).ok()?;
    Some(jiff::Timestamp::try_from(time).ok()?.to_string())
}

/// The files in `directory` that may be records.
pub(crate) fn files(directory: &Path) -> Result<Vec<PathBuf>, Failure> {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error)
            if error.kind() == std::io::ErrorKind::NotFound && Store::of_user()? == directory =>
        {
            return Ok(Vec::new());
        }
        Err(error) => {
            return Err(Failure::usage(format!(
                "cannot read the directory {}: {error}; name a directory of records",
                directory.display(),
                error = in_words(&error)
            )));
        }
    };
    let is_hidden =
        |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
    let mut files: Vec<PathBuf> = entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json") && !is_hidden(path))
        .collect();
    files.sort();
    Ok(files)
}

/// The files of the kept records with their heads. The head is that of the record as a whole where it does not stand at
/// the beginning; what is no record is left out.
pub(crate) fn heads() -> Result<Vec<(PathBuf, RecordHead)>, Failure> {
    let head = |path: PathBuf| {
        let begun = open_regular(&path).ok().map(BufReader::new);
        let head = begun.and_then(RecordHead::from_reader);
        let head = head.or_else(|| saved::read(&path).ok().as_ref().map(RecordHead::from));
        head.map(|head| (path, head))
    };
    Ok(files(&Store::of_user()?)?.into_iter().filter_map(head).collect())
}

/// The kept records that can be read and for whose heads `is_wanted` holds.
pub(crate) fn kept(
    is_wanted: impl Fn(&RecordHead) -> bool,
) -> Result<Vec<(PathBuf, Record)>, Failure> {
    let wanted = heads()?.into_iter().filter(|(_, head)| is_wanted(head));
    Ok(wanted.filter_map(|(path, _)| Some((path.clone(), saved::read(&path).ok()?))).collect())
}

/// The kept records whose label is `label`, as a list shows them; upper and lower case count only where both are used.
pub(crate) fn labelled(label: &str) -> Result<Vec<(PathBuf, Record)>, Failure> {
    let all = kept(|head| head.label.as_ref().is_some_and(|it| it.eq_ignore_ascii_case(label)))?;
    let is_shown: Vec<bool> =
        all.iter().map(|(_, record)| !is_part_of_check(record, &all)).collect();
    let called = all.into_iter().zip(is_shown).filter_map(|(it, is_shown)| is_shown.then_some(it));
    let (exact, other): (Vec<_>, Vec<_>) =
        called.partition(|(_, record)| record.label.as_deref() == Some(label));
    Ok(if exact.is_empty() { other } else { exact })
}
