//! What apt itself writes: its logs, its list of packages that nobody asked for, its cache.
//!
//! And the system that a job finds: the directories, and the databases of a minimal installation.

use std::collections::HashSet;

use cardproof_units::Bytes;

use crate::batch::{Batch, above};
use crate::op::{Contents, FileOp};
use crate::packages::Distribution;

use super::archive::PARTIAL;
use super::database::{Database, HOME, INFO, LOG, TERMINAL_LOG, UPDATES};
use super::scripts;

const HISTORY_LOG: &str = "var/log/apt/history.log";
const EXTENDED: &str = "var/lib/apt/extended_states";
const CACHE: &str = "var/cache/apt/pkgcache.bin";

/// apt's index of Debian's main archive in binary form, as large as in Debian 12.
const CACHE_SIZE: Bytes = Bytes(39_092_108);

/// What apt notes of a package that was installed for another's sake.
const EXTENDED_ENTRY: Bytes = Bytes(60);

/// What apt writes of each package in its history.
const HISTORY_ENTRY: Bytes = Bytes(50);

/// The system that a job finds.
pub(super) fn base(batch: &mut Batch, database: &Database, distribution: &Distribution) {
    let own = [INFO, UPDATES, "var/lib/dpkg/triggers", "var/lib/dpkg/alternatives", PARTIAL];
    let others = ["var/lib/apt", "var/log/apt", "var/cache/apt"];
    let mut made = HashSet::new();
    let wanted = own.into_iter().chain(others).chain(scripts::directories());
    let mut wanted: Vec<&str> = wanted.collect();
    wanted.extend(distribution.system_directories());
    for directory in wanted {
        for path in above(directory).chain([directory]) {
            if made.insert(path) {
                batch.push(FileOp::MakeDir(path.to_owned()));
            }
        }
    }
    for path in ["status", "status-old"] {
        batch.file(format!("{HOME}/{path}"), database.size(), Contents::Compressible);
    }
    batch.file(LOG, Bytes::kib(40), Contents::Compressible);
    batch.file(TERMINAL_LOG, Bytes::kib(20), Contents::Compressible);
    batch.file(HISTORY_LOG, Bytes::kib(5), Contents::Compressible);
    batch.file(EXTENDED, Bytes::kib(4), Contents::Compressible);
    batch.file(CACHE, CACHE_SIZE, Contents::Compressible);
    scripts::found(batch);
}

/// apt begins to change `packages`: it notes which of them nobody has asked for.
pub(super) fn begins(batch: &mut Batch, packages: usize) {
    let each = |size: Bytes| Bytes(packages as u64 * size.get());
    write_anew(batch, EXTENDED, each(EXTENDED_ENTRY));
    batch.append(HISTORY_LOG, each(HISTORY_ENTRY));
}

/// apt is done: its index, which knows what is installed, is written anew.
pub(super) fn ends(batch: &mut Batch) {
    write_anew(batch, CACHE, CACHE_SIZE);
}

/// Writes a file beside its place and renames it; nobody waits for it.
fn write_anew(batch: &mut Batch, path: &str, size: Bytes) {
    let new = format!("{path}.new");
    batch.file(new.as_str(), size, Contents::Compressible);
    batch.rename(new, path);
}
