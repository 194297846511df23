//! From what the user named to a target that may be driven, or to a refusal.

mod free_space;
mod place_kind;
mod reconnecting;
mod simulated;
mod storage;
mod tree;

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use cardproof_device::guard::{self, Consent, GuardError, Leave};
use cardproof_device::{Surroundings, Sysroot, look_at_path, missing_hint, permission_remedy};
use cardproof_facts::GRADED_RANGE_MIN;
use cardproof_io::scratch::{Allowance, Scratch, ScratchError};
use cardproof_io::{OpenOptions, Target, open, open_new};
use cardproof_record::TargetKind;
use cardproof_sim::{Keeping, find};
use cardproof_units::{Bytes, in_words, shell_path, with_causes};

use crate::failure::{Failure, FailureKind};
use crate::file::open_storage_file;
use crate::frontend::{Frontend, Question};
use crate::options::{Access, Options};
use crate::whole_device::refuse_partition;
use simulated::open_simulated;

pub(crate) use free_space::RoomLayer;
pub use free_space::{FreeSpace, Reserved};
pub use place_kind::NoStorage;
pub use simulated::{simulated_card, simulated_name};
pub use storage::Storage;
pub use tree::{FilesNeeds, OpenedTree, open_tree};

/// What an experiment needs of a [`Storage`].
#[derive(Clone, Copy, Debug)]
pub struct StorageNeeds {
    /// How much of it is worked in.
    pub span: Span,
    /// Whether the experiment writes.
    pub writing: Writing,
    /// Whether a simulated card keeps its bytes, or nobody reads them again.
    pub keeping: Keeping,
    /// Whether the power of a simulated card is cut: then what it has not flushed is volatile.
    pub power_cuts: bool,
    /// Whether the device is disconnected and connected again on the way.
    pub reconnects: bool,
    /// Whether a partition does not do.
    pub whole_device: bool,
}

impl StorageNeeds {
    /// Needs of an experiment that asks nothing more of a target than to keep its bytes, or not.
    #[must_use]
    pub const fn new(span: Span, writing: Writing, keeping: Keeping) -> Self {
        Self { span, writing, keeping, power_cuts: false, reconnects: false, whole_device: false }
    }
}

/// How much of a target an experiment works in, unless the user says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// In a directory: the size of a file of our own.
    pub own_file: Bytes,
    /// On a device or in a file that exists: at most so much from its start.
    pub existing: Bytes,
}

impl Span {
    /// The same everywhere.
    #[must_use]
    pub const fn new(span: Bytes) -> Self {
        Self { own_file: span, existing: span }
    }
}

/// Whether an experiment writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// It never does: leave to destroy is not needed.
    Never,
    /// It writes where it may, and measures reading alone where it may not.
    WhereAllowed,
    /// It is nothing without: a device or file that exists is refused without leave to destroy.
    Always,
}

/// A smaller file shows nothing of the storage below it.
const FILE_MIN: Bytes = Bytes::mib(1);

