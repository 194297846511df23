//! `cardproof endure`: writes cards again and again until they fail, and says how long they last.

mod document;
mod lines;
mod text;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cardproof_probe::endure::{Pattern, Wish};
use cardproof_rating::{life, words};
use cardproof_record::{DailyUse, EndureDocument, Record, State, StoppedBy, TargetKind};
use cardproof_session::{
    CardOnBus, Endurance, EndureOptions, Frontend, Measured, Options, SharedBuses, Store, measure,
    simulated_name,
};
use cardproof_units::{Bytes, Nanos, Seed};
use clap::Args;

use crate::args::{AccessArgs, EngineArg, OutputArgs, label};
use crate::exit::{Exit, Failure};
use crate::measuring::{Request, options, random_bits};
use crate::output::{self, Sink};
use crate::result;
use crate::saved;
use crate::signals::Signals;
use crate::talk::{self, Talk};
use crate::terminal::Terminal;

/// What stands under the help.
const AFTER_HELP: &str =
    "A cycle writes the whole card once, or the part given by --size. Then it reads the data back \
and compares them. The pattern hot-spot or trace:FILE writes a part of the card only.

You can stop at any time: after Ctrl-C, a power cut or an unplugged reader, the same command \
continues the test on the same card. Errors of the computer, the reader or the cable are recognised \
and not counted.

Exit status: 0 done; 4 the card failed in its first cycle, or before the amount of --budget was \
written; 1 could not be completed; 2 wrong command line; 3 refused for safety; 130 stopped by Ctrl-C; \
143 by SIGTERM.";

/// What to wear out, and how.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct EndureArgs {
    /// Block devices, files, sim:NAME or sim:FILE.toml; with --from, records
    #[arg(required = true, value_parser = crate::target::parser())]
    pub(crate) targets: Vec<PathBuf>,
    /// Allow writing to a device: ALL ITS DATA IS LOST. Leave the value out, and cardproof prints it. Give one
    /// --destroy for each device, in the same order
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "NAME:BYTES")]
    pub(crate) destroy: Vec<Option<String>>,
    /// TARGETS are saved records: judge them, and write nothing
    #[arg(long, conflicts_with_all = ["destroy", "pattern", "cycles", "budget", "restart", "csv", "seed"])]
    pub(crate) from: bool,
    /// Where each cycle writes: random, sequential, hot-spot or trace:FILE
    #[arg(long, value_name = "PATTERN", default_value = "random")]
    pub(crate) pattern: String,
    /// Stop after N cycles
    #[arg(long, value_name = "N", value_parser = crate::args::from_one)]
    pub(crate) cycles: Option<u64>,
    /// Stop after writing this much, such as 3TB. If there was no error until then, the card has passed
    #[arg(long, value_name = "SIZE", conflicts_with = "cycles")]
    pub(crate) budget: Option<Bytes>,
    /// Test only this much of the device, from its start; by default the whole device
    #[arg(long, value_name = "SIZE")]
    pub(crate) size: Option<Bytes>,
    /// Estimate the life in days, for a computer that writes this much in a day, such as 5GB
    #[arg(long, value_name = "SIZE")]
    pub(crate) bytes_per_day: Option<Bytes>,
    /// For the life in days: your assumption of how many bytes the card writes to its flash for each byte
    /// that it receives
    #[arg(long, value_name = "N", default_value = "4", value_parser = amplification)]
    pub(crate) write_amplification: f64,
    /// Forget the interrupted test and start again
    #[arg(long)]
    pub(crate) restart: bool,
    /// How long to wait for a device that was disconnected
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub(crate) patience: Nanos,
    /// Seed for the order of writing and the data; random by default
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: Option<Seed>,
    /// How cardproof sends reads and writes to Linux
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) engine: EngineArg,
    /// A name for the card, kept in the record
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub(crate) label: Option<String>,
    /// Write one line per cycle to this file; with several cards: FILE-1, FILE-2 …
    #[arg(long, value_name = "FILE")]
    pub(crate) csv: Option<PathBuf>,
    /// The result as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// The report with charts as one HTML file; only if one card is tested
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A write amplification.
fn amplification(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (1.0..=1000.0).contains(&number) => Ok(number),
        _ => Err("give a number from 1 to 1000, such as 4".to_owned()),
    }
}

const fn is_endurance(record: &Record) -> bool {
    record.endurance().is_some()
}

