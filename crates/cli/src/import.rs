//! `cardproof import`: other tools' outputs into records, kept where those of runs are.
//!
//! All named files are read before anything is saved: one that cannot be read stops the command with
//! its line, and leaves nothing half done. A directory is different: it holds whatever it holds, so
//! files of no known tool are counted and passed over. What was read is shown beside what the tool
//! printed, so that a unit misunderstood would be seen; what was passed over is listed.

mod files;
mod own;
mod table;

pub(crate) use table::findings;

use std::path::{Path, PathBuf};

use cardproof_import::{ForeignTool, ImportError, Imported, Origin, decode, import};
use cardproof_rating::compare::has_compared_figure;
use cardproof_record::{ImportDocument, Record};
use cardproof_session::{Store, make_directories};
use cardproof_units::{Bytes, in_words};
use clap::Args;

use crate::args::label;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::measuring::random_bits;
use crate::output::{self, Sink};
use crate::pasted::{self, Reader};
use crate::result;
use crate::saved;
use crate::talk::{Talk, width_wanted};
use own::Own;

/// No output is longer: fio's JSON of a hundred jobs has a few MB.
const LENGTH_MAX: Bytes = Bytes::mib(64);

/// What to import.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Files with the output of other tools, a directory of such files, or `-` for standard input
    #[arg(value_name = "FILE|DIR", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Treat the input as output of this tool
    ///
    /// One of: a1-sd-bench, agnostics, amorphousdiskmark, androbench, as-ssd, badblocks, blackmagic,
    /// bonnie++, crystaldiskmark, dd, ddrescue, disk-benchmark, diskspd, e2fsck, f3, file-tools, fio,
    /// flashbench, gnome-disks, h2testw, hdparm, ioping, iostat, iozone, kernel-log, kdiskmark,
    /// microsd-benchmarks, nvme, pibenchmarks, rpi-benchmark, rpi-imager, sbc-bench, sd_bench,
    /// sd-card-bench, smartctl, sysbench, table, tdediskmark, winsat, yabs.
    #[arg(long = "as", value_name = "TOOL", value_parser = tool)]
    pub(crate) tool: Option<ForeignTool>,
    /// A name for what was measured, such as the number written on the card
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub(crate) label: Option<String>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The record as JSON, to a file or to standard output; for several cards, one document with
    /// all records
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Save the records in this directory instead of the default directory
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

fn tool(name: &str) -> Result<ForeignTool, ImportError> {
    name.parse()
}

/// What was read of one file.
struct Read {
    name: String,
    found: Imported,
}

/// Reads all files, then saves and shows their records.
pub(crate) fn run(args: &ImportArgs) -> Result<Exit, Failure> {
    check(args)?;
    let talk = Talk::new(args.quiet);
    let (mut reads, unread) = read_all(args)?;
    if reads.is_empty() {
        return Err(nothing_read(&unread));
    }
    if args.label.is_some() {
        let records = reads.iter_mut().flat_map(|read| &mut read.found.records);
        records.for_each(|record| record.label.clone_from(&args.label));
    }
    let records: Vec<&Record> = reads.iter().flat_map(|read| &read.found.records).collect();
    let kept = save(&records, args.output.as_deref())?;
    if let Some(sink) = &args.json {
        write_json(&records, sink)?;
    }
    if args.json != Some(Sink::Stdout) && !args.quiet {
        let tables: Vec<String> = reads.iter().flat_map(tables).collect();
        output::write(&Sink::Stdout, &crate::talk::paged(&tables.join("\n")))?;
    }
    let has_refused = reads.iter().map(|read| note(read, talk)).fold(false, |all, one| all | one);
    let is_whole = !has_refused && note_unread(&unread, talk);
    records.iter().take(1).for_each(|record| saved::warn_of_label(record, talk));
    for path in &kept {
        talk.note(&format!("Record: {}", path.display()));
    }
    if records.iter().any(|record| cardproof_rating::speed_tells_no_fake(record)) {
        talk.note(cardproof_rating::SPEED_TELLS_NO_FAKE);
    }
    if args.output.is_none() {
        match kept.as_slice() {
            [] => {}
            [_] if !records.iter().any(|record| has_compared_figure(record)) => {
                talk.note("Next: cardproof show latest (what is known of it).");
            }
            [_] => talk.note(
                "Next: cardproof show latest (what is known of it), cardproof compare latest NAME (beside another card).",
            ),
            _ => talk.note("Next: cardproof list (one line each), cardproof compare NAME NAME."),
        }
    }
    Ok(if is_whole { Exit::Done } else { Exit::Incomplete })
}

