//! Any text as a table that somebody typed: nothing panics, every record has a phase, and every figure is a number
//! that is not negative.
#![no_main]

use cardproof_import::{ForeignTool, Origin, import};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    let origin = Origin { id: "fuzzed".to_owned(), read_at: "1970-01-01T00:00:00Z".to_owned() };
    let Ok(found) = import(&text, Some(ForeignTool::Table), &origin) else { return };
    for record in &found.records {
        assert!(!record.phases.is_empty());
        for figure in &record.figures {
            assert!(figure.value.is_finite() && figure.value >= 0.0, "{figure:?}");
        }
    }
});
