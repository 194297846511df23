//! `cardproof traces`: the recorded jobs that are shipped, and what is in a trace.
//!
//! It also reads other tools' traces, and saves them in cardproof's own form on request. It touches
//! no device.

mod calls;
mod foreign;
mod requests;

use std::borrow::Cow;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use cardproof_trace::calls::{CallTrace, is_calls};
use cardproof_trace::{Header, SHIPPED, ShippedTrace, TraceError, TraceReader, find_shipped};
use cardproof_units::Bytes;
use clap::Args;

use crate::catalogue::{self, Entry};
use crate::exit::{Exit, Failure};
use crate::input;
use crate::output::{self, Sink};
use crate::talk;

/// No trace is longer: five million requests as blktrace has them.
const LENGTH_MAX: Bytes = Bytes::mib(256);

/// Which trace to show.
#[derive(Debug, Args)]
pub(crate) struct TracesArgs {
    /// Show one trace: a name from the list, a trace file, or the output of another tool
    ///
    /// Supported input: blktrace files (give one of them, NAME.blktrace.0), lines of blkparse, fio logs
    /// (--write_iolog), the output of strace -f -y -ttt -T -o FILE, and CSV with the columns
    /// t_s,rwbs,sector,nsect,comm.
    pub(crate) trace: Option<String>,
    /// Save the trace as a trace file
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub(crate) save: Option<PathBuf>,
    /// Name for the imported trace; by default the file's name
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
    /// The traces as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Lists the shipped traces, or explains one.
pub(crate) fn run(args: &TracesArgs) -> Result<Exit, Failure> {
    let text = match &args.trace {
        None => {
            if let Some(sink) = &args.json {
                catalogue::write(sink, &shipped()?)?;
            }
            list()?
        }
        Some(trace) => {
            let bytes = load_any(trace, args.name.as_deref(), &args.description)?;
            let explained =
                if is_calls(&bytes) { calls::explain(&bytes) } else { requests::explain(&bytes) };
            let text = explained.map_err(|error| broken(trace, &error))?;
            if let Some(path) = &args.save {
                save(path, &bytes)?;
            }
            if let Some(sink) = &args.json {
                let entry = entry(&bytes).map_err(|error| broken(trace, &error))?;
                catalogue::write(sink, &[entry])?;
            }
            text
        }
    };
    if !args.quiet && args.json != Some(Sink::Stdout) {
        output::write(&Sink::Stdout, &talk::paged(&text))?;
    }
    Ok(Exit::Done)
}

/// The header of the trace `bytes`, of requests or of calls.
fn entry(bytes: &[u8]) -> Result<Entry, TraceError> {
    let (name, description, requests, duration_ns) = if is_calls(bytes) {
        let header = CallTrace::read(bytes)?.header;
        (header.name, header.description, header.calls, header.duration_ns)
    } else {
        let reader = TraceReader::new(bytes)?;
        let Header { name, description, requests, duration_ns, .. } = reader.header().clone();
        (name, description, requests, duration_ns)
    };
    Ok(Entry {
        name,
        purpose: description,
        requests: Some(requests),
        duration_ns: Some(duration_ns),
        ..Entry::default()
    })
}

/// The headers of the traces that come with cardproof.
fn shipped() -> Result<Vec<Entry>, Failure> {
    let of = |trace: &ShippedTrace| entry(trace.bytes).map_err(|error| broken(trace.name, &error));
    SHIPPED.iter().map(of).collect()
}

/// Whether `trace` names one of the recorded jobs that come with cardproof.
pub(crate) fn is_shipped(trace: &str) -> bool {
    find_shipped(trace).is_some()
}

/// The bytes of the trace of requests called `trace`: a shipped one's name, or a file's path.
pub(crate) fn load(trace: &str) -> Result<Cow<'static, [u8]>, Failure> {
    let bytes = load_any(trace, None, "")?;
    if is_calls(&bytes) {
        return Err(Failure::usage(format!(
            "{trace} holds system calls and no requests of a device, so there is nothing to replay \
             on one; see what is in it with cardproof traces"
        )));
    }
    Ok(bytes)
}

/// As [`load`]; another tool's trace is called `name` and described by `description`.
fn load_any(
    trace: &str,
    name: Option<&str>,
    description: &str,
) -> Result<Cow<'static, [u8]>, Failure> {
    if let Some(shipped) = find_shipped(trace) {
        return Ok(Cow::Borrowed(shipped.bytes));
    }
    let bytes = input::read(Path::new(trace), LENGTH_MAX).map_err(|error| {
        let names: Vec<&str> = SHIPPED.iter().map(|shipped| shipped.name).collect();
        Failure::of_opening(
            &error,
            format!(
                "cannot read the trace {trace}: {error}; name a file, or one of {}",
                names.join(", ")
            ),
        )
    })?;
    if foreign::is_ours(&bytes) {
        return Ok(Cow::Owned(bytes));
    }
    let stem = || Path::new(trace).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.map(str::to_owned).or_else(stem).unwrap_or_default();
    foreign::converted(trace, &bytes, &name, description).map(Cow::Owned)
}

/// That `trace` cannot be read, and where it is wrong.
pub(crate) fn broken(trace: &str, error: &TraceError) -> Failure {
    Failure::usage(format!("{trace}: {error}"))
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    output::replace(path, bytes).map_err(|error| {
        let path = path.display();
        Failure::incomplete(format!(
            "cannot write {path}: {error}; name another file, or make room if the disk is full"
        ))
    })
}

fn list() -> Result<String, Failure> {
    let mut text = String::new();
    for shipped in &SHIPPED {
        let reader =
            TraceReader::new(shipped.bytes).map_err(|error| broken(shipped.name, &error))?;
        let Header { name, description, requests, duration_ns, .. } = reader.header();
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name}\n    {requests} requests, {duration_ns}. {description}");
    }
    text.push_str("\nDetails: cardproof traces NAME\nReplay one: cardproof replay NAME TARGET\n");
    Ok(text)
}
