//! `cardproof verify`: is the capacity of a card real?

mod document;
mod fix;
mod integrity;
mod text;

use std::path::{Path, PathBuf};

use cardproof_device::Sysroot;
use cardproof_device::guard::{self, Leave};
use cardproof_io::scratch::UsersDirectory;
use cardproof_probe::capacity::Wish;
use cardproof_rating::{Capacity, capacity};
use cardproof_record::{CapacityMethod, CapacityVerdict, Record, State};
use cardproof_session::{
    CapacityCheck, CapacityMode, Experiment, FilesWish, FreeSpaceCheck, Journals, Measured,
    Options, Store, has_test_files, known_cards, of_scratch, simulated_name, test_files,
};
use cardproof_units::{Bytes, Nanos, Seed};
use clap::Args;

use crate::args::{AccessArgs, EngineArg, label};
use crate::exit::{Exit, Failure};
use crate::measuring::{Request, options, random_bits};
use crate::output::{self, Sink};
use crate::result;
use crate::saved;
use crate::signals::Signals;
use crate::talk::{self, Talk};
use crate::target::refuse_no_storage;
use crate::terminal::Terminal;

/// What stands under the help.
const AFTER_HELP: &str = "Without --restore or --destroy, cardproof only reads a device. Reading \
can find signs of a counterfeit, but cannot prove the capacity. In a directory, cardproof reserves the free \
space without writing it, writes test blocks all over it, reads them back, and frees it again. With --full \
or --keep it fills the free space with test files N.h2w. The tools f3read and h2testw can read these files.

Exit status: 0 genuine; 4 any other verdict, also UNDECIDED; 1 could not be completed; 2 wrong command line; \
3 refused: not safe, or this storage cannot be tested (mounted read-only, too little free space); 130 stopped by \
Ctrl-C; 143 by SIGTERM. With --queue or --discard: 0 sound; 4 data were wrong, requests failed, or discards do nothing; \
1 it was not tested, for example because the card's queue is off or the device cannot discard.";

/// What to verify, and how.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct VerifyArgs {
    /// A block device, a directory, a file, sim:NAME or sim:FILE.toml
    #[arg(value_parser = crate::target::parser())]
    pub(crate) target: PathBuf,
    /// Save each block before it is overwritten, and write it back. Leave the value out, and cardproof prints it
    ///
    /// The identity is `NAME:BYTES[:SERIAL]`. If it is missing or wrong, cardproof refuses and prints the
    /// exact option.
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "NAME:BYTES", conflicts_with = "destroy")]
    pub(crate) restore: Option<Option<String>>,
    /// Overwrite the device: ALL ITS DATA IS LOST. Leave the value out, and cardproof prints it; a file
    /// without data needs no value
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "NAME:BYTES")]
    pub(crate) destroy: Option<Option<String>>,
    /// Write and read every byte
    #[arg(long)]
    pub(crate) full: bool,
    /// Rule out a hidden store of up to about this size in a fake whose second half is missing; a larger size takes
    /// longer
    ///
    /// A hidden store is extra memory in some fakes. It keeps the data that was written last, so that short
    /// tests pass. With --details, the answer says which size is ruled out if less is missing. The test writes one
    /// and a half times as much.
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    pub(crate) exclude_store: Bytes,
    /// Test enough blocks to find this share of bad blocks, such as 0.001 for 0.1 %; by default 0.45 %. With --queue
    /// or --discard: test enough requests to find this share of wrong ones; by default 0.005 % of the writes and
    /// 0.3 % of the discards
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) exclude_share: Option<f64>,
    /// Directory for the journal of --restore (the saved blocks), on another device; by default in
    /// ~/.local/share/cardproof/journals
    #[arg(long, value_name = "DIR", requires = "restore")]
    pub(crate) journal: Option<PathBuf>,
    /// Also read every byte, for a map of speed and errors in the report
    #[arg(long)]
    pub(crate) surface: bool,
    /// Disconnect the device after writing and connect it again before reading
    ///
    /// This empties the cache of the computer and the caches of most card readers. It works for USB
    /// devices and for cards in an SD slot. It needs root and --destroy.
    #[arg(long, requires = "destroy", conflicts_with = "fix")]
    pub(crate) reconnect: bool,
    /// Test the command queue in place of the capacity: does it lose, mix up or spoil data?
    ///
    /// Writes and reads checksummed pieces with up to 32 requests at a time, with flushes between, and compares
    /// all of them. Use this before you trust a card to a queue that the kernel does not turn on by itself. In a
    /// directory it works in a file of its own; on a device it needs --destroy.
    #[arg(long)]
    pub(crate) queue: bool,
    /// Test discards (fstrim) in place of the capacity: do they harm data, and what speed do they give back?
    ///
    /// Discards ranges with live data between them, and compares everything. Needs a device with --destroy.
    #[arg(long)]
    pub(crate) discard: bool,
    /// For a fake: print the commands that make a partition of the real size. With --destroy, cardproof
    /// also runs them
    #[arg(long)]
    pub(crate) fix: bool,
    /// Fill the free space with test files N.h2w, and do not delete them (directories only)
    #[arg(long)]
    pub(crate) keep: bool,
    /// Seed for addresses and data; random by default
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: Option<Seed>,
    /// How cardproof sends reads and writes to Linux
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) engine: EngineArg,
    /// A name for the card, kept in the record
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub(crate) label: Option<String>,
    /// The verdict as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Also show which hidden stores the test rules out, and how sure the verdict is
    #[arg(long)]
    pub(crate) details: bool,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A share that can be excluded.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.000_01..=0.2).contains(&share) => Ok(share),
        _ => Err("give a number from 0.00001 to 0.2, such as 0.001".to_owned()),
    }
}

