//! The geometry of a card's flash, from timings: allocation unit, page, open units, caches, map.
//!
//! [`infer`] takes [`Observations`] and returns a [`Geometry`]: for each quantity either a
//! [`Claim`] with its probability, or the reason why it cannot be seen. A quantity is claimed only
//! where all repeats agree on one clear change; a disagreement of the repeats is itself the answer.
//! The methods, their sources and how often they are wrong are in `docs/design/geometry.md`.
//!
//! Nothing here measures, and nothing here knows what made the observations: this tool's own probe
//! and a log of flashbench are read alike.

mod boundaries;
mod finding;
mod fit;
mod open_units;
mod page;
mod reach;
mod rewrites;
mod sweep;

pub use boundaries::{BoundaryPass, BoundaryRow};
pub use finding::{Claim, Finding, Geometry, Mapping, Value};
pub use open_units::{Order, UnitsRow, UnitsTable};
pub use reach::{SpanPass, SpanRow};
pub use rewrites::{FirstArea, PlaceRow, SizePass, SizeRow, Spread};
pub use sweep::{Cliff, Recovery, Sweep};

/// Everything that was observed of one card. Empty lists stand for what was not measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    /// Timings of reads over boundaries, one pass a repeat.
    pub boundaries: Vec<BoundaryPass>,
    /// Rates of writing to several places at a time, from front to back.
    pub linear: Vec<UnitsTable>,
    /// The same in random order inside each place.
    pub random: Vec<UnitsTable>,
    /// Times of writing a long stretch from front to back, one sweep a repeat.
    pub sweeps: Vec<Sweep>,
    /// Times of writing the same place again, by size, one pass a repeat.
    pub sizes: Vec<SizePass>,
    /// Times of writing places far apart beside writing from front to back, one a repeat.
    pub spreads: Vec<Spread>,
    /// Times of writing the same place again at the front of the card.
    pub first_area: Option<FirstArea>,
    /// Latencies of reads by span, one pass a repeat.
    pub spans: Vec<SpanPass>,
    /// Fast writing again after a rest.
    pub recoveries: Vec<Recovery>,
    /// What the card's own registers report as its allocation unit, if they do.
    pub reported_unit: Option<cardproof_units::Bytes>,
    /// Why what was not measured was not measured.
    pub not_measured: Option<String>,
    /// How large the test range must be to measure it, where it was too small.
    pub needed_range: Option<cardproof_units::Bytes>,
}

/// What `observations` show of the card's geometry.
#[must_use]
pub fn infer(observations: &Observations) -> Geometry {
    let missing = observations.not_measured.as_deref();
    let read_unit = boundaries::unit(&observations.boundaries, missing);
    let limits = |mapping| {
        let limit = |tables, order| open_units::limit(tables, order, mapping, missing);
        (limit(&observations.linear, Order::Linear), limit(&observations.random, Order::Random))
    };
    let (linear, random) = limits(None);
    let mapping = rewrites::mapping(&observations.spreads, &linear, &random, missing);
    // What is known of the mapping is no more an explanation of what does not show.
    let known = mapping.mapping();
    let (linear, random) = limits(known);
    let write_unit = sweep::unit(&observations.sweeps, known, missing);
    let allocation_unit = boundaries::joined(
        read_unit,
        write_unit,
        (!observations.boundaries.is_empty(), !observations.sweeps.is_empty()),
        observations.reported_unit,
    );
    Geometry {
        page: page::page(&observations.boundaries, allocation_unit.bytes(), missing),
        small_write_threshold: rewrites::threshold(&observations.sizes, known, missing),
        slc_cache: sweep::slc_cache(&observations.sweeps, missing),
        slc_recovery: sweep::slc_recovery(&observations.recoveries, missing),
        map_reach: reach::reach(&observations.spans, missing),
        first_area: rewrites::first_area(observations.first_area.as_ref(), known, missing),
        mapping,
        open_units_linear: linear,
        open_units_random: random,
        allocation_unit,
    }
}