/// Opens what `args` name, as `needs` ask.
///
/// # Errors
/// There is no such thing, or using it so is not safe.
pub fn open_storage(
    needs: &StorageNeeds,
    args: &Options,
    talk: &mut dyn Frontend,
) -> Result<Storage, Failure> {
    let path = &*args.target;
    if needs.reconnects {
        reconnecting::check(path)?;
    }
    if let Some(name) = simulated_name(path) {
        return open_simulated(name, args, needs);
    }
    let metadata = fs::metadata(path).map_err(|error| not_there(path, &error))?;
    if needs.whole_device {
        refuse_partition(path, args.access.destroy.is_some())?;
    }
    if metadata.is_dir() {
        refuse_link(path)?;
        return open_directory(args, needs.span.own_file, talk);
    }
    if args.expect_device.is_some() {
        return Err(Failure::usage("--expect-device goes with a directory; leave it out"));
    }
    if needs.writing == Writing::Always && args.access.destroy.is_none() {
        // Some experiments need all of a device.
        let is_for_devices = needs.reconnects || needs.span == Span::new(Bytes(u64::MAX));
        let instead = if is_for_devices { "" } else { "name a directory on it instead, or, " };
        let leave = args.access.leave;
        let (name, option) = (path.display(), option_to_write(path, leave));
        return Err(in_use(path, leave).unwrap_or_else(|| {
            // A file that is one hole.
            let is_empty = metadata.is_file() && metadata.blocks() == 0;
            Failure::refused(match is_empty {
                true => format!("{name} holds no data, but this test always needs its identity; {instead}add {option}"),
                false => format!("this would destroy the data on {name}; {instead}if all its data may be lost, add {option}"),
            })
        }));
    }
    if metadata.is_file() && metadata.len() < FILE_MIN.get() {
        return Err(Failure::usage(format!(
            "the file {} is too small to measure ({}); name a directory, or a file of at least {GRADED_RANGE_MIN}; to read \
             what another tool has printed: cardproof import {}",
            path.display(),
            Bytes(metadata.len()),
            shell_path(path)
        )));
    }
    if args.access.destroy.is_none()
        && needs.writing == Writing::WhereAllowed
        && has_holes(&metadata)
    {
        return Err(Failure::refused(format!(
            "the file {} has holes: parts that were never written and lie on no storage, so reading them shows \
             nothing of it; name a directory, or a file that was written in full",
            path.display()
        )));
    }
    let existing = Existing { path, direct: true };
    let writes = needs.writing != Writing::Never && args.access.destroy.is_some();
    let mut opened = reconnecting::open(&existing, needs, &args.access, writes, talk)?;
    opened.span = span_in(opened.target.abilities().size, args, needs.span.existing)?;
    if opened.target.abilities().read_only && needs.writing == Writing::WhereAllowed {
        // A command to overwrite a file is not for copying: the file may be somebody's picture.
        talk.note(&if metadata.is_file() {
            format!("cardproof only reads {}. To measure writing, name a directory.", path.display())
        } else {
            format!(
                "cardproof only reads {}. To measure writing too, which DESTROYS ALL ITS DATA, add {}.",
                path.display(),
                option_to_write(path, args.access.leave)
            )
        });
    }
    Ok(opened)
}

/// Whether a file takes less than its length, so that parts of it lie on no storage.
#[must_use]
pub fn has_holes(metadata: &fs::Metadata) -> bool {
    /// In units of this the kernel counts what a file takes.
    const BLOCK: u64 = 512;
    metadata.is_file() && metadata.blocks().saturating_mul(BLOCK) < metadata.len()
}

/// The option that gives `leave` to write to what is at `path`, as the user must type it.
fn option_to_write(path: &Path, leave: Leave) -> String {
    let inspection = guard::inspect(&Sysroot::default(), path);
    inspection.map_or_else(|_| leave.option().to_owned(), |found| found.identity.as_option(leave))
}

/// How much of a target of `size` is worked in: what the user names, or what the profile wants and
/// there is.
fn span_in(size: Bytes, args: &Options, span: Bytes) -> Result<Bytes, Failure> {
    match args.size {
        Some(wanted) if wanted > size => Err(Failure::refused(format!(
            "{} holds {size}, less than --size {wanted}; ask for less",
            args.target.display()
        ))),
        Some(wanted) => Ok(wanted),
        None => Ok(span.min(size)),
    }
}

/// That nothing is to be found at `path`.
#[must_use]
pub fn not_there(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound if path == Path::new("-") => Failure::usage(
            "nothing is measured from standard input; name a directory; to read what another tool has printed: \
             cardproof import -",
        ),
        io::ErrorKind::NotFound if path.to_str().is_some_and(|name| find(name).is_ok()) => {
            Failure::usage(format!(
                "{0} does not exist; did you mean the simulated card sim:{0}?",
                path.display()
            ))
        }
        io::ErrorKind::NotFound => {
            Failure::usage(format!("{} does not exist; {}", path.display(), missing_hint(path)))
        }
        io::ErrorKind::PermissionDenied => Failure::incomplete(format!(
            "you may not look at {}: {error}; {}",
            path.display(),
            permission_remedy(),
            error = in_words(error)
        )),
        _ => Failure::usage(format!(
            "cannot look at {}: {error}; check its spelling and who may enter the directories \
             above it",
            path.display(),
            error = in_words(error)
        )),
    }
}

/// A link may lead elsewhere tomorrow, and may lead elsewhere than the user believes today.
pub fn refuse_link(path: &Path) -> Result<(), Failure> {
    match fs::read_link(path) {
        Err(_) => Ok(()),
        Ok(link) => Err(Failure::refused(format!(
            "refusing to follow the symbolic link {}; name the directory itself: {}",
            path.display(),
            shell_path(&fs::canonicalize(path).unwrap_or(link))
        ))),
    }
}

