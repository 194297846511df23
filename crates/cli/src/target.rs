//! From what the user named to a target that may be driven, or to a refusal.

mod tree;

use std::fs::{self, File};
use std::io::{self, BufRead};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;

use cardproof_device::guard::{self, Consent, GuardError};
use cardproof_device::{Surroundings, Sysroot, look_at_path};
use cardproof_io::scratch::{Allowance, Scratch, ScratchError};
use cardproof_io::{OpenOptions, Target, open, open_new};
use cardproof_record::{CardInfo, DeviceInfo, Feature, TargetKind};
use cardproof_sim::Keeping;
use cardproof_units::{Bytes, Seed};

use crate::args::{AccessArgs, RunArgs};
use crate::exit::{Failure, with_causes};
use crate::signals;
use crate::talk::Talk;

pub(crate) use tree::{OpenedTree, open_tree};

/// A target that is open, and what is known of it.
pub(crate) struct Opened {
    pub(crate) target: Box<dyn Target>,
    pub(crate) kind: TargetKind,
    pub(crate) surroundings: Surroundings,
    /// How much of it may be worked in.
    pub(crate) span: Bytes,
    /// Our directory, where there is one; it goes when this goes.
    pub(crate) scratch: Option<Scratch>,
}

/// Which target, and how it may be used.
pub(crate) struct Wanted<'a> {
    pub(crate) target: &'a Path,
    /// How much of it is worked in, where the user says so.
    pub(crate) size: Option<Bytes>,
    pub(crate) access: &'a AccessArgs,
    /// The device that a directory must be on.
    pub(crate) expect_device: Option<&'a Path>,
    /// Whether a simulated card keeps its bytes.
    pub(crate) keeping: Keeping,
}

impl<'a> From<&'a RunArgs> for Wanted<'a> {
    fn from(args: &'a RunArgs) -> Self {
        Self {
            target: &args.target,
            size: args.size,
            access: &args.access,
            expect_device: args.expect_device.as_deref(),
            keeping: Keeping::Bytes,
        }
    }
}

/// Opens what `args` name, to work in a span of `span`.
pub(crate) fn open_named(
    args: &Wanted<'_>,
    span: Bytes,
    seed: Seed,
    talk: &Talk,
) -> Result<Opened, Failure> {
    let path = args.target;
    if let Some(name) = simulated_name(path) {
        return open_simulated(name, args, span, seed);
    }
    let metadata = fs::metadata(path).map_err(|error| not_there(path, &error))?;
    if metadata.is_dir() {
        refuse_link(path)?;
        return open_directory(args, span, talk);
    }
    if args.expect_device.is_some() {
        return Err(Failure::usage("--expect-device goes with a directory; leave it out"));
    }
    let existing = Existing { path, direct: true };
    let mut opened = existing.open(args.access, args.access.destroy.is_some(), talk)?;
    opened.span = span_in(opened.target.abilities().size, args, span)?;
    if opened.target.abilities().read_only {
        talk.note(&format!(
            "{} is only read. To measure writing too, at the cost of ALL ITS DATA, add --destroy.",
            path.display()
        ));
    }
    Ok(opened)
}

/// How much of a target of `size` is worked in: what the user names, or what the profile wants and
/// there is.
fn span_in(size: Bytes, args: &Wanted<'_>, span: Bytes) -> Result<Bytes, Failure> {
    match args.size {
        Some(wanted) if wanted > size => Err(Failure::refused(format!(
            "{} holds {size}, less than --size {wanted}; ask for less",
            args.target.display()
        ))),
        Some(wanted) => Ok(wanted),
        None => Ok(span.min(size)),
    }
}

/// The name of the card in `sim:NAME`.
pub(crate) fn simulated_name(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix("sim:")
}

