//! What the user asks of a session, whatever it measures.

use std::path::PathBuf;

use cardproof_device::guard::Leave;
use cardproof_io::EngineChoice;
use cardproof_units::{Bytes, Seed};

use crate::failure::Failure;

/// What the user asks of a session.
#[derive(Clone, Debug)]
pub struct Options {
    /// A directory, a file, a block device, or `sim:NAME`.
    pub target: PathBuf,
    /// How much of the target is worked in, where the user says so.
    pub size: Option<Bytes>,
    /// All addresses and data follow from it.
    pub seed: Seed,
    /// How the target may be used.
    pub access: Access,
    /// The device that a directory must be on.
    pub expect_device: Option<PathBuf>,
    /// The record's name and date, unless the target is simulated: then both follow from the
    /// seed, so that the same seed gives the same record to the last byte.
    pub identity: Identity,
    /// The directory in which records are kept, or why there is none.
    pub records: Result<PathBuf, Failure>,
    /// Whether the session is held where no record can be kept, since the result goes elsewhere.
    pub does_without_record: bool,
}

/// How a target may be used.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// Leave to destroy what a block device or file holds, with the identity that the user gave.
    pub destroy: Option<Option<String>>,
    /// The leave that this is, as messages call it.
    pub leave: Leave,
    /// How to drive the target.
    pub engine: EngineChoice,
}

/// What a record is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// A name that no other record has; it is a file's name too.
    pub id: String,
    /// What the user calls what is measured.
    pub label: Option<String>,
    /// The time of day at which the session began, RFC 3339 in UTC.
    pub created: String,
}
