//! What a test of the capacity means: genuine, fake, damaged, suspicious or undecided.
//!
//! A record keeps what was written and what came back; the verdict follows from that, so that an old
//! record is judged by the present rules.

mod elsewhere;
mod files;
mod inference;
mod places;
mod reason;

use cardproof_evidence::capacity::{Exclusion, Finding, Verdict};
use cardproof_record::{CapacityBounds, CapacityTest, CapacityVerdict, Record, State, TargetKind};
use cardproof_units::Bytes;

use inference::finding;

pub use places::capacity_place;
pub use reason::CapacityReason;

/// The probability of damage where stretches stay unreadable.
const UNREADABLE: f64 = 0.99;

/// From this share up what was tested stands for all: of the file system by files, of the device by free space.
const COVERED: f64 = 0.9;

/// From this share of the device up free space that keeps its data makes it genuine as far as tested. A choice: a fake
/// that holds more than was tested passes, where its addresses start again beyond that. Users of f3 have met fakes that
/// held 6, 12 and 39 % of what they announced (issues 258, 52 and 281 of AltraMayor/f3). Less is enough where reading
/// places elsewhere excludes such a fake.
const STANDS_FROM: f64 = 0.25;

/// A test in free space leaves a tenth of it to other programs, or less.
const SPACE_TESTED: f64 = 0.9;

/// Where reading places elsewhere excludes every device that really holds up to this share of what it announces, the
/// free space stands for the device however small it is. A choice: no fake of a larger share is known, and what a test
/// leaves free, a tenth, mostly lies at the end.
const EXCLUDED_TO: f64 = 0.8;

/// The verdict on a capacity, and what supports it.
#[derive(Clone, Debug, PartialEq)]
pub struct Capacity {
    /// The verdict.
    pub verdict: CapacityVerdict,
    /// The kind of card, such as `wrap`; `unknown` where none was determined.
    pub kind: &'static str,
    /// The probability of the verdict, 0 to 1.
    pub probability: f64,
    /// What the device announces.
    pub announced: Bytes,
    /// Whether a file was tested in place of a device: it has no capacity of its own.
    pub is_file: bool,
    /// How much of it was tested, where that was free space of a file system alone.
    pub free_space: Option<Bytes>,
    /// How much was free then; absent where that is not known.
    pub free_before: Option<Bytes>,
    /// How much it really holds: at least, and at most.
    pub real_size: (Bytes, Bytes),
    /// Whether everything from the first address to the least real size keeps data.
    pub holds_front: bool,
    /// A hidden store of up to this size would have been found, if a tenth of the addresses or more were
    /// missing, in any arrangement.
    pub excluded_store: Bytes,
    /// The fakes that would have been found.
    pub exclusions: Vec<Exclusion>,
    /// Addresses that share their places without a rule would have been found up to this real size.
    pub excluded_sharing: Bytes,
    /// A larger share of bad blocks, 0 to 1, would have been found.
    pub excluded_share: f64,
    /// Whether every byte of what was tested was to be written and read.
    pub is_full: bool,
    /// Whether nothing was written, so that nothing could be shown.
    pub is_only_read: bool,
    /// Whether what was tested is sound, but too small a part of the device for a verdict.
    pub is_too_small: bool,
    /// Why, the most important first.
    pub reasons: Vec<CapacityReason>,
    /// Places that do not keep data, as (start, end) in bytes; at most 64.
    pub damaged_ranges: Vec<(u64, u64)>,
}

/// The verdict on the capacity of the device of `record`; `None` where it was not tested.
#[must_use]
pub fn capacity(record: &Record) -> Option<Capacity> {
    let test = record.capacity()?;
    let announced = record.conditions.target.size_bytes;
    let judged = match (&test.files, finding(test)) {
        (Some(files), _) => files::judged(announced, record.conditions.device.size_bytes, files),
        (None, Some(finding)) => {
            // Every place was lost, as on a fake, and none shows that the device keeps anything.
            let keeps_nothing = finding.kind.is_fake() || finding.size.low == 0;
            let may_be_fake = finding.verdict == Verdict::Damaged && keeps_nothing;
            elsewhere::judged(with_cover(of_finding(announced, finding), test, may_be_fake), test)
        }
        (None, None) => of_reading(announced, test, &record.state),
    };
    let found = Capacity { is_full: test.is_full, ..judged };
    let found = with_origin(with_untested(with_reconnection(found, test), test), test);
    Some(Capacity { is_file: is_file(record), ..with_surface(found, test) })
}

