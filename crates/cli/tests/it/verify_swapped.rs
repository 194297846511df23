//! `cardproof verify DIR` in a directory that somebody changes at a chosen system call: the program is stopped there
//! by strace, and goes on when the change is made.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cardproof_testkit::{
    Filesystem, LabError, LoopDevice, Mount, Tree, lab_or_skip, some_of, wait_until,
};
use cardproof_units::Bytes;
use rustix::process::{Pid, Signal, kill_process};

use crate::home::Home;

/// Calls at which the program is stopped: all that name a file, and all that change one.
const CALLS: &str = "openat,newfstatat,statx,mkdirat,renameat,renameat2,linkat,unlinkat,write,pwrite64,\
                     pread64,ftruncate,fsync,fdatasync";

/// What the test makes in the directory, by name.
const NAMES: [&str; 3] = ["1.h2w", "2.h2w", ".cardproof-h2w"];

/// A call at which the program is stopped.
#[derive(Debug)]
struct Moment {
    call: String,
    /// The how manieth of its name it is in a run, from 1.
    number: u32,
    /// Whether the program has opened the directory for its test by then, after it has only looked at it.
    is_open: bool,
}

/// Files that fill a small disk, and samples of the free space of one of which 1 GiB stays free.
const FILES: (Bytes, &str) = (Bytes::mib(8), "--full");
const SAMPLES: (Bytes, &str) = (Bytes::mib(1280), "--seed=1");

/// A disk with a directory to test.
struct World {
    /// How it is tested.
    way: &'static str,
    home: Home,
    mounted: Mount,
    _device: LoopDevice,
}

/// How a run has ended.
struct Ended {
    calls: String,
    said: String,
}

impl World {
    fn new((size, way): (Bytes, &'static str)) -> Result<Self, LabError> {
        cardproof_testkit::run("strace", ["--version"])?;
        let device = LoopDevice::new(size)?;
        Filesystem::Ext4.make(&device)?;
        let mounted = Mount::new(&device, Filesystem::Ext4, "")?;
        Ok(Self { way, home: Home::new(), mounted, _device: device })
    }

    fn at(&self, name: &str) -> PathBuf {
        self.mounted.path().join(name)
    }

    /// The directory afresh, with a letter in it.
    fn begin(&self) -> PathBuf {
        for name in ["card", "moved"] {
            let path = self.at(name);
            if path.is_symlink() {
                fs::remove_file(&path).unwrap();
            } else if path.is_dir() {
                fs::remove_dir_all(&path).unwrap();
            }
        }
        let card = self.at("card");
        fs::create_dir(&card).unwrap();
        fs::write(card.join("letter.txt"), "Dear").unwrap();
        card
    }

    /// Tests the directory; at `moment`, if there is one, the program stands still and `change` is called.
    fn verify(&self, moment: Option<&Moment>, change: impl FnOnce()) -> Ended {
        let card = self.at("card");
        let calls = self.home.data().join("calls");
        fs::write(&calls, "").unwrap();
        let command = self.home.cardproof(&["verify", card.to_str().unwrap(), self.way, "--quiet"]);
        let mut traced = Command::new("strace");
        traced.args(["--follow-forks", &format!("--trace={CALLS}")]).arg("--output").arg(&calls);
        for path in [card.clone()].into_iter().chain(NAMES.map(|name| card.join(name))) {
            traced.arg("--trace-path").arg(path);
        }
        if let Some(Moment { call, number, .. }) = moment {
            traced.arg(format!("--inject={call}:signal=SIGSTOP:when={number}"));
        }
        traced.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            traced.env(name, value.unwrap_or_default());
        }
        traced.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = traced.spawn().unwrap();
        if moment.is_some() {
            let stopped = || stopped_process(&fs::read_to_string(&calls).unwrap());
            wait_until(|| stopped().is_some());
            change();
            kill_process(stopped().unwrap(), Signal::CONT).unwrap();
        }
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        Ended { calls: fs::read_to_string(&calls).unwrap(), said }
    }

    /// Every call of an undisturbed run; of reads and writes of the data, which are all alike, the first two.
    fn moments(&self) -> Vec<Moment> {
        self.begin();
        let ended = self.verify(None, || ());
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        let mut moments = Vec::new();
        let lines: Vec<&str> = ended.calls.lines().collect();
        let makes = |line: &&str| line.contains("mkdirat(") || line.contains("O_CREAT");
        let made = lines.iter().position(makes).unwrap();
        let opens = |line: &&str| line.contains("openat(AT_FDCWD");
        let opened = lines[..made].iter().rposition(opens).unwrap();
        for (index, line) in lines.iter().enumerate() {
            let call = line.split_once(' ').unwrap().1.trim_start();
            let Some((name, _)) = call.split_once('(') else { continue };
            let count = counts.entry(name.to_owned()).or_default();
            *count += 1;
            let is_of_data = ["pread64", "write"].contains(&name) && call.ends_with(" = 1048576");
            if !is_of_data || *count <= 4 {
                let is_open = index >= opened;
                moments.push(Moment { call: name.to_owned(), number: *count, is_open });
            }
        }
        // The directory beside the test's files is made by every test that got so far.
        assert!(counts.contains_key("mkdirat"), "{}", ended.calls);
        moments
    }
}

