//! The events of one device put together: which card it was, how its bus runs, and what went wrong, how
//! often, since when.
//!
//! A message of the host (`mmc0`) belongs to the card that the kernel found there. Where the log does not
//! say which block device that is, it is the one of the same number, as in every kernel since 4.6. Another
//! medium under the same name is another device.

use std::collections::{HashMap, HashSet};

use cardproof_units::Bytes;

use super::course::Course;
use super::event::{CardKind, Event, EventKind};
use super::medium::{Identity, Named};
use super::name::{self, is_layer, is_place, mmc_twin, nvme_twin};
use super::trouble::{Trouble, TroubleKind, add, first, trouble};

/// All that a log tells of storage and power.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelLog {
    /// The devices, in the order in which they appear.
    pub devices: Vec<DeviceLog>,
    /// What is of no device: the board's power, and messages that name none.
    pub others: Vec<Trouble>,
}

impl KernelLog {
    /// What the log tells of the device called `name`, such as `mmcblk0`, or in the slot `host`, such as
    /// `mmc0`; where several cards were in it, of the last one.
    #[must_use]
    pub fn of(&self, name: &str, host: Option<&str>) -> Option<&DeviceLog> {
        self.called(name, host).into_iter().max_by_key(|device| device.lines.last().copied())
    }

    /// The errors of what had the name `name` or was in the slot `host` before what is there now.
    #[must_use]
    pub fn errors_before(&self, name: &str, host: Option<&str>) -> Vec<Trouble> {
        let Some(now) = self.of(name, host) else { return Vec::new() };
        let before =
            self.called(name, host).into_iter().filter(|device| !std::ptr::eq(*device, now));
        let troubles = before.flat_map(|device| &device.troubles);
        troubles.filter(|it| it.kind.is_error()).cloned().collect()
    }

    /// All that had this name or was in this slot.
    fn called(&self, name: &str, host: Option<&str>) -> Vec<&DeviceLog> {
        let controller = nvme_twin(name);
        let is_it = |device: &&DeviceLog| {
            device.device.as_deref() == Some(name)
                || host.is_some() && device.host.as_deref() == host
                || controller.is_some() && device.device.is_none() && device.host == controller
        };
        self.devices.iter().filter(is_it).collect()
    }
}

/// What a log tells of one device.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceLog {
    /// The block device's name, such as `mmcblk0`.
    pub device: Option<String>,
    /// The card's host, such as `mmc0`, or a controller, such as `nvme0`.
    pub host: Option<String>,
    /// What the kernel found.
    pub card: CardSeen,
    /// What went wrong, in the order in which it began.
    pub troubles: Vec<Trouble>,
    /// Numbers of the lines that tell of it.
    pub lines: Vec<usize>,
    /// That it was taken out, or that the kernel gave it up. It is trouble only beside errors.
    pub(super) removal: Option<Trouble>,
    /// By what it is known when it is found again.
    pub(super) identity: Identity,
}

/// A card and its bus as the kernel reports them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CardSeen {
    /// The product's name.
    pub name: Option<String>,
    /// SD card or eMMC.
    pub kind: Option<CardKind>,
    /// The size, rounded by the kernel.
    pub size_bytes: Option<Bytes>,
    /// Whether the kernel mounts it read-only from the start.
    pub is_read_only: bool,
    /// The bus mode in the kernel's words, such as `UHS-I speed SDR104`.
    pub mode: Option<String>,
    /// The clock of the bus in Hz.
    pub clock_hz: Option<u64>,
    /// Data lines with which the card did not work: 8, 4.
    pub widths_failed: Vec<u8>,
    /// Whether the card's command queue is in use.
    pub queue: Option<bool>,
}

impl CardSeen {
    /// How many data lines are in use, where the messages about failed widths tell.
    #[must_use]
    pub fn width_bits(&self) -> Option<u8> {
        match self.widths_failed.iter().min()? {
            8 => None,
            _ => Some(1),
        }
    }
}

