//! A package is unpacked (dpkg 1.21, `src/main/unpack.c` and `archives.c`).
//!
//! The control information goes to a directory of its own first and is synced. Each file is
//! extracted beside its place and its write-back started. When all are there, each is waited for,
//! then each is synced and renamed into its place. Then the list of the package's files is written
//! and the control information renamed into the database. dpkg also makes directories beside their
//! place and renames them; here they are made in it.

use cardproof_units::Bytes;

use crate::jobs::batch::{Batch, FILE};
use crate::jobs::dice::Dice;
use crate::jobs::op::{Contents, FileOp, Opening};
use crate::jobs::packages::{Package, PackageFiles};

use super::archive;
use super::database::{Database, INFO, TERMINAL_LOG, replace, sync_file};
use super::scripts;

/// Where the control information goes first.
const CONTROL: &str = "var/lib/dpkg/tmp.ci";

/// Unpacks `package`, of which nothing is there.
pub(super) fn unpack(
    batch: &mut Batch,
    database: &mut Database,
    dice: &mut Dice,
    package: &Package,
    files: &PackageFiles,
) {
    let control = control_files(package);
    batch.append(TERMINAL_LOG, Bytes(160));
    take_control(batch, package, &control);
    database.learn();
    // Half installed.
    database.note_in_short(batch);
    archive::read(batch, package);
    extract(batch, package, files);
    put_in_place(batch, package, files);
    replace(batch, &format!("{INFO}/{}.list", package.name()), list_size(files));
    keep_control(batch, package, &control);
    // Unpacked but not to be trusted yet, then unpacked.
    database.note(batch);
    database.note(batch);
    discard_control(batch);
    scripts::activate(batch, dice);
}

/// The names and sizes of its control files.
fn control_files(package: &Package) -> Vec<(String, Bytes)> {
    const NAMES: &[&str] =
        &["control", "md5sums", "postinst", "postrm", "triggers", "shlibs", "symbols", "prerm"];
    let count = package.control_files.clamp(1, NAMES.len());
    let each = Bytes(package.control_bytes.get() / count as u64);
    NAMES.iter().take(count).map(|name| ((*name).to_owned(), each)).collect()
}

/// How large the list of its files is.
pub(super) fn list_size(files: &PackageFiles) -> Bytes {
    let lengths = files.files.iter().map(|(path, _)| path.len());
    let others = files.directories.iter().chain(&files.symlinks).map(String::len);
    // A slash before each and a line's end after it.
    lengths.chain(others).map(|length| Bytes(length as u64 + 2)).sum::<Bytes>() + Bytes(60)
}

/// The names of the files that the package has in the database while it is installed.
pub(super) fn kept_control(package: &Package) -> impl Iterator<Item = (String, Bytes)> {
    let name = package.name();
    control_files(package)
        .into_iter()
        // What `control` says is in the database of all packages.
        .filter(|(file, _)| file != "control")
        .map(move |(file, size)| (format!("{INFO}/{name}.{file}"), size))
}

fn take_control(batch: &mut Batch, package: &Package, control: &[(String, Bytes)]) {
    batch.push(FileOp::MakeDir(CONTROL.to_owned()));
    for (name, size) in control {
        batch.file(format!("{CONTROL}/{name}"), *size, Contents::Compressible);
    }
    for (name, _) in control {
        sync_file(batch, &format!("{CONTROL}/{name}"));
    }
    batch.push(FileOp::SyncDir(CONTROL.to_owned()));
    batch.push(FileOp::Stat(format!("{INFO}/{}.list", package.name())));
}

fn keep_control(batch: &mut Batch, package: &Package, control: &[(String, Bytes)]) {
    for (name, _) in control.iter().filter(|(name, _)| name != "control") {
        batch.rename(format!("{CONTROL}/{name}"), format!("{INFO}/{}.{name}", package.name()));
    }
    batch.push(FileOp::SyncDir(INFO.to_owned()));
}

/// What is left of the control information goes.
fn discard_control(batch: &mut Batch) {
    batch.unlink(format!("{CONTROL}/control"));
    batch.push(FileOp::RemoveDir(CONTROL.to_owned()));
}

/// How a file is called until it is in its place.
fn new_name(path: &str) -> String {
    format!("{path}.dpkg-new")
}

fn extract(batch: &mut Batch, package: &Package, files: &PackageFiles) {
    for directory in &files.directories {
        batch.push(FileOp::Stat(directory.clone()));
        batch.push(FileOp::MakeDir(directory.clone()));
    }
    for (path, size) in &files.files {
        batch.push(FileOp::Stat(path.clone()));
        batch.open(new_name(path), Opening::Create);
        batch.write(*size, Contents::Compressible);
        batch.push(FileOp::StartWriteBack(FILE));
        batch.push(FileOp::Close(FILE));
    }
    for path in &files.symlinks {
        batch.push(FileOp::Symlink(new_name(path)));
        batch.rename(new_name(path), path.as_str());
    }
    for index in 0..package.conffiles {
        let path = new_name(&conffile(package, index));
        batch.file(path, CONFFILE, Contents::Compressible);
    }
}

fn put_in_place(batch: &mut Batch, package: &Package, files: &PackageFiles) {
    let conffiles = (0..package.conffiles).map(|index| conffile(package, index));
    let paths = || files.files.iter().map(|(path, _)| path.clone());
    for path in paths().chain(conffiles.clone()) {
        batch.open(new_name(&path), Opening::Update);
        batch.push(FileOp::AwaitWriteBack(FILE));
        batch.push(FileOp::Close(FILE));
    }
    for path in paths() {
        sync_file(batch, &new_name(&path));
        batch.rename(new_name(&path), path);
    }
    // A configuration file gets its name only when the package is configured.
    conffiles.for_each(|path| sync_file(batch, &new_name(&path)));
}

/// About the size of a configuration file.
pub(super) const CONFFILE: Bytes = Bytes(1500);

/// A configuration file of `package`.
pub(super) fn conffile(package: &Package, index: usize) -> String {
    format!("etc/{}-{index:02}.conf", package.name())
}

/// The configuration files get their names.
pub(super) fn name_conffiles(batch: &mut Batch, package: &Package) {
    for index in 0..package.conffiles {
        let path = conffile(package, index);
        batch.read(new_name(&path), CONFFILE, Bytes::kib(4), Opening::Read);
        batch.rename(new_name(&path), path);
    }
}