/// The process that strace has stopped.
fn stopped_process(calls: &str) -> Option<Pid> {
    let line = calls.lines().find(|line| line.contains("--- stopped by SIGSTOP ---"))?;
    Pid::from_raw(line.split(' ').next()?.parse().ok()?)
}

/// The names in `directory`, in order.
fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A directory of somebody's that has files of all names of ours.
fn elsewhere(world: &World) -> PathBuf {
    let other = world.at("elsewhere");
    fs::create_dir_all(&other).unwrap();
    for name in ["1.h2w", "2.h2w", ".cardproof-h2w", "letter.txt", "moved-aside"] {
        fs::write(other.join(name), format!("somebody's {name}")).unwrap();
    }
    other
}

#[test]
#[ignore = "stops the program at each of its calls; nightly"]
fn a_directory_that_is_swapped_at_any_call_of_a_test_by_files_leads_nowhere_else() {
    leads_nowhere_else(&lab_or_skip!(World::new(FILES)));
}

#[test]
#[ignore = "stops the program at each of its calls; nightly"]
fn a_directory_that_is_swapped_at_any_call_of_a_test_by_samples_leads_nowhere_else() {
    leads_nowhere_else(&lab_or_skip!(World::new(SAMPLES)));
}

/// At each call the directory is swapped for a link or another directory.
fn leads_nowhere_else(world: &World) {
    let other = elsewhere(world);
    for (index, moment) in world.moments().iter().enumerate() {
        let (card, moved) = (world.begin(), world.at("moved"));
        let is_link = index % 2 == 0;
        // Until it has opened the directory, the program may be given another one, if it leaves nothing there.
        let look = if moment.is_open { Tree::read } else { Tree::of_user };
        let (before, known) = (look(&other).unwrap(), names(&other));
        let ended = world.verify(Some(moment), || {
            fs::rename(&card, &moved).unwrap();
            if is_link {
                symlink(&other, &card).unwrap();
            } else {
                fs::rename(&other, &card).unwrap();
            }
        });
        if !is_link {
            fs::rename(&card, &other).unwrap();
        }
        let case = format!("{moment:?}: {}", ended.said);
        assert_eq!(before.changes(&look(&other).unwrap()), "", "{case}");
        assert_eq!(names(&other), known, "{case}");
        assert_eq!(names(&moved), ["letter.txt"], "{case}");
        assert!(!ended.said.contains("panicked"), "{case}");
    }
}

#[test]
fn the_directory_is_opened_by_its_path_once() {
    for way in [FILES, SAMPLES] {
        let world = lab_or_skip!(World::new(way));
        let card = world.begin();
        let ended = world.verify(None, || ());
        let opens = format!("openat(AT_FDCWD, {card:?}, O_RDONLY");
        let is_by_path = |line: &&str| line.contains("openat(AT_FDCWD");
        let opened: Vec<&str> = ended.calls.lines().filter(is_by_path).collect();
        assert_eq!(opened.len(), 1, "{way:?}: {opened:#?}");
        assert!(opened[0].contains(&opens), "{way:?}: {opened:#?}");
    }
}

#[test]
fn a_file_that_takes_a_name_of_ours_at_any_call_stays() {
    let world = lab_or_skip!(World::new(FILES));
    let moments = world.moments();
    let cases = moments.iter().flat_map(|moment| NAMES.map(|name| (moment, name)));
    for (moment, name) in some_of(cases, 4) {
        let card = world.begin();
        let (path, aside) = (card.join(name), card.join("put-aside"));
        let ended = world.verify(Some(moment), || {
            if path.exists() {
                fs::rename(&path, &aside).unwrap();
            }
            fs::write(&path, "somebody's").unwrap();
        });
        let case = format!("{name} at {moment:?}: {}", ended.said);
        assert_eq!(fs::read_to_string(&path).unwrap(), "somebody's", "{case}");
        // A test file that somebody has renamed is emptied and left: the program does not know its new name.
        if aside.exists() {
            assert_eq!(fs::metadata(&aside).unwrap().len(), 0, "{case}");
            fs::remove_file(&aside).unwrap();
        }
        let mut expected = vec![name.to_owned(), "letter.txt".to_owned()];
        expected.sort();
        assert_eq!(names(&card), expected, "{case}");
        assert!(!ended.said.contains("panicked"), "{case}");
    }
}
