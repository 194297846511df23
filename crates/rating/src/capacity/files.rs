//! What files that filled a file system show of its device.

use cardproof_evidence::capacity::{genuine_after_files, stamp::SECTOR};
use cardproof_record::{CapacityFiles, CapacityVerdict};
use cardproof_units::Bytes;

use super::{COVERED, Capacity, CapacityReason};

/// Losses below this share of the files, or in pieces below [`PIECE`], are damage and no false
/// capacity.
const LOST_SHARE: f64 = 0.05;
const PIECE: u64 = 1 << 20;

/// The probabilities of a false capacity and of damage that files have shown.
const FAKE_BY_FILES: f64 = 0.99;
const DAMAGED_BY_FILES: f64 = 0.95;

/// The verdict after a test with files in the free space of a file system that counts `size` bytes, on a
/// device of `device` bytes where that is known.
pub(super) fn judged(size: Bytes, device: Option<Bytes>, files: &CapacityFiles) -> Capacity {
    // Beside what it counts, a file system has data of its own, and it may lie on a part of the device.
    let announced = device.unwrap_or(size).max(size);
    let sector = SECTOR as u64;
    let size = size.get();
    let tested = files.tested_bytes.get();
    let bad = files.foreign_sectors + files.wrong_sectors + files.unreadable_sectors;
    let share = tested as f64 / size.max(1) as f64;
    let lost = bad as f64 / (tested / sector).max(1) as f64;
    let is_in_pieces = files.longest_bad_sectors * sector >= PIECE;
    let is_false = files.foreign_sectors * sector >= PIECE
        || (lost > LOST_SHARE && is_in_pieces && files.unreadable_sectors < bad);
    let right = Bytes(files.right_sectors * sector);
    // The latest writes may come from a store; a fifth of them is left out of account.
    let store = tested.saturating_sub(tested / 5);
    let genuine = genuine_after_files(share, store);
    let is_covered = share >= COVERED && files.is_all_free_space;
    let (verdict, kind, probability, most) = if is_false {
        let kind = if files.foreign_sectors > 0 { "wrap" } else { "drop" };
        // All of which nothing was read may be real.
        let most = Bytes(announced.get().saturating_sub(bad * sector));
        (CapacityVerdict::Fake, kind, FAKE_BY_FILES, most)
    } else if bad > 0 {
        (CapacityVerdict::Damaged, "damaged", DAMAGED_BY_FILES, announced)
    } else if is_covered {
        (CapacityVerdict::Genuine, "honest", genuine, announced)
    } else {
        (CapacityVerdict::Undecided, "honest", genuine, announced)
    };
    let found = Capacity {
        verdict,
        kind,
        probability,
        real_size: (right, most),
        free_space: Some(files.tested_bytes),
        excluded_store: Bytes(store),
        excluded_share: (1.0 - share).clamp(0.0, 1.0),
        reasons: reasons_of_files(files, share),
        damaged_ranges: files.bad_ranges.iter().map(|[from, to]| (from.get(), to.get())).collect(),
        ..Capacity::unknown(announced)
    };
    let is_all = verdict == CapacityVerdict::Genuine && found.part_tested().is_none();
    Capacity { real_size: if is_all { (announced, announced) } else { found.real_size }, ..found }
}

fn reasons_of_files(files: &CapacityFiles, share: f64) -> Vec<CapacityReason> {
    let mut reasons = vec![CapacityReason::FilesRead {
        tested: files.tested_bytes,
        right: files.right_sectors,
        foreign: files.foreign_sectors,
        wrong: files.wrong_sectors,
        unreadable: files.unreadable_sectors,
    }];
    if files.transient_errors > 0 {
        reasons.push(CapacityReason::TransientErrors(files.transient_errors));
    }
    if files.missing_files > 0 {
        reasons.push(CapacityReason::MissingFiles(files.missing_files));
    }
    reasons.push(CapacityReason::FilesCover { share });
    reasons
}
