//! Devices that hold what they announce, and devices that are dying.

use cardproof_io::{Fault, OpKind};
use cardproof_units::{Bytes, Nanos};

use super::super::SECTOR;
use super::super::device::Pace;
use super::super::flaws::{End, Flaw, Manner};
use super::super::layout::Layout;
use super::super::specimen::{Draw, Specimen, Truth};

/// Sectors of a GiB.
const GIB: u64 = 1 << 21;

pub(super) fn sound(draw: &mut Draw) -> Specimen {
    draw.sound()
}

pub(super) fn odd(draw: &mut Draw) -> Specimen {
    draw.announced -= 1 + draw.noise.below(draw.announced / 16);
    draw.sound()
}

pub(super) fn tiny(draw: &mut Draw) -> Specimen {
    draw.announced = draw.announced.min(draw.spread(GIB / 64, GIB));
    draw.sound()
}

pub(super) fn large_blocks(draw: &mut Draw) -> Specimen {
    Specimen { logical_block: Bytes::kib(4), ..draw.sound() }
}

pub(super) fn scrambled(draw: &mut Draw) -> Specimen {
    let piece = draw.spread(128, draw.announced / 16).max(1);
    let pieces = 1 << (draw.announced / piece).max(2).ilog2();
    let multiplier = (draw.noise.below(pieces) | 1).min(1 << 20 | 1);
    Specimen { layout: Layout::Scrambled { piece, pieces, multiplier }, ..draw.sound() }
}

pub(super) fn slow(draw: &mut Draw) -> Specimen {
    let kb_s = draw.spread(100, 1_000);
    let sector = Nanos(512_000_000 / kb_s);
    let request = Nanos::from_millis(draw.spread(1, 30));
    let pace = Pace { request, read_sector: sector, write_sector: sector, burst_bytes: 0 };
    Specimen { pace, ..draw.sound() }
}

pub(super) fn burst(draw: &mut Draw) -> Specimen {
    let burst_bytes = draw.spread(1 << 20, 8 << 30);
    let sound = draw.sound();
    Specimen { pace: Pace { burst_bytes, ..sound.pace }, ..sound }
}

pub(super) fn pauses(draw: &mut Draw) -> Specimen {
    let kind = draw.pick(&[OpKind::Read, OpKind::Write]);
    let takes = Nanos::from_millis(draw.spread(200, 10_000));
    at_times(draw, &[kind], None, takes)
}

pub(super) fn read_errors(draw: &mut Draw) -> Specimen {
    at_times(draw, &[OpKind::Read], Some(Fault::InputOutput), Nanos::from_millis(100))
}

pub(super) fn write_errors(draw: &mut Draw) -> Specimen {
    at_times(draw, &[OpKind::Write], Some(Fault::InputOutput), Nanos::from_millis(100))
}

pub(super) fn timeouts(draw: &mut Draw) -> Specimen {
    let kinds = [OpKind::Read, OpKind::Write];
    at_times(draw, &kinds, Some(Fault::TimedOut), Nanos::from_secs(10))
}

/// A card whose operations of these kinds are disturbed now and then.
fn at_times(draw: &mut Draw, kinds: &[OpKind], fault: Option<Fault>, takes: Nanos) -> Specimen {
    let one_in = draw.spread(300, 30_000);
    let flaws = kinds.iter().map(|&kind| Flaw::NowAndThen { one_in, kind, fault, takes }).collect();
    Specimen { flaws, ..draw.sound() }
}

pub(super) fn wrong(draw: &mut Draw) -> Specimen {
    let one_in = draw.spread(300, 30_000);
    Specimen { flaws: vec![Flaw::WrongAtTimes { one_in }], ..draw.sound() }
}

pub(super) fn bad_to_read(draw: &mut Draw) -> Specimen {
    bad_pages(draw, Manner::ReadFails)
}

pub(super) fn bad_to_write(draw: &mut Draw) -> Specimen {
    bad_pages(draw, Manner::WriteFails)
}

pub(super) fn bad_to_both(draw: &mut Draw) -> Specimen {
    bad_pages(draw, Manner::BothFail)
}

pub(super) fn flips(draw: &mut Draw) -> Specimen {
    bad_pages(draw, Manner::Flips)
}

pub(super) fn blanks(draw: &mut Draw) -> Specimen {
    let byte = draw.pick(&[0, 0xff]);
    bad_pages(draw, Manner::ReadsAs(byte))
}

pub(super) fn deaf_pages(draw: &mut Draw) -> Specimen {
    bad_pages(draw, Manner::IgnoresWrites)
}

