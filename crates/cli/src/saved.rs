//! Saved records by the names that a user gives them.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};

use cardproof_record::{Record, RecordHead};
use cardproof_session::{LATEST, Store, is_block_device};
use cardproof_units::{Bytes, in_words, shell_path};

use crate::exit::Failure;
use crate::input;
use crate::inventory;
use crate::output::Sink;
use crate::pasted::{self, Reader};
use crate::suggestion::did_you_mean;
use crate::talk::Talk;

/// No record is longer: ten runs of the longest profile take a tenth of it.
const LENGTH_MAX: Bytes = Bytes::mib(64);

/// The file of the record that `name` names: itself, or one of those kept, by its id, by its label or as the
/// latest.
pub(crate) fn locate(name: &Path) -> Result<PathBuf, Failure> {
    locate_for(name, is_any)
}

const fn is_any(_: &Record) -> bool {
    true
}

/// As [`locate`], for a command that needs a record for which `is_usable` holds. Of several records that a name
/// stands for, the youngest usable one is meant, and for a test of the capacity the speed that was measured with it.
/// Where none is usable, the youngest is returned, of which the command tells what it lacks.
pub(crate) fn locate_for(name: &Path, is_usable: fn(&Record) -> bool) -> Result<PathBuf, Failure> {
    // Where it cannot be told whether there is such a file, reading it tells why.
    if name == Path::new("-") || name.try_exists().unwrap_or(true) {
        return Ok(name.to_owned());
    }
    let usable = |path: PathBuf| {
        if read(&path).is_ok_and(|record| !is_usable(&record)) {
            usable_beside(name, path, is_usable)
        } else {
            Ok(path)
        }
    };
    if let Some(path) = name.to_str().map(Store::find).transpose()?.flatten() {
        return usable(path);
    }
    // A label is a whole name, and goes before a part of an id.
    let labelled = name.to_str().map(inventory::labelled).transpose()?.unwrap_or_default();
    if let Some(path) = chosen(name, &labelled, is_usable)? {
        return Ok(path);
    }
    if let Some(path) = name.to_str().map(Store::find_by_part).transpose()?.flatten() {
        return usable(path);
    }
    if name == Path::new(LATEST) {
        return Err(Failure::usage(inventory::NO_RECORD));
    }
    let heads = inventory::heads()?;
    let labels = heads.iter().filter_map(|(_, head)| head.label.as_deref());
    let near = did_you_mean(&name.to_string_lossy(), labels.chain([LATEST]));
    Err(Failure::usage(format!(
        "there is no file and no record '{}'; {near}name a file, the id or the \
         label of a record, or latest; `cardproof list` shows them",
        name.display()
    )))
}

/// As [`locate_for`], with all records that `name` stands for, read: of a label, which stands for a card, those that are
/// like the youngest usable one by `belong`, oldest first; else the one that is meant.
pub(crate) fn read_all_for(
    name: &Path,
    is_usable: fn(&Record) -> bool,
    belong: fn(&Record, &Record) -> bool,
) -> Result<Vec<Record>, Failure> {
    let youngest = read(&locate_for(name, is_usable)?)?;
    let is_label = !name.exists() && name.to_str() == youngest.label.as_deref();
    if !is_label || !is_usable(&youngest) {
        return Ok(vec![youngest]);
    }
    let mut all = inventory::labelled(youngest.label.as_deref().unwrap_or_default())?;
    all.sort_by_key(|(path, _)| fs::metadata(path).and_then(|it| it.modified()).ok());
    let others = all.into_iter().map(|(_, record)| record);
    let others = others.filter(|it| it.id != youngest.id && is_usable(it) && belong(it, &youngest));
    let mut records: Vec<Record> = others.collect();
    records.push(youngest);
    Ok(records)
}

/// The usable record that `name` stands for, whose own record at `path` is not usable.
fn usable_beside(
    name: &Path,
    path: PathBuf,
    is_usable: fn(&Record) -> bool,
) -> Result<PathBuf, Failure> {
    let own = read(&path)?;
    let is_latest = name == Path::new(LATEST);
    let shares_test = |record: &Record| {
        own.capacity().is_some_and(|capacity| record.capacity() == Some(capacity))
    };
    let mut others = inventory::files(&Store::of_user()?)?;
    others.sort_by_cached_key(|path| Reverse(Store::age(path)));
    let belongs = |record: &Record| is_latest || shares_test(record);
    let is_meant = |path: &PathBuf| read(path).is_ok_and(|it| is_usable(&it) && belongs(&it));
    Ok(others.into_iter().find(is_meant).unwrap_or(path))
}

