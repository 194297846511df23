//! Any bytes as a submitted result: they are refused with a reason, or what is accepted is stable, small,
//! and steers neither a terminal nor a page.
#![no_main]

use cardproof_fuzz::changed;
use cardproof_submission::{LENGTH_MAX, accept, record_of};
use libfuzzer_sys::fuzz_target;

/// A record to begin with.
const RECORD: &str = include_str!("../../crates/record/tests/records/layered.json");

fuzz_target!(|data: &[u8]| {
    take(data);
    let document =
        format!(r#"{{"schema":"cardproof.submission/1","licence":"CC0-1.0","record":{RECORD}}}"#);
    take(changed(&document, data).as_bytes());
});

fn take(bytes: &[u8]) {
    match accept(bytes) {
        Ok(accepted) => {
            let text = accepted.document.to_string();
            assert!(text.len() <= 2 * LENGTH_MAX);
            let again = accept(text.as_bytes()).expect("what was accepted is accepted again");
            assert_eq!(again.document, accepted.document);
            let _ = record_of(&accepted.document, "20260101-000000-fuzzed");
        }
        Err(refusal) => assert!(!refusal.to_string().is_empty()),
    }
}
