//! Every job on a model of a file system that takes nothing that a real one would not take.

use std::collections::{BTreeMap, BTreeSet};

use cardproof_jobs::{FileOp, Form, Handle, Job, Opening, READ_MAX, Timing, Totals, find, names};
use cardproof_units::{Bytes, Seed};

/// What is at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Directory,
    File { length: u64, is_synced: bool },
    Link,
}

/// A file system that panics at what cannot be done.
#[derive(Default)]
struct Model {
    nodes: BTreeMap<String, Node>,
    open: BTreeMap<u8, (String, Opening, u64)>,
    step: Option<usize>,
    written: u64,
    created: u64,
    /// Renames of files that were not synced before.
    unsynced_renames: Vec<String>,
    /// What dpkg gave its name.
    from_new: BTreeSet<String>,
    /// Files whose last name went.
    removed: BTreeSet<String>,
}

impl Model {
    fn run(job: &Job, seed: Seed) -> Self {
        let mut model = Self::default();
        for op in job.stream(seed) {
            model.perform(job, &op);
        }
        assert_eq!(model.open, BTreeMap::new(), "{}: files stay open", job.name);
        model
    }

    fn perform(&mut self, job: &Job, op: &FileOp) {
        match op {
            FileOp::Step(index) => {
                assert!(*index < job.steps.len(), "{op:?}");
                // Steps never go back.
                assert!(self.step.is_none_or(|step| step < *index), "{op:?}");
                self.step = Some(*index);
            }
            FileOp::MakeDir(path) => self.add(path, Node::Directory),
            FileOp::Symlink(path) => self.add(path, Node::Link),
            FileOp::RemoveDir(path) => {
                assert_eq!(self.nodes.remove(path), Some(Node::Directory), "{op:?}");
                let inside = format!("{path}/");
                let next = self.nodes.range(inside.clone()..).next();
                assert!(next.is_none_or(|(path, _)| !path.starts_with(&inside)), "{op:?}");
            }
            FileOp::SyncDir(path) | FileOp::List(path) => {
                assert_eq!(self.nodes.get(path), Some(&Node::Directory), "{op:?}");
            }
            FileOp::Stat(path) => check_path(path),
            FileOp::Open { handle, path, how } => self.open(*handle, path, *how),
            FileOp::Close(handle) => {
                drop(self.open.remove(&handle.0).expect("closed but not open"));
            }
            FileOp::Rename { from, to } => self.rename(from, to),
            FileOp::Link { existing, new } => {
                let node = *self.nodes.get(existing).unwrap_or_else(|| panic!("{op:?}"));
                self.add(new, node);
            }
            FileOp::Unlink(path) => {
                let node = self.nodes.remove(path).unwrap_or_else(|| panic!("{op:?}"));
                assert_ne!(node, Node::Directory, "{op:?}");
                self.removed.insert(path.clone());
            }
            FileOp::SyncAll => {}
            in_file => self.in_file(in_file),
        }
    }

    fn in_file(&mut self, op: &FileOp) {
        let (handle, end, is_write) = match op {
            FileOp::Write { handle, length, .. } => (handle, length.get(), true),
            FileOp::WriteAt { handle, offset, length, .. } => {
                self.written += length.get();
                (handle, offset.get() + length.get(), false)
            }
            FileOp::Read { handle, length } => {
                assert!(*length <= READ_MAX, "{op:?}");
                (handle, 0, false)
            }
            FileOp::Truncate { handle, .. } => (handle, 0, false),
            FileOp::StartWriteBack(handle)
            | FileOp::AwaitWriteBack(handle)
            | FileOp::Sync(handle)
            | FileOp::SyncData(handle)
            | FileOp::DropCache(handle) => (handle, 0, false),
            other => panic!("{other:?}"),
        };
        let (path, how, position) = self.open.get_mut(&handle.0).expect("used but not open");
        let Some(Node::File { length, is_synced }) = self.nodes.get_mut(path) else {
            // It was renamed or removed while it was open.
            assert!(matches!(op, FileOp::Write { .. }) && *how == Opening::Append, "{op:?}");
            return;
        };
        let mut end = end;
        if is_write {
            assert!(!matches!(how, Opening::Read | Opening::ReadPieces), "{op:?}");
            self.written += end;
            *position += end;
            end = *position;
            *is_synced = false;
        }
        *length = (*length).max(end);
        match op {
            FileOp::Truncate { length: to, .. } => *length = to.get(),
            FileOp::Sync(_) | FileOp::SyncData(_) => *is_synced = true,
            _ => {}
        }
    }

