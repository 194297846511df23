//! Power cuts for real: writing until the power goes, and judging what is there afterwards. What was
//! promised is kept by a witness on another computer.

use std::fs::{self, OpenOptions as FileOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_evidence::powercut::{Application, CutReport, Plan, Tally, classify, gone};
use cardproof_io::{EngineChoice, OpenOptions, Target, open, open_new};
use cardproof_probe::DriveError;
use cardproof_probe::powercut::{Ended, Ledger, Read, Style, Until, Writer, read_area};
use cardproof_units::{Bytes, Seed, in_words, with_causes};
use cardproof_witness::{Client, LastWriter, Setup, WitnessError};

use super::CutMode;
use super::apps::{judge_records, records_in, remove_records};
use crate::failure::{Failure, FailureKind};
use crate::file::open_storage_file;
use crate::frontend::Frontend;
use crate::options::Access;
use crate::target::{Existing, not_there, refuse_link, simulated_name};

/// The file that is written in a directory.
const FILE: &str = "cardproof-powercut.data";

/// `O_DSYNC`, as every Linux has it but those on Alpha and SPARC: a write is durable when it is over.
const O_DSYNC: i32 = 0o10000;

/// What is written until the power goes.
#[derive(Clone, Debug)]
pub struct CutWriting {
    /// A block device, a file, or a directory.
    pub target: PathBuf,
    /// How it may be used.
    pub access: Access,
    /// How a write is made durable.
    pub mode: CutMode,
    /// The most writes under way at a time.
    pub queue_depth: u16,
    /// How much is written.
    pub size: Bytes,
    /// Of addresses and data.
    pub seed: Seed,
}

/// What the witness is told.
pub(super) struct Witnessed<'a> {
    client: &'a mut Client,
    stop: &'a AtomicBool,
    failed: Option<WitnessError>,
    durable: u64,
}

impl<'a> Witnessed<'a> {
    /// A writer's words to the witness, until `stop` turns true.
    pub(super) const fn new(client: &'a mut Client, stop: &'a AtomicBool) -> Self {
        Self { client, stop, failed: None, durable: 0 }
    }

    /// Says that the writer ends in order; the last promised write.
    ///
    /// # Errors
    /// The witness has vanished, now or before.
    pub(super) fn finish(self) -> Result<u64, Failure> {
        if let Some(error) = self.failed {
            return Err(of_witness(&error));
        }
        self.client.end().map_err(|error| of_witness(&error))?;
        Ok(self.durable)
    }

    /// Promises what was laid down before the first write; whether to go on.
    pub(super) fn promise_ground(&mut self) -> bool {
        let said = self.client.durable(0);
        self.note(said)
    }

    /// Whether the witness has vanished.
    const fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    fn note(&mut self, said: Result<(), WitnessError>) -> bool {
        match said {
            Ok(()) => !self.stop.load(Ordering::Relaxed),
            Err(error) => {
                self.failed = Some(error);
                false
            }
        }
    }
}

impl Ledger for Witnessed<'_> {
    fn issued(&mut self, number: u64) -> bool {
        let said = self.client.issued(number);
        self.note(said)
    }

    fn durable(&mut self, number: u64) -> bool {
        self.durable = number;
        let said = self.client.durable(number);
        self.note(said)
    }
}

/// A failure of the witness as one of the session.
#[must_use]
pub fn of_witness(error: &WitnessError) -> Failure {
    let kind = match error {
        WitnessError::WrongSecret | WitnessError::Foreign(_) => FailureKind::Usage,
        WitnessError::Refused(_) => FailureKind::Refused,
        _ => FailureKind::Incomplete,
    };
    Failure { kind, message: with_causes(error) }
}

/// Writes until the power goes, the device fails, the witness vanishes, or `stop` turns true; then the
/// last promised write.
///
/// # Errors
/// The target cannot be used, or the witness refuses or vanishes.
pub fn write_until_cut(
    writing: &CutWriting,
    client: &mut Client,
    stop: &AtomicBool,
    frontend: &mut dyn Frontend,
) -> Result<u64, Failure> {
    let mut target = open_to_write(writing, frontend)?;
    let ended = write_on(&mut *target, writing, client, stop, frontend);
    drop(target);
    // What a failing device has left may be judged. Else nothing is to be judged, for we are alive: the
    // power was not cut, and the file would only stand in the way of the next writer.
    match ended {
        Ok(durable) => {
            remove_file(&writing.target);
            Ok(durable)
        }
        Err(Unfinished { failure, has_device_failed }) => {
            if !has_device_failed {
                remove_file(&writing.target);
            }
            Err(failure)
        }
    }
}

