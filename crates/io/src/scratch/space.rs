//! How much of the free space a run may take.
//!
//! A tenth is little enough that nothing else on the machine notices. 256 MiB, the range that the
//! class limits are stated for, may also be taken of 1 GiB or more: less would give no verdict. A size
//! that the user names may take more, but never all: a full file system stops logs, updates and
//! sessions.

use std::path::Path;

use cardproof_units::Bytes;

use super::ScratchError;

/// The smallest test file worth measuring on, unless a smaller one is asked for.
pub const SIZE_MIN: Bytes = Bytes::mib(16);

/// The share of the free space that is taken unasked: one in this many parts.
const SHARE_PARTS: u64 = 10;

/// What may be taken unasked where [`ROOMY`] is free: the range of the class limits.
const CLASS_RANGE: Bytes = Bytes::mib(256);

/// So much free space that [`CLASS_RANGE`] is at most a quarter of it.
const ROOMY: Bytes = Bytes::gib(1);

/// The share of the free space that always stays free: one in this many parts, and not less
/// than [`MARGIN_MIN`].
const MARGIN_PARTS: u64 = 32;
const MARGIN_MIN: Bytes = Bytes::mib(4);

/// What a test that reserves free space leaves free at the least.
const KEPT_MIN: Bytes = Bytes::gib(1);

/// And at the most: no program writes more while such a test runs.
const KEPT_MAX: Bytes = Bytes::gib(8);

/// What a reduced size is rounded down to.
const STEP: Bytes = Bytes::mib(1);

/// The space of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// Its size.
    pub size: Bytes,
    /// How much of it this user may still fill.
    pub free: Bytes,
}

impl Space {
    /// How much a test may reserve without writing it: all but a tenth of the file system, of 1 to 8 GiB, which
    /// stays free for the user's programs.
    #[must_use]
    pub fn reservable(&self) -> Bytes {
        self.free.saturating_sub(self.kept())
    }

    /// What a test that reserves leaves free: a tenth of the file system, 1 GiB at least and 8 GiB at most.
    #[must_use]
    pub fn kept(&self) -> Bytes {
        Bytes(self.size.get() / SHARE_PARTS).clamp(KEPT_MIN, KEPT_MAX)
    }
}

/// How large the test file may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Its size.
    pub size: Bytes,
    /// Whether that is less than was asked for.
    pub is_reduced: bool,
    /// What was free on the file system.
    pub free: Bytes,
}

/// Decides on the size where `free` is free in `directory`.
pub(super) fn allow(
    directory: &Path,
    free: Bytes,
    wanted: Option<Bytes>,
    requested_by_user: bool,
) -> Result<Allowance, ScratchError> {
    if wanted == Some(Bytes::ZERO) {
        return Err(ScratchError::ZeroSize);
    }
    let most = if requested_by_user {
        most_by_name(free)
    } else {
        let tenth = Bytes(free.get() / SHARE_PARTS);
        if free >= ROOMY { tenth.max(CLASS_RANGE) } else { tenth }
    };
    if let Some(wanted) = wanted
        && wanted <= most
    {
        return Ok(Allowance { size: wanted, is_reduced: false, free });
    }
    let least = wanted.map_or(SIZE_MIN, |wanted| wanted.min(SIZE_MIN));
    if most < least {
        let needed = needed(least, requested_by_user);
        return Err(ScratchError::TooLittleSpace { path: directory.to_owned(), free, needed });
    }
    Ok(Allowance { size: most.round_down_to(STEP).max(least), is_reduced: wanted.is_some(), free })
}

/// How much of `free` may be taken where the user names the size.
pub(super) fn most_by_name(free: Bytes) -> Bytes {
    free.saturating_sub(margin(free))
}

fn margin(free: Bytes) -> Bytes {
    Bytes(free.get() / MARGIN_PARTS).max(MARGIN_MIN)
}

