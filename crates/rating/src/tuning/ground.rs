//! What a plan lays out, as its commands name it.

use std::path::Path;

use cardproof_units::shell_path;

/// A device or an image file that gets a partition and a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ground {
    /// It, as a word of a shell.
    whole: String,
    /// Its first partition, as a word of a shell.
    partition: String,
    is_image: bool,
}

impl Ground {
    /// The block device at `path`, whose first partition is the one that the kernel names so.
    #[must_use]
    pub fn of_device(path: &Path) -> Self {
        let ends_in_digit = path.to_string_lossy().ends_with(|last: char| last.is_ascii_digit());
        let mut partition = path.as_os_str().to_owned();
        partition.push(if ends_in_digit { "p1" } else { "1" });
        Self {
            whole: shell_path(path),
            partition: shell_path(Path::new(&partition)),
            is_image: false,
        }
    }

    /// The image file at `path`, whose partitions are devices once it is attached.
    #[must_use]
    pub fn of_image(path: &Path) -> Self {
        Self { whole: shell_path(path), partition: "\"${loop}p1\"".to_owned(), is_image: true }
    }

    /// The command that has `script` make the partition table.
    pub(super) fn partitioning(&self, script: &str) -> String {
        // Somebody who has made an image may write to it.
        let sudo = if self.is_image { "" } else { "sudo " };
        format!("printf '{script}\\n' | {sudo}sfdisk {}", self.whole)
    }

    /// The command that mounts the partition with `options`; none for an image, which is copied to a card first.
    pub(super) fn mounting(&self, options: &str) -> Option<String> {
        let command = || format!("sudo mount -o {options} {} MOUNTPOINT", self.partition);
        (!self.is_image).then(command)
    }

    /// `commands`, each of which ends in the partition: `mkfs.ext4` and more, as root. An image is attached
    /// before them and detached after them.
    pub(super) fn on_partition(&self, commands: &[String]) -> Vec<String> {
        let partition = &self.partition;
        let commands = commands.iter().map(|command| format!("sudo {command} {partition}"));
        let (before, after) = if self.is_image {
            let attach = format!("loop=$(sudo losetup --find --show --partscan {})", self.whole);
            (Some(attach), Some("sudo losetup --detach \"$loop\"".to_owned()))
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
