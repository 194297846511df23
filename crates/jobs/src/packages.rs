//! The shapes of real packages: which directories, how many files of which size in each, from
//! tables.
//!
//! One line a package, in the order in which apt unpacks them; how the tables were measured and
//! what the texts of trees mean is in `docs/design/jobs.md`. The tree of directories is the real
//! one, so that neighbours are neighbours and shared directories are shared. Names are drawn, of
//! the lengths that real ones have; a file is as large as the mean of the real ones of its class.

mod tree;

use std::collections::BTreeSet;

use cardproof_units::{Bytes, Seed};

use super::dice::Dice;
use tree::{Token, tokens};

const PACKAGES: &str = include_str!("packages/packages.csv");
const SIZES: &str = include_str!("packages/sizes.csv");
const NAMES: &str = include_str!("packages/names.csv");

/// The columns of the lengths of names.
const FILE_NAMES: usize = 1;
const DIRECTORY_NAMES: usize = 2;

/// How many packages the table holds.
#[must_use]
pub fn package_count() -> usize {
    rows(PACKAGES).count()
}

/// What a package consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Its place in the table, from 0.
    pub index: usize,
    /// The archive.
    pub archive_bytes: Bytes,
    /// Its paragraph in the database of all packages.
    pub entry_bytes: Bytes,
    /// The files that it brings into the database beside its paragraph.
    pub info: Vec<Bytes>,
    /// Directories that it is the first to name, by number.
    fresh: Vec<usize>,
    /// Its files and links, by directory.
    groups: Vec<Group>,
}

/// What lies in one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Group {
    /// Its number.
    directory: usize,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    File(Bytes),
    Setting(Bytes),
    Link,
}

/// A directory of the distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Directory {
    path: String,
    /// The number of the one in which it lies; the root lies in itself.
    above: usize,
    is_of_system: bool,
}

/// The files of one package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageFiles {
    /// All directories in which something of it lies and that the system does not have of itself,
    /// outer ones before those in them. Other packages may have them too.
    pub directories: Vec<String>,
    /// Its regular files, with their sizes, in the order of its archive.
    pub files: Vec<(String, Bytes)>,
    /// Its settings (conffiles), with their sizes.
    pub settings: Vec<(String, Bytes)>,
    /// Its links.
    pub symlinks: Vec<String>,
}

/// Packages and the directories that they share.
#[derive(Clone, Debug)]
pub struct Distribution {
    seed: Seed,
    packages: Vec<Package>,
    /// By number, an outer one before those in it; the root first.
    directories: Vec<Directory>,
}

impl Distribution {
    /// The distribution, its names drawn from `seed`.
    #[must_use]
    pub fn new(seed: Seed) -> Self {
        let root = Directory { path: String::new(), above: 0, is_of_system: true };
        let mut distribution = Self { seed, packages: Vec::new(), directories: vec![root] };
        let (sizes, mut names) = (sizes(), Names::new(seed, "directories", DIRECTORY_NAMES));
        for row in rows(PACKAGES) {
            distribution.add(row, &sizes, &mut names);
        }
        distribution
    }

    /// Adds the package of a line. That every line is whole is a test's business: what is missing
    /// in one is missing in the package.
    fn add(&mut self, row: &str, sizes: &[Bytes], names: &mut Names) {
        let mut columns = row.split(',');
        let mut column = || columns.next().unwrap_or_default();
        let mut package = Package { index: self.packages.len(), ..Package::default() };
        package.archive_bytes = bytes(column());
        package.entry_bytes = bytes(column());
        package.info = column().split_whitespace().map(bytes).collect();
        let mut group = Group::default();
        for token in tokens(column()) {
            let directory = match token {
                Token::New { above, is_of_system } => {
                    package.fresh.push(self.directories.len());
                    self.make(above, is_of_system, names)
                }
                Token::Again(directory) => directory.min(self.directories.len() - 1),
                Token::File { class, is_setting } => {
                    let size = sizes.get(class).copied().unwrap_or_default();
                    let entry = if is_setting { Entry::Setting(size) } else { Entry::File(size) };
                    group.entries.push(entry);
                    continue;
                }
                Token::Link => {
                    group.entries.push(Entry::Link);
                    continue;
                }
                Token::Unknown => continue,
            };
            let full = std::mem::replace(&mut group, Group { directory, entries: Vec::new() });
            package.groups.push(full);
        }
        package.groups.push(group);
        package.groups.retain(|group| !group.entries.is_empty());
        self.packages.push(package);
    }

    /// A directory in the one with the number `above`; its number.
    fn make(&mut self, above: usize, is_of_system: bool, names: &mut Names) -> usize {
        let number = self.directories.len();
        let above = above.min(number - 1);
        let path = join(&self.directories[above].path, &names.draw());
        self.directories.push(Directory { path, above, is_of_system });
        number
    }

