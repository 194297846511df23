//! Who takes a card down when this process is killed.
//!
//! A killed program takes nothing down itself, and what stays is a directory that cannot be looked
//! into and a block device that only fails. So a shell waits for the end of a pipe from here, which
//! the kernel closes however this process ends. It takes away only what is still the card's: loop
//! devices over its file, and a mount of our kind on its directory.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// What is mounted, as the table of mounts calls it.
pub(crate) const SOURCE: &str = "cardproof";

/// Takes down the card whose directory is `$0`, whose file is `$1`, and whose directory is called
/// `$2` and whose source `$3` in the table of mounts; nothing where a line comes before the input ends. The directory goes
/// too where `$4` is `temporary`; what is in use or not empty stays.
const TAKE_DOWN: &str = r#"
trap '' HUP INT TERM
read -r _ && exit
for device in /sys/class/block/loop*; do
    below=
    { read -r below < "$device/loop/backing_file"; } 2> /dev/null
    [ "$below" = "$1" ] && losetup -d "/dev/${device##*/}"
done
while read -r source place _; do
    [ "$source $place" = "$3 $2" ] || continue
    umount --lazy "$0" 2> /dev/null || fusermount3 -u -z -q "$0"
done < /proc/self/mounts
[ "$4" = temporary ] && rmdir "$0" 2> /dev/null
"#;

/// A shell that takes a card down when this is dropped, and when this process is killed.
#[derive(Debug)]
pub(crate) struct Keeper {
    shell: Child,
}

impl Keeper {
    /// The keeper of the card that is to appear as `name` in `directory`. It must be there before
    /// the card is: what is open here by then would be open in it as well, the card included.
    ///
    /// # Errors
    /// There is no such directory, or no shell.
    pub(crate) fn start(directory: &Path, name: &str, is_temporary: bool) -> io::Result<Self> {
        let directory = directory.canonicalize()?;
        let shell = Command::new("sh")
            .args(["-c", TAKE_DOWN])
            .arg(&directory)
            .arg(directory.join(name))
            .arg(in_mount_table(&directory))
            .arg(SOURCE)
            .arg(if is_temporary { "temporary" } else { "kept" })
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self { shell })
    }

    /// Lets it go: the card has been taken down.
    pub(crate) fn dismiss(mut self) {
        if let Some(pipe) = &mut self.shell.stdin {
            // Without a reader there is nobody to let go.
            let _ = pipe.write_all(b"\n");
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        // A drop has nobody to tell.
        let _ = self.shell.wait();
    }
}

/// `directory` as the kernel writes it in the table of mounts (`seq_path` in fs/proc_namespace.c):
/// blanks and backslashes by their octal numbers.
fn in_mount_table(directory: &Path) -> String {
    let text = directory.to_string_lossy();
    let escaped = text.chars().map(|letter| match letter {
        ' ' | '\t' | '\n' | '\\' => format!("\\{:03o}", u32::from(letter)),
        other => other.to_string(),
    });
    escaped.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_are_written_as_the_kernel_does() {
        assert_eq!(in_mount_table(Path::new("/a b\\c\td\ne")), "/a\\040b\\134c\\011d\\012e");
    }
}