/// What can be known to be wrong before anything is read.
fn check(args: &ImportArgs) -> Result<(), Failure> {
    if args.files.iter().filter(|file| is_stdin(file)).count() > 1 {
        return Err(Failure::usage("standard input can be read only once; give `-` only once"));
    }
    args.json.iter().try_for_each(output::check)
}

fn is_stdin(file: &Path) -> bool {
    Sink::from_path(file) == Sink::Stdout
}

/// A file that became no record, and why.
struct Unread {
    name: String,
    error: ImportError,
    /// What of ours it is.
    own: Option<Own>,
    /// For text of another kind: its kind, and the command that reads it.
    advice: Option<String>,
}

impl Unread {
    fn failure(&self, asked: Option<ForeignTool>) -> Failure {
        let Self { name, error, own, advice } = self;
        if let Some(own) = own {
            return Failure::usage(format!("{name}: nothing to import: {}", own.words()));
        }
        Failure::usage(match (advice, asked, error) {
            (Some(advice), ..) => format!("{name}: nothing to import: {advice}"),
            (None, Some(tool), ImportError::Unrecognised | ImportError::Claim { .. }) => format!(
                "{name} is not output of {tool}; paste it as the tool printed it, or leave --as out"
            ),
            (None, ..) => format!("{name}: {error}"),
        })
    }
}

/// What is in all files. A named file that cannot be read is an error; one of a directory is kept.
fn read_all(args: &ImportArgs) -> Result<(Vec<Read>, Vec<Unread>), Failure> {
    let (mut reads, mut unread) = (Vec::new(), Vec::new());
    for named in &args.files {
        if is_stdin(named) || !named.is_dir() {
            let name = name_of(named);
            let found = read(named, &name, args.tool)?;
            reads.push(found.map_err(|unread| unread.failure(args.tool))?);
            continue;
        }
        for file in files::below(named, LENGTH_MAX)? {
            let name = name_of(&file);
            match read(&file, &name, args.tool)? {
                Ok(found) => reads.push(found),
                Err(found) => unread.push(found),
            }
        }
    }
    Ok((reads, unread))
}

fn name_of(file: &Path) -> String {
    if is_stdin(file) { "standard input".to_owned() } else { file.display().to_string() }
}

/// What is in `file`.
fn read(
    file: &Path,
    name: &str,
    tool: Option<ForeignTool>,
) -> Result<Result<Read, Unread>, Failure> {
    let bytes = input::read(file, LENGTH_MAX).map_err(|error| {
        Failure::of_opening(
            &error,
            format!(
                "cannot read {name}: {error}; name a file of a tool's output",
                error = in_words(&error)
            ),
        )
    })?;
    let (text, name) = (decode(&bytes), name.to_owned());
    if let Some(own) = Own::from_text(&text) {
        let error = ImportError::Unrecognised;
        return Ok(Err(Unread { name, error, own: Some(own), advice: None }));
    }
    Ok(match import(&text, tool, &origin()?) {
        Ok(found) => Ok(Read { name, found }),
        Err(error) => {
            let advice = tool.and_then(|asked| other_tool(&text, asked));
            if advice.is_some() {
                return Ok(Err(Unread { name, error, own: None, advice }));
            }
            let is_foreign = error == ImportError::Unrecognised;
            let advice = is_foreign.then(|| pasted::other(&text, Reader::Import, file)).flatten();
            Err(Unread { name, error, own: None, advice })
        }
    })
}

/// That `text`, which is not output of `asked`, is that of another tool.
fn other_tool(text: &str, asked: ForeignTool) -> Option<String> {
    let found = import(text, None, &origin().ok()?).ok()?;
    let other = &found.records.first()?.tool.name;
    (*other != asked.to_string())
        .then(|| format!("this is output of {other}, not of {asked}; leave --as out"))
}

/// Why there is nothing at all.
fn nothing_read(unread: &[Unread]) -> Failure {
    if unread.len() > 1 && unread.iter().all(|file| file.own.is_some()) {
        return Failure::usage(format!(
            "nothing to import: cardproof itself wrote these {} files; `cardproof list --from DIR` lists records",
            unread.len()
        ));
    }
    let is_told = |file: &&Unread| file.error != ImportError::Unrecognised || file.own.is_some();
    match unread.iter().find(is_told) {
        Some(file) => file.failure(None),
        None => Failure::usage(format!(
            "none of {} files holds the output of a tool that can be read ({})",
            unread.len(),
            ForeignTool::names()
        )),
    }
}

