//! The scratch directory among other people's files: what it refuses, what it leaves alone,
//! what it clears up.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cardproof_io::scratch::{Scratch, ScratchError, sweep};
use cardproof_testkit::{Filesystem, LoopDevice, Mount, Tree, lab_or_skip, skip, test_name};
use cardproof_units::Bytes;

use super::{LEFT, MARKER, TEST_FILE, leave, marker_text, names, users_directory};

/// What `create` says of `directory`, in which nothing may have changed.
fn refused(directory: &Path, expected_device: Option<u64>) -> ScratchError {
    let error = Scratch::create(directory, expected_device).unwrap_err();
    let text = error.to_string();
    assert!(text.contains(directory.to_str().unwrap().trim_end_matches('/')), "{text}");
    error
}

#[test]
fn a_run_leaves_the_directory_as_it_was() {
    let directory = users_directory();
    let scratch = Scratch::create(directory.path(), None).unwrap();
    let file = scratch.create_file().unwrap();
    file.set_len(100_000).unwrap();
    let inside = scratch.path();
    assert_eq!(inside.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(inside.join(TEST_FILE).metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(names(&inside), [MARKER, TEST_FILE]);
    assert_eq!(names(directory.path()).len(), 2);
    scratch.remove().unwrap();
    assert_eq!(names(directory.path()), ["photo.jpg"]);
}

#[test]
fn a_dropped_run_leaves_the_directory_as_it_was() {
    let directory = users_directory();
    let scratch = Scratch::create(directory.path(), None).unwrap();
    scratch.create_file().unwrap();
    drop(scratch);
    assert_eq!(names(directory.path()), ["photo.jpg"]);
}

#[test]
fn the_test_file_is_made_once() {
    let directory = users_directory();
    let scratch = Scratch::create(directory.path(), None).unwrap();
    scratch.create_file().unwrap();
    assert!(matches!(scratch.create_file(), Err(ScratchError::Failed { .. })));
}

#[test]
fn what_is_no_directory_is_a_mistake() {
    let directory = users_directory();
    let missing = refused(&directory.path().join("missing"), None);
    assert!(matches!(missing, ScratchError::Missing { .. }) && missing.is_usage());
    let file = refused(&directory.path().join("photo.jpg"), None);
    assert!(matches!(file, ScratchError::NotADirectory { .. }) && file.is_usage());
    let below = refused(&directory.path().join("photo.jpg/x"), None);
    assert!(matches!(below, ScratchError::NotADirectory { .. }) && !below.is_refusal());
}

#[test]
fn a_symbolic_link_is_refused_also_with_a_slash_behind_it() {
    let directory = users_directory();
    let real = directory.path().join("real");
    fs::create_dir(&real).unwrap();
    symlink("real", directory.path().join("link")).unwrap();
    symlink("nowhere", directory.path().join("dangling")).unwrap();
    let before = Tree::read(directory.path()).unwrap();
    for link in ["link", "link/", "link/.", "dangling"] {
        let error = refused(&directory.path().join(link), None);
        assert!(matches!(error, ScratchError::Symlink { .. }) && error.is_refusal(), "{link}");
    }
    assert_eq!(before.changes(&Tree::read(directory.path()).unwrap()), "");
    // A link further up only leads the way.
    symlink(directory.path(), real.join("up")).unwrap();
    Scratch::create(&real.join("up/real"), None).unwrap().remove().unwrap();
}

#[test]
fn another_device_than_expected_is_refused() {
    let directory = users_directory();
    let device = directory.path().metadata().unwrap().dev();
    Scratch::create(directory.path(), Some(device)).unwrap().remove().unwrap();
    let before = Tree::read(directory.path()).unwrap();
    let error = refused(directory.path(), Some(rustix::fs::makedev(179, 2)));
    assert!(matches!(error, ScratchError::OtherDevice { .. }) && error.is_refusal());
    assert!(error.to_string().contains("not on 179:2: is the card mounted?"), "{error}");
    assert_eq!(before.changes(&Tree::read(directory.path()).unwrap()), "");
}

#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let directory = users_directory();
    leave(directory.path());
    let scratch = Scratch::create(directory.path(), None).unwrap();
    assert_eq!((scratch.swept().removed, scratch.swept().left.len()), (1, 0));
    drop(scratch);
    assert_eq!(names(directory.path()), ["photo.jpg"]);
}

#[test]
fn every_state_that_a_kill_can_leave_is_swept() {
    let text = marker_text();
    let cut_short = [&text[..0], &text[..1], &text[..text.len() - 1], &text[..]];
    for marker in cut_short {
        for with_file in [false, true] {
            let directory = users_directory();
            let left = directory.path().join(LEFT);
            fs::create_dir(&left).unwrap();
            fs::write(left.join(MARKER), marker).unwrap();
            if with_file {
                fs::write(left.join(TEST_FILE), "x").unwrap();
            }
            assert_eq!(sweep(directory.path()).unwrap().removed, 1, "{marker:?} {with_file}");
            assert_eq!(names(directory.path()), ["photo.jpg"]);
        }
    }
    let directory = users_directory();
    fs::create_dir(directory.path().join(LEFT)).unwrap();
    assert_eq!(sweep(directory.path()).unwrap().removed, 1, "empty");
}

/// Puts something into a directory that a sweep must not remove.
type Plant = fn(&Path);

/// Each plants something that a sweep must leave alone, then the reason that must be given.
const NOT_OURS: [(&str, Plant, &str); 9] = [
    (
        "files without a marker",
        |at| {
            fs::create_dir(at.join(LEFT)).unwrap();
            fs::write(at.join(LEFT).join(TEST_FILE), "mine").unwrap();
        },
        "marker",
    ),
    (
        "another's marker",
        |at| {
            fs::remove_file(leave(at).join(MARKER)).unwrap();
            fs::write(at.join(LEFT).join(MARKER), "a text of mine").unwrap();
        },
        "marker",
    ),
    (
        "a marker with more behind it",
        |at| {
            fs::write(leave(at).join(MARKER), [marker_text(), b"x".to_vec()].concat()).unwrap();
        },
        "marker",
    ),
    (
        "an empty marker beside a file",
        |at| {
            fs::write(leave(at).join(MARKER), "").unwrap();
            fs::write(at.join(LEFT).join("diary"), "mine").unwrap();
        },
        "marker",
    ),
    (
        "a link to a marker",
        |at| {
            let left = leave(at);
            fs::rename(left.join(MARKER), at.join("marker of mine")).unwrap();
            symlink("../marker of mine", left.join(MARKER)).unwrap();
        },
        "marker",
    ),
    (
        "a pipe for a marker",
        |at| {
            let left = leave(at);
            fs::remove_file(left.join(MARKER)).unwrap();
            let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
            let pipe = rustix::fs::FileType::Fifo;
            rustix::fs::mknodat(rustix::fs::CWD, left.join(MARKER), pipe, mode, 0).unwrap();
        },
        "marker",
    ),
    ("a file of our name", |at| fs::write(at.join(LEFT), "mine").unwrap(), "no directory"),
    (
        "a link of our name",
        |at| {
            fs::rename(leave(at), at.join("elsewhere")).unwrap();
            symlink("elsewhere", at.join(LEFT)).unwrap();
        },
        "no directory",
    ),
    (
        "a dangling link of our name",
        |at| symlink("nowhere", at.join(LEFT)).unwrap(),
        "no directory",
    ),
];

#[test]
fn what_is_not_ours_is_left_alone_and_reported() {
    for (name, plant, reason) in NOT_OURS {
        let directory = users_directory();
        plant(directory.path());
        let before = Tree::read(directory.path()).unwrap();
        let swept = sweep(directory.path()).unwrap();
        assert_eq!(before.changes(&Tree::read(directory.path()).unwrap()), "", "{name}");
        assert_eq!((swept.removed, swept.left.len()), (0, 1), "{name}");
        let text = swept.left[0].to_string();
        assert!(text.contains(LEFT) && text.contains(reason), "{name}: {text}");
        // It is no obstacle to a run.
        Scratch::create(directory.path(), None).unwrap().remove().unwrap();
        assert!(names(directory.path()).contains(&LEFT.to_owned()), "{name}");
    }
}

/// In a directory of ours only our own files go; then the marker stays too, and once the rest is
/// gone the next sweep finishes.
#[test]
fn what_others_put_into_our_directory_stays() {
    let plants: [(&str, Plant); 4] = [
        ("diary", |left| fs::write(left.join("diary"), "mine").unwrap()),
        ("folder", |left| fs::create_dir(left.join("folder")).unwrap()),
        (TEST_FILE, |left| {
            fs::remove_file(left.join(TEST_FILE)).unwrap();
            symlink("../photo.jpg", left.join(TEST_FILE)).unwrap();
        }),
        (TEST_FILE, |left| {
            fs::remove_file(left.join(TEST_FILE)).unwrap();
            fs::create_dir(left.join(TEST_FILE)).unwrap();
            fs::write(left.join(TEST_FILE).join("x"), "mine").unwrap();
        }),
    ];
    for (name, plant) in plants {
        let directory = users_directory();
        let left = leave(directory.path());
        plant(&left);
        let swept = sweep(directory.path()).unwrap();
        assert_eq!((swept.removed, swept.left.len()), (0, 1), "{name}");
        assert!(swept.left[0].to_string().contains(name), "{}", swept.left[0]);
        assert_eq!(names(&left), [MARKER, name]);
        assert_eq!(fs::read(directory.path().join("photo.jpg")).unwrap(), b"a photograph");

        let theirs = left.join(name);
        let is_directory = theirs.symlink_metadata().unwrap().is_dir();
        if is_directory { fs::remove_dir_all(theirs) } else { fs::remove_file(theirs) }.unwrap();
        assert_eq!(sweep(directory.path()).unwrap().removed, 1, "{name}");
        assert_eq!(names(directory.path()), ["photo.jpg"]);
    }
}

#[test]
fn a_file_that_another_program_puts_beside_ours_is_reported_at_the_end() {
    let directory = users_directory();
    let scratch = Scratch::create(directory.path(), None).unwrap();
    scratch.create_file().unwrap();
    let inside = scratch.path();
    fs::write(inside.join("thumbs.db\x1b[2J"), "x").unwrap();
    let error = scratch.remove().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("thumbs.db?") && !text.contains('\x1b'), "{text}");
    assert_eq!(error.path, inside);
    assert_eq!(names(&inside), [MARKER, "thumbs.db\x1b[2J"]);
}

