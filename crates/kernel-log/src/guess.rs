//! What a log tells without the name of a device, given to the only device that it can be about.
//!
//! Without the computer nothing but the log says what a place or a layer is. Where one device had trouble, and the
//! kinds fit, messages of a place and of a layer that stand in the same log are most likely about it.

use super::log::{DeviceLog, KernelLog};
use super::name::{is_file, is_layer, may_be_at};
use super::trouble::{Trouble, TroubleKind};

impl KernelLog {
    /// The same with the messages of layers and of places given to the only device with trouble.
    pub(super) fn with_guesses(mut self) -> Self {
        for device in &mut self.devices {
            let is_file = device.device.as_deref().is_some_and(is_file);
            device.troubles.iter_mut().for_each(|it| it.is_indirect |= is_file);
        }
        self.give_layers();
        self.give_others();
        self
    }

    fn give_layers(&mut self) {
        let is_of_layer = |it: &DeviceLog| it.device.as_deref().is_some_and(is_layer);
        let mut troubled = (0..self.devices.len())
            .filter(|&at| !self.devices[at].troubles.is_empty() && !is_of_layer(&self.devices[at]));
        let (Some(only), None) = (troubled.next(), troubled.next()) else { return };
        let layers: Vec<DeviceLog> =
            self.devices.iter().filter(|it| is_of_layer(it)).cloned().collect();
        for layer in layers {
            let base = &mut self.devices[only];
            base.lines.extend(layer.lines);
            layer.troubles.into_iter().for_each(|it| base.add(it));
        }
        self.devices.retain(|it| !is_of_layer(it));
    }

    fn give_others(&mut self) {
        let mut troubled = self.devices.iter_mut().filter(|it| !it.troubles.is_empty());
        let (Some(only), None) = (troubled.next(), troubled.next()) else { return };
        let name = only.device.clone().unwrap_or_default();
        let fits = |it: &Trouble| it.place.as_deref().is_none_or(|place| may_be_at(place, &name));
        let is_own = |it: &Trouble| it.kind != TroubleKind::UnderVoltage && fits(it);
        for trouble in self.others.iter().filter(|it| is_own(it)) {
            let mut own = trouble.clone();
            own.place = None;
            only.add(own);
        }
        self.others.retain(|it| !is_own(it));
    }
}

#[cfg(test)]
mod tests {
    use crate::{TroubleKind, read, read_named};

    const ABORT: &str = "Aborting journal on device dm-0-8.\n";
    const CARD: &str = "I/O error, dev mmcblk0, sector 10 op 0x0:(READ)\n";
    const RESET: &str = "usb 2-1: reset SuperSpeed USB device number 2 using xhci_hcd\n";
    const SWAP: &str = "Read-error on swap-device (179:2:6312)\n";

    /// The devices with trouble and how many kinds of it each has, and how many are of none.
    fn told(text: &str) -> (Vec<(String, usize)>, usize) {
        let log = read((1..).zip(text.lines()));
        let named = log.devices.iter().map(|it| (it.device.clone().unwrap(), it.troubles.len()));
        (named.collect(), log.others.len())
    }

    #[test]
    fn what_names_no_device_is_of_the_only_one_that_fits() {
        let card = |kinds| vec![("mmcblk0".to_owned(), kinds)];
        assert_eq!(told(&format!("{CARD}{ABORT}")), (card(2), 0));
        assert_eq!(told(ABORT), (vec![("dm-0".to_owned(), 1)], 0));
        // A card is not at a USB port.
        assert_eq!(told(&format!("{CARD}{RESET}")), (card(1), 1));
        // The kernel gives cards the number 179.
        assert_eq!(told(&format!("{CARD}{SWAP}")), (card(1), 0));
        let disk = CARD.replace("mmcblk0", "sda");
        assert_eq!(told(&format!("{disk}{RESET}")), (vec![("sda".to_owned(), 2)], 0));
        assert_eq!(told(&format!("{disk}{SWAP}")), (vec![("sda".to_owned(), 1)], 1));
        assert_eq!(told(&format!("{disk}{CARD}{ABORT}")).0.len(), 3);
    }

    #[test]
    fn who_knows_the_computer_gets_what_the_log_names() {
        let text = format!("{CARD}{ABORT}{RESET}");
        let log = read_named((1..).zip(text.lines()));
        assert_eq!(log.devices.len(), 2);
        assert_eq!(log.others[0].place.as_deref(), Some("2-1"));
    }

    #[test]
    fn a_file_as_a_device_is_no_witness_against_its_disk() {
        let log = read((1..).zip(["I/O error, dev loop3, sector 128 op 0x0:(READ) flags 0x0"]));
        let found = &log.devices[0].troubles[0];
        assert_eq!((found.kind, found.is_indirect), (TroubleKind::Io, true));
    }

    #[test]
    fn a_controller_is_its_device() {
        let text = "nvme nvme0: controller is down; will reset: CSTS=0xffffffff, PCI_STATUS=0x10";
        let log = read_named([(1, text)]);
        let found = log.of("nvme0n1", None).unwrap();
        assert_eq!(found.troubles[0].kind, TroubleKind::DeviceTimeout);
        assert_eq!(log.of("nvme1n1", None), None);
    }
}
