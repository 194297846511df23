//! `cardproof health`: is the storage dying? The signs of trouble in use, what the device says of its own wear,
//! what of it can be true, and how many days are left at this pace.

mod ask;
mod drives;
mod raw;
mod smartctl;
mod text;
mod told;
mod values;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use cardproof_evidence::health::{
    DaysBasis, DaysLeft, Judged, Reading, Unit, UsedAt, Value, days_left, judge,
};
use cardproof_rating::signs::{HealthPage, HealthVerdict, Signs};
use cardproof_rating::words::wear::{days_basis, implausible};
use cardproof_record::{
    DaysLeftInterval, FindingKind, HEALTH_SCHEMA, HealthDocument, HealthReading, HealthValue,
    Record, WearOutlook,
};
use cardproof_units::Bytes;
use clap::Args;
use jiff::Timestamp;

use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::saved;
use crate::talk;

/// What stands under the help.
const AFTER_HELP: &str = "health reads the kernel log, the mounts, the counters of the kernel and what the device reports. It writes \
nothing. As root it sees more.

The SD standard has no report of wear. Some cards report their wear in answer to the command \
CMD56. Other cards may hang after this command until they are unplugged. So cardproof sends the command \
only with --ask-card. For a mounted card, add --force as well. Many consumer cards answer the two-step \
query only, which sends a vendor's write and so needs --two-step.

To estimate the days left, cardproof needs two readings of the same device, some days apart: \
--over RECORD RECORD, or --raw FILE FILE. A reading without a date gets the date of its file, \
if the files are days apart.

Exit status: 0 done; 4 copy your data now, or a value cannot be true; 1 neither health nor wear is known (try it as \
root); 2 wrong command line; 3 refused for safety.";

/// Which device, or which recorded outputs.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct HealthArgs {
    /// A block device, such as /dev/mmcblk0, or a directory on it; by default the device that holds the
    /// current directory; with --over, records (each check and run saves the wear); with --raw, files
    #[arg(value_name = "DEVICE|DIR|FILE", value_parser = crate::target::parser())]
    pub(crate) sources: Vec<PathBuf>,
    /// Look at a saved machine (a directory, or a file of `identify --dump`)
    #[arg(long, value_name = "PATH", conflicts_with_all = ["raw", "over", "ask_card"])]
    pub(crate) sysroot: Option<PathBuf>,
    /// Judge saved files, the oldest first. Accepted are the output of CMD56 (512 bytes or hex), EXT_CSD
    /// (hex, a dump, or the lines of mmc extcsd read), an eMMC's life_time and pre_eol_info, sdmon, smartctl
    /// and nvme smart-log, in words or as JSON, also from a post or a mail
    #[arg(long, conflicts_with = "over")]
    pub(crate) raw: bool,
    /// Compare the wear in two or more saved records of one card, to estimate the days left
    #[arg(long)]
    pub(crate) over: bool,
    /// Send the command CMD56 to an SD card
    #[arg(long, conflicts_with_all = ["raw", "over"])]
    pub(crate) ask_card: bool,
    /// Also send the two-step query, which many consumer cards answer: it WRITES 512 bytes to the card's
    /// controller
    ///
    /// Cards with controllers of Silicon Motion answer (SanDisk Ultra, Kingston High Endurance, GoodRam, Apacer).
    /// The bytes are a command and go to no address of the memory. A card that does not know it may stop working
    /// until it is unplugged.
    #[arg(long, requires = "ask_card")]
    pub(crate) two_step: bool,
    /// Also ask a mounted card. The card may stop working until the computer is restarted
    #[arg(long, requires = "ask_card")]
    pub(crate) force: bool,
    /// The values as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// A reading with where it comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sourced {
    source: String,
    /// The card or drive, where a text of several names it.
    card: Option<String>,
    time: Option<Timestamp>,
    reading: Reading,
    /// What the device or the program says that is wrong, in words, the gravest first.
    findings: Vec<String>,
    /// The same as values.
    faults: Vec<FindingKind>,
    /// Whether it is a drive's health report, which may tell no value.
    is_report: bool,
    /// Why there is no value.
    unread: Option<String>,
}

/// All that was found.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    device: String,
    readings: Vec<Sourced>,
    bytes_per_day: Option<Bytes>,
    unknown: Vec<String>,
    /// The signs of trouble of a device in use.
    signs: Option<Signs>,
}

