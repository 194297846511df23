//! What was submitted, and what waits: one file each in the user's data directory.
//!
//! A note is written before its document is sent, with the key by which the hub tells a repeated submission. The
//! same record to the same hub is always the same note, whatever label and price go with it, so a second try has the
//! first one's key.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use cardproof_submission::BESIDE;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use cardproof_units::in_words;

use crate::failure::Failure;
use crate::file::replace;
use crate::owner::make_private_directories;
use crate::store::Store;

/// A submission, sent or not.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Note {
    /// The hub's address.
    pub to: String,
    /// What tells the hub that two submissions are one; a secret, since the token follows from it.
    pub key: String,
    /// Whether it waits to be sent.
    pub is_queued: bool,
    /// Where it is on the hub, once it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// What amends and deletes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// What is sent.
    pub document: Value,
    /// Its file.
    #[serde(skip)]
    path: PathBuf,
}

impl Note {
    /// Notes that the hub has taken it.
    pub fn sent(&mut self, url: &str, token: &str) {
        self.is_queued = false;
        self.url = Some(url.to_owned());
        self.token = Some(token.to_owned());
    }
}

/// The directory of notes.
pub struct Notes {
    directory: PathBuf,
}

impl Notes {
    /// The user's, beside the records. It holds tokens, so only the user may read it.
    ///
    /// # Errors
    /// It cannot be made, or made private.
    pub fn of_user() -> Result<Self, Failure> {
        let directory = Store::beside("submissions")?;
        make_private_directories(&directory).map_err(|error| unusable(&directory, &error))?;
        let owner_only = fs::Permissions::from_mode(0o700);
        fs::set_permissions(&directory, owner_only)
            .map_err(|error| unusable(&directory, &error))?;
        Ok(Self { directory })
    }

    /// Where they are, one file each.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The note of the record in `document` for the hub at `to`: the one there is, which has `document` from now on, or a
    /// new one with `key`, which nobody can guess.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub fn note(&self, to: &str, document: &Value, key: String) -> Result<Note, Failure> {
        let record = measured(document);
        for attempt in 0_u8.. {
            let path = self.path(to, &record, attempt);
            match read(&path) {
                Ok(note) if note.to == to && note.document == *document => return Ok(note),
                Ok(mut note) if note.to == to && measured(&note.document) == record => {
                    note.document = document.clone();
                    self.save(&note)?;
                    return Ok(note);
                }
                // Another record with the same hash.
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(unusable(&path, &error)),
            }
            let (to, document) = (to.to_owned(), document.clone());
            let note = Note { to, key, is_queued: false, url: None, token: None, document, path };
            self.save(&note)?;
            return Ok(note);
        }
        Err(Failure::incomplete(format!("{} is full of notes", self.directory.display())))
    }

    /// Saves what has become of `note`.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn save(&self, note: &Note) -> Result<(), Failure> {
        let text = serde_json::to_string(note)
            .map_err(Failure::because("a submission cannot be noted"))?;
        replace(&note.path, &text).map_err(|error| unusable(&note.path, &error))
    }

    /// Those that wait to be sent, to the hub at `to` where it is given.
    ///
    /// # Errors
    /// They cannot be read.
    pub fn queued(&self, to: Option<&str>) -> Result<Vec<Note>, Failure> {
        let entries =
            fs::read_dir(&self.directory).map_err(|error| unusable(&self.directory, &error))?;
        let mut paths: Vec<PathBuf> = entries
            .filter_map(|entry| Some(entry.ok()?.path()))
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .collect();
        paths.sort();
        let mut queued = Vec::new();
        for path in paths {
            let note = read(&path).map_err(|error| unusable(&path, &error))?;
            if note.is_queued && to.is_none_or(|to| to == note.to) {
                queued.push(note);
            }
        }
        Ok(queued)
    }

    fn path(&self, to: &str, record: &Value, attempt: u8) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        (to, record.to_string(), attempt).hash(&mut hasher);
        self.directory.join(format!("{:016x}.json", hasher.finish()))
    }
}

