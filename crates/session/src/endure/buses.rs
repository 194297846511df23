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
pub struct SharedBuses {
    cards: Mutex<Vec<CardState>>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct CardState {
    bus: Option<String>,
    hub: Option<String>,
    /// Its storage works for it at the moment.
    is_busy: bool,
    is_timing: bool,
    is_failing: bool,
}

/// A card on the bus that it shares.
#[derive(Debug)]
pub struct CardOnBus {
    buses: Arc<SharedBuses>,
    number: usize,
}

impl SharedBuses {
    /// The card at each of `targets`, by where it is plugged in.
    #[must_use]
    pub fn cards_of(targets: &[&Path]) -> Vec<CardOnBus> {
        Self::with_wiring(targets.iter().map(|target| wiring(target)).collect())
    }

    /// A card for each pair of bus and hub.
    pub(super) fn with_wiring(wirings: Vec<(Option<String>, Option<String>)>) -> Vec<CardOnBus> {
        let count = wirings.len();
        let cards = wirings
            .into_iter()
            .map(|(bus, hub)| CardState { bus, hub, ..CardState::default() })
            .collect();
        let buses = Arc::new(Self { cards: Mutex::new(cards), changed: Condvar::new() });
        (0..count).map(|number| CardOnBus { buses: Arc::clone(&buses), number }).collect()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<CardState>> {
        self.cards.lock().unwrap_or_else(PoisonError::into_inner)
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

impl CardOnBus {
    /// Waits while another card of the bus times, unless `is_stopped`.
    pub(super) fn take_turn(&self, is_stopped: &dyn Fn() -> bool) {
        let mut cards = self.wait_for_timing(is_stopped);
        cards[self.number].is_busy = true;
    }

    /// Waits until no other card of the bus works, and keeps them from it.
    pub(super) fn begin_timing(&self, is_stopped: &dyn Fn() -> bool) {
        let mut cards = self.wait_for_timing(is_stopped);
        cards[self.number].is_timing = true;
        while !is_stopped() && self.others_on_bus(&cards).iter().any(|&other| cards[other].is_busy)
        {
            cards = self.wait(cards);
        }
        cards[self.number].is_busy = true;
    }

    /// Leaves the bus alone until no other card of it times, unless `is_stopped`.
    fn wait_for_timing(&self, is_stopped: &dyn Fn() -> bool) -> MutexGuard<'_, Vec<CardState>> {
        let mut cards = self.buses.lock();
        cards[self.number].is_busy = false;
        self.buses.changed.notify_all();
        while !is_stopped()
            && self.others_on_bus(&cards).iter().any(|&other| cards[other].is_timing)
        {
            cards = self.wait(cards);
        }
        cards
    }

    pub(super) fn end_timing(&self) {
        self.buses.lock()[self.number].is_timing = false;
        self.buses.changed.notify_all();
    }

    pub(super) fn fails(&self, is_failing: bool) {
        self.buses.lock()[self.number].is_failing = is_failing;
    }

    /// Whether another card on the same hub fails at the moment.
    pub(super) fn others_fail(&self) -> bool {
        let cards = self.buses.lock();
        let own = &cards[self.number].hub;
        own.is_some()
            && cards
                .iter()
                .enumerate()
                .any(|(number, card)| number != self.number && card.hub == *own && card.is_failing)
    }

    fn others_on_bus(&self, cards: &[CardState]) -> BTreeSet<usize> {
        let own = &cards[self.number].bus;
        let is_other =
            |number: &usize| *number != self.number && own.is_some() && cards[*number].bus == *own;
        (0..cards.len()).filter(is_other).collect()
    }

    fn wait<'a>(&self, cards: MutexGuard<'a, Vec<CardState>>) -> MutexGuard<'a, Vec<CardState>> {
        let waited = self.buses.changed.wait_timeout(cards, LOOK);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// A card that is done keeps nobody waiting.
impl Drop for CardOnBus {
    fn drop(&mut self) {
        let mut cards = self.buses.lock();
        cards[self.number].is_busy = false;
        cards[self.number].is_timing = false;
        drop(cards);
        self.buses.changed.notify_all();
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
        let cards = SharedBuses::with_wiring(vec![bus(), bus(), (Some("usb2".to_owned()), None)]);
        cards[0].begin_timing(&|| false);
        assert!(cards[1].others_on_bus(&cards[1].buses.lock()).contains(&0));
        // The other bus has its own turn; on the same one a stop ends the waiting.
        cards[2].begin_timing(&|| false);
        cards[1].take_turn(&|| true);
        let timing: Vec<bool> = cards[0].buses.lock().iter().map(|card| card.is_timing).collect();
        assert_eq!(timing, [true, false, true]);
        cards[0].end_timing();
        cards[1].take_turn(&|| false);
    }

    #[test]
    fn a_failing_neighbour_is_one_on_the_same_hub() {
        let on = |hub: &str| (Some("usb1".to_owned()), Some(hub.to_owned()));
        let cards = SharedBuses::with_wiring(vec![on("1-2"), on("1-2"), on("1-3")]);
        cards[2].fails(true);
        assert!(!cards[0].others_fail());
        cards[1].fails(true);
        assert!(cards[0].others_fail() && !cards[1].others_fail());
    }
}
