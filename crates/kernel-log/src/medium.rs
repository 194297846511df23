//! Which device of the log a message of a new medium is about: the one that was there before, or another.
//!
//! Errors count against a storage only where they are of the same medium. A name, a model or a size that differs
//! tells of another one. Where nothing differs it is taken for the same, for a failing card may leave its bus and
//! come back by itself. A file that is put behind a loop device is always another medium.

use cardproof_units::Bytes;

use super::event::EventKind;
use super::log::{DeviceLog, Reading};
use super::name::is_file;

/// By what a medium is known beside its name and size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Identity {
    /// The card's address at its host.
    address: Option<String>,
    /// What the disk calls itself.
    model: Option<String>,
    /// The size as the kernel prints it where it changes, in bytes or in sectors of 512 bytes.
    capacity: Option<u64>,
}

/// A card as the kernel names it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'t> {
    pub(super) address: &'t str,
    pub(super) name: &'t str,
    pub(super) size_bytes: Bytes,
}

impl Identity {
    /// Takes over what a message tells.
    pub(super) fn learn(&mut self, event: &EventKind<'_>) {
        match event {
            EventKind::Card { address, .. } | EventKind::Removed { address } => {
                self.address = Some((*address).to_owned());
            }
            EventKind::Capacity { from, to: 0 } => self.capacity = Some(*from),
            EventKind::Capacity { to, .. } => self.capacity = Some(*to),
            _ => {}
        }
    }
}

impl DeviceLog {
    /// Whether this may be the card that the kernel now names `card`. One of which only the address is known is the
    /// same where its address is.
    fn is_card(&self, whole: &str, host: &str, card: &Named<'_>) -> bool {
        match &self.card.name {
            Some(name) => {
                self.device.as_deref() == Some(whole)
                    && (name.as_str(), self.card.size_bytes) == (card.name, Some(card.size_bytes))
            }
            None => {
                let is_here = [(&self.device, whole), (&self.host, host)];
                is_here.iter().any(|(known, name)| known.as_deref() == Some(*name))
                    && self.identity.address.as_deref() == Some(card.address)
            }
        }
    }

    /// Whether nothing that is known tells this from a disk of this size and model.
    fn may_be_disk(&self, size: Bytes, model: Option<&str>) -> bool {
        let Identity { model: known, capacity, .. } = &self.identity;
        let is_named_alike =
            known.as_deref().zip(model).is_none_or(|(known, model)| known == model);
        let is_as_large = match (self.card.size_bytes, *capacity) {
            (Some(known), _) => known == size,
            (None, Some(capacity)) => is_same_size(size, capacity),
            (None, None) => true,
        };
        is_named_alike && is_as_large
    }

    /// Whether nothing that is known tells this from a medium of this size, in bytes or sectors.
    fn may_have_capacity(&self, size: u64) -> bool {
        match (self.card.size_bytes, self.identity.capacity) {
            (Some(known), _) => is_same_size(known, size),
            (None, Some(known)) => known == size,
            (None, None) => true,
        }
    }
}

/// Whether `printed`, in bytes or in sectors of 512 bytes, is `size`.
fn is_same_size(size: Bytes, printed: u64) -> bool {
    printed == size.get() || printed.checked_mul(512) == Some(size.get())
}

impl Reading {
    /// The place of a card that the kernel names: a known one, or another one in its slot.
    pub(super) fn place_of_card(&mut self, whole: &str, host: &str, card: &Named<'_>) -> usize {
        let known = [host, whole].iter().find_map(|it| self.places.get(*it)).copied();
        let is_open = |device: &DeviceLog| {
            device.card.name.is_none()
                && device.device.as_deref().is_none_or(|known| known == whole)
        };
        let earlier = self.log.devices.iter().rposition(|it| it.is_card(whole, host, card));
        let open = known.filter(|place| is_open(&self.log.devices[*place]));
        let place = match (earlier, open) {
            (Some(earlier), Some(open)) if earlier != open => {
                // The same card, put in again or found again after an error.
                let found = std::mem::take(&mut self.log.devices[open]);
                self.log.devices[earlier].absorb(found);
                earlier
            }
            (Some(place), _) | (None, Some(place)) => place,
            (None, None) => self.push(DeviceLog::default(), &[]),
        };
        // Where another card comes next, somebody has changed them.
        let others = self.log.devices.iter_mut().enumerate().filter(|(at, _)| *at != place);
        let before = others.filter(|(_, it)| it.host.as_deref() == Some(host));
        before.for_each(|(_, it)| it.removal = None);
        let device = &mut self.log.devices[place];
        (device.device, device.host) = (Some(whole.to_owned()), Some(host.to_owned()));
        for name in [whole, host] {
            self.places.insert(name.to_owned(), place);
        }
        place
    }

    /// The place of a disk of so many bytes: a known one, or another one that got its name.
    pub(super) fn place_of_disk(&mut self, whole: &str, address: &str, size: Bytes) -> usize {
        let model = self.models.get(address).cloned();
        let place = self.place_where(whole, |it| it.may_be_disk(size, model.as_deref()));
        let identity = &mut self.log.devices[place].identity;
        identity.model = model.or_else(|| identity.model.take());
        let tenant = self.tenants.insert(address.to_owned(), place);
        if let Some(before) = tenant.filter(|before| *before != place) {
            self.give_to(before, address);
        }
        place
    }

    /// The place of what has a new size: of a file always another one, where nothing was there before.
    pub(super) fn place_of_capacity(&mut self, whole: &str, from: u64, to: u64) -> usize {
        if !is_file(whole) {
            return self.place_where(whole, |it| it.may_have_capacity(to));
        }
        match self.places.get(whole) {
            Some(place) if from > 0 => *place,
            _ => self.push_named(whole),
        }
    }

    /// The place of the device called `whole` that `is_it`: the one that has the name, the latest that had it, or a new
    /// one.
    fn place_where(&mut self, whole: &str, is_it: impl Fn(&DeviceLog) -> bool) -> usize {
        let known = self.places.get(whole).copied().filter(|at| is_it(&self.log.devices[*at]));
        let had_name = |it: &DeviceLog| it.device.as_deref() == Some(whole) && is_it(it);
        let place = known.or_else(|| self.log.devices.iter().rposition(had_name));
        let Some(place) = place else { return self.push_named(whole) };
        self.places.insert(whole.to_owned(), place);
        place
    }

    fn push_named(&mut self, whole: &str) -> usize {
        self.push(DeviceLog { device: Some(whole.to_owned()), ..DeviceLog::default() }, &[whole])
    }

    /// Gives what was said of `address` to the device at `place`, which was there before another one.
    fn give_to(&mut self, place: usize, address: &str) {
        let is_of_it = |it: &crate::Trouble| it.place.as_deref() == Some(address);
        let (own, others) = std::mem::take(&mut self.log.others).into_iter().partition(is_of_it);
        self.log.others = others;
        for mut trouble in Vec::into_iter(own) {
            trouble.place = None;
            self.log.devices[place].add(trouble);
        }
    }
}
