//! `cardproof powercut witness`, `write` and `check`: power cuts for real.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use cardproof_evidence::powercut::{Application, Tally};
use cardproof_record::{Conditions, PowerCutTest, ProfileInfo, Record, State, Trial};
use cardproof_session::{
    AppWriting, CutCheck, CutChecked, CutWriting, Store, blank, check_after_cut, cut_harm,
    of_witness, write_app_until_cut, write_until_cut,
};
use cardproof_units::{Bytes, Nanos, Seed, with_causes};
use cardproof_witness::{
    Client, Event, Journal, LineEvent, Secret, Witness, WitnessLine, WriterEnd,
};
use clap::{Args, ValueEnum};

use super::{ModeArg, exit_of, publish};
use crate::args::{AccessArgs, label};
use crate::exit::{Exit, Failure};
use crate::measuring::{fresh_identity, random_bits, random_key, seed_or_drawn};
use crate::output::{self, Sink};
use crate::signals::Signals;
use crate::talk::Talk;
use crate::terminal::Terminal;

/// A board whose power was cut says nothing more; so long is waited for that.
const GONE_WITHIN: Duration = Duration::from_secs(30);

/// Where to listen, and how the power is cut.
#[derive(Debug, Args)]
pub(crate) struct WitnessArgs {
    /// Address to listen on, such as 0.0.0.0:7777
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: SocketAddr,
    /// File with the secret that the writer has too, at least 16 bytes
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: PathBuf,
    /// File for the acknowledged writes; new ones are added to an existing file
    #[arg(long, value_name = "FILE", default_value = "cardproof-witness.journal")]
    pub(crate) journal: PathBuf,
    /// Command that cuts the board's power, for a shell, such as 'uhubctl -l 1-1 -p 2 -a cycle'
    #[arg(long, value_name = "COMMAND")]
    pub(crate) cut: Option<String>,
    /// With --cut: how long to let the board write before the cut
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "cut")]
    pub(crate) cut_after: Nanos,
    /// Treat the board as off after this time without a message
    #[arg(long, value_name = "TIME", default_value = "10s")]
    pub(crate) silence: Nanos,
    /// Print each event as JSON on one line. The first line has the address at which the witness listens
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long, short, conflicts_with = "json")]
    pub(crate) quiet: bool,
}

/// What to write until the power goes.
#[derive(Debug, Args)]
pub(crate) struct WriteArgs {
    /// A block device, a file, or a directory (a file is made in it)
    #[arg(value_parser = crate::target::parser())]
    pub(crate) target: PathBuf,
    /// The witness, such as 192.168.1.5:7777
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) witness: String,
    /// File with the secret that the witness has too
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: PathBuf,
    /// How a write is made durable
    #[arg(long, value_enum, default_value = "flush")]
    pub(crate) mode: ModeArg,
    /// Number of writes at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = crate::args::number(1..=256_u16))]
    pub(crate) queue_depth: u16,
    /// Size of the area that is written again and again
    #[arg(long, value_name = "SIZE", default_value = "16M")]
    pub(crate) size: Bytes,
    /// Instead of cardproof's own writes, test how a program keeps its data. TARGET must be a directory
    #[arg(long, value_enum, conflicts_with_all = ["mode", "queue_depth", "size", "destroy", "engine"])]
    pub(crate) app: Option<AppArg>,
    /// Seed for addresses and data; random by default
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: Option<Seed>,
    /// How the target may be used.
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// If the power was not cut: the amount written as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What writes, in place of cardproof's own writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AppArg {
    /// A program that calls fsync after each record it writes to a file
    Ext4Fsync,
    /// SQLite with a rollback journal, synchronous = EXTRA
    SqliteDelete,
    /// SQLite with a write-ahead log, synchronous = FULL
    SqliteWal,
}

impl From<AppArg> for Application {
    fn from(app: AppArg) -> Self {
        match app {
            AppArg::Ext4Fsync => Self::Ext4Fsync,
            AppArg::SqliteDelete => Self::SqliteDelete,
            AppArg::SqliteWal => Self::SqliteWal,
        }
    }
}

