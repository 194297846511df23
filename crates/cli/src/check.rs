//! `cardproof check`, and `cardproof` alone: the answer to the five questions on one page.
//!
//! What costs nothing is looked at first: identity, kernel log, settings, power. Then the capacity is tested
//! in the free space, and the speed is measured. A part that cannot be done leaves its question open, with
//! the reason; it does not end the others.

mod measured;
mod seen;

use std::path::{Path, PathBuf};

use cardproof_device::Sysroot;
use cardproof_rating::answer::{Answer, Fast, Known, PowerFacts, Question, Real, Untested};
use cardproof_record::Record;
use cardproof_report::AnswerPage;
use cardproof_session::simulated_name;
use cardproof_units::{Seed, shell_path, with_causes};
use clap::{Args, ValueEnum};

use crate::args::{MarkdownSink, OutputArgs, label};
use crate::charts;
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::result;
use crate::saved;
use crate::signals::Signals;
use crate::talk::{self, Talk};
use crate::terminal::not_saved;
use measured::Measurements;

/// What stands under the help.
const AFTER_HELP: &str = "In a directory, check takes at most 75 seconds, on a slow card 100; on fast storage half \
of that. It writes at most 896 MiB to test files, on a fake more, and deletes them. It does not change your files. \
On a device or a file, and with --sysroot, it only reads. A simulated card takes a second: its times are simulated.

Exit status: 0 done, also where an answer is \"not known\"; 4 an answer is bad; 1 nothing could be tested (as of a \
file with holes), a test failed, or a result could not be saved; 2 wrong command line, or the target is no storage; 3 \
refused: not safe; 130 stopped by Ctrl-C; 143 by SIGTERM.";

const JSON_HELP: &str = "The answer as JSON, one key for each question, to a file or to standard output. The whole record: \
`cardproof show latest --json -`. An existing file is overwritten";

/// What to check.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP, mut_arg("json", |arg| arg.help(JSON_HELP)))]
pub(crate) struct CheckArgs {
    /// A directory on the storage, a block device, a file, or sim:NAME
    #[arg(value_name = "TARGET", default_value = ".", value_parser = crate::target::parser())]
    pub(crate) target: PathBuf,
    /// Answer only these questions, such as real,healthy
    #[arg(long, value_enum, value_name = "QUESTION", value_delimiter = ',', ignore_case = true)]
    pub(crate) only: Vec<Asked>,
    /// Look at a saved machine (a directory, or a file of `identify --dump`); measures nothing
    #[arg(long, value_name = "PATH")]
    pub(crate) sysroot: Option<PathBuf>,
    /// A name for the card, kept in the records
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub(crate) label: Option<String>,
    /// Seed for addresses and data; random by default
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: Option<Seed>,
    /// Where the answer goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A question, as a word on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Asked {
    /// Is its capacity real?
    Real,
    /// Are there errors, or signs of wear?
    Healthy,
    /// Is it fast enough for a system?
    Fast,
    /// Is it set up well?
    #[value(alias = "set_up", alias = "set-up")]
    Setup,
    /// Does the computer have enough power?
    Power,
}

impl From<Asked> for Question {
    fn from(asked: Asked) -> Self {
        match asked {
            Asked::Real => Self::Real,
            Asked::Healthy => Self::Healthy,
            Asked::Fast => Self::Fast,
            Asked::Setup => Self::SetUp,
            Asked::Power => Self::Power,
        }
    }
}

