//! Traces of other tools: a table, a log of fio, files of blktrace, lines of blkparse.
//!
//! Which of them a file is, its content tells and not its name.

use std::fs;
use std::path::{Path, PathBuf};

use cardproof_import::{clean, decode};
use cardproof_trace::{
    BlktraceReader, TextError, is_blkparse, is_blktrace, is_csv, is_iolog, read_blkparse, read_csv,
    read_iolog,
};
use cardproof_units::{Bytes, in_words};

use crate::exit::Failure;
use crate::input;
use crate::replay::loading::LENGTH_MAX;

/// How every trace begins.
const MAGIC: &[u8] = b"CPTRACE";

/// Text above this size is not searched for a damaged paste.
const PASTE_MAX: Bytes = Bytes::mib(4);

/// Where it is said what can be read.
const KNOWN: &str = "`cardproof replay show --help` lists what can be read";

/// Whether `bytes` are in a form of our own already.
pub(in crate::replay) fn is_ours(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The file `path`, which holds `bytes`, as a trace called `name`.
pub(in crate::replay) fn converted(
    path: &str,
    bytes: &[u8],
    name: &str,
    description: &str,
) -> Result<Vec<u8>, Failure> {
    if is_blktrace(bytes) {
        return blktrace(path, name, description);
    }
    let wrong = |error: TextError| Failure::usage(format!("{path}: {error}"));
    match std::str::from_utf8(bytes) {
        Ok(text) if is_csv(text) => read_csv(text, name, description).map_err(wrong),
        Ok(text) if is_iolog(text) => read_iolog(text, name, description).map_err(wrong),
        text => blkparse(path, bytes, name, description)?.ok_or_else(|| match text {
            Ok(text) => {
                let first: String =
                    text.lines().next().unwrap_or_default().chars().take(60).collect();
                Failure::usage(format!("{path} is not a trace (line 1 is '{first}'); {KNOWN}"))
            }
            Err(error) => Failure::usage(format!(
                "{path} is not a trace, and no text from byte {} on; {KNOWN}",
                error.valid_up_to()
            )),
        }),
    }
}

/// The trace in lines of blkparse, which people paste; `None` where there is none.
fn blkparse(
    path: &str,
    bytes: &[u8],
    name: &str,
    description: &str,
) -> Result<Option<Vec<u8>>, Failure> {
    let wrong = |error: TextError| Failure::usage(format!("{path}: {error}"));
    let text = decode(bytes);
    if is_blkparse(&text) {
        return read_blkparse(&text, name, description).map_err(wrong);
    }
    if bytes.len() as u64 > PASTE_MAX.get() {
        return Ok(None);
    }
    let text = clean(&text);
    if !is_blkparse(&text.text) {
        return Ok(None);
    }
    read_blkparse(&text.text, name, description)
        .map_err(|error| wrong(TextError { line: text.number_of(error.line), ..error }))
}

/// The trace in the file of blktrace `path` and in its siblings of the other processors.
fn blktrace(path: &str, name: &str, description: &str) -> Result<Vec<u8>, Failure> {
    let mut reader = BlktraceReader::default();
    for file in siblings(Path::new(path)) {
        let shown = file.display();
        let bytes = input::read(&file, LENGTH_MAX).map_err(|error| {
            Failure::of_opening(
                &error,
                format!("cannot read {shown}: {error}", error = in_words(&error)),
            )
        })?;
        reader.add(&bytes).map_err(|error| Failure::usage(format!("{shown}: {error}")))?;
    }
    reader.finish(name, description).ok_or_else(|| {
        Failure::usage(format!(
            "{path} holds no request; record with blktrace -a issue -a complete"
        ))
    })
}

/// The files `NAME.blktrace.N` beside `path`, or `path` alone where it is not called so.
fn siblings(path: &Path) -> Vec<PathBuf> {
    let alone = vec![path.to_owned()];
    let Some(stem) = path.file_name().and_then(|name| stem(name.to_str()?)) else { return alone };
    let directory = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut all: Vec<PathBuf> = fs::read_dir(directory)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_name().to_str().and_then(self::stem) == Some(stem))
        .map(|entry| entry.path())
        .collect();
    all.sort();
    if all.is_empty() { alone } else { all }
}

/// What is before `.blktrace.N` in `name`.
fn stem(name: &str) -> Option<&str> {
    let (rest, number) = name.rsplit_once('.')?;
    number.parse::<u32>().ok()?;
    rest.strip_suffix(".blktrace")
}