/// The one of the records with one label that is meant; `None` where there is none.
fn chosen(
    name: &Path,
    labelled: &[(PathBuf, Record)],
    is_usable: fn(&Record) -> bool,
) -> Result<Option<PathBuf>, Failure> {
    let is_one_card = labelled.windows(2).all(|pair| is_alike(&pair[0].1, &pair[1].1));
    if !is_one_card {
        let records: Vec<String> = labelled.iter().map(|(_, it)| with_card(&it.into())).collect();
        return Err(Failure::usage(format!(
            "{} records of different cards have the label '{}'; name one of these ids in its place:\n  {}",
            records.len(),
            name.display(),
            records.join("\n  ")
        )));
    }
    let all = || labelled.iter().map(|(path, _)| path.clone());
    let usable = labelled.iter().filter(|(_, record)| is_usable(record));
    let usable = Store::youngest(usable.map(|(path, _)| path.clone()));
    Ok(usable.or_else(|| Store::youngest(all())))
}

/// The id of a record and the card that it is of.
fn with_card(head: &RecordHead) -> String {
    let device = &head.conditions.device;
    let name = device.name.clone().filter(|_| head.is_simulated());
    let model = name.or_else(|| device.model.clone()).or_else(|| device.name.clone());
    let model = model.unwrap_or_else(|| "card not known".to_owned());
    match device.size_bytes {
        Some(size) => format!("{} ({model}, {})", head.id, size.as_sold()),
        None => format!("{} ({model})", head.id),
    }
}

/// Says that the label of `record` is on a record of another card too: from now on the label alone names neither.
pub(crate) fn warn_of_label(record: &Record, talk: Talk) {
    let Some(label) = record.label.as_deref() else { return };
    let own = RecordHead::from(record);
    let is_other = |head: &RecordHead| {
        head.label == record.label && head.id != record.id && !is_alike_head(head, &own)
    };
    // What cannot be read warns of nothing.
    let heads = inventory::heads().unwrap_or_default();
    if let Some((_, other)) = heads.iter().find(|(_, head)| is_other(head)) {
        talk.note(&format!(
            "The label '{label}' is on a record of another card too: {}. It names neither of them now: use their ids, \
             or measure this card again with another --label.",
            with_card(other)
        ));
    }
}

/// Whether two records can be of one card, by its model and size.
pub(crate) fn is_alike(a: &Record, b: &Record) -> bool {
    is_alike_head(&a.into(), &b.into())
}

fn is_alike_head(a: &RecordHead, b: &RecordHead) -> bool {
    let of = |head: &RecordHead| {
        let device = head.conditions.device.clone();
        let simulated = device.name.filter(|_| head.is_simulated());
        (simulated, device.model, device.size_bytes)
    };
    of(a) == of(b)
}

/// The record in the file at `path`, or on standard input.
pub(crate) fn read(path: &Path) -> Result<Record, Failure> {
    let name = || match Sink::from_path(path) {
        Sink::Stdout => "standard input".to_owned(),
        Sink::File(path) => path.display().to_string(),
    };
    if path.is_dir() || is_block_device(path) {
        return Err(Failure::usage(format!(
            "{} is a place and no result; check each card first, such as `cardproof {} --label red`, then name the labels",
            name(),
            shell_path(path)
        )));
    }
    let text = input::read_text(path, LENGTH_MAX).map_err(|error| {
        Failure::of_opening(
            &error,
            format!(
                "cannot read {}: {error}; name the file of a record",
                name(),
                error = in_words(&error)
            ),
        )
    })?;
    Record::from_json(&text).map_err(|error| {
        Failure::usage(match pasted::other(&text, Reader::Show, path) {
            Some(advice) => format!("{} is no record of cardproof: {advice}", name()),
            None => format!(
                "{}: {error}; name a file that cardproof saved or printed with --json",
                name(),
            ),
        })
    })
}
