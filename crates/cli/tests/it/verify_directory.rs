//! `cardproof verify` in a directory: samples of its free space, and test files.

use std::fs;
use std::path::PathBuf;

use cardproof_testkit::{Filesystem, LoopDevice, Mount, lab_or_skip};
use cardproof_units::Bytes;

use crate::home::{Home, word};
use crate::process::run;
use crate::said::in_one_line;
use crate::verify::answer;

#[test]
fn files_of_a_set_are_read_and_a_wrong_sector_is_damage() {
    let home = Home::new();
    let directory = home.place().join("set");
    fs::create_dir(&directory).unwrap();
    let sector = |offset: u64| {
        let next = |word: &u64| Some(word.wrapping_mul(4_294_967_311).wrapping_add(17));
        std::iter::successors(Some(offset), next)
            .take(64)
            .flat_map(u64::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let mut set: Vec<u8> = (0..4096_u64).flat_map(|n| sector(n * 512)).collect();
    fs::write(directory.join("1.h2w"), &set).unwrap();
    let path = directory.to_str().unwrap();
    let right = answer(&home, &[path], 4);
    assert_eq!((&right["verdict"], &right["bytes_written"]), (&"undecided".into(), &0.into()));
    set[700_000] ^= 1;
    fs::write(directory.join("1.h2w"), &set).unwrap();
    let damaged = answer(&home, &[path], 4);
    assert_eq!(damaged["verdict"], "damaged", "{damaged}");
    assert!(directory.join("1.h2w").exists(), "a set of others is not removed");
}

/// A directory on a file system of its own.
struct Card {
    mounted: Mount,
    _device: LoopDevice,
}

impl Card {
    fn new(size: Bytes) -> Result<Self, cardproof_testkit::LabError> {
        let device = LoopDevice::new(size)?;
        Filesystem::Ext4.make(&device)?;
        let mounted = Mount::new(&device, Filesystem::Ext4, "")?;
        fs::create_dir(mounted.path().join("card")).unwrap();
        Ok(Self { mounted, _device: device })
    }

    fn directory(&self) -> PathBuf {
        self.mounted.path().join("card")
    }

    fn free_bytes(&self) -> u64 {
        let found = rustix::fs::statvfs(self.mounted.path()).unwrap();
        found.f_bavail * found.f_frsize
    }
}

/// The free space is tested by samples, and is free again.
#[test]
fn a_directory_ends_with_a_verdict() {
    let home = Home::new();
    let card = lab_or_skip!(Card::new(Bytes::gib(2)));
    let directory = card.directory();
    fs::write(directory.join("photo.jpg"), "precious").unwrap();
    let before = card.free_bytes();
    let found = answer(&home, &[directory.to_str().unwrap()], 0);
    assert_eq!(found["verdict"], "genuine", "{found}");
    let real = found["real_size_bytes"]["low"].as_u64().unwrap();
    assert!(real >= 64 << 20 && real + (1 << 30) <= before, "1 GiB stays free: {found}");
    assert_eq!(found["announced_size_bytes"], 2_u64 << 30, "{found}");
    assert!(card.free_bytes().abs_diff(before) < 4 << 20, "{} of {before}", card.free_bytes());
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 1, "the user's file alone");
    // A fake could hold the little that is left to test.
    let film = fs::File::create(directory.join("film")).unwrap();
    rustix::fs::fallocate(&film, rustix::fs::FallocateFlags::empty(), 0, 700 << 20).unwrap();
    let nearly_full = answer(&home, &[directory.to_str().unwrap()], 4);
    assert_eq!(nearly_full["verdict"], "undecided", "{nearly_full}");
    let why = nearly_full["reasons"][0].as_str().unwrap();
    assert!(why.ends_with("or more may pass this test"), "{nearly_full}");
    let advice = nearly_full["advice"].as_str().unwrap();
    assert!(advice.contains("% of the device was not tested"), "no repeating: {nearly_full}");
    // Memory is refused as by every command, and no option is named that is refused as well.
    let memory = lab_or_skip!(Mount::tmpfs("size=2G"));
    let told = run(home.cardproof(&["verify", memory.path().to_str().unwrap()])).expect(2).stderr;
    assert!(told.contains("is in memory") && !told.contains("--full"), "{told}");
}

#[test]
fn files_of_our_own_are_removed() {
    let home = Home::new();
    let card = lab_or_skip!(Card::new(Bytes::mib(64)));
    let directory = card.directory();
    answer(&home, &[directory.to_str().unwrap(), "--full"], 0);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "ours is removed");
}

