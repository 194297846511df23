//! Signs of trouble in pasted messages of the kernel.
//!
//! Lines that somebody has chosen do not show that there was no other error, so a log without trouble is no sign
//! of health.

use cardproof_import::clean;
use cardproof_kernel_log::{CardKind, DeviceLog, Trouble, TroubleKind, unwrapped};
use cardproof_rating::signs::{Attachment, LogRead, Seen, Signs};

/// What the messages of a text say of storage.
pub(super) enum LogFindings {
    /// Nothing went wrong, or there are no messages.
    Nothing,
    /// Something went wrong with one storage, which may be named, or with the computer alone.
    OfOne(Box<Signs>, Option<String>),
    /// Something went wrong with several, which are named.
    OfSeveral(Vec<String>),
}

/// What the kernel's messages in `text` say.
pub(super) fn told(text: &str) -> LogFindings {
    // What a mail has put before each line is known only where that was taken off.
    let whole = joined(text);
    let lines = unwrapped(&clean(&whole).text);
    let log = cardproof_kernel_log::read(lines.iter().map(|(at, line)| (*at, line.as_str())));
    let faulty: Vec<&DeviceLog> =
        log.devices.iter().filter(|device| !device.troubles.is_empty()).collect();
    let device = match faulty.as_slice() {
        [] if log.others.is_empty() => return LogFindings::Nothing,
        [] => None,
        [only] => Some(*only),
        several => {
            return LogFindings::OfSeveral(several.iter().map(|device| name(device)).collect());
        }
    };
    let mut troubles = device.map(|device| device.troubles.clone()).unwrap_or_default();
    troubles.extend(log.others.iter().cloned());
    let attachment = attachment(device, &troubles);
    let seen = Seen { log: LogRead::Lines, troubles, attachment, ..Seen::default() };
    LogFindings::OfOne(Box::new(Signs::new(&seen)), device.map(name))
}

/// `text` with each message on one line.
fn joined(text: &str) -> String {
    let lines: Vec<String> = unwrapped(text).into_iter().map(|(_, line)| line).collect();
    lines.join("\n")
}

/// How the device is attached, by what the log calls it and by troubles that only one kind of link has.
fn attachment(device: Option<&DeviceLog>, troubles: &[Trouble]) -> Attachment {
    let has = |kind| troubles.iter().any(|it| it.kind == kind);
    let is_nvme = device.and_then(|it| it.device.as_ref()).is_some_and(|it| it.starts_with("nvme"));
    match device.and_then(|device| device.card.kind) {
        Some(CardKind::Sd) => Attachment::Slot,
        Some(CardKind::Mmc) => Attachment::Soldered,
        _ if is_nvme => Attachment::Drive,
        Some(CardKind::Sdio) | None if has(TroubleKind::Link) => Attachment::Cable,
        Some(CardKind::Sdio) | None if has(TroubleKind::UsbReset) => Attachment::Usb,
        Some(CardKind::Sdio) | None => Attachment::Unknown,
    }
}

/// What a device is called in the log.
fn name(device: &DeviceLog) -> String {
    let named = device.device.as_ref().or(device.host.as_ref());
    let named = named.cloned().unwrap_or_else(|| "a device without a name".to_owned());
    match device.card.name.as_deref() {
        Some(product) if !product.is_empty() => format!("{named} ({product})"),
        _ => named,
    }
}