/// A directory: a file of our own in a fresh subdirectory.
fn open_directory(
    args: &Options,
    span: Bytes,
    talk: &mut dyn Frontend,
) -> Result<Storage, Failure> {
    let surroundings = look(&args.target);
    match NoStorage::find(&surroundings) {
        Some(nothing @ NoStorage::MadeUp) => return Err(nothing.refusal(&args.target)),
        Some(NoStorage::Memory) => {
            talk.note(
                "This directory is in memory: the figures are not those of any card or disk.",
            );
        }
        None => {}
    }
    let (scratch, allowance) = scratch_in(args, args.size.unwrap_or(span), talk)?;
    // Whole MiB, so that the largest operations fill it.
    let size = allowance.size.round_down_to(Bytes::mib(1));
    if allowance.is_reduced {
        let cure = if args.size.is_some() { "" } else { " For A1 and A2, free 1 GiB." };
        talk.note(&format!("Tests only {size}, since {} are free.{cure}", allowance.free));
    }
    let file = scratch.create_file().map_err(|error| of_scratch(&error))?;
    let options = OpenOptions { engine: args.access.engine, read_only: false, direct: true };
    let target = open_new(file, size, options)
        .map_err(Failure::because(format!("cannot measure in {}", args.target.display())))?;
    let span = size.min(target.abilities().size);
    Ok(Storage {
        target,
        kind: TargetKind::Directory,
        simulated_card: None,
        simulated_model: None,
        surroundings,
        span,
        scratch: Some(scratch),
    })
}

/// A fresh directory of our own for `wanted`, or for less where the user has not named a size.
fn scratch_in(
    args: &Options,
    wanted: Bytes,
    talk: &mut dyn Frontend,
) -> Result<(Scratch, Allowance), Failure> {
    if args.access.destroy.is_some() {
        return Err(Failure::usage(format!(
            "--destroy is for block devices and files, and {} is a directory, which is measured \
             without touching what is in it; leave --destroy out",
            args.target.display()
        )));
    }
    let expected = args.expect_device.as_deref().map(device_number).transpose()?;
    let created = Scratch::create_for(&args.target, expected, wanted, args.size.is_some());
    let (scratch, allowance) = created.map_err(|error| {
        let mut failure = of_scratch(&error);
        if let (ScratchError::OtherDevice { .. }, Some(device)) = (&error, &args.expect_device) {
            failure.message.push_str(&format!("; --expect-device is {}", device.display()));
        }
        failure
    })?;
    tell_of_leftovers(&scratch, talk);
    Ok((scratch, allowance))
}

/// What killed runs left, and what became of it.
pub fn tell_of_leftovers(scratch: &Scratch, talk: &mut dyn Frontend) {
    let swept = scratch.swept();
    if swept.removed > 0 {
        talk.note("Removed what an earlier run left here when it was killed.");
    }
    for left in &swept.left {
        talk.note(&left.to_string());
    }
}

/// A failure of our own directory as a failure of the session.
#[must_use]
pub fn of_scratch(error: &ScratchError) -> Failure {
    let message = with_causes(error);
    let kind = match error {
        ScratchError::TooLittleSpace { .. } => FailureKind::TooLittleSpace,
        ScratchError::ReadOnly { .. } => FailureKind::ReadOnly,
        ScratchError::NotPermitted { .. } => FailureKind::NotPermitted,
        _ if error.is_usage() => FailureKind::Usage,
        _ if error.is_refusal() => FailureKind::Refused,
        _ => FailureKind::Incomplete,
    };
    Failure::of_place(kind, message)
}

/// The number of the device at `path`, by which a file system on it is known.
fn device_number(path: &Path) -> Result<u64, Failure> {
    let metadata = fs::metadata(path).map_err(|error| not_there(path, &error))?;
    if metadata.file_type().is_block_device() {
        Ok(metadata.rdev())
    } else {
        Err(Failure::usage(format!(
            "--expect-device {} is not a block device; name one, such as /dev/mmcblk0p2",
            path.display()
        )))
    }
}

/// What is known of the surroundings; a run does not fail for want of it.
pub(crate) fn look(path: &Path) -> Surroundings {
    look_at_path(&Sysroot::default(), path).unwrap_or_default()
}

/// An existing file or block device.
pub struct Existing<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// Whether the page cache is gone past.
    pub direct: bool,
}

