//! Why the guard does not open a target.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use cardproof_units::{shell_path, shell_word};
use rustix::io::Errno;

use super::{Identity, Leave, Objection};
use crate::{DeviceNumber, missing_hint, permission_remedy};

/// Why a target is not opened for writing. Nothing was written to it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GuardError {
    /// The path leads nowhere, or not for this user.
    #[error("cannot reach {path}; {hint}", path = path.display(), hint = missing_hint(path))]
    Unreachable {
        /// The path as given.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It is a directory, a terminal, or something else.
    #[error("{path} is neither a block device nor a regular file; name one of these", path = path.display())]
    NotStorage {
        /// The path as given.
        path: PathBuf,
    },
    /// The user may not open it.
    #[error("no permission to open {path}; {remedy}", path = path.display(), remedy = permission_remedy())]
    NotPermitted {
        /// The path as given.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It is a link to a regular file.
    #[error("refusing to follow the link {path} to a file; name the file itself: {real}", path = path.display(), real = shell_word(real))]
    Symlink {
        /// The path as given.
        path: PathBuf,
        /// Where it leads.
        real: PathBuf,
    },
    /// The kernel has it, but sysfs does not show it or its size.
    #[error("refusing to write to {path}: /sys does not show device {number}, so it is not known whether it is in use; run it where /sys is mounted", path = path.display())]
    UnknownDevice {
        /// The path as given.
        path: PathBuf,
        /// Its number.
        number: DeviceNumber,
    },
    /// The identity given is not that of the target.
    #[error("refusing to write to {path}: it is {identity}, and '{typed}' was named. Look again which one is meant; if it is this one: {option}", path = path.display(), option = identity.as_option(*leave))]
    OtherIdentity {
        /// The path as given.
        path: PathBuf,
        /// What the user named.
        typed: String,
        /// The identity of the target.
        identity: Identity,
        /// What was to be allowed.
        leave: Leave,
    },
    /// There are objections.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// Something that no table shows has it open for itself.
    #[error("refusing to write to {path}: another program holds it; close that program (`lsof {word}` or `fuser --verbose {word}` shows it) and try again", path = path.display(), word = shell_path(path))]
    Busy {
        /// The path as given.
        path: PathBuf,
    },
    /// It became another device or file, or another size, while it was looked at.
    #[error("refusing to write to {path}: it changed while it was being looked at; try again when it is left alone", path = path.display())]
    Changed {
        /// The path as given.
        path: PathBuf,
    },
    /// The kernel failed.
    #[error("cannot open {path}; the kernel log (`dmesg`) may tell more", path = path.display())]
    Failed {
        /// The path as given.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
}

impl GuardError {
    /// The same where `leave` was asked for, so that it names the option that gives it.
    #[must_use]
    pub fn asking_for(mut self, asked: Leave) -> Self {
        match &mut self {
            Self::OtherIdentity { leave, .. } | Self::Refused(Refusal { leave, .. }) => {
                *leave = asked;
            }
            _ => {}
        }
        self
    }

    /// Whether it was refused for the safety of what it holds.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Symlink { .. }
                | Self::UnknownDevice { .. }
                | Self::OtherIdentity { .. }
                | Self::Refused(_)
                | Self::Busy { .. }
                | Self::Changed { .. }
        )
    }

    /// Whether the path itself is not one that can be used.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::NotStorage { .. })
    }

    /// The error for `source` from opening `path`.
    pub(super) fn from_open(path: &Path, source: io::Error) -> Self {
        let path = path.to_owned();
        match source.raw_os_error().map(Errno::from_raw_os_error) {
            Some(Errno::BUSY | Errno::TXTBSY | Errno::WOULDBLOCK) => Self::Busy { path },
            Some(Errno::ACCESS | Errno::PERM) => Self::NotPermitted { path, source },
            Some(Errno::NOENT) => Self::Unreachable { path, source },
            Some(Errno::LOOP) => Self::Changed { path },
            _ => Self::Failed { path, source },
        }
    }
}

/// A refusal with all its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The path as given.
    pub path: PathBuf,
    /// What the target is.
    pub identity: Identity,
    /// Every objection, those that nothing lifts first.
    pub objections: Vec<Objection>,
    /// What was to be allowed.
    pub leave: Leave,
}

impl std::error::Error for Refusal {}

/// One objection a line, each with its remedy, and at the end the option that lifts the rest.
impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refusing to write to {}, nothing was written:", self.path.display())?;
        for objection in &self.objections {
            write!(f, "\n- {objection}")?;
            if let Some(remedy) = objection.remedy() {
                write!(f, "; {remedy}")?;
            }
        }
        if self.objections.is_empty() {
            f.write_str(
                "\n- a block device is overwritten only when it is named with its size, because no \
                 look at it can show that it holds nothing",
            )?;
        }
        let needs_name = self.objections.is_empty();
        if needs_name || self.objections.iter().any(Objection::can_be_lifted) {
            let stands = self.objections.iter().any(|objection| !objection.can_be_lifted());
            let option = self.identity.as_option(self.leave);
            match (self.leave, stands) {
                (Leave::Destroy, true) => {
                    write!(
                        f,
                        "\nWhen it is free and all that it holds may be lost, add this option: {option}"
                    )
                }
                (Leave::Destroy, false) => {
                    write!(f, "\nIf all that it holds may be lost, add this option: {option}")
                }
                (Leave::Restore, true) => write!(
                    f,
                    "\nWhen it is free, make a backup. To test it and put the data back, add this option: {option}"
                ),
                (Leave::Restore, false) => write!(
                    f,
                    "\nMake a backup first. To test it and put the data back, add this option: {option}"
                ),
            }?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::Bytes;

    use super::*;

    #[test]
    fn whoever_has_the_data_put_back_is_not_told_that_they_may_be_lost() {
        let said = |leave, objections| {
            let path = PathBuf::from("/dev/sda");
            let identity = Identity::of_file(Path::new("sda"), Bytes(4096));
            Refusal { path, identity, objections, leave }.to_string()
        };
        let table = Objection::PartitionTable { kind: "DOS" };
        for objections in [Vec::new(), vec![table.clone()], vec![table, Objection::NoMedium]] {
            let text = said(Leave::Restore, objections.clone());
            assert!(!text.contains("lost") && text.contains("put the data back"), "{text}");
            assert!(text.ends_with("--restore=sda:4096"), "{text}");
            let text = said(Leave::Destroy, objections);
            assert!(text.contains("may be lost") && text.ends_with("--destroy=sda:4096"), "{text}");
        }
    }
}