/// What a test has said, and what it cost.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) found: Capacity,
    pub(crate) written: Bytes,
    pub(crate) read: Bytes,
    /// What was announced: bytes written and read, and the time.
    pub(crate) planned: (Bytes, Bytes, Option<Nanos>),
    pub(crate) time: Option<Nanos>,
    /// Whether every byte was to be written.
    pub(crate) is_full: bool,
    /// Whether the device was disconnected and connected again between writing and reading.
    pub(crate) is_reconnected: bool,
    /// The name of its record.
    pub(crate) record: String,
}

/// Verifies what `args` name.
pub(crate) fn run(args: &VerifyArgs, signals: &Signals) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet);
    if let Some(sink) = &args.json {
        output::check(sink)?;
    }
    fix::check(args)?;
    if integrity::is_asked(args) {
        integrity::check(args)?;
    }
    let is_directory = simulated_name(&args.target).is_none() && args.target.is_dir();
    let access = AccessArgs {
        // What is restored is written to, and the guard asks the same of it.
        destroy: args.restore.clone().or_else(|| args.destroy.clone()),
        engine: args.engine,
    };
    let outputs = crate::args::OutputArgs { json: args.json.clone(), ..Default::default() };
    let request = Request {
        target: &args.target,
        size: None,
        seed: args.seed,
        access: &access,
        expect_device: None,
        require: &[],
        label: args.label.as_ref(),
        output: &outputs,
        quiet: args.quiet,
    };
    let mut options = options(&request)?;
    if integrity::is_asked(args) {
        return integrity::run(args, &options, signals);
    }
    if args.restore.is_some() {
        options.access.leave = Leave::Restore;
    }
    if is_directory {
        refuse_options_for_devices(args)?;
        refuse_no_storage(&args.target)?;
        let directory = UsersDirectory::open(&args.target).map_err(|error| of_scratch(&error))?;
        if args.full || args.keep || has_test_files(&directory)? {
            let wish =
                FilesWish { is_full: args.full, store: args.exclude_store, keeps: args.keep };
            let terminal = &mut Terminal::new(talk);
            let measured = test_files(wish, &directory, &options, terminal, signals.stop())?;
            return match measured {
                Some(measured) => conclude(args, measured, signals),
                None => Ok(signals.exit().unwrap_or(Exit::Incomplete)),
            };
        }
        let check = FreeSpaceCheck::new(wish(args)).in_directory(directory);
        return measure(args, check, &options, signals);
    }
    if args.full && mode(args) == CapacityMode::Read {
        talk.note("Not every byte is tested: --full needs --restore or --destroy, and without them nothing is written.");
    }
    let journals = journals(args, mode(args));
    let journals =
        if mode(args) == CapacityMode::Restore { Some(journals?) } else { journals.ok() };
    let check = CapacityCheck::new(wish(args), mode(args), journals)
        .with_surface(args.surface)
        .with_reconnecting(args.reconnect);
    let check = match simulated_name(&args.target) {
        Some(_) => check,
        None => check.with_witness(&args.target),
    };
    measure(args, check, &options, signals)
}

/// What the test is to exclude.
fn wish(args: &VerifyArgs) -> Wish {
    Wish {
        store: Some(args.exclude_store),
        bad_share: args.exclude_share,
        is_full: args.full,
        full_below: None,
    }
}

/// Runs `check`, and shows what it has found.
fn measure(
    args: &VerifyArgs,
    check: impl Experiment,
    options: &Options,
    signals: &Signals,
) -> Result<Exit, Failure> {
    let mut terminal = Terminal::new(Talk::new(args.quiet));
    let measured = cardproof_session::measure(check, options, &mut terminal, signals.stop())?;
    conclude(args, measured, signals)
}

