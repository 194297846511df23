//! What a test of the capacity says before the first write, and while it goes on.

use cardproof_probe::capacity::{Plan, Progress, Stage};
use cardproof_record::TargetKind;
use cardproof_units::{Bytes, Nanos};

use super::reading;
use crate::announcement::noun;
use crate::failure::Failure;
use crate::target::Storage;

/// A card that writes this many times slower than it reads is a slow one.
const SLOW_WRITES: u64 = 10;

/// As many times as much is written and read where what is overwritten is saved and put back: the test itself writes
/// and reads it once each.
const RESTORING_TIMES: u64 = 4;

/// Before a test that only reads.
pub(super) fn of_reading(place: &mut Storage, is_surface: bool) -> Result<Vec<String>, Failure> {
    let mut notes = vec!["This test only reads. It writes nothing.".to_owned()];
    if is_surface {
        let (size, time) = (place.span, reading::time_to_read(&mut *place.target)?);
        notes.push(format!("It reads all {size}, which takes about {time}."));
    }
    Ok(notes)
}

/// What a test that writes costs, as far as it is known before it begins.
pub(super) struct Cost {
    /// If writing is as fast as reading.
    pub(super) time: Nanos,
    /// What reading all of the device takes, where it is read at the end.
    pub(super) surface: Option<Nanos>,
    /// Whether what is overwritten is saved before and put back.
    pub(super) restores: bool,
}

/// Before a test that writes: how much is written and read, and how long that takes at least.
pub(super) fn of_writing(plan: &Plan, size: Bytes, kind: TargetKind, cost: &Cost) -> Vec<String> {
    let &Cost { time, surface, restores } = cost;
    let noun = noun(kind);
    let tested = plan.bytes_to_write();
    let share = 100.0 * tested.as_f64() / size.as_f64().max(1.0);
    let mut read = plan.bytes_to_read();
    if restores {
        read += restoring_reads(tested);
    }
    // As it is told at the end.
    let read = read.rounded();
    let map = if surface.is_some() {
        format!(", and then all {size} for the map")
    } else {
        String::new()
    };
    let after = surface.unwrap_or(Nanos::ZERO);
    let (plan, time) = if restores {
        // How long the journal takes is not known before it is written to.
        let plan = format!(
            "test {tested} ({share:.1} % of the {noun}): save it, overwrite it, and put it back. That writes {} to \
             the {noun} and reads {read}{map}. Estimated time: at least {}",
            tested + tested,
            (time * RESTORING_TIMES + after).in_whole_seconds()
        );
        (plan, String::new())
    } else {
        let plan = format!(
            "write {tested} ({share:.1} % of the {noun}) and read {read}{map}. Estimated time: "
        );
        (plan, between(time + after, time * SLOW_WRITES + after))
    };
    let mut notes = vec![format!(
        "Plan: {plan}{time}; after the first writes it is known better. On a fake, the search for its real \
         capacity writes more.",
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

/// What is read more where `tested` is put back: what is overwritten is read twice and saved, later read again, put
/// back, and read back.
pub(super) fn restoring_reads(tested: Bytes) -> Bytes {
    Bytes(4 * tested.get())
}

/// Such as `1.7 to 17 hours`: both in the unit that suits the longer one.
fn between(short: Nanos, long: Nanos) -> String {
    const MINUTE: f64 = 60.0;
    const HOUR: f64 = 3600.0;
    let (unit, name) = match long.as_secs_f64() {
        seconds if seconds < 2.0 * MINUTE => (1.0, "s"),
        seconds if seconds < 2.0 * HOUR => (MINUTE, "minutes"),
        _ => (HOUR, "hours"),
    };
    let [short, long] = [short, long].map(|time| {
        let count = time.as_secs_f64() / unit;
        let digits = usize::from(unit > 1.0 && count < 9.95);
        if unit > 1.0 { format!("{count:.digits$}") } else { format!("{:.0}", count.ceil()) }
    });
    if short == long { format!("{long} {name}") } else { format!("{short} to {long} {name}") }
}

/// Before a test in free space: what is reserved, written and left to others.
pub(super) fn of_free_space(written: Bytes, reserved: Bytes, kept: Bytes) -> String {
    format!(
        "Reserves {reserved} of free space, writes test blocks to {written} of it, reads them back, and frees it \
         again. Then it reads places outside the free space: on a fake, test blocks show up there too. {kept} stays \
         free for other programs. Your files are not changed; on a fake, any write can overwrite them."
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_of_an_estimate_are_in_one_unit() {
        let of = |seconds: u64| between(Nanos::from_secs(seconds), Nanos::from_secs(seconds * 10));
        assert_eq!(of(3), "3 to 30 s");
        assert_eq!(of(30), "0.5 to 5.0 minutes");
        assert_eq!(of(6270), "1.7 to 17 hours");
        assert_eq!(between(Nanos(1), Nanos(10)), "1 s");
    }
}
