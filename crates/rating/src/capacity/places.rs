//! The places of a test of the capacity, from the form of the record to that of the inference and back.

use cardproof_evidence::capacity::{Found, Observation};
use cardproof_record::{CapacityFound, CapacityPlace};
use cardproof_units::Bytes;

/// More than any device holds, or is ever written in a test: sums of two are still numbers.
const BYTES_MAX: u64 = 1 << 62;

/// `place` as the record keeps it.
#[must_use]
pub fn capacity_place(place: &Observation) -> CapacityPlace {
    CapacityPlace {
        offset_bytes: Bytes(place.offset_bytes),
        length_bytes: Bytes(place.length_bytes),
        written_at_bytes: Bytes(place.written_at_bytes),
        read_at_bytes: Bytes(place.read_at_bytes),
        right_prefix_bytes: Bytes(place.right_prefix_bytes),
        live_prefix_bytes: Bytes(place.live_prefix_bytes),
        transient_errors: place.transient_errors,
        is_random: place.is_random,
        found: match place.found {
            Found::Right => CapacityFound::Right,
            Found::Foreign { at_bytes, address_bytes } => CapacityFound::Foreign {
                at_bytes: Bytes(at_bytes),
                address_bytes: Bytes(address_bytes),
            },
            Found::Old => CapacityFound::Old,
            Found::Constant(byte) => CapacityFound::Constant { byte },
            Found::Garbled { wrong_bits } => CapacityFound::Garbled { wrong_bits },
            Found::Changing => CapacityFound::Changing,
            Found::ReadFailed => CapacityFound::ReadFailed,
            Found::WriteFailed => CapacityFound::WriteFailed,
        },
    }
}

/// What `place` tells; `None` where no test can have seen it, or a later version alone knows what it is.
pub(super) fn observation(place: &CapacityPlace) -> Option<Observation> {
    let place = Observation {
        offset_bytes: place.offset_bytes.get(),
        length_bytes: place.length_bytes.get(),
        written_at_bytes: place.written_at_bytes.get(),
        read_at_bytes: place.read_at_bytes.get(),
        right_prefix_bytes: place.right_prefix_bytes.get(),
        live_prefix_bytes: place.live_prefix_bytes.get(),
        transient_errors: place.transient_errors,
        is_random: place.is_random,
        found: match place.found {
            CapacityFound::Right => Found::Right,
            CapacityFound::Foreign { at_bytes, address_bytes } => {
                Found::Foreign { at_bytes: at_bytes.get(), address_bytes: address_bytes.get() }
            }
            CapacityFound::Old => Found::Old,
            CapacityFound::Constant { byte } => Found::Constant(byte),
            CapacityFound::Garbled { wrong_bits } => Found::Garbled { wrong_bits },
            CapacityFound::Changing => Found::Changing,
            CapacityFound::ReadFailed => Found::ReadFailed,
            CapacityFound::WriteFailed => Found::WriteFailed,
            CapacityFound::Unknown => return None,
        },
    };
    is_possible(&place).then_some(place)
}

/// Whether a test can have seen it: a place within what a device can hold, read after it was written.
fn is_possible(place: &Observation) -> bool {
    let length = place.length_bytes;
    length > 0
        && length <= BYTES_MAX
        && place.offset_bytes <= BYTES_MAX
        && place.written_at_bytes <= place.read_at_bytes
        && place.read_at_bytes <= BYTES_MAX
        && place.right_prefix_bytes <= length
        && place.live_prefix_bytes <= length
}
