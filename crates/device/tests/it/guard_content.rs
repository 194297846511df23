//! The guard on real content: images that other people's tools have made, and noise.
//!
//! A tool that is not installed skips its cases, each with its name; the table of magics is
//! tested without any tool beside the code.

use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use cardproof_device::Sysroot;
use cardproof_device::guard::{Objection, inspect};
use cardproof_units::Bytes;
use proptest::prelude::*;
use tempfile::NamedTempFile;

/// A sparse image of `size`.
fn image(size: Bytes) -> NamedTempFile {
    let image = NamedTempFile::new().unwrap();
    image.as_file().set_len(size.get()).unwrap();
    image
}

/// What the image bears, without what every file with something in it gets.
fn marks(image: &Path) -> Vec<String> {
    let objections = inspect(&Sysroot::default(), image).unwrap().objections;
    objections
        .into_iter()
        .filter_map(|objection| match objection {
            Objection::PartitionTable { kind } => Some(format!("table: {kind}")),
            Objection::Signature { kind } | Objection::ImageFormat { kind } => {
                Some(kind.to_owned())
            }
            Objection::HoldsData => None,
            // A test beside this one serves a card by FUSE under a loop device: that says nothing of the content.
            // Another one swaps on a file of a mount that is not seen from here.
            Objection::MayBeHeld { .. } | Objection::MayBeSwap { .. } => None,
            other => panic!("{other}"),
        })
        .collect()
}

/// Files without which a program makes nothing. A bare system has no list of mounts.
const NEEDED: [(&str, &str); 1] = [("mkfs.nilfs2", "/etc/mtab")];

/// Runs `script` in a shell with the image as `$IMAGE`; false where its program, or a file that it reads, is missing.
fn make(script: &str, image: &Path) -> bool {
    let program = script.split_whitespace().next().unwrap();
    let with_sbin = std::env::var("PATH").unwrap_or_default() + ":/sbin:/usr/sbin";
    if !std::env::split_paths(&with_sbin).any(|directory| directory.join(program).exists()) {
        let reason = format!("{program} is not installed");
        cardproof_testkit::skip(cardproof_testkit::test_name!(), &reason);
        return false;
    }
    let mut needed = NEEDED.iter().filter(|(of, _)| *of == program);
    if let Some((_, file)) = needed.find(|(_, file)| !Path::new(file).exists()) {
        let reason = format!("{program} reads {file}, which is missing");
        cardproof_testkit::skip(cardproof_testkit::test_name!(), &reason);
        return false;
    }
    let output = Command::new("sh")
        .args(["-c", script])
        .env("PATH", with_sbin)
        .env("IMAGE", image)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script}: {error}");
    true
}

