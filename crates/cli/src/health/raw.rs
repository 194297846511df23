//! Recorded outputs as readings: what a card answered to CMD56, EXT_CSD, sdmon, smartctl. They may stand in
//! anything that people paste.

mod cards;
mod json;
mod log;
mod sysfs;

pub(super) use cards::{of_cmd56, of_life_codes};

use std::fs;
use std::path::{Path, PathBuf};

use cardproof_import::{clean, decode};
use cardproof_rating::signs::Signs;
use cardproof_registers::CMD56_LEN;
use cardproof_units::{Bytes, in_words, shell_path};
use jiff::Timestamp;

use super::{Found, Sourced, drives, told};
use crate::exit::Failure;
use crate::input;
use crate::output::Sink;
use crate::pasted::{self, Reader};

/// No output is longer.
const LENGTH_MAX: Bytes = Bytes::mib(4);

/// What is read, for messages.
const KNOWN: &str = "give 512 bytes of CMD56, the hex of CMD56 or EXT_CSD, messages of the kernel, or what \
                     sdmon, smartctl or nvme smart-log print";

/// What one output was saved as: a file, or two of sysfs.
struct Output {
    path: PathBuf,
    /// In words.
    name: String,
    bytes: Vec<u8>,
}

/// The readings in `paths`: those with a date in its order, the others in the order in which they are given.
pub(super) fn files(paths: &[PathBuf]) -> Result<Found, Failure> {
    let mut found = Found { device: "recorded outputs".to_owned(), ..Found::default() };
    let read = |path: &PathBuf| match input::read(path, LENGTH_MAX) {
        Ok(bytes) => Ok(Output { path: path.clone(), name: name_of(path), bytes }),
        Err(error) => Err(Failure::of_opening(
            &error,
            format!(
                "cannot read {}: {error}; name a recorded output",
                path.display(),
                error = in_words(&error)
            ),
        )),
    };
    let outputs = sysfs::joined(paths.iter().map(read).collect::<Result<_, _>>()?);
    let paths: Vec<PathBuf> = outputs.iter().map(|output| output.path.clone()).collect();
    for output in &outputs {
        let path = &output.path;
        let (signs, device) = signs(path, &output.bytes)?.unzip();
        let readings = readings(output, signs.is_some())?;
        if signs.is_some() && found.signs.is_some() {
            return Err(Failure::usage(format!(
                "{} is a second log of the kernel; give one at a time",
                path.display()
            )));
        }
        found.signs = found.signs.or(signs);
        found.device = device.flatten().unwrap_or(found.device);
        found.readings.extend(readings);
    }
    date_by_files(&mut found.readings, &paths);
    in_order_of_time(&mut found.readings);
    if found.signs.is_none() {
        found.signs = told::latest(&found.readings);
    }
    Ok(found)
}

/// Gives readings without a date, one a file, the dates of their files, where these are days apart: of files
/// that were just copied the dates say nothing.
fn date_by_files(readings: &mut [Sourced], paths: &[PathBuf]) {
    const DAY_S: i64 = 86_400;
    if readings.len() < 2
        || readings.len() != paths.len()
        || readings.iter().any(|reading| reading.time.is_some())
    {
        return;
    }
    let date = |path: &PathBuf| Timestamp::try_from(fs::metadata(path).ok()?.modified().ok()?).ok();
    let Some(dates) = paths.iter().map(date).collect::<Option<Vec<Timestamp>>>() else { return };
    let seconds = || dates.iter().map(|date| date.as_second());
    let span_s = seconds().max().zip(seconds().min()).map_or(0, |(last, first)| last - first);
    if span_s < DAY_S {
        return;
    }
    for (reading, date) in readings.iter_mut().zip(dates) {
        // What is smaller than a second says nothing of days.
        reading.time = Timestamp::from_second(date.as_second()).ok();
        reading.reading.time_s = Some(date.as_second() as f64);
        reading.source.push_str(", dated by its file");
    }
}

/// Puts the dated of `readings` in the order of their dates; the others stay where they are.
fn in_order_of_time(readings: &mut [Sourced]) {
    let places: Vec<usize> =
        (0..readings.len()).filter(|&index| readings[index].time.is_some()).collect();
    let mut dated: Vec<Sourced> = places.iter().map(|&place| readings[place].clone()).collect();
    dated.sort_by_key(|sourced| sourced.time);
    for (place, sourced) in places.into_iter().zip(dated) {
        readings[place] = sourced;
    }
}

/// The signs of trouble in what `bytes`, the content of `path`, hold of the kernel's log, and what it calls the device.
fn signs(path: &Path, bytes: &[u8]) -> Result<Option<(Signs, Option<String>)>, Failure> {
    match log::told(&decode(bytes)) {
        log::LogFindings::Nothing => Ok(None),
        log::LogFindings::OfOne(signs, name) => Ok(Some((*signs, name))),
        log::LogFindings::OfSeveral(names) => Err(Failure::usage(format!(
            "{name} tells of trouble with {}; give the lines of one, or run `cardproof identify --raw {}` for all",
            names.join(", "),
            shell_path(path),
            name = name_of(path)
        ))),
    }
}

/// `path` in words.
fn name_of(path: &Path) -> String {
    match Sink::from_path(path) {
        Sink::Stdout => "standard input".to_owned(),
        Sink::File(path) => path.display().to_string(),
    }
}

/// The readings in `output`; none where it holds signs of trouble instead.
fn readings(output: &Output, has_signs: bool) -> Result<Vec<Sourced>, Failure> {
    let Output { path, name, bytes } = output;
    if bytes.len() == CMD56_LEN && is_binary(bytes) {
        return Ok(vec![Sourced { source: name.clone(), ..of_cmd56(bytes) }]);
    }
    let text = decode(bytes);
    let found = in_text(&text);
    if found.is_empty() && !has_signs {
        return Err(Failure::usage(match pasted::other(&text, Reader::Health, path) {
            Some(advice) => format!("{name} tells no wear: {advice}"),
            None => format!("{name} is no output that is known; {KNOWN}"),
        }));
    }
    let source = |card: &Option<String>| match card {
        Some(card) => format!("{name} ({card})"),
        None => name.clone(),
    };
    Ok(found.into_iter().map(|it| Sourced { source: source(&it.card), ..it }).collect())
}

/// The readings in a pasted text.
pub(super) fn in_text(text: &str) -> Vec<Sourced> {
    let cleaned = clean(text).text;
    let mut found = drives::in_words(&cleaned);
    found.extend(json::in_text(&cleaned));
    if found.is_empty() {
        found = cards::in_text(&cleaned);
    }
    // A name tells devices apart; one device may have another name the next time.
    if let [only] = found.as_mut_slice() {
        only.card = None;
    }
    found
}

/// Whether `bytes` are no text.
fn is_binary(bytes: &[u8]) -> bool {
    let is_control = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    std::str::from_utf8(bytes).is_err() || bytes.iter().any(is_control)
}
