//! Where records are kept: one JSON file each, in the user's data directory.

use std::env;
use std::fs;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cardproof_record::{Record, State};

use cardproof_units::in_words;

use crate::failure::Failure;
use crate::file::{open_regular, put, sweep};
use crate::owner::make_directories;

/// What the youngest record is called by.
pub const LATEST: &str = "latest";

/// Whether `word` has the form of a record's id, of its beginning with the time, or of what a list shows of it.
#[must_use]
pub fn has_form_of_id(word: &str) -> bool {
    let is_drawn = |end: &str| {
        end.len() == DRAWN_MIN && end.bytes().all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f'))
    };
    let bytes = word.as_bytes();
    let begins_with_time =
        bytes.len() > 8 && bytes[..8].iter().all(u8::is_ascii_digit) && bytes[8] == b'T';
    let is_simulated =
        word.starts_with("sim-") && word.rsplit_once('-').is_some_and(|(_, end)| is_drawn(end));
    // A number, such as a day, is a natural name; a label goes before a part of an id.
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    is_drawn(word) && !is_number || begins_with_time || is_simulated || word.contains('…')
}

/// The directory of records.
#[derive(Clone, Debug)]
pub struct Store {
    directory: PathBuf,
}

impl Store {
    /// The store in `directory`, which is made if it does not exist, and found to be writable.
    ///
    /// # Errors
    /// It is not.
    pub fn open(directory: &Path) -> Result<Self, Failure> {
        let directory = directory.to_owned();
        let unusable = |error: io::Error| {
            let remedy = match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "make room there",
                io::ErrorKind::FileTooLarge => "allow larger files (ulimit -f)",
                _ => "make it writable",
            };
            Failure::incomplete(format!(
                "cannot keep records in {}: {error}; {remedy}, or name another place with \
                 XDG_DATA_HOME",
                directory.display(),
                error = in_words(&error)
            ))
        };
        make_directories(&directory).map_err(unusable)?;
        let probe = directory.join(format!(".probe.{}", std::process::id()));
        put(&probe, "").map_err(unusable)?;
        fs::remove_file(&probe).map_err(unusable)?;
        sweep(&directory);
        Ok(Self { directory })
    }

    /// The directory of the user's records: `$XDG_DATA_HOME/cardproof/records`, or
    /// `~/.local/share/cardproof/records`. It need not exist.
    ///
    /// # Errors
    /// Neither `HOME` nor `XDG_DATA_HOME` is set.
    pub fn of_user() -> Result<PathBuf, Failure> {
        Ok(data_home()?.join("cardproof").join("records"))
    }

    /// The user's directory `name` beside that of the records. It need not exist.
    ///
    /// # Errors
    /// As [`of_user`](Self::of_user).
    pub fn beside(name: &str) -> Result<PathBuf, Failure> {
        Ok(Self::of_user()?.with_file_name(name))
    }

    /// The file of the record called `id`, or of the youngest one for `latest`; `None` where there is none. Nothing is
    /// made for it.
    ///
    /// # Errors
    /// As [`of_user`](Self::of_user).
    pub fn find(id: &str) -> Result<Option<PathBuf>, Failure> {
        let directory = Self::of_user()?;
        if id == LATEST {
            return Ok(Self::youngest(records(&directory)));
        }
        let path = directory.join(format!("{id}.json"));
        Ok((is_name(id) && path.is_file()).then_some(path))
    }

    /// The file of the record whose id alone begins or ends with `part`; `None` where there is none.
    ///
    /// # Errors
    /// As [`of_user`](Self::of_user), and where there are several.
    pub fn find_by_part(part: &str) -> Result<Option<PathBuf>, Failure> {
        if is_name(part) { with_prefix(&Self::of_user()?, part) } else { Ok(None) }
    }

    /// The one of the records at `paths` that began last, by the time in its id: judging or copying a record changes
    /// the time of its file. Where an id holds no time, as that of a simulated card's record, the time of its file
    /// stands for it. An id has whole seconds; within one the time of the file decides.
    #[must_use]
    pub fn youngest(paths: impl IntoIterator<Item = PathBuf>) -> Option<PathBuf> {
        paths.into_iter().max_by_key(|path| Self::age(path))
    }

    /// What orders the records at `path`, the youngest last.
    #[must_use]
    pub fn age(path: &Path) -> impl Ord + use<> {
        let written = fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
        let began = began(path).or(written);
        let seconds = began.and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        (seconds.map(|seconds| seconds.as_secs()), written, path.to_owned())
    }

    /// Saves `record`, in the place of an earlier state of the same run.
    ///
    /// # Errors
    /// There is no room, or the place cannot be written; an earlier state stays as it was.
    pub fn save(&self, record: &Record) -> Result<(), Failure> {
        let path = self.record_path(&record.id);
        let text =
            record.to_json().map_err(Failure::because("the record cannot be put into JSON"))?;
        put(&path, &text).map_err(|error| {
            // What an earlier save has put there is as it was.
            let kept = if path.exists() { " (its first phases are kept there)" } else { "" };
            Failure::incomplete(format!(
                "cannot save the record {}{kept}: {error}; make room there, or name another place \
                 with XDG_DATA_HOME",
                path.display(),
                error = in_words(&error)
            ))
        })
    }

    /// Whether the record called `id` is kept and tells of a run that reached its end.
    pub(crate) fn holds_whole(&self, id: &str) -> bool {
        let text = open_regular(&self.record_path(id)).and_then(io::read_to_string);
        let kept = text.ok().and_then(|text| Record::from_json(&text).ok());
        kept.is_some_and(|record| record.state == State::Complete)
    }

    /// Where the record called `id` is.
    pub fn record_path(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.json"))
    }

    /// Where the report of the record called `id` is.
    pub fn report_path(&self, id: &str) -> PathBuf {
        self.directory.join(format!("{id}.html"))
    }
}

