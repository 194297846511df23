//! Marks that need a second look: short magics with the fields beside them, and places that are
//! counted from the end or depend on a page size.

use std::io::{Read, Seek};

use super::content::{Content, le16, le32};

/// Looks for one kind of signature.
type Search<R> = fn(&mut Content<'_, R>) -> Option<&'static str>;

/// The kinds of signatures of this sort that `content` bears.
pub(super) fn find<R: Read + Seek>(content: &mut Content<'_, R>) -> Vec<&'static str> {
    let searches: [Search<R>; 10] =
        [ext, fat, minix, nilfs2, hfs, swap, lvm, md_at_the_end, firmware_raid, zfs];
    searches.iter().filter_map(|search| search(content)).collect()
}

/// linux/Documentation/filesystems/ext4/super.rst: magic EF53 at 56 of the superblock at 1 KiB.
fn ext<R: Read + Seek>(content: &mut Content<'_, R>) -> Option<&'static str> {
    const HAS_JOURNAL: u32 = 0x4;
    const JOURNAL_DEVICE: u32 = 0x8;
    /// Extents, 64 bit, flexible groups, metadata checksum seed, inline data.
    const EXT4_INCOMPATIBLE: u32 = 0x40 | 0x80 | 0x200 | 0x2000 | 0x8000;
    let superblock = content.bytes(1024, 1024);
    let (compatible, incompatible) = (le32(&superblock, 92)?, le32(&superblock, 96)?);
    let is_ext = le16(&superblock, 56)? == 0xef53
        && le32(&superblock, 4)? != 0
        && le32(&superblock, 24)? <= 6
        && le32(&superblock, 76)? <= 1;
    let kind = if incompatible & JOURNAL_DEVICE != 0 {
        "an ext journal"
    } else if incompatible & EXT4_INCOMPATIBLE != 0 {
        "ext4"
    } else if compatible & HAS_JOURNAL != 0 {
        "ext3"
    } else {
        "ext2"
    };
    is_ext.then_some(kind)
}

/// Microsoft, "FAT: General Overview of On-Disk Format", the BPB: no magic of its own, so every
/// field with few legal values must have one.
fn fat<R: Read + Seek>(content: &mut Content<'_, R>) -> Option<&'static str> {
    let sector = content.bytes(0, 512);
    let jumps = matches!(sector.get(..3)?, [0xeb, _, 0x90] | [0xe9, _, _]);
    let &[cluster_sectors, reserved_low, reserved_high, fats] = sector.get(13..)?.first_chunk()?;
    let is_fat = jumps
        && matches!(le16(&sector, 11)?, 512 | 1024 | 2048 | 4096)
        && cluster_sectors.is_power_of_two()
        && (reserved_low, reserved_high) != (0, 0)
        && matches!(fats, 1 | 2)
        && matches!(sector.get(21)?, 0xf0 | 0xf8..=0xff)
        && (le16(&sector, 22)? != 0 || le32(&sector, 36)? != 0);
    is_fat.then_some("FAT")
}

/// linux/include/uapi/linux/minix_fs.h: two-byte magics at 16 (versions 1 and 2) or 24 (version
/// 3) of the superblock at 1 KiB; the maps must lie before the first data zone.
fn minix<R: Read + Seek>(content: &mut Content<'_, R>) -> Option<&'static str> {
    let superblock = content.bytes(1024, 32);
    let inode_map_at = if matches!(le16(&superblock, 16)?, 0x137f | 0x138f | 0x2468 | 0x2478) {
        4
    } else if le16(&superblock, 24)? == 0x4d5a {
        6
    } else {
        return None;
    };
    let inode_map = le16(&superblock, inode_map_at)?;
    let zone_map = le16(&superblock, inode_map_at + 2)?;
    let first_data_zone = le16(&superblock, inode_map_at + 4)?;
    let maps_end = inode_map.checked_add(zone_map)?.checked_add(2)?;
    (inode_map > 0 && zone_map > 0 && first_data_zone >= maps_end).then_some("minix")
}

/// linux/include/uapi/linux/nilfs2_ondisk.h: magic 3434 at 6 of the superblock at 1 KiB, or of
/// its copy in the last whole 4 KiB.
fn nilfs2<R: Read + Seek>(content: &mut Content<'_, R>) -> Option<&'static str> {
    let copy = (content.size() / 4096).checked_sub(1).map(|block| block * 4096);
    let mut is_at = |offset| {
        let superblock = content.bytes(offset, 1024);
        Some(
            le16(&superblock, 6)? == 0x3434
                && le32(&superblock, 0)? == 2
                && (256..=1024).contains(&le16(&superblock, 8)?)
                && le32(&superblock, 20)? <= 6,
        )
    };
    let found = is_at(1024) == Some(true) || copy.and_then(is_at) == Some(true);
    found.then_some("NILFS2")
}

/// Inside Macintosh: Files, "Master Directory Blocks": `BD` at 1 KiB, allocation blocks of a
/// multiple of 512 bytes.
fn hfs<R: Read + Seek>(content: &mut Content<'_, R>) -> Option<&'static str> {
    let block = content.bytes(1024, 64);
    let allocation_block = u32::from_be_bytes(*block.get(20..)?.first_chunk()?);
    let is_hfs = block.starts_with(b"BD")
        && allocation_block != 0
        && allocation_block.is_multiple_of(512)
        && block.get(36).is_some_and(|&name_length| (1..=27).contains(&name_length));
    is_hfs.then_some("HFS")
}

/// linux/include/linux/swap.h and linux/kernel/power/swap.c: ten bytes at the end of the first
/// page, for every page size in use; a suspended system leaves its own mark there.
fn swap<R: Read + Seek>(content: &mut Content<'_, R>) -> Option<&'static str> {
    [4096_u64, 8192, 16384, 32768, 65536].into_iter().find_map(|page| {
        match content.bytes(page - 10, 10).as_slice() {
            b"SWAP-SPACE" | b"SWAPSPACE2" => Some("swap"),
            b"S1SUSPEND\0" | b"S2SUSPEND\0" | b"ULSUSPEND\0" | b"LINHIB0001" => {
                Some("a suspended system in swap")
            }
            _ => None,
        }
    })
}

/// lvm2, lib/format_text/layout.h: a label in one of the first four sectors.
fn lvm<R: Read + Seek>(content: &mut Content<'_, R>) -> Option<&'static str> {
    let mut sectors = (0..4).map(|sector| content.bytes(sector * 512, 32));
    let is_label = |sector: Vec<u8>| {
        sector.starts_with(b"LABELONE") && sector.get(24..) == Some(b"LVM2 001".as_slice())
    };
    sectors.any(is_label).then_some("an LVM physical volume")
}

/// linux/include/uapi/linux/raid/md_p.h: version 0.90 in the last whole 64 KiB, in the
/// byte order of the machine that made it; version 1.0 in the last 8 KiB, on a 4 KiB boundary.
fn md_at_the_end<R: Read + Seek>(content: &mut Content<'_, R>) -> Option<&'static str> {
    const MAGIC: u32 = 0xa92b_4efc;
    let old = (content.size() / 65536).checked_sub(1).map(|block| block * 65536);
    if let Some(old) = old
        && (content.has(old, &MAGIC.to_le_bytes()) || content.has(old, &MAGIC.to_be_bytes()))
    {
        return Some("md RAID 0.90");
    }
    let new = content.before_end(8192)? / 4096 * 4096;
    content.has(new, b"\xfc\x4e\x2b\xa9\x01\x00\x00\x00").then_some("md RAID 1.0")
}

/// mdadm, super-intel.c: the anchor in the last sector but one. SNIA, "Common RAID Disk Data
/// Format": the anchor in the last sector.
fn firmware_raid<R: Read + Seek>(content: &mut Content<'_, R>) -> Option<&'static str> {
    let (last, last_but_one) = (content.before_end(512)?, content.before_end(1024)?);
    if content.has(last_but_one, b"Intel Raid ISM Cfg Sig. ") {
        return Some("Intel firmware RAID");
    }
    content.has(last, b"\xde\x11\xde\x11").then_some("DDF firmware RAID")
}

/// "ZFS On-Disk Specification", chapter 1: four labels of 256 KiB, two at each end; in the upper
/// half of each a ring of uberblocks, of which any may have been written.
fn zfs<R: Read + Seek>(content: &mut Content<'_, R>) -> Option<&'static str> {
    const LABEL: u64 = 256 << 10;
    const MAGIC: u64 = 0x00ba_b10c;
    let end = content.size() / LABEL * LABEL;
    let labels = [Some(0), Some(LABEL), end.checked_sub(2 * LABEL), end.checked_sub(LABEL)];
    labels
        .into_iter()
        .flatten()
        .any(|label| {
            let ring = content.bytes(label + LABEL / 2, 128 << 10);
            let mut uberblocks = ring.chunks_exact(1024);
            uberblocks.any(|block| {
                block.starts_with(&MAGIC.to_le_bytes()) || block.starts_with(&MAGIC.to_be_bytes())
            })
        })
        .then_some("ZFS")
}
