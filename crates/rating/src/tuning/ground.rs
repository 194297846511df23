//! What a plan lays out, as its commands name it.

use std::path::{Path, PathBuf};

use cardproof_units::shell_path;

/// A device or an image file that gets a partition and a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ground {
    /// It, as a word of a shell.
    whole: String,
    /// What stands before the number of a partition: it, and perhaps a `p`.
    stem: PathBuf,
    is_image: bool,
}

impl Ground {
    /// The block device at `path`, whose partitions are those that the kernel names so.
    #[must_use]
    pub fn of_device(path: &Path) -> Self {
        let ends_in_digit = path.to_string_lossy().ends_with(|last: char| last.is_ascii_digit());
        let mut stem = path.as_os_str().to_owned();
        stem.push(if ends_in_digit { "p" } else { "" });
        Self { whole: shell_path(path), stem: stem.into(), is_image: false }
    }

    /// The image file at `path`, whose partitions are devices once it is attached.
    #[must_use]
    pub fn of_image(path: &Path) -> Self {
        Self { whole: shell_path(path), stem: PathBuf::new(), is_image: true }
    }

    /// Its partition `number`, as a word of a shell.
    fn partition(&self, number: usize) -> String {
        if self.is_image {
            return format!("\"${{loop}}p{number}\"");
        }
        let mut path = self.stem.as_os_str().to_owned();
        path.push(number.to_string());
        shell_path(Path::new(&path))
    }

    /// The command that has `script` make the partition table.
    pub(super) fn partitioning(&self, script: &str) -> String {
        // Somebody who has made an image may write to it.
        let sudo = if self.is_image { "" } else { "sudo " };
        format!("printf '{script}\\n' | {sudo}sfdisk {}", self.whole)
    }

    /// The command that mounts the partition `number` with `options`. An image is attached before it.
    pub(super) fn mounting(&self, number: usize, options: &str) -> String {
        let mount = format!("sudo mount -o {options} {} MOUNTPOINT", self.partition(number));
        if self.is_image { format!("{} && {mount}", self.attaching()) } else { mount }
    }

    /// The command that makes devices of the partitions of an image.
    fn attaching(&self) -> String {
        format!("loop=$(sudo losetup --find --show --partscan {})", self.whole)
    }

    /// `commands`, each of which ends in the partition: `mkfs.ext4` and more, as root. An image is attached
    /// before them and detached after them.
    pub(super) fn on_partition(&self, commands: &[String]) -> Vec<String> {
        let partition = self.partition(1);
        let commands = commands.iter().map(|command| format!("sudo {command} {partition}"));
        let (before, after) = if self.is_image {
            (Some(self.attaching()), Some("sudo losetup --detach \"$loop\"".to_owned()))
        } else {
            (None, None)
        };
        before.into_iter().chain(commands).chain(after).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_named_as_the_kernel_names_its_partition() {
        for (path, command) in [
            ("/dev/sda", "sudo mkfs.ext4 /dev/sda1"),
            ("/dev/mmcblk0", "sudo mkfs.ext4 /dev/mmcblk0p1"),
            ("/dev/disk/by-label/my card", "sudo mkfs.ext4 '/dev/disk/by-label/my card1'"),
        ] {
            let ground = Ground::of_device(Path::new(path));
            assert_eq!(ground.on_partition(&["mkfs.ext4".to_owned()]), [command]);
        }
    }

    #[test]
    fn an_image_is_attached_for_its_partition() {
        let ground = Ground::of_image(Path::new("my img"));
        assert_eq!(ground.partitioning("label: dos"), "printf 'label: dos\\n' | sfdisk 'my img'");
        assert_eq!(
            ground.on_partition(&["mkfs.ext4".to_owned()]),
            [
                "loop=$(sudo losetup --find --show --partscan 'my img')",
                "sudo mkfs.ext4 \"${loop}p1\"",
                "sudo losetup --detach \"$loop\""
            ]
        );
    }
}