/// The files of records in `directory`; none where it cannot be read.
fn records(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.path()).filter(|path| {
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes()[0] == b'.');
        !is_hidden && path.extension().is_some_and(|ending| ending == "json") && path.is_file()
    })
}

/// Whether `id` is a name, which leads nowhere else.
fn is_name(id: &str) -> bool {
    !id.is_empty() && !id.contains(['/', '\0']) && !id.starts_with('.')
}

/// An end of an id with fewer letters names no record.
const END_MIN: usize = 4;

/// What is drawn at random in an id has at least so many letters.
const DRAWN_MIN: usize = 8;

/// The only record in `directory` whose id begins with `prefix`, or ends with it, or whose end, which a list shows,
/// begins with it.
fn with_prefix(directory: &Path, prefix: &str) -> Result<Option<PathBuf>, Failure> {
    // A list shows a long id with its middle left out.
    let (start, end) = prefix.split_once('…').unwrap_or((prefix, ""));
    let begins = |path: &PathBuf| {
        let id = path.file_stem().map_or(&[][..], |id| id.as_encoded_bytes());
        let mut words = id.rsplit(|byte| *byte == b'-');
        let drawn = words.find(|word| word.len() >= DRAWN_MIN).unwrap_or_default();
        let is_end = prefix.len() >= END_MIN
            && (id.ends_with(prefix.as_bytes()) || drawn.starts_with(prefix.as_bytes()));
        is_end || id.starts_with(start.as_bytes()) && id.ends_with(end.as_bytes())
    };
    let mut found: Vec<PathBuf> = records(directory).filter(begins).collect();
    if found.len() < 2 {
        return Ok(found.pop());
    }
    found.sort();
    let shown: Vec<String> =
        found.iter().filter_map(|path| Some(path.file_stem()?.to_string_lossy().into())).collect();
    const SHOWN: usize = 4;
    Err(Failure::usage(format!(
        "{} records have ids that begin or end with '{prefix}': {}{}; give the whole id of one",
        shown.len(),
        shown[..shown.len().min(SHOWN)].join(", "),
        if shown.len() > SHOWN { ", ..." } else { "" }
    )))
}