/// Why a writer ended before its time.
struct Unfinished {
    failure: Failure,
    has_device_failed: bool,
}

impl From<Failure> for Unfinished {
    fn from(failure: Failure) -> Self {
        Self { failure, has_device_failed: false }
    }
}

impl Unfinished {
    const fn of_device(failure: Failure) -> Self {
        Self { failure, has_device_failed: true }
    }
}

/// Writes on `target` as [`write_until_cut`] does.
fn write_on(
    target: &mut dyn Target,
    writing: &CutWriting,
    client: &mut Client,
    stop: &AtomicBool,
    frontend: &mut dyn Frontend,
) -> Result<u64, Unfinished> {
    let (block, size) = (target.abilities().logical_block, target.abilities().size);
    let setup = Setup {
        seed: writing.seed,
        start: Bytes::ZERO,
        size: writing.size.min(size),
        block,
        epoch_writes: writing.mode.writes_per_flush(),
        queue_depth: writing.queue_depth,
        mode: writing.mode.name().to_owned(),
    };
    let plan = plan(&setup)?;
    client.begin(&setup).map_err(|error| of_witness(&error))?;
    let writes_are_durable = writing.mode == CutMode::Fua;
    let style = Style { queue_depth: writing.queue_depth, writes_are_durable };
    let failed = |error: DriveError| Failure::because("the target cannot be written")(error);
    let mut writer = Writer::new(target, plan, style).map_err(failed)?;
    let laid = writer.lay_down().map_err(failed)?;
    if let Ended::Device(fault) = laid {
        let failure =
            Failure::incomplete(format!("the target failed before the first write: {fault}",));
        return Err(failure.into());
    }
    client.durable(0).map_err(|error| of_witness(&error))?;
    frontend.note("The area is laid down. Cut the power whenever you like; Ctrl-C ends in order.");
    let mut told = Witnessed::new(client, stop);
    let ended = writer.write(Until::Ended, &mut told);
    match ended {
        Ok(Ended::Device(fault)) if !told.has_failed() => {
            let durable = told.durable;
            let failure =
                Failure::incomplete(format!("the target failed after write {durable}: {fault}",));
            Err(Unfinished::of_device(failure))
        }
        Err(error) if !told.has_failed() => Err(Unfinished::of_device(failed(error))),
        _ => Ok(told.finish()?),
    }
}

/// What `setup` writes, sector by sector.
pub(super) fn plan(setup: &Setup) -> Result<Plan, Failure> {
    let Setup { seed, start, size, block, epoch_writes, .. } = *setup;
    Plan::new(seed, start, size, block, epoch_writes)
        .map_err(|error| Failure::usage(error.to_string()))
}

/// Removes our file of a directory, once it is of no more use.
fn remove_file(target: &Path) {
    if target.is_dir() {
        // It is ours by its name; a file that stays is named by the next writer.
        let _ = fs::remove_file(target.join(FILE));
    }
}

fn open_to_write(
    writing: &CutWriting,
    frontend: &mut dyn Frontend,
) -> Result<Box<dyn Target>, Failure> {
    let path = &*writing.target;
    if simulated_name(path).is_some() {
        return Err(Failure::usage(
            "a simulated card has no power to be cut by hand; cardproof powercut sim:NAME cuts it in \
             virtual time",
        ));
    }
    let metadata = fs::metadata(path).map_err(|error| not_there(path, &error))?;
    if metadata.is_dir() {
        return make_file(path, writing);
    }
    let existing = Existing { path, direct: true };
    if writing.mode != CutMode::Fua {
        return Ok(existing.open(&writing.access, true, frontend)?.target);
    }
    let cleared = existing.for_writing(&writing.access, frontend)?;
    let mut options = FileOptions::new();
    options.read(true).write(true).custom_flags(O_DSYNC);
    let again = options
        .open(format!("/proc/self/fd/{}", cleared.as_raw_fd()))
        .map_err(Failure::because(format!("cannot open {} for durable writes", path.display())))?;
    let options = OpenOptions { engine: writing.access.engine, read_only: false, direct: true };
    open(again, options).map_err(Failure::because(format!("cannot write {}", path.display())))
}