/// How much more space must be free for a verdict on a device of `announced` bytes, of which `tested` were tested: up
/// to whole GiB, or MiB where it is less than one.
pub(crate) fn space_lacking(tested: Bytes, announced: Bytes) -> Bytes {
    let lacking = (STANDS_FROM * announced.as_f64() - tested.as_f64()).max(0.0) / SPACE_TESTED;
    let lacking = lacking.ceil() as u64;
    let unit = if lacking < Bytes::gib(1).get() { Bytes::mib(1) } else { Bytes::gib(1) };
    Bytes(lacking.next_multiple_of(unit.get()))
}

/// Whether `record` is of a file that was named, and not of a device or its free space.
fn is_file(record: &Record) -> bool {
    record.conditions.target.kind == TargetKind::File
}

impl Capacity {
    /// Nothing is known of a device that announces so much.
    const fn unknown(announced: Bytes) -> Self {
        Self {
            verdict: CapacityVerdict::Undecided,
            kind: "unknown",
            probability: 0.0,
            announced,
            is_file: false,
            free_space: None,
            free_before: None,
            real_size: (Bytes::ZERO, announced),
            holds_front: true,
            excluded_store: Bytes::ZERO,
            exclusions: Vec::new(),
            excluded_sharing: Bytes::ZERO,
            excluded_share: 1.0,
            is_full: false,
            is_only_read: false,
            is_too_small: false,
            reasons: Vec::new(),
            damaged_ranges: Vec::new(),
        }
    }

    /// What a test has found of which the verdict alone is known: a device that announces `announced` holds
    /// `real_size`.
    #[must_use]
    pub fn of_verdict(
        verdict: CapacityVerdict,
        announced: Bytes,
        real_size: CapacityBounds,
    ) -> Self {
        let CapacityBounds { low, high } = real_size;
        // A sound test shows as much as it covers.
        let is_part = verdict == CapacityVerdict::Genuine && low < announced;
        let free_space = is_part.then_some(low);
        Self { verdict, real_size: (low, high), free_space, ..Self::unknown(announced) }
    }

    /// The device of `record`, whose test could not be done.
    #[must_use]
    pub fn not_tested(record: &Record) -> Self {
        Self {
            reasons: vec![CapacityReason::NotDone],
            is_file: is_file(record),
            ..Self::unknown(record.conditions.target.size_bytes)
        }
    }

    /// Whether all that was tested keeps its data, as much as that is.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        match self.verdict {
            CapacityVerdict::Undecided => self.is_too_small,
            verdict => verdict == CapacityVerdict::Genuine,
        }
    }

    /// How much was tested, where that is too little to stand for all of the device.
    pub(crate) fn part_tested(&self) -> Option<Bytes> {
        self.free_space.filter(|tested| tested.as_f64() < COVERED * self.announced.as_f64())
    }
}

fn of_finding(announced: Bytes, finding: Finding) -> Capacity {
    let verdict = match finding.verdict {
        Verdict::Genuine => CapacityVerdict::Genuine,
        Verdict::Fake => CapacityVerdict::Fake,
        Verdict::Damaged => CapacityVerdict::Damaged,
        Verdict::Undecided => CapacityVerdict::Undecided,
    };
    Capacity {
        verdict,
        kind: finding.kind.name(),
        probability: finding.probability.clamp(0.0, 1.0),
        real_size: (Bytes(finding.size.low), Bytes(finding.size.high)),
        holds_front: finding.kind.holds_front(),
        excluded_store: Bytes(finding.excluded_store_bytes),
        exclusions: finding.exclusions,
        excluded_sharing: Bytes(finding.excluded_sharing_bytes),
        excluded_share: finding.excluded_bad_share,
        reasons: finding.reasons.into_iter().map(CapacityReason::Stated).collect(),
        damaged_ranges: finding.damaged_ranges,
        ..Capacity::unknown(announced)
    }
}

/// From this share of the announced capacity on, an upper bound that stands alone tells nothing.
const TELLS_NOTHING: f64 = 0.99;

