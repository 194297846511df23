//! Messages of the block layer, and of SCSI, USB, SATA and NVMe devices.

use cardproof_record::OpName;

use super::event::EventKind;
use super::whole_device;
use crate::text::{number_after, word_after};

/// The event in a message about a request, or of a driver of devices other than cards.
pub(super) fn event(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    failed_request(message)
        .or_else(|| swap(message))
        .or_else(|| failed_buffer(message))
        .or_else(|| scsi(message))
        .or_else(|| nvme(message))
        .or_else(|| usb_or_sata(message))
        .or_else(|| beyond_end(message))
}

/// `blk_update_request: I/O error, dev mmcblk0, sector 3767312 op 0x0:(READ) …` and its older and newer
/// forms.
fn failed_request(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let functions = ["blk_update_request: ", "end_request: ", "print_req_error: "];
    let body = functions.iter().find_map(|it| message.strip_prefix(it)).unwrap_or(message);
    let (what, _) = body.split_once(", dev ")?;
    let is_medium = match what {
        "critical medium error" => true,
        "I/O error"
        | "critical target error"
        | "timeout error"
        | "critical nexus error"
        | "critical space allocation error"
        | "device offline error"
        | "protection error"
        | "recoverable transport error"
        | "operation not supported error" => false,
        _ => return None,
    };
    if what == "operation not supported error" {
        // A discard that a device does not know.
        return None;
    }
    let device = word_after(body, ", dev ")?;
    whole_device(device)?;
    let op = match body.split_once(":(").map(|(_, op)| op.split(')').next().unwrap_or_default()) {
        Some("READ") => OpName::Read,
        Some("WRITE") => OpName::Write,
        _ => OpName::Unknown,
    };
    let sector = number_after(body, "sector ");
    Some((Some(device), EventKind::IoError { op, sector, is_medium }))
}

/// `Buffer I/O error on dev mmcblk0p2, logical block 139265, lost sync page write`.
fn failed_buffer(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    if let Some(device) = word_after(message, "lost page write due to I/O error on ") {
        return whole_device(device).map(|_| (Some(device), EventKind::WriteLost));
    }
    let rest = message.strip_prefix("Buffer I/O error on dev")?;
    let device = word_after(rest.trim_start_matches("ice"), " ")?;
    whole_device(device)?;
    let kind = if rest.contains("lost") && rest.contains("write") {
        EventKind::WriteLost
    } else {
        let op = if rest.contains("read") { OpName::Read } else { OpName::Unknown };
        EventKind::IoError { op, sector: None, is_medium: false }
    };
    Some((Some(device), kind))
}

/// `Write-error on swap-device (179:2:12345)`, whose device has no name in it.
fn swap(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let (what, rest) = message.split_once("-error on swap-device (")?;
    let op = match what {
        "Read" => OpName::Read,
        "Write" => OpName::Write,
        _ => return None,
    };
    rest.contains(')').then_some((None, EventKind::IoError { op, sector: None, is_medium: false }))
}

/// `sd 0:0:0:0: [sda] …`.
fn scsi(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let (_, rest) = message.strip_prefix("sd ")?.split_once(": [")?;
    let (device, rest) = rest.split_once(']')?;
    whole_device(device)?;
    let is_medium = rest.contains("Sense Key : Medium Error")
        || rest.contains("Sense Key : Hardware Error")
        || rest.contains("Unrecovered read error");
    if is_medium {
        let kind = EventKind::IoError { op: OpName::Unknown, sector: None, is_medium: true };
        return Some((Some(device), kind));
    }
    let is_gone = rest.contains("Device offlined")
        || rest.contains("Synchronize Cache(10) failed: Result: hostbyte=DID_NO_CONNECT")
        || rest.contains("rejecting I/O to");
    let is_stuck = rest.contains("uas_eh_abort_handler") || rest.contains("uas_eh_device_reset");
    if is_stuck {
        return Some((Some(device), EventKind::DeviceTimeout));
    }
    is_gone.then_some((Some(device), EventKind::Gone))
}

/// `nvme nvme0: I/O 128 QID 2 timeout, aborting`, `nvme0n1: I/O Cmd(0x2) …`.
fn nvme(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    if let Some(rest) = message.strip_prefix("nvme ") {
        let (device, rest) = rest.split_once(": ")?;
        let is_nvme = device
            .strip_prefix("nvme")
            .is_some_and(|it| it.starts_with(|c: char| c.is_ascii_digit()));
        if !is_nvme {
            return None;
        }
        if rest.contains("controller is down") || rest.contains("Device not ready; aborting reset")
        {
            return Some((Some(device), EventKind::DeviceTimeout));
        }
        if rest.starts_with("Removing after probe failure")
            || rest.contains("Disabling device after reset failure")
        {
            return Some((Some(device), EventKind::Gone));
        }
        let is_timeout = rest.starts_with("I/O ") && rest.contains(" timeout, ");
        return is_timeout.then_some((Some(device), EventKind::DeviceTimeout));
    }
    let (device, rest) = message.split_once(": ")?;
    let is_failed = rest.contains(" @ LBA ") && rest.contains("(sct 0x");
    let is_known = device.starts_with("nvme") && whole_device(device).is_some();
    // The status type 2 is that of media and data integrity (NVM Express).
    let is_medium = rest.contains("(sct 0x2 /");
    let op = match rest.split('(').next() {
        Some("Read") => OpName::Read,
        Some("Write") => OpName::Write,
        _ => OpName::Unknown,
    };
    let kind = EventKind::IoError { op, sector: None, is_medium };
    (is_failed && is_known).then_some((Some(device), kind))
}

/// `usb 2-1: reset SuperSpeed USB device …`, `ata1.00: failed command: READ DMA EXT`.
fn usb_or_sata(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    if let Some(rest) = message.strip_prefix("usb ") {
        let (_, rest) = rest.split_once(": ")?;
        if rest.starts_with("UAS is ignored for this device")
            || rest.starts_with("UAS is blacklisted for this device")
        {
            return Some((None, EventKind::UasOff));
        }
        let is_reset = rest.starts_with("reset ") && rest.contains(" USB device number ");
        return is_reset.then_some((None, EventKind::UsbReset));
    }
    let (subject, rest) = message.split_once(": ")?;
    let port = subject.strip_prefix("ata")?;
    if port.is_empty() || !port.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return None;
    }
    if rest.starts_with("error: {") && rest.contains("UNC") {
        let kind = EventKind::IoError { op: OpName::Read, sector: None, is_medium: true };
        return Some((None, kind));
    }
    let is_link = rest.starts_with("error: {") && rest.contains("ICRC")
        || rest.starts_with("limiting SATA link speed")
        || rest.starts_with("COMRESET failed");
    is_link.then_some((None, EventKind::LinkError))
}

/// `sda1: rw=4096, sector=…, nr_sectors = 2 limit=…`, the line below "attempt to access beyond end of
/// device".
fn beyond_end(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let (device, rest) = message.split_once(": ")?;
    whole_device(device)?;
    let is_beyond = rest.starts_with("rw=") && rest.contains("limit=");
    is_beyond.then_some((Some(device), EventKind::BeyondEnd))
}