/// Wears out what `args` name.
pub(crate) fn run(args: &EndureArgs, signals: &Signals) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet);
    for sink in args.json.iter().chain(&args.html.clone().map(Sink::File)) {
        output::check(sink)?;
    }
    if args.from {
        let records: Vec<Record> = args
            .targets
            .iter()
            .map(|name| saved::read(&saved::locate_for(name, is_endurance)?))
            .collect::<Result<_, _>>()?;
        return publish(args, &records, talk);
    }
    check(args)?;
    let wish =
        Wish { pattern: pattern(&args.pattern)?, cycles_max: args.cycles, bytes_max: args.budget };
    let outcomes = if args.targets.len() == 1 {
        let mut terminal = Terminal::new(talk);
        vec![one(args, 0, &wish, None, &mut terminal, signals)]
    } else {
        several(args, &wish, talk, signals)
    };
    let mut records = Vec::new();
    let mut stores = Vec::new();
    let mut failed = None;
    for (target, outcome) in args.targets.iter().zip(outcomes) {
        match outcome {
            Ok(measured) => {
                failed = failed.or(other_card(target, &measured.record));
                failed = failed.or(measured.unsaved.map(Failure::from));
                stores.push(measured.store);
                records.push(measured.record);
            }
            Err(failure) if args.targets.len() > 1 => {
                talk::error(&failure.message);
                failed = failed.or(Some(Failure { message: OTHERS.to_owned(), ..failure }));
            }
            Err(failure) => return Err(failure),
        }
    }
    let exit = if records.is_empty() { Exit::Incomplete } else { publish(args, &records, talk)? };
    for (record, store) in records.iter().zip(&stores) {
        store.iter().try_for_each(|store| tell_kept(store, record, talk))?;
    }
    if records.iter().any(goes_on) {
        let again = if args.restart { " without --restart" } else { "" };
        talk.note(&format!("Stopped. The same command{again} continues the test."));
    }
    match failed {
        Some(failure) => Err(failure),
        None => Ok(exit_of(&records, exit, signals)),
    }
}

/// That another card came in the place of the one at `target`, if that has stopped the run of `record`.
fn other_card(target: &Path, record: &Record) -> Option<Failure> {
    let run = record.endurance()?;
    (run.stopped_by == StoppedBy::OtherCard).then(|| {
        Failure::incomplete(format!(
            "the card at {} was disconnected, and another card, or one that was written to since, came in its \
             place; nothing was written to that; connect the first card and start the same command again",
            target.display()
        ))
    })
}

/// Says where the record is, and writes the report beside it.
fn tell_kept(store: &Store, record: &Record, talk: Talk) -> Result<(), Failure> {
    talk.note(&format!("\nRecord: {}", store.record_path(&record.id).display()));
    let report = store.report_path(&record.id);
    result::write_html(record, &cardproof_rating::judge(record), &report)?;
    talk.note(&format!("Report: {}", report.display()));
    Ok(())
}

/// Whether the run of `record` was stopped and can be continued; simulated cards are gone with the program.
fn goes_on(record: &Record) -> bool {
    record.state == State::Partial && record.conditions.target.kind != TargetKind::Simulated
}

/// What is said at the end when a card of several was not worn.
const OTHERS: &str = "not every card could be used; the messages above say why";

fn exit_of(records: &[Record], exit: Exit, signals: &Signals) -> Exit {
    let is = |state: State| records.iter().any(|record| record.state == state);
    match signals.exit() {
        Some(stopped) if is(State::Partial) => stopped,
        _ if is(State::Failed) => Exit::Incomplete,
        _ => exit,
    }
}

/// What is wrong with the command line, before anything is opened.
fn check(args: &EndureArgs) -> Result<(), Failure> {
    for target in &args.targets {
        if simulated_name(target).is_none() && target.is_dir() {
            return Err(Failure::usage(format!(
                "{} is a directory; endure wears out a whole device: name a block device, such as \
                 /dev/sdb, or a simulated card",
                target.display()
            )));
        }
    }
    let mut names: Vec<&PathBuf> =
        args.targets.iter().filter(|target| simulated_name(target).is_none()).collect();
    if !args.destroy.is_empty() && args.destroy.len() != names.len() {
        return Err(Failure::usage(format!(
            "give one --destroy for each device, in the same order: there are {} devices and {}",
            names.len(),
            args.destroy.len()
        )));
    }
    names.sort();
    if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(Failure::usage(format!("{} is named twice", pair[0].display())));
    }
    if args.html.is_some() && args.targets.len() > 1 {
        return Err(Failure::usage(
            "--html is for one card; use cardproof show RECORD --html FILE for each",
        ));
    }
    Ok(())
}

/// The pattern called `text`.
fn pattern(text: &str) -> Result<Pattern, Failure> {
    match text {
        "random" => Ok(Pattern::Random),
        "sequential" => Ok(Pattern::Sequential),
        "hot-spot" => Ok(Pattern::HotSpot),
        _ => match text.strip_prefix("trace:") {
            Some(name) => document::requests_of_trace(name).map(Pattern::Trace),
            None => Err(Failure::usage(format!(
                "there is no pattern '{text}'; use random, sequential, hot-spot or trace:FILE"
            ))),
        },
    }
}

