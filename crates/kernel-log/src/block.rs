//! Messages of the block layer, and of SCSI, USB, SATA and NVMe devices.

use cardproof_record::OpName;

use cardproof_units::Bytes;

use super::event::{Cause, EventKind};
use super::name;
use crate::text::{number_after, word_after};

/// The event in a message about a request, or of a driver of devices other than cards.
pub(super) fn event(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    failed_request(message)
        .or_else(|| swap(message))
        .or_else(|| failed_buffer(message))
        .or_else(|| scsi(message))
        .or_else(|| model(message))
        .or_else(|| capacity(message))
        .or_else(|| nvme(message))
        .or_else(|| usb_or_sata(message))
        .or_else(|| beyond_end(message))
        .or_else(|| layer(message))
}

/// What an array says of a member, and device mapper of wrong data: `md/raid1:md0: Disk failure on sda1, …`,
/// `device-mapper: crypt: dm-0: INTEGRITY AEAD ERROR, sector 12`.
fn layer(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let failed = |op| EventKind::IoError { op, sector: None, is_medium: false };
    if message.starts_with("md/raid") {
        let device = word_after(message, ": Disk failure on ")?;
        return name::block(device).map(|_| (Some(device), failed(OpName::Unknown)));
    }
    let (_target, rest) = message.strip_prefix("device-mapper: ")?.split_once(": ")?;
    let (device, rest) = rest.split_once(": ")?;
    let is_wrong = rest.starts_with("INTEGRITY AEAD ERROR")
        || rest.starts_with("data block ") && rest.ends_with(" is corrupted")
        || rest.starts_with("metadata block ") && rest.ends_with(" is corrupted")
        || rest.starts_with("Checksum failed at sector");
    let is_known = name::is_place(device) || name::block(device).is_some();
    (is_wrong && is_known).then_some((Some(device), failed(OpName::Read)))
}

/// `blk_update_request: I/O error, dev mmcblk0, sector 3767312 op 0x0:(READ) …` and its older and newer
/// forms.
fn failed_request(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let functions = ["blk_update_request: ", "end_request: ", "print_req_error: "];
    let body = functions.iter().find_map(|it| message.strip_prefix(it)).unwrap_or(message);
    let (what, _) = body.split_once(", dev ")?;
    let device = word_after(body, ", dev ")?;
    name::block(device)?;
    let is_medium = match what {
        "critical medium error" => true,
        // The pool of a thin volume is full, which is no fault of what it lies on.
        "critical space allocation error" => {
            return Some((Some(device), EventKind::Explains(Cause::NoSpace)));
        }
        // It was pulled out; where the kernel gave it up, it says that by itself.
        "device offline error" if device.starts_with("sd") => {
            return Some((Some(device), EventKind::Gone));
        }
        "I/O error"
        | "critical target error"
        | "timeout error"
        | "device offline error"
        | "protection error"
        | "recoverable transport error" => false,
        // Another computer has reserved the device ("nexus"), or it does not know the command.
        _ => return None,
    };
    let sector = number_after(body, "sector ");
    let op = match body.split_once(":(").map(|(_, op)| op.split(')').next().unwrap_or_default()) {
        Some("READ") => OpName::Read,
        Some("WRITE") => OpName::Write,
        // No data are lost where space cannot be given back; a device that does not know how says so.
        Some("DISCARD" | "SECURE_ERASE" | "WRITE_ZEROES") => {
            let is_unknown = what == "critical target error";
            let kind = EventKind::CommandError { error: 5, sector };
            return (!is_unknown).then_some((Some(device), kind));
        }
        _ => OpName::Unknown,
    };
    Some((Some(device), EventKind::IoError { op, sector, is_medium }))
}

/// `Buffer I/O error on dev mmcblk0p2, logical block 139265, lost sync page write`.
fn failed_buffer(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    if let Some(device) = word_after(message, "lost page write due to I/O error on ") {
        return name::block(device).map(|_| (Some(device), EventKind::WriteLost));
    }
    let rest = message.strip_prefix("Buffer I/O error on dev")?;
    let device = word_after(rest.trim_start_matches("ice"), " ")?;
    name::block(device)?;
    let kind = if rest.contains("lost") && rest.contains("write") {
        EventKind::WriteLost
    } else {
        let op = if rest.contains("read") { OpName::Read } else { OpName::Unknown };
        EventKind::IoError { op, sector: None, is_medium: false }
    };
    Some((Some(device), kind))
}