/// Answers what `args` ask.
pub(crate) fn run(args: &CheckArgs, signals: &Signals) -> Result<Exit, Failure> {
    result::check_outputs(&args.output)?;
    let questions = questions(args);
    let root = root(args)?;
    let seen = seen::look(&root, args)?;
    let measurements = if args.sysroot.is_some() {
        Measurements::default()
    } else {
        measured::measure(args, &questions, &seen, signals)?
    };
    if let Some(exit) = signals.exit() {
        Talk::new(args.quiet)
            .note("Stopped before there was an answer. The test files are removed.");
        return Ok(exit);
    }
    let speed = measurements.speed.as_ref();
    let capacity = measurements.capacity.as_ref();
    let of_record = speed.or(capacity).map(|record| &record.conditions);
    let conditions = of_record.unwrap_or(&seen.conditions);
    let untested = match seen.untested(measurements.untested) {
        _ if args.sysroot.is_some() => Untested::Saved,
        Untested::NotAsked if !seen.is_writable => Untested::ReadOnly,
        why => why,
    };
    let known = Known {
        conditions,
        speed,
        capacity,
        signs: &seen.signs,
        power: seen.power,
        untested,
        failure: measurements.failure.as_deref(),
        earlier: seen.earlier.as_ref(),
        mounts: &seen.mounts,
    };
    let answer = Answer::new(&known, &questions);
    let target = shell_path(&args.target);
    let is_saved = args.sysroot.is_some();
    let label = args.label.as_deref();
    let page = AnswerPage { answer: &answer, conditions, target: &target, is_saved, label };
    publish(args, &page, &measurements)?;
    if let Some(record) = capacity {
        crate::verify::keep_known(&args.target, record, Talk::new(args.quiet));
    }
    if let Some(record) = speed.or(capacity) {
        saved::warn_of_label(record, Talk::new(args.quiet));
    }
    tell_failures(args, &measurements);
    Ok(exit_of(args, &answer, &measurements, untested))
}

/// Says what failed, which the page does not say or a quiet run does not show: errors are told in any case.
fn tell_failures(args: &CheckArgs, measurements: &Measurements) {
    let talk = Talk::new(false);
    if let Some(failure) = measurements.failure.as_ref().filter(|_| args.quiet) {
        talk.note(&format!("Not tested: {failure}."));
    }
    if let Some(unsaved) = &measurements.unsaved {
        talk.note(&not_saved(unsaved));
    }
}

/// How it ends: a bad answer comes before anything that could not be done. An answer that is not known is no failure,
/// unless no test at all could be made for it.
fn exit_of(
    args: &CheckArgs,
    answer: &Answer,
    measurements: &Measurements,
    untested: Untested,
) -> Exit {
    let is_untested = measurements.capacity.is_none() && measurements.speed.is_none();
    let is_open = matches!(answer.real, Some(Real::NotTested { .. }))
        || matches!(answer.fast, Some(Fast::NotMeasured { .. }));
    let could_not = match untested {
        Untested::Failed => true,
        // Of a saved machine no test was wanted.
        Untested::Saved => false,
        _ => is_untested && is_open,
    };
    let nothing_remains = measurements.unsaved.is_some() && args.quiet && !args.output.is_any();
    match answer.is_bad() {
        true => Exit::NotMet,
        false if could_not || nothing_remains => Exit::Incomplete,
        false => Exit::Done,
    }
}

fn questions(args: &CheckArgs) -> Vec<Question> {
    if args.only.is_empty() {
        return Question::ALL.to_vec();
    }
    args.only.iter().copied().map(Question::from).collect()
}

fn root(args: &CheckArgs) -> Result<Sysroot, Failure> {
    let Some(path) = &args.sysroot else { return Ok(Sysroot::default()) };
    crate::identify::copy_of_sys(path)?;
    if simulated_name(&args.target).is_some() {
        return Err(Failure::usage("--sysroot and a simulated card do not go together"));
    }
    Sysroot::open(path).map_err(|error| {
        Failure::usage(format!("--sysroot {}: {}", path.display(), with_causes(&error)))
    })
}

/// The answer as JSON.
fn json(page: &AnswerPage<'_>, measurements: &Measurements) -> Result<String, Failure> {
    let records = [&measurements.capacity, &measurements.speed].into_iter().flatten();
    let ids = records.map(|record| &*record.id).collect();
    let text = serde_json::to_string_pretty(&page.document(env!("CARGO_PKG_VERSION"), ids))
        .map_err(Failure::because("the answer cannot be put into JSON"))?;
    Ok(text + "\n")
}