#[test]
fn a_file_system_that_is_read_only_is_refused_before_anything_is_announced() {
    let home = Home::new();
    let card = lab_or_skip!(Card::new(Bytes::mib(64)));
    lab_or_skip!(card.mounted.remount("ro"));
    let directory = card.directory();
    for way in ["--full", "--keep"] {
        let words = ["verify", word(&directory), way];
        let refused = run(home.cardproof(&words)).expect(3);
        let told = in_one_line(&refused.stderr);
        assert!(told.contains("is on a file system that is mounted read-only"), "{way}: {told}");
        assert!(!told.contains("Writes"), "{way}: {told}");
        assert_eq!(refused.stdout, "", "{way}");
    }
}

#[test]
fn a_file_with_the_name_of_a_test_file_stays_though_a_marker_is_there() {
    let home = Home::new();
    let directory = home.place().join("card");
    fs::create_dir(&directory).unwrap();
    let marker = "Files of a test that was interrupted. cardproof verify continues this test.\n";
    for listed in ["", "1.h2w\n1.h2w 5\n"] {
        fs::write(directory.join(".cardproof-h2w"), format!("{marker}{listed}")).unwrap();
        fs::write(directory.join("1.h2w"), "precious").unwrap();
        let words = ["verify", directory.to_str().unwrap(), "--exclude-store", "1M"];
        let refused = run(home.cardproof(&words)).expect(3);
        assert!(refused.stderr.contains("1.h2w"), "{}", refused.stderr);
        assert_eq!(fs::read(directory.join("1.h2w")).unwrap(), b"precious");
    }
    fs::write(directory.join(".cardproof-h2w"), "precious too").unwrap();
    fs::remove_file(directory.join("1.h2w")).unwrap();
    let words = ["verify", directory.to_str().unwrap(), "--exclude-store", "1M"];
    run(home.cardproof(&words)).expect(3);
    assert_eq!(fs::read(directory.join(".cardproof-h2w")).unwrap(), b"precious too");
}

#[test]
fn a_limit_on_the_size_of_files_leaves_none_of_them() {
    let home = Home::new();
    let card = lab_or_skip!(Card::new(Bytes::mib(64)));
    let directory = card.directory();
    let path = directory.to_str().unwrap().to_owned();
    for (limit, status, way) in [("2048", 4, "--full"), ("0", 3, "--full"), ("2048", 3, "--seed=1")]
    {
        let command = home.cardproof(&["verify", &path, way, "--quiet"]);
        let mut limited = std::process::Command::new("sh");
        limited.args(["-c", &format!("ulimit -f {limit}; exec \"$@\""), "sh"]);
        limited.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            limited.env(name, value.unwrap_or_default());
        }
        let ended = limited.output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        // Without room for the record the command itself fails, too.
        assert!(ended.status.code() == Some(status) || limit == "0", "{limit}: {said}");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "{limit}: {said}");
    }
}

#[test]
fn a_link_in_the_place_of_a_test_file_is_refused_and_nothing_behind_it_changes() {
    let home = Home::new();
    let directory = home.place().join("card");
    let precious = home.place().join("precious");
    fs::create_dir(&directory).unwrap();
    fs::write(&precious, "precious").unwrap();
    for name in ["1.h2w", ".cardproof-h2w"] {
        let path = directory.join(name);
        for is_symbolic in [true, false] {
            if is_symbolic {
                std::os::unix::fs::symlink(&precious, &path).unwrap();
            } else {
                fs::hard_link(&precious, &path).unwrap();
            }
            let words = ["verify", directory.to_str().unwrap(), "--exclude-store", "1M"];
            let told = run(home.cardproof(&words));
            if name == "1.h2w" && !is_symbolic {
                // Without a marker it is a set of somebody else's, which is only read.
                assert_ne!(told.status.code(), Some(0));
            } else {
                let told = told.expect(3).stderr;
                assert!(told.contains(name) && told.contains("remove it"), "{told}");
            }
            assert_eq!(fs::read(&precious).unwrap(), b"precious", "{name}");
            fs::remove_file(&path).unwrap();
            assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "{name}");
        }
    }
}
