//! The allocation unit from reads over boundaries.
//!
//! A read that lies on both sides of the boundary of two allocation units needs two units; it takes
//! longer than a read on either side (Bergmann's method, 2011). A row holds the extra time at odd
//! multiples of an alignment. If the unit is U, all rows whose alignment is a multiple of U lie on one
//! level and all others on a lower one. That holds for any U, also for one that is no power of two,
//! as long as rows of such alignments are there.
//!
//! A step can come from something that divides the unit, so a step is no proof of the unit that the
//! card reports: both are shown.

use cardproof_units::{Bytes, Nanos};

use super::finding::{Claim, Finding, Value};
use super::fit::{TwoLevels, agreed, two_levels};

/// The extra time of reading over boundaries at one alignment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundaryRow {
    /// The boundaries lie at multiples of this, and at no multiple of a row's larger alignment unless
    /// this divides it.
    pub align: Bytes,
    /// How much longer a read over the boundary takes than the mean of a read before and one after,
    /// in nanoseconds; may be negative.
    pub extra_ns: f64,
    /// The middle times before, over and after the boundary.
    pub reads: [Nanos; 3],
}

/// One pass over all alignments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BoundaryPass {
    /// A row for each alignment, in any order.
    pub rows: Vec<BoundaryRow>,
}

/// Alignments that say something of the allocation unit: below, boundaries of pages matter; above,
/// few places are left on a card to look at.
const WINDOW: (Bytes, Bytes) = (Bytes::kib(16), Bytes::mib(512));

/// The smallest and largest allocation unit that is believed: 16 KiB to 64 MiB are the codes of
/// `AU_SIZE`, but a step at or below 64 KiB is one of pages that are read together.
const UNITS: (Bytes, Bytes) = (Bytes::kib(128), Bytes::mib(64));

/// The least share of the variance that one step must explain in every pass.
const CLEAR: f64 = 0.9;

/// The fewest rows on each level.
const ROWS_HIGH_LEAST: usize = 2;
const ROWS_LOW_LEAST: usize = 3;

/// What the best fit of one pass is.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Best {
    unit: Bytes,
    levels: TwoLevels,
    /// A row that lies between both levels, if it is the next below the unit.
    between: Option<Bytes>,
}

/// The allocation unit that reads show.
pub(super) fn unit(passes: &[BoundaryPass], missing: Option<&str>) -> Finding {
    if passes.iter().all(|pass| in_window(pass).len() < ROWS_HIGH_LEAST + ROWS_LOW_LEAST) {
        return Finding::unmeasured(missing);
    }
    let best: Vec<Option<Best>> = passes.iter().map(best).collect();
    let clear: Vec<Best> =
        best.iter().flatten().copied().filter(|best| best.levels.r_squared >= CLEAR).collect();
    if clear.len() < passes.len() {
        return Finding::CannotBeSeen(unclear(&best, passes.len()));
    }
    let units: Vec<Bytes> = clear.iter().map(|best| best.unit).collect();
    let Some(unit) = agreed(&units) else { return Finding::CannotBeSeen(disagreement(&units)) };
    if !(UNITS.0..=UNITS.1).contains(&unit) {
        return Finding::CannotBeSeen(format!(
            "reads show a step at {unit} only, which is the size of pages, not of allocation units"
        ));
    }
    if let [Best { between: Some(below), .. }] = clear[..] {
        return Finding::CannotBeSeen(format!(
            "reads show a step at {unit}, but the time at {below} is between both levels, so {below} is as \
             likely; a second pass can tell"
        ));
    }
    Finding::Claimed(claim(unit, &clear))
}

fn claim(unit: Bytes, passes: &[Best]) -> Claim {
    let between = passes.iter().find_map(|best| best.between);
    // One model of about thirty gave another unit in another run; one pass alone was wrong as
    // often as two models disagree within a pass.
    let probability = match (passes.len(), between) {
        (_, Some(_)) => 0.6,
        (1, None) => 0.85,
        (2, None) => 0.92,
        _ => 0.96,
    };
    let mut notes = vec![levels_note(passes)];
    notes.extend(between.map(|below| {
        format!("the time at {below} is between both levels, so {below} is also possible")
    }));
    if passes.len() == 1 {
        notes.push("measured in one pass only; another pass may disagree".to_owned());
    }
    Claim { value: Value::Bytes(unit), probability, method: "read step", notes }
}

fn levels_note(passes: &[Best]) -> String {
    let count = passes.len() as f64;
    let low = passes.iter().map(|best| best.levels.low).sum::<f64>() / count / 1000.0;
    let high = passes.iter().map(|best| best.levels.high).sum::<f64>() / count / 1000.0;
    let least = passes.iter().map(|best| best.levels.r_squared).fold(1.0, f64::min);
    format!(
        "reads across its boundaries take {high:.0} us longer, across others {low:.0} us \
         (passes: {}, R² at least {least:.2})",
        passes.len()
    )
}