#[test]
fn a_directory_that_is_moved_during_the_run_is_not_followed() {
    let directory = users_directory();
    let scratch = Scratch::create(directory.path(), None).unwrap();
    let inside = scratch.path();
    fs::rename(&inside, directory.path().join("moved")).unwrap();
    symlink("photo.jpg", &inside).unwrap();
    scratch.create_file().unwrap();
    assert_eq!(names(&directory.path().join("moved")), [MARKER, TEST_FILE]);
    let text = scratch.remove().unwrap_err().to_string();
    assert!(text.contains("moved"), "{text}");
    assert!(names(&directory.path().join("moved")).is_empty());
    assert!(inside.symlink_metadata().unwrap().is_symlink());
}

#[test]
fn a_directory_that_somebody_removed_is_no_error() {
    let directory = users_directory();
    let scratch = Scratch::create(directory.path(), None).unwrap();
    fs::remove_dir_all(scratch.path()).unwrap();
    assert!(scratch.create_file().is_err());
    // What is gone cannot be left behind; but it is said that it was not as we left it.
    assert!(scratch.remove().is_err());
    assert_eq!(names(directory.path()), ["photo.jpg"]);
}

#[test]
fn a_live_run_is_not_swept() {
    let directory = users_directory();
    let alive = Scratch::create(directory.path(), None).unwrap();
    alive.create_file().unwrap();
    let swept = sweep(directory.path()).unwrap();
    assert_eq!((swept.removed, swept.in_use, swept.left.len()), (0, 1, 0));
    let second = Scratch::create(directory.path(), None).unwrap();
    assert_eq!(second.swept().in_use, 1);
    assert_ne!(second.path(), alive.path());
    assert_eq!(names(&alive.path()), [MARKER, TEST_FILE]);
}

