//! The shapes of real packages: how many files and directories, how large, from a table.
//!
//! The table holds one package a line in the order of their installation; a second one the sizes of
//! files above 4 KiB as quantiles. How both were measured is in `docs/design/jobs.md`. A package's
//! own totals are kept to the byte; which of its files is how large is drawn.

use cardproof_units::{Bytes, Seed};

use super::dice::Dice;

const TABLE: &str = include_str!("packages/packages.csv");
const SIZES: &str = include_str!("packages/sizes.csv");
const NAMES: &str = include_str!("packages/names.csv");

/// Files up to this size take one block, and are counted apart in the table.
const SMALL_MAX: Bytes = Bytes::kib(4);

/// What a package consists of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Its place in the table, from 0.
    pub index: usize,
    /// Regular files.
    pub files: usize,
    /// Of these, how many of at most 4 KiB.
    pub small_files: usize,
    /// Symbolic links.
    pub symlinks: usize,
    /// Directories that no other package has.
    pub directories: usize,
    /// Of its files, how many lie in directories that many packages share.
    pub shared_files: usize,
    /// All regular files together.
    pub bytes: Bytes,
    /// Of these, the files of at most 4 KiB.
    pub small_bytes: Bytes,
    /// The archive.
    pub archive_bytes: Bytes,
    /// Files of control information, `control` itself included.
    pub control_files: usize,
    /// These together.
    pub control_bytes: Bytes,
    /// Configuration files.
    pub conffiles: usize,
}

/// The files of one package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageFiles {
    /// Its own directories, outer ones before those in them.
    pub directories: Vec<String>,
    /// Its regular files, with their sizes, in the order of its archive: by directory.
    pub files: Vec<(String, Bytes)>,
    /// Its symbolic links.
    pub symlinks: Vec<String>,
}

/// Directories that many packages share, outer ones before those in them. Files of a package go to
/// one of [`SHARED`].
pub(super) const SHARED_PARENTS: &[&str] = &[
    "usr",
    "usr/share",
    "usr/lib",
    "usr/share/man",
    "usr/share/locale",
    "usr/share/icons",
    "usr/share/icons/hicolor",
];

/// Shared directories in which packages' own files lie.
pub(super) const SHARED: &[&str] = &[
    "usr/bin",
    "usr/lib/triplet",
    "usr/share/applications",
    "usr/share/icons/hicolor/48x48",
    "usr/share/icons/hicolor/scalable",
    "usr/share/locale/de",
    "usr/share/locale/fr",
    "usr/share/locale/ja",
    "usr/share/man/man1",
    "usr/share/man/man3",
    "usr/share/man/man8",
    "usr/share/mime",
];

/// Where packages' own directories lie.
pub(super) const OWN_PARENTS: &[&str] = &["usr/share/doc", "usr/share/data", "usr/lib/modules"];

/// How many packages the table holds.
#[must_use]
pub fn package_count() -> usize {
    rows(TABLE).count()
}

/// `count` packages of the table, from the smallest to the largest alike, in the table's order; all
/// for more.
#[must_use]
pub fn packages(count: usize) -> Vec<Package> {
    let mut all: Vec<Package> =
        rows(TABLE).enumerate().map(|(index, row)| package(index, row)).collect();
    if count >= all.len() {
        return all;
    }
    all.sort_by_key(|package| (package.files, package.bytes));
    // The middle one of each of `count` equal parts.
    let mut chosen: Vec<Package> =
        (0..count).map(|part| all[(2 * part + 1) * all.len() / (2 * count)]).collect();
    chosen.sort_by_key(|package| package.index);
    chosen
}

/// The lines of a table without its comments and its heading.
fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.starts_with('#') && !line.is_empty()).skip(1)
}