/// A simulated card, fresh from the catalogue; there is nothing on it to lose.
fn open_simulated(
    name: &str,
    args: &Wanted<'_>,
    span: Bytes,
    seed: Seed,
) -> Result<Opened, Failure> {
    let no_card = |error| Failure::usage(with_causes(&error));
    let card = cardproof_sim::find(name).map_err(no_card)?;
    let target = card.open(seed, args.keeping).map_err(no_card)?;
    let span = span_in(target.abilities().size, args, span)?;
    let transport = match card.kind {
        cardproof_sim::Kind::Sd => "sd",
        cardproof_sim::Kind::Emmc => "mmc",
        cardproof_sim::Kind::Usb => "usb",
    };
    let device = DeviceInfo {
        name: Some(format!("sim:{name}")),
        model: Some(card.title.to_owned()),
        transport: Some(transport.to_owned()),
        size_bytes: Some(card.announced_size()),
        card: simulated_card(card),
        ..DeviceInfo::default()
    };
    Ok(Opened {
        target,
        kind: TargetKind::Simulated,
        surroundings: Surroundings { device, ..Surroundings::default() },
        span,
        scratch: None,
    })
}

/// What a simulated card would say of itself; a USB stick shows nothing of what is in it.
fn simulated_card(card: &cardproof_sim::Card) -> Option<CardInfo> {
    let feature = |card: bool, host: bool| Feature {
        card: Some(card),
        host: Some(host),
        enabled: Some(card && host),
        evidence: vec!["the simulated card and its host".to_owned()],
        ..Feature::default()
    };
    let (model, host) = (&card.model, &card.host);
    (card.kind != cardproof_sim::Kind::Usb).then(|| CardInfo {
        command_queue: feature(model.ways > 1, host.queue_depth > 1),
        cache: feature(model.cache.is_some(), host.uses_cache),
        ..CardInfo::default()
    })
}

pub(crate) fn not_there(path: &Path, error: &io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format!(
            "{} does not exist; name a directory, a file or a block device; cardproof --help has \
             the commands",
            path.display()
        )),
        _ => Failure::usage(format!(
            "cannot look at {}: {error}; check its spelling and who may enter the directories \
             above it",
            path.display()
        )),
    }
}

/// A link may lead elsewhere tomorrow, and may lead elsewhere than the user believes today.
pub(crate) fn refuse_link(path: &Path) -> Result<(), Failure> {
    match fs::read_link(path) {
        Err(_) => Ok(()),
        Ok(link) => Err(Failure::refused(format!(
            "refusing to follow the symbolic link {}; name the directory itself: {}",
            path.display(),
            fs::canonicalize(path).unwrap_or(link).display()
        ))),
    }
}

/// A directory: a file of our own in a fresh subdirectory.
fn open_directory(args: &Wanted<'_>, span: Bytes, talk: &Talk) -> Result<Opened, Failure> {
    let surroundings = look(args.target);
    let (scratch, allowance) = scratch_in(args, args.size.unwrap_or(span), talk)?;
    // Whole MiB, so that the largest operations fill it.
    let size = allowance.size.round_down_to(Bytes::mib(1));
    if allowance.is_reduced {
        talk.note(&format!(
            "Working in {size}, a tenth of the free space, instead of {span}; --size asks for more."
        ));
    }
    let file = scratch.create_file().map_err(|error| of_scratch(&error))?;
    let options = OpenOptions { engine: args.access.engine.into(), read_only: false, direct: true };
    let target = open_new(file, size, options)
        .map_err(Failure::because(format!("cannot measure in {}", args.target.display())))?;
    let span = size.min(target.abilities().size);
    Ok(Opened { target, kind: TargetKind::Directory, surroundings, span, scratch: Some(scratch) })
}

/// A fresh directory of our own for `wanted`, or for less where the user has not named a size.
fn scratch_in(
    args: &Wanted<'_>,
    wanted: Bytes,
    talk: &Talk,
) -> Result<(Scratch, Allowance), Failure> {
    if args.access.destroy.is_some() {
        return Err(Failure::usage(format!(
            "--destroy is for block devices and files, and {} is a directory, which is measured \
             without touching what is in it; leave --destroy out",
            args.target.display()
        )));
    }
    let expected = args.expect_device.map(device_number).transpose()?;
    let created = Scratch::create_for(args.target, expected, wanted, args.size.is_some());
    let (scratch, allowance) = created.map_err(|error| {
        let mut failure = of_scratch(&error);
        if let (ScratchError::OtherDevice { .. }, Some(device)) = (&error, args.expect_device) {
            failure.message.push_str(&format!("; --expect-device is {}", device.display()));
        }
        failure
    })?;
    tell_of_leftovers(&scratch, talk);
    Ok((scratch, allowance))
}

