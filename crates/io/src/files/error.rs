//! Why an operation on a file failed.

use rustix::io::Errno;

use crate::Fault;

/// An operation on a file that failed, in words that name no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("could not {doing}: {fault}")]
pub struct FileFault {
    /// What was tried, such as `write a file`.
    pub doing: &'static str,
    /// What the storage or the file system said.
    pub fault: Fault,
}

impl FileFault {
    /// For `map_err`: `doing` failed.
    pub(super) fn to(doing: &'static str) -> impl FnOnce(Errno) -> Self {
        move |errno| Self { doing, fault: errno.into() }
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    #[test]
    fn a_failed_operation_has_one_cause() {
        let error = FileFault::to("write a file")(Errno::NOSPC);
        assert_eq!(error.to_string(), "could not write a file: no space left");
        assert!(error.source().is_none());
    }
}