fn tables(read: &Read) -> Vec<String> {
    let count = read.found.records.len();
    let table = |(index, record): (usize, &Record)| {
        let place = if count > 1 { format!(" ({} of {count})", index + 1) } else { String::new() };
        table::of(&format!("{}{place}", read.name), record, width_wanted())
    };
    read.found.records.iter().enumerate().map(table).collect()
}

/// Number of runs of skipped lines that are listed.
const RUNS_MAX: usize = 12;

/// Says what was passed over and what was refused; whether anything was refused.
fn note(read: &Read, talk: Talk) -> bool {
    let skipped = &read.found.skipped;
    let count: usize = skipped.iter().map(|run| run.count).sum();
    if count > 0 {
        let shown = skipped.iter().take(RUNS_MAX).map(|run| match run.first == run.last {
            true => run.first.to_string(),
            false => format!("{}-{}", run.first, run.last),
        });
        let mut places: Vec<String> = shown.collect();
        if skipped.len() > RUNS_MAX {
            places.push(format!("and {} more places", skipped.len() - RUNS_MAX));
        }
        let lines = if count == 1 { "line" } else { "lines" };
        talk.note(&format!(
            "{}: {lines} {} not understood and skipped",
            read.name,
            places.join(", ")
        ));
    }
    for error in &read.found.refused {
        crate::talk::error(&format!("{}: not imported: {error}", read.name,));
    }
    !read.found.refused.is_empty()
}

/// Says which files of a directory became no record; whether all of those simply hold no output.
fn note_unread(unread: &[Unread], talk: Talk) -> bool {
    let (own, others): (Vec<&Unread>, Vec<&Unread>) =
        unread.iter().partition(|file| file.own.is_some());
    let (unknown, refused): (Vec<&Unread>, Vec<&Unread>) =
        others.into_iter().partition(|file| file.error == ImportError::Unrecognised);
    note_names("skipped, written by cardproof itself", &own, talk);
    note_names("without the output of a known tool", &unknown, talk);
    for file in &refused {
        crate::talk::error(&format!("{}: {}", file.name, file.error));
    }
    refused.is_empty()
}

/// Names `files`, and why they became no record.
fn note_names(why: &str, files: &[&Unread], talk: Talk) {
    if files.is_empty() {
        return;
    }
    let names: Vec<&str> = files.iter().take(RUNS_MAX).map(|file| &*file.name).collect();
    let more = if files.len() > RUNS_MAX { ", …" } else { "" };
    let count =
        if files.len() == 1 { "1 file".to_owned() } else { format!("{} files", files.len()) };
    talk.note(&format!("{count} {why}: {}{more}", names.join(", ")));
}

/// A name and the time of reading.
fn origin() -> Result<Origin, Failure> {
    let now = jiff::Timestamp::now();
    Ok(Origin {
        id: format!("{}-{:08x}", now.strftime("%Y%m%dT%H%M%SZ"), random_bits()? as u32),
        read_at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    })
}

/// One record as it is, several in a document.
fn write_json(records: &[&Record], sink: &Sink) -> Result<(), Failure> {
    if let [record] = records {
        return result::write_json(record, &cardproof_rating::judge(record), sink);
    }
    let judged = |record: &&Record| result::judged(record, cardproof_rating::judge(record));
    let document = ImportDocument::new(records.iter().map(judged).collect());
    let mut text = serde_json::to_string_pretty(&document)
        .map_err(Failure::because("the records cannot be put into JSON"))?;
    text.push('\n');
    output::write(sink, &text)
}

/// Saves `records` in `directory`, or among those of runs, and tells where.
fn save(records: &[&Record], directory: Option<&Path>) -> Result<Vec<PathBuf>, Failure> {
    let Some(directory) = directory else {
        let store = Store::open(&Store::of_user()?)?;
        records.iter().try_for_each(|record| store.save(record))?;
        return Ok(records.iter().map(|record| store.record_path(&record.id)).collect());
    };
    make_directories(directory).map_err(|error| {
        let name = directory.display();
        Failure::incomplete(format!(
            "cannot make {name}: {error}; name another directory",
            error = in_words(&error)
        ))
    })?;
    if rustix::fs::access(directory, rustix::fs::Access::WRITE_OK).is_err() {
        let name = directory.display();
        return Err(Failure::incomplete(format!(
            "this user may not write to {name}; name another directory"
        )));
    }
    let saved = records.iter().map(|record| {
        let path = directory.join(format!("{}.json", record.id));
        let text =
            record.to_json().map_err(Failure::because("the record cannot be put into JSON"))?;
        output::replace(&path, &text)
            .map_err(|error| output::not_written(&path, &error, "name another directory"))?;
        Ok(path)
    });
    saved.collect()
}