/// Shows the health of what `args` name.
pub(crate) fn run(args: &HealthArgs) -> Result<Exit, Failure> {
    if let Some(sink) = &args.json {
        output::check(sink)?;
    }
    if (args.raw || args.over) && args.sources.is_empty() {
        return Err(Failure::usage("name the files for --raw, or the records for --over"));
    }
    if args.over && args.sources.len() < 2 {
        return Err(Failure::usage(
            "--over compares the wear of one card over time, so it needs two records or more; \
             `cardproof list` shows them",
        ));
    }
    let found = match args.sources.as_slice() {
        files if args.raw => raw::files(files)?,
        names if args.over => records(names)?,
        [] => ask::device(None, args)?,
        [device] => ask::device(Some(device), args)?,
        _ => {
            return Err(Failure::usage(
                "name one device; several files need --raw, records --over",
            ));
        }
    };
    let document = document(&found);
    if let Some(sink) = &args.json {
        let page = HealthPage { wear: &document, health: found.signs.as_ref() };
        let text = serde_json::to_string_pretty(&page)
            .map_err(Failure::because("the values cannot be put into JSON"))?;
        output::write(sink, &(text + "\n"))?;
    }
    if args.json != Some(Sink::Stdout) && !args.quiet {
        let failing: Vec<bool> = found.readings.iter().map(|it| it.signs().is_bad()).collect();
        let page = text::page(&document, found.signs.as_ref(), &failing, args.raw);
        output::write(&Sink::Stdout, &talk::paged(&page))?;
    }
    Ok(exit(&document, &found))
}

/// How the command ends: badly where the data are at risk, the device says so, or a value cannot be true.
fn exit(document: &HealthDocument, found: &Found) -> Exit {
    let signs = found.signs.as_ref();
    let is_failing = || found.readings.iter().any(|reading| reading.signs().is_bad());
    let mut values = document.readings.iter().flat_map(|reading| &reading.values);
    let is_known = signs.is_some_and(|signs| signs.verdict != HealthVerdict::NotKnown);
    let is_bad = signs.map_or_else(is_failing, Signs::is_bad);
    if is_bad || !values.all(|value| value.plausible) {
        return Exit::NotMet;
    }
    let is_empty = document.readings.iter().all(|reading| reading.values.is_empty());
    if is_empty && !is_known { Exit::Incomplete } else { Exit::Done }
}

/// What saved records of one card say.
fn records(names: &[PathBuf]) -> Result<Found, Failure> {
    let mut found = Found::default();
    let mut known: Vec<(&PathBuf, String)> = Vec::new();
    for name in names {
        let record = saved::read(&saved::locate(name)?)?;
        if let Some((twin, id)) = known.iter().find(|(_, id)| *id == record.id) {
            return Err(Failure::usage(format!(
                "'{}' and '{}' are the same record, {id}; name records of different days (`cardproof list` shows them)",
                twin.display(),
                name.display()
            )));
        }
        known.push((name, record.id.clone()));
        let (device, sourced) = of_record(&record);
        if !found.device.is_empty() && found.device != device {
            return Err(Failure::usage(format!(
                "the records are of different devices, '{}' and '{device}'; name records of a single device",
                found.device
            )));
        }
        found.device = device;
        if sourced.reading.values.is_empty() {
            found.unknown.push(format!("{}: the record holds no wear value", sourced.source));
        }
        found.readings.push(sourced);
    }
    found.readings.sort_by_key(|reading| reading.time);
    Ok(found)
}

fn of_record(record: &Record) -> (String, Sourced) {
    let device = &record.conditions.device;
    let name = device.model.clone().or_else(|| device.name.clone());
    let upper = device.card.as_ref().and_then(|card| card.life_used_percent_max);
    let values = upper.map(|upper| Value::band("life_used", upper / 10));
    // A simulated run has no date.
    let time = record.created.parse::<Timestamp>().ok().filter(|time| time.as_second() > 0);
    let sourced = Sourced {
        source: format!("record {}", record.id),
        card: None,
        time,
        reading: Reading {
            values: values.into_iter().collect(),
            time_s: time.map(|time| time.as_second() as f64),
            rejected: None,
        },
        findings: Vec::new(),
        faults: Vec::new(),
        is_report: false,
        unread: None,
    };
    (name.unwrap_or_else(|| "unknown device".to_owned()), sourced)
}

/// Judges all readings, each against the one before.
fn document(found: &Found) -> HealthDocument {
    let mut readings = Vec::new();
    let mut used = Vec::new();
    // The order of readings without a date is what the user says; beside dated ones it is not known.
    let mut last: HashMap<(Option<&str>, bool), &Reading> = HashMap::new();
    for sourced in &found.readings {
        let series = (sourced.card.as_deref(), sourced.time.is_some());
        let judged = judge(&sourced.reading, last.get(&series).copied());
        let is_sound = judged.iter().all(|judged| judged.reason.is_none());
        if is_sound {
            last.insert(series, &sourced.reading);
            used.extend(life_used(sourced).map(|used| (sourced.time.is_some(), used)));
        }
        readings.push(HealthReading {
            source: sourced.source.clone(),
            time: sourced.time.map(|time| time.to_string()),
            findings: sourced.findings.clone(),
            values: judged.iter().map(value).collect(),
        });
    }
    let bytes = found.bytes_per_day.or_else(|| bytes_per_day(&found.readings));
    HealthDocument {
        schema: HEALTH_SCHEMA,
        device: found.device.clone(),
        values: readings.last().map(|reading| reading.values.clone()).unwrap_or_default(),
        readings,
        wear: outlook(&left(found, &used), bytes),
        unknown: unknown(found),
    }
}

