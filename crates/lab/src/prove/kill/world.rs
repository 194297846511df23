//! Somebody's data, records and directories, in which one command is killed again and again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use cardproof_testkit::{Contents, LoopDevice, Noise, Tree};

/// The directories around one command.
pub(super) struct World {
    /// Below which everything is.
    root: PathBuf,
    /// The node of the device that is recorded.
    device: PathBuf,
    /// Where tracefs shows all tracing instances.
    instances: PathBuf,
    before: Tree,
    /// Every record that is to stay as it is, by its path.
    records: BTreeMap<PathBuf, Contents>,
    /// What an earlier fault has left, which is told once.
    known_left: Vec<String>,
}

/// The directories in a world: what is measured, where outputs go, temporary files, data of the user.
const PLACE: &str = "place";
const OUT: &str = "out";
const TEMPORARY: &str = "tmp";
const DATA: &str = "data";

/// The outputs that the commands are told to write.
const OUTPUTS: [&str; 4] = ["r.json", "r.html", "job.trace", "job.calls"];

impl World {
    /// A fresh one in the directory `root`, which is made.
    pub(super) fn new(root: &Path, device: &LoopDevice, tracing: &Path) -> Result<Self> {
        for name in [PLACE, OUT, TEMPORARY, DATA] {
            fs::create_dir_all(root.join(name))?;
        }
        let place = root.join(PLACE);
        fs::create_dir(place.join("letters"))?;
        let mut noise = Noise::new(1);
        for name in ["photo.jpg", "letters/one.txt", "test-file"] {
            let mut bytes = vec![0; 1 + noise.below(100_000) as usize];
            noise.fill(&mut bytes);
            fs::write(place.join(name), bytes)?;
        }
        Ok(Self {
            root: root.to_owned(),
            device: device.path().to_owned(),
            instances: tracing.join("instances"),
            before: Tree::of_user(&place)?,
            records: BTreeMap::new(),
            known_left: Vec::new(),
        })
    }

    /// The program with `words`, in which the names of places are replaced.
    pub(super) fn command(&self, program: &Path, words: &[&str]) -> Command {
        let place = |name: &str| self.root.join(name).to_string_lossy().into_owned();
        let mut command = Command::new(program);
        for word in words {
            let word = word.replace("PLACE", &place(PLACE)).replace("OUT", &place(OUT));
            command.arg(word.replace("DEVICE", &self.device.to_string_lossy()));
        }
        command
            .env("XDG_DATA_HOME", place(DATA))
            .env("HOME", place(DATA))
            .env("TMPDIR", place(TEMPORARY))
            .current_dir(self.root.join(PLACE));
        // What it says of itself is shown where it fails.
        command.stderr(std::process::Stdio::null());
        command
    }

    /// Whether a simulated card is up.
    pub(super) fn has_card(&self) -> Result<bool> {
        let cards = fs::read_dir(self.root.join(TEMPORARY))?.flatten();
        let is_up = |card: &Path| fs::read_dir(card).is_ok_and(|mut files| files.next().is_some());
        Ok(cards.into_iter().any(|card| is_up(&card.path())))
    }

    /// What has changed that was to stay: somebody's files, and the records.
    pub(super) fn fault(&self) -> Result<Option<String>> {
        let changes = self.before.changes(&Tree::of_user(&self.root.join(PLACE))?);
        if !changes.is_empty() {
            return Ok(Some(format!("somebody's files have changed: {changes}")));
        }
        for (path, contents) in &self.records {
            if !path.exists() {
                return Ok(Some(format!("the record {} is gone", path.display())));
            }
            if Contents::read(path)? != *contents {
                return Ok(Some(format!("the record {} has changed", path.display())));
            }
        }
        Ok(None)
    }

    /// From now on all records that are there stay as they are; the new ones among them.
    pub(super) fn learn_records(&mut self) -> Result<Vec<PathBuf>> {
        let mut fresh = Vec::new();
        for path in files_in(&self.root.join(DATA).join("cardproof/records")) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let is_record = name.ends_with(".json") && !name.starts_with('.');
            if is_record && !self.records.contains_key(&path) {
                self.records.insert(path.clone(), Contents::read(&path)?);
                fresh.push(path);
            }
        }
        Ok(fresh)
    }

    /// Something of ours that is left, of the processes with these numbers or anybody here.
    pub(super) fn left(&self, processes: &[u32]) -> Result<Option<String>> {
        let found = self.all_left(processes)?;
        Ok(found.into_iter().find(|left| !self.known_left.contains(left)))
    }

    fn all_left(&self, processes: &[u32]) -> Result<Vec<String>> {
        let mut found = Vec::new();
        let path = |name: &str| self.root.join(name);
        let named =
            |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let shown = |path: &Path| path.display().to_string();
        found.extend(
            files_in(&path(PLACE))
                .iter()
                .filter(|it| named(it).starts_with('.'))
                .map(|it| shown(it)),
        );
        found.extend(files_in(&path(TEMPORARY)).iter().map(|it| shown(it)));
        let is_output = |it: &&PathBuf| OUTPUTS.contains(&named(it).as_str());
        found.extend(files_in(&path(OUT)).iter().filter(|it| !is_output(it)).map(|it| shown(it)));
        let ours = path(DATA).join("cardproof/records");
        found.extend(
            files_in(&ours).iter().filter(|it| named(it).starts_with('.')).map(|it| shown(it)),
        );
        let root = self.root.to_string_lossy();
        let lines = |text: &str, kind: &str| -> Vec<String> {
            let ours = text.lines().filter(|line| line.contains(&*root));
            ours.map(|line| format!("{kind} {line}")).collect()
        };
        found.extend(lines(&fs::read_to_string("/proc/self/mounts")?, "the mount"));
        for device in files_in(Path::new("/sys/class/block")) {
            let below = fs::read_to_string(device.join("loop/backing_file")).unwrap_or_default();
            found.extend(lines(&below, &format!("{} over", named(&device))));
        }
        let instances = processes.iter().map(|process| format!("cardproof-{process}"));
        let instances = instances.map(|name| self.instances.join(name));
        found.extend(instances.filter(|it| it.exists()).map(|it| shown(&it)));
        Ok(found)
    }

    /// Takes the present state as given, so that one fault is told once.
    pub(super) fn forgive(&mut self) -> Result<()> {
        self.before = Tree::of_user(&self.root.join(PLACE))?;
        self.known_left = self.all_left(&[])?;
        self.records.clear();
        self.learn_records()?;
        Ok(())
    }
}

/// What is in `directory`; nothing where it cannot be read.
fn files_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}
