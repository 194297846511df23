//! Requests of form 1, which is read and no longer written.
//!
//! A request is one byte of flags and up to four numbers. Addresses are told by their distance
//! from the end of the request before, in blocks of 512 bytes.

use cardproof_units::{Bytes, Nanos};

use super::request::{Request, RequestKind};
use crate::packed::{take, unzigzag};

/// The unit of addresses and lengths.
const BLOCK_BYTES: u64 = 512;

const KIND_MASK: u8 = 0b11;
const DURABLE: u8 = 1 << 2;
const SYNC: u8 = 1 << 3;
const METADATA: u8 = 1 << 4;
const HAS_SERVICE: u8 = 1 << 5;
const KNOWN_FLAGS: u8 = KIND_MASK | DURABLE | SYNC | METADATA | HAS_SERVICE;

/// What the next request is told relative to.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    at: u64,
    end_block: u64,
}

/// Takes one request from the front of `bytes`; `None` where they hold none.
pub(super) fn decode(bytes: &mut &[u8], context: &mut Context) -> Option<Request> {
    let (&flags, rest) = bytes.split_first()?;
    *bytes = rest;
    if flags & !KNOWN_FLAGS != 0 {
        return None;
    }
    let kind = match flags & KIND_MASK {
        0 => RequestKind::Read,
        1 => RequestKind::Write,
        2 => RequestKind::Flush,
        _ => RequestKind::Discard,
    };
    let at = context.at.checked_add(take(bytes)?)?;
    context.at = at;
    let (mut offset, mut length) = (Bytes::ZERO, Bytes::ZERO);
    if kind != RequestKind::Flush {
        let block = context.end_block.wrapping_add(unzigzag(take(bytes)?) as u64);
        let blocks = take(bytes)?;
        offset = Bytes(block.checked_mul(BLOCK_BYTES)?);
        length = Bytes(blocks.checked_mul(BLOCK_BYTES)?);
        offset.checked_add(length)?;
        context.end_block = block.wrapping_add(blocks);
    }
    let service = if flags & HAS_SERVICE != 0 { Some(Nanos(take(bytes)?)) } else { None };
    Some(Request {
        at: Nanos(at),
        kind,
        offset,
        length,
        durable: flags & DURABLE != 0,
        sync: flags & SYNC != 0,
        metadata: flags & METADATA != 0,
        service,
    })
}
