//! `cardproof log`: the ledger of the computer's storage. One look at the kernel's counters, added to what earlier
//! looks have summed up; for a timer, and without a daemon.

mod listen;
mod look;
mod metrics;
mod text;

use std::path::{Path, PathBuf};

use cardproof_device::identify::LogAccess;
use cardproof_device::{Sysroot, condition};
use cardproof_rating::ledger::{CardKey, Day, LEDGER_SCHEMA, LedgerCard, LedgerDocument, outlook};
use cardproof_session::{LedgerFiles, Store};
use cardproof_units::Bytes;
use clap::Args;

use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::talk;
use listen::Listen;
use metrics::Gathered;

/// The state is kept for good after so long, in seconds.
const KEEP_EVERY_S: u64 = 3600;

/// Where the shipped service has its ledger.
const SERVICE_STATE: &str = "/var/lib/cardproof";
const SERVICE_MEMORY: &str = "/run/cardproof";

/// No card is worn out by less than being filled a few times.
const ENDURANCE_MIN: Bytes = Bytes::gib(1);

/// What stands under the help.
const AFTER_HELP: &str = "The package has a timer that calls this every ten minutes: \
systemctl enable --now cardproof-log.timer
Without the package, a line in /etc/crontab does the same, with the program's whole path:
*/10 * * * * root /usr/local/bin/cardproof log

The ledger needs less than 1 kB for a day. It is written to storage once an hour, so a power cut loses one hour of \
it at most. It holds no serial number: a card is known by a hash that only this computer can make.

Files with facts are replaced as a whole and may be read by everybody. Where Home Assistant or Prometheus shows a \
fact as unknown, its reason stands beside it.

Exit status: 0 done; 1 could not be completed; 2 wrong command line.";

/// Where the ledger is, and what to do.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct LedgerArgs {
    /// Show the ledger, and add nothing to it
    #[arg(long)]
    pub(crate) show: bool,
    /// Write the ledger to storage now, instead of once an hour
    #[arg(long, conflicts_with = "show")]
    pub(crate) flush: bool,
    /// The directory for the ledger, which may be on another device. By default the service's directory; without
    /// the service, one in your home directory
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,
    /// The directory in memory for what is not yet written to storage
    #[arg(long, value_name = "DIR")]
    pub(crate) memory: Option<PathBuf>,
    /// The endurance that the maker states for this model, such as 40TB, for the days left
    #[arg(long, value_name = "BYTES", value_parser = endurance)]
    pub(crate) endurance: Option<Bytes>,
    /// The ledger as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// The facts in Prometheus' text format, to a file, such as one for node_exporter's textfile collector
    #[arg(long, value_name = "FILE|-")]
    pub(crate) metrics: Option<Sink>,
    /// The facts in the format of OpenMetrics
    #[arg(long, value_name = "FILE|-")]
    pub(crate) openmetrics: Option<Sink>,
    /// The facts as MQTT messages for Home Assistant, each a line of topic and payload
    #[arg(long, value_name = "FILE|-")]
    pub(crate) home_assistant: Option<Sink>,
    /// One line and the exit status as Nagios expects them of a plugin: 0 fine, 1 watch it, 2 copy your data now,
    /// 3 not known
    #[arg(long, conflicts_with = "json")]
    pub(crate) nagios: bool,
    /// Answer Prometheus at http://127.0.0.1:PORT/metrics until Ctrl-C, and add nothing to the ledger. With an
    /// address, other computers may be let in
    #[arg(long, value_name = "[ADDRESS:]PORT", conflicts_with_all = ["flush", "json", "nagios"])]
    pub(crate) listen: Option<Listen>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A card's endurance: one below [`ENDURANCE_MIN`] lacks its unit.
fn endurance(text: &str) -> Result<Bytes, String> {
    let bytes: Bytes =
        text.parse().map_err(|error: cardproof_units::ParseBytesError| error.to_string())?;
    if bytes >= ENDURANCE_MIN {
        return Ok(bytes);
    }
    let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
    Err(format!("that is {bytes}, which no card is worn out by; did you mean {digits}TB?"))
}

/// Adds a look to the ledger, and shows what follows from it.
pub(crate) fn run(args: &LedgerArgs) -> Result<Exit, Failure> {
    match tell(args) {
        Err(failure) if args.nagios => metrics::not_looked(&failure),
        told => told,
    }
}