/// A log while it is read.
#[derive(Debug, Default)]
pub(super) struct Reading {
    pub(super) log: KernelLog,
    /// The place of each name among the devices.
    pub(super) places: HashMap<String, usize>,
    /// What is known of each device.
    courses: HashMap<usize, Course>,
    /// Names of what was taken out, until something is found in its place.
    removed: HashSet<String>,
    /// What the device at each address of SCSI calls itself.
    pub(super) models: HashMap<String, String>,
    /// The place of what was found last at each address of SCSI.
    pub(super) tenants: HashMap<String, usize>,
}

impl Reading {
    /// Adds what the line called `number` says.
    pub(super) fn add(&mut self, number: usize, event: &Event<'_>) {
        let Some(name) = event.device.filter(|name| !is_place(name)) else {
            return self.add_nameless(number, event);
        };
        let whole = name::block(name).unwrap_or(name);
        if event.kind.is_of_start() && self.removed.remove(whole) {
            // What is found in this slot may be another card. Until then all is said of the one that was there.
            self.places.remove(whole);
            if let EventKind::Card { host, .. } = event.kind
                && self.removed.remove(host)
            {
                self.places.remove(host);
            }
        }
        let place = self.place(name, event);
        let is_removal = matches!(event.kind, EventKind::Removed { .. });
        if is_removal {
            let gone = self.places.iter().filter(|(_, known)| **known == place);
            let gone = gone.flat_map(|(name, _)| [Some(name.clone()), mmc_twin(name)]);
            self.removed.extend(gone.flatten());
        }
        let is_removed = self.removed.contains(whole);
        let device = &mut self.log.devices[place];
        if is_removal {
            let found = first(TroubleKind::Gone, number, event, None);
            device.note_removal(found);
        }
        device.lines.push(number);
        device.card.learn(&event.kind);
        device.identity.learn(&event.kind);
        let course = self.courses.entry(place).or_default();
        if course.explains(&event.kind) {
            return;
        }
        course.follow(&event.kind);
        if let Some(kind) = trouble(&event.kind) {
            let is_part = is_layer(name) || name::block(name).is_some_and(|whole| whole != name);
            let mut found = first(kind, number, event, is_part.then_some(name));
            // An NVMe drive that disappears has failed; cards and sticks may have been pulled out.
            let is_pulled = (course.is_gone || is_removed) && !name.starts_with("nvme");
            found.is_after_gone = is_pulled && kind.is_of_data();
            device.add(found);
        }
    }

    /// What names no device.
    fn add_nameless(&mut self, number: usize, event: &Event<'_>) {
        if let (EventKind::Model(model), Some(address)) = (&event.kind, event.device) {
            let words: Vec<&str> = model.split_whitespace().collect();
            self.models.insert(address.to_owned(), words.join(" "));
        }
        let Some(kind) = trouble(&event.kind) else { return };
        let mut found = first(kind, number, event, None);
        found.place = event.device.map(str::to_owned);
        add(&mut self.log.others, found);
    }

    /// The place of the device called `name`, which is made where it is not known.
    fn place(&mut self, name: &str, event: &Event<'_>) -> usize {
        let whole = name::block(name).unwrap_or(name);
        match event.kind {
            EventKind::Disk { address, size_bytes } => {
                return self.place_of_disk(whole, address, size_bytes);
            }
            EventKind::Card { host, address, name, size_bytes, .. } => {
                return self.place_of_card(whole, host, &Named { address, name, size_bytes });
            }
            EventKind::Capacity { from, to } if to > 0 => {
                return self.place_of_capacity(whole, from, to);
            }
            _ => {}
        }
        if let Some(place) = self.places.get(whole) {
            return *place;
        }
        // Host and block device of one number are the same card, unless the log says otherwise.
        let twin = mmc_twin(whole).or_else(|| nvme_twin(whole));
        if let Some(place) = twin.and_then(|twin| self.places.get(&twin).copied()) {
            let device = &mut self.log.devices[place];
            let is_free = |known: &Option<String>| known.is_none();
            let is_block = name::block(whole).is_some();
            if is_block && is_free(&device.device) || !is_block && is_free(&device.host) {
                let known = if is_block { &mut device.device } else { &mut device.host };
                *known = Some(whole.to_owned());
                self.places.insert(whole.to_owned(), place);
                return place;
            }
        }
        let is_block = name::block(whole).is_some();
        let own = || Some(whole.to_owned());
        let device = DeviceLog {
            device: if is_block { own() } else { None },
            host: if is_block { None } else { own() },
            ..DeviceLog::default()
        };
        self.push(device, &[whole])
    }

