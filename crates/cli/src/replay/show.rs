//! `cardproof replay show`: what is in a recorded job.
//!
//! It also reads other tools' traces, and saves them in cardproof's own form on request. It touches
//! no device.

pub(super) mod foreign;
mod requests;

use std::path::{Path, PathBuf};

use clap::Args;

use super::loading::{broken, entry_of, load_as};

use crate::catalogue;
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::talk;

/// Which recorded job to show.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// A name of `cardproof replay list`, a trace file, or the output of another tool
    ///
    /// Supported input: blktrace files (give one of them, NAME.blktrace.0), lines of blkparse, fio
    /// logs (--write_iolog), and CSV with the columns t_s,rwbs,sector,nsect,comm.
    pub(crate) trace: String,
    /// Save the trace as a trace file
    #[arg(long, value_name = "FILE")]
    pub(crate) save: Option<PathBuf>,
    /// Name for the saved trace; by default the file's name
    #[arg(long, value_name = "NAME", requires = "save")]
    pub(crate) name: Option<String>,
    /// Description of the job and where it was recorded
    #[arg(
        long,
        value_name = "TEXT",
        requires = "save",
        default_value = "",
        hide_default_value = true
    )]
    pub(crate) description: String,
    /// Name, duration and number of requests as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Explains the trace that `args` name.
pub(crate) fn run(args: &ShowArgs) -> Result<Exit, Failure> {
    let ShowArgs { trace, .. } = args;
    let bytes = load_as(trace, args.name.as_deref(), &args.description)?;
    let text = requests::explain(&bytes).map_err(|error| broken(trace, &error))?;
    if let Some(path) = &args.save {
        save(path, &bytes)?;
    }
    if let Some(sink) = &args.json {
        let entry = entry_of(&bytes).map_err(|error| broken(trace, &error))?;
        catalogue::write(sink, &[entry])?;
    }
    if !args.quiet && args.json != Some(Sink::Stdout) {
        output::write(&Sink::Stdout, &talk::paged(&text))?;
    }
    Ok(Exit::Done)
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    output::replace(path, bytes)
        .map_err(|error| output::not_written(path, &error, "name another file"))
}