/// Shows the page wherever `args` say, and says where the records and the report are.
fn publish(
    args: &CheckArgs,
    page: &AnswerPage<'_>,
    measurements: &Measurements,
) -> Result<(), Failure> {
    let talk = Talk::new(args.quiet);
    let mut is_shown = args.quiet;
    if let Some(sink) = &args.output.json {
        output::write(sink, &json(page, measurements)?)?;
        is_shown |= *sink == Sink::Stdout;
    }
    if let Some(MarkdownSink { sink, .. }) = &args.output.markdown {
        output::write(sink, &page.markdown())?;
        is_shown |= *sink == Sink::Stdout;
    }
    let speed = measurements.speed.as_ref();
    if let Some(path) = &args.output.html {
        write_page(page, speed, path)?;
    }
    if let Some(picture) = &args.output.picture {
        charts::write_picture(picture, &cardproof_report::check_picture(page, speed))?;
    }
    if !is_shown {
        let text = page.text(talk::width(), talk::is_styled());
        output::write(&Sink::Stdout, &format!("\n{text}"))?;
        if let (true, Some(record)) = (args.output.details, speed) {
            print_details(record)?;
        }
    }
    say_where(page, measurements, talk)?;
    result::tell_files(&args.output, talk);
    Ok(())
}

fn write_page(page: &AnswerPage<'_>, speed: Option<&Record>, path: &Path) -> Result<(), Failure> {
    let text = cardproof_report::check_html(page, speed)
        .map_err(Failure::because("the report cannot be drawn"))?;
    output::write(&Sink::File(path.to_owned()), &text)
}

/// Every figure of the speed, and the published cards that it is compared with.
fn print_details(record: &Record) -> Result<(), Failure> {
    let verdicts = cardproof_rating::judge(record);
    let text = cardproof_report::details(record, &verdicts, talk::width(), talk::is_styled());
    output::write(&Sink::Stdout, &format!("\n{text}"))?;
    match cardproof_report::published_list(record, talk::width().min(80)) {
        Some(list) => output::write(&Sink::Stdout, &format!("\n{list}")),
        None => Ok(()),
    }
}

/// The report, or the records where there is none; each on a line of its own, so that it can be copied.
fn say_where(
    page: &AnswerPage<'_>,
    measurements: &Measurements,
    talk: Talk,
) -> Result<(), Failure> {
    let Some(store) = &measurements.store else { return Ok(()) };
    let mut places = String::new();
    if let Some(record) = measurements.capacity.as_ref().filter(|it| result::has_figures(it)) {
        let report = store.report_path(&record.id);
        result::write_html(record, &cardproof_rating::judge(record), &report)?;
        places += &format!("\nCapacity test:   {}", report.display());
    }
    if let Some(record) = measurements.speed.as_ref().filter(|it| result::has_figures(it)) {
        let report = store.report_path(&record.id);
        write_page(page, Some(record), &report)?;
        places += &format!("\nReport:          {}", report.display());
    }
    if !places.is_empty() {
        talk.note(&places);
    }
    Ok(())
}

/// The power facts that the firmware's flags and the alarm give.
pub(crate) fn power_facts(power: &cardproof_device::identify::Power) -> PowerFacts {
    /// Bits of `get_throttled` (Raspberry Pi documentation): what has happened since the start.
    const WAS_LOW: u32 = 1 << 16;
    const WAS_THROTTLED: u32 = 1 << 18;
    let flags = power.throttled_flags.unwrap_or(0);
    PowerFacts {
        is_low: power.is_under_voltage,
        was_low: flags & WAS_LOW != 0
            || (power.is_under_voltage.is_none() && !power.troubles.is_empty()),
        was_throttled: flags & WAS_THROTTLED != 0,
    }
}
