//! What a test excludes that found nothing wrong: for which missing addresses, behind which hidden
//! store.
//!
//! The filler lies at the end of the addresses and in pieces at random places before it, and a place
//! of each piece, chosen at random, is read once all is written. A card holds a place rightly by the
//! flash of its address or by its store. Of any set of missing addresses with the share f, so many
//! bytes were written as the pieces in it have, f of all but for chance; if the store holds fewer of
//! them than nearly all, one of the places read is wrong. That holds for any set that does not depend
//! on where this test writes, and for any way in which the store chooses what it keeps.

use super::observation::{Evidence, Observation, Spread};

/// One chance in a hundred to miss is left: ln 100.
const LN_MISSED: f64 = 4.605_170_185_988_091;

/// As many standard deviations below the mean are met in all but one case of a hundred.
const DEVIATIONS: f64 = 2.326;

/// The share of missing addresses to which the one figure for scripts belongs.
pub(super) const SHARE_LEAST: f64 = 0.1;

/// Which addresses are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MissingPart {
    /// Any of them, in any arrangement.
    Anywhere,
    /// The last ones.
    End,
}

/// A fake that would have been found, with [`CONFIDENCE`](super::CONFIDENCE).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exclusion {
    /// The least share of missing addresses, 0 to 1.
    pub missing_share: f64,
    /// Which addresses are missing.
    pub part: MissingPart,
    /// With a hidden store of at most so many bytes.
    pub store_bytes: u64,
}

/// What was written and read of the filler.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tested {
    announced: u64,
    is_full: bool,
    is_cut_short: bool,
    /// Which addresses are the last is not known.
    is_unordered: bool,
    /// The filler at the end, between the random places and their reading.
    end: u64,
    spread: Spread,
    /// Places that were read: chosen at random before the filler, and others.
    random: u64,
    others: u64,
}

impl Tested {
    pub(super) fn new(evidence: &Evidence) -> Self {
        let all = evidence.observations.len() as u64;
        let random = evidence.observations.iter().filter(|place| place.is_random).count() as u64;
        Self {
            announced: evidence.announced_bytes,
            is_full: evidence.is_full,
            is_cut_short: evidence.is_cut_short,
            is_unordered: evidence.is_unordered,
            end: end_bytes(evidence),
            spread: evidence.spread,
            random,
            others: all - random,
        }
    }

    /// The fakes that are excluded, if nothing is wrong.
    pub(super) fn exclusions(&self) -> Vec<Exclusion> {
        let wanted = [
            (SHARE_LEAST, MissingPart::Anywhere),
            (0.5, MissingPart::Anywhere),
            (0.5, MissingPart::End),
        ];
        let of = |(missing_share, part)| Exclusion {
            missing_share,
            part,
            store_bytes: self.excluded_store(missing_share, part),
        };
        let is_known = |part| part == MissingPart::Anywhere || !self.is_unordered;
        let known = wanted.into_iter().filter(|&(_, part)| is_known(part));
        known.map(of).filter(|exclusion| exclusion.store_bytes > 0).collect()
    }

    /// The largest hidden store that would have been seen if `share` of the addresses were missing.
    pub(super) fn excluded_store(&self, share: f64, part: MissingPart) -> u64 {
        if self.is_cut_short {
            return 0;
        }
        let missing = share * self.announced as f64;
        if self.is_unordered && part == MissingPart::End {
            // The last addresses may be any of those that are numbered.
            return self.excluded_store(share, MissingPart::Anywhere);
        }
        if self.is_full {
            return missing as u64;
        }
        let end = self.end as f64;
        let before_end = self.announced as f64 - end;
        let pieces = self.spread.pieces as f64;
        let of_piece = self.spread.bytes as f64 / pieces.max(1.0);
        let (written, read) = match part {
            MissingPart::Anywhere => {
                let deviation = (share * (1.0 - share) / pieces.max(1.0)).sqrt();
                let met = ((share - DEVIATIONS * deviation) * pieces).max(0.0);
                (met * of_piece, met)
            }
            MissingPart::End => {
                let at_end = end.min(missing);
                let met = (missing - at_end) / before_end.max(1.0) * pieces;
                // One may lie on the edge.
                let met = (met - 1.0).max(0.0);
                (at_end + met * of_piece, at_end / PART + met)
            }
        };
        let kept = (1.0 - LN_MISSED / read.max(LN_MISSED)).max(0.0);
        (written * kept) as u64
    }

