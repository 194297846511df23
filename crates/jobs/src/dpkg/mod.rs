//! What apt and dpkg ask of the disk: packages installed, removed, and installed again.
//!
//! The order of operations is that of dpkg 1.21, as its system calls show it: each file is
//! extracted beside its place and its write-back started; at the end of the package each is synced
//! and renamed into its place; every change of a package's state is a small synced file in a
//! journal, which is folded into the database now and then. apt calls dpkg twice, to unpack
//! everything and then to configure it. The job decompresses nothing and runs no programs: of
//! these only what they write is here.

mod apt;
mod archive;
mod database;
mod directories;
mod remove;
mod scripts;
mod unpack;

use cardproof_units::Seed;

use super::batch::Batch;
use super::dice::Dice;
use super::job::{Form, Generator, Job, StepSpec, Timing};
use super::op::FileOp;
use super::packages::{Distribution, Package, PackageFiles, package_count};
use database::Database;
use directories::Directories;
use scripts::Script;

/// How many packages the short forms take.
const SHORT: usize = 40;

/// The step in which the system is made that the job finds.
const PREPARE: StepSpec = StepSpec {
    name: "prepare",
    what: "writes the files of the system on which the job then works",
    timing: Timing::Prepares,
};

/// The last step.
const SETTLE: StepSpec = StepSpec {
    name: "settle",
    what: "waits until all that was written is on the storage",
    timing: Timing::Settles,
};

const fn counted(name: &'static str, what: &'static str) -> StepSpec {
    StepSpec { name, what, timing: Timing::Counts }
}

const INSTALL: &[StepSpec] = &[
    PREPARE,
    counted("archives", "writes the packages' archives, as apt does when it has fetched them"),
    counted("unpack", "extracts each package, syncs its files, and renames them into their places"),
    counted("configure", "writes each package's state and what its scripts write"),
    counted("triggers", "writes the caches that are made again at the end"),
    SETTLE,
];

const REINSTALL: &[StepSpec] = &[
    PREPARE,
    counted("unpack", "extracts each package, syncs its files, and renames them into their places"),
    counted("configure", "writes each package's state and what its scripts write"),
    counted("triggers", "writes the caches that are made again at the end"),
    SETTLE,
];

const REMOVE: &[StepSpec] = &[
    PREPARE,
    counted("remove", "removes each package's files and writes its state"),
    counted("triggers", "writes the caches that are made again at the end"),
    SETTLE,
];

const SOURCE: &str = "dpkg 1.21 and apt 2.6 of Debian 12, their system calls; packages as measured \
                      in Debian";

const NOTES: &[&str] = &[
    "Nothing is fetched or decompressed and no scripts run: on a slow processor a real installation \
     takes longer.",
    "55 % of the written data is incompressible; of the archives, all of it.",
];

/// What is done with the packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Install,
    Remove,
    Reinstall,
}

/// The three jobs, each in full and in short.
pub(super) fn jobs() -> [Job; 6] {
    [
        install("package-install", Form::Full, Some("package-install-short"), |seed| {
            generator(Deed::Install, usize::MAX, seed)
        }),
        install("package-install-short", Form::Short, None, |seed| {
            generator(Deed::Install, SHORT, seed)
        }),
        remove("package-remove", Form::Full, Some("package-remove-short"), |seed| {
            generator(Deed::Remove, usize::MAX, seed)
        }),
        remove("package-remove-short", Form::Short, None, |seed| {
            generator(Deed::Remove, SHORT, seed)
        }),
        reinstall("package-reinstall", Form::Full, Some("package-reinstall-short"), |seed| {
            generator(Deed::Reinstall, usize::MAX, seed)
        }),
        reinstall("package-reinstall-short", Form::Short, None, |seed| {
            generator(Deed::Reinstall, SHORT, seed)
        }),
    ]
}

type Made = fn(Seed) -> Box<dyn Generator>;

fn install(name: &'static str, form: Form, short: Option<&'static str>, made: Made) -> Job {
    Job {
        name,
        version: 1,
        deed: format!("installing {} packages", count(form)),
        purpose: "how long it takes to install much software, such as a desktop",
        source: SOURCE,
        form,
        short,
        steps: INSTALL,
        notes: NOTES,
        generator: made,
    }
}

fn remove(name: &'static str, form: Form, short: Option<&'static str>, made: Made) -> Job {
    Job {
        deed: format!("removing {} packages", count(form)),
        purpose: "how long removing software takes",
        steps: REMOVE,
        ..install(name, form, short, made)
    }
}

fn reinstall(name: &'static str, form: Form, short: Option<&'static str>, made: Made) -> Job {
    Job {
        deed: format!("installing {} packages again", count(form)),
        purpose: "how long it takes to install software that is already downloaded",
        steps: REINSTALL,
        ..install(name, form, short, made)
    }
}

