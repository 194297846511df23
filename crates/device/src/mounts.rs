//! The mount table, `/proc/self/mountinfo`, and which mount a path is on.
//!
//! The form is described in proc_pid_mountinfo(5). A line that does not keep to it is left out.
//! Paths are bytes, as the kernel's are; they serve to look things up and to talk to the user on
//! the spot, and never enter a record.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::{DeviceNumber, Sysroot};

/// One mounted file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    /// The mount's own number.
    pub(crate) id: u32,
    /// The number of the mount that it is mounted on.
    pub(crate) parent: u32,
    /// The device, or an anonymous number.
    pub(crate) device: DeviceNumber,
    /// Where it is mounted.
    pub(crate) point: PathBuf,
    /// The options of this mount, separated by commas.
    pub(crate) options: String,
    /// The type of the file system.
    pub(crate) kind: String,
    /// What was mounted: a device's node, a name, or anything else.
    pub(crate) source: PathBuf,
    /// The options of the file system itself, separated by commas.
    pub(crate) super_options: String,
}

/// All mounts that this process sees, in the kernel's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Mounts(Vec<Mount>);

impl Mounts {
    /// Reads the table.
    pub(crate) fn read(root: &Sysroot) -> io::Result<Self> {
        Ok(Self::parse(&root.bytes("proc/self/mountinfo")?))
    }

    fn parse(table: &[u8]) -> Self {
        Self(table.split(|&byte| byte == b'\n').filter_map(parse_line).collect())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Mount> {
        self.0.iter()
    }

    /// The mount that holds `path`, an absolute path without links, for a file whose `st_dev`
    /// is `device`.
    ///
    /// On btrfs and overlay `st_dev` is not the number in the table, so the path decides; where
    /// both are real and differ, the table does not describe the path, and the number decides.
    pub(crate) fn holding(&self, path: &Path, device: DeviceNumber) -> Option<&Mount> {
        let by_path = self.at(path);
        match by_path {
            Some(mount) if mount.device == device || device.is_anonymous() => by_path,
            _ => self.0.iter().rev().find(|mount| mount.device == device),
        }
    }

    /// The mount that a walk from the root to `path` ends in.
    ///
    /// The walk goes from mount to mount as the kernel's does, so that a mount hidden below a
    /// later one is not found.
    pub(crate) fn at(&self, path: &Path) -> Option<&Mount> {
        let mut here = self.first_on_the_way(path)?;
        for _ in 0..self.0.len() {
            match self.next_on_the_way(here, path) {
                Some(next) => here = next,
                None => break,
            }
        }
        path.starts_with(&here.point).then_some(here)
    }

    /// The mount that a walk to `path` meets first of those that are mounted on none of the others: the
    /// one at `/`. In a chroot whose `/` is no mount the table has none there, and several others.
    fn first_on_the_way(&self, path: &Path) -> Option<&Mount> {
        let has_parent = |mount: &&Mount| {
            self.0.iter().any(|other| other.id == mount.parent && other.id != mount.id)
        };
        self.0
            .iter()
            .filter(|mount| path.starts_with(&mount.point) && !has_parent(mount))
            .min_by_key(|mount| mount.point.components().count())
    }

    /// The first mount that a walk to `path` meets after `here`.
    fn next_on_the_way(&self, here: &Mount, path: &Path) -> Option<&Mount> {
        self.0
            .iter()
            .filter(|mount| mount.parent == here.id && mount.id != here.id)
            .filter(|mount| path.starts_with(&mount.point))
            .min_by_key(|mount| mount.point.components().count())
    }
}

/// One line of the table: `ID PARENT MAJ:MIN ROOT POINT OPTIONS [TAGS…] - TYPE SOURCE SUPER`.
fn parse_line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let id = ascii(fields.next()?)?.parse().ok()?;
    let parent = ascii(fields.next()?)?.parse().ok()?;
    let device = ascii(fields.next()?)?.parse().ok()?;
    let _root_within_filesystem = fields.next()?;
    let point = unescaped(fields.next()?);
    let options = ascii(fields.next()?)?;
    fields.find(|&field| field == b"-")?;
    Some(Mount {
        id,
        parent,
        device,
        point,
        options,
        kind: ascii(fields.next()?)?,
        source: unescaped(fields.next()?),
        super_options: String::from_utf8_lossy(fields.next().unwrap_or_default()).into_owned(),
    })
}

fn ascii(field: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(field).ok()?;
    (!text.is_empty() && text.is_ascii()).then(|| text.to_owned())
}

