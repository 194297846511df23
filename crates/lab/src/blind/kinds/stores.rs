//! Fakes with a hidden store, over every layout.

use cardproof_units::Nanos;

use super::super::layout::Layout;
use super::super::specimen::{Draw, Specimen, Truth};
use super::super::store::{Divided, Forgets, StoreSpec, Takes};
use super::fakes;

/// The largest store, in sectors: 1.5 GiB.
const LARGEST: u64 = 3 << 20;

/// The smallest store, in sectors: 8 KiB.
const SMALLEST: u64 = 16;

/// Layouts that a store may hide.
const LAYOUTS: [fn(&mut Draw) -> Specimen; 7] = [
    fakes::one_edge,
    fakes::one_edge,
    fakes::both_ends,
    fakes::last_part,
    fakes::holes,
    fakes::stripes,
    fakes::wraps,
];

/// A device that keeps the first `real` sectors that are written, wherever they belong.
pub(super) fn until_full(draw: &mut Draw) -> Specimen {
    without_layout(draw, Forgets::Newcomer)
}

pub(super) fn newest_of_all(draw: &mut Draw) -> Specimen {
    let forgets = draw.pick(&[Forgets::First, Forgets::LeastWritten, Forgets::Random]);
    without_layout(draw, forgets)
}

fn without_layout(draw: &mut Draw, forgets: Forgets) -> Specimen {
    let sectors = draw.spread(1 << 11, (draw.announced / 4).min(1 << 24));
    let specimen = fakes::fake(draw, Layout::OneEdge { real: 0 }, 0);
    let spec = spec(draw, sectors, forgets);
    Specimen { store: Some(spec), truth: Truth::Fake { real: 0, store: sectors }, ..specimen }
}

/// A store of so many sectors in granules: small ones where it is small.
fn spec(draw: &mut Draw, sectors: u64, forgets: Forgets) -> StoreSpec {
    let smallest = (sectors / (1 << 15)).max(1).next_multiple_of(8);
    let largest = (sectors / 2).clamp(8, 1 << 13).max(smallest);
    let granule = draw.spread(smallest, largest) / 8 * 8;
    StoreSpec { sectors, granule, forgets, divided: Divided::Not, takes: Takes::Beyond }
}

pub(super) fn first_out(draw: &mut Draw) -> Specimen {
    hidden(draw, Forgets::First)
}

pub(super) fn least_written(draw: &mut Draw) -> Specimen {
    hidden(draw, Forgets::LeastWritten)
}

pub(super) fn least_used(draw: &mut Draw) -> Specimen {
    let forgets = draw.pick(&[Forgets::LeastUsed, Forgets::LeastUsed, Forgets::WhenRead]);
    hidden(draw, forgets)
}

pub(super) fn random(draw: &mut Draw) -> Specimen {
    hidden(draw, Forgets::Random)
}

pub(super) fn by_time(draw: &mut Draw) -> Specimen {
    let limit = Nanos::from_secs(draw.spread(1, 300));
    hidden(draw, Forgets::AfterTime(limit))
}

pub(super) fn divided(draw: &mut Draw) -> Specimen {
    let forgets = draw.pick(&[Forgets::First, Forgets::LeastWritten, Forgets::Random]);
    let specimen = hidden(draw, forgets);
    let Some(store) = specimen.store else { return specimen };
    let granules = (store.sectors / store.granule) as usize;
    let pools = (draw.spread(2, 64) as usize).min(granules.max(1));
    let divided = match draw.noise.below(2) {
        0 => Divided::Regions { sectors: (specimen.announced / pools as u64).max(1), pools },
        _ => Divided::Sets { pools },
    };
    Specimen { store: Some(StoreSpec { divided, ..store }), ..specimen }
}

/// A fake of any layout with a store that forgets in this way.
fn hidden(draw: &mut Draw, forgets: Forgets) -> Specimen {
    let specimen = draw.pick(&LAYOUTS)(draw);
    let Truth::Fake { real, .. } = specimen.truth else { return specimen };
    // A store as large as what is missing would be no fake.
    let largest = ((specimen.announced - real) / 4).clamp(SMALLEST, LARGEST);
    let sectors = draw.spread(SMALLEST, largest);
    let takes = draw.pick(&[Takes::Beyond, Takes::Beyond, Takes::All]);
    let store = StoreSpec { takes, ..spec(draw, sectors, forgets) };
    Specimen { store: Some(store), truth: Truth::Fake { real, store: sectors }, ..specimen }
}