/// What makes an image, how many MiB it has before, and what the guard must see in it.
const MAKERS: [(&str, u64, &[&str]); 34] = [
    ("mkfs.ext2 -q -F $IMAGE", 16, &["ext2"]),
    ("mkfs.ext3 -q -F $IMAGE", 16, &["ext3"]),
    ("mkfs.ext4 -q -F $IMAGE", 16, &["ext4"]),
    ("mkfs.ext4 -q -F -b 4096 -O ^has_journal $IMAGE", 16, &["ext4"]),
    ("mkfs.ext4 -q -F -b 1024 -O journal_dev $IMAGE", 16, &["an ext journal"]),
    ("mkfs.xfs -q $IMAGE", 320, &["XFS"]),
    ("mkfs.btrfs -q $IMAGE", 128, &["btrfs"]),
    ("mkfs.f2fs -q $IMAGE", 128, &["F2FS"]),
    ("mkfs.vfat -F 12 $IMAGE", 4, &["FAT"]),
    ("mkfs.vfat -F 16 $IMAGE", 32, &["FAT"]),
    ("mkfs.vfat -F 32 $IMAGE", 64, &["FAT"]),
    ("mkfs.vfat -F 32 --mbr=y $IMAGE", 64, &["FAT"]),
    ("mkfs.exfat $IMAGE", 16, &["exFAT"]),
    ("mkfs.ntfs -q -F -f $IMAGE", 16, &["NTFS"]),
    ("mkfs.minix -1 $IMAGE", 8, &["minix"]),
    ("mkfs.minix -2 $IMAGE", 8, &["minix"]),
    ("mkfs.minix -3 $IMAGE", 8, &["minix"]),
    ("mkfs.bfs $IMAGE", 1, &["BFS"]),
    ("mkfs.jfs -q $IMAGE", 32, &["JFS"]),
    ("mkfs.nilfs2 -q $IMAGE", 160, &["NILFS2"]),
    ("mkfs.reiserfs -q -f -f $IMAGE", 64, &["ReiserFS"]),
    ("mkfs.udf $IMAGE", 16, &["UDF"]),
    ("mksquashfs tests $IMAGE -noappend -quiet -no-progress", 0, &["squashfs"]),
    ("mkfs.erofs --quiet $IMAGE tests", 0, &["EROFS"]),
    ("mkfs.cramfs tests $IMAGE", 0, &["cramfs"]),
    ("genisoimage -quiet -o $IMAGE tests", 0, &["ISO 9660"]),
    ("mkswap $IMAGE", 8, &["swap"]),
    ("mkswap --pagesize 16384 $IMAGE", 8, &["swap"]),
    (
        "cryptsetup luksFormat -q --type luks1 --pbkdf-force-iterations 1000 $IMAGE Cargo.toml",
        8,
        &["LUKS1 encryption"],
    ),
    (
        "cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 \
         $IMAGE Cargo.toml",
        32,
        &["LUKS2 encryption"],
    ),
    ("make-bcache -B $IMAGE", 8, &["bcache"]),
    (
        "ubinize --version && printf '[v]\nmode=ubi\nvol_id=0\nvol_type=dynamic\nvol_size=1MiB\n\
         vol_name=v\n' > $IMAGE.ini && ubinize -p 128KiB -m 2048 -o $IMAGE $IMAGE.ini; status=$?; \
         rm -f $IMAGE.ini; exit $status",
        0,
        &["UBI"],
    ),
    (
        "sgdisk --new 1:2048:4095 $IMAGE",
        8,
        &[
            "table: GPT",
            "table: GPT, the backup at the end",
            "table: GPT, the MBR that protects it",
        ],
    ),
    ("sfdisk --quiet $IMAGE <<END\nlabel: dos\n2048,4096,c\nEND", 8, &["table: MBR"]),
];

#[test]
fn images_of_real_tools() {
    for (script, mib, expected) in MAKERS {
        let image = image(Bytes::mib(mib));
        if make(script, image.path()) {
            assert_eq!(marks(image.path()), expected, "{script}");
        }
    }
}

/// What marks an image by hand: `(offset, bytes)`, an offset below zero being counted from the
/// end. For what no tool at hand makes, and for what must not be taken for anything.
type Bits = &'static [(i64, &'static [u8])];

const MBR_END: (i64, &[u8]) = (510, b"\x55\xaa");
/// One FAT32 partition of 1 MiB at sector 2048.
const MBR_ENTRY: (i64, &[u8]) = (450, b"\x0c\xff\xff\xff\x00\x08\x00\x00\x00\x08\x00\x00");
const MD: &[u8] = b"\xfc\x4e\x2b\xa9\x01\x00\x00\x00";

