//! Where the partitions of an image begin, by its own partition table: the kernel knows those of devices alone.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use cardproof_units::Bytes;

use crate::disk::Partition;

/// The sector of a DOS table (UEFI specification, "Legacy Master Boot Record").
const SECTOR: u64 = 512;

/// The type of the entry that protects a GPT.
const PROTECTIVE: u8 = 0xee;

/// The types of an extended partition, which holds others.
const EXTENDED: [u8; 3] = [0x05, 0x0f, 0x85];

/// A chain of logical partitions is not followed further, nor is a longer GPT read.
const PARTITIONS_MAX: usize = 128;

/// The partitions of the image at `path`, in the order of its table: none where it has no DOS table and no GPT.
///
/// # Errors
///
/// When the file cannot be read.
pub fn partitions_of_image(path: &Path) -> io::Result<Vec<Partition>> {
    let file = File::open(path)?;
    let Some(first) = sector(&file, 0)? else { return Ok(Vec::new()) };
    let entries = entries(&first);
    if entries.iter().any(|entry| entry.kind == PROTECTIVE) {
        for block in [512, 4096] {
            let partitions = gpt(&file, block)?;
            if !partitions.is_empty() {
                return Ok(partitions);
            }
        }
        return Ok(Vec::new());
    }
    let mut partitions = Vec::new();
    let mut within = Vec::new();
    for entry in entries {
        if EXTENDED.contains(&entry.kind) {
            within.extend(logical(&file, entry.start)?);
        } else {
            partitions.push(entry.partition(entry.number, 0));
        }
    }
    partitions.extend(within);
    Ok(partitions)
}

/// An entry of a DOS table.
struct Entry {
    /// Its place in the table, from 1 on.
    number: usize,
    kind: u8,
    /// In sectors.
    start: u64,
    length: u64,
}

impl Entry {
    /// The partition called `number`, of a table that counts from the sector `base` on.
    const fn partition(&self, number: usize, base: u64) -> Partition {
        Partition {
            number,
            start: Bytes((base + self.start) * SECTOR),
            size: Bytes(self.length * SECTOR),
        }
    }
}

/// The used entries of a table in `sector`; none where it is no table, as in the first sector of a FAT.
fn entries(sector: &[u8]) -> Vec<Entry> {
    let Some(table) = sector.get(446..510) else { return Vec::new() };
    let all = || table.chunks_exact(16);
    let is_table = sector.get(510..512) == Some(&[0x55, 0xaa])
        && all().all(|entry| matches!(entry[0], 0x00 | 0x80));
    let used = |(place, entry): (usize, &[u8])| {
        let (kind, start, length) = (entry[4], figure(entry, 8, 4), figure(entry, 12, 4));
        let is_used = kind != 0 && start != 0 && length != 0;
        is_used.then_some(Entry { number: place, kind, start, length })
    };
    if is_table { (1..).zip(all()).filter_map(used).collect() } else { Vec::new() }
}

/// The logical partitions in the extended one that begins at the sector `first`, which count from 5 on.
fn logical(file: &File, first: u64) -> io::Result<Vec<Partition>> {
    let mut partitions = Vec::new();
    let mut at = first;
    while partitions.len() < PARTITIONS_MAX {
        let Some(bytes) = sector(file, at * SECTOR)? else { break };
        let mut next = None;
        for entry in entries(&bytes) {
            if EXTENDED.contains(&entry.kind) {
                next = Some(first + entry.start);
            } else {
                partitions.push(entry.partition(5 + partitions.len(), at));
            }
        }
        // A chain leads forward; one that does not would never end.
        match next.filter(|next| *next > at) {
            Some(next) => at = next,
            None => break,
        }
    }
    Ok(partitions)
}

/// The partitions in a GPT of blocks of so many bytes (UEFI specification, "GPT Header").
fn gpt(file: &File, block: u64) -> io::Result<Vec<Partition>> {
    let Some(header) = sector(file, block)? else { return Ok(Vec::new()) };
    let size = figure(&header, 84, 4);
    if !header.starts_with(b"EFI PART") || !(128..=4096).contains(&size) {
        return Ok(Vec::new());
    }
    let count = figure(&header, 80, 4).min(PARTITIONS_MAX as u64);
    let Some(table) = figure(&header, 72, 8).checked_mul(block) else { return Ok(Vec::new()) };
    let mut partitions = Vec::new();
    for (number, index) in (1..).zip(0..count) {
        let Some(at) = table.checked_add(index * size) else { break };
        let mut entry = [0; 48];
        if !fill(file, &mut entry, at)? {
            break;
        }
        let is_used = entry[..16].iter().any(|byte| *byte != 0);
        let (first, last) = (figure(&entry, 32, 8), figure(&entry, 40, 8));
        let start = first.checked_mul(block);
        let size = last.saturating_add(1).saturating_sub(first).saturating_mul(block);
        partitions.extend(start.filter(|_| is_used).map(|start| Partition {
            number,
            start: Bytes(start),
            size: Bytes(size),
        }));
    }
    Ok(partitions)
}

