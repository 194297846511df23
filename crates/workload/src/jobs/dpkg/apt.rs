//! What apt itself writes: its logs, its list of packages that nobody asked for, its cache.
//!
//! And the system that a job finds: the directories, and the databases of a minimal installation.

use cardproof_units::Bytes;

use crate::jobs::batch::{Batch, above};
use crate::jobs::op::{Contents, FileOp};
use crate::jobs::packages::{OWN_PARENTS, SHARED, SHARED_PARENTS};

use super::archive::PARTIAL;
use super::database::{Database, HOME, INFO, LOG, TERMINAL_LOG, UPDATES};
use super::scripts;

const HISTORY_LOG: &str = "var/log/apt/history.log";
const EXTENDED: &str = "var/lib/apt/extended_states";
const CACHE: &str = "var/cache/apt/pkgcache.bin";

/// apt's index of Debian's main archive in binary form, about as large as in Debian 12.
const CACHE_SIZE: Bytes = Bytes::mib(40);

/// What apt notes of a package that was installed for another's sake.
const EXTENDED_ENTRY: Bytes = Bytes(60);

/// What apt writes of each package in its history.
const HISTORY_ENTRY: Bytes = Bytes(50);

/// The system that a job finds.
pub(super) fn base(batch: &mut Batch, database: &Database) {
    let own = [INFO, UPDATES, "var/lib/dpkg/triggers", "var/lib/dpkg/alternatives", PARTIAL];
    let others = ["var/lib/apt", "var/log/apt", "var/cache/apt"];
    let scripts = scripts::TARGETS.iter().filter_map(|(path, ..)| Some(path.rsplit_once('/')?.0));
    let mut made: Vec<&str> = Vec::new();
    let wanted = SHARED_PARENTS.iter().chain(SHARED).chain(OWN_PARENTS).chain(&own).chain(&others);
    for directory in wanted.copied().chain(scripts) {
        for path in above(directory).chain([directory]) {
            if !made.contains(&path) {
                made.push(path);
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
    for (path, size, _) in scripts::TARGETS {
        batch.file(*path, *size, Contents::Compressible);
    }
}

/// apt begins to change things.
pub(super) fn begins(batch: &mut Batch) {
    batch.append(HISTORY_LOG, Bytes(200));
}

/// apt is done with `packages`: it notes which, and its cache, which is out of date, goes.
pub(super) fn ends(batch: &mut Batch, packages: usize) {
    let each = |size: Bytes| Bytes(packages as u64 * size.get());
    let new = format!("{EXTENDED}.new");
    batch.file(new.as_str(), Bytes::kib(4) + each(EXTENDED_ENTRY), Contents::Compressible);
    batch.rename(new, EXTENDED);
    batch.append(HISTORY_LOG, each(HISTORY_ENTRY));
    batch.unlink(CACHE);
}
