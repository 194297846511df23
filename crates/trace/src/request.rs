//! One request of a block device.

use cardproof_units::{Bytes, Nanos};

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestKind {
    /// To read a range.
    Read,
    /// To write a range.
    Write,
    /// To make durable all that was written.
    Flush,
    /// To forget a range.
    Discard,
}

/// One request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// When it was issued, from the trace's start. Requests are in this order.
    pub at: Nanos,
    /// What it asks for.
    pub kind: RequestKind,
    /// Where it starts, a multiple of 512 bytes; zero for a flush.
    pub offset: Bytes,
    /// How long it is, a multiple of 512 bytes; zero for a flush.
    pub length: Bytes,
    /// A write that is durable by itself when it completes (forced unit access).
    pub durable: bool,
    /// Somebody waits for it, as the kernel's flag `S` says.
    pub sync: bool,
    /// It is the file system's own bookkeeping, as the kernel's flag `M` says.
    pub metadata: bool,
    /// How long the device took; `None` where the source does not tell.
    pub service: Option<Nanos>,
}

impl Request {
    /// A request of `kind` that says nothing of its circumstances.
    #[must_use]
    pub const fn new(at: Nanos, kind: RequestKind, offset: Bytes, length: Bytes) -> Self {
        Self {
            at,
            kind,
            offset,
            length,
            durable: false,
            sync: false,
            metadata: false,
            service: None,
        }
    }

    /// The first byte behind it; saturates.
    #[must_use]
    pub fn end(&self) -> Bytes {
        Bytes(self.offset.get().saturating_add(self.length.get()))
    }

    /// Whether an epoch ends with it: what comes later relies on what came before being durable.
    #[must_use]
    pub const fn ends_epoch(&self) -> bool {
        matches!(self.kind, RequestKind::Flush) || self.durable
    }
}