impl Existing<'_> {
    /// Opens it for reading or, with `writes` and leave to destroy, for writing.
    pub fn open(
        &self,
        access: &Access,
        writes: bool,
        talk: &mut dyn Frontend,
    ) -> Result<Storage, Failure> {
        let file = if writes { self.for_writing(access, talk)? } else { self.for_reading()? };
        let kind = match file.metadata() {
            Ok(metadata) if metadata.file_type().is_block_device() => TargetKind::BlockDevice,
            _ => TargetKind::File,
        };
        let options =
            OpenOptions { engine: access.engine, read_only: !writes, direct: self.direct };
        let target = open(file, options).map_err(|error| {
            Failure::usage(format!(
                "cannot measure {}: {}",
                self.path.display(),
                with_causes(&error)
            ))
        })?;
        let (surroundings, span) = (look(self.path), target.abilities().size);
        Ok(Storage {
            target,
            kind,
            simulated_card: None,
            simulated_model: None,
            surroundings,
            span,
            scratch: None,
        })
    }

    fn for_reading(&self) -> Result<File, Failure> {
        open_storage_file(self.path).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Failure::incomplete(format!(
                "no permission to read {}; {}; or measure a directory on it",
                self.path.display(),
                permission_remedy()
            )),
            _ => Failure::usage(format!(
                "cannot open {}: {error}",
                self.path.display(),
                error = in_words(&error)
            )),
        })
    }

    /// Opens it for writing by the rules of the guard, if `access` gives leave to destroy it.
    ///
    /// # Errors
    /// There is no such leave, it is in use, or it cannot be opened.
    pub fn for_writing(&self, access: &Access, talk: &mut dyn Frontend) -> Result<File, Failure> {
        let Some(typed) = &access.destroy else {
            return Err(in_use(self.path, access.leave).unwrap_or_else(|| {
                Failure::refused(format!(
                    "writing to {} would destroy its data; if all that it holds may be lost, add {}",
                    self.path.display(),
                    option_to_write(self.path, access.leave)
                ))
            }));
        };
        let root = Sysroot::default();
        let consent = match typed.as_deref() {
            None => Consent::General,
            Some("") => return Err(self.empty_identity(&root, access.leave)),
            Some(name) => Consent::Named(name.to_owned()),
        };
        let open = |consent| {
            guard::open_for_destruction(&root, self.path, consent)
                .map_err(|error| error.asking_for(access.leave))
        };
        let cleared = match open(&consent) {
            Err(error) if consent == Consent::General => match ask_for_identity(&error, talk)? {
                Some(consent) => open(&consent),
                None => Err(error),
            },
            other => other,
        }
        .map_err(|error| of_guard(&error))?;
        Ok(cleared.file)
    }
}

impl Existing<'_> {
    fn empty_identity(&self, root: &Sysroot, leave: Leave) -> Failure {
        match guard::inspect(root, self.path) {
            Ok(inspection) => Failure::usage(format!(
                "{}= names nothing; if {} is what you mean: {}",
                leave.option(),
                self.path.display(),
                inspection.identity.as_option(leave)
            )),
            Err(error) => of_guard(&error),
        }
    }
}

/// Lets the user give the identity instead of starting again; `None` where nobody can be asked, or
/// where no identity would help.
fn ask_for_identity(
    error: &GuardError,
    talk: &mut dyn Frontend,
) -> Result<Option<Consent>, Failure> {
    let GuardError::Refused(refusal) = error else { return Ok(None) };
    if !refusal.objections.iter().all(guard::Objection::can_be_lifted) {
        return Ok(None);
    }
    let question = Question::Identity { refusal: &with_causes(error), leave: refusal.leave };
    match talk.ask(question) {
        None => Ok(None),
        Some(answer) if answer.trim().is_empty() => {
            Err(Failure::refused("nothing was typed; nothing was written"))
        }
        Some(answer) => Ok(Some(Consent::Named(answer.trim().to_owned()))),
    }
}

/// Why `path` cannot be written to whatever option is given; `None` where one would do, or where nobody can tell.
fn in_use(path: &Path, leave: Leave) -> Option<Failure> {
    let inspection = guard::inspect(&Sysroot::default(), path).ok()?;
    if inspection.objections.iter().all(guard::Objection::can_be_lifted) {
        return None;
    }
    let error = inspection.check(&Consent::General).err()?;
    Some(of_guard(&error.asking_for(leave)))
}

fn of_guard(error: &GuardError) -> Failure {
    let message = with_causes(error);
    if error.is_usage() {
        Failure::usage(message)
    } else if error.is_refusal() {
        Failure::refused(message)
    } else {
        Failure::incomplete(message)
    }
}
