//! Where a partition begins and ends, and what its file system is told of the flash.

use cardproof_evidence::geometry::Geometry;
use cardproof_units::Bytes;

/// Where a first partition begins if nothing is known.
pub const USUAL_UNIT: Bytes = Bytes::mib(8);

/// The block of ext4.
const FILESYSTEM_BLOCK: Bytes = Bytes::kib(4);

/// The journal of an ext4 on a card.
pub(crate) const JOURNAL_MIB: u64 = 64;

/// A smaller partition gets the default, which is smaller still.
const JOURNAL_FROM: Bytes = Bytes::gib(2);

/// The end of what a DOS table can name: 2^32 sectors of 512 bytes.
const DOS_MOST: Bytes = Bytes::gib(2048);

/// The type of a Linux file system in a GPT (UEFI Discoverable Partitions Specification).
const LINUX_GUID: &str = "0FC63DAF-8483-4772-8E79-3D69D8477DE4";

fn needs_gpt(size: Bytes) -> bool {
    size >= DOS_MOST
}

/// Where the allocation unit of a layout comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitFrom {
    /// It was measured.
    Measured(Bytes),
    /// The card reports it.
    Reported(Bytes),
    /// It is not known.
    Usual,
}

/// The place of a partition and the parameters of its file system.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Where the partition begins, and of which its size is a multiple.
    pub unit: Bytes,
    /// Its size.
    pub size: Bytes,
    /// ext4's `stride`, in blocks; `None` where the page is not known.
    pub stride: Option<u64>,
    /// ext4's `stripe-width`, in blocks; `None` where the unit is not known.
    pub stripe_width: Option<u64>,
    /// Whether the table is a GPT, which a device above 2 TiB needs.
    pub is_gpt: bool,
    /// The allocation unit, where it is known.
    pub known_unit: Option<Bytes>,
    /// Why it is so.
    pub why: UnitFrom,
    /// How sure.
    pub sure: f64,
}

impl Layout {
    /// The layout of a device of `size`; `None` where two units do not fit.
    #[must_use]
    pub fn new(size: Bytes, geometry: Option<&Geometry>, reported: Option<Bytes>) -> Option<Self> {
        let seen = geometry.and_then(|geometry| geometry.allocation_unit.claim());
        let seen_unit = geometry.and_then(|geometry| geometry.allocation_unit.bytes());
        let (unit, why, sure, is_known) = match (seen_unit, reported) {
            (Some(unit), _) => {
                let sure = seen.map_or(0.5, |claim| claim.probability);
                (unit, UnitFrom::Measured(unit), sure, true)
            }
            (None, Some(unit)) if unit > Bytes::ZERO => (unit, UnitFrom::Reported(unit), 0.9, true),
            _ => (USUAL_UNIT, UnitFrom::Usual, 0.7, false),
        };
        // The partition begins at the unit or, where that is smaller, at the next multiple from 1 MiB
        // up, which leaves room for tables and boot loaders.
        let start = Bytes(unit.get() * Bytes::mib(1).get().div_ceil(unit.get()).max(1));
        let page = geometry.and_then(|geometry| geometry.page.bytes());
        let blocks = |bytes: Bytes| bytes.get() / FILESYSTEM_BLOCK.get();
        let table_at_end = if needs_gpt(size) { Bytes::mib(1) } else { Bytes::ZERO };
        let length = size.saturating_sub(start + table_at_end).round_down_to(start);
        (length >= start).then(|| Self {
            unit: start,
            size: length,
            stride: page.map(blocks).filter(|blocks| *blocks > 0),
            stripe_width: is_known.then(|| blocks(unit)).filter(|blocks| *blocks > 0),
            is_gpt: needs_gpt(size),
            known_unit: is_known.then_some(unit),
            why,
            sure,
        })
    }

