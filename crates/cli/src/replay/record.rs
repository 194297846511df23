//! `cardproof replay record`: records what a real job asks of the storage, as a trace.

use std::path::PathBuf;
use std::process::ExitStatus;

use cardproof_session::{Recording, traced_disk};
use cardproof_trace::{PipeReader, RECORDING_SCHEMA, RecordingSummary};
use clap::Args;

use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::signals::Signals;
use crate::talk::Talk;

/// What to record.
#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    /// The trace file
    #[arg(long, value_name = "FILE", default_value = "recorded.trace")]
    pub(crate) output: PathBuf,
    /// The device to record, such as /dev/mmcblk0; by default the device that holds the
    /// current directory
    #[arg(long, value_name = "DEVICE", value_parser = crate::target::parser())]
    pub(crate) device: Option<PathBuf>,
    /// Description of the job, kept in the trace
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub(crate) description: String,
    /// A summary of the recording as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The job, after `--`
    #[arg(required = true, last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

/// Runs the command and records what it asks of the device, what it left in memory included.
pub(crate) fn run(args: &RecordArgs, signals: &Signals) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet);
    args.json.iter().try_for_each(output::check)?;
    if !rustix::process::geteuid().is_root() {
        return Err(Failure::incomplete(
            "only root may read the kernel's tracepoints; run cardproof replay record as root",
        ));
    }
    output::check(&Sink::File(args.output.clone()))?;
    let disk = traced_disk(args.device.as_deref())?;
    let recording = Recording::start(&disk)?;
    talk.note(&format!("Recording {}.", disk.name));
    let (status, recorded) = recording.of_job(&args.command)?;
    tell(&recorded, status, talk);
    if recorded.requests() == 0 {
        return Err(Failure::incomplete(format!(
            "the job asked nothing of {}, so there is no trace; name another device with --device",
            disk.name
        )));
    }
    let lost = recorded.lost();
    let (requests, not_understood) = (recorded.requests(), recorded.not_understood());
    let bytes =
        recorded.finish(&trace_name(args), &args.description, disk.size.unwrap_or_default());
    save_trace(args, &bytes, talk)?;
    let schema = RECORDING_SCHEMA;
    summary(
        args,
        &RecordingSummary { schema, trace: &args.output, requests, lost, not_understood },
    )?;
    // A trace with holes is kept, and is not what was asked for.
    Ok(signals.exit().unwrap_or(if lost > 0 { Exit::Incomplete } else { Exit::Done }))
}

fn summary(args: &RecordArgs, summary: &RecordingSummary<'_>) -> Result<(), Failure> {
    let Some(sink) = &args.json else { return Ok(()) };
    let text = serde_json::to_string(summary)
        .map_err(Failure::because("what was recorded cannot be put into JSON"))?;
    output::write(sink, &(text + "\n"))
}

/// What the trace is called: as its file.
fn trace_name(args: &RecordArgs) -> String {
    let name = args.output.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    name.unwrap_or_default()
}

fn save_trace(args: &RecordArgs, bytes: &[u8], talk: Talk) -> Result<(), Failure> {
    let path = args.output.display();
    output::write_file(&args.output, bytes)?;
    talk.note(&format!("Trace: {path}. What is in it: cardproof replay show {path}"));
    Ok(())
}

fn tell(recorded: &PipeReader, status: ExitStatus, talk: Talk) {
    talk.note(&format!("The job ended with {status}. Recorded {} requests.", recorded.requests()));
    if recorded.lost() > 0 {
        talk.note(&format!(
            "The kernel lost {} events, so the trace has holes; record on a machine with less to \
             do, or a shorter job.",
            recorded.lost()
        ));
    }
    if recorded.not_understood() > 0 {
        talk.note(&format!(
            "{} events were not understood and are missing.",
            recorded.not_understood()
        ));
    }
}
