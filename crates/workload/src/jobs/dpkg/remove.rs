//! A package is removed (dpkg 1.21, `src/main/remove.c`).
//!
//! Its files go in the opposite order of its list, then its directories where they are empty. The
//! list is written anew with what stays, and the control information goes. Nothing of that is
//! synced but the lists and the package's state.

use cardproof_units::Bytes;

use crate::jobs::batch::Batch;
use crate::jobs::op::{Contents, FileOp};
use crate::jobs::packages::{Package, PackageFiles};

use super::database::{Database, INFO, TERMINAL_LOG, replace};
use super::unpack::{CONFFILE, conffile, kept_control, list_size};

/// Lays out `package` as it is when it is installed. Nothing is awaited.
pub(super) fn found(batch: &mut Batch, package: &Package, files: &PackageFiles) {
    for directory in &files.directories {
        batch.push(FileOp::MakeDir(directory.clone()));
    }
    for (path, size) in &files.files {
        batch.file(path.as_str(), *size, Contents::Compressible);
    }
    for path in &files.symlinks {
        batch.push(FileOp::Symlink(path.clone()));
    }
    for index in 0..package.conffiles {
        batch.file(conffile(package, index), CONFFILE, Contents::Compressible);
    }
    for (path, size) in kept_control(package) {
        batch.file(path, size, Contents::Compressible);
    }
    batch.file(list(package), list_size(files), Contents::Compressible);
}

/// Removes `package`; configuration files stay, and then dpkg goes on to know the package.
pub(super) fn remove(
    batch: &mut Batch,
    database: &mut Database,
    package: &Package,
    files: &PackageFiles,
) {
    batch.append(TERMINAL_LOG, Bytes(80));
    // To be removed, then half configured, then half installed.
    for _ in 0..3 {
        database.note(batch);
    }
    files.symlinks.iter().for_each(|path| batch.unlink(path.as_str()));
    files.files.iter().rev().for_each(|(path, _)| batch.unlink(path.as_str()));
    for directory in files.directories.iter().rev() {
        batch.push(FileOp::RemoveDir(directory.clone()));
    }
    replace(batch, &list(package), Bytes(200));
    kept_control(package).for_each(|(path, _)| batch.unlink(path));
    batch.push(FileOp::SyncDir(INFO.to_owned()));
    // Only its configuration is there.
    database.note(batch);
    if package.conffiles == 0 {
        forget(batch, database, package);
    }
}

/// There is no configuration either: the package is not known any more.
fn forget(batch: &mut Batch, database: &mut Database, package: &Package) {
    database.note(batch);
    replace(batch, &list(package), Bytes(3));
    database.note(batch);
    batch.unlink(list(package));
    database.note_in_short(batch);
    database.forget();
}

fn list(package: &Package) -> String {
    format!("{INFO}/{}.list", package.name())
}
