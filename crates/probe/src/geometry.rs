//! What has to be timed so that the geometry of a card's flash can be inferred.
//!
//! Reading alone shows steps over boundaries and the reach of the map. Where writing is allowed, a
//! long stretch is written first: it shows the ends of units and the end of a fast cache, and fills
//! what is read later, because what was never written reads differently. Then places far apart are
//! written in turn, in order and at random; the same places again in many sizes; and the front of a
//! whole device.
//!
//! What this refuses to do: it concludes nothing (that is `cardproof_evidence::geometry`, which it
//! asks only where a later step needs to know an earlier one's outcome), it writes no more than its
//! [`Plan`] announces, and it saves nothing that it overwrites.

mod bench;
mod boundaries;
mod places;
mod plan;
mod rewrites;
mod spans;
mod sweeps;

use cardproof_evidence::geometry::{Geometry, Observations, infer};
use cardproof_io::Target;
use cardproof_units::{Bytes, Nanos};

use bench::Bench;
pub use bench::{ProbeError, Watch};
pub use plan::{Plan, Scope};

/// What was timed, and what it cost.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was timed.
    pub observations: Observations,
    /// What it shows.
    pub geometry: Geometry,
    /// All bytes written.
    pub bytes_written: Bytes,
    /// All bytes read.
    pub bytes_read: Bytes,
    /// How long it took, on the target's clock.
    pub duration: Nanos,
    /// Whether it was ended before its time.
    pub is_partial: bool,
}

/// A part of the probe, for those who follow it.
const STEPS: [&str; 7] = [
    "testing sequential writes",
    "testing reads across boundaries",
    "testing sequential writes to several units",
    "testing random writes to several units",
    "testing repeated writes",
    "testing writes at the start",
    "testing reads in growing ranges",
];

/// Times what `plan` allows on `target`; `watch` hears of each step and may end it.
///
/// # Errors
/// The engine failed or the device vanished. A device that fails to read or write is no error.
pub fn run(
    target: &mut dyn Target,
    plan: &Plan,
    watch: &mut dyn Watch,
) -> Result<Outcome, ProbeError> {
    let mut bench = Bench::new(target, plan, watch)?;
    let started = bench.now();
    let mut observations = Observations {
        reported_unit: plan.scope.reported_unit,
        not_measured: (!plan.writes()).then(|| why_nothing_is_written(plan)),
        ..Observations::default()
    };
    let ended = steps(&mut bench, plan, &mut observations);
    let is_partial = match ended {
        Ok(()) => false,
        Err(ProbeError::Stopped) => true,
        Err(error) => return Err(error),
    };
    if is_partial {
        observations.not_measured = Some("the measurement was ended before it".to_owned());
    }
    Ok(Outcome {
        geometry: infer(&observations),
        observations,
        bytes_written: bench.written(),
        bytes_read: bench.read_so_far(),
        duration: bench.now().saturating_sub(started),
        is_partial,
    })
}

fn why_nothing_is_written(plan: &Plan) -> String {
    if plan.is_too_small() {
        let wanted = Plan::range_wanted();
        return format!("the range is too small for writes, which need {wanted}");
    }
    "it needs writes, which were not allowed here".to_owned()
}

/// All steps in their order; what an ended one had seen is kept where it is whole.
fn steps(
    bench: &mut Bench<'_>,
    plan: &Plan,
    observations: &mut Observations,
) -> Result<(), ProbeError> {
    if plan.writes() {
        bench.step(STEPS[0], 0.0)?;
        sweeps::sweeps(bench, plan, observations)?;
    }
    bench.step(STEPS[1], 0.3)?;
    boundaries::passes(bench, plan, observations)?;
    if plan.writes() {
        let unit = infer(observations).allocation_unit.bytes();
        match places::Places::new(plan, unit) {
            Ok(places) => several(bench, plan, &places, observations)?,
            Err(too_small) => {
                observations.not_measured = Some(too_small.to_string());
                observations.needed_range = Some(too_small.needed);
            }
        }
    }
    bench.step(STEPS[6], 0.9)?;
    spans::passes(bench, plan, observations)
}

/// What needs places in several allocation units.
fn several(
    bench: &mut Bench<'_>,
    plan: &Plan,
    places: &places::Places,
    observations: &mut Observations,
) -> Result<(), ProbeError> {
    places.fill(bench)?;
    bench.step(STEPS[2], 0.5)?;
    for _ in 0..places::PASSES {
        observations.linear.extend(places.linear(bench)?);
    }
    bench.step(STEPS[3], 0.6)?;
    for _ in 0..places::PASSES {
        observations.random.extend(places.random(bench)?);
    }
    bench.step(STEPS[4], 0.7)?;
    for _ in 0..places::PASSES {
        observations.sizes.push(rewrites::sizes(bench, places)?);
    }
    for _ in 0..places::PASSES {
        observations.spreads.push(rewrites::spread(bench, places, observations)?);
    }
    bench.step(STEPS[5], 0.85)?;
    observations.first_area = Some(rewrites::first_area(bench, plan, observations)?);
    Ok(())
}