/// The run on the target `number`.
fn one(
    args: &EndureArgs,
    number: usize,
    wish: &Wish,
    on_bus: Option<CardOnBus>,
    frontend: &mut dyn Frontend,
    signals: &Signals,
) -> Result<Measured, Failure> {
    let target = &args.targets[number];
    let options = options_of(args, number)?;
    let is_simulated = simulated_name(target).is_some();
    let states = if is_simulated { None } else { Some(Store::beside("endure")?) };
    let csv = args.csv.as_ref().map(|path| numbered(path, number, args.targets.len()));
    let asked = EndureOptions {
        wish: wish.clone(),
        states,
        restart: args.restart,
        patience: args.patience,
        csv,
        budget: args.budget,
        random_bits: random_bits()?,
        daily_use: daily_use(args),
    };
    let endurance = Endurance::new(asked, options.clone(), on_bus);
    Ok(measure(endurance, &options, frontend, signals.stop())?)
}

fn options_of(args: &EndureArgs, number: usize) -> Result<Options, Failure> {
    let target = &args.targets[number];
    let before = args.targets[..number].iter().filter(|it| simulated_name(it).is_none()).count();
    let destroy = simulated_name(target).is_none().then(|| args.destroy.get(before).cloned());
    let access = AccessArgs { destroy: destroy.flatten(), engine: args.engine };
    let outputs =
        OutputArgs { json: args.json.clone(), html: args.html.clone(), ..OutputArgs::default() };
    options(&Request {
        target,
        size: args.size,
        seed: args.seed.map(|seed| seed_of(seed, number)),
        access: &access,
        expect_device: None,
        require: &[],
        label: args.label.as_ref(),
        output: &outputs,
        quiet: args.quiet,
    })
}

/// The seed of the card `number`: two simulated cards of one seed would be the same card.
fn seed_of(seed: Seed, number: usize) -> Seed {
    if number == 0 { seed } else { Seed::from_bits(seed.derive(&format!("card {number}"))) }
}

/// The file of the card `number` of `count`.
fn numbered(path: &Path, number: usize, count: usize) -> PathBuf {
    if count == 1 {
        return path.to_owned();
    }
    let mut name = path.file_stem().unwrap_or_default().to_os_string();
    name.push(format!("-{}", number + 1));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// All cards at once, each on a thread of its own.
fn several(
    args: &EndureArgs,
    wish: &Wish,
    talk: Talk,
    signals: &Signals,
) -> Vec<Result<Measured, Failure>> {
    let paths: Vec<&Path> = args.targets.iter().map(PathBuf::as_path).collect();
    let cards = SharedBuses::cards_of(&paths);
    let screen = Arc::new(lines::Screen::new(talk));
    std::thread::scope(|scope| {
        let threads: Vec<_> = cards
            .into_iter()
            .enumerate()
            .map(|(number, card)| {
                let name = args.targets[number].display().to_string();
                let mut frontend = lines::CardLines::new(&screen, &name);
                scope.spawn(move || one(args, number, wish, Some(card), &mut frontend, signals))
            })
            .collect();
        let lost = || Err(Failure::incomplete("the thread of a card has ended by itself"));
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| lost())).collect()
    })
}

/// The daily use for which the life in days is asked for.
fn daily_use(args: &EndureArgs) -> Option<DailyUse> {
    args.bytes_per_day.map(|bytes_per_day| DailyUse {
        bytes_per_day,
        write_amplification: args.write_amplification,
    })
}

/// Shows the results of `records` wherever `args` say; the status that their budgets give.
fn publish(args: &EndureArgs, records: &[Record], talk: Talk) -> Result<Exit, Failure> {
    let documents: Vec<EndureDocument> = records
        .iter()
        .filter_map(|record| words::life::document(record, daily_use(args)))
        .collect();
    if documents.len() < records.len() {
        return Err(Failure::usage(
            "a record holds no endurance run; name records of cardproof endure",
        ));
    }
    let models = life::models(&records.iter().collect::<Vec<_>>());
    if let Some(sink) = &args.json {
        output::write(sink, &document::json(&documents, &models)?)?;
    }
    if let (Some(path), [record]) = (&args.html, records) {
        result::write_html(record, &cardproof_rating::judge(record), path)?;
    }
    if args.json != Some(Sink::Stdout) && !args.quiet {
        output::write(&Sink::Stdout, &talk::paged(&text::page(records, &documents, &models)))?;
    } else {
        for (record, document) in records.iter().zip(&documents) {
            talk.note(&text::headline(record, document));
        }
    }
    let has_failed = |document: &EndureDocument| {
        document.budget.as_ref().is_some_and(|budget| budget.passed == Some(false))
    };
    let failed_at_once = records.iter().filter_map(|it| it.endurance()).any(life::failed_at_once);
    let has_failed = failed_at_once || documents.iter().any(has_failed);
    Ok(if has_failed { Exit::NotMet } else { Exit::Done })
}
