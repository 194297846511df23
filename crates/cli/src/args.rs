//! Arguments that several commands share, and those of commands without a file of their own: what
//! can be asked, and nothing of what is done.

mod compare;
mod identify;
mod layout;

use std::ffi::OsString;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

use cardproof_device::guard::Leave;
use cardproof_facts::CONFIDENCE;
use cardproof_io::EngineChoice;
use cardproof_session::{Access, LATEST, has_form_of_id};
use cardproof_units::{Bytes, Nanos, Seed};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{ArgAction, Args, Subcommand, ValueEnum};

use crate::charts::PictureFile;
use crate::output::Sink;

pub(crate) use compare::CompareArgs;
pub(crate) use identify::IdentifyArgs;
pub(crate) use layout::{LayoutArg, LogModeArg};

/// What stands under the help of `run`.
const AFTER_RUN: &str = "`run` measures; only --require gives status 4.

Exit status: 0 measured, however slow it is; 4 a class of --require is not passed; 1 could not be completed; 2 wrong \
command line; 3 refused: not safe, or this storage cannot be tested (mounted read-only, too little free space); 130 \
stopped by Ctrl-C; 143 by SIGTERM.";

/// How to measure.
#[derive(Debug, Args)]
#[command(after_help = AFTER_RUN)]
pub(crate) struct RunArgs {
    /// A directory (cardproof creates a test file in it and removes it), a file, a block device,
    /// sim:NAME or sim:FILE.toml
    #[arg(value_name = "TARGET", default_value = ".", value_parser = crate::target::parser())]
    pub(crate) target: PathBuf,
    /// What to run: a name from the list of `cardproof profiles`, your own profile (FILE.toml) or a
    /// fio job file (FILE.fio)
    #[arg(long, value_name = "NAME|FILE", default_value = "standard")]
    pub(crate) profile: String,
    /// Save the phase names of your own FILE.toml or FILE.fio in the record; by default they are left out, for
    /// privacy
    ///
    /// By default, phases are named after what they do, and the file after a digest of its text, so that no
    /// name of yours is in a record that you share.
    #[arg(long)]
    pub(crate) keep_names: bool,
    /// How much of the storage to test, such as 64M
    ///
    /// By default, the profile sets the size. In a directory, the size is limited to 10 % of the free space.
    /// But if 1 GiB or more is free, 256 MiB are always allowed.
    #[arg(long, value_name = "SIZE", allow_negative_numbers = true)]
    pub(crate) size: Option<Bytes>,
    /// Time limit of the measurement, such as 60s or 5m; the data check can add some seconds
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    pub(crate) time_budget: Option<Nanos>,
    /// How certain a verdict must be, from 0.9 to 0.9999; only for the profiles a1 and a2
    ///
    /// A class has several limits. The whole verdict must be this certain, so each limit is tested with a
    /// slightly higher confidence.
    #[arg(long, value_name = "LEVEL", default_value_t = CONFIDENCE, value_parser = confidence)]
    pub(crate) confidence: f64,
    /// Seed for addresses and data; random by default
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    pub(crate) seed: Option<Seed>,
    /// Run the profile N times; every second run has the phases in reverse order
    ///
    /// One run does not show how much the storage varies from run to run. Time and bytes written grow
    /// with the number of runs. Start with five.
    #[arg(long, value_name = "N", value_parser = number(1..=100_u32))]
    pub(crate) repeat: Option<u32>,
    /// Repeat until every phase is steady, at most 25 times
    ///
    /// Together with this option, --repeat N sets another maximum, which must be at least 5. A phase is steady if its last five rates differ by at most 20 % of their
    /// average, and if a line through them rises or falls by at most 10 % of their average. This is the
    /// rule of SNIA, an industry group. Storage with a thermometer must also have stopped warming up for two minutes. Only these five runs go into the result. This option takes long and wears the
    /// storage.
    #[arg(long)]
    pub(crate) until_steady: bool,
    /// A name for what is measured, such as the number written on the card
    #[arg(long, value_name = "NAME", value_parser = label)]
    pub(crate) label: Option<String>,
    /// How the target may be used.
    #[command(flatten)]
    pub(crate) access: AccessArgs,
    /// Refuse a directory that is not on this device, such as /dev/mmcblk0p2
    #[arg(long, value_name = "DEVICE", value_parser = crate::target::parser())]
    pub(crate) expect_device: Option<PathBuf>,
    /// End with status 4 unless these classes are passed, such as A1 or A1,C10
    #[arg(long, value_name = "CLASS", action = ArgAction::Append, value_delimiter = ',')]
    pub(crate) require: Vec<String>,
    /// Where the result goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A confidence that a verdict can rest on.
fn confidence(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(part) if (0.9..=0.9999).contains(&part) => Ok(part),
        _ => Err("give a number from 0.9 to 0.9999, such as 0.99".to_owned()),
    }
}