/// How much must be free for a file of `least`.
fn needed(least: Bytes, requested_by_user: bool) -> Bytes {
    if requested_by_user {
        // With little free the margin is its minimum.
        Bytes(least.get().saturating_add(MARGIN_MIN.get()))
    } else {
        Bytes(least.get().saturating_mul(SHARE_PARTS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed(free_mib: u64, wanted: Option<Bytes>, requested: bool) -> Result<Allowance, String> {
        allow(Path::new("here"), Bytes::mib(free_mib), wanted, requested)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn what_stays_free_is_a_tenth_within_bounds() {
        let kept = |size| Space { size, free: Bytes::ZERO }.kept();
        assert_eq!(kept(Bytes::gib(4)), Bytes::gib(1));
        assert_eq!(kept(Bytes::gib(40)), Bytes::gib(4));
        assert_eq!(kept(Bytes::gib(2048)), Bytes::gib(8));
    }

    #[test]
    fn what_is_taken_of_the_free_space() {
        let mib = |count| Some(Bytes::mib(count));
        // Free MiB, wanted, named by the user, then the size in MiB and whether it is reduced.
        let cases = [
            (10_000, mib(256), false, 256, false),
            (2_559, mib(256), false, 256, false),
            (1_024, mib(256), false, 256, false),
            (1_023, mib(256), false, 102, true),
            (1_843, mib(512), false, 256, true),
            (10_000, mib(2_000), false, 1_000, true),
            (160, mib(256), false, 16, true),
            (10_000, None, false, 1_000, false),
            (10_000, mib(9_000), true, 9_000, false),
            (10_000, mib(10_000), true, 9_687, true),
            (100, mib(1), true, 1, false),
            (20, mib(16), true, 16, false),
            (5, mib(1), true, 1, false),
        ];
        for (free, wanted, requested, size, is_reduced) in cases {
            let free_bytes = Bytes::mib(free);
            let expected = Allowance { size: Bytes::mib(size), is_reduced, free: free_bytes };
            assert_eq!(allowed(free, wanted, requested), Ok(expected), "{free} {wanted:?}");
        }
    }

    #[test]
    fn too_little_space_says_how_much_is_needed() {
        let error = allowed(159, Some(Bytes::mib(256)), false).unwrap_err();
        assert!(error.contains("160 MiB") && error.contains("159 MiB"), "{error}");
        assert!(error.contains("smaller --size"), "{error}");
        let error = allowed(19, Some(Bytes::mib(256)), true).unwrap_err();
        assert!(error.contains("20 MiB"), "{error}");
        assert!(allowed(0, None, false).is_err());
        let none_is_left = allowed(4, Some(Bytes(1)), true).unwrap_err();
        assert!(!none_is_left.contains("smaller"), "{none_is_left}");
    }

    #[test]
    fn reserving_leaves_a_tenth_and_at_least_a_gibibyte_free() {
        // Size and free space of the file system in MiB, then what may be reserved.
        let cases =
            [(30_720, 20_480, 17_408), (4_096, 3_072, 2_048), (4_096, 900, 0), (500, 400, 0)];
        for (size, free, expected) in cases {
            let space = Space { size: Bytes::mib(size), free: Bytes::mib(free) };
            assert_eq!(space.reservable(), Bytes::mib(expected), "{size} {free}");
        }
    }

    #[test]
    fn a_size_of_zero_is_no_size() {
        assert!(allowed(1000, Some(Bytes::ZERO), true).unwrap_err().contains("--size"));
    }

    proptest::proptest! {
        #[test]
        fn never_more_than_asked_for_nor_than_the_share(free: u64, wanted: u64, requested: bool) {
            let Ok(allowance) = allow(Path::new("."), Bytes(free), Some(Bytes(wanted)), requested)
            else { return Ok(()) };
            let size = allowance.size.get();
            proptest::prop_assert!(size > 0 && size <= wanted);
            proptest::prop_assert_eq!(allowance.is_reduced, size < wanted);
            let most = if requested { free - free / 32 } else { free / 10 };
            let is_class_range = !requested && free >= 1 << 30 && size <= 256 << 20;
            proptest::prop_assert!(size <= most || is_class_range);
        }

        #[test]
        fn what_is_said_to_be_needed_is_enough(wanted in 1..u64::MAX / 16, requested: bool) {
            let wanted = Bytes(wanted);
            let least = wanted.min(SIZE_MIN);
            let enough = needed(least, requested);
            let allowed = allow(Path::new("."), enough, Some(wanted), requested);
            proptest::prop_assert!(allowed.is_ok());
            let short = allow(Path::new("."), enough - Bytes(1), Some(wanted), requested);
            proptest::prop_assert!(short.is_err());
        }
    }
}