const BY_HAND: [(&str, Bits, &[&str]); 27] = [
    ("nothing", &[], &[]),
    ("an MBR", &[MBR_END, MBR_ENTRY], &["table: MBR"]),
    ("an MBR that lost its end", &[MBR_ENTRY], &[]),
    ("an MBR without partitions", &[MBR_END], &[]),
    ("an MBR with program code", &[MBR_END, MBR_ENTRY, (446, b"\x33")], &[]),
    ("a GPT for 4096-byte blocks", &[(4096, b"EFI PART")], &["table: GPT"]),
    ("a GPT's backup", &[(-512, b"EFI PART")], &["table: GPT, the backup at the end"]),
    ("a backup for 4096", &[(-4096, b"EFI PART")], &["table: GPT, the backup at the end"]),
    ("an Apple map", &[(0, b"ER"), (512, b"PM")], &["table: Apple partition map"]),
    ("half an Apple map", &[(512, b"PM")], &[]),
    (
        "a BSD label",
        &[(512, b"\x57\x45\x56\x82"), (644, b"\x57\x45\x56\x82")],
        &["table: BSD disklabel"],
    ),
    ("a Sun label", &[(508, b"\xda\xbe\xda\xbe")], &["table: Sun disklabel"]),
    ("a Sun label with a wrong sum", &[(508, b"\xda\xbe\xda\xbf")], &[]),
    ("LVM in sector 1", &[(512, b"LABELONE"), (536, b"LVM2 001")], &["an LVM physical volume"]),
    ("LVM's first half", &[(512, b"LABELONE")], &[]),
    ("md 0.90", &[(-65536, b"\xfc\x4e\x2b\xa9")], &["md RAID 0.90"]),
    ("md 0.90, big-endian", &[(-65536, b"\xa9\x2b\x4e\xfc")], &["md RAID 0.90"]),
    ("md 1.0", &[(-8192, MD)], &["md RAID 1.0"]),
    ("md 1.1", &[(0, MD)], &["md RAID 1.1"]),
    ("md 1.2", &[(4096, MD)], &["md RAID 1.2"]),
    ("Intel RAID", &[(-1024, b"Intel Raid ISM Cfg Sig. 1.1")], &["Intel firmware RAID"]),
    ("DDF RAID", &[(-512, b"\xde\x11\xde\x11")], &["DDF firmware RAID"]),
    ("ZFS, first label, slot 5", &[(136_192, b"\x0c\xb1\xba\0\0\0\0\0")], &["ZFS"]),
    ("ZFS, last label", &[(-131_072, b"\0\0\0\0\0\xba\xb1\x0c")], &["ZFS"]),
    ("a suspended system", &[(4086, b"S1SUSPEND\0")], &["a suspended system in swap"]),
    ("a lone ext magic", &[(1080, b"\x53\xef")], &[]),
    ("a lone minix magic", &[(1040, b"\x7f\x13")], &[]),
];

#[test]
fn images_by_hand() {
    for (name, bits, expected) in BY_HAND {
        let size = Bytes::mib(2);
        let image = image(size);
        for &(offset, bytes) in bits {
            let start = if offset < 0 { size.get() } else { 0 };
            let offset = start.checked_add_signed(offset).unwrap();
            image.as_file().write_all_at(bytes, offset).unwrap();
        }
        assert_eq!(marks(image.path()), expected, "{name}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    /// Noise is what a card holds after a destructive run: no panic, and nothing seen in it.
    #[test]
    fn noise_is_not_taken_for_anything(
        seed: u64,
        length in prop_oneof![0..70_000_usize, Just(1 << 20), Just((1 << 20) - 1)],
    ) {
        let mut noise = vec![0; length];
        cardproof_testkit::Noise::new(seed).fill(&mut noise);
        let image = NamedTempFile::new().unwrap();
        image.as_file().write_all_at(&noise, 0).unwrap();
        let objections = inspect(&Sysroot::default(), image.path()).unwrap().objections;
        let expected = if length == 0 { Objection::NoMedium } else { Objection::HoldsData };
        prop_assert_eq!(objections, vec![expected]);
    }

    /// Noise around the magics drives the second looks through all their branches.
    #[test]
    fn noise_beside_short_magics_never_panics(
        head in proptest::collection::vec(any::<u8>(), 2048),
        places in proptest::collection::vec(0..SHORT_MAGICS.len(), 0..4),
        length in 0..2049_usize,
    ) {
        let mut head = head;
        for place in places {
            let (offset, bytes) = SHORT_MAGICS[place];
            head[offset..offset + bytes.len()].copy_from_slice(bytes);
        }
        head.truncate(length);
        let image = NamedTempFile::new().unwrap();
        image.as_file().write_all_at(&head, 0).unwrap();
        inspect(&Sysroot::default(), image.path()).unwrap();
    }
}

const SHORT_MAGICS: [(usize, &[u8]); 9] = [
    (0, b"\xeb\x3c\x90"),
    (0, b"ER"),
    (510, b"\x55\xaa"),
    (508, b"\xda\xbe"),
    (1024, b"BD"),
    (1030, b"\x34\x34"),
    (1040, b"\x7f\x13"),
    (1048, b"\x5a\x4d"),
    (1080, b"\x53\xef"),
];
