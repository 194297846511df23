//! What the packages' own scripts and triggers write, and how a package is configured.
//!
//! No script runs. What they leave is here: alternatives, and at the end the caches of libraries,
//! manual pages, icons, kinds of files and schemas, each as large as on an installed desktop and
//! written in the way of the program that writes it.

use cardproof_units::Bytes;

use crate::jobs::batch::Batch;
use crate::jobs::dice::Dice;
use crate::jobs::op::{Contents, FileOp};
use crate::jobs::packages::Package;

use super::database::{Database, TERMINAL_LOG, replace};
use super::unpack::name_conffiles;

/// Of a hundred packages, how many set a trigger off, and how many enter an alternative.
const TRIGGERING_PERCENT: u32 = 60;
const ALTERNATIVE_PERCENT: u32 = 8;

/// The caches that are written again at the end: where, how large, and whether the program syncs
/// before it renames. Sizes are those of a Debian 12 desktop.
pub(super) const TARGETS: &[(&str, Bytes, bool)] = &[
    ("etc/ld.so.cache", Bytes::kib(60), true),
    ("var/cache/man/index.db", Bytes::kib(1600), false),
    ("usr/share/mime/mime.cache", Bytes::kib(150), true),
    ("usr/share/applications/mimeinfo.cache", Bytes::kib(30), false),
    ("usr/share/icons/hicolor/icon-theme.cache", Bytes::kib(200), false),
    ("usr/share/glib-2.0/schemas/gschemas.compiled", Bytes::kib(120), true),
    ("var/cache/fontconfig/all.cache-7", Bytes::kib(300), false),
];

/// So many packages wait for a trigger to be done.
const AWAITING: usize = 6;

/// A package that was unpacked sets a trigger off: dpkg notes it in a list of its own.
pub(super) fn activate(batch: &mut Batch, dice: &mut Dice) {
    if dice.chance(TRIGGERING_PERCENT) {
        replace(batch, "var/lib/dpkg/triggers/Unincorp", Bytes(150));
    }
}

/// Configures `package`.
pub(super) fn configure(
    batch: &mut Batch,
    database: &mut Database,
    dice: &mut Dice,
    package: &Package,
) {
    batch.append(TERMINAL_LOG, Bytes(60));
    name_conffiles(batch, package);
    // Unpacked, then half configured.
    database.note(batch);
    database.note(batch);
    if package.files > 0 && dice.chance(ALTERNATIVE_PERCENT) {
        alternative(batch, package);
    }
    // Installed.
    database.note(batch);
}

/// An alternative, as `update-alternatives` writes it.
fn alternative(batch: &mut Batch, package: &Package) {
    let path = format!("var/lib/dpkg/alternatives/{}", package.name());
    let new = format!("{path}.dpkg-tmp");
    batch.durable(new.as_str(), Bytes(300), Contents::Compressible);
    batch.rename(new, path);
}

/// The triggers that waited for the end.
pub(super) fn triggers(batch: &mut Batch, database: &mut Database) {
    for (path, size, is_synced) in TARGETS {
        let new = format!("{path}.new");
        if *is_synced {
            batch.durable(new.as_str(), *size, Contents::Compressible);
        } else {
            batch.file(new.as_str(), *size, Contents::Compressible);
        }
        batch.rename(new, *path);
    }
    for _ in 0..AWAITING {
        // The trigger is pending, the package half configured, then installed.
        for _ in 0..3 {
            database.note(batch);
        }
        batch.append(TERMINAL_LOG, Bytes(80));
    }
    batch.push(FileOp::SyncDir("var/lib/dpkg/triggers".to_owned()));
}