/// The time at the beginning of the id of the record at `path`, such as `20261104T181502Z`.
fn began(path: &Path) -> Option<SystemTime> {
    let time = path.file_stem()?.to_str()?.get(..16)?;
    if time.as_bytes()[8] != b'T' || time.as_bytes()[15] != b'Z' {
        return None;
    }
    let number = |range: Range<usize>| {
        let digits = time.get(range)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse::<u64>().ok())?
    };
    let (year, month, day) = (number(0..4)?, number(4..6)?, number(6..8)?);
    if year < 1970 || !(1..=12).contains(&month) {
        return None;
    }
    // Days since 1970 with years that begin in March (H. Hinnant, "chrono-compatible date
    // algorithms").
    let (years, months) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = 365 * years + years / 4 - years / 100 + years / 400;
    let days = (of_years + (153 * months + 2) / 5 + day).checked_sub(719_469)?;
    let seconds = number(9..11)? * 3_600 + number(11..13)? * 60 + number(13..15)?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(days * 86_400 + seconds))
}

/// `$XDG_DATA_HOME` where it is an absolute path, as the XDG Base Directory Specification asks;
/// else `~/.local/share`.
fn data_home() -> Result<PathBuf, Failure> {
    if let Some(path) = env::var_os("XDG_DATA_HOME").filter(|path| Path::new(path).is_absolute()) {
        return Ok(PathBuf::from(path));
    }
    match env::var_os("HOME").filter(|home| !home.is_empty()) {
        Some(home) => Ok(PathBuf::from(home).join(".local/share")),
        None => Err(Failure::incomplete(
            "cannot tell where to keep records: neither HOME nor XDG_DATA_HOME is set; set one",
        )),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_latest_record_of_a_second_is_the_one_written_last() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str, milliseconds: u64| {
            let path = place.path().join(name);
            let file = fs::File::create(&path).unwrap();
            // 2026-11-04, 18:15:02.
            let time = Duration::from_millis(1_793_816_102_000 + milliseconds);
            file.set_modified(SystemTime::UNIX_EPOCH + time).unwrap();
            path
        };
        write("sim-sandisk-ultra-standard-1-00000000.json", 400);
        let measured = write("20261104T181502Z-0000.json", 900);
        assert_eq!(Store::youngest(records(place.path())), Some(measured));
        let simulated = write("sim-sandisk-ultra-standard-2-00000000.json", 1100);
        assert_eq!(Store::youngest(records(place.path())), Some(simulated));
    }

    #[test]
    fn the_forms_of_an_id_are_told_from_names() {
        let ids = [
            "20261104T181502Z-9e84f69a",
            "20261104T",
            "9e84f69a",
            "sim-usb-stick-check-1-0000ffff",
            "sim-a…00",
        ];
        assert_eq!(ids.map(has_form_of_id), [true; 5]);
        let names = [
            "red",
            "2026-11-04",
            "20261104",
            "sim-card",
            "beef",
            "card 9e84f69a",
            "decade",
            "Facade12",
        ];
        assert_eq!(
            names.map(has_form_of_id),
            [false, false, false, false, false, false, false, false]
        );
    }

    #[test]
    fn an_id_that_a_list_has_shortened_finds_its_record() {
        let place = tempfile::tempdir().unwrap();
        let write = |name: &str| {
            let path = place.path().join(name);
            fs::write(&path, "").unwrap();
            path
        };
        let ours = write("sim-sandisk-ultra-standard-1-00000000.json");
        let other = write("sim-sandisk-ultra-standard-1-0000ffff.json");
        let again = write("20261126T130904Z-9e84f69a-2.json");
        let found = |name: &str| with_prefix(place.path(), name);
        assert_eq!(found("sim-sandisk…00000000").unwrap(), Some(ours));
        assert_eq!(found("sim-sandisk…0000ffff").unwrap(), Some(other.clone()));
        // The beginning of what a list shows of a long id.
        assert_eq!(found("0000f").unwrap(), Some(other));
        assert_eq!(found("9e84").unwrap(), Some(again));
        assert_eq!(found("9e8").unwrap(), None);
        assert_eq!(found("sim-sandisk…00001111").unwrap(), None);
        found("sim-sandisk…").unwrap_err();
    }
}