fn unclear(best: &[Option<Best>], passes: usize) -> String {
    let clear = best.iter().flatten().filter(|best| best.levels.r_squared >= CLEAR).count();
    let most = best.iter().flatten().map(|best| best.levels.r_squared).fold(0.0, f64::max);
    if clear == 0 {
        return format!(
            "the reads show no clear pattern (fit {:.0} %, required {:.0} %). Possible causes: the card maps \
             by pages, reads several chips at once, was never written, or is behind a slow connection",
            most * 100.0,
            CLEAR * 100.0
        );
    }
    format!("the reads show a clear pattern in only {clear} of {passes} passes")
}

fn disagreement(units: &[Bytes]) -> String {
    let mut found: Vec<Bytes> = units.to_vec();
    found.sort();
    found.dedup();
    let found: Vec<String> = found.iter().map(ToString::to_string).collect();
    format!("the passes disagree: {}", found.join(" and "))
}

/// The division of one pass that explains most.
fn best(pass: &BoundaryPass) -> Option<Best> {
    let rows = in_window(pass);
    let fits = rows.iter().filter_map(|candidate| {
        let unit = candidate.align;
        let (high, low) = divided(&rows, unit);
        if high.len() < ROWS_HIGH_LEAST || low.len() < ROWS_LOW_LEAST {
            return None;
        }
        let levels = two_levels(&high, &low)?;
        (levels.step() > 0.0).then_some((unit, levels))
    });
    let (unit, levels) =
        fits.min_by(|(_, one), (_, other)| one.deviation.total_cmp(&other.deviation))?;
    let half = rows.iter().find(|row| row.align.get() * 2 == unit.get());
    let between = half
        .filter(|row| (0.25..0.75).contains(&((row.extra_ns - levels.low) / levels.step())))
        .map(|row| row.align);
    Some(Best { unit, levels, between })
}

fn in_window(pass: &BoundaryPass) -> Vec<BoundaryRow> {
    let is_inside = |row: &&BoundaryRow| (WINDOW.0..=WINDOW.1).contains(&row.align);
    pass.rows.iter().filter(is_inside).copied().collect()
}

/// The extra times at multiples of `unit`, and all others.
pub(super) fn divided(rows: &[BoundaryRow], unit: Bytes) -> (Vec<f64>, Vec<f64>) {
    let (high, low): (Vec<BoundaryRow>, Vec<BoundaryRow>) =
        rows.iter().copied().partition(|row| row.align.is_multiple_of(unit));
    let extras = |rows: Vec<BoundaryRow>| rows.iter().map(|row| row.extra_ns).collect();
    (extras(high), extras(low))
}

/// One answer from reads, writes and what the card reports. `is_measured` says which of the first two
/// were measured.
pub(super) fn joined(
    read: Finding,
    write: Finding,
    is_measured: (bool, bool),
    reported: Option<Bytes>,
) -> Finding {
    let joined = match (read, write) {
        (Finding::Claimed(read), Finding::Claimed(write)) => both(read, write),
        (Finding::Claimed(read), Finding::CannotBeSeen(_)) => Finding::Claimed(read),
        (Finding::CannotBeSeen(_), Finding::Claimed(write)) => Finding::Claimed(write),
        (Finding::CannotBeSeen(read), Finding::CannotBeSeen(write)) => {
            Finding::CannotBeSeen(match (is_measured.0, is_measured.1) {
                (true, false) => read,
                (false, true) => write,
                _ => format!("{read}. In addition, {write}"),
            })
        }
    };
    match (joined, reported) {
        (Finding::Claimed(claim), Some(reported)) => Finding::Claimed(beside(claim, reported)),
        (Finding::CannotBeSeen(reason), Some(reported)) => {
            Finding::CannotBeSeen(format!("{reason}; the card reports {reported}"))
        }
        (joined, None) => joined,
    }
}

fn both(read: Claim, write: Claim) -> Finding {
    let (Value::Bytes(by_read), Value::Bytes(by_write)) = (read.value, write.value) else {
        return Finding::Claimed(read);
    };
    if by_read == by_write {
        let probability = 1.0 - (1.0 - read.probability) * (1.0 - write.probability);
        let notes = read.notes.into_iter().chain(write.notes).collect();
        let probability = probability.min(0.99);
        return Finding::Claimed(Claim {
            probability,
            method: "read step and write step",
            notes,
            ..read
        });
    }
    if by_write.is_multiple_of(by_read) {
        let mut claim = write;
        claim.notes.push(format!("reads show a step at {by_read}, which divides it"));
        return Finding::Claimed(claim);
    }
    Finding::CannotBeSeen(format!(
        "reads and writes disagree: a read step at {by_read}, write steps every {by_write}"
    ))
}