/// A file of our own in a directory, which must survive us.
fn make_file(directory: &Path, writing: &CutWriting) -> Result<Box<dyn Target>, Failure> {
    refuse_link(directory)?;
    if writing.access.destroy.is_some() {
        return Err(Failure::usage(format!(
            "--destroy is for devices, and {} is a directory, whose files stay as they are; leave \
             it out",
            directory.display()
        )));
    }
    let path = directory.join(FILE);
    let mut options = FileOptions::new();
    options.read(true).write(true).create_new(true);
    if writing.mode == CutMode::Fua {
        options.custom_flags(O_DSYNC);
    }
    let file = options.open(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => Failure::refused(format!(
            "{} is there from an earlier test; judge it with 'cardproof powercut check', or remove it",
            path.display()
        )),
        _ => Failure::incomplete(format!("cannot make {}: {error}", path.display(), error = in_words(&error))),
    })?;
    let engine = writing.access.engine;
    let made = open_new(file, writing.size, OpenOptions { engine, read_only: false, direct: true });
    made.map_err(|error| {
        let _ = fs::remove_file(&path);
        Failure::incomplete(format!("cannot write {}: {}", path.display(), with_causes(&error)))
    })
}

/// What a cut did, and the sum of all cuts that the witness knows of.
#[derive(Clone, Debug)]
pub struct CutChecked {
    /// What was written and promised.
    pub told: LastWriter,
    /// What this cut did.
    pub report: CutReport,
    /// All cuts.
    pub tally: Tally,
    /// What was read.
    pub bytes_read: Bytes,
}

/// How it is looked at what a cut has left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CutCheck {
    /// A target that is not there did not survive the cut.
    pub may_be_gone: bool,
    /// Files of ours in a directory stay, so that they can be judged again later.
    pub keeps_files: bool,
}

/// Reads what the last writer left on `target`, twice, judges it against what the witness kept, and
/// tells the witness. A cut that was judged before is judged again, and counts once.
///
/// # Errors
/// The witness knows of no cut, or the target cannot be read for another reason than being gone.
pub fn check_after_cut(
    target: &Path,
    check: CutCheck,
    client: &mut Client,
    frontend: &mut dyn Frontend,
) -> Result<CutChecked, Failure> {
    let told = client.ask().map_err(|error| of_witness(&error))?;
    let plan = plan(&told.setup)?;
    if told.is_judged {
        frontend.note("This cut was judged before. What is seen now counts for the same cut.");
    }
    let (report, bytes_read) = judged(target, check.may_be_gone, &plan, &told, frontend)?;
    let kept = match told.is_judged {
        true => client.judged_again(&report),
        false => client.judged(&report),
    };
    let tally = kept.map_err(|error| of_witness(&error))?;
    if !check.keeps_files {
        match Application::find(&told.setup.mode) {
            Some(_) => remove_records(target),
            None => remove_file(target),
        }
    }
    Ok(CutChecked { told, report, tally, bytes_read })
}

