//! Writing a trace.

use cardproof_units::{Bytes, Nanos};

use super::codec::{Context, encode};
use super::header::{FORM, Header, MAGIC, Source};
use super::request::Request;
use crate::packed::append_piece;

/// How many requests are compressed together: enough to compress well, little enough that a
/// reader needs no more than some hundred kilobytes at a time.
pub(super) const FRAME_REQUESTS: usize = 8192;

/// The longest a frame's requests can be before they are compressed: one byte of flags and four
/// numbers of at most ten bytes each.
pub(super) const FRAME_BYTES_MAX: usize = FRAME_REQUESTS * 41;

/// Takes requests in the order of their issue and makes a trace of them.
#[derive(Debug)]
pub struct TraceWriter {
    name: String,
    description: String,
    source: Source,
    device: Bytes,
    requests: u64,
    last: Nanos,
    frames: Vec<u8>,
    frame: Vec<u8>,
    in_frame: usize,
    context: Context,
}

impl TraceWriter {
    /// A trace called `name`, described in a sentence or two.
    #[must_use]
    pub fn new(name: &str, description: &str, source: Source) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_owned(),
            source,
            device: Bytes::ZERO,
            requests: 0,
            last: Nanos::ZERO,
            frames: Vec::new(),
            frame: Vec::new(),
            in_frame: 0,
            context: Context::default(),
        }
    }

    /// Says how large the device was; without it the furthest request tells.
    pub fn set_device(&mut self, size: Bytes) {
        self.device = self.device.max(size);
    }

    /// Adds one request. One issued before its predecessor is put at its predecessor's time;
    /// parts of blocks of 512 bytes are cut off.
    pub fn push(&mut self, request: &Request) {
        encode(request, &mut self.context, &mut self.frame);
        self.device = self.device.max(request.end());
        self.last = self.last.max(request.at + request.service.unwrap_or_default());
        self.requests += 1;
        self.in_frame += 1;
        if self.in_frame == FRAME_REQUESTS {
            self.end_frame();
        }
    }

    /// The whole trace. Its duration ends with the last request, or at `end` if that is later.
    #[must_use]
    pub fn finish(mut self, end: Nanos) -> Vec<u8> {
        self.end_frame();
        let header = Header {
            name: self.name,
            description: self.description,
            source: self.source,
            device_bytes: self.device,
            requests: self.requests,
            duration_ns: self.last.max(end),
        };
        // Text and numbers always have a JSON form.
        let header = serde_json::to_vec(&header).unwrap_or_default();
        let mut bytes = MAGIC.to_vec();
        bytes.push(FORM);
        append_piece(&header, &mut bytes);
        bytes.extend(self.frames);
        bytes.extend(0_u32.to_le_bytes());
        bytes
    }

    fn end_frame(&mut self) {
        if self.in_frame == 0 {
            return;
        }
        append_piece(&self.frame, &mut self.frames);
        self.frame.clear();
        self.in_frame = 0;
    }
}
