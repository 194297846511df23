//! A hidden store: memory that keeps some of what was written to addresses without a cell.
//!
//! It counts in granules. Which ones it holds is decided here; their data lie with the device.

use std::collections::{BTreeMap, HashMap};

use cardproof_testkit::Noise;
use cardproof_units::Nanos;

/// Which granule goes when another one comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forgets {
    /// The one that came first; writing it again changes nothing.
    First,
    /// The one that was written longest ago.
    LeastWritten,
    /// The one that was written or read longest ago.
    LeastUsed,
    /// Any.
    Random,
    /// The newcomer: what is full takes nothing more.
    Newcomer,
    /// The first one, and each after this time.
    AfterTime(Nanos),
    /// The first one, and each when it was read.
    WhenRead,
}

/// How a store is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Divided {
    /// One pool for all.
    Not,
    /// A pool for each region of so many sectors.
    Regions { sectors: u64, pools: usize },
    /// A pool for each value of a hash of the granule, as in a cache of several ways.
    Sets { pools: usize },
}

/// What passes through the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Takes {
    /// Addresses without a cell only.
    Beyond,
    /// Every write, so that good addresses use up the store as well.
    All,
}

/// The description of a store. Sizes are in sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoreSpec {
    pub(crate) sectors: u64,
    pub(crate) granule: u64,
    pub(crate) forgets: Forgets,
    pub(crate) divided: Divided,
    pub(crate) takes: Takes,
}

/// A part of the store with its own room.
#[derive(Clone, Debug, Default)]
struct Pool {
    /// By granule: its place in `order`, or in `members`.
    places: HashMap<u64, u64>,
    /// With an order of leaving: granules by it, each with the time of its last touch.
    order: BTreeMap<u64, (u64, Nanos)>,
    /// With random leaving.
    members: Vec<u64>,
}

/// Which granules the store holds.
#[derive(Clone, Debug)]
pub(super) struct Store {
    spec: StoreSpec,
    pools: Vec<Pool>,
    room: usize,
    next: u64,
    noise: Noise,
}

impl Store {
    pub(super) fn new(spec: StoreSpec, seed: u64) -> Self {
        let pools = match spec.divided {
            Divided::Not => 1,
            Divided::Regions { pools, .. } | Divided::Sets { pools } => pools.max(1),
        };
        let room = (spec.sectors / spec.granule) as usize / pools;
        Self { spec, pools: vec![Pool::default(); pools], room, next: 0, noise: Noise::new(seed) }
    }

    pub(super) const fn spec(&self) -> &StoreSpec {
        &self.spec
    }

    fn pool_of(&self, granule: u64) -> usize {
        let number = match self.spec.divided {
            Divided::Not => 0,
            Divided::Regions { sectors, .. } => granule * self.spec.granule / sectors,
            Divided::Sets { .. } => granule.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32,
        };
        (number % self.pools.len() as u64) as usize
    }

    /// A write of `granule`: whether it is kept. What goes is added to `gone`.
    pub(super) fn write(&mut self, granule: u64, now: Nanos, gone: &mut Vec<u64>) -> bool {
        self.expire(now, gone);
        let index = self.pool_of(granule);
        let (forgets, room) = (self.spec.forgets, self.room);
        if self.pools[index].places.contains_key(&granule) {
            if matches!(forgets, Forgets::LeastWritten | Forgets::LeastUsed | Forgets::AfterTime(_))
            {
                self.renew(index, granule, now);
            }
            return true;
        }
        if room == 0 || (self.pools[index].places.len() >= room && forgets == Forgets::Newcomer) {
            return false;
        }
        if self.pools[index].places.len() >= room {
            gone.extend(self.evict(index));
        }
        self.enter(index, granule, now);
        true
    }

    /// A reading of `granule`, if it is held; whether it goes with that.
    pub(super) fn read(&mut self, granule: u64, now: Nanos, gone: &mut Vec<u64>) {
        self.expire(now, gone);
        let index = self.pool_of(granule);
        if !self.pools[index].places.contains_key(&granule) {
            return;
        }
        match self.spec.forgets {
            Forgets::LeastUsed => self.renew(index, granule, now),
            Forgets::WhenRead => {
                self.leave(index, granule);
                gone.push(granule);
            }
            _ => {}
        }
    }

    /// Whether readings change what it holds.
    pub(super) const fn minds_reading(&self) -> bool {
        matches!(self.spec.forgets, Forgets::LeastUsed | Forgets::WhenRead | Forgets::AfterTime(_))
    }

