//! Reading a trace, a frame at a time.

use std::fmt;

use super::error::TraceError;
use super::frame::FrameReader;
use super::header::{FORM, Header, MAGIC};
use super::request::Request;
use crate::packed::{piece, unpack};

/// The longest header.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// The requests of a trace, in order. Only one frame is unpacked at a time, so a trace of a
/// million requests takes no more memory than its file and some hundred kilobytes.
///
/// After an error there are no more requests.
pub struct TraceReader<'a> {
    bytes: &'a [u8],
    header: Header,
    first_frame: usize,
    /// Where the next frame begins.
    next: usize,
    /// Where the frame that is being read begins.
    here: usize,
    frame: FrameReader<'a>,
    seen: u64,
    is_over: bool,
}

impl<'a> TraceReader<'a> {
    /// The whole trace as it was given.
    #[must_use]
    pub const fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The trace in `bytes`.
    ///
    /// # Errors
    /// They are no trace of a known form, or its header is damaged.
    pub fn new(bytes: &'a [u8]) -> Result<Self, TraceError> {
        let form_at = MAGIC.len();
        if bytes.get(..form_at) != Some(&MAGIC[..]) {
            return Err(TraceError::Foreign);
        }
        match bytes.get(form_at) {
            Some(&FORM) => {}
            Some(&found) => return Err(TraceError::OtherForm { found, known: FORM }),
            None => return Err(TraceError::CutOff { offset: form_at, what: "its form" }),
        }
        let offset = form_at + 1;
        let (packed, next) = piece(bytes, offset, "the header")?;
        let text = unpack(packed, HEADER_BYTES_MAX)
            .ok_or(TraceError::Damaged { offset, what: "the header does not unpack" })?;
        let header: Header = serde_json::from_slice(&text)
            .map_err(|_| TraceError::Damaged { offset, what: "the header is not understood" })?;
        Ok(Self {
            bytes,
            header,
            first_frame: next,
            next,
            here: next,
            frame: FrameReader::new(),
            seen: 0,
            is_over: false,
        })
    }

    /// What the trace says of itself.
    #[must_use]
    pub const fn header(&self) -> &Header {
        &self.header
    }

    /// The same trace under another `name`.
    #[must_use]
    pub fn with_name(mut self, name: &str) -> Self {
        name.clone_into(&mut self.header.name);
        self
    }

    /// The same trace from its start.
    #[must_use]
    pub fn restarted(&self) -> Self {
        Self {
            bytes: self.bytes,
            header: self.header.clone(),
            first_frame: self.first_frame,
            next: self.first_frame,
            here: self.first_frame,
            frame: FrameReader::new(),
            seen: 0,
            is_over: false,
        }
    }

    /// The next request, or that there is none.
    fn advance(&mut self) -> Result<Option<Request>, TraceError> {
        while self.frame.is_empty() {
            if !self.load()? {
                return Ok(None);
            }
        }
        let request = self.frame.advance().ok_or(TraceError::Damaged {
            offset: self.here,
            what: "a request in this part is not understood",
        })?;
        self.seen += 1;
        Ok(Some(request))
    }

    /// Unpacks the next frame; `false` at the end of the trace.
    fn load(&mut self) -> Result<bool, TraceError> {
        let offset = self.next;
        let (packed, next) = piece(self.bytes, offset, "a part of the requests")?;
        if packed.is_empty() {
            return self.end(offset, next);
        }
        self.frame
            .load(packed)
            .ok_or(TraceError::Damaged { offset, what: "this part does not unpack" })?;
        self.here = offset;
        self.next = next;
        Ok(true)
    }

    /// Looks whether the end is as it should be.
    fn end(&self, offset: usize, next: usize) -> Result<bool, TraceError> {
        if next != self.bytes.len() {
            return Err(TraceError::Damaged { offset: next, what: "something follows the end" });
        }
        if self.seen != self.header.requests {
            let what = "the number of requests is not that of the header";
            return Err(TraceError::Damaged { offset, what });
        }
        Ok(false)
    }
}

impl Iterator for TraceReader<'_> {
    type Item = Result<Request, TraceError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.is_over {
            return None;
        }
        let next = self.advance().transpose();
        self.is_over = !matches!(next, Some(Ok(_)));
        next
    }
}

impl fmt::Debug for TraceReader<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TraceReader")
            .field("header", &self.header)
            .field("next", &self.next)
            .field("seen", &self.seen)
            .finish_non_exhaustive()
    }
}
