//! fio's sums of all jobs ("Run status group"), of which alone people often paste the lines.
//!
//! They tell a direction, its rate, amount and time, and below them the devices that were used; not what
//! the jobs did. So they count only where no job's own lines are there.

use cardproof_record::{OpName, PatternName};
use cardproof_units::{Bytes, Nanos};

use super::super::shared::{self as fio, Rates};
use super::amounts::{bytes_of, bytes_of_3, time_of};
use crate::ImportError;
use crate::draft::{Cache, PhaseDraft, Printed, RecordDraft};
use crate::lines::Line;
use crate::text::{Quantity, kernel_name, quantities};
use crate::view::Beginnings;

/// How the lines of both directions begin.
const DIRECTIONS: [(&str, OpName, &str); 2] =
    [("READ:", OpName::Read, "read bw"), ("WRITE:", OpName::Write, "write bw")];

/// Whether `text` is a sum of one direction.
pub(super) fn is_sign(text: &str) -> bool {
    const STARTS: Beginnings = Beginnings::new(&["READ:", "WRITE:"]);
    // The end of the line may be wrapped.
    let is_3 = || text.contains(" bw=") && text.contains("B/s-");
    let is_2 = || text.contains("io=") && text.contains("aggrb=");
    STARTS.begin(text) && (is_3() || is_2())
}

/// Adds what the `sums` tell, and the device that one of `lines` names.
pub(super) fn read(
    sums: &[&Line],
    lines: &[Line],
    draft: &mut RecordDraft,
) -> Result<(), ImportError> {
    for line in sums {
        draft.check_count()?;
        let text = line.shown();
        let Some(sum) = sum_of(text) else {
            let expected = "'READ: bw=NMiB/s (NMB/s), …, io=NMiB (NMB), run=N-Nmsec'";
            return Err(ImportError::unexpected(fio::TOOL, line.number, expected, text));
        };
        let rates =
            Rates { bytes_per_s: sum.bytes_per_s, bytes: sum.bytes as u64, ..Rates::default() };
        fio::check(line.number, &rates, sum.duration.as_secs_f64(), 0.002)?;
        let phase = PhaseDraft {
            bytes: Bytes(sum.bytes as u64),
            duration: sum.duration,
            cache: Cache::Unknown("fio's sums do not tell whether the page cache was in use"),
            ..PhaseDraft::new(sum.op, PatternName::Unknown)
        };
        draft.phases.push(phase.at(sum.bytes_per_s, sum.printed));
    }
    let mut devices = lines.iter().filter(|_| !sums.is_empty()).filter_map(device_of);
    draft.conditions.device.name = devices.next().filter(|_| devices.next().is_none());
    Ok(())
}

/// One direction's sum.
struct Sum {
    op: OpName,
    bytes_per_s: f64,
    bytes: f64,
    duration: Nanos,
    printed: Printed,
}

fn sum_of(text: &str) -> Option<Sum> {
    let (_, op, name) = DIRECTIONS.iter().find(|(name, ..)| text.starts_with(name))?;
    let after = |key: &str| Some(*quantities(text.split_once(key)?.1).first()?);
    let is_3 = text.contains(" bw=");
    let bytes: fn(&Quantity<'_>) -> Option<f64> = if is_3 { bytes_of_3 } else { bytes_of };
    let rate = if is_3 { after("bw=") } else { after("aggrb=") }?;
    let unit_bytes_per_s = bytes(&Quantity { unit: rate.unit.strip_suffix("/s")?, value: 1.0 })?;
    // `run=94080-94080msec` has its unit behind the second.
    let times = text.split_once(if is_3 { "run=" } else { "maxt=" });
    let duration = times.and_then(|(_, times)| time_of(quantities(times).last()?));
    Some(Sum {
        op: *op,
        bytes_per_s: rate.value * unit_bytes_per_s,
        bytes: after("io=").and_then(|amount| bytes(&amount)).unwrap_or(0.0),
        duration: duration.unwrap_or(Nanos::ZERO),
        printed: Printed::new(name, rate.value, rate.unit).in_bytes_per_s(unit_bytes_per_s),
    })
}

/// The device in `mmcblk0: ios=8180/204, merge=0/3, …`.
fn device_of(line: &Line) -> Option<String> {
    let (name, rest) = line.shown().split_once(": ")?;
    rest.starts_with("ios=").then(|| kernel_name(&format!("/dev/{name}"))).flatten()
}