fn tell(args: &LedgerArgs) -> Result<Exit, Failure> {
    let sinks = [&args.json, &args.metrics, &args.openmetrics, &args.home_assistant];
    sinks.into_iter().flatten().try_for_each(output::check)?;
    let files = files(args)?;
    let is_shown = args.show || args.listen.is_some();
    let (days, names) = if is_shown { show(&files)? } else { add(&files, args.flush)? };
    if days.is_empty() {
        return Err(Failure::incomplete(format!(
            "there is nothing in the ledger at {}; run cardproof log as root, or enable its timer",
            files.directory.display()
        )));
    }
    if let Some(at) = args.listen {
        return listen::listen(at, &files, args);
    }
    let mut exit = Exit::Done;
    if metrics::are_wanted(args) {
        let gathered = Gathered::from_days(&days, &names, args.endurance)?;
        let state = metrics::hand_out(&gathered, args)?;
        exit = state.map_or(exit, metrics::exit_of);
    }
    let takes_stdout = sinks.into_iter().flatten().any(|sink| *sink == Sink::Stdout);
    let is_log_read = is_log_read(&files, is_shown, &names);
    let cards = cards(&days, &names, args.endurance, is_log_read);
    if let Some(sink) = &args.json {
        let text = serde_json::to_string_pretty(&LedgerDocument { schema: LEDGER_SCHEMA, cards })
            .map_err(Failure::because("the ledger cannot be put into JSON"))?;
        output::write(sink, &(text + "\n"))?;
    } else if !args.quiet && !args.nagios && !takes_stdout {
        let mut texts: Vec<String> = cards.iter().map(text::card).collect();
        let is_of_service = files.directory == Path::new(SERVICE_STATE);
        texts.extend(text::next(&cards).filter(|_| !is_of_service).map(str::to_owned));
        let text = cardproof_report::wrapped(&texts.join("\n"), talk::width());
        output::write(&Sink::Stdout, &text)?;
    }
    Ok(exit)
}

/// The days so far with the names of the cards, after a look was added.
fn add(files: &LedgerFiles, is_last: bool) -> Result<(Vec<Day>, Vec<look::Named>), Failure> {
    let locked = files.lock()?;
    let (mut open, mut days) = files.read()?;
    let date = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let (look, names) = look::look(&Sysroot::default(), &locked.key()?, date)?;
    let is_new_boot = open.looks == 0 || open.boot != look.boot;
    open.add(&look);
    if is_last || is_new_boot || open.uptime_s >= open.kept_at_s + KEEP_EVERY_S {
        locked.keep(&mut open)?;
    } else {
        locked.note(&open)?;
    }
    days.extend(open.days());
    Ok((each_once(days), names))
}

/// The days so far. The names of cards need the key, which only its owner may read.
fn show(files: &LedgerFiles) -> Result<(Vec<Day>, Vec<look::Named>), Failure> {
    let (open, mut days) = files.read()?;
    days.extend(open.days());
    let key = files.readable_key();
    let names = key.and_then(|key| look::look(&Sysroot::default(), &key, String::new()).ok());
    Ok((each_once(days), names.map(|(_, names)| names).unwrap_or_default()))
}

/// `days` without those that were just appended and are still in the state.
fn each_once(days: Vec<Day>) -> Vec<Day> {
    let mut kept: Vec<Day> = Vec::new();
    for day in days {
        if kept.iter().all(|known| known.number != day.number) {
            kept.push(day);
        }
    }
    kept
}

/// Whether the ledger's looks could read the kernel's log: those of the service can, which is root.
fn is_log_read(files: &LedgerFiles, is_shown: bool, names: &[look::Named]) -> bool {
    let is_of_service = is_shown && files.directory == Path::new(SERVICE_STATE);
    let is_permitted = |(name, _): &look::Named| {
        condition(&Sysroot::default(), name).log_access != LogAccess::NotPermitted
    };
    is_of_service || names.first().is_none_or(is_permitted)
}

fn cards<'n>(
    days: &[Day],
    names: &'n [look::Named],
    endurance: Option<Bytes>,
    is_log_read: bool,
) -> Vec<LedgerCard<'n>> {
    let mut keys: Vec<CardKey> = Vec::new();
    for day in days.iter().rev() {
        if !keys.contains(&day.key) {
            keys.push(day.key);
        }
    }
    let name = |key| names.iter().find(|(_, known)| *known == key).map(|(name, _)| name.as_str());
    let card = |key| {
        let outlook = outlook(days, key, endurance)?;
        Some(LedgerCard { name: name(key), is_log_read, outlook })
    };
    keys.into_iter().filter_map(card).collect()
}

/// Where the ledger is: where the user says, where systemd says, where the service has it, or below the user's data.
fn files(args: &LedgerArgs) -> Result<LedgerFiles, Failure> {
    let of_environment = |name: &str| std::env::var_os(name).map(PathBuf::from);
    let service = PathBuf::from(SERVICE_STATE);
    let named = args.state.clone().or_else(|| of_environment("STATE_DIRECTORY"));
    let is_named = named.is_some();
    let (directory, is_service) = match named {
        Some(directory) => (directory, false),
        None if service.is_dir() => (service, true),
        None => (Store::beside("ledger")?, false),
    };
    let memory =
        args.memory.clone().or_else(|| of_environment("RUNTIME_DIRECTORY")).or_else(|| {
            let of_user = || of_environment("XDG_RUNTIME_DIR").map(|it| it.join("cardproof"));
            if is_service {
                Some(PathBuf::from(SERVICE_MEMORY))
            } else {
                of_user().filter(|_| !is_named)
            }
        });
    Ok(LedgerFiles { directory, memory })
}