    pub(super) fn push(&mut self, device: DeviceLog, names: &[&str]) -> usize {
        let place = self.log.devices.len();
        self.log.devices.push(device);
        for name in names {
            self.places.insert((*name).to_owned(), place);
        }
        place
    }

    /// The log, without radios.
    pub(super) fn finish(mut self) -> KernelLog {
        let is_storage = |it: &DeviceLog| {
            it.card.kind != Some(CardKind::Sdio) && (it.device.is_some() || it.host.is_some())
        };
        self.log.devices.retain(is_storage);
        self.log.devices.iter_mut().for_each(DeviceLog::tell_removal);
        self.log
    }
}

impl DeviceLog {
    /// A device of which nothing is known but its troubles.
    #[must_use]
    pub fn with_troubles(troubles: Vec<Trouble>) -> Self {
        Self { troubles, ..Self::default() }
    }

    /// Takes over what `later` tells of the same card.
    pub(super) fn absorb(&mut self, later: Self) {
        self.lines.extend(later.lines);
        self.card.mode = later.card.mode.or_else(|| self.card.mode.take());
        self.card.kind = later.card.kind.or(self.card.kind);
        self.card.clock_hz = later.card.clock_hz.or(self.card.clock_hz);
        self.card.queue = later.card.queue.or(self.card.queue);
        self.card.widths_failed = later.card.widths_failed;
        later.troubles.into_iter().for_each(|trouble| self.add(trouble));
        later.removal.into_iter().for_each(|removal| self.note_removal(removal));
    }

    fn note_removal(&mut self, removal: Trouble) {
        match &mut self.removal {
            Some(known) => known.absorb(removal),
            None => self.removal = Some(removal),
        }
    }

    /// Tells of its removal where it had errors as well: then its contacts or its power may have failed. A card
    /// that is only taken out has no trouble.
    fn tell_removal(&mut self) {
        let Some(removal) = self.removal.take() else { return };
        if self.troubles.iter().any(|it| it.kind.is_error()) {
            self.add(removal);
            self.troubles.sort_by_key(|it| it.line);
        }
    }

    /// Adds `trouble` to what is known of its kind.
    pub fn add(&mut self, trouble: Trouble) {
        add(&mut self.troubles, trouble);
    }
}

impl CardSeen {
    /// Takes over what a message tells of the card.
    fn learn(&mut self, event: &EventKind<'_>) {
        match event {
            EventKind::Card { name, size_bytes, is_read_only, .. } => {
                self.name = Some((*name).to_owned());
                self.size_bytes = Some(*size_bytes);
                self.is_read_only = *is_read_only;
            }
            EventKind::Disk { size_bytes, .. } => self.size_bytes = Some(*size_bytes),
            EventKind::Attached { mode, card } => {
                self.kind = Some(*card);
                self.mode = Some((*mode).to_owned());
            }
            EventKind::Clock(hz) => self.clock_hz = Some(*hz),
            EventKind::WidthFailed(bits) if !self.widths_failed.contains(bits) => {
                self.widths_failed.push(*bits);
            }
            EventKind::QueueOn => self.queue = Some(true),
            EventKind::QueueOff => self.queue = Some(false),
            _ => {}
        }
    }
}
