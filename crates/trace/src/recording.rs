//! Requests that are recorded while they happen: an issue opens one, its completion closes it.

use std::collections::HashMap;

use cardproof_units::{Bytes, Nanos};

use super::header::Source;
use super::request::{Request, RequestKind};
use super::writer::TraceWriter;

/// The requests of one device.
#[derive(Debug, Default)]
pub(super) struct Recording {
    requests: Vec<Request>,
    /// What was issued and has not ended: which of the requests it is. All flushes are alike.
    open: HashMap<(RequestKind, Bytes), usize>,
}

impl Recording {
    /// How many requests there are.
    pub(super) fn requests(&self) -> u64 {
        self.requests.len() as u64
    }

    /// A request on its way to the device. One that the device sent back is issued again; it is
    /// one request.
    pub(super) fn issue(&mut self, request: Request) {
        let key = (request.kind, request.offset);
        if !self.open.contains_key(&key) {
            self.open.insert(key, self.requests.len());
            self.requests.push(request);
        }
    }

    /// A request of which no end will be told.
    pub(super) fn add(&mut self, request: Request) {
        self.requests.push(request);
    }

    /// The request of `kind` at `offset` is over.
    pub(super) fn complete(&mut self, kind: RequestKind, offset: Bytes, at: Nanos) {
        if let Some(index) = self.open.remove(&(kind, offset)) {
            let request = &mut self.requests[index];
            request.service = Some(at.saturating_sub(request.at));
        }
    }

    /// The trace, from the first request on, of a device of at least `device`.
    pub(super) fn finish(
        mut self,
        name: &str,
        description: &str,
        source: Source,
        device: Bytes,
    ) -> Vec<u8> {
        // Events of different processors may come slightly out of order.
        self.requests.sort_by_key(|request| request.at);
        let start = self.requests.first().map_or(Nanos::ZERO, |request| request.at);
        let mut writer = TraceWriter::new(name, description, source);
        writer.set_device(device);
        for request in &mut self.requests {
            request.at = request.at.saturating_sub(start);
            writer.push(request);
        }
        writer.finish(Nanos::ZERO)
    }
}