/// What to judge after a cut.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// The target of `powercut write`
    #[arg(value_parser = crate::target::parser())]
    pub(crate) target: PathBuf,
    /// The witness, such as 192.168.1.5:7777
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) witness: String,
    /// File with the secret that the witness has too
    #[arg(long, value_name = "FILE")]
    pub(crate) secret_file: PathBuf,
    /// Count the device as dead if it is missing after the power cut
    #[arg(long)]
    pub(crate) gone: bool,
    /// Do not delete the test files in a directory, so that they can be checked again
    #[arg(long)]
    pub(crate) keep: bool,
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

fn secret(path: &std::path::Path) -> Result<Secret, Failure> {
    Secret::read(path).map_err(|error| Failure::usage(with_causes(&error)))
}

fn connect(address: &str, secret_file: &std::path::Path) -> Result<Client, Failure> {
    let secret = secret(secret_file)?;
    let nonce = random_key()?;
    Client::connect(address, secret, &nonce).map_err(|error| of_witness(&error).into())
}

/// Keeps what a writer says, and cuts its power if asked to.
pub(crate) fn witness(args: &WitnessArgs, signals: &Signals) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet || args.json);
    let secret = secret(&args.secret_file)?;
    let failed = |error| Failure::from(of_witness(&error));
    let journal = Journal::open(&args.journal).map_err(failed)?;
    let silence = Duration::from(args.silence);
    let witness = Witness::listen(args.listen, secret, journal, silence).map_err(failed)?;
    let address = witness.address().map_err(failed)?;
    if args.json {
        print(&WitnessLine::listening(address));
    } else if !args.quiet {
        output::write(&Sink::Stdout, &format!("{address}\n"))?;
    }
    talk.note("Listens. Ctrl-C ends it; what was heard is in the journal.");
    let stop: Arc<AtomicBool> = signals.shared_stop();
    // Without random numbers of the kernel nothing could have been started.
    let mut nonce = || random_bits().unwrap_or_default();
    let mut cutter = Cutter { args, talk, begun: None, cut: None };
    witness.serve(&stop, &mut nonce, &mut |event| cutter.hear(event)).map_err(failed)?;
    Ok(signals.exit().unwrap_or(Exit::Done))
}

/// Cuts the power when the time has come, and looks whether that worked.
struct Cutter<'a> {
    args: &'a WitnessArgs,
    talk: Talk,
    begun: Option<Instant>,
    cut: Option<Instant>,
}

impl Cutter<'_> {
    fn hear(&mut self, event: &Event) {
        if let Some(line) = WitnessLine::of_event(event) {
            self.report(&line);
        }
        match event {
            Event::Began(_) => {
                (self.begun, self.cut) = (Some(Instant::now()), None);
                self.talk.note("A writer has begun.");
            }
            Event::Durable(number) => self.cut_in_time(*number),
            Event::Gone { issued, durable } => self.talk.note(&format!(
                "The writer is gone: {durable} writes were acknowledged as durable, {issued} issued."
            )),
            Event::Ended => self.talk.note("The writer has ended in order; nothing is to be judged."),
            Event::Judged(_) => self.talk.note("A cut was judged."),
            Event::Refused(why) => {
                let why = cardproof_report::one_line(why);
                self.talk.note(&format!("A connection was refused: {why}."));
            }
            Event::Failed(why) => self.talk.note(&format!("The journal fails: {why}.")),
        }
    }

    /// Prints `line` where JSON is asked for.
    fn report(&self, line: &WitnessLine<'_>) {
        if self.args.json {
            print(line);
        }
    }

    fn cut_in_time(&mut self, durable: u64) {
        let (Some(command), Some(begun)) = (&self.args.cut, self.begun) else { return };
        match self.cut {
            None if durable > 0 && begun.elapsed() >= Duration::from(self.args.cut_after) => {
                self.talk.note(&format!("Cuts the power: {command}"));
                let status = Command::new("sh").arg("-c").arg(command).status();
                let is_done = matches!(&status, Ok(status) if status.success());
                self.report(&WitnessLine::new(if is_done {
                    LineEvent::Cut
                } else {
                    LineEvent::CutFailed
                }));
                if !is_done {
                    self.talk.note("The command failed; the power may not be cut.");
                }
                self.cut = Some(Instant::now());
            }
            Some(cut) if cut.elapsed() >= GONE_WITHIN => {
                self.report(&WitnessLine::new(LineEvent::NotCut));
                self.talk.note(
                    "The command ran, and the writer still writes: its power was not cut. Many hubs \
                     claim to switch ports and do not.",
                );
                self.begun = None;
            }
            _ => {}
        }
    }
}

