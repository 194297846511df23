//! The part of the page map that is at hand; wide spans keep missing it.

use super::grid::Grid;
use crate::model::MapCache;

/// Fetched pieces of the map, each in the one place its number allows.
#[derive(Debug)]
pub(crate) struct MapAtHand {
    segments: Grid,
    places: Grid,
    miss: u64,
    /// By place: the piece that lies there, or `u64::MAX`.
    pieces: Vec<u64>,
}

impl MapAtHand {
    pub(crate) fn new(map_cache: &MapCache) -> Self {
        let segments = Grid::new(map_cache.segment.get());
        let places = (map_cache.reach.get() / segments.size()).max(1);
        Self {
            segments,
            places: Grid::new(places),
            miss: map_cache.miss.get(),
            pieces: vec![u64::MAX; usize::try_from(places).unwrap_or(usize::MAX)],
        }
    }

    /// The time to have the piece for `offset` at hand, in nanoseconds.
    pub(crate) fn look_up(&mut self, offset: u64) -> u64 {
        let piece = self.segments.index(offset);
        let place = self.places.within(piece) as usize;
        if self.pieces[place] == piece {
            return 0;
        }
        self.pieces[place] = piece;
        self.miss
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_units::{Bytes, Nanos};

    #[test]
    fn what_is_within_reach_is_fetched_once() {
        let mut map = MapAtHand::new(&MapCache {
            reach: Bytes::mib(16),
            segment: Bytes::mib(4),
            miss: Nanos(100),
        });
        let mut sweep = |span: u64| (0..span >> 20).map(|mib| map.look_up(mib << 20)).sum::<u64>();
        assert_eq!(sweep(16 << 20), 400, "cold");
        assert_eq!(sweep(16 << 20), 0, "at hand");
        assert_eq!(sweep(32 << 20), 4 * 100, "the second half pushes the first out");
        assert_eq!(sweep(32 << 20), 8 * 100, "nothing stays");
    }
}