    /// Lets go what is too old.
    fn expire(&mut self, now: Nanos, gone: &mut Vec<u64>) {
        let Forgets::AfterTime(limit) = self.spec.forgets else { return };
        for pool in &mut self.pools {
            while let Some((&place, &(granule, touched))) = pool.order.first_key_value() {
                if now.saturating_sub(touched) <= limit {
                    break;
                }
                pool.order.remove(&place);
                pool.places.remove(&granule);
                gone.push(granule);
            }
        }
    }

    fn enter(&mut self, index: usize, granule: u64, now: Nanos) {
        let pool = &mut self.pools[index];
        if self.spec.forgets == Forgets::Random {
            pool.places.insert(granule, pool.members.len() as u64);
            pool.members.push(granule);
            return;
        }
        pool.places.insert(granule, self.next);
        pool.order.insert(self.next, (granule, now));
        self.next += 1;
    }

    fn renew(&mut self, index: usize, granule: u64, now: Nanos) {
        self.leave(index, granule);
        self.enter(index, granule, now);
    }

    fn leave(&mut self, index: usize, granule: u64) {
        let pool = &mut self.pools[index];
        let Some(place) = pool.places.remove(&granule) else { return };
        pool.order.remove(&place);
    }

    /// The granule that goes for another one.
    fn evict(&mut self, index: usize) -> Option<u64> {
        let pool = &mut self.pools[index];
        if self.spec.forgets == Forgets::Random {
            let place = self.noise.below(pool.members.len() as u64);
            let granule = pool.members.swap_remove(place as usize);
            pool.places.remove(&granule);
            if let Some(&moved) = pool.members.get(place as usize) {
                pool.places.insert(moved, place);
            }
            return Some(granule);
        }
        let (_, (granule, _)) = pool.order.pop_first()?;
        pool.places.remove(&granule);
        Some(granule)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(forgets: Forgets, divided: Divided) -> Store {
        let spec = StoreSpec { sectors: 32, granule: 8, forgets, divided, takes: Takes::Beyond };
        Store::new(spec, 1)
    }

    /// What is held of granules 0..10 after `acts`: a granule from 100 on is read, else written. Each
    /// act takes a second.
    fn held(mut store: Store, acts: &[u64]) -> Vec<u64> {
        let mut held = std::collections::BTreeSet::new();
        for (second, &act) in acts.iter().enumerate() {
            let now = Nanos::from_secs(second as u64);
            let mut gone = Vec::new();
            let mut is_kept = false;
            if act >= 100 {
                store.read(act - 100, now, &mut gone);
            } else {
                is_kept = store.write(act, now, &mut gone);
            }
            for granule in gone {
                held.remove(&granule);
            }
            if is_kept {
                held.insert(act);
            }
        }
        held.into_iter().collect()
    }

    #[test]
    fn each_store_forgets_as_it_is_described() {
        let acts = [0, 1, 2, 3, 0, 101, 4];
        let cases = [
            (Forgets::First, vec![1, 2, 3, 4]),
            (Forgets::LeastWritten, vec![0, 2, 3, 4]),
            (Forgets::LeastUsed, vec![0, 1, 3, 4]),
            (Forgets::Newcomer, vec![0, 1, 2, 3]),
            (Forgets::WhenRead, vec![0, 2, 3, 4]),
            (Forgets::AfterTime(Nanos::from_secs(3)), vec![0, 3, 4]),
        ];
        for (forgets, wanted) in cases {
            assert_eq!(held(store(forgets, Divided::Not), &acts), wanted, "{forgets:?}");
        }
    }

    #[test]
    fn random_leaving_keeps_as_many_as_there_is_room_for() {
        let acts: Vec<u64> = (0..1000).map(|number| number * 7 % 50).collect();
        let kept = held(store(Forgets::Random, Divided::Not), &acts);
        assert_eq!(kept.len(), 4);
        assert_ne!(kept, held(store(Forgets::First, Divided::Not), &acts));
    }

    #[test]
    fn each_region_has_room_of_its_own() {
        let regions = Divided::Regions { sectors: 40, pools: 2 };
        // Granules 0 to 4 are in one region, 5 to 9 in the other, with room for two each.
        assert_eq!(held(store(Forgets::First, regions), &[0, 1, 2, 7, 8]), [1, 2, 7, 8]);
        let sets = held(store(Forgets::First, Divided::Sets { pools: 4 }), &[0, 1, 2, 3, 4, 5, 6]);
        assert!(sets.len() <= 4);
    }
}
