//! Several cards at once: whose turn it is to time, and which of them fail at the moment.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How long to wait before looking again whether somebody stops the run.
const LOOK: Duration = Duration::from_millis(200);

/// The cards of a command and the buses that they share.
#[derive(Debug, Default)]
pub struct Hub {
    seats: Mutex<Vec<SeatState>>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SeatState {
    bus: Option<String>,
    hub: Option<String>,
    /// Its storage works for it at the moment.
    is_busy: bool,
    is_timing: bool,
    is_failing: bool,
}

/// One card's place.
#[derive(Debug)]
pub struct Seat {
    hub: Arc<Hub>,
    number: usize,
}

impl Hub {
    /// A seat for each of `targets`, by where it is plugged in.
    #[must_use]
    pub fn seats(targets: &[&Path]) -> Vec<Seat> {
        Self::with_wiring(targets.iter().map(|target| wiring(target)).collect())
    }

    /// A seat for each pair of bus and hub.
    pub(super) fn with_wiring(wirings: Vec<(Option<String>, Option<String>)>) -> Vec<Seat> {
        let count = wirings.len();
        let seats = wirings
            .into_iter()
            .map(|(bus, hub)| SeatState { bus, hub, ..SeatState::default() })
            .collect();
        let hub = Arc::new(Self { seats: Mutex::new(seats), changed: Condvar::new() });
        (0..count).map(|number| Seat { hub: Arc::clone(&hub), number }).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SeatState>> {
        self.seats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bus and the hub of the block device at `path`, as sysfs has them.
fn wiring(path: &Path) -> (Option<String>, Option<String>) {
    let Ok(real) = fs::canonicalize(path) else { return (None, None) };
    let Some(name) = real.file_name().and_then(|name| name.to_str()) else { return (None, None) };
    let Ok(device) = fs::canonicalize(format!("/sys/class/block/{name}")) else {
        return (None, None);
    };
    let parts: Vec<String> =
        device.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    of_parts(&parts)
}

/// A USB device's bus is `usbN`, its hub what stands before its own port; an MMC card's bus is its host.
fn of_parts(parts: &[String]) -> (Option<String>, Option<String>) {
    let is_bus = |part: &&String| {
        part.strip_prefix("usb").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
            || part.strip_prefix("mmc").is_some_and(|rest| {
                !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
            })
    };
    let bus = parts.iter().find(is_bus).cloned();
    let is_port = |part: &&String| {
        part.starts_with(|c: char| c.is_ascii_digit()) && part.contains('-') && !part.contains(':')
    };
    let ports: Vec<&String> = parts.iter().filter(is_port).collect();
    let hub = match ports.len() {
        0 | 1 => bus.clone(),
        count => ports.get(count - 2).map(|port| (*port).clone()),
    };
    (bus, hub)
}

impl Seat {
    /// Waits while another card of the bus times, unless `is_stopped`.
    pub(super) fn take_turn(&self, is_stopped: &dyn Fn() -> bool) {
        let mut seats = self.hub.lock();
        seats[self.number].is_busy = false;
        self.hub.changed.notify_all();
        while !is_stopped()
            && self.others_on_bus(&seats).iter().any(|&other| seats[other].is_timing)
        {
            seats = self.wait(seats);
        }
        seats[self.number].is_busy = true;
    }

    /// Waits until no other card of the bus works, and keeps them from it.
    pub(super) fn begin_timing(&self, is_stopped: &dyn Fn() -> bool) {
        let mut seats = self.hub.lock();
        seats[self.number].is_busy = false;
        self.hub.changed.notify_all();
        while !is_stopped()
            && self.others_on_bus(&seats).iter().any(|&other| seats[other].is_timing)
        {
            seats = self.wait(seats);
        }
        seats[self.number].is_timing = true;
        while !is_stopped() && self.others_on_bus(&seats).iter().any(|&other| seats[other].is_busy)
        {
            seats = self.wait(seats);
        }
        seats[self.number].is_busy = true;
    }

    pub(super) fn end_timing(&self) {
        self.hub.lock()[self.number].is_timing = false;
        self.hub.changed.notify_all();
    }

    pub(super) fn fails(&self, is_failing: bool) {
        self.hub.lock()[self.number].is_failing = is_failing;
    }

    /// Whether another card on the same hub fails at the moment.
    pub(super) fn others_fail(&self) -> bool {
        let seats = self.hub.lock();
        let own = &seats[self.number].hub;
        own.is_some()
            && seats
                .iter()
                .enumerate()
                .any(|(number, seat)| number != self.number && seat.hub == *own && seat.is_failing)
    }

    fn others_on_bus(&self, seats: &[SeatState]) -> BTreeSet<usize> {
        let own = &seats[self.number].bus;
        let is_other =
            |number: &usize| *number != self.number && own.is_some() && seats[*number].bus == *own;
        (0..seats.len()).filter(is_other).collect()
    }

    fn wait<'a>(&self, seats: MutexGuard<'a, Vec<SeatState>>) -> MutexGuard<'a, Vec<SeatState>> {
        let waited = self.hub.changed.wait_timeout(seats, LOOK);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A card that is done keeps nobody waiting.
impl Drop for Seat {
    fn drop(&mut self) {
        let mut seats = self.hub.lock();
        seats[self.number].is_busy = false;
        seats[self.number].is_timing = false;
        drop(seats);
        self.hub.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str) -> Vec<String> {
        path.split('/').map(str::to_owned).collect()
    }

    #[test]
    fn bus_and_hub_follow_from_sysfs() {
        let hub = "sys/devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2.3/1-2.3:1.0/host6/block/sdb";
        assert_eq!(of_parts(&parts(hub)), (Some("usb1".to_owned()), Some("1-2".to_owned())));
        let direct = "sys/devices/pci0000:00/0000:00:14.0/usb2/2-1/2-1:1.0/host7/block/sdc";
        assert_eq!(of_parts(&parts(direct)), (Some("usb2".to_owned()), Some("usb2".to_owned())));
        let slot = "sys/devices/platform/fe340000.mmc/mmc_host/mmc0/mmc0:aaaa/block/mmcblk0";
        assert_eq!(of_parts(&parts(slot)).0, Some("mmc0".to_owned()));
        assert_eq!(of_parts(&parts("sys/devices/virtual/block/loop0")), (None, None));
    }

    #[test]
    fn one_card_of_a_bus_times_at_a_time() {
        let bus = || (Some("usb1".to_owned()), Some("1-2".to_owned()));
        let seats = Hub::with_wiring(vec![bus(), bus(), (Some("usb2".to_owned()), None)]);
        seats[0].begin_timing(&|| false);
        assert!(seats[1].others_on_bus(&seats[1].hub.lock()).contains(&0));
        // The other bus has its own turn; on the same one a stop ends the waiting.
        seats[2].begin_timing(&|| false);
        seats[1].take_turn(&|| true);
        let timing: Vec<bool> = seats[0].hub.lock().iter().map(|seat| seat.is_timing).collect();
        assert_eq!(timing, [true, false, true]);
        seats[0].end_timing();
        seats[1].take_turn(&|| false);
    }

    #[test]
    fn a_failing_neighbour_is_one_on_the_same_hub() {
        let on = |hub: &str| (Some("usb1".to_owned()), Some(hub.to_owned()));
        let seats = Hub::with_wiring(vec![on("1-2"), on("1-2"), on("1-3")]);
        seats[2].fails(true);
        assert!(!seats[0].others_fail());
        seats[1].fails(true);
        assert!(seats[0].others_fail() && !seats[1].others_fail());
    }
}