/// The days left by `used`, of readings of one card.
fn left(found: &Found, used: &[(bool, UsedAt)]) -> DaysLeft {
    let not_known = |basis| DaysLeft { basis, ..DaysLeft::default() };
    let readings = &found.readings;
    let cards: HashSet<&str> = readings.iter().filter_map(|it| it.card.as_deref()).collect();
    if cards.len() > 1 {
        return not_known(DaysBasis::SeveralDevices);
    }
    if readings.iter().all(|it| it.reading.values.is_empty()) {
        return not_known(DaysBasis::NothingRead);
    }
    let left = days_left(&on_one_clock(used));
    let is_open = left.estimate.is_none() && left.low.is_none();
    if is_open && readings.len() > 1 && readings.iter().all(|it| it.time.is_none()) {
        return not_known(DaysBasis::Undated);
    }
    left
}

/// Those of `used` that have a date, or the last of those that have none.
fn on_one_clock(used: &[(bool, UsedAt)]) -> Vec<UsedAt> {
    let dated: Vec<UsedAt> =
        used.iter().filter(|(is_dated, _)| *is_dated).map(|(_, used)| *used).collect();
    if dated.is_empty() { used.last().map(|(_, used)| *used).into_iter().collect() } else { dated }
}

/// The used life that a reading tells, of several kinds of memory that of the most worn; `None` where it tells
/// none.
fn life_used(sourced: &Sourced) -> Option<UsedAt> {
    // Without a date it still tells whether the life is over.
    let day = sourced.time.map_or(0.0, |time| time.as_second() as f64 / 86_400.0);
    let all = sourced.reading.values.iter().filter_map(|value| UsedAt::from_value(value, day));
    all.max_by(|one, other| one.low_percent.total_cmp(&other.low_percent))
}

/// What could not be read, and why.
fn unknown(found: &Found) -> Vec<String> {
    let unread = found
        .readings
        .iter()
        .filter_map(|sourced| Some(format!("{}: {}", sourced.source, sourced.unread.as_ref()?)));
    found.unknown.iter().cloned().chain(unread).collect()
}

/// What the host wrote in a day between the first and the last reading that count it.
fn bytes_per_day(readings: &[Sourced]) -> Option<Bytes> {
    let counted = |sourced: &Sourced| {
        let mut values = sourced.reading.values.iter();
        let bytes = values.find(|value| value.unit == Unit::BytesWritten)?.value;
        Some((sourced.reading.time_s?, bytes))
    };
    let all: Vec<(f64, f64)> = readings.iter().filter_map(counted).collect();
    let ((from, first), (to, last)) = (all.first()?, all.last()?);
    let days = (to - from) / 86_400.0;
    (days > 0.0 && last >= first).then(|| Bytes(((last - first) / days) as u64))
}

fn value(judged: &Judged) -> HealthValue {
    let is_life =
        matches!(judged.value.unit, Unit::PercentUsed | Unit::RatedLifeUsed | Unit::PercentLeft);
    let (low, high) = judged.value.bounds();
    let is_bounded = is_life && judged.reason.is_none();
    HealthValue {
        low: is_bounded.then_some(low),
        high: high.filter(|_| is_bounded),
        beyond_life: judged.reason.is_none() && judged.value.is_beyond_life(),
        name: judged.value.name.to_owned(),
        value: if judged.value.value.is_finite() { judged.value.value } else { 0.0 },
        unit: judged.value.unit.name().to_owned(),
        plausible: judged.reason.is_none(),
        reason: judged.reason.as_ref().map(implausible),
    }
}

fn outlook(left: &DaysLeft, bytes_per_day: Option<Bytes>) -> WearOutlook {
    let round = |days: f64| (days * 10.0).round() / 10.0;
    WearOutlook {
        bytes_per_day,
        percent_per_day_low: left.percent_a_day.map(|(low, _)| low),
        percent_per_day_high: left.percent_a_day.map(|(_, high)| high),
        days_left: DaysLeftInterval {
            estimate: left.estimate.map(round),
            low: left.low.map(round),
            high: left.high.map(round),
        },
        reason: days_basis(left.basis).to_owned(),
    }
}
