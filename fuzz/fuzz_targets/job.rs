//! Any text as a fio job file and as a profile of the user's own: nothing panics, and what is taken
//! can be run and ends.
#![no_main]

use cardproof_workload::{Profile, job, user_profile};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Ok(profile) = job::from_fio("fuzz", &text) {
        check(&profile);
    }
    if let Ok(profile) = user_profile::from_toml("fuzz", &text) {
        check(&profile);
    }
});

/// Every phase fits its span and has an end.
fn check(profile: &Profile) {
    assert!(!profile.phases.is_empty());
    for phase in &profile.phases {
        assert!(phase.blocks_in(phase.span_within(profile.span)).is_ok(), "{phase:?}");
    }
}
