//! What a test of the capacity says before the first write, and while it goes on.

use cardproof_probe::capacity::{Plan, Progress, Stage};
use cardproof_units::{Bytes, Nanos};

use super::reading;
use crate::failure::Failure;
use crate::target::Storage;

/// A card that writes this many times slower than it reads is a slow one.
const SLOW_WRITES: u64 = 10;

/// Before a test that only reads.
pub(super) fn of_reading(place: &mut Storage, is_surface: bool) -> Result<Vec<String>, Failure> {
    let mut notes = vec!["This test only reads. It writes nothing.".to_owned()];
    if is_surface {
        let (size, time) = (place.span, reading::time_to_read(&mut *place.target)?);
        notes.push(format!("It reads all {size}, which takes about {time}."));
    }
    Ok(notes)
}

/// Before a test that writes: how much is written and read, and how long that takes at least.
pub(super) fn of_writing(plan: &Plan, size: Bytes, time: Nanos, restores: bool) -> Vec<String> {
    let written = plan.bytes_to_write();
    let share = 100.0 * written.as_f64() / size.as_f64().max(1.0);
    let (time, twice) =
        if restores { (time * 2, ", after saving it, and restore it") } else { (time, "") };
    let mut notes = vec![format!(
        "Plan: write {written} ({share:.1} % of the device){twice} and read {}. Estimated time: {} \
         to {}; after the first writes it is known better. On a fake, the search for its real capacity writes more.",
        plan.bytes_to_read(),
        time.in_whole_seconds(),
        (time * SLOW_WRITES).in_whole_seconds()
    )];
    if restores {
        notes.push(
            "A fake cannot be restored in full: data beyond its real size was lost before the test, \
             and a write beyond it may overwrite good data. If addresses wrap around, the restore \
             order repairs that."
                .to_owned(),
        );
    }
    notes
}

/// Before a test in free space: what is reserved, written and left to others.
pub(super) fn of_free_space(written: Bytes, reserved: Bytes, kept: Bytes) -> String {
    format!(
        "Reserves {reserved} of free space, writes test blocks to {written} of it, reads them back, and frees \
         it again. {kept} stays free for other programs. Your files are not touched."
    )
}

/// What happens to the device between writing and reading.
pub(super) fn of_reconnecting() -> String {
    "After writing, the device is disconnected and connected again. Close what mounts devices by \
     itself, such as a file manager."
        .to_owned()
}

/// What the test is doing, in words.
pub(super) fn deed(progress: &Progress) -> String {
    let deed = match progress.stage {
        Stage::Writing => "writing test data",
        Stage::Reading => "reading back",
        Stage::Narrowing => "searching the real size",
    };
    match progress.left {
        Some(left) => format!("{deed}, {} left", left.in_whole_seconds()),
        None => deed.to_owned(),
    }
}
