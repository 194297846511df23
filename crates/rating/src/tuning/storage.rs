//! The steps that lay a device out: partition, file system, journal.

use cardproof_units::Bytes;

use super::layout::{JOURNAL_MIB, Layout};
use super::{AppliedBy, BOOT_PARTITION, Gain, Ground, TuningStep};

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
pub(super) fn steps(ground: &Ground, layout: &Layout, logical_block: Bytes) -> Vec<TuningStep> {
    let journal = layout.journal_mib().map(|_| journal(ground));
    [partition(ground, layout, logical_block), filesystem(ground, layout)]
        .into_iter()
        .chain(journal)
        .chain([f2fs(ground, layout), fat(ground, layout)])
        .collect()
}

fn lost(name: &'static str, why: String, sure: f64, commands: Vec<String>) -> TuningStep {
    TuningStep {
        name,
        why,
        sure,
        commands,
        gain: Gain::not_measured_by_prove(),
        risk: "all data in the partition are lost".to_owned(),
        undo: vec!["not possible; restore from a backup".to_owned()],
        applied_by: AppliedBy::Hand,
        setting: None,
        deletes_data: true,
        is_habit: false,
        brief: None,
    }
}

fn partition(ground: &Ground, layout: &Layout, logical_block: Bytes) -> TuningStep {
    let script = layout.sfdisk_lines(logical_block).join("\\n");
    TuningStep {
        gain: Gain::unknown(),
        risk: "all data on the device are lost".to_owned(),
        applied_by: AppliedBy::Destroy,
        brief: Some(match layout.known_unit {
            Some(_) => format!("begins at {}, the start of an allocation unit", layout.unit),
            None => format!("begins at {}, which suits most cards", layout.unit),
        }),
        ..lost(
            "partition",
            format!(
                "a partition that begins inside an allocation unit causes extra writes; {}. {BOOT_PARTITION}",
                layout.why
            ),
            layout.sure,
            vec![ground.partitioning(&script)],
        )
    }
}

fn filesystem(ground: &Ground, layout: &Layout) -> TuningStep {
    let options =
        layout.extended_options().map_or_else(String::new, |known| format!(" -E {known}"));
    let size = layout.journal_mib().map_or_else(String::new, |mib| format!(" -J size={mib}"));
    let spread = match (layout.stride, layout.stripe_width) {
        (Some(_), Some(_)) => {
            "The options stride (page / 4 KiB) and stripe_width (allocation unit / 4 KiB) spread the tables of ext4 \
             over allocation units"
        }
        (None, Some(_)) => {
            "The option stripe_width (allocation unit / 4 KiB) spreads the tables of ext4 over allocation \
             units; stride is left out because the page size is unknown"
        }
        (Some(_), None) => {
            "The option stride (page / 4 KiB) is given; stripe_width is left out because the allocation unit is \
             unknown"
        }
        (None, None) => {
            "The options stride and stripe_width are left out because page size and allocation unit are unknown"
        }
    };
    TuningStep {
        applied_by: AppliedBy::Destroy,
        ..lost(
            "filesystem",
            format!(
                "ext4 with a journal keeps synced data after a power cut. A journal of {JOURNAL_MIB} MiB \
                 is enough for a card. {spread}"
            ),
            0.6,
            ground.on_partition(&[format!("mkfs.ext4{size}{options}")]),
        )
    }
}

fn journal(ground: &Ground) -> TuningStep {
    TuningStep {
        deletes_data: false,
        risk: "a power cut between the two commands can damage the file system; unmount it before you run them"
            .to_owned(),
        undo: ground.on_partition(&[
            "tune2fs -O ^has_journal".to_owned(),
            "tune2fs -j".to_owned(),
        ]),
        ..lost(
            "journal",
            format!(
                "an existing ext4 keeps its data and gets a journal of {JOURNAL_MIB} MiB, instead of \
                 a new file system. Keep the journal on the card: with an external journal, \
                 the system needs two devices"
            ),
            0.6,
            ground.on_partition(&[
                "tune2fs -O ^has_journal".to_owned(),
                format!("tune2fs -J size={JOURNAL_MIB}"),
            ]),
        )
    }
}

fn f2fs(ground: &Ground, layout: &Layout) -> TuningStep {
    let segments = layout
        .known_unit
        .filter(|unit| unit.is_multiple_of(F2FS_SEGMENT))
        .map(|unit| unit.get() / F2FS_SEGMENT.get());
    let (option, why) = match segments {
        Some(segments) => (
            format!(" -s {segments}"),
            format!("a section of {segments} segments of 2 MiB is one allocation unit, so that F2FS \
                     cleans whole units"),
        ),
        None => (
            String::new(),
            "sections keep their default size, because the allocation unit is unknown or is not a multiple \
             of 2 MiB"
                .to_owned(),
        ),
    };
    lost(
        "filesystem_f2fs",
        format!(
            "use it instead of ext4 if small synced writes matter most: F2FS writes them sequentially; \
             {why}. Measure both with cardproof compare-setups"
        ),
        0.5,
        ground.on_partition(&[format!("mkfs.f2fs{option}")]),
    )
}

fn fat(ground: &Ground, layout: &Layout) -> TuningStep {
    let align =
        layout.known_unit.map_or_else(String::new, |unit| format!(" -b {}K", unit.get() >> 10));
    lost(
        "filesystem_fat",
        "for cameras, consoles and other systems: FAT up to 32 GB, exFAT above. Large clusters keep \
         files together, but FAT32 needs at least 65,525 of them; the data area begins at an allocation \
         unit where that is known"
            .to_owned(),
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