/// What killed runs left, and what became of it.
pub(crate) fn tell_of_leftovers(scratch: &Scratch, talk: &Talk) {
    let swept = scratch.swept();
    if swept.removed > 0 {
        talk.note("Removed what an earlier run left here when it was killed.");
    }
    for left in &swept.left {
        talk.note(&left.to_string());
    }
}

pub(crate) fn of_scratch(error: &ScratchError) -> Failure {
    let message = with_causes(error);
    if error.is_usage() { Failure::usage(message) } else { Failure::refused(message) }
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
fn look(path: &Path) -> Surroundings {
    look_at_path(&Sysroot::default(), path).unwrap_or_default()
}

/// An existing file or block device.
pub(crate) struct Existing<'a> {
    pub(crate) path: &'a Path,
    pub(crate) direct: bool,
}

impl Existing<'_> {
    /// Opens it for reading or, with `writes` and leave to destroy, for writing.
    pub(crate) fn open(
        &self,
        access: &AccessArgs,
        writes: bool,
        talk: &Talk,
    ) -> Result<Opened, Failure> {
        let file = if writes { self.for_writing(access, talk)? } else { self.for_reading()? };
        let kind = match file.metadata() {
            Ok(metadata) if metadata.file_type().is_block_device() => TargetKind::BlockDevice,
            _ => TargetKind::File,
        };
        let options =
            OpenOptions { engine: access.engine.into(), read_only: !writes, direct: self.direct };
        let target = open(file, options).map_err(|error| {
            Failure::usage(format!(
                "cannot measure {}: {}",
                self.path.display(),
                with_causes(&error)
            ))
        })?;
        let (surroundings, span) = (look(self.path), target.abilities().size);
        Ok(Opened { target, kind, surroundings, span, scratch: None })
    }

    fn for_reading(&self) -> Result<File, Failure> {
        File::open(self.path).map_err(|error| match error.kind() {
            io::ErrorKind::PermissionDenied => Failure::usage(format!(
                "you may not read {}; run cardproof as root, or measure a directory on it as \
                 yourself",
                self.path.display()
            )),
            _ => Failure::usage(format!("cannot open {}: {error}", self.path.display())),
        })
    }

    pub(crate) fn for_writing(&self, access: &AccessArgs, talk: &Talk) -> Result<File, Failure> {
        let Some(typed) = &access.destroy else {
            return Err(Failure::refused(format!(
                "writing to {} would destroy its data; add --destroy if that is what you want",
                self.path.display()
            )));
        };
        let root = Sysroot::default();
        let consent = match typed.as_deref() {
            None => Consent::General,
            Some("") => return Err(self.empty_identity(&root)),
            Some(name) => Consent::Named(name.to_owned()),
        };
        let cleared = match guard::open_for_destruction(&root, self.path, &consent) {
            Err(error) if consent == Consent::General && talk.can_ask() => {
                let consent = ask_for_identity(&error, talk)?;
                guard::open_for_destruction(&root, self.path, &consent)
            }
            other => other,
        }
        .map_err(|error| of_guard(&error))?;
        Ok(cleared.file)
    }
}

impl Existing<'_> {
    fn empty_identity(&self, root: &Sysroot) -> Failure {
        match guard::inspect(root, self.path) {
            Ok(inspection) => Failure::usage(format!(
                "--destroy= names nothing; if {} is what you mean: {}",
                self.path.display(),
                inspection.identity.as_option()
            )),
            Err(error) => of_guard(&error),
        }
    }
}

/// Lets the user at a terminal type the identity instead of starting again.
fn ask_for_identity(error: &GuardError, talk: &Talk) -> Result<Consent, Failure> {
    let GuardError::Refused(refusal) = error else { return Err(of_guard(error)) };
    if !refusal.objections.iter().all(guard::Objection::can_be_lifted) {
        return Err(of_guard(error));
    }
    talk.note(&with_causes(error));
    talk.note("To destroy it all the same, type its identity as shown above, then Enter:");
    let mut line = String::new();
    let read = signals::ending_at_once(|| io::stdin().lock().read_line(&mut line));
    match read {
        Ok(1..) if !line.trim().is_empty() => Ok(Consent::Named(line.trim().to_owned())),
        _ => Err(Failure::refused("nothing was typed; nothing was written")),
    }
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
