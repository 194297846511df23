//! The steps that lay a device out: partition, file system, journal.

use cardproof_units::Bytes;

use super::layout::{JOURNAL_MIB, Layout};
use super::{AppliedBy, Brief, Command, Ground, NoGain, Planned, Risk, Undo, Why};

/// F2FS writes in segments of this size.
const F2FS_SEGMENT: Bytes = Bytes::mib(2);

/// The most that `mkfs.vfat` makes one cluster, 64 KiB, in sectors; larger ones are not read everywhere.
const FAT_CLUSTER_SECTORS: u64 = 128;

/// The sector of a FAT.
const FAT_SECTOR: u64 = 512;

/// With fewer clusters a file system is no FAT32 (Microsoft, FAT specification 1.03), and some systems do not read it.
const FAT32_CLUSTERS_MIN: u64 = 65_525;

/// The cluster of exFAT that the SD Association's formatter takes from 64 GB on.
const EXFAT_CLUSTER: &str = "128K";

/// All of them for `ground`, which is addressed in blocks of `logical_block`.
pub(super) fn steps(ground: &Ground, layout: &Layout, logical_block: Bytes) -> Vec<Planned> {
    let journal = layout.journal_mib().map(|_| journal(ground));
    [partition(ground, layout, logical_block), filesystem(ground, layout)]
        .into_iter()
        .chain(journal)
        .chain([f2fs(ground, layout), fat(ground, layout)])
        .collect()
}

fn lost(name: &'static str, why: Why, sure: f64, commands: Vec<String>) -> Planned {
    Planned {
        name,
        why,
        sure,
        commands: commands.into_iter().map(Command::Run).collect(),
        gain: NoGain::OfSetups,
        risk: Risk::LosesPartition,
        undo: vec![Undo::NotPossible],
        applied_by: AppliedBy::Hand,
        setting: None,
        deletes_data: true,
        is_habit: false,
        brief: None,
    }
}

fn partition(ground: &Ground, layout: &Layout, logical_block: Bytes) -> Planned {
    let script = layout.sfdisk_lines(logical_block).join("\\n");
    Planned {
        gain: NoGain::Provable,
        risk: Risk::LosesDevice,
        applied_by: AppliedBy::Destroy,
        brief: Some(match layout.known_unit {
            Some(_) => Brief::AtUnit(layout.unit),
            None => Brief::SuitsMost(layout.unit),
        }),
        ..lost(
            "partition",
            Why::Partition(layout.why),
            layout.sure,
            vec![ground.partitioning(&script)],
        )
    }
}

fn filesystem(ground: &Ground, layout: &Layout) -> Planned {
    let options =
        layout.extended_options().map_or_else(String::new, |known| format!(" -E {known}"));
    let size = layout.journal_mib().map_or_else(String::new, |mib| format!(" -J size={mib}"));
    Planned {
        applied_by: AppliedBy::Destroy,
        ..lost(
            "filesystem",
            Why::Ext4 {
                has_stride: layout.stride.is_some(),
                has_stripe_width: layout.stripe_width.is_some(),
            },
            0.6,
            ground.on_partition(&[format!("mkfs.ext4{size}{options}")]),
        )
    }
}

fn journal(ground: &Ground) -> Planned {
    Planned {
        deletes_data: false,
        risk: Risk::PowerCutBetween,
        undo: ground
            .on_partition(&["tune2fs -O ^has_journal".to_owned(), "tune2fs -j".to_owned()])
            .into_iter()
            .map(Undo::Command)
            .collect(),
        ..lost(
            "journal",
            Why::Journal,
            0.6,
            ground.on_partition(&[
                "tune2fs -O ^has_journal".to_owned(),
                format!("tune2fs -J size={JOURNAL_MIB}"),
            ]),
        )
    }
}

fn f2fs(ground: &Ground, layout: &Layout) -> Planned {
    let segments = layout
        .known_unit
        .filter(|unit| unit.is_multiple_of(F2FS_SEGMENT))
        .map(|unit| unit.get() / F2FS_SEGMENT.get());
    let option = segments.map_or_else(String::new, |segments| format!(" -s {segments}"));
    lost(
        "filesystem_f2fs",
        Why::F2fs { segments },
        0.5,
        ground.on_partition(&[format!("mkfs.f2fs{option}")]),
    )
}

fn fat(ground: &Ground, layout: &Layout) -> Planned {
    let align =
        layout.known_unit.map_or_else(String::new, |unit| format!(" -b {}K", unit.get() >> 10));
    lost(
        "filesystem_fat",
        Why::Fat,
        0.5,
        ground.on_partition(&[if layout.size <= Bytes::gib(32) {
            match fat32_cluster_sectors(layout.size) {
                Some(sectors) => format!("mkfs.vfat -F 32 -s {sectors}"),
                None => "mkfs.vfat".to_owned(),
            }
        } else {
            format!("mkfs.exfat -c {EXFAT_CLUSTER}{align}")
        }]),
    )
}

/// The largest cluster, in sectors, with which a partition of `size` has enough clusters for FAT32; `None` where it is
/// too small for that.
fn fat32_cluster_sectors(size: Bytes) -> Option<u64> {
    let has_enough = |sectors: &u64| {
        let cluster = sectors * FAT_SECTOR;
        // Each cluster has an entry of 4 bytes in both tables. The reserved sectors and both tables end at a
        // boundary of a cluster, and 32 sectors or more are reserved.
        let around = (32 * FAT_SECTOR).max(cluster) + 2 * cluster;
        size.get().saturating_sub(around) / (cluster + 8) >= FAT32_CLUSTERS_MIN
    };
    let all = (0..=FAT_CLUSTER_SECTORS.ilog2()).map(|power| 1_u64 << power);
    all.rev().find(has_enough)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fat32_has_as_many_clusters_as_it_needs() {
        for (size, sectors) in [
            (Bytes::mib(16), None),
            (Bytes::mib(64), Some(1)),
            (Bytes::mib(512), Some(8)),
            (Bytes::gib(2), Some(32)),
            (Bytes::mib(3776), Some(64)),
            (Bytes::mib(4095), Some(64)),
            (Bytes::gib(4), Some(128)),
            (Bytes::mib(4200), Some(128)),
            (Bytes::gib(32), Some(128)),
        ] {
            assert_eq!(fat32_cluster_sectors(size), sectors, "{size}");
        }
    }
}
