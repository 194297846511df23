//! A dump as text: one line for each line of each file.
//!
//! ```text
//! # cardproof dump 1
//! sys/class/block/mmcblk0 -> sys/devices/platform/…/block/mmcblk0
//! sys/devices/platform/…/block/mmcblk0/size = 62333952
//! sys/kernel/debug/mmc0/ios !
//! sys/devices/platform/…/block/mmcblk0/dm /
//! ```
//!
//! `=` is a line of a file, and a file of several lines has several; `->` is a link, its target
//! counted from the root; `!` was not readable for who made the dump; `/` is there without its
//! content being of interest. Bytes that are no printable ASCII, and blanks in paths, are `\xNN`, a
//! backslash is `\\`.
//! Lines that begin with `#`, and empty ones, are for people. A tar would keep more and say less:
//! this can be read before it is sent, and pasted.

use std::fmt::Write;
use std::path::{Component, Path, PathBuf};

use super::DumpError;
use super::tree::{Entry, Tree};

/// The first line.
const HEADING: &str = "# cardproof dump 1";

/// `tree` as text.
pub(super) fn write(tree: &Tree) -> String {
    let mut text = format!("{HEADING}\n");
    for (path, entry) in tree.entries() {
        let path = path_escaped(path);
        // Writing to a string does not fail.
        let _ = match entry {
            Entry::File(bytes) => {
                write_file(&mut text, &path, bytes);
                Ok(())
            }
            Entry::Link(target) => writeln!(text, "{path} -> {}", path_escaped(target)),
            Entry::Denied => writeln!(text, "{path} !"),
            Entry::Present => writeln!(text, "{path} /"),
        };
    }
    text
}

fn write_file(text: &mut String, path: &str, bytes: &[u8]) {
    let content = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    for line in content.split(|&byte| byte == b'\n') {
        let _ = writeln!(text, "{path} = {}", escaped(line));
    }
}

/// The tree that `text` describes.
///
/// # Errors
/// The first line is not that of a dump, or a line is of none of the four kinds.
pub(super) fn parse(text: &str) -> Result<Tree, DumpError> {
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some(HEADING) {
        return Err(DumpError::NoDump);
    }
    let mut tree = Tree::default();
    let mut open: Option<(PathBuf, Vec<u8>)> = None;
    for (index, line) in lines.enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let malformed = || DumpError::Malformed { line: index + 2 };
        let (path, entry) = parse_line(line).ok_or_else(malformed)?;
        match (&mut open, entry) {
            (Some((last, content)), Entry::File(more)) if *last == path => {
                content.extend_from_slice(&more);
            }
            (_, Entry::File(first)) => close(&mut tree, open.replace((path, first))),
            (_, entry) => tree.insert(path, entry),
        }
    }
    close(&mut tree, open);
    Ok(tree)
}

fn close(tree: &mut Tree, file: Option<(PathBuf, Vec<u8>)>) {
    if let Some((path, content)) = file {
        tree.insert(path, Entry::File(content));
    }
}

fn parse_line(line: &str) -> Option<(PathBuf, Entry)> {
    let (path, rest) = line.split_once(' ')?;
    let (sign, content) = rest.split_once(' ').unwrap_or((rest, ""));
    let entry = match sign {
        "=" => {
            let mut bytes = unescaped(content)?;
            bytes.push(b'\n');
            Entry::File(bytes)
        }
        "->" => Entry::Link(path_of(content)?),
        "!" if content.is_empty() => Entry::Denied,
        "/" if content.is_empty() => Entry::Present,
        _ => return None,
    };
    Some((path_of(path)?, entry))
}

/// The path that `text` stands for, if it is one below the root.
fn path_of(text: &str) -> Option<PathBuf> {
    let bytes = unescaped(text)?;
    let path = PathBuf::from(String::from_utf8(bytes).ok()?);
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
    (is_below && path != Path::new("")).then_some(path)
}

/// `path` without blanks, for a blank ends it.
fn path_escaped(path: &Path) -> String {
    escaped(path.as_os_str().as_encoded_bytes()).replace(' ', "\\x20")
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b'\\' => text.push_str("\\\\"),
            b' '..=b'~' => text.push(char::from(byte)),
            _ => {
                let _ = write!(text, "\\x{byte:02x}");
            }
        }
    }
    text
}

/// The bytes that `text` stands for. Characters beyond ASCII, which only people write, stand for
/// themselves.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        rest = if let Some(after) = escape.strip_prefix('\\') {
            bytes.push(b'\\');
            after
        } else {
            let digits = escape.strip_prefix('x')?.get(..2)?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            escape.get(3..)?
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_survives_being_written() {
        let mut tree = Tree::default();
        let file = |bytes: &[u8]| Entry::File(bytes.to_vec());
        tree.insert("sys/one two".into(), file(b"a = b -> c !\n"));
        tree.insert("sys/two".into(), file(b"x\n\n\\ \xff\x00\ty\n"));
        tree.insert("sys/empty".into(), file(b"\n"));
        tree.insert("sys/link".into(), Entry::Link("sys/one".into()));
        tree.insert("sys/denied".into(), Entry::Denied);
        tree.insert("sys/present".into(), Entry::Present);
        assert_eq!(parse(&write(&tree)).unwrap(), tree);
    }

    #[test]
    fn what_is_no_dump_is_refused_with_its_line() {
        assert!(matches!(parse("hello\n"), Err(DumpError::NoDump)));
        for line in
            ["no sign", "/absolute = 1", "a/../b = 1", " = 1", "a = \\q", "a = \\x0", "a -> /b"]
        {
            let text = format!("{HEADING}\n# note\n{line}\n");
            let error = parse(&text).unwrap_err();
            assert!(matches!(error, DumpError::Malformed { line: 3 }), "{line}: {error:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_content_survives(content: Vec<u8>) {
            let mut tree = Tree::default();
            let with_end = [content.as_slice(), b"\n"].concat();
            tree.insert("sys/a".into(), Entry::File(with_end));
            proptest::prop_assert_eq!(parse(&write(&tree)).unwrap(), tree);
        }

        #[test]
        fn any_text_is_read_without_panic(text: String) {
            let _ = parse(&format!("{HEADING}\n{text}"));
        }
    }
}
