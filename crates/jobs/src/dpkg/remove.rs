//! A package is removed (dpkg 1.21, `src/main/remove.c`).
//!
//! Its files go in the opposite order of its list, then its directories where they are empty. The
//! list is written anew with what stays, and the control information goes. Nothing of that is
//! synced but the lists and the package's state.

use cardproof_units::Bytes;

use crate::batch::Batch;
use crate::dice::Dice;
use crate::op::{Contents, FileOp};
use crate::packages::{Package, PackageFiles};

use super::System;
use super::database::{Database, INFO, TERMINAL_LOG, replace};
use super::directories::Directories;
use super::scripts;
use super::unpack::{info, list_size};

/// Lays out `package` as it is when it is installed. Nothing is awaited.
pub(super) fn found(
    batch: &mut Batch,
    directories: &mut Directories,
    package: &Package,
    files: &PackageFiles,
) {
    directories.enter(batch, files);
    for (path, size) in files.files.iter().chain(&files.settings) {
        batch.file(path.as_str(), *size, Contents::Compressible);
    }
    for path in &files.symlinks {
        batch.push(FileOp::Symlink(path.clone()));
    }
    for (path, size) in info(package) {
        batch.file(path, size, Contents::Compressible);
    }
    batch.file(list(package), list_size(files), Contents::Compressible);
}

/// Removes `package`; settings stay, and then dpkg goes on to know the package.
pub(super) fn remove(
    batch: &mut Batch,
    system: System<'_>,
    dice: &mut Dice,
    package: &Package,
    files: &PackageFiles,
) {
    let System { database, directories } = system;
    batch.append(TERMINAL_LOG, Bytes(80));
    // To be removed, then half configured, then half installed.
    for _ in 0..3 {
        database.note(batch, package.entry_bytes);
    }
    scripts::withdraw(batch, database, dice, package);
    files.symlinks.iter().for_each(|path| batch.unlink(path.as_str()));
    files.files.iter().rev().for_each(|(path, _)| batch.unlink(path.as_str()));
    directories.leave(batch, files);
    replace(batch, &list(package), Bytes(200));
    info(package).for_each(|(path, _)| batch.unlink(path));
    batch.push(FileOp::SyncDir(INFO.to_owned()));
    // Only its settings are there.
    database.note(batch, package.entry_bytes);
    if files.settings.is_empty() {
        forget(batch, database, package);
    }
}

/// There are no settings either: the package is not known any more.
fn forget(batch: &mut Batch, database: &mut Database, package: &Package) {
    database.note(batch, package.entry_bytes);
    replace(batch, &list(package), Bytes(3));
    database.note(batch, package.entry_bytes);
    batch.unlink(list(package));
    database.note_in_short(batch);
    database.forget(package.entry_bytes);
}

fn list(package: &Package) -> String {
    format!("{INFO}/{}.list", package.name())
}