/// `document` without what its submitter says beside the record.
fn measured(document: &Value) -> Value {
    let mut record = document.clone();
    if let Some(fields) = record.as_object_mut() {
        BESIDE.iter().for_each(|name| _ = fields.remove(*name));
    }
    record
}

fn read(path: &Path) -> io::Result<Note> {
    let note = serde_json::from_str(&fs::read_to_string(path)?)?;
    Ok(Note { path: path.to_owned(), ..note })
}

fn unusable(path: &Path, error: &io::Error) -> Failure {
    Failure::incomplete(format!(
        "cannot note the submission in {}: {error}; make it writable, or name another place with XDG_DATA_HOME",
        path.display(),
        error = in_words(error)
    ))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use serde_json::json;

    use super::*;

    /// A note with a key that no other has.
    fn noted(notes: &Notes, to: &str, document: &Value) -> Note {
        static KEYS: AtomicU64 = AtomicU64::new(0);
        let key = KEYS.fetch_add(1, Ordering::Relaxed).to_string();
        notes.note(to, document, key).unwrap()
    }

    #[test]
    fn the_same_document_is_the_same_note() {
        let place = tempfile::tempdir().unwrap();
        let notes = Notes { directory: place.path().to_owned() };
        let first = noted(&notes, "http://a", &json!({"n": 1}));
        assert_eq!(noted(&notes, "http://a", &json!({"n": 1})).key, first.key);
        assert_ne!(noted(&notes, "http://b", &json!({"n": 1})).key, first.key);
        assert_ne!(noted(&notes, "http://a", &json!({"n": 2})).key, first.key);
        assert!(notes.queued(None).unwrap().is_empty());
    }

    #[test]
    fn a_record_with_another_label_or_price_is_the_same_note() {
        let place = tempfile::tempdir().unwrap();
        let notes = Notes { directory: place.path().to_owned() };
        let plain = noted(&notes, "http://a", &json!({"n": 1}));
        let price = |day: &str| json!({"amount": 9.9, "currency": "EUR", "date": day});
        for document in [
            json!({"n": 1, "price": price("2026-01-01")}),
            json!({"n": 1, "price": price("2026-01-02"), "label": "mine"}),
            json!({"n": 1}),
        ] {
            let mut note = noted(&notes, "http://a", &document);
            assert_eq!((&note.key, &note.document), (&plain.key, &document));
            note.is_queued = true;
            notes.save(&note).unwrap();
            let queued = notes.queued(None).unwrap();
            assert_eq!((queued.len(), &queued[0].document), (1, &document));
        }
    }

    /// One of an earlier version has a file of another name.
    #[test]
    fn a_note_is_saved_where_it_was() {
        let place = tempfile::tempdir().unwrap();
        let notes = Notes { directory: place.path().to_owned() };
        let mut note = noted(&notes, "http://a", &json!({"n": 1, "label": "mine"}));
        note.is_queued = true;
        notes.save(&note).unwrap();
        fs::rename(&note.path, place.path().join("other.json")).unwrap();
        let mut note = notes.queued(None).unwrap().remove(0);
        note.sent("http://a/r/x", "token");
        notes.save(&note).unwrap();
        assert!(notes.queued(None).unwrap().is_empty());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }

    #[test]
    fn what_is_queued_waits_until_it_was_sent() {
        let place = tempfile::tempdir().unwrap();
        let notes = Notes { directory: place.path().to_owned() };
        let mut note = noted(&notes, "http://a", &json!({"n": 1}));
        note.is_queued = true;
        notes.save(&note).unwrap();
        assert_eq!(notes.queued(Some("http://a")).unwrap().len(), 1);
        assert!(notes.queued(Some("http://b")).unwrap().is_empty());
        note.sent("http://a/r/x", "token");
        notes.save(&note).unwrap();
        assert!(notes.queued(None).unwrap().is_empty());
        assert_eq!(noted(&notes, "http://a", &json!({"n": 1})).token.as_deref(), Some("token"));
    }
}