/// Runs come and go while others sweep: none loses its directory, and none is left.
#[test]
fn runs_and_sweeps_do_not_disturb_one_another() {
    let directory = users_directory();
    let at = directory.path();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..100 {
                    let scratch = Scratch::create(at, None).unwrap();
                    scratch.create_file().unwrap();
                    assert_eq!(names(&scratch.path()), [MARKER, TEST_FILE]);
                    scratch.remove().unwrap();
                }
            });
        }
        for _ in 0..2 {
            scope.spawn(|| {
                for _ in 0..400 {
                    assert_eq!(sweep(at).unwrap().left, []);
                }
            });
        }
    });
    assert_eq!(names(at), ["photo.jpg"]);
}

#[test]
fn a_read_only_file_system_is_refused_with_a_remedy() {
    let mount = lab_or_skip!(Mount::tmpfs("size=64M"));
    mount.remount("ro").unwrap();
    let error = refused(mount.path(), None);
    assert!(matches!(error, ScratchError::ReadOnly { .. }) && error.is_refusal(), "{error}");
}

#[test]
fn too_little_space_is_refused_and_says_how_much_is_needed() {
    let mount = lab_or_skip!(Mount::tmpfs("size=64M"));
    let scratch = Scratch::create(mount.path(), None).unwrap();
    let error = scratch.allowance(Some(Bytes::mib(256)), false).unwrap_err();
    assert!(error.is_refusal() && error.to_string().contains("160 MiB needed"), "{error}");
    let allowance = scratch.allowance(Some(Bytes::mib(256)), true).unwrap();
    assert!(allowance.is_reduced);
    assert!(allowance.size >= Bytes::mib(48) && allowance.size <= Bytes::mib(60));
    assert!(!scratch.allowance(Some(Bytes::mib(32)), true).unwrap().is_reduced);
}

