//! An application's own promise under power cuts: it writes numbered records in a directory of ours
//! until the power goes, and afterwards they are read as the application would.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use cardproof_evidence::powercut::{
    Application, CutReport, Plan, SECTOR, SLOTS, Sector, classify_records, record, slot_of,
};
use cardproof_sqlite::{DatabaseError, Journal, Numbered};
use cardproof_units::{Bytes, Seed, in_words, with_causes};
use cardproof_witness::{Client, LastWriter, Setup};

use super::real::{Witnessed, of_witness, plan};
use crate::failure::Failure;
use crate::file::open_regular;
use crate::frontend::Frontend;
use crate::target::{not_there, refuse_link};

/// The directory that is made in the user's.
const DIRECTORY: &str = "cardproof-powercut.app";

/// The file in it.
const FILE: &str = "records";

/// What an application writes until the power goes.
#[derive(Clone, Debug)]
pub struct AppWriting {
    /// A directory on the file system to be tested.
    pub directory: PathBuf,
    /// What writes there.
    pub application: Application,
    /// Of the records.
    pub seed: Seed,
}

/// An application at work.
enum Store {
    File(File),
    Database(Numbered),
}

impl Store {
    fn make(path: &Path, application: Application) -> Result<Self, Failure> {
        let failed = Failure::because("the records cannot be made");
        match application {
            Application::Ext4Fsync => {
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).open(path).map(Self::File).map_err(failed)
            }
            Application::SqliteDelete => Self::database(path, Journal::Delete),
            Application::SqliteWal => Self::database(path, Journal::Wal),
        }
    }

    fn database(path: &Path, journal: Journal) -> Result<Self, Failure> {
        let failed = Failure::because("the records cannot be made");
        Numbered::make(path, journal).map(Self::Database).map_err(failed)
    }

    /// Puts a record into its slot and waits until it is durable.
    fn commit(&mut self, slot: u64, record: &[u8]) -> Result<(), Failure> {
        let failed = Failure::because("the target failed");
        match self {
            Self::File(file) => {
                let written = file.write_all_at(record, slot * SECTOR as u64);
                written.and_then(|()| file.sync_all()).map_err(failed)
            }
            Self::Database(database) => {
                database.commit(slot, record).map_err(Failure::because("the target failed"))
            }
        }
    }
}

/// Writes records until the power goes, the target fails, the witness vanishes, or `stop` turns true;
/// then the last record that was acknowledged.
///
/// # Errors
/// The directory cannot be used, or the witness refuses or vanishes.
pub fn write_app_until_cut(
    writing: &AppWriting,
    client: &mut Client,
    stop: &AtomicBool,
    frontend: &mut dyn Frontend,
) -> Result<u64, Failure> {
    let setup = Setup {
        seed: writing.seed,
        start: Bytes::ZERO,
        size: Bytes(SLOTS * SECTOR as u64),
        block: Bytes(SECTOR as u64),
        epoch_writes: 1,
        queue_depth: 1,
        mode: writing.application.name().to_owned(),
    };
    let run = plan(&setup)?.run();
    let ours = make_directory(&writing.directory)?;
    let mut store = match begin(client, &setup, &ours, writing) {
        Ok(store) => store,
        Err(failure) => {
            // Nothing was acknowledged, so nothing is to be judged.
            remove_records(&writing.directory);
            return Err(failure);
        }
    };
    let mut told = Witnessed::new(client, stop);
    if told.promise_ground() {
        frontend
            .note("The records are begun. Cut the power whenever you like; Ctrl-C ends in order.");
        // What a failing target has left may be judged.
        write_records(&mut store, run, &mut told)?;
    }
    let durable = told.finish();
    drop(store);
    // The power was not cut, so nothing is to be judged, even where the witness has vanished.
    remove_records(&writing.directory);
    durable
}

/// Tells the witness what comes, and makes the files in `ours`.
fn begin(
    client: &mut Client,
    setup: &Setup,
    ours: &Path,
    writing: &AppWriting,
) -> Result<Store, Failure> {
    client.begin(setup).map_err(|error| of_witness(&error))?;
    let store = Store::make(&ours.join(FILE), writing.application)?;
    // The names must be durable before anything in the files can be.
    for directory in [ours, &writing.directory] {
        let synced = File::open(directory).and_then(|opened| opened.sync_all());
        synced.map_err(Failure::because("the directory cannot be written"))?;
    }
    Ok(store)
}

/// Writes records, each acknowledged by itself, until the ledger wants no more.
fn write_records(store: &mut Store, run: u64, told: &mut Witnessed<'_>) -> Result<(), Failure> {
    use cardproof_probe::powercut::Ledger;
    for number in 1.. {
        if !told.issued(number) {
            break;
        }
        store.commit(slot_of(number), &record(run, number))?;
        if !told.durable(number) {
            break;
        }
    }
    Ok(())
}

