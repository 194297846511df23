//! A package is unpacked (dpkg 1.21, `src/main/unpack.c` and `archives.c`).
//!
//! The control information goes to a directory of its own first and is synced. Each file is
//! extracted beside its place and its write-back started. When all are there, each is waited for,
//! then each is synced and renamed into its place. Then the list of the package's files is written
//! and the control information renamed into the database. dpkg also makes directories beside their
//! place and renames them; here they are made in it.

use cardproof_units::Bytes;

use crate::batch::{Batch, FILE};
use crate::dice::Dice;
use crate::op::{Contents, FileOp, Opening};
use crate::packages::{Package, PackageFiles};

use super::database::{INFO, TERMINAL_LOG, replace, sync_file};
use super::{System, archive, scripts};

/// Where the control information goes first.
const CONTROL: &str = "var/lib/dpkg/tmp.ci";

/// Unpacks `package`, of which nothing is there.
pub(super) fn unpack(
    batch: &mut Batch,
    system: System<'_>,
    dice: &mut Dice,
    package: &Package,
    files: &PackageFiles,
) {
    let System { database, directories } = system;
    batch.append(TERMINAL_LOG, Bytes(160));
    take_control(batch, package);
    database.learn(package.entry_bytes);
    // Half installed.
    database.note_in_short(batch);
    archive::read(batch, package);
    directories.enter(batch, files);
    extract(batch, files);
    put_in_place(batch, files);
    replace(batch, &format!("{INFO}/{}.list", package.name()), list_size(files));
    keep_control(batch, package);
    // Unpacked but not to be trusted yet, then unpacked.
    database.note(batch, package.entry_bytes);
    database.note(batch, package.entry_bytes);
    discard_control(batch);
    scripts::activate(batch, dice);
}

/// How large the list of its files is.
pub(super) fn list_size(files: &PackageFiles) -> Bytes {
    let lengths = files.files.iter().chain(&files.settings).map(|(path, _)| path.len());
    let others = files.directories.iter().chain(&files.symlinks).map(String::len);
    // A slash before each and a line's end after it.
    lengths.chain(others).map(|length| Bytes(length as u64 + 2)).sum::<Bytes>() + Bytes(60)
}

/// The files that the package has in the database while it is installed: where and how large.
pub(super) fn info(package: &Package) -> impl Iterator<Item = (String, Bytes)> {
    let name = package.name();
    numbered(package).map(move |(file, size)| (format!("{INFO}/{name}.{file}"), size))
}

/// What the package brings into the database beside its paragraph, under names of our own.
fn numbered(package: &Package) -> impl Iterator<Item = (String, Bytes)> {
    package.info.iter().enumerate().map(|(number, size)| (format!("info{number}"), *size))
}

fn take_control(batch: &mut Batch, package: &Package) {
    batch.push(FileOp::MakeDir(CONTROL.to_owned()));
    let control = ("control".to_owned(), package.entry_bytes);
    let files: Vec<(String, Bytes)> = std::iter::once(control).chain(numbered(package)).collect();
    for (name, size) in &files {
        batch.file(format!("{CONTROL}/{name}"), *size, Contents::Compressible);
    }
    for (name, _) in &files {
        sync_file(batch, &format!("{CONTROL}/{name}"));
    }
    batch.push(FileOp::SyncDir(CONTROL.to_owned()));
    batch.push(FileOp::Stat(format!("{INFO}/{}.list", package.name())));
}

fn keep_control(batch: &mut Batch, package: &Package) {
    for ((name, _), (path, _)) in numbered(package).zip(info(package)) {
        batch.rename(format!("{CONTROL}/{name}"), path);
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

fn extract(batch: &mut Batch, files: &PackageFiles) {
    for (path, size) in files.files.iter().chain(&files.settings) {
        batch.push(FileOp::Stat(path.clone()));
        batch.open(new_name(path), Opening::Create);
        batch.write(*size, Contents::Compressible);
        batch.push(FileOp::StartWriteBack(FILE));
        batch.push(FileOp::Close(FILE));
    }
    for path in &files.symlinks {
        batch.push(FileOp::Symlink(new_name(path)));
    }
}

fn put_in_place(batch: &mut Batch, files: &PackageFiles) {
    for (path, _) in files.files.iter().chain(&files.settings) {
        batch.open(new_name(path), Opening::Update);
        batch.push(FileOp::AwaitWriteBack(FILE));
        batch.push(FileOp::Close(FILE));
    }
    for (path, _) in &files.files {
        sync_file(batch, &new_name(path));
        batch.rename(new_name(path), path.as_str());
    }
    // A setting gets its name only when the package is configured.
    files.settings.iter().for_each(|(path, _)| sync_file(batch, &new_name(path)));
    files.symlinks.iter().for_each(|path| batch.rename(new_name(path), path.as_str()));
}

/// The settings get their names.
pub(super) fn name_settings(batch: &mut Batch, files: &PackageFiles) {
    for (path, size) in &files.settings {
        batch.read(new_name(path), *size, Bytes::kib(4), Opening::Read);
        batch.rename(new_name(path), path.as_str());
    }
}