/// A whole number from 1.
pub(crate) fn from_one(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err("give a number from 1".to_owned()),
    }
}

/// A parser of numbers in `range`, whose message says what to give.
pub(crate) fn number<Number>(
    range: RangeInclusive<Number>,
) -> impl Fn(&str) -> Result<Number, String> + Clone
where
    Number: FromStr + PartialOrd + Display + Clone,
{
    move |text| match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("give a number from {} to {}", range.start(), range.end())),
    }
}

/// The longest label.
const LABEL_LENGTH_MAX: usize = 80;

/// A name that a user gives to what is measured.
pub(crate) fn label(text: &str) -> Result<String, String> {
    let taken = text.trim();
    if taken.eq_ignore_ascii_case(LATEST) || taken.starts_with('-') {
        return Err(format!(
            "a record could not be named by it: {LATEST} is the newest record, and - begins an option"
        ));
    }
    if has_form_of_id(taken) {
        return Err(format!(
            "it has the form of a record's id, so commands could take it for one; add a word, such as card-{taken}"
        ));
    }
    let is_plain = !taken.is_empty() && !text.chars().any(cardproof_report::steers);
    if is_plain && text.chars().count() <= LABEL_LENGTH_MAX {
        Ok(taken.to_owned())
    } else {
        Err(format!("give 1 to {LABEL_LENGTH_MAX} letters, without control characters"))
    }
}

/// How a target may be used.
#[derive(Debug, Args)]
pub(crate) struct AccessArgs {
    /// Allow writing to a block device or file: ALL ITS DATA IS LOST. Leave the value out, and cardproof prints it
    ///
    /// For a block device, or a file with data, give its identity: `--destroy=NAME:BYTES[:SERIAL]`.
    /// If the identity is missing or wrong, cardproof refuses and prints the exact option.
    #[arg(long, num_args = 0..=1, require_equals = true, value_name = "NAME:BYTES")]
    pub(crate) destroy: Option<Option<String>>,
    /// How cardproof sends reads and writes to Linux
    #[arg(long, value_enum, default_value = "auto")]
    pub(crate) engine: EngineArg,
}

impl From<&AccessArgs> for Access {
    fn from(args: &AccessArgs) -> Self {
        Self { destroy: args.destroy.clone(), leave: Leave::default(), engine: args.engine.into() }
    }
}

/// The engines by the names that the command line knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum EngineArg {
    /// The fastest that works here
    #[default]
    Auto,
    /// Linux io_uring
    Uring,
    /// pread and pwrite
    Psync,
}

impl From<EngineArg> for EngineChoice {
    fn from(argument: EngineArg) -> Self {
        match argument {
            EngineArg::Auto => Self::Auto,
            EngineArg::Uring => Self::IoUring,
            EngineArg::Psync => Self::Psync,
        }
    }
}