/// `Write-error on swap-device (179:2:12345)`, which has a device's number and a sector.
fn swap(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let (what, rest) = message.split_once("-error on swap-device (")?;
    let op = match what {
        "Read" => OpName::Read,
        "Write" => OpName::Write,
        _ => return None,
    };
    let (numbers, _) = rest.split_once(')')?;
    let (device, _) = numbers.rsplit_once(':')?;
    let kind = EventKind::IoError { op, sector: None, is_medium: false };
    name::is_place(device).then_some((Some(device), kind))
}

/// `sd 0:0:0:0: [sda] …`, `sd 0:0:0:0: Device offlined - not ready after error recovery`.
fn scsi(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let (address, rest) = message.strip_prefix("sd ")?.split_once(": ")?;
    if rest.starts_with("Device offlined") && name::is_place(address) {
        let kind = EventKind::IoError { op: OpName::Unknown, sector: None, is_medium: false };
        return Some((Some(address), kind));
    }
    let (device, rest) = rest.strip_prefix('[')?.split_once(']')?;
    name::block(device)?;
    let is_medium = rest.contains("Sense Key : Medium Error")
        || rest.contains("Sense Key : Hardware Error")
        || rest.contains("Unrecovered read error");
    if is_medium {
        let kind = EventKind::IoError { op: OpName::Unknown, sector: None, is_medium: true };
        return Some((Some(device), kind));
    }
    if let Some((blocks, rest)) = rest.trim_start().split_once(' ')
        && rest.contains("-byte logical blocks")
    {
        let size = blocks.parse::<u64>().ok()?.checked_mul(number_before_byte(rest)?)?;
        return Some((Some(device), EventKind::Disk { address, size_bytes: Bytes(size) }));
    }
    let is_gone = rest.contains("Synchronize Cache(10) failed: Result: hostbyte=DID_NO_CONNECT")
        || rest.contains("rejecting I/O to");
    let is_stuck = rest.contains("uas_eh_abort_handler") || rest.contains("uas_eh_device_reset");
    if is_stuck {
        return Some((Some(device), EventKind::DeviceTimeout));
    }
    is_gone.then_some((Some(device), EventKind::Gone))
}

/// `scsi 0:0:0:0: Direct-Access     SanDisk  Cruzer Blade     1.26 PQ: 0 ANSI: 5`.
fn model(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let (address, rest) = message.strip_prefix("scsi ")?.split_once(": ")?;
    let (model, _) = rest.strip_prefix("Direct-Access ")?.split_once(" PQ:")?;
    name::is_place(address).then_some((Some(address), EventKind::Model(model.trim())))
}

/// `loop0: detected capacity change from 0 to 20480`, of devices whose media are changed.
fn capacity(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let (device, rest) = message.split_once(": ")?;
    let sizes = rest.strip_prefix("detected capacity change from ")?;
    let (from, to) = sizes.split_once(" to ")?;
    let is_changed = name::is_file(device) || device.starts_with("sd");
    if !is_changed || name::whole_device(device) != Some(device) {
        return None;
    }
    let kind = EventKind::Capacity { from: from.parse().ok()?, to: to.trim().parse().ok()? };
    Some((Some(device), kind))
}

/// The size of a block in `512-byte logical blocks`.
fn number_before_byte(text: &str) -> Option<u64> {
    text.split_once("-byte")?.0.parse().ok()
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
    let is_known = device.starts_with("nvme") && name::block(device).is_some();
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
        let (port, rest) = rest.split_once(": ")?;
        if rest.starts_with("UAS is ignored for this device")
            || rest.starts_with("UAS is blacklisted for this device")
        {
            return Some((None, EventKind::UasOff));
        }
        let is_reset = rest.starts_with("reset ") && rest.contains(" USB device number ");
        let port = Some(port).filter(|port| name::is_place(port));
        return is_reset.then_some((port, EventKind::UsbReset));
    }
    let (subject, rest) = message.split_once(": ")?;
    // The number behind the point is of a device at the port.
    let port = subject.split('.').next().filter(|_| subject.starts_with("ata"))?;
    if !name::is_place(port) {
        return None;
    }
    if rest.starts_with("error: {") && rest.contains("UNC") {
        let kind = EventKind::IoError { op: OpName::Read, sector: None, is_medium: true };
        return Some((Some(port), kind));
    }
    let is_link = rest.starts_with("error: {") && rest.contains("ICRC")
        || rest.starts_with("limiting SATA link speed")
        || rest.starts_with("COMRESET failed");
    is_link.then_some((Some(port), EventKind::LinkError))
}

/// `sda1: rw=4096, sector=…, nr_sectors = 2 limit=…`, the line below "attempt to access beyond end of
/// device".
fn beyond_end(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    let (device, rest) = message.split_once(": ")?;
    name::block(device)?;
    let is_beyond = rest.starts_with("rw=") && rest.contains("limit=");
    is_beyond.then_some((Some(device), EventKind::BeyondEnd))
}