/// A tmpfs without room for more files fails at each step of the way in turn.
#[test]
fn a_full_file_system_is_refused_and_left_empty() {
    for inodes in [1, 2] {
        let mount = lab_or_skip!(Mount::tmpfs(&format!("size=64M,nr_inodes={inodes}")));
        let error = refused(mount.path(), None);
        assert!(matches!(error, ScratchError::Full { .. }) && error.is_refusal(), "{error}");
        assert!(names(mount.path()).is_empty(), "{inodes}");
    }
    let mount = lab_or_skip!(Mount::tmpfs("size=64M,nr_inodes=3"));
    let scratch = Scratch::create(mount.path(), None).unwrap();
    assert!(matches!(scratch.create_file(), Err(ScratchError::Full { .. })));
    scratch.remove().unwrap();
    assert!(names(mount.path()).is_empty());
}

/// On FAT every file belongs to whoever the mount names, whoever made it.
#[test]
fn what_root_left_on_fat_is_swept_by_root() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(64)));
    lab_or_skip!(Filesystem::Vfat.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Vfat, "uid=1000,gid=1000"));
    leave(mount.path());
    let scratch = Scratch::create(mount.path(), None).unwrap();
    assert_eq!((scratch.swept().removed, scratch.swept().left.len()), (1, 0));
}

/// The directory that [`as_nobody`] works in, when this process is the one without root.
const USERS_DIRECTORY: &str = "CARDPROOF_TEST_NOBODYS_DIRECTORY";

/// Root may write everywhere, so refusals for want of permission are tried by another user.
#[test]
fn a_user_without_root() {
    let name = test_name!();
    if !rustix::process::geteuid().is_root() {
        return skip(name, "needs root to become another user");
    }
    let directory = tempfile::tempdir().unwrap();
    let open = PermissionsExt::from_mode(0o1777);
    fs::set_permissions(directory.path(), open).unwrap();
    for (name, mode) in [("closed", 0o700), ("read", 0o755), ("write", 0o733)] {
        fs::create_dir(directory.path().join(name)).unwrap();
        let mode = PermissionsExt::from_mode(mode);
        fs::set_permissions(directory.path().join(name), mode).unwrap();
    }
    let left = leave(directory.path());
    fs::set_permissions(&left, PermissionsExt::from_mode(0o755)).unwrap();
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "scratch::neighbours::as_nobody", "--nocapture"])
        .env(USERS_DIRECTORY, directory.path())
        .stdout(std::process::Stdio::null())
        .uid(65534)
        .gid(65534)
        .status();
    match status {
        Ok(status) => assert!(status.success()),
        Err(error) => return skip(name, &format!("another user cannot run this test: {error}")),
    }
    assert_eq!(names(&left), [MARKER, TEST_FILE]);
}

/// What [`a_user_without_root`] runs as another user; alone it has nothing to do.
#[test]
fn as_nobody() {
    let Some(directory) = std::env::var_os(USERS_DIRECTORY).map(PathBuf::from) else { return };
    for name in ["closed", "read", "write"] {
        let error = refused(&directory.join(name), None);
        assert!(
            matches!(error, ScratchError::NotPermitted { .. }) && !error.is_refusal(),
            "{error}"
        );
    }
    let scratch = Scratch::create(&directory, None).unwrap();
    scratch.create_file().unwrap();
    assert_eq!(scratch.swept().removed, 0);
    let text = scratch.swept().left[0].to_string();
    assert!(text.contains("another user"), "{text}");
    scratch.remove().unwrap();
}