/// Writes until the power goes.
pub(crate) fn write(args: &WriteArgs, signals: &Signals) -> Result<Exit, Failure> {
    args.json.iter().try_for_each(output::check)?;
    let mut terminal = Terminal::new(Talk::new(args.quiet));
    let seed = seed_or_drawn(args.seed)?;
    let mut client = connect(&args.witness, &args.secret_file)?;
    if let Some(app) = args.app {
        let directory = args.target.clone();
        let writing = AppWriting { directory, application: app.into(), seed };
        let durable = write_app_until_cut(&writing, &mut client, signals.stop(), &mut terminal)?;
        return not_cut(durable, args, signals);
    }
    let writing = CutWriting {
        target: args.target.clone(),
        access: (&args.access).into(),
        mode: args.mode.into(),
        queue_depth: args.queue_depth,
        size: args.size,
        seed,
    };
    let durable = write_until_cut(&writing, &mut client, signals.stop(), &mut terminal)?;
    not_cut(durable, args, signals)
}

/// Prints `line`. A reader that has gone does not keep the witness from its work.
fn print(line: &WitnessLine<'_>) {
    if let Ok(text) = serde_json::to_string(line) {
        let _ = output::write(&Sink::Stdout, &(text + "\n"));
    }
}

/// The end of a writer that nobody cut off.
fn not_cut(durable: u64, args: &WriteArgs, signals: &Signals) -> Result<Exit, Failure> {
    if let Some(sink) = &args.json {
        let text = serde_json::to_string(&WriterEnd::new(durable))
            .map_err(Failure::because("the count cannot be put into JSON"))?;
        output::write(sink, &(text + "\n"))?;
    }
    Talk::new(args.quiet)
        .note(&format!("Ended after {durable} durable writes; the power was not cut."));
    Ok(signals.exit().unwrap_or(Exit::Done))
}

/// Judges what a cut has left.
pub(crate) fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet);
    if let Some(sink) = &args.json {
        output::check(sink)?;
    }
    let mut client = connect(&args.witness, &args.secret_file)?;
    let mut terminal = Terminal::new(talk);
    let check = CutCheck { may_be_gone: args.gone, keeps_files: args.keep };
    let checked = check_after_cut(&args.target, check, &mut client, &mut terminal)?;
    let record = record(&checked, args)?;
    publish(args.json.as_ref(), args.html.as_ref(), args.quiet, &record, talk)?;
    let store = Store::open(&Store::of_user()?)?;
    store.save(&record)?;
    super::tell_kept(&store, &record, talk)?;
    Ok(exit_of(&record))
}

/// The record of all cuts that the witness knows of.
fn record(checked: &CutChecked, args: &CheckArgs) -> Result<Record, Failure> {
    let CutChecked { told, report, tally, bytes_read } = checked;
    let profile = ProfileInfo::untimed("powercut", 1);
    let identity = fresh_identity(args.label.clone())?;
    let setup = &told.setup;
    let Tally { cuts, effective_cuts, harmful_cuts, findings } = tally;
    let named = findings.iter().map(|(kind, count)| (kind.name().to_owned(), *count));
    let test = PowerCutTest {
        mode: setup.mode.clone(),
        power: "for real".to_owned(),
        queue_depth: setup.queue_depth,
        writes_per_flush: setup.epoch_writes,
        area_bytes: setup.size,
        cuts: *cuts,
        effective_cuts: *effective_cuts,
        harmful_cuts: *harmful_cuts,
        findings: named.collect(),
        harm: cut_harm(*cuts, report),
        unstable_sectors: report.unstable_sectors,
        extra: Default::default(),
    };
    Ok(Record {
        state: State::Complete,
        trial: Some(Trial::PowerCuts(test)),
        bytes_read: *bytes_read,
        ..blank(profile, setup.seed, Conditions::default(), identity)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_of_the_command_line_is_one_of_the_journal() {
        for mode in [ModeArg::Flush, ModeArg::Fua, ModeArg::Fsync] {
            assert!(
                ["flush", "fua", "fsync"].contains(&cardproof_session::CutMode::from(mode).name())
            );
        }
    }
}
