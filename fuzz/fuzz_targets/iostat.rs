//! Any text as a log of iostat or of another monitor: it is read and explained or refused, nothing panics, and nothing
//! that is shown can steer a terminal.
#![no_main]

use cardproof_import::iostat::iostat;
use cardproof_import::monitors::{totals, writers};
use cardproof_rating::limits::explain_log;
use cardproof_units::Nanos;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let _ = totals(&text);
    for writer in writers(&text) {
        assert!(!writer.program.contains(char::is_control));
    }
    let log = match iostat(&text) {
        Ok(log) => log,
        Err(error) => {
            assert!(!error.to_string().contains(char::is_control));
            return;
        }
    };
    for interval in [None, Some(Nanos::from_secs(20))] {
        for explanation in explain_log(&log, interval) {
            assert!(explanation.reports > 0);
            assert!(
                !cardproof_rating::words::log::story(&explanation)
                    .concat()
                    .contains(char::is_control)
            );
        }
    }
});