    /// `count` packages, from the smallest to the largest alike, in the table's order; all for
    /// more.
    #[must_use]
    pub fn packages(&self, count: usize) -> Vec<Package> {
        if count >= self.packages.len() {
            return self.packages.clone();
        }
        let mut all: Vec<&Package> = self.packages.iter().collect();
        all.sort_by_key(|package| (package.entries(), package.archive_bytes));
        // The middle one of each of `count` equal parts.
        let middle = |part: usize| all[(2 * part + 1) * all.len() / (2 * count)];
        let mut chosen: Vec<Package> = (0..count).map(|part| middle(part).clone()).collect();
        chosen.sort_by_key(|package| package.index);
        chosen
    }

    /// The directories that a system has before any of the packages, outer ones before those in
    /// them.
    pub fn system_directories(&self) -> impl Iterator<Item = &str> {
        let made = self.directories.iter().skip(1).filter(|directory| directory.is_of_system);
        made.map(|directory| &*directory.path)
    }

    /// What the files and directories of `package` are called and how large they are.
    #[must_use]
    pub fn contents(&self, package: &Package) -> PackageFiles {
        let label = format!("package {}", package.index);
        let mut names = Names::new(self.seed, &label, FILE_NAMES);
        let mut files = PackageFiles::default();
        let mut directories: BTreeSet<usize> = package.fresh.iter().copied().collect();
        for group in &package.groups {
            directories.insert(group.directory);
            let directory = &*self.directories[group.directory].path;
            for entry in &group.entries {
                let path = join(directory, &names.draw_of(package.index));
                match entry {
                    Entry::File(size) => files.files.push((path, *size)),
                    Entry::Setting(size) => files.settings.push((path, *size)),
                    Entry::Link => files.symlinks.push(path),
                }
            }
        }
        files.directories = self.made_for(directories);
        files
    }

    /// The paths of `directories` and of all above them that the system does not have.
    fn made_for(&self, mut directories: BTreeSet<usize>) -> Vec<String> {
        let mut open: Vec<usize> = directories.iter().copied().collect();
        while let Some(number) = open.pop() {
            let above = self.directories[number].above;
            if directories.insert(above) {
                open.push(above);
            }
        }
        let all = directories.into_iter().map(|number| &self.directories[number]);
        all.filter(|directory| !directory.is_of_system).map(|it| it.path.clone()).collect()
    }
}

impl Package {
    /// The package's name in its database's files.
    #[must_use]
    pub fn name(&self) -> String {
        format!("package-{:04}", self.index)
    }

    /// How many files and links it has.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.groups.iter().map(|group| group.entries.len()).sum()
    }
}

/// Draws names that are about as long as real ones, and no two alike.
#[derive(Debug)]
struct Names {
    dice: Dice,
    lengths: Vec<usize>,
    drawn: usize,
}

impl Names {
    fn new(seed: Seed, label: &str, column: usize) -> Self {
        let length = |row: &str| row.split(',').nth(column)?.parse().ok();
        let lengths = rows(NAMES).filter_map(length).collect();
        Self { dice: Dice::new(seed, label), lengths, drawn: 0 }
    }

    /// The next name.
    fn draw(&mut self) -> String {
        let suffix = base36(self.drawn);
        self.named(&suffix)
    }

    /// The next name of a file of the package with this number: another package may put files
    /// into the same directory.
    fn draw_of(&mut self, package: usize) -> String {
        let suffix = format!("{}-{}", base36(package), base36(self.drawn));
        self.named(&suffix)
    }

    fn named(&mut self, suffix: &str) -> String {
        self.drawn += 1;
        let length = self.length();
        let name = self.dice.name(length.saturating_sub(suffix.len() + 1));
        format!("{name}-{suffix}")
    }

    /// A length between two neighbouring ones of the table, every such pair as likely.
    fn length(&mut self) -> usize {
        let below = self.dice.below(self.lengths.len().saturating_sub(1));
        let (low, high) = match self.lengths.get(below..below + 2) {
            Some([low, high]) => (*low, *high),
            _ => (1, 1),
        };
        low + self.dice.below(high.saturating_sub(low) + 1)
    }
}

/// `number` in the digits and small letters.
fn base36(mut number: usize) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let mut digits = Vec::new();
    loop {
        digits.push(char::from(DIGITS[number % 36]));
        number /= 36;
        if number == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

fn join(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}

/// The mean size of each class, from the smallest; nothing for a class without files.
fn sizes() -> Vec<Bytes> {
    rows(SIZES).map(|row| row.split(',').nth(2).map(bytes).unwrap_or_default()).collect()
}

/// The number in a column; 0 where there is none.
fn bytes(text: &str) -> Bytes {
    Bytes(text.parse().unwrap_or(0))
}

/// The lines of a table without its comments and its heading.
fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).skip(1)
}

#[cfg(test)]
mod tests;
