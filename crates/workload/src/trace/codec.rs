//! Numbers of any length and requests as bytes, before they are compressed.
//!
//! A request is one byte of flags and up to four numbers. Addresses are told by their distance
//! from the end of the request before, in blocks of 512 bytes, so that streams become small
//! numbers that compress well.

use cardproof_units::{Bytes, Nanos};

use super::request::{Request, RequestKind};

/// The unit of addresses and lengths.
const BLOCK_BYTES: u64 = 512;

const KIND_MASK: u8 = 0b11;
const DURABLE: u8 = 1 << 2;
const SYNC: u8 = 1 << 3;
const METADATA: u8 = 1 << 4;
const HAS_SERVICE: u8 = 1 << 5;
const KNOWN_FLAGS: u8 = KIND_MASK | DURABLE | SYNC | METADATA | HAS_SERVICE;

/// What the next request is told relative to; the same at both ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    at: u64,
    end_block: u64,
}

/// Appends `request` to `bytes`.
pub(super) fn encode(request: &Request, context: &mut Context, bytes: &mut Vec<u8>) {
    let kind = match request.kind {
        RequestKind::Read => 0,
        RequestKind::Write => 1,
        RequestKind::Flush => 2,
        RequestKind::Discard => 3,
    };
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    bytes.push(
        kind | flag(request.durable, DURABLE)
            | flag(request.sync, SYNC)
            | flag(request.metadata, METADATA)
            | flag(request.service.is_some(), HAS_SERVICE),
    );
    let at = request.at.get().max(context.at);
    put(at - context.at, bytes);
    context.at = at;
    if request.kind != RequestKind::Flush {
        let block = request.offset.get() / BLOCK_BYTES;
        let blocks = request.length.get() / BLOCK_BYTES;
        put(zigzag(block.wrapping_sub(context.end_block) as i64), bytes);
        put(blocks, bytes);
        context.end_block = block.wrapping_add(blocks);
    }
    if let Some(service) = request.service {
        put(service.get(), bytes);
    }
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

/// Seven bits a byte, the lowest first; the highest bit says that more follow (LEB128).
fn put(mut number: u64, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let part = u64::from(byte & 0x7f);
        if shift == 63 && part > 1 {
            return None;
        }
        number |= part << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Small numbers of either sign become small numbers without one.
const fn zigzag(number: i64) -> u64 {
    ((number << 1) ^ (number >> 63)) as u64
}

const fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_length_come_back() {
        for number in [0, 1, 127, 128, 16_383, 16_384, u64::from(u32::MAX), u64::MAX] {
            let mut bytes = Vec::new();
            put(number, &mut bytes);
            assert_eq!(take(&mut bytes.as_slice()), Some(number), "{number}");
        }
        for number in [0, -1, 1, i64::MIN, i64::MAX] {
            assert_eq!(unzigzag(zigzag(number)), number);
        }
    }

    #[test]
    fn a_number_that_is_too_long_is_none() {
        assert_eq!(take(&mut [0xff; 11].as_slice()), None);
        assert_eq!(take(&mut [0x80; 3].as_slice()), None);
        let mut beyond = [0x80; 10];
        beyond[9] = 2;
        assert_eq!(take(&mut beyond.as_slice()), None);
    }
}
