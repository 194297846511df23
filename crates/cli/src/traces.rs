//! `cardproof traces`: the recorded jobs that are shipped, and what is in a trace.
//!
//! It also reads a table of requests as text, and saves it in cardproof's own form on request. It
//! touches no device.

use std::borrow::Cow;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use cardproof_units::Bytes;
use cardproof_workload::trace::{
    Header, SHIPPED, Shape, Source, TraceError, TraceReader, find_shipped, read_csv,
};
use clap::Args;

use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};

/// How every trace begins.
const MAGIC: &[u8] = b"CPTRACE";

/// Which trace to show.
#[derive(Debug, Args)]
pub(crate) struct TracesArgs {
    /// Only this one: a shipped trace's name, a trace file, or a table t_s,rwbs,sector,nsect,comm
    pub(crate) trace: Option<String>,
    /// Save it as a trace file
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub(crate) save: Option<PathBuf>,
    /// What a table's trace is called; the file's name by default
    #[arg(long, value_name = "NAME", requires = "save")]
    pub(crate) name: Option<String>,
    /// What a table's job was and where it was recorded, in a sentence or two
    #[arg(long, value_name = "TEXT", requires = "save", default_value = "")]
    pub(crate) description: String,
}

/// Lists the shipped traces, or explains one.
pub(crate) fn run(args: &TracesArgs) -> Result<Exit, Failure> {
    let text = match &args.trace {
        None => list()?,
        Some(trace) => {
            let bytes = load_any(trace, args.name.as_deref(), &args.description)?;
            let text = explain(&bytes).map_err(|error| broken(trace, &error))?;
            if let Some(path) = &args.save {
                save(path, &bytes)?;
            }
            text
        }
    };
    output::write(&Sink::Stdout, &text)?;
    Ok(Exit::Done)
}

/// The bytes of the trace called `trace`: a shipped one's name, or a file's path.
pub(crate) fn load(trace: &str) -> Result<Cow<'static, [u8]>, Failure> {
    load_any(trace, None, "")
}

/// As [`load`]; a table's trace is called `name` and described by `description`.
fn load_any(
    trace: &str,
    name: Option<&str>,
    description: &str,
) -> Result<Cow<'static, [u8]>, Failure> {
    if let Some(shipped) = find_shipped(trace) {
        return Ok(Cow::Borrowed(shipped.bytes));
    }
    let bytes = fs::read(trace).map_err(|error| {
        let names: Vec<&str> = SHIPPED.iter().map(|shipped| shipped.name).collect();
        Failure::usage(format!(
            "cannot read the trace {trace}: {error}; name a file, or one of {}",
            names.join(", ")
        ))
    })?;
    if bytes.starts_with(MAGIC) {
        return Ok(Cow::Owned(bytes));
    }
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return Err(broken(trace, &TraceError::Foreign));
    };
    let stem = || Path::new(trace).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.map(str::to_owned).or_else(stem).unwrap_or_default();
    let bytes = read_csv(text, &name, description).map_err(|error| {
        Failure::usage(format!("{trace} is neither a trace nor a table: {error}"))
    })?;
    Ok(Cow::Owned(bytes))
}

/// That `trace` cannot be read, and where it is wrong.
pub(crate) fn broken(trace: &str, error: &TraceError) -> Failure {
    Failure::usage(format!("{trace}: {error}"))
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    output::replace(path, bytes).map_err(|error| {
        let path = path.display();
        Failure::incomplete(format!("cannot write {path}: {error}; name another file or make room"))
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
    text.push_str(
        "\nWhat is in one: cardproof traces NAME\nReplay one: cardproof replay NAME TARGET\n",
    );
    Ok(text)
}

/// What is in the trace `bytes`.
fn explain(bytes: &[u8]) -> Result<String, TraceError> {
    let reader = TraceReader::new(bytes)?;
    let header = reader.header().clone();
    let mut shape = Shape::new();
    for request in reader {
        shape.add(&request?);
    }
    let mut text = about(&header);
    figures(&mut text, &shape);
    sizes(&mut text, &shape);
    Ok(text)
}

fn about(header: &Header) -> String {
    let source = match header.source {
        Source::BlockTracepoints => "the kernel's block tracepoints",
        Source::Blktrace => "a file of blktrace",
        Source::FioIolog => "an iolog of fio",
        Source::Csv => "a table of requests",
        Source::Synthetic => "a description",
    };
    let mut text = format!("{}\n", header.name);
    if !header.description.is_empty() {
        let _ = writeln!(text, "  {}", header.description);
    }
    let _ = writeln!(
        text,
        "  from {source}; took {}, on a device of at least {}",
        header.duration_ns, header.device_bytes
    );
    text
}

fn figures(text: &mut String, shape: &Shape) {
    let streams = [1, 2, 8].map(|streams| 100.0 * shape.sequential_share(streams));
    let _ = writeln!(
        text,
        "\n  requests    {}\n  reads       {}, {}\n  writes      {}, {}\n  flushes     {}\n  \
         durable     {} writes by forced unit access\n  discards    {}\n  epochs      {}, each \
         ended by a flush or a durable write\n  sequential  {:.0} % of the writes go on with the \
         last one, {:.0} % with one of two streams,\n              {:.0} % with one of eight\n  \
         up to 4 KiB {:.0} % of the writes",
        shape.requests(),
        shape.reads,
        shape.bytes_read,
        shape.writes,
        shape.bytes_written,
        shape.flushes,
        shape.durable_writes,
        shape.discards,
        shape.epochs,
        streams[0],
        streams[1],
        streams[2],
        100.0 * shape.share_up_to_4k(),
    );
}

fn sizes(text: &mut String, shape: &Shape) {
    text.push_str("\n  writes by size\n");
    for class in &shape.sizes {
        let upto = if class.up_to == Bytes(u64::MAX) {
            "larger".to_owned()
        } else {
            format!("up to {}", class.up_to)
        };
        let _ = writeln!(text, "  {upto:<14} {:>8}  {}", class.writes, class.bytes);
    }
}
