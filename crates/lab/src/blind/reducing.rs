//! A device that takes any address and saves room by content: each page once, or compressed.
//!
//! It needs the bytes of what is written, so it takes no data as numbers.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::SECTOR;

/// Sectors of a page, the unit of saving.
const PAGE: u64 = 8;

const PAGE_LEN: usize = (PAGE * SECTOR) as usize;

/// How room is saved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saves {
    /// Equal pages take the room of one.
    Duplicates,
    /// A page takes the room of what is in it.
    Redundancy,
}

/// Pages by address, within a budget.
#[derive(Clone, Debug)]
pub(super) struct Reducing {
    saves: Saves,
    budget_bytes: u64,
    used_bytes: u64,
    pages: HashMap<u64, Arc<[u8]>>,
    /// By a hash of the content: how many addresses have it.
    shared: HashMap<u64, u64>,
}

impl Reducing {
    pub(super) fn new(saves: Saves, budget_bytes: u64) -> Self {
        let (pages, shared) = (HashMap::new(), HashMap::new());
        Self { saves, budget_bytes, used_bytes: 0, pages, shared }
    }

    /// Reads whole sectors from `first` on.
    pub(super) fn read(&self, first: u64, into: &mut [u8]) {
        for (index, sector) in into.chunks_mut(SECTOR as usize).enumerate() {
            let address = first + index as u64;
            match self.pages.get(&(address / PAGE)) {
                Some(page) => {
                    let start = (address % PAGE * SECTOR) as usize;
                    sector.copy_from_slice(&page[start..start + SECTOR as usize]);
                }
                None => sector.fill(0),
            }
        }
    }

    /// Writes whole sectors from `first` on; pages for which there is no room are lost.
    pub(super) fn write(&mut self, first: u64, from: &[u8]) {
        let sectors = from.len() as u64 / SECTOR;
        let end = first + sectors;
        for number in first / PAGE..end.div_ceil(PAGE) {
            let mut page = vec![0; PAGE_LEN];
            self.read(number * PAGE, &mut page);
            let (start, stop) = ((number * PAGE).max(first), ((number + 1) * PAGE).min(end));
            let into = (start - number * PAGE) * SECTOR;
            let part = ((start - first) * SECTOR) as usize..((stop - first) * SECTOR) as usize;
            page[into as usize..into as usize + part.len()].copy_from_slice(&from[part]);
            self.put(number, page.into());
        }
    }

    fn put(&mut self, number: u64, page: Arc<[u8]>) {
        if let Some(old) = self.pages.remove(&number) {
            self.used_bytes -= self.freed(&old);
        }
        let cost = self.cost(&page);
        if self.used_bytes + cost > self.budget_bytes {
            return;
        }
        self.used_bytes += cost;
        *self.shared.entry(hash(&page)).or_default() += 1;
        self.pages.insert(number, page);
    }

    /// The room that `page` needs.
    fn cost(&self, page: &[u8]) -> u64 {
        match self.saves {
            Saves::Duplicates if self.shared.contains_key(&hash(page)) => 0,
            Saves::Duplicates => PAGE_LEN as u64,
            Saves::Redundancy => content_bytes(page),
        }
    }

    /// The room that becomes free when one address gives up `page`.
    fn freed(&mut self, page: &[u8]) -> u64 {
        let key = hash(page);
        let left = self.shared.get_mut(&key).map_or(0, |count| {
            *count -= 1;
            *count
        });
        if left == 0 {
            self.shared.remove(&key);
        }
        match self.saves {
            Saves::Duplicates if left > 0 => 0,
            Saves::Duplicates => PAGE_LEN as u64,
            Saves::Redundancy => content_bytes(page),
        }
    }
}

fn hash(page: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    page.hash(&mut hasher);
    hasher.finish()
}

/// How many bytes a simple compressor would need: different words, or the entropy of the bytes.
fn content_bytes(page: &[u8]) -> u64 {
    let words: HashSet<&[u8]> = page.chunks(8).collect();
    let mut counts = [0_u32; 256];
    for &byte in page {
        counts[usize::from(byte)] += 1;
    }
    let length = page.len() as f64;
    let mut bits = 0.0;
    for count in counts.into_iter().filter(|&count| count > 0) {
        bits += f64::from(count) * (length / f64::from(count)).log2();
    }
    // 0.95 of what is full of noise counts as full: a page of 4 KiB has not every byte alike often.
    let entropy = (bits / 8.0 / 0.95).min(length) as u64;
    entropy.min(words.len() as u64 * 8)
}

#[cfg(test)]
mod tests {
    use cardproof_testkit::Noise;

    use super::*;

    /// A page of noise.
    fn noise(seed: u64) -> Vec<u8> {
        let mut page = vec![0; PAGE_LEN];
        Noise::new(seed).fill(&mut page);
        page
    }

    fn holds(device: &Reducing, number: u64, page: &[u8]) -> bool {
        let mut found = vec![0; PAGE_LEN];
        device.read(number * PAGE, &mut found);
        found == page
    }

    #[test]
    fn equal_pages_take_the_room_of_one_and_others_their_own() {
        let mut device = Reducing::new(Saves::Duplicates, 4 * PAGE_LEN as u64);
        for number in 0..100 {
            device.write(number * PAGE, &noise(1));
        }
        assert!((0..100).all(|number| holds(&device, number, &noise(1))));
        for number in 0..10 {
            device.write(number * PAGE, &noise(10 + number));
        }
        let kept = (0..10).filter(|&number| holds(&device, number, &noise(10 + number))).count();
        assert_eq!(kept, 3);
    }

    #[test]
    fn repeated_content_takes_little_room_and_noise_takes_its_own() {
        let mut device = Reducing::new(Saves::Redundancy, 10 * PAGE_LEN as u64);
        for number in 0..100 {
            device.write(number * PAGE, &[7; PAGE_LEN]);
        }
        assert!((0..100).all(|number| holds(&device, number, &[7; PAGE_LEN])));
        for number in 100..120 {
            device.write(number * PAGE, &noise(number));
        }
        let kept = (100..120).filter(|&number| holds(&device, number, &noise(number))).count();
        assert!((8..=11).contains(&kept), "{kept}");
    }

    #[test]
    fn a_sector_in_a_page_is_replaced_alone() {
        let mut device = Reducing::new(Saves::Duplicates, 4 * PAGE_LEN as u64);
        device.write(8, &noise(1));
        device.write(10, &[9; 512]);
        let mut wanted = noise(1);
        wanted[1024..1536].fill(9);
        assert!(holds(&device, 1, &wanted));
    }
}
