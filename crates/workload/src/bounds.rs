//! What a profile from a file may ask for at most, looked at before anything is made of it.
//!
//! A file may be wrong by a digit, or hostile. What it asks for is bounded where it would take memory,
//! and where arithmetic on it would have no meaning; the error names the limit.

use cardproof_units::Bytes;

use crate::{PhaseSpec, Profile};

/// Phases in a profile, repeated ones counted each time.
pub(crate) const PHASES_MAX: u32 = 1_000;

/// Buffers for all operations in flight together: a small board has 512 MB.
const BUFFERS_MAX: Bytes = Bytes::mib(256);

/// More operations a second than any storage has.
const RATE_MAX: f64 = 1e9;

/// The largest unit of a figure, in bytes a second.
const UNIT_MAX: f64 = 1e15;

/// The largest span: an exbibyte.
const SPAN_MAX: Bytes = Bytes(1 << 60);

/// Whether `count` more phases are too many beside `known`.
///
/// # Errors
/// They are, in words.
pub(crate) fn check_count(known: usize, count: u32) -> Result<(), String> {
    let known = u32::try_from(known).unwrap_or(u32::MAX);
    if known.saturating_add(count) <= PHASES_MAX {
        return Ok(());
    }
    Err(format!(
        "{count} more phases are too many; a profile has at most {PHASES_MAX} phases in all"
    ))
}

/// Whether `phase` keeps to the limits.
///
/// # Errors
/// What it goes beyond, in words.
pub(crate) fn check_phase(phase: &PhaseSpec) -> Result<(), String> {
    let depth = u64::from(phase.queue_depth);
    let buffers = phase.block_size.get().saturating_mul(depth);
    if buffers > BUFFERS_MAX.get() {
        return Err(format!(
            "a queue depth of {depth} with blocks of {} takes {} of buffers; the limit is \
             {BUFFERS_MAX}: ask for a smaller depth or block size",
            phase.block_size,
            Bytes(buffers)
        ));
    }
    if let Some(rate) = phase.rate_limit
        && !(rate.0 > 0.0 && rate.0 <= RATE_MAX)
    {
        return Err(format!("a rate limit is above 0 and at most {RATE_MAX:e}, not {:e}", rate.0));
    }
    let sizes = [("span", phase.span), ("bytes", phase.ends.bytes)];
    for (field, size) in
        sizes.into_iter().chain([("alignment-offset", Some(phase.alignment_offset))])
    {
        if let Some(size) = size.filter(|size| *size > SPAN_MAX) {
            return Err(format!("{field} is {size}; the limit is {SPAN_MAX}"));
        }
    }
    Ok(())
}

/// Whether what holds for all of `profile` keeps to the limits.
///
/// # Errors
/// What it goes beyond, in words.
pub(crate) fn check_whole(profile: &Profile) -> Result<(), String> {
    if profile.span > SPAN_MAX {
        return Err(format!("span is {}; the limit is {SPAN_MAX}", profile.span));
    }
    for figure in &profile.figures {
        let unit = figure.unit.bytes_per_s;
        if let Some(bytes) = unit.filter(|bytes| !(*bytes > 0.0 && *bytes <= UNIT_MAX)) {
            return Err(format!(
                "unit-bytes of the figure {} is {bytes:e}; it is above 0 and at most {UNIT_MAX:e}",
                figure.name
            ));
        }
    }
    Ok(())
}
