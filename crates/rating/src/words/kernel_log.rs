//! The kernel's messages about storage in words: what happened, where, how often, since when.

use cardproof_record::{FindingKind, KernelFault, OpName};

use crate::wording::grouped;

use super::findings::counted;

/// A fault in a few words.
pub(crate) const fn in_short(fault: KernelFault) -> &'static str {
    match fault {
        KernelFault::NoAnswer | KernelFault::DeviceTimeout => "no answer in time",
        KernelFault::WrongChecksum => "data arrived damaged",
        KernelFault::CommandFailed => "commands failed",
        KernelFault::NotUsable => "a card could not be used",
        KernelFault::StuckBusy => "it remained busy",
        KernelFault::IoError => "requests failed for good",
        KernelFault::MediumError => "places cannot be read",
        KernelFault::WriteLost => "writes were lost",
        KernelFault::FilesystemError => "file system errors",
        KernelFault::ReadOnly => "it became read-only",
        KernelFault::NotUnmounted => "it was not unmounted",
        KernelFault::BeyondEnd => "smaller than its file system",
        KernelFault::NarrowBus => "the bus is narrow",
        KernelFault::SlowMode => "the bus is slow",
        KernelFault::QueueRecovery => "the command queue fails",
        KernelFault::UsbReset => "USB resets",
        KernelFault::LinkError => "errors on the link",
        KernelFault::Gone => "it went away in use",
        KernelFault::TaskBlocked => "programs waited for minutes",
        KernelFault::UnderVoltage => "the supply is too weak",
        KernelFault::WriteProtected => "it is write-protected",
        KernelFault::Unknown => "a fault not known here",
    }
}

/// What `messages` say of `device`, as a sentence without its full stop.
pub(crate) fn sentence(messages: &FindingKind, device: Option<&str>) -> String {
    let FindingKind::KernelMessages {
        fault,
        error,
        op,
        count,
        sectors,
        filesystem,
        partition,
        width_bits,
        clock_hz,
        seconds,
        first_at,
        last_at,
    } = messages
    else {
        return String::new();
    };
    let it = device.unwrap_or("the storage");
    let filesystem = filesystem.as_deref().unwrap_or("file system");
    let place = partition.as_deref().unwrap_or(it);
    let number = error.map_or_else(String::new, |error| format!(" (error -{error})"));
    let what = match fault {
        KernelFault::NoAnswer => format!("{it} did not answer in time{number}"),
        KernelFault::WrongChecksum => format!(
            "data from or to {it} arrived damaged{number}: the contacts, the power, the cable or the \
             clock of the bus, as a rule"
        ),
        KernelFault::CommandFailed => format!("commands to {it} failed{number}"),
        KernelFault::NotUsable => {
            format!("a card in {it} was found and could not be put to use{number}")
        }
        KernelFault::StuckBusy => format!("{it} remained busy and took no commands"),
        KernelFault::IoError => format!("{} {it} failed for good", requests(*op)),
        KernelFault::MediumError => {
            format!("{it} itself reports places that it cannot read or write")
        }
        KernelFault::WriteLost => format!("data that could not be written to {place} are lost"),
        KernelFault::FilesystemError => format!("{filesystem} on {place} met errors or wrong data"),
        KernelFault::ReadOnly => {
            format!("{filesystem} on {place} became read-only because of errors")
        }
        KernelFault::NotUnmounted => format!(
            "{filesystem} on {place} was not unmounted before: the power was cut, or the device pulled out"
        ),
        KernelFault::BeyondEnd => format!(
            "the file system on {it} is larger than {it}: an image was copied to a smaller device, or the \
             device is smaller than it claims"
        ),
        KernelFault::NarrowBus => narrow(it, *width_bits, *clock_hz),
        KernelFault::SlowMode => format!("a faster mode of the bus of {it} did not work"),
        KernelFault::QueueRecovery => format!(
            "the command queue of {it} stopped and was started again: the card's queue is faulty; turn it \
             off, on a Raspberry Pi with dtparam=sd_cqe=0"
        ),
        KernelFault::UsbReset => {
            "a USB device was reset: the power, the cable or the adapter, as a rule".to_owned()
        }
        KernelFault::LinkError => {
            "the link to a SATA device has errors: the cable, as a rule".to_owned()
        }
        KernelFault::DeviceTimeout => format!("{it} did not answer in time and was reset"),
        KernelFault::Gone => {
            format!(
                "{it} went away while it was in use: pulled out, or its contacts or its power failed"
            )
        }
        KernelFault::TaskBlocked => {
            format!("programs waited more than {} s for {it}", seconds.unwrap_or_default())
        }
        KernelFault::UnderVoltage => {
            "the board's supply fell below 4.63 V: use a stronger supply and a short cable"
                .to_owned()
        }
        KernelFault::WriteProtected => format!(
            "the card in {it} is write-protected: by the switch of its adapter or by its slot, or it has \
             locked itself, as worn-out cards do"
        ),
        KernelFault::Unknown => format!("a fault of {it} of a kind not known here"),
    };
    format!(
        "{what}{}; {}{}",
        at_sectors(sectors),
        counted(*count, "message", "messages"),
        when(first_at.as_deref(), last_at.as_deref())
    )
}

