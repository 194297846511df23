//! A frame of a trace: up to 8192 requests, coded by what was expected of them.
//!
//! A frame begins with a checksum of all that follows (CRC-32 of IEEE 802.3), the number of its requests and
//! the unit of its times. What the model learned in one frame it knows in the next.

use cardproof_units::{Bytes, Nanos};

use crate::model::{FLUSH, Fields, Model, SERVICE};
use crate::range::{Decoder, Encoder};
use crate::request::{Request, RequestKind};

/// The unit of addresses and lengths.
const BLOCK_BYTES: u64 = 512;

/// How many requests are in a frame: a frame that is damaged takes no more with it.
pub(crate) const FRAME_REQUESTS: usize = 8192;

/// The units of times, by their number in a frame. Many recorders know no less than a microsecond.
const UNITS_NS: [u64; 2] = [1, 1000];

/// The checksum, the count, the unit.
const HEAD_BYTES: usize = 7;

const DURABLE: usize = 1;
const SYNC: usize = 1 << 1;
const METADATA: usize = 1 << 2;

/// The requests of the frame that is being written, and what was learned from those before.
#[derive(Debug)]
pub(crate) struct FrameWriter {
    model: Model,
    requests: Vec<Fields>,
    at: u64,
}

impl FrameWriter {
    pub(crate) fn new() -> Self {
        Self { model: Model::new(), requests: Vec::new(), at: 0 }
    }

    /// Adds `request`, and says whether the frame is full.
    pub(crate) fn push(&mut self, request: &Request) -> bool {
        let at = request.at.get().max(self.at);
        let flag = |is_set: bool, flag: usize| if is_set { flag } else { 0 };
        let has_range = request.kind != RequestKind::Flush;
        let blocks = |bytes: Bytes| if has_range { bytes.get() / BLOCK_BYTES } else { 0 };
        self.requests.push(Fields {
            kind: match request.kind {
                RequestKind::Read => 0,
                RequestKind::Write => 1,
                RequestKind::Flush => FLUSH,
                RequestKind::Discard => 3,
            },
            flags: flag(request.durable, DURABLE)
                | flag(request.sync, SYNC)
                | flag(request.metadata, METADATA)
                | flag(request.service.is_some(), SERVICE),
            gap: at - self.at,
            block: blocks(request.offset),
            blocks: blocks(request.length),
            service: request.service.map_or(0, Nanos::get),
        });
        self.at = at;
        self.requests.len() == FRAME_REQUESTS
    }

    /// The frame's bytes, if it has a request; the next frame is empty.
    pub(crate) fn take(&mut self) -> Option<Vec<u8>> {
        let fits = |unit: &u64| {
            self.requests.iter().all(|it| it.gap % unit == 0 && it.service % unit == 0)
        };
        let unit_number = UNITS_NS.iter().rposition(fits)?;
        let unit = UNITS_NS[unit_number];
        let count = (!self.requests.is_empty()).then_some(self.requests.len() as u16)?;
        let mut head = vec![0; 4];
        head.extend(count.to_le_bytes());
        head.push(unit_number as u8);
        let mut encoder = Encoder::behind(head);
        for fields in self.requests.drain(..) {
            let (gap, service) = (fields.gap / unit, fields.service / unit);
            self.model.code(&mut encoder, Fields { gap, service, ..fields });
        }
        let mut bytes = encoder.finish();
        let sum = checksum(&bytes[4..]);
        bytes[..4].copy_from_slice(&sum.to_le_bytes());
        Some(bytes)
    }
}

/// The requests of the frames of a trace, one frame after the other.
#[derive(Debug)]
pub(crate) struct FrameReader<'a> {
    model: Model,
    decoder: Decoder<'a>,
    left: u16,
    unit: u64,
    at: u64,
}

impl<'a> FrameReader<'a> {
    pub(crate) fn new() -> Self {
        Self { model: Model::new(), decoder: Decoder::new(&[]), left: 0, unit: 1, at: 0 }
    }

    /// Begins to read `frame`; `None` where it is damaged.
    pub(crate) fn load(&mut self, frame: &'a [u8]) -> Option<()> {
        let (&[s0, s1, s2, s3, c0, c1, unit], coded) = frame.split_first_chunk::<HEAD_BYTES>()?;
        let is_whole = checksum(&frame[4..]) == u32::from_le_bytes([s0, s1, s2, s3]);
        let count = u16::from_le_bytes([c0, c1]);
        if !is_whole || !(1..=FRAME_REQUESTS).contains(&usize::from(count)) {
            return None;
        }
        self.unit = *UNITS_NS.get(usize::from(unit))?;
        self.left = count;
        self.decoder = Decoder::new(coded);
        Some(())
    }

    /// Whether the frame has no more requests.
    pub(crate) const fn is_empty(&self) -> bool {
        self.left == 0
    }

    /// The next request of the frame; `None` where it is none that can be.
    pub(crate) fn advance(&mut self) -> Option<Request> {
        self.left = self.left.checked_sub(1)?;
        let fields = self.model.code(&mut self.decoder, Fields::default());
        let is_set = |flag: usize| fields.flags & flag != 0;
        self.at = self.at.checked_add(fields.gap.checked_mul(self.unit)?)?;
        let offset = Bytes(fields.block.checked_mul(BLOCK_BYTES)?);
        let length = Bytes(fields.blocks.checked_mul(BLOCK_BYTES)?);
        offset.checked_add(length)?;
        let service = Nanos(fields.service.checked_mul(self.unit)?);
        Some(Request {
            at: Nanos(self.at),
            kind: match fields.kind {
                0 => RequestKind::Read,
                1 => RequestKind::Write,
                FLUSH => RequestKind::Flush,
                _ => RequestKind::Discard,
            },
            offset,
            length,
            durable: is_set(DURABLE),
            sync: is_set(SYNC),
            metadata: is_set(METADATA),
            service: is_set(SERVICE).then_some(service),
        })
    }
}

/// CRC-32 with the reversed polynomial of IEEE 802.3.
fn checksum(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0_u32, |sum, &byte| {
        (0..8)
            .fold(sum ^ u32::from(byte), |sum, _| sum >> 1 ^ (sum & 1).wrapping_neg() & 0xedb8_8320)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_is_the_usual_one() {
        assert_eq!(checksum(b"123456789"), 0xcbf4_3926);
    }
}
