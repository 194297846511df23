//! The gain of a partition's place, measured on the user's own card.

use cardproof_facts::CONFIDENCE;
use cardproof_probe::layout::Trial;
use cardproof_rating::tuning::{Gain, Layout};
use cardproof_session::{Options, Silent, Span, StorageNeeds, Writing, open_storage, with_causes};
use cardproof_sim::Keeping;
use cardproof_stats::RatioInterval;
use cardproof_units::{Bytes, Seed};

use super::{Known, TuneArgs};
use crate::exit::Failure;
use crate::measuring::{fresh_identity, random_bits};
use crate::signals::Signals;
use crate::talk::Talk;

/// Where old partitioning tools let the first partition begin: sector 63.
const OLD_START: Bytes = Bytes(63 * 512);

/// How much of the target is used, in allocation units.
const UNITS: u64 = 20;

/// Measures the place that the plan gives the partition beside the place it has, or, where it has
/// none, beside the place that old tools gave it.
pub(super) fn of_partition(
    args: &TuneArgs,
    known: &Known,
    signals: &Signals,
) -> Result<Gain, Failure> {
    let seed = match args.seed {
        Some(seed) => seed,
        None => Seed::from_bits(random_bits()?),
    };
    let reported =
        known.conditions.device.card.as_ref().and_then(|card| card.allocation_unit_bytes);
    let size = known.conditions.device.size_bytes.unwrap_or(Bytes::ZERO);
    let Some(layout) = Layout::new(size, known.geometry.as_ref(), reported) else {
        return Ok(not_measured("the target is too small for the plan"));
    };
    let begins = known.partition_start.unwrap_or(OLD_START);
    if begins.is_multiple_of(layout.unit) {
        let unit = layout.unit;
        return Ok(not_measured(&format!("the partition begins at a multiple of {unit} already")));
    }
    let wanted = Bytes(UNITS * layout.unit.get());
    let options = Options {
        target: args.target.clone(),
        size: args.size,
        seed,
        access: (&args.access).into(),
        expect_device: None,
        identity: fresh_identity(None)?,
        records: cardproof_session::Store::of_user(),
        does_without_record: true,
    };
    let needs = StorageNeeds {
        span: Span::new(wanted),
        writing: Writing::Always,
        keeping: Keeping::Nothing,
        power_cuts: false,
        reconnects: false,
        whole_device: false,
    };
    let mut storage = open_storage(&needs, &options, &mut Silent)?;
    // A place inside a directory's file says nothing of the card's units: the file lies anywhere.
    if storage.scratch.is_some() {
        return Ok(not_measured(
            "a file in a directory lies anywhere on the card; name the block device with --destroy",
        ));
    }
    let span = storage.span.min(wanted);
    // The offset within a unit decides.
    let before = Bytes(begins.get() % layout.unit.get()).round_down_to(Bytes(512));
    let trial =
        Trial { before, after: layout.unit, unit: layout.unit, span, pairs: args.pairs, seed };
    if !trial.fits() {
        return Ok(not_measured("too little of the target may be used"));
    }
    Talk::new(args.quiet).note(&format!("Writes {} to the first {span}.", trial.bytes()));
    let stop = signals.stop();
    let is_stopped = || stop.load(std::sync::atomic::Ordering::Relaxed);
    let turns = trial.run(&mut *storage.target, &is_stopped).map_err(|error| {
        Failure::incomplete(format!("the gain was not measured: {}", with_causes(&error)))
    })?;
    let interval = RatioInterval::paired(&turns.before, &turns.after, CONFIDENCE, seed.get());
    Ok(interval.map_or_else(
        || not_measured("the rates have no interval"),
        |RatioInterval { estimate, low, high }| Gain::Measured {
            ratio: estimate,
            low,
            high,
            confidence: CONFIDENCE,
            is_gain: low > 1.0,
            before_start_bytes: begins,
            after_start_bytes: layout.unit,
        },
    ))
}

fn not_measured(reason: &str) -> Gain {
    Gain::NotMeasured { not_measured: reason.to_owned() }
}
