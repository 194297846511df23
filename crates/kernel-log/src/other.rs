//! Messages about power, tasks that wait for storage, and the kernel's start.

use super::event::EventKind;
use super::whole_device;
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
    let (name, rest) = task.split_once(" blocked for more than ")?;
    let seconds = number_after(rest.get(..rest.find(" seconds")?)?, "").unwrap_or_default();
    // The journal's task has the device in its name: `jbd2/mmcblk0p2-:123`.
    let device = name.strip_prefix("jbd2/").and_then(|name| name.split('-').next());
    let device = device.filter(|device| whole_device(device).is_some())?;
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