/// A card some of whose pages are bad, from a page of 4 KiB to a block of 16 MiB.
fn bad_pages(draw: &mut Draw, manner: Manner) -> Specimen {
    let share_ppm = draw.spread(100, 50_000);
    // A small device has at least some of them.
    let largest = (draw.announced * share_ppm / 1_000_000 / 8).clamp(8, 1 << 15);
    let page = draw.spread(8, largest) / 8 * 8;
    let bad_share = share_ppm as f64 / 1e6;
    Specimen {
        flaws: vec![Flaw::Pages { share_ppm, page, manner }],
        truth: Truth::Dying { bad_share },
        ..draw.sound()
    }
}

pub(super) fn clusters(draw: &mut Draw) -> Specimen {
    let share_ppm = draw.spread(1_000, 50_000);
    let count = draw.spread(1, 20);
    let length = (draw.announced * share_ppm / 1_000_000 / count).max(8);
    let slot = draw.announced / count;
    let mut ranges = Vec::new();
    for number in 0..count {
        let start = number * slot + draw.noise.below(slot.saturating_sub(length));
        ranges.push((start, start + length));
    }
    let manner =
        draw.pick(&[Manner::ReadFails, Manner::BothFail, Manner::Flips, Manner::ReadsAs(0)]);
    Specimen {
        flaws: vec![Flaw::Places { ranges, manner }],
        truth: Truth::Dying { bad_share: share_ppm as f64 / 1e6 },
        ..draw.sound()
    }
}

pub(super) fn ragged_half(draw: &mut Draw) -> Specimen {
    let start = draw.announced / 2;
    let pieces = draw.spread(50, 300);
    let slot = (draw.announced - start) / pieces;
    let mut ranges = Vec::new();
    for number in 0..pieces {
        let from = start + number * slot;
        ranges.push((from, from + slot / 2 + draw.noise.below(slot / 2)));
    }
    let bad: u64 = ranges.iter().map(|(start, end)| end - start).sum();
    let bad_share = bad as f64 / draw.announced as f64;
    let manner = draw.pick(&[Manner::ReadFails, Manner::BothFail, Manner::Flips]);
    Specimen {
        flaws: vec![Flaw::Places { ranges, manner }],
        truth: Truth::Dying { bad_share },
        ..draw.sound()
    }
}

pub(super) fn last_half(draw: &mut Draw) -> Specimen {
    let real = draw.announced / 100 * draw.spread(20, 95);
    let flaw = Flaw::Places { ranges: vec![(real, draw.announced)], manner: Manner::BothFail };
    Specimen { flaws: vec![flaw], truth: Truth::Ambiguous { real }, ..draw.sound() }
}

pub(super) fn disturbed(draw: &mut Draw) -> Specimen {
    let block = draw.spread(8, 1 << 13) / 8 * 8;
    let readings = draw.spread(3, 50) as u32;
    Specimen { flaws: vec![Flaw::Disturbed { block, readings }], ..draw.sound() }
}

pub(super) fn turns_read_only(draw: &mut Draw) -> Specimen {
    ends(draw, End::ReadOnly)
}

pub(super) fn vanishes(draw: &mut Draw) -> Specimen {
    ends(draw, End::Vanishes)
}

/// What keeps the first writes and no later ones is also what a fake does that takes any address.
pub(super) fn turns_deaf(draw: &mut Draw) -> Specimen {
    let after_bytes = end(draw);
    let flaws = vec![Flaw::Ends { after_bytes, how: End::IgnoresWrites }];
    // The write that reaches the limit is done as a whole: of 8 MiB at most.
    let real = after_bytes / SECTOR + (1 << 14);
    Specimen { flaws, truth: Truth::Ambiguous { real }, ..draw.sound() }
}

/// A card that ends while it is tested.
fn ends(draw: &mut Draw, how: End) -> Specimen {
    let after_bytes = end(draw);
    Specimen {
        flaws: vec![Flaw::Ends { after_bytes, how }],
        truth: Truth::Dying { bad_share: 1.0 },
        ..draw.sound()
    }
}

/// After so many bytes written a card ends: at most 300 MiB, or half of what it announces.
fn end(draw: &mut Draw) -> u64 {
    draw.spread(1 << 16, (300 << 20).min(draw.announced * SECTOR / 2))
}

pub(super) fn protected(draw: &mut Draw) -> Specimen {
    keeps_nothing(draw, End::ReadOnly)
}

pub(super) fn deaf(draw: &mut Draw) -> Specimen {
    keeps_nothing(draw, End::IgnoresWrites)
}

fn keeps_nothing(draw: &mut Draw, how: End) -> Specimen {
    let flaws = vec![Flaw::Ends { after_bytes: 0, how }];
    Specimen { flaws, truth: Truth::KeepsNothing, ..draw.sound() }
}
