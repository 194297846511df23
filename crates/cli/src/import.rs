//! `cardproof import`: other tools' outputs into records, kept where those of runs are.
//!
//! All files are read before anything is saved: one that cannot be read stops the command with
//! its line, and leaves nothing half done. What was read is shown beside what the tool printed, so
//! that a unit misunderstood would be seen.

mod table;

use std::fs;
use std::path::{Path, PathBuf};

use cardproof_import::{ForeignTool, ImportError, Origin, import};
use cardproof_record::Record;
use cardproof_session::Store;
use cardproof_units::Bytes;
use clap::Args;

use crate::args::label;
use crate::exit::{Exit, Failure};
use crate::input;
use crate::measuring::random_bits;
use crate::output::{self, Sink};
use crate::result;
use crate::talk::Talk;

/// No output is longer: fio's JSON of a hundred jobs has a few MB.
const LENGTH_MAX: Bytes = Bytes::mib(64);

/// What to import.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// Outputs of other tools, a file each, or `-` for standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// The tool, where the text does not tell or holds several
    ///
    /// One of: agnostics, dd, f3, fio, flashbench, hdparm, ioping, iostat, iozone, kdiskmark,
    /// microsd-benchmarks, pibenchmarks, sd-card-bench.
    #[arg(long = "as", value_name = "TOOL", value_parser = tool)]
    pub(crate) tool: Option<ForeignTool>,
    /// A name for what was measured, such as the number written on the card
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub(crate) label: Option<String>,
    /// Say nothing but errors
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The record of a single FILE as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Save the records here and not among those of runs
    #[arg(long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
}

fn tool(name: &str) -> Result<ForeignTool, ImportError> {
    name.parse()
}

/// Reads all files, then saves and shows their records.
pub(crate) fn run(args: &ImportArgs) -> Result<Exit, Failure> {
    check(args)?;
    let mut records: Vec<Record> =
        args.files.iter().map(|file| read(file, args.tool)).collect::<Result<_, _>>()?;
    if args.label.is_some() {
        records.iter_mut().for_each(|record| record.label.clone_from(&args.label));
    }
    let saved: Vec<PathBuf> = save(&records, args.output.as_deref())?;
    for (record, sink) in records.iter().zip(&args.json) {
        result::write_json(record, &cardproof_rating::judge(record), sink)?;
    }
    if args.json != Some(Sink::Stdout) && !args.quiet {
        let tables: Vec<String> =
            args.files.iter().zip(&records).map(|(file, record)| table::of(file, record)).collect();
        output::write(&Sink::Stdout, &tables.join("\n"))?;
    }
    for path in saved {
        Talk::new(args.quiet).note(&format!("Record: {}", path.display()));
    }
    Ok(Exit::Done)
}

/// What can be known to be wrong before anything is read.
fn check(args: &ImportArgs) -> Result<(), Failure> {
    if args.json.is_some() && args.files.len() > 1 {
        return Err(Failure::usage(
            "--json takes the record of one file; for several give --output DIR, and each gets a \
             file there",
        ));
    }
    if args.files.iter().filter(|file| is_stdin(file)).count() > 1 {
        return Err(Failure::usage("standard input can be read only once; give `-` only once"));
    }
    args.json.iter().try_for_each(output::check)
}

fn is_stdin(file: &Path) -> bool {
    Sink::of(file) == Sink::Stdout
}

/// The record in `file`. Bytes that are no text are taken for signs that are not known, as in logs
/// of old systems; none of them is in a figure.
fn read(file: &Path, tool: Option<ForeignTool>) -> Result<Record, Failure> {
    let name =
        if is_stdin(file) { "standard input".to_owned() } else { file.display().to_string() };
    let bytes = input::read(file, LENGTH_MAX).map_err(|error| {
        Failure::usage(format!("cannot read {name}: {error}; name a file of a tool's output"))
    })?;
    let text = String::from_utf8_lossy(&bytes);
    import(&text, tool, &origin()?).map_err(|error| Failure::usage(format!("{name}: {error}")))
}

/// A name and the time of reading.
fn origin() -> Result<Origin, Failure> {
    let now = jiff::Timestamp::now();
    Ok(Origin {
        id: format!("{}-{:08x}", now.strftime("%Y%m%dT%H%M%SZ"), random_bits()? as u32),
        read_at: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    })
}

/// Saves `records` in `directory`, or among those of runs, and tells where.
fn save(records: &[Record], directory: Option<&Path>) -> Result<Vec<PathBuf>, Failure> {
    let Some(directory) = directory else {
        let store = Store::open(&Store::of_user()?)?;
        records.iter().try_for_each(|record| store.save(record))?;
        return Ok(records.iter().map(|record| store.record_path(&record.id)).collect());
    };
    fs::create_dir_all(directory).map_err(|error| {
        let name = directory.display();
        Failure::incomplete(format!("cannot make {name}: {error}; name another directory"))
    })?;
    let saved = records.iter().map(|record| {
        let path = directory.join(format!("{}.json", record.id));
        let text =
            record.to_json().map_err(Failure::because("the record cannot be put into JSON"))?;
        output::write(&Sink::File(path.clone()), &text)?;
        Ok(path)
    });
    saved.collect()
}