/// The package of a line. That every line has its numbers is a test's business: a line that had
/// not would give an empty package.
fn package(index: usize, row: &str) -> Package {
    let mut numbers = row.split(',').map(|field| field.trim().parse::<u64>().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    Package {
        index,
        files: next() as usize,
        small_files: next() as usize,
        symlinks: next() as usize,
        directories: next() as usize,
        shared_files: next() as usize,
        bytes: Bytes(next()),
        small_bytes: Bytes(next()),
        archive_bytes: Bytes(next()),
        control_files: next() as usize,
        control_bytes: Bytes(next()),
        conffiles: next() as usize,
    }
}

impl Package {
    /// What its files and directories are called and how large they are.
    #[must_use]
    pub fn contents(&self, seed: Seed) -> PackageFiles {
        let mut dice = Dice::new(seed, &format!("package {}", self.index));
        let directories = self.own_directories(&mut dice);
        let sizes = self.sizes(&mut dice);
        let mut files: Vec<(String, Bytes)> = sizes
            .into_iter()
            .enumerate()
            .map(|(number, size)| (self.place(number, &directories, &mut dice), size))
            .collect();
        files.sort();
        let symlinks = (0..self.symlinks)
            .map(|number| {
                format!("{}.so", self.place(self.files + number, &directories, &mut dice))
            })
            .collect();
        PackageFiles { directories, files, symlinks }
    }

    /// The package's name in its database's files.
    #[must_use]
    pub fn name(&self) -> String {
        format!("package-{:04}", self.index)
    }

    fn own_directories(&self, dice: &mut Dice) -> Vec<String> {
        let mut directories: Vec<String> = Vec::with_capacity(self.directories);
        for number in 0..self.directories {
            let directory = match OWN_PARENTS.get(number) {
                Some(parent) => format!("{parent}/{}", self.name()),
                // Most are one or two below the package's own.
                None => format!("{}/{}{number}", directories[dice.below(number)], dice.name(7)),
            };
            directories.push(directory);
        }
        directories
    }

    /// A place for the file of this number that no other has.
    fn place(&self, number: usize, directories: &[String], dice: &mut Dice) -> String {
        let is_shared = directories.is_empty() || number < self.shared_files;
        let directory = if is_shared {
            SHARED[dice.below(SHARED.len())]
        } else {
            &directories[dice.below(directories.len())]
        };
        let length = quantile(NAMES, dice.unit()) as usize;
        let name = dice.name(length.saturating_sub(9));
        format!("{directory}/{name}-{:04}{number:04}", self.index)
    }

    /// The sizes of its files: so many small ones and so many larger ones as it has, which together
    /// are as large as they are.
    fn sizes(&self, dice: &mut Dice) -> Vec<Bytes> {
        let small = self.small_files.min(self.files);
        let large = self.files - small;
        let mut sizes = spread(self.small_bytes, small, |_| dice.unit(), SMALL_MAX);
        let large_bytes = self.bytes.saturating_sub(self.small_bytes);
        let of_table = |dice: &mut Dice| quantile(SIZES, dice.unit());
        sizes.extend(spread(large_bytes, large, |_| of_table(dice), Bytes(u64::MAX)));
        dice.shuffle(&mut sizes);
        sizes
    }
}

/// `count` sizes that are `total` together and to one another as `weight` draws them, none above
/// `most` as long as there is room below.
fn spread(
    total: Bytes,
    count: usize,
    mut weight: impl FnMut(usize) -> f64,
    most: Bytes,
) -> Vec<Bytes> {
    let weights: Vec<f64> = (0..count).map(&mut weight).collect();
    let sum: f64 = weights.iter().sum();
    let mut left = total.get();
    let mut sizes: Vec<Bytes> = weights
        .iter()
        .map(|weight| {
            let share = if sum > 0.0 { weight / sum } else { 0.0 };
            let size = ((total.as_f64() * share) as u64).min(most.get()).min(left);
            left -= size;
            Bytes(size)
        })
        .collect();
    for size in &mut sizes {
        let more = left.min(most.get() - size.get());
        *size += Bytes(more);
        left -= more;
    }
    sizes
}

/// What a table of quantiles (`share,value`, both rising) holds at `share`, in between on a line
/// between logarithms.
fn quantile(table: &'static str, share: f64) -> f64 {
    let mut below: Option<(f64, f64)> = None;
    for row in rows(table) {
        let Some((at, value)) = row.split_once(',') else { continue };
        let (at, value) = (at.trim().parse().unwrap_or(1.0), value.trim().parse().unwrap_or(1.0));
        match below {
            Some((from, low)) if share <= at && at > from => {
                return low * (value / low).powf((share - from) / (at - from));
            }
            _ => below = Some((at, value)),
        }
    }
    below.map_or(1.0, |(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_tables_holds_its_numbers() {
        for (table, columns) in [(TABLE, 11), (SIZES, 2), (NAMES, 2)] {
            assert!(table.starts_with("# "), "a table says where it comes from");
            for row in rows(table) {
                let numbers = row.split(',').filter(|field| field.trim().parse::<f64>().is_ok());
                assert_eq!(numbers.count(), columns, "{row}");
            }
        }
        assert!((350..=450).contains(&package_count()), "{}", package_count());
    }

    #[test]
    fn a_package_is_as_large_as_the_table_says() {
        for package in packages(usize::MAX) {
            let contents = package.contents(Seed::from_bits(7));
            let bytes: Bytes = contents.files.iter().map(|(_, size)| *size).sum();
            assert_eq!(contents.files.len(), package.files);
            if package.files > 0 {
                assert_eq!(bytes, package.bytes, "{package:?}");
            }
            assert_eq!(contents.directories.len(), package.directories);
            let small = contents.files.iter().filter(|(_, size)| *size <= SMALL_MAX).count();
            assert!(small >= package.small_files, "{package:?} has {small}");
        }
    }

    #[test]
    fn a_part_of_the_packages_is_like_the_whole() {
        let files = |packages: &[Package]| {
            let files: usize = packages.iter().map(|package| package.files).sum();
            files as f64 / packages.len() as f64
        };
        let part = packages(100);
        assert_eq!(part.len(), 100);
        let ratio = files(&part) / files(&packages(usize::MAX));
        assert!((0.5..2.0).contains(&ratio), "{ratio}");
    }

    #[test]
    fn quantiles_rise() {
        let values: Vec<f64> =
            (0..=100).map(|part| quantile(SIZES, f64::from(part) / 100.0)).collect();
        assert!(values.is_sorted(), "{values:?}");
        assert!(values[0] > 4096.0, "files above 4 KiB");
    }
}