    fn open(&mut self, handle: Handle, path: &str, how: Opening) {
        assert!(handle.index() < Handle::COUNT);
        match (how, self.nodes.get(path)) {
            (Opening::Create, _) | (Opening::Append, None) => {
                self.created += 1;
                self.add(path, Node::File { length: 0, is_synced: false });
            }
            (_, Some(Node::File { .. })) => {}
            (_, other) => panic!("{path}: {how:?} of {other:?}"),
        }
        let Some(Node::File { length, .. }) = self.nodes.get(path) else { panic!("{path}") };
        let position = if how == Opening::Append { *length } else { 0 };
        let before = self.open.insert(handle.0, (path.to_owned(), how, position));
        assert_eq!(before, None, "{handle:?} is open already");
    }

    fn rename(&mut self, from: &str, to: &str) {
        let node = self.nodes.remove(from).unwrap_or_else(|| panic!("no {from} to rename"));
        assert_ne!(node, Node::Directory, "{from}");
        assert_ne!(self.nodes.get(to), Some(&Node::Directory), "{to}");
        self.check_parent(to);
        if from.ends_with(".dpkg-new") {
            self.from_new.insert(to.to_owned());
        }
        if matches!(node, Node::File { is_synced: false, .. }) {
            self.unsynced_renames.push(to.to_owned());
        }
        self.nodes.insert(to.to_owned(), node);
    }

    fn add(&mut self, path: &str, node: Node) {
        self.check_parent(path);
        assert_eq!(self.nodes.insert(path.to_owned(), node), None, "{path} is there already");
    }

    fn check_parent(&self, path: &str) {
        check_path(path);
        if let Some((parent, _)) = path.rsplit_once('/') {
            assert_eq!(self.nodes.get(parent), Some(&Node::Directory), "no directory for {path}");
        }
    }
}

/// A path leads down and nowhere else, and every file system takes its names.
fn check_path(path: &str) {
    assert!(path.len() < 1000, "{path}");
    for part in path.split('/') {
        assert!(!part.is_empty() && part != "." && part != ".." && part.len() <= 255, "{path}");
        assert!(
            part.bytes().all(|b| b.is_ascii_graphic() && !b"\\:*?\"<>|".contains(&b)),
            "{path}"
        );
    }
}

fn jobs() -> impl Iterator<Item = Job> {
    names().into_iter().map(|name| find(name).unwrap())
}

#[test]
fn every_job_asks_only_for_what_can_be_done() {
    for job in jobs() {
        for seed in [1, 99] {
            let model = Model::run(&job, Seed::from_bits(seed));
            assert!(model.step.is_some(), "{}", job.name);
        }
    }
}

#[test]
fn a_job_follows_from_its_seed() {
    for job in jobs().filter(|job| job.short.is_none()) {
        let ops = |seed| job.stream(Seed::from_bits(seed));
        assert!(ops(4).eq(ops(4)), "{}", job.name);
        assert!(!ops(4).eq(ops(5)), "{}", job.name);
    }
}

#[test]
fn what_is_announced_is_what_is_done() {
    for job in jobs() {
        let seed = Seed::from_bits(3);
        let (totals, model) = (job.totals(seed), Model::run(&job, seed));
        assert_eq!(totals.bytes_written_in_all, Bytes(model.written), "{}", job.name);
        assert_eq!(totals.files, model.created, "{}", job.name);
        assert_eq!(totals.ops, job.stream(seed).count() as u64);
        assert!(totals.space_peak <= totals.bytes_written_in_all + Bytes(totals.ops * 4096));
        let at_end: u64 = model.nodes.values().map(|node| space(*node)).sum();
        assert!(totals.space_peak >= Bytes(at_end), "{}", job.name);
    }
}