/// The number of `length` bytes at `at`, the lowest first.
fn figure(bytes: &[u8], at: usize, length: usize) -> u64 {
    bytes[at..at + length].iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte))
}

/// The sector that begins at `at`; `None` beyond the end.
fn sector(file: &File, at: u64) -> io::Result<Option<[u8; SECTOR as usize]>> {
    let mut bytes = [0; SECTOR as usize];
    Ok(fill(file, &mut bytes, at)?.then_some(bytes))
}

/// Reads `bytes` at `at`; `false` where the file ends before.
fn fill(file: &File, bytes: &mut [u8], at: u64) -> io::Result<bool> {
    match file.read_exact_at(bytes, at) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        // Linux reads at no offset that is negative for it.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image of 16 MiB with these bytes at these places.
    fn partitions(parts: &[(u64, &[u8])]) -> Vec<Partition> {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(16 << 20).unwrap();
        parts.iter().for_each(|(at, bytes)| file.as_file().write_all_at(bytes, *at).unwrap());
        partitions_of_image(file.path()).unwrap()
    }

    /// The end of a sector with a DOS table of these kinds, starts and lengths.
    fn dos(of: &[(u8, u32, u32)]) -> Vec<u8> {
        let mut bytes = vec![0; 66];
        for (entry, (kind, start, length)) in bytes.chunks_exact_mut(16).zip(of) {
            entry[4] = *kind;
            entry[8..12].copy_from_slice(&start.to_le_bytes());
            entry[12..16].copy_from_slice(&length.to_le_bytes());
        }
        bytes[64..].copy_from_slice(&[0x55, 0xaa]);
        bytes
    }

    #[test]
    fn a_dos_table_tells_its_partitions_and_the_logical_ones() {
        let first = dos(&[(0x0c, 8192, 2048), (0x05, 12_288, 8192), (0x83, 24_576, 2048)]);
        let chain = dos(&[(0x83, 2048, 1024), (0x05, 4096, 2048)]);
        // The last one leads back to itself.
        let last = dos(&[(0x83, 2048, 1024), (0x05, 4096, 2048)]);
        let at = |sector: u64| sector * 512 + 446;
        let found = partitions(&[(446, &first), (at(12_288), &chain), (at(16_384), &last)]);
        let sectors: Vec<(usize, u64, u64)> =
            found.iter().map(|it| (it.number, it.start.get() / 512, it.size.get() / 512)).collect();
        let expected = [(1, 8192, 2048), (3, 24_576, 2048), (5, 14_336, 1024), (6, 18_432, 1024)];
        assert_eq!(sectors, expected);
    }

    #[test]
    fn a_gpt_tells_its_partitions_in_blocks_of_either_size() {
        for block in [512, 4096] {
            let mut header = [0; 92];
            header[..8].copy_from_slice(b"EFI PART");
            header[72] = 2;
            header[80] = 4;
            header[84] = 128;
            let entry = |start: u64| {
                let mut bytes = [0; 128];
                bytes[0] = 1;
                bytes[32..40].copy_from_slice(&start.to_le_bytes());
                bytes[40..48].copy_from_slice(&(start + 7).to_le_bytes());
                bytes
            };
            let protective = dos(&[(0xee, 1, 32_767)]);
            let found = partitions(&[
                (446, &protective),
                (block, &header),
                (2 * block, &entry(256)),
                (2 * block + 256, &entry(1024)),
            ]);
            let partition = |number, start| Partition {
                number,
                start: Bytes(start * block),
                size: Bytes(8 * block),
            };
            assert_eq!(found, [partition(1, 256), partition(3, 1024)]);
        }
    }

    #[test]
    fn what_has_no_table_has_no_partition() {
        assert_eq!(partitions(&[]), []);
        let mut fat = dos(&[(0x0c, 8192, 2048)]);
        fat[0] = 0x31;
        assert_eq!(partitions(&[(446, &fat)]), []);
        assert_eq!(partitions(&[(446, &dos(&[(0xee, 1, 32_767)]))]), []);
    }
}
