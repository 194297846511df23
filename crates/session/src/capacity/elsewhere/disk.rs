//! Places all over the disk on which a test has reserved free space. Reading them needs root.

use std::fs::File;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use cardproof_device::{DeviceNumber, Sysroot, is_disk, whole_disk};
use cardproof_io::{Extent, PlaceReader, open_unnoticed};
use cardproof_probe::capacity::Elsewhere;
use cardproof_units::Bytes;

use super::written::Written;

/// The addresses of a test that lie in one piece on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    /// The first address.
    address: u64,
    /// Where it lies, from the start of the disk.
    place: u64,
    length: u64,
}

/// Where the addresses of a test lie on the disk, in the order of the addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Layout(Vec<Piece>);

impl Layout {
    /// The addresses of `pieces`, in their order, each from the address beside it on, on a partition that begins at
    /// `start`.
    pub(super) fn new(pieces: &[(Bytes, Extent)], start: Bytes) -> Self {
        let piece = |(address, piece): &(Bytes, Extent)| Piece {
            address: address.get(),
            place: (start + piece.device_offset).get(),
            length: piece.length.get(),
        };
        Self(pieces.iter().map(piece).collect())
    }

    /// Where `address` lies on the disk.
    pub(super) fn place(&self, address: u64) -> Option<u64> {
        let next = self.0.partition_point(|piece| piece.address <= address);
        let piece = self.0.get(next.checked_sub(1)?)?;
        let inside = address - piece.address;
        (inside < piece.length).then_some(piece.place + inside)
    }

    /// Of what was `written`, as (start, length) by address, at most `most` bytes at the highest places: how many
    /// bytes, and the lowest of these places.
    pub(super) fn top(&self, written: &[(u64, u64)], most: u64) -> (u64, u64) {
        let mut parts: Vec<(u64, u64)> =
            written.iter().flat_map(|&(start, length)| self.parts(start, start + length)).collect();
        parts.sort_unstable();
        // What was written twice counts once.
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (from, to) in parts {
            match joined.last_mut() {
                Some((_, end)) if from <= *end => *end = to.max(*end),
                _ => joined.push((from, to)),
            }
        }
        let (mut bytes, mut lowest) = (0, 0);
        for (from, to) in joined.into_iter().rev() {
            let length = (to - from).min(most - bytes);
            if length > 0 {
                bytes += length;
                lowest = to - length;
            }
        }
        (bytes, lowest)
    }

    /// The addresses from `start` to `end` as (start, end) on the disk.
    fn parts(&self, start: u64, end: u64) -> Vec<(u64, u64)> {
        let first = self.0.partition_point(|piece| piece.address + piece.length <= start);
        let held = self.0[first..].iter().take_while(|piece| piece.address < end);
        held.map(|piece| {
            let from = start.max(piece.address);
            let to = end.min(piece.address + piece.length);
            let at = piece.place + (from - piece.address);
            (at, at + (to - from))
        })
        .collect()
    }
}

/// A disk that may be read.
pub(super) struct Disk {
    file: File,
    reader: PlaceReader,
    layout: Layout,
    written: Option<Written>,
    /// How many bytes it holds.
    pub(super) size: Bytes,
    /// Whether it is a device itself, not made of other devices or of a file.
    pub(super) is_plain: bool,
}

impl Disk {
    /// The disk that holds the file system with the device `number`, on a partition that begins at `start`, and on
    /// which a test in `directory` has reserved `pieces`. `None` where there is not one disk, or this user may not read
    /// it.
    pub(super) fn open(
        directory: &Path,
        number: DeviceNumber,
        start: Option<Bytes>,
        pieces: &[(Bytes, Extent)],
    ) -> Option<Self> {
        let root = Sysroot::default();
        let disk = whole_disk(&root, number)?;
        let is_partition = disk.number != number;
        let start = if is_partition { start? } else { Bytes::ZERO };
        let file = open_unnoticed(&disk.node()).ok()?;
        let found = file.metadata().ok()?;
        let is_it = found.file_type().is_block_device()
            && DeviceNumber::from_raw(found.rdev()) == disk.number;
        Some(Self {
            file: is_it.then_some(file)?,
            reader: PlaceReader::new().ok()?,
            layout: Layout::new(pieces, start),
            written: Written::of(directory),
            size: disk.size?,
            is_plain: is_disk(&root, disk.number),
        })
    }

    /// See [`Layout::top`].
    pub(super) fn top(&self, written: &[(u64, u64)], most: u64) -> (u64, u64) {
        self.layout.top(written, most)
    }

    /// How far `inside` bytes behind the start of the place at `offset` are from where the test has its `address`.
    pub(super) fn distance(&self, offset: Bytes, inside: u64, address: u64) -> Option<u64> {
        Some(self.layout.place(address)?.abs_diff(offset.get() + inside))
    }
}

impl Elsewhere for Disk {
    type Place = Bytes;

    fn choose(&mut self, random: u64) -> Option<Bytes> {
        let places = self.size.get() / PlaceReader::PLACE.get();
        Some(Bytes(random.checked_rem(places)? * PlaceReader::PLACE.get()))
    }

    fn read(&mut self, place: Bytes) -> Option<&[u8]> {
        self.reader.read(&self.file, place).ok()
    }

    fn is_own(&self, place: Bytes, inside_bytes: u64, address_bytes: u64) -> bool {
        self.distance(place, inside_bytes, address_bytes) == Some(0)
    }

    fn written_bytes(&mut self) -> Option<u64> {
        // What somebody has written to the disk itself waits in a cache of its own.
        self.file.sync_all().ok()?;
        self.written.as_ref()?.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout() -> Layout {
        of([(0, 100, 10), (10, 200, 20), (30, 300, 5)])
    }

    /// Of pieces as (address, place on the partition, length).
    fn of(pieces: [(u64, u64, u64); 3]) -> Layout {
        let pieces = pieces.map(|(address, place, length)| {
            let (device_offset, length) = (Bytes(place), Bytes(length));
            (Bytes(address), Extent { file_offset: Bytes::ZERO, device_offset, length })
        });
        Layout::new(&pieces, Bytes(1000))
    }

    #[test]
    fn addresses_are_found_on_the_disk() {
        let places = [0, 9, 10, 29, 30, 34, 35].map(|address| layout().place(address));
        let on_disk = [1100, 1109, 1200, 1219, 1300, 1304].map(Some);
        assert_eq!(places[..6], on_disk);
        assert_eq!(places[6], None);
    }

    #[test]
    fn addresses_without_a_place_are_left_out() {
        let layout = of([(50, 300, 10), (80, 100, 20), (200, 500, 5)]);
        let places = [0, 50, 59, 60, 80, 99, 100, 204].map(|address| layout.place(address));
        let on_disk =
            [None, Some(1300), Some(1309), None, Some(1100), Some(1119), None, Some(1504)];
        assert_eq!(places, on_disk);
        assert_eq!(layout.top(&[(40, 60), (200, 5)], 12), (12, 1303));
        assert_eq!(layout.top(&[(60, 20), (100, 100)], 12), (0, 0));
    }

    #[test]
    fn the_highest_bytes_written_are_counted_once() {
        assert_eq!(layout().top(&[(0, 35)], 100), (35, 1100));
        assert_eq!(layout().top(&[(0, 35)], 15), (15, 1210));
        assert_eq!(layout().top(&[(28, 4), (28, 4), (0, 2)], 100), (6, 1100));
        assert_eq!(layout().top(&[(31, 2), (30, 4)], 3), (3, 1301));
        assert_eq!(layout().top(&[], 100), (0, 0));
    }
}