fn make_directory(directory: &Path) -> Result<PathBuf, Failure> {
    let metadata = fs::metadata(directory).map_err(|error| not_there(directory, &error))?;
    if !metadata.is_dir() {
        return Err(Failure::usage(format!(
            "an application needs a file system, and {} is no directory; name one on the mounted card",
            directory.display()
        )));
    }
    refuse_link(directory)?;
    let ours = directory.join(DIRECTORY);
    fs::create_dir(&ours).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::refused(format!(
            "{} is there from an earlier test; judge it with 'cardproof powercut check', or remove it",
            ours.display()
        )),
        _ => Failure::incomplete(format!("cannot make {}: {error}", ours.display(), error = in_words(&error))),
    })?;
    Ok(ours)
}

/// Removes our files, and the directory where nothing else is in it. A link in its place leads to the
/// files of others.
pub(super) fn remove_records(directory: &Path) {
    let ours = directory.join(DIRECTORY);
    if !fs::symlink_metadata(&ours).is_ok_and(|metadata| metadata.is_dir()) {
        return;
    }
    for end in ["", "-journal", "-wal", "-shm"] {
        // A file that stays is named by the next writer.
        let _ = fs::remove_file(ours.join(format!("{FILE}{end}")));
    }
    let _ = fs::remove_dir(ours);
}

/// Where in `directory` the records of an application are.
pub(super) fn records_in(directory: &Path) -> PathBuf {
    directory.join(DIRECTORY)
}

/// What a cut did to the records of `application` in `directory`, from two readings, and how much was
/// read.
pub(super) fn judge_records(
    application: Application,
    directory: &Path,
    plan: &Plan,
    told: &LastWriter,
) -> Result<(CutReport, Bytes), Failure> {
    let path = directory.join(DIRECTORY).join(FILE);
    let read = || -> Result<BTreeMap<u64, Sector>, Failure> {
        match application {
            Application::Ext4Fsync => Ok(read_file(&path, told.promise.durable)),
            _ => read_database(&path, told.promise.durable),
        }
    };
    let (first, second) = (read()?, read()?);
    let bytes = Bytes((first.len() + second.len()) as u64 * SECTOR as u64);
    Ok((classify_records(application, plan.run(), told.promise, &first, &second), bytes))
}

/// The records of a file, slot by slot. A slot that cannot be read is unreadable; one that ends early
/// or holds zeros was never written.
fn read_file(path: &Path, durable: u64) -> BTreeMap<u64, Sector> {
    let Ok(file) = open_regular(path) else {
        return unread(path, durable, BTreeMap::new());
    };
    let mut found = BTreeMap::new();
    let length = file.metadata().map_or(0, |metadata| metadata.len());
    for slot in 0..SLOTS.min(length.div_ceil(SECTOR as u64)) {
        let mut data = [0; SECTOR];
        match file.read_exact_at(&mut data, slot * SECTOR as u64) {
            Ok(()) if data == [0; SECTOR] => {}
            Ok(()) => {
                found.insert(slot, Sector::of(&data));
            }
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
            Err(_) => {
                found.insert(slot, Sector::Unreadable);
            }
        }
    }
    found
}

/// The records of a database, as far as it can be read. In one that is damaged the others are torn.
fn read_database(path: &Path, durable: u64) -> Result<BTreeMap<u64, Sector>, Failure> {
    let mut found = BTreeMap::new();
    if !path.exists() {
        return Ok(unread(path, durable, found));
    }
    let read = Numbered::open(path).and_then(|database| {
        database.read(|slot, data| {
            let sector = <&[u8; SECTOR]>::try_from(data).map_or(Sector::Other, Sector::of);
            found.insert(slot, sector);
        })
    });
    match read {
        Ok(()) => Ok(found),
        Err(DatabaseError::Storage { is_io: true, .. }) => {
            Ok(filled(found, durable, Sector::Unreadable))
        }
        // A database whose table is gone is refused by its own words.
        Err(DatabaseError::Storage { .. } | DatabaseError::Refused(_)) => {
            Ok(filled(found, durable, Sector::Other))
        }
        Err(error) => Err(Failure::incomplete(with_causes(&error))),
    }
}

/// The records where the file cannot be opened: lost where it is not there, else unreadable.
fn unread(path: &Path, durable: u64, found: BTreeMap<u64, Sector>) -> BTreeMap<u64, Sector> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => found,
        _ => filled(found, durable, Sector::Unreadable),
    }
}

/// `found`, with `sector` in each promised slot that is not in it.
fn filled(mut found: BTreeMap<u64, Sector>, durable: u64, sector: Sector) -> BTreeMap<u64, Sector> {
    for slot in 0..durable.min(SLOTS) {
        found.entry(slot).or_insert(sector);
    }
    found
}
