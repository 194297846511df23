//! Fakes by which of their addresses lead nowhere, or to the same place.

use super::super::SECTOR;
use super::super::device::Refuses;
use super::super::layout::Layout;
use super::super::reducing::Saves;
use super::super::specimen::{Draw, Specimen, Truth};
use super::super::void::Void;

/// A fake of this layout with so many cells.
pub(super) fn fake(draw: &mut Draw, layout: Layout, real: u64) -> Specimen {
    let void = draw.void(real);
    Specimen { layout, void, truth: Truth::Fake { real, store: 0 }, ..draw.sound() }
}

pub(super) fn one_edge(draw: &mut Draw) -> Specimen {
    let real = draw.real();
    fake(draw, Layout::OneEdge { real }, real)
}

/// The device keeps its last write, of a few MiB at most, in a buffer that answers for what is beyond.
pub(super) fn echo(draw: &mut Draw) -> Specimen {
    let specimen = one_edge(draw);
    let Truth::Fake { real, .. } = specimen.truth else { return specimen };
    let truth = Truth::Fake { real, store: 1 << 13 };
    Specimen { void: Void::LastWritten, truth, ..specimen }
}

pub(super) fn errors_beyond(draw: &mut Draw) -> Specimen {
    refusing(draw, Refuses { reads: true, writes: true })
}

pub(super) fn read_errors_beyond(draw: &mut Draw) -> Specimen {
    refusing(draw, Refuses { reads: true, writes: false })
}

pub(super) fn write_errors_beyond(draw: &mut Draw) -> Specimen {
    refusing(draw, Refuses { reads: false, writes: true })
}

fn refusing(draw: &mut Draw, refuses: Refuses) -> Specimen {
    let specimen = one_edge(draw);
    let Truth::Fake { real, .. } = specimen.truth else { return specimen };
    Specimen { refuses, truth: Truth::Ambiguous { real }, ..specimen }
}

pub(super) fn wraps(draw: &mut Draw) -> Specimen {
    let modulus = (draw.real() / 8 * 8).max(8);
    fake(draw, Layout::Wrap { modulus }, modulus)
}

pub(super) fn wraps_anywhere(draw: &mut Draw) -> Specimen {
    let modulus = draw.real() / 8 * 8 + 1 + draw.noise.below(7);
    fake(draw, Layout::Wrap { modulus }, modulus)
}

pub(super) fn funnel(draw: &mut Draw) -> Specimen {
    let real = draw.real();
    let window = draw.spread(1, real / 2);
    fake(draw, Layout::Funnel { real, window }, real)
}

pub(super) fn holes(draw: &mut Draw) -> Specimen {
    let share_ppm = draw.spread(3_000, 900_000);
    let count = draw.spread(1, 40);
    let slot = draw.announced / count;
    let length = (slot as u128 * u128::from(share_ppm) / 1_000_000) as u64;
    let mut holes = Vec::new();
    for number in 0..count {
        let start = number * slot + draw.noise.below(slot - length);
        holes.push((start, start + length.max(8)));
    }
    let missing: u64 = holes.iter().map(|(start, end)| end - start).sum();
    let real = draw.announced - missing;
    fake(draw, Layout::Holes(holes), real)
}

pub(super) fn stripes(draw: &mut Draw) -> Specimen {
    let period = draw.spread(128, (1 << 23).min(draw.announced / 4)) / 8 * 8;
    let held = draw.spread(period / 20, period / 100 * 99).clamp(1, period - 1);
    let rest = (draw.announced % period).min(held);
    let real = draw.announced / period * held + rest;
    fake(draw, Layout::Stripes { period, held }, real)
}

pub(super) fn both_ends(draw: &mut Draw) -> Specimen {
    let missing = draw.announced - draw.real();
    let start = draw.noise.below(draw.announced - missing).max(draw.announced / 64);
    let end = (start + missing).min(draw.announced - draw.announced / 64).max(start);
    let real = draw.announced - (end - start);
    fake(draw, Layout::Holes(vec![(start, end)]), real)
}

pub(super) fn last_part(draw: &mut Draw) -> Specimen {
    let missing = draw.announced - draw.real();
    fake(draw, Layout::Holes(vec![(0, missing)]), draw.announced - missing)
}

pub(super) fn line_cut(draw: &mut Draw) -> Specimen {
    let top = draw.announced.ilog2();
    let low = 6 + draw.noise.below(u64::from(top) - 6) as u32;
    let mask = 1 << low | 1 << draw.pick(&[low, top, top - 1]);
    let real = without(mask, draw.announced);
    fake(draw, Layout::LinesCut { mask }, real)
}

pub(super) fn lines_folded(draw: &mut Draw) -> Specimen {
    let top = draw.announced.ilog2();
    let high = top - draw.noise.below(4) as u32;
    let low = 6 + draw.noise.below(u64::from(high) - 6) as u32;
    let real = without(1 << high, draw.announced);
    fake(draw, Layout::LinesFolded { high, low }, real)
}

/// How many numbers below `end` have none of the bits of `mask`.
fn without(mask: u64, end: u64) -> u64 {
    if mask == 0 {
        return end;
    }
    let half = 1 << mask.ilog2();
    let (rest, whole) = (mask & !half, end / (2 * half));
    whole * without(rest, half) + without(rest, (end % (2 * half)).min(half))
}

pub(super) fn deduplicates(draw: &mut Draw) -> Specimen {
    reducing(draw, Saves::Duplicates)
}

pub(super) fn compresses(draw: &mut Draw) -> Specimen {
    reducing(draw, Saves::Redundancy)
}

/// A device of 96 MiB to 1 GiB with room for 1 to 64 MiB: every byte is looked at.
fn reducing(draw: &mut Draw, saves: Saves) -> Specimen {
    draw.announced = draw.announced.min(draw.spread(96 << 11, 1 << 21));
    let room = draw.spread(1 << 11, (64 << 11).min(draw.announced / 4));
    // What holds little compresses, if only by some per cent.
    let store = room + room / 16;
    Specimen {
        reducing: Some((saves, room * SECTOR)),
        truth: Truth::Fake { real: 0, store },
        ..draw.sound()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_without_a_line_are_counted() {
        for mask in [0b1, 0b100, 0b1010, 0b1000_0001] {
            for end in [0, 1, 7, 100, 256, 1000] {
                let counted = (0..end).filter(|number| number & mask == 0).count() as u64;
                assert_eq!(without(mask, end), counted, "{mask:b} below {end}");
            }
        }
    }
}
