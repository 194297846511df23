//! What one Debian package puts on a disk, as `dpkg-deb` tells it without unpacking it.

use std::path::Path;

use anyhow::{Context, Result};
use cardproof_testkit::run;

/// What stands in a package's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A directory.
    Directory,
    /// A file of so many bytes.
    File(u64),
    /// A symbolic link, or another name of a file before it.
    Link,
}

/// Directories of the root that Debian has below `usr` since release 12, and that some packages
/// still name without it.
const MERGED: [&str; 6] = ["bin", "lib", "lib32", "lib64", "libx32", "sbin"];

/// A name in a package's tree, without a slash at either end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) path: String,
    pub(super) kind: Kind,
}

/// One package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deb {
    /// The archive's size.
    pub(super) archive_bytes: u64,
    /// The size of its paragraph in the package manager's database.
    pub(super) control_bytes: u64,
    /// The sizes of the files that it brings into the database beside the paragraph: checksums,
    /// scripts, triggers.
    pub(super) info_bytes: Vec<u64>,
    /// Its tree, in the archive's order.
    pub(super) entries: Vec<Entry>,
}

impl Deb {
    /// Reads the package in the file `path`.
    ///
    /// # Errors
    /// dpkg-deb is not there, or the file is no package.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let told = |question: &str| run("dpkg-deb", [question.as_ref(), path.as_os_str()]);
        let archive_bytes = std::fs::metadata(path)?.len();
        let (information, contents) = (told("--info")?, told("--contents")?);
        let parsed = parse(archive_bytes, &information, &contents);
        parsed.with_context(|| path.display().to_string())
    }
}

/// A package of `archive_bytes` of which dpkg-deb tells `information` and `contents`.
fn parse(archive_bytes: u64, information: &str, contents: &str) -> Result<Deb> {
    let (mut control_bytes, mut info_bytes) = (0, Vec::new());
    for (name, bytes) in information.lines().filter_map(member) {
        match name {
            "control" => control_bytes = bytes,
            _ => info_bytes.push(bytes),
        }
    }
    let entries = contents
        .lines()
        .map(|line| entry(line).with_context(|| format!("not a line of contents: {line}")))
        .collect::<Result<Vec<_>>>()?;
    let entries = entries.into_iter().flatten().collect();
    Ok(Deb { archive_bytes, control_bytes, info_bytes, entries })
}

/// Name and size of the member for the package manager that a line such as
/// ` 1024 bytes,    30 lines   *  postinst  #!/bin/sh` tells of.
fn member(line: &str) -> Option<(&str, u64)> {
    let mut words = line.split_whitespace().filter(|word| *word != "*");
    let bytes = words.next()?.parse().ok()?;
    if words.next()? != "bytes," || words.nth(1)? != "lines" {
        return None;
    }
    Some((words.next()?, bytes))
}

/// The entry of a line in the form of `tar --list --verbose`: mode, owner, size, date, time,
/// name. `Some(None)` is the root itself.
fn entry(line: &str) -> Option<Option<Entry>> {
    let mut rest = line;
    let mut columns = [""; 5];
    for column in &mut columns {
        let (word, after) = rest.trim_start().split_once(' ')?;
        (*column, rest) = (word, after);
    }
    let [mode, _, size, ..] = columns;
    let name = rest.trim_start();
    let (name, kind) = match mode.chars().next()? {
        'd' => (name, Kind::Directory),
        'l' => (name.split_once(" -> ")?.0, Kind::Link),
        'h' => (name.split_once(" link to ")?.0, Kind::Link),
        '-' => (name, Kind::File(size.parse().ok()?)),
        _ => return None,
    };
    let path = merged(name.trim_start_matches("./").trim_end_matches('/'));
    Some((!path.is_empty()).then_some(Entry { path, kind }))
}

/// Where the system really has `path`.
fn merged(path: &str) -> String {
    let first = path.split('/').next().unwrap_or_default();
    if MERGED.contains(&first) { format!("usr/{path}") } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INFORMATION: &str = " new Debian package, version 2.0.\n \
        size 1200 bytes: control archive=900 bytes.\n      \
        70 bytes,     2 lines      conffiles            \n     \
        800 bytes,    20 lines      control              \n     \
        300 bytes,    12 lines   *  postinst             #!/bin/sh\n Package: a\n";

    const CONTENTS: &str = "\
drwxr-xr-x root/root         0 2023-01-01 10:00 ./
drwxr-xr-x root/root         0 2023-01-01 10:00 ./usr/
-rw-r--r-- root/root      1234 2023-01-01 10:00 ./usr/a name
lrwxrwxrwx root/root         0 2023-01-01 10:00 ./lib/b -> a name
hrw-r--r-- root/root         0 2023-01-01 10:00 ./usr/c link to ./usr/a name
";

    #[test]
    fn a_package_is_read_from_what_dpkg_deb_tells() {
        let deb = parse(1200, INFORMATION, CONTENTS).unwrap();
        assert_eq!(deb.control_bytes, 800);
        assert_eq!(deb.info_bytes, [70, 300]);
        let entry = |path: &str, kind| Entry { path: path.to_owned(), kind };
        let wanted = [
            entry("usr", Kind::Directory),
            entry("usr/a name", Kind::File(1234)),
            entry("usr/lib/b", Kind::Link),
            entry("usr/c", Kind::Link),
        ];
        assert_eq!(deb.entries, wanted);
    }

    #[test]
    fn a_line_that_is_not_understood_is_named() {
        let error = parse(0, "", "garbage\n").unwrap_err();
        assert!(error.to_string().contains("garbage"), "{error}");
    }
}
