//! From an open file to a target: which engine, and why not the better one.

use std::fs::File;

use cardproof_units::Bytes;

use crate::medium::{Medium, OpenError};
use crate::psync::PsyncTarget;
use crate::{Target, TargetError};

/// Which engine is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EngineChoice {
    /// The best one that works here; the record tells why a better one did not.
    #[default]
    Auto,
    /// io_uring or an error.
    IoUring,
    /// `pread` and `pwrite`.
    Psync,
}

/// How to open a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Which engine.
    pub engine: EngineChoice,
    /// Refuse writes and discards.
    pub read_only: bool,
    /// Pass the page cache by where the file system can.
    pub direct: bool,
}

/// Why a target could not be made from a file.
#[derive(Debug, thiserror::Error)]
pub enum TargetOpenError {
    /// The file is not usable.
    #[error(transparent)]
    Medium(#[from] OpenError),
    /// The engine is not usable.
    #[error(transparent)]
    Engine(#[from] TargetError),
}

/// Makes a target of `size` of `file`, a fresh and empty regular file opened for reading and
/// writing. Its space is reserved where the file system can do that without writing it.
///
/// # Errors
/// There is no room, or as for [`open`].
pub fn open_new(
    file: File,
    size: Bytes,
    options: OpenOptions,
) -> Result<Box<dyn Target>, TargetOpenError> {
    with_engine(Medium::new_file(file, size, options.direct)?, options)
}

/// Makes a target of `file`, a regular file or block device opened for reading and, unless
/// `options.read_only`, for writing.
///
/// # Errors
/// The file is neither, is empty, or the engine asked for by name cannot be had.
pub fn open(file: File, options: OpenOptions) -> Result<Box<dyn Target>, TargetOpenError> {
    with_engine(Medium::new(file, options.direct)?, options)
}

fn with_engine(medium: Medium, options: OpenOptions) -> Result<Box<dyn Target>, TargetOpenError> {
    match options.engine {
        EngineChoice::Psync => Ok(Box::new(PsyncTarget::new(medium, options.read_only, None)?)),
        EngineChoice::IoUring => match try_uring(medium, options.read_only) {
            Ok(target) => Ok(target),
            Err((_, reason)) => Err(OpenError::NoEngine { reason }.into()),
        },
        EngineChoice::Auto => match try_uring(medium, options.read_only) {
            Ok(target) => Ok(target),
            Err((medium, reason)) => {
                Ok(Box::new(PsyncTarget::new(medium, options.read_only, Some(reason))?))
            }
        },
    }
}

#[cfg(target_pointer_width = "64")]
fn try_uring(medium: Medium, read_only: bool) -> Result<Box<dyn Target>, (Medium, String)> {
    Ok(Box::new(crate::uring::UringTarget::new(medium, read_only)?))
}

#[cfg(not(target_pointer_width = "64"))]
fn try_uring(medium: Medium, _read_only: bool) -> Result<Box<dyn Target>, (Medium, String)> {
    Err((medium, "io_uring is not used on 32-bit machines".to_owned()))
}