    /// The largest real size that would have been seen if addresses shared their places without a rule:
    /// one of the places read would hold what was written to another address later.
    pub(super) fn excluded_sharing(&self) -> u64 {
        if self.is_cut_short {
            return 0;
        }
        if self.is_full {
            return self.announced / 2;
        }
        let written = (self.end + self.spread.bytes) as f64;
        // All of the filler was written after the random places, half of it after one of its own.
        let met = (self.random as f64 + self.others as f64 / 2.0) * written;
        if met < 1.0 {
            return 0;
        }
        // A place is overwritten with the chance written × (1 / real - 1 / announced).
        let real = 1.0 / (LN_MISSED / met + 1.0 / self.announced.max(1) as f64);
        (real as u64).min(self.announced / 2)
    }
}

/// A place of the filler at the end is read for so many bytes of it.
const PART: f64 = (1 << 20) as f64;

/// The filler at the end, as far as it was written after all places chosen at random and before they
/// were read.
fn end_bytes(evidence: &Evidence) -> u64 {
    let start = evidence.announced_bytes.saturating_sub(evidence.filler_bytes);
    let writes = evidence.writes.reaching(start);
    let between =
        |place: &Observation| writes.beyond(start, place.written_at_bytes, place.read_at_bytes);
    let random = evidence.observations.iter().filter(|place| place.is_random);
    random.map(between).min().unwrap_or(0).min(evidence.filler_bytes)
}

#[cfg(test)]
mod tests {
    use super::super::observation::{Found, Writes};
    use super::*;

    const MIB: u64 = 1 << 20;

    /// A test of 64 GiB with 512 MiB at the end and so many pieces of 1 MiB.
    fn evidence(pieces: u64) -> Evidence {
        let announced_bytes = 64 << 30;
        let mut writes = Writes::default();
        writes.note(0, 512);
        writes.note(announced_bytes - 512 * MIB, 512 * MIB);
        (0..pieces).for_each(|piece| writes.note(piece * 40 * MIB + 4096, MIB));
        let place = Observation {
            offset_bytes: 0,
            length_bytes: 512,
            written_at_bytes: 512,
            read_at_bytes: writes.total_bytes(),
            found: Found::Right,
            right_prefix_bytes: 512,
            live_prefix_bytes: 512,
            transient_errors: 0,
            is_random: true,
        };
        Evidence {
            announced_bytes,
            writes,
            observations: vec![place; 1024],
            filler_bytes: 512 * MIB,
            spread: Spread { pieces, bytes: pieces * MIB },
            ..Evidence::default()
        }
    }

    #[test]
    fn filler_at_the_end_excludes_nothing_elsewhere() {
        let end_alone = evidence(0);
        let at_end = Tested::new(&end_alone).excluded_store(0.1, MissingPart::End) / MIB;
        assert!((500..=512).contains(&at_end), "{at_end}");
        assert_eq!(Tested::new(&end_alone).excluded_store(0.5, MissingPart::Anywhere), 0);
    }

    #[test]
    fn of_the_last_addresses_nothing_is_said_where_they_are_not_known() {
        let unordered = Evidence { is_unordered: true, ..evidence(1024) };
        let tested = Tested::new(&unordered);
        let is_anywhere = |it: &Exclusion| it.part == MissingPart::Anywhere;
        assert_eq!(tested.exclusions().len(), 2);
        assert!(tested.exclusions().iter().all(is_anywhere));
        let anywhere = tested.excluded_store(0.5, MissingPart::Anywhere);
        assert_eq!(tested.excluded_store(0.5, MissingPart::End), anywhere);
    }

    #[test]
    fn pieces_exclude_by_the_share_that_is_missing() {
        let spread = evidence(1024);
        let mib = |share, part| Tested::new(&spread).excluded_store(share, part) / MIB;
        assert!((70..=100).contains(&mib(0.1, MissingPart::Anywhere)));
        assert!((455..=512).contains(&mib(0.5, MissingPart::Anywhere)));
        assert!((1000..=1024).contains(&mib(0.5, MissingPart::End)));
        assert_eq!(mib(0.004, MissingPart::Anywhere), 0, "chance may spare a small part");
        let cut = Evidence { is_cut_short: true, ..spread };
        assert_eq!(Tested::new(&cut).exclusions(), [], "nothing was shown");
    }

    #[test]
    fn a_large_device_may_share_addresses_unseen() {
        let small = Tested::new(&evidence(1024)).excluded_sharing();
        assert_eq!(small, 32 << 30, "two addresses a place are the least");
        let large = Evidence { announced_bytes: 4 << 40, ..evidence(1024) };
        assert!(Tested::new(&large).excluded_sharing() < 2 << 40);
    }
}