/// Where a result goes besides the terminal.
#[derive(Debug, Default, Args)]
pub(crate) struct OutputArgs {
    /// The record with its verdicts as JSON, to a file or to standard output. An existing file is
    /// overwritten
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// The report as one HTML file. An existing file is overwritten
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// The result in one picture, for a forum. An existing file is overwritten
    #[arg(long, value_name = "FILE.png|FILE.svg")]
    pub(crate) picture: Option<PictureFile>,
    /// Show every figure, reason and doubt
    #[arg(long)]
    pub(crate) details: bool,
    /// The result as Markdown, for a forum or an issue; `short` prints at most ten lines to standard output
    #[arg(long, value_name = "FILE.md|-|short", value_parser = OsStringValueParser::new().try_map(markdown_sink))]
    pub(crate) markdown: Option<MarkdownSink>,
}

/// Where Markdown goes, and how much of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MarkdownSink {
    pub(crate) sink: Sink,
    /// Whether ten lines are enough.
    pub(crate) is_short: bool,
}

/// A name need not be text. A file called `short` is named as `./short`.
///
/// # Errors
/// A bare word is more likely `short` mistyped than a file: a file has an ending or a directory.
fn markdown_sink(name: OsString) -> Result<MarkdownSink, String> {
    if name == "short" {
        return Ok(MarkdownSink { sink: Sink::Stdout, is_short: true });
    }
    let is_word = name.to_str().is_some_and(|name| name != "-" && !name.contains(['.', '/']));
    if is_word {
        return Err("give a file such as result.md, `-` for standard output, or `short`".to_owned());
    }
    Ok(MarkdownSink { sink: Sink::from(name), is_short: false })
}

impl OutputArgs {
    /// Whether the result goes anywhere besides the terminal.
    pub(crate) const fn is_any(&self) -> bool {
        self.json.is_some()
            || self.html.is_some()
            || self.markdown.is_some()
            || self.picture.is_some()
    }
}

/// Which profile to explain.
#[derive(Debug, Args)]
pub(crate) struct ProfilesArgs {
    /// The profiles as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-", conflicts_with = "name")]
    pub(crate) json: Option<Sink>,
    /// Explain this profile: a name, or a file (FILE.toml, FILE.fio)
    pub(crate) name: Option<String>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What to do with simulated cards.
#[derive(Debug, Subcommand)]
pub(crate) enum SimCommand {
    /// List the simulated cards
    List(SimListArgs),
    /// Serve a simulated card in real time as a file; as root, also as a block device
    Serve(ServeArgs),
}

/// How to list the cards.
#[derive(Debug, Args)]
pub(crate) struct SimListArgs {
    /// The cards as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// How to serve a card.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The card's name (see `cardproof sim list`), or a file that describes one (FILE.toml)
    pub(crate) name: String,
    /// How many simulated seconds pass in a second; 1 is real time
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    pub(crate) speed: f64,
    /// An empty directory in which the card's file appears; a temporary one by default
    #[arg(long, value_name = "DIR")]
    pub(crate) directory: Option<PathBuf>,
    /// File that stores the card's data and is kept afterwards. By default the data is in memory and is lost
    /// at the end
    #[arg(long, value_name = "FILE")]
    pub(crate) backing: Option<PathBuf>,
    /// Where writes go on the card. With `log` and --backing, the next start continues with the same data
    #[arg(long, value_enum, default_value = "plain")]
    pub(crate) layout: LayoutArg,
    /// What the log does at a flush
    #[arg(long, value_enum, default_value = "barriers")]
    pub(crate) log_mode: LogModeArg,
    /// Seed for the card's random behaviour
    #[arg(long, value_name = "NUMBER", default_value = "0")]
    pub(crate) seed: Seed,
    /// Do not create a block device, even as root
    #[arg(long)]
    pub(crate) no_block_device: bool,
    /// Print the paths of the file and the block device as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl ServeArgs {
    /// The log over the card, if there is to be one.
    pub(crate) fn layout(&self) -> Option<cardproof_log_layout::Mode> {
        match self.layout {
            LayoutArg::Plain => None,
            LayoutArg::Log => Some(self.log_mode.into()),
        }
    }
}
