//! Marks that stand at a fixed place: file systems, volume managers, arrays, swap, disk images.
//!
//! The table holds what is strong enough alone, four bytes or more. What needs a second look
//! (two-byte magics, places counted from the end) is in [`super::superblocks`]. Each line names
//! where the format is written down; `linux/` is the Linux source tree.

use std::io::{Read, Seek};

use super::content::Content;
use super::superblocks;

/// A mark at a fixed place.
struct Magic {
    kind: &'static str,
    offset: u64,
    bytes: &'static [u8],
}

const fn magic(kind: &'static str, offset: u64, bytes: &'static [u8]) -> Magic {
    Magic { kind, offset, bytes }
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

const TABLE: [Magic; 50] = [
    // linux/fs/xfs/libxfs/xfs_format.h, XFS_SB_MAGIC
    magic("XFS", 0, b"XFSB"),
    // linux/include/uapi/linux/btrfs_tree.h and btrfs's documentation: the superblock at 64 KiB,
    // its copy at 64 MiB
    magic("btrfs", 64 * KIB + 64, b"_BHRfS_M"),
    magic("btrfs", 64 * MIB + 64, b"_BHRfS_M"),
    // linux/include/uapi/linux/magic.h, F2FS_SUPER_MAGIC; two superblocks, one page apart
    magic("F2FS", KIB, b"\x10\x20\xf5\xf2"),
    magic("F2FS", 5 * KIB, b"\x10\x20\xf5\xf2"),
    // Microsoft, "exFAT file system specification", section 3.1.2
    magic("exFAT", 3, b"EXFAT   "),
    // Microsoft, "How NTFS works", boot sector
    magic("NTFS", 3, b"NTFS    "),
    // libbde's documentation, volume header
    magic("BitLocker", 3, b"-FVE-FS-"),
    // libfsrefs's documentation, volume header
    magic("ReFS", 3, b"ReFS\0\0\0\0"),
    // ECMA-119, section 8.1.2
    magic("ISO 9660", 32 * KIB + 1, b"CD001"),
    // ECMA-167, part 2, section 9.2
    magic("UDF", 32 * KIB + 1, b"BEA01"),
    // linux/fs/squashfs/squashfs_fs.h
    magic("squashfs", 0, b"hsqs"),
    // linux/fs/erofs/erofs_fs.h, EROFS_SUPER_MAGIC_V1
    magic("EROFS", KIB, b"\xe2\xe1\xf5\xe0"),
    // linux/include/uapi/linux/cramfs_fs.h; the second place leaves room for a boot sector
    magic("cramfs", 0, b"\x45\x3d\xcd\x28"),
    magic("cramfs", 512, b"\x45\x3d\xcd\x28"),
    // linux/Documentation/filesystems/romfs.rst
    magic("romfs", 0, b"-rom1fs-"),
    // linux/fs/jfs/jfs_superblock.h
    magic("JFS", 32 * KIB, b"JFS1"),
    // linux 6.12, fs/reiserfs/reiserfs.h: REISERFS_DISK_OFFSET and the older place
    magic("ReiserFS", 64 * KIB + 52, b"ReIsErFs"),
    magic("ReiserFS", 64 * KIB + 52, b"ReIsEr2Fs"),
    magic("ReiserFS", 64 * KIB + 52, b"ReIsEr3Fs"),
    magic("ReiserFS", 8 * KIB + 52, b"ReIsErFs"),
    // reiser4progs, the master superblock
    magic("Reiser4", 64 * KIB, b"ReIsEr4"),
    // Apple, Technical Note TN1150: signature and version
    magic("HFS+", KIB, b"H+\x00\x04"),
    magic("HFS+", KIB, b"HX\x00\x05"),
    // "Apple File System Reference", nx_superblock_t
    magic("APFS", 32, b"NXSB"),
    // linux/include/uapi/linux/gfs2_ondisk.h, at 64 KiB
    magic("GFS2", 64 * KIB, b"\x01\x16\x19\x70"),
    // linux/fs/ocfs2/ocfs2_fs.h: block 2, for each block size
    magic("OCFS2", KIB, b"OCFSV2"),
    magic("OCFS2", 2 * KIB, b"OCFSV2"),
    magic("OCFS2", 4 * KIB, b"OCFSV2"),
    magic("OCFS2", 8 * KIB, b"OCFSV2"),
    // linux/fs/ufs/ufs_fs.h: fs_magic at 1372 of the superblock
    magic("UFS", 8 * KIB + 1372, b"\x54\x19\x01\x00"),
    magic("UFS2", 64 * KIB + 1372, b"\x19\x01\x54\x19"),
    // linux/include/uapi/linux/bfs_fs.h, BFS_MAGIC
    magic("BFS", 0, b"\xce\xfa\xad\x1b"),
    // linux/drivers/mtd/ubi/ubi-media.h, UBI_EC_HDR_MAGIC
    magic("UBI", 0, b"UBI#"),
    // linux/fs/ubifs/ubifs-media.h, UBIFS_NODE_MAGIC
    magic("UBIFS", 0, b"\x31\x18\x10\x06"),
    // "LUKS1 On-Disk Format Specification" and "LUKS2 On-Disk Format Specification": magic and
    // version; the second header of LUKS2 at any of nine places
    magic("LUKS1 encryption", 0, b"LUKS\xba\xbe\x00\x01"),
    magic("LUKS2 encryption", 0, b"LUKS\xba\xbe\x00\x02"),
    magic("LUKS2 encryption", 16 * KIB, b"SKUL\xba\xbe\x00\x02"),
    magic("LUKS2 encryption", 32 * KIB, b"SKUL\xba\xbe\x00\x02"),
    magic("LUKS2 encryption", 64 * KIB, b"SKUL\xba\xbe\x00\x02"),
    magic("LUKS2 encryption", 128 * KIB, b"SKUL\xba\xbe\x00\x02"),
    magic("LUKS2 encryption", 256 * KIB, b"SKUL\xba\xbe\x00\x02"),
    magic("LUKS2 encryption", 512 * KIB, b"SKUL\xba\xbe\x00\x02"),
    magic("LUKS2 encryption", MIB, b"SKUL\xba\xbe\x00\x02"),
    magic("LUKS2 encryption", 2 * MIB, b"SKUL\xba\xbe\x00\x02"),
    magic("LUKS2 encryption", 4 * MIB, b"SKUL\xba\xbe\x00\x02"),
    // linux/drivers/md/bcache and linux/fs/bcachefs: the superblock in sector 8, magic at 24
    magic(
        "bcache",
        4 * KIB + 24,
        b"\xc6\x85\x73\xf6\x4e\x1a\x45\xca\x82\x65\xf5\x7f\x48\xba\x6d\x81",
    ),
    magic(
        "bcachefs",
        4 * KIB + 24,
        b"\xc6\x85\x73\xf6\x66\xce\x90\xa9\xd9\x6a\x60\xcf\x80\x3d\xf7\xef",
    ),
    // linux/include/uapi/linux/raid/md_p.h, MD_SB_MAGIC and the major version
    magic("md RAID 1.1", 0, b"\xfc\x4e\x2b\xa9\x01\x00\x00\x00"),
    magic("md RAID 1.2", 4 * KIB, b"\xfc\x4e\x2b\xa9\x01\x00\x00\x00"),
];

/// Formats of virtual machines for an image of a disk, which lies inside in another order.
const FORMATS: [Magic; 4] = [
    // qemu, docs/interop/qcow2.rst
    magic("a qcow2 disk image", 0, b"QFI\xfb"),
    // VMware, "Virtual Disk Format 5.0"
    magic("a VMDK disk image", 0, b"KDMV"),
    // Microsoft, [MS-VHDX], section 2.2.1
    magic("a VHDX disk image", 0, b"vhdxfile"),
    // VirtualBox, VDICore.h, VDI_IMAGE_SIGNATURE
    magic("a VDI disk image", 64, b"\x7f\x10\xda\xbe"),
];

/// The kinds of signatures that `content` bears, each once.
pub(super) fn find<R: Read + Seek>(content: &mut Content<'_, R>) -> Vec<&'static str> {
    let mut found = find_in(&TABLE, content);
    found.extend(superblocks::find(content));
    let mut kinds = Vec::new();
    for kind in found {
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    kinds
}

/// The formats of virtual machines that `content` is of.
pub(super) fn find_formats<R: Read + Seek>(content: &mut Content<'_, R>) -> Vec<&'static str> {
    find_in(&FORMATS, content)
}

fn find_in<R: Read + Seek>(table: &[Magic], content: &mut Content<'_, R>) -> Vec<&'static str> {
    let is_there = |magic: &&Magic| content.has(magic.offset, magic.bytes);
    table.iter().filter(is_there).map(|magic| magic.kind).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_units::Bytes;
    use std::io::Cursor;

    fn kinds(image: &mut [u8]) -> Vec<&'static str> {
        let size = Bytes(image.len() as u64);
        let mut image = Cursor::new(image);
        let mut content = Content::new(&mut image, size);
        [find(&mut content), find_formats(&mut content)].concat()
    }

    #[test]
    fn a_blank_device_bears_nothing() {
        assert!(kinds(&mut vec![0; 5 << 20]).is_empty());
        assert!(kinds(&mut vec![0xff; 5 << 20]).is_empty());
        assert!(kinds(&mut []).is_empty());
    }

    #[test]
    fn every_line_of_the_table_is_found_and_only_it() {
        for magic in TABLE.iter().chain(&FORMATS) {
            let end = magic.offset as usize + magic.bytes.len();
            let mut image = vec![0; end.next_multiple_of(512)];
            image[magic.offset as usize..end].copy_from_slice(magic.bytes);
            assert_eq!(kinds(&mut image), [magic.kind]);
            // One bit off is another thing.
            image[magic.offset as usize] ^= 1;
            assert!(kinds(&mut image).is_empty(), "{}", magic.kind);
        }
    }
}