/// How many packages, in words. A whole job is of a desktop, of which nobody counts each package.
fn count(form: Form) -> String {
    match form {
        Form::Full => format!("about {}", (package_count() + 50) / 100 * 100),
        Form::Short => SHORT.to_string(),
    }
}

/// A part of the job that is made at once.
#[derive(Clone, Copy, Debug)]
enum Part {
    Step(usize),
    Base,
    Archive(usize),
    Installed(usize),
    Settle,
    AptBegins,
    AptEnds,
    DpkgBegins,
    DpkgEnds,
    Unpack(usize),
    Configure(usize),
    Remove(usize),
    Triggers,
}

/// What packages change together.
struct System<'a> {
    database: &'a mut Database,
    directories: &'a mut Directories,
}

/// Makes the operations of one of the jobs.
struct Packages {
    deed: Deed,
    distribution: Distribution,
    packages: Vec<Package>,
    parts: std::vec::IntoIter<Part>,
    dice: Dice,
    database: Database,
    directories: Directories,
}

fn generator(deed: Deed, count: usize, seed: Seed) -> Box<dyn Generator> {
    let distribution = Distribution::new(seed);
    let packages = distribution.packages(count);
    let parts = parts(deed, packages.len()).into_iter();
    let installed = if deed == Deed::Remove { &*packages } else { &[] };
    let database = Database::with(installed.iter().map(|package| package.entry_bytes).sum());
    let (dice, directories) = (Dice::new(seed, "packages"), Directories::default());
    Box::new(Packages { deed, distribution, packages, parts, dice, database, directories })
}

/// The order of everything.
fn parts(deed: Deed, count: usize) -> Vec<Part> {
    let all = |part: fn(usize) -> Part| (0..count).map(part);
    let mut parts = vec![Part::Step(0), Part::Base];
    let mut step = 1;
    let mut next = |parts: &mut Vec<Part>| {
        parts.push(Part::Step(step));
        step += 1;
    };
    match deed {
        Deed::Install => {
            parts.push(Part::Settle);
            next(&mut parts);
            parts.push(Part::AptBegins);
            parts.extend(all(Part::Archive));
        }
        Deed::Reinstall => {
            parts.extend(all(Part::Archive));
            parts.push(Part::Settle);
        }
        Deed::Remove => {
            parts.extend(all(Part::Installed));
            parts.push(Part::Settle);
        }
    }
    next(&mut parts);
    if deed != Deed::Install {
        parts.push(Part::AptBegins);
    }
    parts.push(Part::DpkgBegins);
    if deed == Deed::Remove {
        parts.extend(all(Part::Remove));
    } else {
        parts.extend(all(Part::Unpack));
        parts.push(Part::DpkgEnds);
        next(&mut parts);
        parts.push(Part::DpkgBegins);
        parts.extend(all(Part::Configure));
    }
    next(&mut parts);
    parts.extend([Part::Triggers, Part::DpkgEnds, Part::AptEnds]);
    next(&mut parts);
    parts.push(Part::Settle);
    parts
}

impl Packages {
    /// The package at `index` with its files.
    fn package(&self, index: usize) -> (Package, PackageFiles) {
        let package = self.packages[index].clone();
        let files = self.distribution.contents(&package);
        (package, files)
    }

    /// What the scripts write whose turn comes at the end.
    fn scripts(&self) -> &'static [Script] {
        if self.deed == Deed::Remove { scripts::AFTER_REMOVAL } else { scripts::AFTER_INSTALLATION }
    }
}

impl Generator for Packages {
    fn fill(&mut self, batch: &mut Batch) -> bool {
        let Some(part) = self.parts.next() else { return false };
        match part {
            Part::Step(index) => batch.push(FileOp::Step(index)),
            Part::Base => apt::base(batch, &self.database, &self.distribution),
            Part::Archive(index) => archive::fetched(batch, &self.packages[index]),
            Part::Installed(index) => {
                let (package, files) = self.package(index);
                remove::found(batch, &mut self.directories, &package, &files);
            }
            Part::Settle => batch.push(FileOp::SyncAll),
            Part::AptBegins => apt::begins(batch, self.packages.len()),
            Part::AptEnds => apt::ends(batch),
            Part::DpkgBegins => self.database.open(batch),
            Part::DpkgEnds => self.database.close(batch),
            Part::Unpack(index) => {
                let (package, files) = self.package(index);
                let system =
                    System { database: &mut self.database, directories: &mut self.directories };
                unpack::unpack(batch, system, &mut self.dice, &package, &files);
            }
            Part::Configure(index) => {
                let (package, files) = self.package(index);
                scripts::configure(batch, &mut self.database, &mut self.dice, &package, &files);
            }
            Part::Remove(index) => {
                let (package, files) = self.package(index);
                let system =
                    System { database: &mut self.database, directories: &mut self.directories };
                remove::remove(batch, system, &mut self.dice, &package, &files);
            }
            Part::Triggers => scripts::triggers(batch, self.scripts()),
        }
        true
    }
}
