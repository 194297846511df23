//! One device under the test of the capacity, and whether what was said of it is right.
//!
//! Whoever makes a device brings a [`Target`] and its [`Truth`]; nothing here knows how the device
//! works. So devices of several makers, who need not know of each other or of the inference, are
//! judged by one rule.

use anyhow::Result;
use cardproof_evidence::capacity::{Exclusion, Finding, MissingPart, Verdict};
use cardproof_io::Target;
use cardproof_probe::capacity::{Plan, Progress, Wish, run, shorthand};
use cardproof_sim::Shorthand;
use cardproof_units::{Bytes, Seed};

/// What the user asks to be excluded. Less than the default, so that ten thousand cards take minutes;
/// the answers of the default differ in the store that they exclude.
pub(in crate::prove) const WISH: Wish =
    Wish { store: Some(Bytes::mib(160)), bad_share: None, is_full: false, full_below: None };

/// Every sector that a proof writes is a whole test sector, so that its head says all.
pub(in crate::prove) const SHORTHAND: Shorthand = Shorthand {
    shorten: shorthand::shorten_head,
    expand: shorthand::expand,
    further: shorthand::further,
};

/// What a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prove) enum Truth {
    /// It holds what it announces; a transient error changes nothing of that.
    Genuine,
    /// It holds what it announces, but places of it do not keep data.
    Damaged,
    /// It announces more than it holds.
    Fake(Lie),
}

/// How a fake lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prove) struct Lie {
    /// The size that it announces.
    pub(in crate::prove) announced: Bytes,
    /// How much it holds, without its hidden store.
    pub(in crate::prove) real: Bytes,
    /// The most that its hidden store holds.
    pub(in crate::prove) store: Bytes,
}

/// What the test said of a device.
#[derive(Clone, Debug)]
pub(in crate::prove) struct Judged {
    /// What the evidence says.
    pub(in crate::prove) finding: Finding,
    /// How much was written.
    pub(in crate::prove) written: Bytes,
}

/// Whether what was said is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::prove) enum Mark {
    /// The truth was said.
    Right,
    /// A genuine or damaged device was called a fake, or a fake was called genuine although what was
    /// said excludes it.
    Wrong,
    /// A fake that is excluded was called damaged.
    Damaged,
    /// A fake passed, with a store above the excluded one.
    Above,
    /// Nothing was decided.
    Undecided,
}

/// Tests the capacity of `target` as `cardproof verify` does; `seed` decides the places.
///
/// # Errors
/// The device is too small, or it vanished.
pub(in crate::prove) fn judge(target: &mut dyn Target, seed: Seed) -> Result<Judged> {
    let plan = Plan::new(target.abilities().size, target.abilities().logical_block, WISH, seed)?;
    let outcome = run(target, &plan, &mut |_: &Progress| true)?;
    Ok(Judged { finding: outcome.finding, written: outcome.bytes_written })
}

impl Truth {
    /// Whether `finding` says this.
    pub(in crate::prove) fn mark(&self, finding: &Finding) -> Mark {
        match (self, finding.verdict) {
            (Self::Genuine, Verdict::Genuine)
            | (Self::Damaged, Verdict::Damaged)
            | (Self::Fake(_), Verdict::Fake) => Mark::Right,
            (_, Verdict::Undecided) => Mark::Undecided,
            // A damaged fake whose store hides what it lacks looks like a damaged card.
            (Self::Fake(lie), Verdict::Genuine | Verdict::Damaged) if lie.is_above(finding) => {
                Mark::Above
            }
            (Self::Fake(_), Verdict::Damaged) => Mark::Damaged,
            _ => Mark::Wrong,
        }
    }
}

impl Lie {
    /// Whether the store is larger than what `finding` excludes for so much missing capacity.
    pub(in crate::prove) fn is_above(&self, finding: &Finding) -> bool {
        let missing = 1.0 - self.real.as_f64() / self.announced.as_f64().max(1.0);
        let covers = |exclusion: &Exclusion| {
            exclusion.part == MissingPart::Anywhere
                && exclusion.missing_share <= missing
                && self.store.get() <= exclusion.store_bytes
        };
        !finding.exclusions.iter().any(covers)
    }

    /// Whether the real size is within the bounds of `finding`.
    pub(in crate::prove) const fn is_within(&self, finding: &Finding) -> bool {
        let real = self.real.get();
        finding.size.low <= real && real <= finding.size.high
    }
}