fn space(node: Node) -> u64 {
    match node {
        Node::Directory | Node::Link => 4096,
        Node::File { length, .. } => length.next_multiple_of(4096),
    }
}

/// The space a job takes must be near what is announced, whatever its seed.
#[test]
fn seeds_change_the_order_and_not_the_amount() {
    for job in jobs().filter(|job| job.name.starts_with("package")) {
        let written = |seed| job.totals(Seed::from_bits(seed)).bytes_written_in_all.as_f64();
        let ratio = written(1) / written(2);
        assert!((0.98..1.02).contains(&ratio), "{}: {ratio}", job.name);
    }
}

/// dpkg's promise: no file takes the place of another before it is durable.
#[test]
fn no_file_of_a_package_gets_its_name_before_it_is_synced() {
    for name in ["package-install-short", "package-reinstall-short"] {
        let model = Model::run(&find(name).unwrap(), Seed::from_bits(6));
        let early: Vec<&String> = model
            .unsynced_renames
            .iter()
            // Renamed from where dpkg puts it first; links have nothing to be synced.
            .filter(|path| model.from_new.contains(*path))
            .collect();
        assert!(early.is_empty(), "{early:?}");
        let states = |path: &&String| path.starts_with("var/lib/dpkg/");
        assert_eq!(model.unsynced_renames.iter().find(states), None);
    }
}

#[test]
fn a_package_takes_as_many_syncs_as_dpkg_makes() {
    let job = find("package-install-short").unwrap();
    let totals = job.totals(Seed::from_bits(6));
    let (mut links, mut renames, mut updates, mut starts, mut awaits) = (0_u64, 0, 0, 0, 0);
    for op in job.stream(Seed::from_bits(6)) {
        match op {
            FileOp::StartWriteBack(_) => starts += 1,
            FileOp::AwaitWriteBack(_) => awaits += 1,
            FileOp::Symlink(path) if path.ends_with(".dpkg-new") => links += 1,
            FileOp::Rename { from, .. } if from.ends_with(".dpkg-new") => renames += 1,
            FileOp::Rename { to, .. } if to.contains("/updates/") => updates += 1,
            _ => {}
        }
    }
    // Each file is written back, waited for and renamed, and each link renamed.
    assert_eq!((awaits, renames), (starts, starts + links));
    assert!(starts > 500, "{starts}");
    // Two syncs for each change of state, five or more changes a package.
    assert!(updates >= 5 * 40, "{updates}");
    assert!(totals.syncs > starts + 2 * updates, "{totals:?}");
}

#[test]
fn short_forms_are_parts_of_the_whole() {
    for job in jobs().filter(|job| job.form == Form::Short) {
        let whole = job.whole().unwrap();
        let seed = Seed::from_bits(8);
        let (part, whole): (Totals, Totals) = (job.totals(seed), whole.totals(seed));
        let ratio = whole.syncs as f64 / part.syncs as f64;
        assert!((6.0..14.0).contains(&ratio), "{}: {ratio}", job.name);
    }
}

/// A job that reads from a cold cache has emptied it of all that it reads.
#[test]
fn a_boot_reads_what_was_forgotten() {
    let job = find("boot").unwrap();
    let (mut current, mut forgotten, mut read) = (String::new(), BTreeSet::new(), 0);
    for op in job.stream(Seed::from_bits(2)) {
        match op {
            FileOp::Open { path, .. } => current = path,
            FileOp::DropCache(_) => drop(forgotten.insert(current.clone())),
            FileOp::Read { length, .. } => {
                assert!(forgotten.contains(&current), "{current}");
                assert!(length <= Bytes(48_000));
                read += length.get();
            }
            _ => {}
        }
    }
    assert_eq!(read, 130_000_000);
}

#[test]
fn every_step_says_what_it_does_and_something_counts() {
    for job in jobs() {
        assert!(job.steps.iter().all(|step| !step.name.is_empty() && !step.what.is_empty()));
        assert!(job.steps.iter().any(|step| step.timing == Timing::Counts), "{}", job.name);
    }
}