    /// The lines that `sfdisk` reads for a device that is addressed in blocks of `logical_block`, its
    /// sectors (sfdisk(8), "Input formats").
    #[must_use]
    pub fn sfdisk_script(&self, logical_block: Bytes) -> String {
        self.sfdisk_lines(logical_block).map(|line| line + "\n").concat()
    }

    /// The same lines, each without its end.
    pub(crate) fn sfdisk_lines(&self, logical_block: Bytes) -> [String; 3] {
        let sectors = |bytes: Bytes| bytes.get() / logical_block.get().max(512);
        let (label, kind) = if self.is_gpt { ("gpt", LINUX_GUID) } else { ("dos", "83") };
        [
            format!("label: {label}"),
            "unit: sectors".to_owned(),
            format!("start={}, size={}, type={kind}", sectors(self.unit), sectors(self.size)),
        ]
    }

    /// The size of ext4's journal in MiB: on a card a larger one only spreads its writes. `None` for the
    /// default of `mkfs.ext4`, where the partition is small.
    #[must_use]
    pub fn journal_mib(&self) -> Option<u64> {
        (self.size >= JOURNAL_FROM).then_some(JOURNAL_MIB)
    }

    /// ext4's extended options.
    #[must_use]
    pub fn extended_options(&self) -> Option<String> {
        let stride = self.stride.map(|blocks| format!("stride={blocks}"));
        let width = self.stripe_width.map(|blocks| format!("stripe_width={blocks}"));
        let both: Vec<String> = stride.into_iter().chain(width).collect();
        (!both.is_empty()).then(|| both.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_evidence::geometry::{Observations, infer};

    #[test]
    fn partitions_begin_and_end_at_the_unit_and_say_why() {
        let cases = [
            (None, Bytes::mib(8)),
            (Some(Bytes::mib(4)), Bytes::mib(4)),
            (Some(Bytes::mib(24)), Bytes::mib(24)),
            (Some(Bytes::kib(512)), Bytes::mib(1)),
        ];
        for (reported, start) in cases {
            let layout = Layout::new(Bytes::gib(8), None, reported).unwrap();
            assert_eq!(layout.unit, start);
            assert!(
                layout.size.is_multiple_of(start) && layout.unit + layout.size <= Bytes::gib(8)
            );
            assert_eq!(layout.why, reported.map_or(UnitFrom::Usual, UnitFrom::Reported));
        }
        assert_eq!(Layout::new(Bytes::mib(8), None, None), None, "too small");
    }

    #[test]
    fn nothing_is_guessed_into_the_file_system() {
        let nothing = infer(&Observations::default());
        let layout = Layout::new(Bytes::gib(8), Some(&nothing), None).unwrap();
        assert_eq!(layout.extended_options(), None);
        let layout = Layout::new(Bytes::gib(8), None, Some(Bytes::mib(4))).unwrap();
        assert_eq!(layout.extended_options().as_deref(), Some("stripe_width=1024"));
    }

    #[test]
    fn a_device_too_large_for_a_dos_table_gets_a_gpt() {
        let size = Bytes::gib(4096);
        let layout = Layout::new(size, None, None).unwrap();
        let script = layout.sfdisk_script(Bytes(512));
        assert!(script.starts_with("label: gpt"), "{script}");
        assert!(layout.unit + layout.size + Bytes(34 * 512) <= size, "room for the second table");
        let smaller = Layout::new(Bytes::gib(2047), None, None).unwrap();
        assert!(smaller.sfdisk_script(Bytes(512)).contains("dos"));
    }

    #[test]
    fn the_table_counts_in_the_devices_own_blocks() {
        let layout = Layout::new(Bytes::gib(8), None, Some(Bytes::mib(4))).unwrap();
        for (block, start) in [(512, "start=8192,"), (4096, "start=1024,")] {
            let script = layout.sfdisk_script(Bytes(block));
            assert!(script.contains(start), "{script}");
            let size = format!("size={},", layout.size.get() / block);
            assert!(script.contains(&size), "{script}");
        }
    }
}
