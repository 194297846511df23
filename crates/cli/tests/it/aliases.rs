//! Files in use under another name: refused, with every byte as it was.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cardproof_testkit::{Contents, Filesystem, LabError, LoopDevice, Mount, lab_or_skip, run};
use cardproof_units::Bytes;

use crate::home::{Home, word};
use crate::process;
use crate::refusals::as_nobody;

const SIZE: Bytes = Bytes::mib(64);

/// An image whose loop device is mounted.
struct Mounted {
    device: LoopDevice,
    mount: Mount,
    around: tempfile::TempDir,
}

impl Mounted {
    fn new() -> Result<Self, LabError> {
        let around = tempfile::tempdir().unwrap();
        let device = LoopDevice::sparse_in(around.path(), SIZE)?;
        Filesystem::Ext4.make(&device)?;
        let mount = Mount::new(&device, Filesystem::Ext4, "")?;
        fs::write(mount.path().join("photo.jpg"), vec![7; 100_000]).unwrap();
        // Nothing of its own is written to an image while the test looks on.
        mount.remount("ro")?;
        Ok(Self { device, mount, around })
    }

    fn hard_link(&self) -> PathBuf {
        let link = self.around.path().join("hl.img");
        fs::hard_link(self.device.image(), &link).unwrap();
        link
    }
}

fn named(path: &Path) -> String {
    format!("--destroy={}:{}", path.file_name().unwrap().to_string_lossy(), SIZE.get())
}

/// Runs `command` and checks that it refuses, says `says`, and has left the image as it was.
fn assert_refused(mounted: &Mounted, command: Command, says: &[&str]) {
    let before = Contents::read(mounted.device.image()).unwrap();
    let ended = process::run(command).expect(3);
    for text in says {
        assert!(ended.stderr.contains(text), "no '{text}' in: {}", ended.stderr);
    }
    let after = Contents::read(mounted.device.image()).unwrap();
    assert_eq!(before.differing_mib(&after), [0; 0], "these MiB of the image have changed");
    assert_eq!(fs::read(mounted.mount.path().join("photo.jpg")).unwrap(), vec![7; 100_000]);
}

#[test]
fn the_image_of_a_mounted_loop_device_is_not_overwritten_under_a_hard_link() {
    let mounted = lab_or_skip!(Mounted::new());
    let link = mounted.hard_link();
    let home = Home::new();
    let node = word(mounted.device.path());
    for words in [&["run", word(&link)][..], &["replay", "run", "sqlite-wal"]] {
        let mut command = home.cardproof(words);
        if words[0] == "replay" {
            command.arg(&link);
        }
        command.arg(named(&link));
        assert_refused(&mounted, command, &[node, "losetup --detach"]);
    }
}

#[test]
fn the_image_of_a_mounted_loop_device_is_not_overwritten_through_a_bind_mount() {
    let mounted = lab_or_skip!(Mounted::new());
    let home = Home::new();
    let point = home.data().join("bound.img");
    File::create(&point).unwrap();
    // In a view of its own, so that nothing stays mounted.
    let script = "mount --bind \"$0\" \"$1\" && shift && exec \"$@\"";
    let words = ["run", word(&point), &named(&point)];
    let command = in_another_view(&home, script, mounted.device.image(), &point, &words);
    assert_refused(&mounted, lab_or_skip!(command), &["losetup --detach"]);
}

/// The path that the kernel tells leads to another file there, or to none.
#[test]
fn the_image_of_a_mounted_loop_device_is_not_overwritten_from_another_namespace() {
    let mounted = lab_or_skip!(Mounted::new());
    let home = Home::new();
    let directory = home.data().join("elsewhere");
    fs::create_dir(&directory).unwrap();
    let script = "mount --bind \"$0\" \"$1\" && mount -t tmpfs none \"$0\" && shift && exec \"$@\"";
    let image = directory.join(mounted.device.image().file_name().unwrap());
    let words = ["run", word(&image), &named(&image)];
    let command = in_another_view(&home, script, mounted.around.path(), &directory, &words);
    assert_refused(&mounted, lab_or_skip!(command), &["losetup --detach"]);
}

/// cardproof with `words` in a view of the mounts of its own, after `script` with `zeroth` and `first`.
pub(crate) fn in_another_view(
    home: &Home,
    script: &str,
    zeroth: &Path,
    first: &Path,
    words: &[&str],
) -> Result<Command, LabError> {
    run("unshare", ["--mount", "--propagation", "private", "true"])
        .map_err(|error| LabError::Unavailable(format!("no view of the mounts: {error}")))?;
    let mut command = Command::new("unshare");
    home.surround(&mut command);
    command.args(["--mount", "--propagation", "private", "sh", "-c", script]);
    command.arg(zeroth).arg(first).arg(env!("CARGO_BIN_EXE_cardproof")).args(words);
    Ok(command)
}

/// Who may not ask the loop devices does not know whether a file is in use.
#[test]
fn a_file_is_not_overwritten_where_loop_devices_cannot_be_asked() {
    let mounted = lab_or_skip!(Mounted::new());
    let home = Home::for_others();
    let open = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let link = mounted.hard_link();
    open(mounted.around.path(), 0o777);
    open(&link, 0o666);
    let (mut command, _program) = as_nobody(&home, &["run", word(&link)]);
    command.arg(named(&link));
    assert_refused(&mounted, command, &[word(mounted.device.path()), "as root"]);
}

/// Nothing on it can be recognised, and it may hold anything.
#[test]
fn a_device_without_a_known_signature_is_not_overwritten_without_its_identity() {
    let device = lab_or_skip!(LoopDevice::filled(SIZE, 8));
    let home = Home::new();
    let before = Contents::read(device.image()).unwrap();
    let option = format!("--destroy={}", device.identity().unwrap());
    for words in [&["run"][..], &["replay", "run", "sqlite-wal"], &["compare-setups"]] {
        let mut command = home.cardproof(words);
        command.arg(device.path()).arg("--destroy");
        let ended = process::run(command).expect(3);
        assert!(ended.stderr.contains(&option), "{}", ended.stderr);
    }
    assert_eq!(before.differing_mib(&Contents::read(device.image()).unwrap()), [0; 0]);
}