/// The path in `field`, whose blanks and backslashes the kernel writes as `\` and three octal
/// digits.
pub(crate) fn unescaped(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some((&byte, after)) = rest.split_first() {
        match octal_escape(rest) {
            Some(escaped) => {
                bytes.push(escaped);
                rest = rest.get(4..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    PathBuf::from(OsString::from_vec(bytes))
}

/// The byte that the first four of `bytes` stand for.
fn octal_escape(bytes: &[u8]) -> Option<u8> {
    let digits = bytes.strip_prefix(b"\\")?.get(..3)?;
    if !digits.iter().all(|digit| (b'0'..=b'7').contains(digit)) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

/// `path` without the `/dev/` before it.
pub(crate) fn below_dev(path: &Path) -> Option<&str> {
    let bytes = path.as_os_str().as_bytes().strip_prefix(b"/dev/")?;
    std::str::from_utf8(bytes).ok().filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
21 1 179:2 / / rw,noatime shared:1 - ext4 /dev/mmcblk0p2 rw,commit=600
22 21 179:1 / /boot/firmware rw,relatime shared:2 - vfat /dev/mmcblk0p1 rw,errors=remount-ro
23 21 8:1 / /media/my\\040stick rw,relatime - vfat /dev/sda1 rw
24 21 0:40 /@home /home rw - btrfs /dev/sdb1 rw,subvol=/@home
25 21 8:33 / /mnt/deep rw - ext4 /dev/sdc1 rw
26 21 0:44 / /mnt rw - tmpfs tmpfs rw
27 23 0:45 / /media/my\\040stick rw - tmpfs tmpfs rw
garbage
28 21 x:y / /nowhere rw - ext4 /dev/none rw
";

    fn kind_at(path: &str) -> Option<String> {
        let mounts = Mounts::parse(TABLE.as_bytes());
        mounts.at(Path::new(path)).map(|mount| format!("{} {}", mount.id, mount.kind))
    }

    #[test]
    fn a_walk_ends_where_the_kernels_does() {
        let cases = [
            ("/", "21 ext4"),
            ("/boot", "21 ext4"),
            ("/boot/firmware", "22 vfat"),
            ("/boot/firmware/overlays", "22 vfat"),
            ("/boot/firmware2", "21 ext4"),
            ("/home/pi", "24 btrfs"),
            // A mount over another at the same place hides it.
            ("/media/my stick/x", "27 tmpfs"),
            // So does a later mount on a directory above.
            ("/mnt/deep/x", "26 tmpfs"),
        ];
        for (path, expected) in cases {
            assert_eq!(kind_at(path).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn a_device_number_beats_a_table_that_does_not_show_the_path() {
        let mounts = Mounts::parse(TABLE.as_bytes());
        let number = |text: &str| text.parse::<DeviceNumber>().unwrap();
        let of = |path: &str, device: &str| {
            mounts.holding(Path::new(path), number(device)).map(|mount| mount.id)
        };
        assert_eq!(of("/boot/x", "179:1"), Some(22));
        assert_eq!(of("/home/pi", "0:99"), Some(24));
        assert_eq!(of("/home/pi", "8:77"), None);
    }

    #[test]
    fn in_a_chroot_that_is_no_mount_the_others_are_found_by_path() {
        let mounts = Mounts::parse(
            b"30 29 8:1 / /data rw - ext4 /dev/sda1 rw\n31 30 8:2 / /data/in rw - ext4 /dev/sda2 rw\n\
              32 29 8:3 / /usr rw - ext4 /dev/sda3 rw\n",
        );
        let at = |path: &str| mounts.at(Path::new(path)).map(|mount| mount.id);
        assert_eq!(at("/data/x"), Some(30));
        assert_eq!(at("/data/in/x"), Some(31));
        assert_eq!(at("/usr"), Some(32));
        assert_eq!(at("/tmp"), None);
        let number = "8:1".parse().unwrap();
        assert!(mounts.holding(Path::new("/tmp"), number).is_some());
    }

    #[test]
    fn escapes_are_undone() {
        assert_eq!(unescaped(b"/a\\040b\\134c\\011"), PathBuf::from("/a b\\c\t"));
        assert_eq!(unescaped(b"/a\\04"), PathBuf::from("/a\\04"));
        assert_eq!(unescaped(b"/a\\999"), PathBuf::from("/a\\999"));
        assert_eq!(unescaped(b"/a\\777"), PathBuf::from("/a\\777"));
    }

    proptest::proptest! {
        #[test]
        fn any_table_is_read_without_panic(table: Vec<u8>, path in "/[a-z/]{0,12}") {
            let mounts = Mounts::parse(&table);
            let _ = mounts.at(Path::new(&path));
        }

        #[test]
        fn any_tree_of_mounts_ends_the_walk(
            links in proptest::collection::vec((0_u32..6, 0_u32..6, "(/[ab]?){1,3}"), 0..12),
            path in "(/[ab]){0,4}",
        ) {
            let line = |(id, parent, point): &(u32, u32, String)| {
                format!("{id} {parent} 8:{id} / {point} rw - ext4 /dev/x rw\n")
            };
            let table: String = links.iter().map(line).collect();
            let _ = Mounts::parse(table.as_bytes()).at(Path::new(&path));
        }
    }
}