const fn requests(op: OpName) -> &'static str {
    match op {
        OpName::Read => "reads from",
        OpName::Write => "writes to",
        OpName::Mixed | OpName::Unknown => "requests to",
    }
}

/// A bus on which the card did not work with all lines.
fn narrow(it: &str, width_bits: Option<u8>, clock_hz: Option<u64>) -> String {
    let lines = match width_bits {
        Some(1) => "runs on 1 data line, because it did not work on more".to_owned(),
        Some(bits) => format!("runs on {bits} data lines, because it did not work on more"),
        None => "did not work on all data lines".to_owned(),
    };
    let limit = width_bits.zip(clock_hz).map(|(bits, hz)| {
        let rate_mb_per_s = hz as f64 * f64::from(bits) / 8e6;
        format!(", at {} MHz at most {rate_mb_per_s:.2} MB/s", hz / 1_000_000)
    });
    format!(
        "{it} {lines}{}: the board, its wiring or its device tree is the cause, not the storage",
        limit.unwrap_or_default()
    )
}

/// So many sectors are named.
const SECTORS_MAX: usize = 4;

fn at_sectors(sectors: &[u64]) -> String {
    let named: Vec<String> = sectors.iter().take(SECTORS_MAX).map(|it| grouped(*it)).collect();
    let more = if sectors.len() > SECTORS_MAX { ", …" } else { "" };
    match named.len() {
        0 => String::new(),
        1 => format!(" at sector {}", named[0]),
        _ => format!(" at sectors {}{more}", named.join(" and ")),
    }
}

/// When the first and the last message were written. Seconds count from the start.
fn when(first: Option<&str>, last: Option<&str>) -> String {
    let is_seconds = |time: &str| time.ends_with(" s");
    match (first, last) {
        (Some(first), Some(last)) if first != last => {
            let after = if is_seconds(last) { " after the start" } else { "" };
            format!(", from {} to {}{after}", time(first), time(last))
        }
        (Some(first), _) if is_seconds(first) => format!(", {} after the start", time(first)),
        (Some(first), _) => format!(", {first}"),
        (None, _) => String::new(),
    }
}

/// A time as it is stored; of an hour or more since the start in hours and minutes.
fn time(stored: &str) -> String {
    let seconds = stored.strip_suffix(" s").and_then(|seconds| seconds.parse::<f64>().ok());
    match seconds.map(|seconds| (seconds / 60.0) as u64) {
        Some(minutes) if minutes >= 60 => format!("{} h {} min", minutes / 60, minutes % 60),
        _ => stored.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(fault: KernelFault, error: Option<u16>, sectors: &[u64]) -> FindingKind {
        FindingKind::KernelMessages {
            fault,
            error,
            op: OpName::Unknown,
            count: 2,
            sectors: sectors.to_vec(),
            filesystem: Some("ext4".to_owned()),
            partition: Some("mmcblk0p2".to_owned()),
            width_bits: Some(1),
            clock_hz: Some(50_000_000),
            seconds: None,
            first_at: Some("303.2 s".to_owned()),
            last_at: Some("323.7 s".to_owned()),
        }
    }

    #[test]
    fn messages_tell_what_happened_where_and_since_when() {
        let told = |fault, error, sectors: &[u64]| {
            sentence(&messages(fault, error, sectors), Some("mmcblk0"))
        };
        assert_eq!(
            told(KernelFault::NoAnswer, Some(110), &[10_372_992, 8]),
            "mmcblk0 did not answer in time (error -110) at sectors 10,372,992 and 8; 2 messages, \
             from 303.2 s to 323.7 s after the start"
        );
        assert_eq!(when(Some("86211.2 s"), None), ", 23 h 56 min after the start");
        let read_only = told(KernelFault::ReadOnly, None, &[]);
        assert!(read_only.starts_with("ext4 on mmcblk0p2 became read-only"), "{read_only}");
        let narrow = told(KernelFault::NarrowBus, None, &[]);
        assert!(narrow.contains("1 data line") && narrow.contains("at most 6.25 MB/s"), "{narrow}");
    }
}
