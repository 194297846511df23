//! Signs of trouble in pasted messages of the kernel.
//!
//! Lines that somebody has chosen do not show that there was no other error, so a log without trouble is no sign
//! of health.

use cardproof_import::clean;
use cardproof_kernel_log::{CardKind, DeviceLog};
use cardproof_rating::signs::{Attachment, LogRead, Seen, Signs};

/// What the messages of a text say of storage.
pub(super) enum LogFindings {
    /// Nothing went wrong, or there are no messages.
    Nothing,
    /// Something went wrong with one storage, or with the computer alone.
    OfOne(Box<Signs>),
    /// Something went wrong with several, which are named.
    OfSeveral(Vec<String>),
}

/// What the kernel's messages in `text` say.
pub(super) fn told(text: &str) -> LogFindings {
    let cleaned = clean(text).text;
    let log = cardproof_kernel_log::read((1..).zip(cleaned.lines()));
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
    let attachment = match device.and_then(|device| device.card.kind) {
        Some(CardKind::Sd) => Attachment::Slot,
        Some(CardKind::Mmc) => Attachment::Soldered,
        Some(CardKind::Sdio) | None => Attachment::Unknown,
    };
    let seen = Seen { log: LogRead::Lines, troubles, attachment, ..Seen::default() };
    LogFindings::OfOne(Box::new(Signs::new(&seen)))
}

/// What a device is called in the log.
fn name(device: &DeviceLog) -> String {
    let named = device.device.as_ref().or(device.host.as_ref());
    named.cloned().unwrap_or_else(|| "a device without a name".to_owned())
}
