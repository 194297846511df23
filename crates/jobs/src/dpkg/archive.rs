//! A package's archive, as apt writes it and dpkg reads it.

use cardproof_units::Bytes;

use crate::batch::Batch;
use crate::op::{Contents, Opening};
use crate::packages::Package;

pub(super) const ARCHIVES: &str = "var/cache/apt/archives";
pub(super) const PARTIAL: &str = "var/cache/apt/archives/partial";

/// apt has fetched the archive: it is written and then renamed, and nobody waits for it.
pub(super) fn fetched(batch: &mut Batch, package: &Package) {
    let partial = format!("{PARTIAL}/{}.deb", package.name());
    batch.file(partial.as_str(), package.archive_bytes, Contents::Incompressible);
    batch.rename(partial, path(package));
}

/// dpkg reads it.
pub(super) fn read(batch: &mut Batch, package: &Package) {
    batch.read(path(package), package.archive_bytes, Bytes::kib(32), Opening::Read);
}

fn path(package: &Package) -> String {
    format!("{ARCHIVES}/{}.deb", package.name())
}