/// Shows what was `measured`, and keeps and mends what `args` ask for.
fn conclude(args: &VerifyArgs, measured: Measured, signals: &Signals) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet);
    let record = &measured.record;
    let answer = answer(record);
    if let Some(failure) = measured.unsaved {
        publish(args, &answer, talk)?;
        return Err(failure.into());
    }
    publish(args, &answer, talk)?;
    if let Some(store) = &measured.store {
        tell_kept(store, record, talk)?;
    }
    saved::warn_of_label(record, talk);
    keep_known(&args.target, record, talk);
    if record.state == State::Complete {
        fix::fix(args, &answer, talk)?;
    }
    Ok(match (&record.state, signals.exit()) {
        (State::Partial, Some(exit)) => exit,
        (State::Failed, _) => Exit::Incomplete,
        _ => exit_of(&answer),
    })
}

/// Says where the record is, and writes the report beside it.
fn tell_kept(store: &Store, record: &Record, talk: Talk) -> Result<(), Failure> {
    talk.note(&format!("\nRecord: {}", store.record_path(&record.id).display()));
    if result::has_figures(record) {
        let report = store.report_path(&record.id);
        result::write_html(record, &[], &report)?;
        talk.note(&format!("Report: {}", report.display()));
    }
    Ok(())
}

/// Keeps what the test of `record` has found of the card at `target`; where it cannot be kept, that is told and nothing
/// else.
pub(crate) fn keep_known(target: &Path, record: &Record, talk: Talk) {
    if let Err(failure) = known_cards::keep(target, record) {
        talk.note(&format!("The next check will not know of this test: {}.", failure.message));
    }
}

/// Status 0 is for genuine cards alone.
fn exit_of(answer: &Answer) -> Exit {
    if answer.found.verdict == CapacityVerdict::Genuine { Exit::Done } else { Exit::NotMet }
}

/// Shows `answer` on the terminal and wherever `--json` says.
fn publish(args: &VerifyArgs, answer: &Answer, talk: Talk) -> Result<(), Failure> {
    if let Some(sink) = &args.json {
        output::write(sink, &document::json(answer, &text::advice(answer, args, text::RESTORE))?)?;
    }
    if args.json != Some(Sink::Stdout) && !args.quiet {
        let text = text::page(answer, args, talk::is_styled());
        output::write(&Sink::Stdout, &talk::paged(&text))?;
    } else {
        talk.note(&text::advice(answer, args, &text::restoring(args)));
    }
    Ok(())
}

fn refuse_options_for_devices(args: &VerifyArgs) -> Result<(), Failure> {
    if args.restore.is_some() || args.destroy.is_some() {
        return Err(Failure::usage(format!(
            "--restore and --destroy are for devices, and {} is a directory, whose files stay as \
             they are; leave them out",
            args.target.display()
        )));
    }
    Ok(())
}

fn mode(args: &VerifyArgs) -> CapacityMode {
    if simulated_name(&args.target).is_some() || args.destroy.is_some() {
        return CapacityMode::Destroy;
    }
    if args.restore.is_some() { CapacityMode::Restore } else { CapacityMode::Read }
}

/// Where journals for the target lie.
fn journals(args: &VerifyArgs, mode: CapacityMode) -> Result<Journals, Failure> {
    let device = lasting_name(&args.target)?;
    let named = args.journal.clone();
    let home = match (Store::beside("journals"), &named) {
        (Ok(home), _) => home,
        // Without a directory of our own the named one is all there is.
        (Err(_), Some(named)) if mode == CapacityMode::Restore => named.clone(),
        (Err(failure), _) => return Err(failure.into()),
    };
    Ok(Journals {
        home,
        named,
        device,
        random_bits: random_bits()?,
        now: std::time::SystemTime::now(),
    })
}

/// What stays of a device's identity when it is plugged in elsewhere: its size and serial number.
fn lasting_name(target: &Path) -> Result<String, Failure> {
    let inspection = guard::inspect(&Sysroot::default(), target).map_err(|error| {
        let message = cardproof_units::with_causes(&error);
        if error.is_usage() { Failure::usage(message) } else { Failure::incomplete(message) }
    })?;
    Ok(inspection.identity.lasting())
}

/// The answer that follows from `record`.
fn answer(record: &Record) -> Answer {
    let test = record.capacity();
    let planned =
        test.map(|test| (test.planned_write_bytes, test.planned_read_bytes, test.planned_time_ns));
    let timed = test.filter(|test| test.method != CapacityMethod::Files);
    Answer {
        found: capacity(record).unwrap_or_else(|| Capacity::not_tested(record)),
        written: record.bytes_written,
        read: record.bytes_read,
        planned: planned.unwrap_or_default(),
        is_full: test.is_some_and(|test| test.is_full),
        time: timed.map(|test| test.time_ns),
        is_reconnected: test.is_some_and(|test| test.is_reconnected),
        record: record.id.clone(),
    }
}