/// `found` for the device, of which the test has seen the free space alone. Its addresses are those of the
/// free space, joined.
fn with_cover(mut found: Capacity, test: &CapacityTest, may_be_fake: bool) -> Capacity {
    let Some(cover) = test.cover else { return found };
    let tested = test.announced_bytes;
    let announced = cover.device_bytes.unwrap_or(cover.filesystem_bytes).max(tested);
    let (low, high) = match (cover.is_by_allocation, found.kind) {
        (false, _) => found.real_size,
        // A distance between two bytes of the device is not known where their places are not.
        (true, "wrap" | "chained") => (Bytes::ZERO, tested),
        // What keeps data may share its places with what was not tested; what loses data is missing.
        (true, _) => (Bytes::ZERO, found.real_size.1),
    };
    let outside = announced - tested;
    let is_order_unknown = cover.is_by_allocation;
    let is_part = tested.as_f64() < COVERED * announced.as_f64();
    let stretch = if found.verdict == CapacityVerdict::Genuine && is_part {
        // The headline says how much was tested.
        CapacityReason::PartTested { is_order_unknown }
    } else {
        CapacityReason::Covered { tested, free: cover.free_bytes, announced, is_order_unknown }
    };
    found.reasons.insert(0, stretch);
    let excluded = elsewhere::excluded(test).as_f64();
    if found.verdict == CapacityVerdict::Genuine
        && tested.as_f64() < STANDS_FROM * announced.as_f64()
        && excluded < EXCLUDED_TO * announced.as_f64()
    {
        found.verdict = CapacityVerdict::Undecided;
        found.is_too_small = true;
        found.reasons.insert(0, CapacityReason::LargerFakePasses { tested });
    }
    if may_be_fake {
        found.reasons.push(CapacityReason::FakeBeyondLooksSame);
    }
    found.free_space = Some(tested);
    found.free_before = cover.free_bytes;
    let is_all = found.verdict == CapacityVerdict::Genuine && found.part_tested().is_none();
    let most = (high + outside).min(announced);
    let tells_nothing = low == Bytes::ZERO && most.as_f64() > TELLS_NOTHING * announced.as_f64();
    Capacity {
        announced,
        real_size: (low, if is_all || tells_nothing { announced } else { most }),
        holds_front: false,
        // They are no addresses of the device.
        damaged_ranges: Vec::new(),
        ..found
    }
}

/// A test that wrote nothing.
fn of_reading(announced: Bytes, test: &CapacityTest, state: &State) -> Capacity {
    if !test.signs.is_empty() {
        let reasons = test.signs.iter().cloned().map(CapacityReason::Stated).collect();
        return Capacity {
            verdict: CapacityVerdict::Suspicious,
            reasons,
            ..Capacity::unknown(announced)
        };
    }
    let reason = match state {
        State::Failed => CapacityReason::NotDone,
        _ => CapacityReason::NothingSuspicious,
    };
    let is_only_read = *state != State::Failed;
    Capacity { reasons: vec![reason], is_only_read, ..Capacity::unknown(announced) }
}

/// `found`, unless it is that the capacity is real and the reads may have come from memory: what was written
/// comes back from there whatever the device has kept.
fn with_origin(mut found: Capacity, test: &CapacityTest) -> Capacity {
    let Some(origin) = test.origin.filter(|origin| !origin.is_shown()) else { return found };
    if found.verdict != CapacityVerdict::Genuine {
        return found;
    }
    found.reasons.insert(0, CapacityReason::Origin(origin));
    let real_size = (Bytes::ZERO, found.announced);
    Capacity { reasons: found.reasons, real_size, ..Capacity::unknown(found.announced) }
}

/// `found` with what reading everything has shown.
fn with_reconnection(mut found: Capacity, test: &CapacityTest) -> Capacity {
    if test.is_reconnected {
        found.reasons.push(CapacityReason::Reconnected);
    }
    found
}

/// `found` with what could not be tested.
fn with_untested(mut found: Capacity, test: &CapacityTest) -> Capacity {
    if test.untested_bytes == Bytes::ZERO {
        return found;
    }
    found.reasons.push(CapacityReason::Untested(test.untested_bytes));
    // A surface that was read tells of the same places.
    if test.surface_bytes == Bytes::ZERO { unreadable_too(found, test) } else { found }
}

/// `found` with the places that stay unreadable, which are damage.
fn unreadable_too(mut found: Capacity, test: &CapacityTest) -> Capacity {
    let ranges =
        test.unreadable.iter().map(|[start, length]| (start.get(), start.get() + length.get()));
    found.damaged_ranges.extend(ranges);
    found.damaged_ranges.sort_unstable();
    if found.verdict != CapacityVerdict::Fake {
        let (verdict, kind) = (CapacityVerdict::Damaged, "damaged");
        found = Capacity { verdict, kind, probability: UNREADABLE, ..found };
    }
    found
}

fn with_surface(mut found: Capacity, test: &CapacityTest) -> Capacity {
    if test.surface_bytes == Bytes::ZERO {
        return found;
    }
    let unreadable: Bytes = test.unreadable.iter().map(|[_, length]| *length).sum();
    if unreadable == Bytes::ZERO {
        found.reasons.push(CapacityReason::SurfaceSound(test.surface_bytes));
        return found;
    }
    found.reasons.push(CapacityReason::SurfaceUnreadable { unreadable, of: test.surface_bytes });
    unreadable_too(found, test)
}

#[cfg(test)]
mod tests;
