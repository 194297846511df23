//! Writing a trace.

use cardproof_units::{Bytes, Nanos};

use super::frame::FrameWriter;
use super::header::{FORM, Header, MAGIC, Source};
use super::request::Request;
use crate::packed::append_piece;

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
    frame: FrameWriter,
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
            frame: FrameWriter::new(),
        }
    }

    /// Says how large the device was; without it the furthest request tells.
    pub fn set_device(&mut self, size: Bytes) {
        self.device = self.device.max(size);
    }

    /// Adds one request. One issued before its predecessor is put at its predecessor's time;
    /// parts of blocks of 512 bytes are cut off.
    pub fn push(&mut self, request: &Request) {
        self.device = self.device.max(request.end());
        self.last = self.last.max(request.at + request.service.unwrap_or_default());
        self.requests += 1;
        if self.frame.push(request) {
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
        if let Some(frame) = self.frame.take() {
            self.frames.extend((frame.len() as u32).to_le_bytes());
            self.frames.extend(frame);
        }
    }
}
