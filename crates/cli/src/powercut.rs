//! `cardproof powercut`: does a device keep what it acknowledged when the power goes?

mod real;

use std::path::{Path, PathBuf};

use cardproof_record::{Record, State};
use cardproof_session::{CutMode, PowerCuts, Store};
use cardproof_units::{Bytes, Seed};
use clap::{Args, Subcommand, ValueEnum};

use crate::args::{AccessArgs, EngineArg, OutputArgs, label};
use crate::exit::{Exit, Failure};
use crate::measuring::{Request, options};
use crate::output::{self, Sink};
use crate::result;
use crate::signals::Signals;
use crate::talk::Talk;
use crate::terminal::Terminal;

/// What stands under the help.
const AFTER_HELP: &str =
    "Without a subcommand, the card and the power cuts are simulated. For a real card, use \
`witness` on one computer, and `write` and `check` on the board with the card.

Exit status: 0 no harm found; 4 a power cut lost or damaged data that the card had reported as \
written; 1 could not be completed; 2 wrong command line; 3 refused for safety; \
130 stopped by Ctrl-C.

A test without power cuts: `cardproof run TARGET --profile honesty` looks for signs that a card reports \
data as safe too early.";

/// What to cut, and how often.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct PowercutArgs {
    /// What to do on a real device.
    #[command(subcommand)]
    pub(crate) command: Option<RealCommand>,
    /// A simulated card: sim:NAME or sim:FILE.toml
    #[arg(value_name = "TARGET", required = true)]
    pub(crate) target: Option<PathBuf>,
    /// Number of power cuts
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = crate::args::number(1..=1_000_000_u64))]
    pub(crate) cuts: u64,
    /// How a write is made durable
    #[arg(long, value_enum, default_value = "flush")]
    pub(crate) mode: ModeArg,
    /// Number of writes at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = crate::args::number(1..=256_u16))]
    pub(crate) queue_depth: u16,
    /// Size of the area that is written and read for each cut; 1 MiB by default
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(crate) size: Option<Bytes>,
    /// Seed for addresses, data and the moments of the cuts; random by default
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: Option<Seed>,
    /// A name for the card, kept in the record
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub(crate) label: Option<String>,
    /// The result as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// The report as one HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What to do for power cuts on a real device, whose writer and witness are two computers.
#[derive(Debug, Subcommand)]
pub(crate) enum RealCommand {
    /// On a second computer: note which writes the card reported as done, and cut the board's power
    Witness(real::WitnessArgs),
    /// On the board: write until the power is cut
    Write(real::WriteArgs),
    /// After power-on: read the card and judge it
    Check(real::CheckArgs),
}

/// How a write is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeArg {
    /// A flush after every eight writes
    Flush,
    /// Each write is durable when it completes (forced unit access)
    Fua,
    /// An fsync of the file after every eight writes
    Fsync,
}

impl From<ModeArg> for CutMode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Flush => Self::Flush,
            ModeArg::Fua => Self::Fua,
            ModeArg::Fsync => Self::Fsync,
        }
    }
}

/// Cuts the power of what `args` name, or does a part of it for a real device.
pub(crate) fn run(args: &PowercutArgs, signals: &Signals) -> Result<Exit, Failure> {
    match &args.command {
        Some(RealCommand::Witness(args)) => real::witness(args, signals),
        Some(RealCommand::Write(args)) => real::write(args, signals),
        Some(RealCommand::Check(args)) => real::check(args),
        None => simulated(args, signals),
    }
}

/// Cuts the power of a simulated card.
fn simulated(args: &PowercutArgs, signals: &Signals) -> Result<Exit, Failure> {
    let target = args.target.as_deref().unwrap_or(Path::new("."));
    let talk = Talk::new(args.quiet);
    let access = AccessArgs { destroy: None, engine: EngineArg::Auto };
    let outputs =
        OutputArgs { json: args.json.clone(), html: args.html.clone(), ..OutputArgs::default() };
    result::check_outputs(&outputs)?;
    let request = Request {
        target,
        label: args.label.as_ref(),
        size: args.size,
        seed: args.seed,
        access: &access,
        expect_device: None,
        require: &[],
        output: &outputs,
        quiet: args.quiet,
    };
    if cardproof_session::simulated_name(target).is_none() {
        return Err(Failure::usage(format!(
            "powercut itself cuts the power of a simulated card only, such as sim:sandisk-ultra, and {} is no simulated card. \
             A real card needs a second computer: cardproof powercut --help says how",
            target.display()
        )));
    }
    let options = options(&request)?;
    let mut terminal = Terminal::new(talk);
    let cuts = PowerCuts::new(args.cuts, args.mode.into(), args.queue_depth);
    let measured = cardproof_session::measure(cuts, &options, &mut terminal, signals.stop())?;
    let record = &measured.record;
    publish(args.json.as_ref(), args.html.as_ref(), args.quiet, record, talk)?;
    if let Some(failure) = measured.unsaved {
        return Err(failure.into());
    }
    if let Some(store) = &measured.store {
        tell_kept(store, record, talk)?;
    }
    Ok(match (&record.state, signals.exit()) {
        (State::Partial, Some(exit)) => exit,
        (State::Complete, _) => exit_of(record),
        _ => Exit::Incomplete,
    })
}

/// Says where the record is, and writes the report beside it.
fn tell_kept(store: &Store, record: &Record, talk: Talk) -> Result<(), Failure> {
    let report = store.report_path(&record.id);
    result::write_html(record, &cardproof_rating::judge(record), &report)?;
    talk.note(&format!("\nRecord: {}", store.record_path(&record.id).display()));
    talk.note(&format!("Report: {}", report.display()));
    Ok(())
}

/// Status 4 where a cut did harm.
fn exit_of(record: &Record) -> Exit {
    let harmful = record.power_cuts().map_or(0, |test| test.harmful_cuts);
    if harmful == 0 { Exit::Done } else { Exit::NotMet }
}

/// Shows what was found, as JSON and HTML where that is asked for, and on the terminal unless JSON goes
/// there.
fn publish(
    json: Option<&Sink>,
    html: Option<&PathBuf>,
    quiet: bool,
    record: &Record,
    talk: Talk,
) -> Result<(), Failure> {
    if let (Some(sink), Some(found)) = (json, cardproof_rating::power_cuts(record)) {
        let text = serde_json::to_string_pretty(&found)
            .map_err(Failure::because("the findings cannot be put into JSON"))?;
        output::write(sink, &(text + "\n"))?;
    }
    let outputs = OutputArgs { html: html.cloned(), ..OutputArgs::default() };
    result::write_outputs(record, &[], &outputs)?;
    if json == Some(&Sink::Stdout) || quiet {
        return Ok(());
    }
    result::show(record, &[], &OutputArgs::default(), talk)
}
