//! Which addresses of a device have a cell, and which share one.

/// Where addresses lead. All counts are of sectors.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The first addresses have cells, up to an edge.
    OneEdge { real: u64 },
    /// Addresses start again after so many.
    Wrap { modulus: u64 },
    /// Up to an edge as it should be; beyond it, all addresses lead into the last cells.
    Funnel { real: u64, window: u64 },
    /// Places without cells, sorted, as (start, end).
    Holes(Vec<(u64, u64)>),
    /// Of each period the first part has cells.
    Stripes { period: u64, held: u64 },
    /// Address bits that are not connected: addresses that differ in them share a cell.
    LinesCut { mask: u64 },
    /// A high address bit is added to a lower one, so that pairs of addresses share a cell.
    LinesFolded { high: u32, low: u32 },
    /// Pieces of a power of two are in another order: each has its own cell.
    Scrambled { piece: u64, pieces: u64, multiplier: u64 },
}

impl Layout {
    /// Where `address` leads, and for how many sectors from there on the cells follow each other;
    /// `None` for no cell.
    pub(crate) fn at(&self, address: u64) -> (Option<u64>, u64) {
        match *self {
            Self::OneEdge { real } if address < real => (Some(address), real - address),
            Self::OneEdge { .. } => (None, u64::MAX - address),
            Self::Wrap { modulus } => {
                let cell = address % modulus;
                (Some(cell), modulus - cell)
            }
            Self::Funnel { real, .. } if address < real => (Some(address), real - address),
            Self::Funnel { real, window } => {
                let step = (address - real) % window;
                (Some(real - window + step), window - step)
            }
            Self::Holes(ref holes) => {
                let next = holes.partition_point(|&(_, end)| end <= address);
                match holes.get(next) {
                    Some(&(start, end)) if start <= address => (None, end - address),
                    Some(&(start, _)) => (Some(address), start - address),
                    None => (Some(address), u64::MAX - address),
                }
            }
            Self::Stripes { period, held } => {
                let step = address % period;
                if step < held { (Some(address), held - step) } else { (None, period - step) }
            }
            Self::LinesCut { mask } => {
                let run = 1 << mask.trailing_zeros();
                (Some(address & !mask), run - address % run)
            }
            Self::LinesFolded { high, low } => {
                let run = 1 << low;
                let bit = address >> high & 1;
                (Some((address & !(1 << high)) ^ (bit << low)), run - address % run)
            }
            Self::Scrambled { piece, pieces, multiplier } => {
                let number = address / piece;
                let step = address % piece;
                // What does not fill the power of two stays where it is.
                let moved = if number < pieces { number * multiplier % pieces } else { number };
                (Some(moved * piece + step), piece - step)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// How many of `sectors` addresses have cells of their own, and that runs say what steps do.
    fn cells(layout: &Layout, sectors: u64) -> u64 {
        let mut seen = BTreeSet::new();
        let mut at = 0;
        while at < sectors {
            let (cell, run) = layout.at(at);
            assert!(run > 0, "{layout:?} does not go on at {at}");
            for step in 0..run.min(sectors - at) {
                let (single, _) = layout.at(at + step);
                assert_eq!(single, cell.map(|cell| cell + step), "{layout:?} at {at} and {step}");
                seen.extend(single);
            }
            at = at.saturating_add(run);
        }
        seen.len() as u64
    }

    #[test]
    fn each_layout_has_as_many_cells_as_it_says() {
        let cases = [
            (Layout::OneEdge { real: 600 }, 600),
            (Layout::Wrap { modulus: 333 }, 333),
            (Layout::Funnel { real: 400, window: 7 }, 400),
            (Layout::Holes(vec![(10, 20), (500, 1000)]), 1024 - 510),
            (Layout::Holes(vec![(0, 1000)]), 24),
            (Layout::Stripes { period: 128, held: 100 }, 800),
            (Layout::LinesCut { mask: 0b1000_1000 }, 256),
            (Layout::LinesFolded { high: 9, low: 3 }, 512),
            (Layout::Scrambled { piece: 8, pieces: 64, multiplier: 37 }, 1024),
        ];
        for (layout, wanted) in cases {
            assert_eq!(cells(&layout, 1024), wanted, "{layout:?}");
        }
    }
}
