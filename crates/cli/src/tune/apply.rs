//! Doing the steps of a plan: settings at once, partition and file system with leave to destroy.

use std::io::Write;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::process::{Command, Stdio};

use cardproof_device::{DeviceNumber, Sysroot, logical_block};
use cardproof_rating::tuning::{AppliedBy, Layout, TuningStep};
use cardproof_session::{Options, Silent, Span, StorageNeeds, Writing, open_storage};
use cardproof_sim::Keeping;
use cardproof_units::{Bytes, Seed};

use super::{Known, TuneArgs, state};
use crate::exit::Failure;
use crate::measuring::fresh_identity;

/// Does all that `args` allow; a line for each step that was done.
pub(super) fn all(
    args: &TuneArgs,
    known: &Known,
    steps: &[TuningStep],
) -> Result<Vec<String>, Failure> {
    if cardproof_session::simulated_name(&args.target).is_some() {
        return Err(Failure::usage(
            "a simulated card has no settings to change; leave --apply out, or serve it with \
             'cardproof sim serve' and name the device",
        ));
    }
    let mut done = Vec::new();
    if args.access.destroy.is_some() {
        done.extend(lay_out(args, known)?);
    }
    let name = known.conditions.device.name.as_deref();
    for step in steps.iter().filter(|step| step.applied_by == AppliedBy::Apply) {
        if let (Some(setting), Some(name)) = (&step.setting, name) {
            done.push(format!("Set {}", state::set(name, setting.file, &setting.value)?));
        }
    }
    if done.is_empty() {
        let needs_leave = steps.iter().any(|step| step.applied_by == AppliedBy::Destroy);
        done.push(if needs_leave {
            "Nothing was changed: partition and file system need --destroy, which deletes all data, and the \
             other steps are done by hand."
                .to_owned()
        } else {
            "Nothing was changed: the steps below are done by hand.".to_owned()
        });
    }
    Ok(done)
}

/// Writes the partition table and makes the file system.
fn lay_out(args: &TuneArgs, known: &Known) -> Result<Vec<String>, Failure> {
    let card = known.conditions.device.card.as_ref();
    let reported = card.and_then(|card| card.allocation_unit_bytes);
    let size = may_be_destroyed(args)?;
    let layout = Layout::new(size, known.geometry.as_ref(), reported).ok_or_else(|| {
        Failure::usage(format!(
            "{} holds {size}, too little for a partition",
            args.target.display()
        ))
    })?;
    // Both are asked for before the first write, so that no partition is left without a file system.
    perform(Command::new("sfdisk").arg("--version"), None)?;
    perform(Command::new("mkfs.ext4").arg("-V"), None)?;
    let mut sfdisk = Command::new("sfdisk");
    sfdisk.args(["--quiet", "--wipe", "always", "--wipe-partitions", "always"]).arg(&args.target);
    let block = known.conditions.target.logical_block_bytes;
    perform(&mut sfdisk, Some(&layout.sfdisk_script(block)))?;
    let mut mkfs = Command::new("mkfs.ext4");
    let offset = format!("offset={}", layout.unit.get());
    let options = match layout.extended_options() {
        Some(known) => format!("{known},{offset}"),
        None => offset,
    };
    mkfs.args(["-q", "-F", "-E", &options]);
    if let Some(mib) = layout.journal_mib() {
        mkfs.args(["-J", &format!("size={mib}")]);
    }
    mkfs.arg(&args.target);
    mkfs.arg(format!("{}k", layout.size.get() >> 10));
    perform(&mut mkfs, None)?;
    reread_partitions(&args.target);
    Ok(vec![
        format!("Made a partition of {} that begins at {}.", layout.size, layout.unit),
        format!("Made ext4 on it with {options}."),
    ])
}

/// The size of the target, if the guard lets it be destroyed; it is opened for that, and let go.
fn may_be_destroyed(args: &TuneArgs) -> Result<Bytes, Failure> {
    if args.target.is_dir() {
        return Err(Failure::usage(
            "a directory cannot be partitioned; name the block device, which must not be mounted",
        ));
    }
    let options = Options {
        target: args.target.clone(),
        size: None,
        seed: Seed::from_bits(0),
        access: (&args.access).into(),
        expect_device: None,
        identity: fresh_identity(None)?,
        records: cardproof_session::Store::of_user(),
        does_without_record: true,
    };
    let needs = StorageNeeds {
        span: Span::new(Bytes(u64::MAX)),
        writing: Writing::Always,
        keeping: Keeping::Nothing,
        power_cuts: false,
        reconnects: false,
        whole_device: false,
    };
    let storage = open_storage(&needs, &options, &mut Silent)?;
    Ok(storage.span)
}

/// The blocks in which the device at `target` is addressed, which its partition table counts in; 512 bytes
/// for a file.
pub(crate) fn logical_block_of(target: &Path) -> Bytes {
    let metadata = std::fs::metadata(target).ok();
    let device = metadata.filter(|metadata| metadata.file_type().is_block_device());
    let number = device.map(|metadata| DeviceNumber::from_raw(metadata.rdev()));
    number.and_then(|number| logical_block(&Sysroot::default(), number)).unwrap_or(Bytes(512))
}

/// Runs `command` with `input`; what it says on failure becomes the error.
pub(crate) fn perform(command: &mut Command, input: Option<&str>) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let cannot = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => Failure::incomplete(format!(
            "{name} is not installed; install it (Debian: fdisk, e2fsprogs) and try again"
        )),
        _ => Failure::incomplete(format!("cannot run {name}: {error}")),
    };
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    let mut child = command
        .stdin(stdin)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(cannot)?;
    if let (Some(text), Some(mut pipe)) = (input, child.stdin.take()) {
        // A program that ended early says so by its status.
        let _ = pipe.write_all(text.as_bytes());
    }
    let output = child.wait_with_output().map_err(cannot)?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Failure::incomplete(format!("{name} failed: {}", said.trim())))
}

/// Lets the kernel see the partition; where it does not, the next plugging in does.
pub(crate) fn reread_partitions(target: &Path) {
    let mut command = Command::new("partx");
    command.arg("--update").arg(target).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.status();
}
