//! What power cuts say of a device: how often they do harm, with a bound.

use std::collections::BTreeMap;

use cardproof_evidence::powercut::{CONFIDENCE, Kind, interval, upper_bound};
use cardproof_record::{CutHarm, PowerCutTest, Record};
use cardproof_units::Bytes;
use serde::Serialize;

/// The name and version of the document.
pub const POWERCUT_SCHEMA: &str = "cardproof.powercut/1";

/// What power cuts did, for programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Document<'a> {
    /// The name and version of this form.
    pub schema: &'static str,
    /// How a write was made durable: `flush`, `fua`, `fsync`, or the name of an application.
    pub mode: &'a str,
    /// How the power was cut: `simulated`, `command` or `by hand`.
    pub power: &'a str,
    /// The most writes under way at a time.
    pub queue_depth: u16,
    /// How many writes lay between two flushes.
    pub writes_per_flush: u32,
    /// How much of the target was written and read.
    pub area_bytes: Bytes,
    /// All cuts.
    pub cuts: u64,
    /// Cuts with writes in flight, and those that did harm.
    pub effective_cuts: u64,
    /// Effective cuts that did harm of any kind.
    pub harmful_cuts: u64,
    /// For each kind of harm the number of cuts that did it, 0 included.
    pub findings: BTreeMap<&'static str, u64>,
    /// The share of effective cuts that do harm is below this, with the confidence below; 3/n where
    /// none of n did.
    pub bound: f64,
    /// How sure the bound and the interval are.
    pub bound_confidence: f64,
    /// The share of effective cuts that did harm, with its interval; absent without effective cuts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
    /// The harm in detail, of the first cuts that did any.
    pub harm: &'a [CutHarm],
    /// Sectors that two readings after a cut differed in.
    pub unstable_sectors: u64,
    /// The name of the record.
    pub record: &'a str,
}

/// A share with its two-sided interval (Clopper and Pearson).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// What was seen.
    pub estimate: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// What the power cuts in `record` did; `None` where there were none.
#[must_use]
pub fn power_cuts(record: &Record) -> Option<Document<'_>> {
    let test = record.power_cuts()?;
    let count = |kind: &Kind| test.findings.get(kind.name()).copied().unwrap_or(0);
    Some(Document {
        schema: POWERCUT_SCHEMA,
        mode: &test.mode,
        power: &test.power,
        queue_depth: test.queue_depth,
        writes_per_flush: test.writes_per_flush,
        area_bytes: test.area_bytes,
        cuts: test.cuts,
        effective_cuts: test.effective_cuts,
        harmful_cuts: test.harmful_cuts,
        findings: Kind::ALL.iter().map(|kind| (kind.name(), count(kind))).collect(),
        bound: upper_bound(test.harmful_cuts, test.effective_cuts, CONFIDENCE),
        bound_confidence: CONFIDENCE,
        share: share(test),
        harm: &test.harm,
        unstable_sectors: test.unstable_sectors,
        record: &record.id,
    })
}

fn share(test: &PowerCutTest) -> Option<Share> {
    let PowerCutTest { effective_cuts: trials, harmful_cuts: found, .. } = *test;
    let (low, high) = interval(found, trials, CONFIDENCE);
    (trials > 0).then(|| Share { estimate: found as f64 / trials as f64, low, high })
}
