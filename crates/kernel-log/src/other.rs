//! Messages about power, tasks that wait for storage, and the kernel's start.

use super::event::EventKind;
use super::name;
use crate::text::number_after;

/// The event in a message that is about no request.
pub(super) fn event(message: &str) -> Option<(Option<&str>, EventKind<'_>)> {
    if message.starts_with("Linux version ") && message.contains(" (") {
        return Some((None, EventKind::Boot));
    }
    if let Some(power) = power(message) {
        return Some((None, power));
    }
    let task = message.strip_prefix("INFO: task ")?;
    let (task, rest) = task.split_once(" blocked for more than ")?;
    let seconds = number_after(rest.get(..rest.find(" seconds")?)?, "").unwrap_or_default();
    // The journal's task has the device in its name, which is cut off: `jbd2/mmcblk0p2-:123`, `jbd2/dm-0-8:99`.
    let task = task.strip_prefix("jbd2/")?.split(':').next()?;
    let device = task.rsplit_once('-').map_or(task, |(device, _)| device);
    name::block(device)?;
    Some((Some(device), EventKind::TaskBlocked(seconds)))
}

/// What the kernel says of the board's supply.
fn power(message: &str) -> Option<EventKind<'static>> {
    let body = message.split_once(": ").map_or(message, |(subject, rest)| {
        let is_sensor = subject.starts_with("hwmon ") || subject.starts_with("rpi_");
        if is_sensor { rest } else { message }
    });
    if body.starts_with("Under-voltage detected!") || body.starts_with("Undervoltage detected!") {
        return Some(EventKind::UnderVoltage);
    }
    let is_normal =
        body.starts_with("Voltage normalised") || body.starts_with("voltage normalised");
    is_normal.then_some(EventKind::VoltageNormal)
}
