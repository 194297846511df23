//! Calls as bytes, before they are compressed: what is usual is left out.

use cardproof_units::{Bytes, Nanos};

use super::call::{Call, CallKind, OpenHow};
use crate::packed::{put, take, unzigzag, zigzag};

const FAILED: u8 = 1;
const HAS_TOOK: u8 = 1 << 1;
const HAS_PROCESS: u8 = 1 << 2;
const HAS_FILE: u8 = 1 << 3;
const HAS_OTHER: u8 = 1 << 4;
const HAS_OFFSET: u8 = 1 << 5;
const HAS_LENGTH: u8 = 1 << 6;
const HAS_HOW: u8 = 1 << 7;

/// What the next call is told relative to; the same at both ends.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Context {
    at: u64,
    process: u32,
    file: u32,
}

/// Appends `call` to `bytes`.
pub(super) fn encode(call: &Call, context: &mut Context, bytes: &mut Vec<u8>) {
    let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
    let number = CallKind::ALL.iter().position(|&kind| kind == call.kind).unwrap_or_default();
    bytes.push(number as u8);
    bytes.push(
        flag(call.failed, FAILED)
            | flag(call.took.is_some(), HAS_TOOK)
            | flag(call.process != context.process, HAS_PROCESS)
            | flag(call.file.is_some(), HAS_FILE)
            | flag(call.other.is_some(), HAS_OTHER)
            | flag(call.offset.is_some(), HAS_OFFSET)
            | flag(call.length > Bytes::ZERO, HAS_LENGTH)
            | flag(call.how != OpenHow::default(), HAS_HOW),
    );
    let at = call.at.get().max(context.at);
    put(at - context.at, bytes);
    context.at = at;
    if let Some(took) = call.took {
        put(took.get(), bytes);
    }
    if call.process != context.process {
        put(u64::from(call.process), bytes);
        context.process = call.process;
    }
    if let Some(file) = call.file {
        put(zigzag(i64::from(file) - i64::from(context.file)), bytes);
        context.file = file;
    }
    if let Some(other) = call.other {
        put(u64::from(other), bytes);
    }
    if let Some(offset) = call.offset {
        put(offset.get(), bytes);
    }
    if call.length > Bytes::ZERO {
        put(call.length.get(), bytes);
    }
    if call.how != OpenHow::default() {
        bytes.push(call.how.0);
    }
}

/// Takes one call from the front of `bytes`; `None` where they hold none, or one of a file beyond
/// the `names` that there are.
pub(super) fn decode(bytes: &mut &[u8], context: &mut Context, names: u32) -> Option<Call> {
    let [number, flags] = take_array(bytes)?;
    let kind = *CallKind::ALL.get(usize::from(number))?;
    let has = |flag: u8| flags & flag != 0;
    context.at = context.at.checked_add(take(bytes)?)?;
    let mut call = Call::new(Nanos(context.at), kind);
    call.failed = has(FAILED);
    if has(HAS_TOOK) {
        call.took = Some(Nanos(take(bytes)?));
    }
    if has(HAS_PROCESS) {
        context.process = u32::try_from(take(bytes)?).ok()?;
    }
    call.process = context.process;
    let known = |number: u32| (1..=names).contains(&number).then_some(number);
    if has(HAS_FILE) {
        let file = i64::from(context.file).checked_add(unzigzag(take(bytes)?))?;
        context.file = known(u32::try_from(file).ok()?)?;
        call.file = Some(context.file);
    }
    if has(HAS_OTHER) {
        call.other = Some(known(u32::try_from(take(bytes)?).ok()?)?);
    }
    if has(HAS_OFFSET) {
        call.offset = Some(Bytes(take(bytes)?));
    }
    if has(HAS_LENGTH) {
        call.length = Bytes(take(bytes)?);
    }
    if has(HAS_HOW) {
        let [how] = take_array(bytes)?;
        call.how = OpenHow(how);
    }
    Some(call)
}

fn take_array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (array, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*array)
}