fn judged(
    target: &Path,
    may_be_gone: bool,
    plan: &Plan,
    told: &LastWriter,
    frontend: &mut dyn Frontend,
) -> Result<(CutReport, Bytes), Failure> {
    let in_flight = told.promise.issued > told.promise.durable;
    let application = Application::find(&told.setup.mode);
    let path = match application {
        Some(_) => records_in(target),
        None if target.is_dir() => target.join(FILE),
        None => target.to_owned(),
    };
    if !path.exists() {
        if !may_be_gone {
            let why = match told.is_judged {
                true => {
                    "this cut was judged before, and without --keep its files were removed then"
                }
                false => "if it did not come back after the cut, add --gone",
            };
            return Err(Failure::usage(format!("{} is not there; {why}", path.display())));
        }
        frontend.note(&format!("{} is not there any more.", path.display()));
        return Ok((gone(in_flight), Bytes::ZERO));
    }
    if let Some(application) = application {
        // SQLite puts a database in order when it opens it: none of others.
        refuse_link(&path)?;
        return judge_records(application, target, plan, told);
    }
    let file = open_storage_file(&path)
        .map_err(Failure::because(format!("cannot read {}", path.display())))?;
    let options = OpenOptions { engine: EngineChoice::Auto, read_only: true, direct: true };
    let mut opened =
        open(file, options).map_err(Failure::because(format!("cannot read {}", path.display())))?;
    if opened.abilities().size < Bytes(plan.area().end * 512) {
        return Err(Failure::usage(format!(
            "{} holds {}, less than what was written; name what was written to",
            path.display(),
            opened.abilities().size
        )));
    }
    let mut read = || -> Result<Read, Failure> {
        read_area(&mut *opened, plan).map_err(Failure::because("the target cannot be read"))
    };
    let (first, second) = (read()?, read()?);
    let bytes = first.bytes + second.bytes;
    if first.is_gone || second.is_gone {
        return Ok((gone(in_flight), bytes));
    }
    Ok((classify(plan, told.promise, &first.sectors, &second.sectors), bytes))
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::thread::JoinHandle;
    use std::time::Duration;

    use cardproof_witness::{Journal, Secret, Witness};

    use super::*;
    use crate::frontend::Silent;
    use crate::powercut::apps::{AppWriting, write_app_until_cut};

    const SECRET: &[u8] = b"sixteen bytes at least";

    /// A witness in this process.
    struct Lab {
        address: String,
        stop: Arc<AtomicBool>,
        thread: Option<JoinHandle<()>>,
        place: tempfile::TempDir,
    }

    impl Lab {
        fn new() -> Self {
            let place = tempfile::tempdir().unwrap();
            let journal = Journal::open(&place.path().join("journal")).unwrap();
            let any: SocketAddr = "127.0.0.1:0".parse().unwrap();
            let secret = Secret::new(SECRET).unwrap();
            let silence = Duration::from_secs(60);
            let witness = Witness::listen(any, secret, journal, silence).unwrap();
            let address = witness.address().unwrap().to_string();
            let stop = Arc::new(AtomicBool::new(false));
            let ends = Arc::clone(&stop);
            let thread = std::thread::spawn(move || {
                let _ = witness.serve(&ends, &mut || 7, &mut |_| {});
            });
            Self { address, stop, thread: Some(thread), place }
        }

        fn client(&self) -> Client {
            Client::connect(&self.address, Secret::new(SECRET).unwrap(), "a nonce").unwrap()
        }

        fn end(&mut self) {
            self.stop.store(true, Ordering::Relaxed);
            if let Some(thread) = self.thread.take() {
                thread.join().unwrap();
            }
        }
    }

    fn writing(target: &Path) -> CutWriting {
        CutWriting {
            target: target.to_owned(),
            access: Access::default(),
            mode: CutMode::Flush,
            queue_depth: 2,
            size: Bytes::mib(1),
            seed: Seed::from_bits(3),
        }
    }

    fn names_in(directory: &Path) -> Vec<std::ffi::OsString> {
        fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    }

    #[test]
    fn a_writer_whose_witness_refuses_or_vanishes_leaves_no_file() {
        let mut lab = Lab::new();
        let card = lab.place.path().join("card");
        fs::create_dir(&card).unwrap();
        let stop = AtomicBool::new(false);
        let setup = Setup {
            seed: Seed::from_bits(1),
            start: Bytes::ZERO,
            size: Bytes::mib(1),
            block: Bytes(512),
            epoch_writes: 8,
            queue_depth: 1,
            mode: "flush".to_owned(),
        };
        // Another writer is at work, so the witness refuses the next.
        let mut other = lab.client();
        other.begin(&setup).unwrap();
        let application = Application::Ext4Fsync;
        let app = AppWriting { directory: card.clone(), application, seed: Seed::from_bits(2) };
        for vanishes in [false, true] {
            let mut clients = [lab.client(), lab.client()];
            if vanishes {
                lab.end();
            }
            let [first, second] = &mut clients;
            write_until_cut(&writing(&card), first, &stop, &mut Silent).unwrap_err();
            assert_eq!(names_in(&card), [""; 0], "vanishes: {vanishes}");
            write_app_until_cut(&app, second, &stop, &mut Silent).unwrap_err();
            assert_eq!(names_in(&card), [""; 0], "vanishes: {vanishes}");
        }
    }
}
