//! The embedded tables are whole, and what is made of them is what they say.

use std::collections::HashSet;

use super::*;

fn distribution() -> Distribution {
    Distribution::new(Seed::from_bits(7))
}

#[test]
fn every_line_of_the_tables_is_whole() {
    for (table, columns) in [(PACKAGES, 4), (SIZES, 3), (NAMES, 3)] {
        assert!(table.starts_with("# "), "a table says where it comes from");
        for row in rows(table) {
            assert_eq!(row.split(',').count(), columns, "{row}");
        }
    }
    for (number, row) in (1..).zip(rows(PACKAGES)) {
        let columns: Vec<&str> = row.split(',').collect();
        let is_number = |text: &str| text.parse::<u64>().is_ok();
        assert!(is_number(columns[0]) && is_number(columns[1]), "package {number}");
        assert!(columns[2].split(' ').all(|size| size.is_empty() || is_number(size)));
        assert!(tokens(columns[3]).all(|token| token != Token::Unknown), "package {number}");
    }
    assert_eq!(rows(SIZES).count(), 52, "a class for each letter");
    assert!((350..=450).contains(&package_count()), "{}", package_count());
}

#[test]
fn directories_are_numbered_before_they_are_named_again() {
    let mut known = 1;
    for row in rows(PACKAGES) {
        for token in tokens(row.rsplit(',').next().unwrap()) {
            match token {
                Token::New { above, .. } => {
                    assert!(above < known);
                    known += 1;
                }
                Token::Again(number) => assert!(number < known),
                _ => {}
            }
        }
    }
}

#[test]
fn the_files_are_as_many_and_as_large_as_those_that_were_measured() {
    let distribution = distribution();
    let (mut files, mut total) = (0, Bytes::ZERO);
    for package in distribution.packages(usize::MAX) {
        let contents = distribution.contents(&package);
        files += contents.files.len() + contents.settings.len();
        total += contents.files.iter().chain(&contents.settings).map(|(_, size)| *size).sum();
    }
    let column = |row: &str, index| row.split(',').nth(index).unwrap().parse::<u64>().unwrap();
    let measured: u64 = rows(SIZES).map(|row| column(row, 1)).sum();
    let bytes: u64 = rows(SIZES).map(|row| column(row, 1) * column(row, 2)).sum();
    assert_eq!((files as u64, total), (measured, Bytes(bytes)));
}

#[test]
fn every_name_is_there_once_and_lies_in_a_directory_that_is_there() {
    let distribution = distribution();
    let mut directories: HashSet<String> =
        distribution.system_directories().map(str::to_owned).collect();
    directories.insert(String::new());
    let mut names = HashSet::new();
    for package in distribution.packages(usize::MAX) {
        let contents = distribution.contents(&package);
        for path in contents.directories {
            assert!(directories.contains(path.rsplit_once('/').map_or("", |(above, _)| above)));
            directories.insert(path);
        }
        let files = contents.files.iter().chain(&contents.settings).map(|(path, _)| path);
        for path in files.chain(&contents.symlinks) {
            assert!(directories.contains(path.rsplit_once('/').map_or("", |(above, _)| above)));
            assert!(names.insert(path.clone()), "{path} is there twice");
        }
    }
    assert!(names.is_disjoint(&directories));
}

#[test]
fn a_part_of_the_packages_is_like_the_whole() {
    let distribution = distribution();
    let mean = |packages: &[Package]| {
        packages.iter().map(Package::entries).sum::<usize>() as f64 / packages.len() as f64
    };
    let part = distribution.packages(100);
    assert_eq!(part.len(), 100);
    let ratio = mean(&part) / mean(&distribution.packages(usize::MAX));
    assert!((0.7..1.4).contains(&ratio), "{ratio}");
}

#[test]
fn the_seed_decides_names_and_nothing_else() {
    let other = Distribution::new(Seed::from_bits(8));
    let (this, package) = (distribution(), &distribution().packages[0]);
    assert_eq!(this.contents(package), distribution().contents(package));
    assert_ne!(this.contents(package), other.contents(package));
    let sizes = |files: PackageFiles| files.files.into_iter().map(|file| file.1).sum::<Bytes>();
    assert_eq!(sizes(this.contents(package)), sizes(other.contents(package)));
}
