//! Which card it is. That no other run works on it is the guard's care, which opens it alone.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cardproof_device::Sysroot;
use cardproof_device::guard;

use super::journal::Header;
use cardproof_units::{in_words, with_causes};

use crate::failure::Failure;
use crate::session::digest;

/// A card, by what stays when it is plugged in elsewhere.
#[derive(Clone, Debug)]
pub(super) struct Device {
    path: PathBuf,
    /// A number made of size and serial number; of a file, of its place on its disk.
    pub(super) key: String,
    /// Whether a serial number tells it from others of its kind.
    pub(super) has_serial: bool,
}

impl Device {
    /// The card at `path`.
    pub(super) fn at(path: &Path) -> Result<Self, Failure> {
        let inspection = guard::inspect(&Sysroot::default(), path)
            .map_err(|error| Failure::usage(with_causes(&error)))?;
        let metadata = std::fs::metadata(path).map_err(|error| {
            Failure::usage(format!(
                "cannot look at {}: {error}",
                path.display(),
                error = in_words(&error)
            ))
        })?;
        let (lasting, has_serial) = if metadata.is_file() {
            (format!("file {} {}", metadata.dev(), metadata.ino()), true)
        } else {
            (inspection.identity.lasting(), inspection.identity.has_serial())
        };
        let key = format!("{:016x}", digest(lasting.as_bytes()));
        Ok(Self { path: path.to_owned(), key, has_serial })
    }

    pub(super) fn other_data(&self) -> Failure {
        Failure::refused(format!(
            "a run is under way on a card with the identity of {}, but this card does not carry its \
             marks: it was written to since, or it is another card; --restart begins another run",
            self.path.display()
        ))
    }

    pub(super) fn unreadable(&self) -> Failure {
        Failure::refused(format!(
            "a run is under way on a card of the size of {}, and nothing on this card can be read, so \
             that it cannot be told whether it is the same; try another reader, or begin another run \
             with --restart",
            self.path.display()
        ))
    }

    pub(super) fn other_wish(&self, header: &Header) -> Failure {
        Failure::usage(format!(
            "a run with the pattern {} over {} is under way on {}; go on with the same pattern and \
             --size, or begin another run with --restart",
            header.pattern,
            cardproof_units::Bytes(header.span_bytes),
            self.path.display()
        ))
    }
}
