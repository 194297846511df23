//! What the packages' own scripts and triggers write, and how a package is configured.
//!
//! No script runs. What they leave is here: alternatives, the answers to installation questions, and
//! at the end the caches of libraries, manual pages, icons, kinds of files and hardware. Sizes and
//! waits are those seen in the system calls of an installation of a Debian 12 desktop
//! (`docs/design/jobs.md`).

use cardproof_units::Bytes;

use crate::batch::{Batch, FILE};
use crate::dice::Dice;
use crate::op::{Contents, FileOp, Opening};
use crate::packages::{Package, PackageFiles};

use super::database::{Database, TERMINAL_LOG, replace};
use super::unpack::name_settings;

/// Of a hundred packages, how many name files whose changes they want to know of, when they are
/// unpacked (`triggers/File`).
const INTERESTED_PERCENT: u32 = 3;

/// For a hundred packages that are configured, or removed, how many changes of state others have
/// because a trigger of theirs is pending.
const PENDING_PERCENT_CONFIGURED: u32 = 34;
const PENDING_PERCENT_REMOVED: u32 = 57;

/// For a hundred packages, how many alternatives are entered.
const ALTERNATIVE_PERCENT: u32 = 27;

/// For a hundred packages that are removed, how many alternatives are written anew.
const WITHDRAWN_PERCENT: u32 = 23;

/// What a program writes anew.
#[derive(Clone, Copy, Debug)]
pub(super) struct Script {
    /// Where. More than one file are numbered.
    path: &'static str,
    /// How many.
    files: u32,
    /// How large each is.
    size: Bytes,
    /// Whether it is synced before it gets its name.
    is_synced: bool,
}

const fn one(path: &'static str, size: u64, is_synced: bool) -> Script {
    many(path, 1, size, is_synced)
}

const fn many(path: &'static str, files: u32, size: u64, is_synced: bool) -> Script {
    Script { path, files, size: Bytes(size), is_synced }
}

/// The answers to installation questions and the questions (debconf).
const ANSWERS: [Script; 2] = [
    one("var/cache/debconf/config.dat", 12_000, true),
    one("var/cache/debconf/templates.dat", 1_460_000, true),
];

/// What is written in an installation.
pub(super) const AFTER_INSTALLATION: &[Script] = &[
    ANSWERS[0],
    ANSWERS[1],
    one("usr/lib/udev/hwdb.bin", 13_086_619, true),
    ANSWERS[0],
    ANSWERS[1],
    many("etc/accounts", 60, 1200, true),
    ANSWERS[0],
    ANSWERS[1],
    one("var/lib/systemd/catalog/database", 214_046, false),
    ANSWERS[0],
    ANSWERS[1],
    many("usr/share/mime/type", 843, 2400, true),
    many("usr/share/mime/list", 10, 32_000, true),
    many("var/cache/fontconfig/cache", 27, 47_000, false),
    one("usr/share/icons/hicolor/icon-theme.cache", 30_000, true),
    one("usr/share/icons/Adwaita/icon-theme.cache", 124_080, true),
    one("var/cache/man/index.db", 147_456, true),
    many("var/cache/man/language", 25, 18_000, true),
    one("etc/ld.so.cache", 25_359, true),
    one("var/cache/ldconfig/aux-cache", 25_996, true),
];

/// What is written in a removal: of these programs most are removed themselves.
pub(super) const AFTER_REMOVAL: &[Script] = &[
    ANSWERS[0],
    ANSWERS[1],
    one("etc/ld.so.cache", 10_000, true),
    one("var/cache/ldconfig/aux-cache", 10_000, true),
];

/// The directories in which scripts write.
pub(super) fn directories() -> impl Iterator<Item = &'static str> {
    let all = AFTER_INSTALLATION.iter().filter_map(|script| Some(script.path.rsplit_once('/')?.0));
    all.chain(["etc/alternatives"])
}

/// The files that are there before: those of a minimal system.
pub(super) fn found(batch: &mut Batch) {
    for script in ANSWERS.iter().chain(&AFTER_REMOVAL[2..]) {
        batch.file(script.path, script.size, Contents::Compressible);
    }
}

/// A package that was unpacked says of which changes it wants to know.
pub(super) fn activate(batch: &mut Batch, dice: &mut Dice) {
    if dice.chance(INTERESTED_PERCENT) {
        replace(batch, "var/lib/dpkg/triggers/File", Bytes(3000));
    }
}

/// Configures `package`.
pub(super) fn configure(
    batch: &mut Batch,
    database: &mut Database,
    dice: &mut Dice,
    package: &Package,
    files: &PackageFiles,
) {
    batch.append(TERMINAL_LOG, Bytes(60));
    // Unpacked, then half configured.
    database.note(batch, package.entry_bytes);
    name_settings(batch, files);
    database.note(batch, package.entry_bytes);
    if dice.chance(ALTERNATIVE_PERCENT) {
        batch.push(FileOp::Symlink(format!("etc/alternatives/{}", package.name())));
        alternative(batch, package);
    }
    if dice.chance(PENDING_PERCENT_CONFIGURED) {
        database.note(batch, package.entry_bytes);
    }
    // Installed.
    database.note(batch, package.entry_bytes);
}

/// What the scripts of `package` write before it is removed.
pub(super) fn withdraw(
    batch: &mut Batch,
    database: &mut Database,
    dice: &mut Dice,
    package: &Package,
) {
    if dice.chance(WITHDRAWN_PERCENT) {
        alternative(batch, package);
    }
    if dice.chance(PENDING_PERCENT_REMOVED) {
        database.note(batch, package.entry_bytes);
    }
}

/// An alternative, as `update-alternatives` writes it.
fn alternative(batch: &mut Batch, package: &Package) {
    let path = format!("var/lib/dpkg/alternatives/{}", package.name());
    let new = format!("{path}.dpkg-tmp");
    batch.durable(new.as_str(), Bytes(300), Contents::Compressible);
    batch.rename(new, path);
}

/// The scripts and triggers that waited for the end.
pub(super) fn triggers(batch: &mut Batch, scripts: &[Script]) {
    for script in scripts {
        for number in 0..script.files {
            let path = match script.files {
                1 => script.path.to_owned(),
                _ => format!("{}-{number}", script.path),
            };
            write(batch, script, &path);
        }
        batch.append(TERMINAL_LOG, Bytes(80));
    }
}

/// Writes `path` as these programs do: beside it, then renamed over it.
fn write(batch: &mut Batch, script: &Script, path: &str) {
    let new = format!("{path}.new");
    batch.open(new.as_str(), Opening::Create);
    batch.write(script.size, Contents::Compressible);
    if script.is_synced {
        batch.push(FileOp::SyncData(FILE));
    }
    batch.push(FileOp::Close(FILE));
    batch.rename(new, path);
}
