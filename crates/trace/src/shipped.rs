//! The traces that come with cardproof: real jobs, recorded by us.
//!
//! Three are the kinds of package job whose times have been published for eight devices, so a replay
//! can be held against those; two are a database, with each way to keep its journal, and one is a
//! system that starts. The requests and the processor's gaps are those of a fast
//! computer with much memory; what the jobs were is said in each trace's own description.

/// A trace that comes with cardproof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShippedTrace {
    /// The name in its header.
    pub name: &'static str,
    /// What the job did, in a few words.
    pub purpose: &'static str,
    /// The whole trace, for [`TraceReader`](super::TraceReader).
    pub bytes: &'static [u8],
}

/// Every shipped trace, in the order in which the jobs were done.
pub const SHIPPED: [ShippedTrace; 6] = [
    ShippedTrace {
        name: "desktop-install",
        purpose: "installing a Debian desktop (about 400 packages)",
        bytes: include_bytes!("../traces/desktop-install.trace"),
    },
    ShippedTrace {
        name: "desktop-removal",
        purpose: "removing 150 of these packages",
        bytes: include_bytes!("../traces/desktop-removal.trace"),
    },
    ShippedTrace {
        name: "desktop-reinstall",
        purpose: "installing these 150 again",
        bytes: include_bytes!("../traces/desktop-reinstall.trace"),
    },
    ShippedTrace {
        name: "sqlite-delete",
        purpose: "a database that writes a row at a time (journal mode DELETE)",
        bytes: include_bytes!("../traces/sqlite-delete.trace"),
    },
    ShippedTrace {
        name: "sqlite-wal",
        purpose: "the same in journal mode WAL",
        bytes: include_bytes!("../traces/sqlite-wal.trace"),
    },
    ShippedTrace {
        name: "boot",
        purpose: "the start of a small Debian 12 server",
        bytes: include_bytes!("../traces/boot.trace"),
    },
];

/// The shipped trace called `name`, whatever the case, if there is one.
#[must_use]
pub fn find_shipped(name: &str) -> Option<&'static ShippedTrace> {
    SHIPPED.iter().find(|trace| trace.name.eq_ignore_ascii_case(name))
}