fn beside(mut claim: Claim, reported: Bytes) -> Claim {
    let Value::Bytes(seen) = claim.value else { return claim };
    if seen == reported {
        claim.probability = claim.probability.max(0.98);
        claim.notes.push(format!("the card reports {reported} too"));
    } else {
        claim.notes.push(format!("the card reports {reported}"));
        claim.probability = claim.probability.min(0.9);
    }
    claim
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pass of flashbench: extra times in microseconds from 1 GiB (or less) down to 2 KiB.
    fn flashbench(extras_us: &[f64]) -> BoundaryPass {
        let least = Bytes::kib(2).get();
        let count = extras_us.len();
        let row = |(at, extra): (usize, &f64)| BoundaryRow {
            align: Bytes(least << (count - 1 - at)),
            extra_ns: extra * 1000.0,
            reads: [Nanos::ZERO; 3],
        };
        BoundaryPass { rows: extras_us.iter().enumerate().map(row).collect() }
    }

    /// Rows of the alignments 2^a and 3 * 2^a, high where `unit` divides them.
    fn with_unit(unit: Bytes, step_us: f64) -> BoundaryPass {
        let aligns = (4..17).flat_map(|power| [Bytes::kib(1 << power), Bytes::kib(3 << power)]);
        let row = |align: Bytes| BoundaryRow {
            align,
            extra_ns: 1000.0 * if align.is_multiple_of(unit) { 20.0 + step_us } else { 20.0 },
            reads: [Nanos::ZERO; 3],
        };
        BoundaryPass { rows: aligns.map(row).collect() }
    }

    fn found(passes: &[BoundaryPass]) -> Result<Bytes, String> {
        match unit(passes, None) {
            Finding::Claimed(Claim { value: Value::Bytes(bytes), .. }) => Ok(bytes),
            other => Err(format!("{other:?}")),
        }
    }

    #[test]
    fn units_that_are_no_power_of_two_are_found() {
        for kib in [512, 1536, 4096, 12_288, 24_576] {
            let unit = Bytes::kib(kib);
            assert_eq!(found(&[with_unit(unit, 150.0), with_unit(unit, 140.0)]), Ok(unit));
        }
    }

    #[test]
    fn published_passes_give_what_is_known_of_their_cards() {
        // The README of flashbench: 4 MiB.
        let readme = flashbench(&[
            324.0, 300.0, 294.0, 302.0, 299.0, 317.0, 171.0, 169.0, 165.0, 171.0, 165.0, 159.0,
            157.0, 148.0, 53.3, 5.85, 4.65,
        ]);
        assert_eq!(found(&[readme]), Ok(Bytes::mib(4)));
        // Its issue 16, through a slow bridge: nothing.
        let bridge = flashbench(&[
            -412.0, 335.0, -49.0, 32.7, -173.0, -18.7, 114.0, 263.0, 187.0, 549.0, 43.4, 299.0,
            199.0, 641.0, -93.7, 120.0, 80.0,
        ]);
        assert!(found(&[bridge]).is_err());
    }

    /// A card of 4 MiB in a public log (SU04G, one pass), whose later logs of three passes show 4 MiB.
    #[test]
    fn one_pass_with_a_row_between_both_levels_is_no_answer() {
        let log = flashbench(&[
            126.0, 171.0, 164.0, 177.0, 175.0, 164.0, 188.0, 154.0, 74.2, 11.1, -3.6, 21.6, 0.06,
            5.5, -6.9, 8.07, 21.0, 12.6, -0.9, -4.8,
        ]);
        let reason = found(std::slice::from_ref(&log)).unwrap_err();
        assert!(reason.contains("8 MiB") && reason.contains("4 MiB"), "{reason}");
        assert_eq!(found(&[log.clone(), log]), Ok(Bytes::mib(8)), "two that agree are believed");
    }

    #[test]
    fn passes_that_disagree_are_the_answer() {
        let passes = [with_unit(Bytes::mib(4), 150.0), with_unit(Bytes::mib(8), 150.0)];
        let reason = found(&passes).unwrap_err();
        assert!(reason.contains("disagree: 4 MiB and 8 MiB"), "{reason}");
    }

    #[test]
    fn a_step_of_pages_is_no_allocation_unit() {
        let reason = found(&[with_unit(Bytes::kib(64), 150.0)]).unwrap_err();
        assert!(reason.contains("pages"), "{reason}");
    }

    #[test]
    fn a_read_step_that_divides_the_written_unit_is_shown_beside_it() {
        let claim = |bytes| {
            let value = Value::Bytes(bytes);
            Finding::Claimed(Claim { value, probability: 0.9, method: "step", notes: Vec::new() })
        };
        let both = |read, write| joined(claim(read), claim(write), (true, true), None);
        let divisor = both(Bytes::mib(2), Bytes::mib(4));
        assert_eq!(divisor.bytes(), Some(Bytes::mib(4)));
        assert!(format!("{divisor:?}").contains("2 MiB"));
        assert_eq!(both(Bytes::mib(4), Bytes::mib(6)).bytes(), None, "a contradiction");
    }
}
