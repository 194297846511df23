//! `cardproof diagnose`: is the card what makes this computer slow?
//!
//! It watches for half a minute, looks at identity, bus, heat and power, and at the last record of the
//! storage. It only reads; nothing is measured and nothing is written.

use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use cardproof_device::identify::{Identity, StorageChoice, identify};
use cardproof_device::{Sysroot, TaskWaits};
use cardproof_rating::diagnosis::{self, Known};
use cardproof_rating::limits::{Seen, limits_around};
use cardproof_rating::words::diagnosis::{Diagnosis, DiagnosisDocument, diagnose};
use cardproof_record::{Record, RecordHead};
use cardproof_session::{simulated_card, simulated_name};
use cardproof_units::{Nanos, with_causes};
use clap::Args;

use crate::exit::{Exit, Failure};
use crate::inventory;
use crate::output::{self, Sink};
use crate::signals::Signals;
use crate::talk::{self, Talk};
use crate::target::refuse_no_storage;
use crate::watch::source::Source;

/// How long a window is.
const WINDOW: Duration = Duration::from_secs(2);

/// How often is looked at what programs wait for. A look reads a file of each process.
const WAITS_EVERY: Duration = Duration::from_millis(400);

/// How long a wish to stop may go unnoticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Raspberry Pi's flags of a supply voltage that is too low, now and since the start.
const LOW_VOLTAGE: u32 = 1 | 1 << 16;

/// What to diagnose.
#[derive(Debug, Args)]
pub(crate) struct DiagnoseArgs {
    /// A device, or a directory on it; by default the device that holds the current
    /// directory
    #[arg(value_name = "DEVICE|DIR", default_value = ".", value_parser = crate::target::parser())]
    pub(crate) place: PathBuf,
    /// Observation time, at least 2s. Run the slow program during this time
    #[arg(long, value_name = "TIME", default_value = "30s", allow_negative_numbers = true)]
    pub(crate) time: Nanos,
    /// The answer as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Watches, looks, and answers.
pub(crate) fn run(args: &DiagnoseArgs, signals: &Signals) -> Result<Exit, Failure> {
    args.json.iter().try_for_each(output::check)?;
    if let Some(card) = simulated_name(&args.place) {
        simulated_card(card)?;
        return Err(Failure::usage(
            "diagnose watches this computer, so it cannot use a simulated card; name a device or a directory",
        ));
    }
    refuse_no_storage(&args.place)?;
    let identity = identify(&Sysroot::default(), &StorageChoice::Named(args.place.clone()))
        .map_err(|error| Failure::usage(with_causes(&error)))?;
    if args.time < Nanos::from(WINDOW) {
        return Err(Failure::usage(format!(
            "{} is too short to see anything; give at least {}",
            args.time,
            Nanos::from(WINDOW).in_whole_seconds()
        )));
    }
    let windows = args.time.get() / WINDOW.as_nanos() as u64;
    Talk::new(args.quiet)
        .note(&format!("Watching for {}. Run the slow program now.", args.time.in_whole_seconds()));
    let length = Duration::from_nanos(args.time.get() / windows);
    let name = identity.device.name.as_deref();
    let mut waits = TaskWaits::default();
    let Some(windows) = watch(name, windows, length, &mut waits, signals) else {
        return Ok(signals.exit().unwrap_or(Exit::Interrupted));
    };
    let last = last_record(&identity)?;
    let diagnosis =
        diagnose(&Known { syncs: syncs(&waits), ..known(&identity, windows, last.as_ref()) });
    if let Some(sink) = &args.json {
        let text = serde_json::to_string_pretty(&DiagnosisDocument::new(&diagnosis))
            .map_err(Failure::because("the answer cannot be put into JSON"))?;
        output::write(sink, &(text + "\n"))?;
    }
    if !args.quiet && args.json != Some(Sink::Stdout) {
        output::write(&Sink::Stdout, &cardproof_report::wrapped(&text(&diagnosis), talk::width()))?;
    }
    Ok(Exit::Done)
}

/// What limited in each of `count` windows of `length`, for somebody who asks about the device `name`; `None`
/// where a signal came first. What programs wait for is added to `all`.
fn watch(
    name: Option<&str>,
    count: u64,
    length: Duration,
    all: &mut TaskWaits,
    signals: &Signals,
) -> Option<Vec<Seen>> {
    let mut source = Source::around(name);
    let mut windows = Vec::new();
    for _ in 0..count {
        let waits = wait(length, all, signals)?;
        let activity = source.activity();
        let asked = name.map_or_else(Vec::new, |name| source.resting_on(name));
        let seen = limits_around(&activity, &asked, &|name| source.ceiling(name));
        windows.push(waits.correct(seen));
    }
    Some(windows)
}

/// Waits for `length`, and looks meanwhile at what programs wait for; `None` where a signal came first.
fn wait(length: Duration, all: &mut TaskWaits, signals: &Signals) -> Option<diagnosis::TaskWaits> {
    let root = Sysroot::default();
    let mut waits = TaskWaits::default();
    let begin = Instant::now();
    let end = begin + length;
    while let Some(left) = end.checked_duration_since(Instant::now()) {
        if signals.stop().load(Ordering::Relaxed) {
            return None;
        }
        if begin.elapsed() >= WAITS_EVERY * u32::try_from(waits.looks).unwrap_or(u32::MAX) {
            waits.look(&root);
        }
        thread::sleep(left.min(LOOK_EVERY));
    }
    all.looks += waits.looks;
    for (program, looks) in waits.syncs {
        *all.syncs.entry(program).or_default() += looks;
    }
    Some(diagnosis::TaskWaits { storage: waits.storage, network: waits.network })
}

/// In which share of the looks each program waited for its writes to be kept.
fn syncs(waits: &TaskWaits) -> Vec<(String, f64)> {
    let share = |looks: u64| (looks as f64 / waits.looks.max(1) as f64).min(1.0);
    waits.syncs.iter().map(|(program, looks)| (program.clone(), share(*looks))).collect()
}

fn known<'r>(identity: &Identity, windows: Vec<Seen>, last: Option<&'r Record>) -> Known<'r> {
    let power = &identity.power;
    let usb = identity.usb.iter().flat_map(|usb| &usb.troubles);
    Known {
        windows,
        had_low_voltage: power.is_under_voltage == Some(true)
            || power.throttled_flags.is_some_and(|flags| flags & LOW_VOLTAGE != 0),
        troubles: power.troubles.iter().chain(usb).cloned().collect(),
        last,
        device: identity.device.name.clone(),
        ..Known::default()
    }
}

/// The youngest kept record of a storage of the same model and size.
fn last_record(identity: &Identity) -> Result<Option<Record>, Failure> {
    let device = &identity.device;
    if device.model.is_none() {
        return Ok(None);
    }
    let is_same = |head: &RecordHead| {
        let known = &head.conditions.device;
        known.model == device.model && known.size_bytes == device.size_bytes
    };
    let records = inventory::kept(is_same)?.into_iter().map(|(_, record)| record);
    Ok(records.max_by(|a, b| a.created.cmp(&b.created)))
}

fn text(diagnosis: &Diagnosis) -> String {
    let mut text = format!("Is it the card? {}\n", diagnosis.answer);
    for (heading, lines) in [("Why", &diagnosis.reasons), ("Next", &diagnosis.steps)] {
        if !lines.is_empty() {
            text.push_str(&format!("\n{heading}\n"));
            text.extend(lines.iter().map(|line| format!("  - {line}\n")));
        }
    }
    text
}
