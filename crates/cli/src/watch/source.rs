//! Where windows come from: the sampler, the clock, and what is known of each device's link.

use std::time::Instant;

use cardproof_device::live::{Counters, Sampler, device_at, worth_watching};
use cardproof_device::{Sysroot, look_at_block_device};
use cardproof_rating::words::limits::limited_now;
use cardproof_record::{Activity, LimitedBy};
use cardproof_units::{Nanos, Throughput};

use crate::exit::Failure;

/// One window.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// When it ended, RFC 3339, in UTC.
    pub(crate) time: String,
    pub(crate) activity: Activity,
    pub(crate) limited_by: LimitedBy,
}

/// A device, and what is known of it beside its counters.
struct Link {
    device: String,
    /// The device itself, and what it rests on.
    layers: Vec<String>,
    /// What its link carries, where the kernel tells.
    ceiling: Option<Throughput>,
}

/// Takes one window after the other.
pub(crate) struct Source {
    root: Sysroot,
    devices: Vec<String>,
    /// Whether the user named the devices; else a card that is put in is watched as well.
    is_named: bool,
    /// A device that is watched whatever else is.
    always: Option<String>,
    links: Vec<Link>,
    sampler: Sampler,
    last: Counters,
    start: Instant,
}

impl Source {
    /// A source of the devices called `names`, or of all that have been used.
    pub(crate) fn new(names: &[String]) -> Result<Self, Failure> {
        let root = Sysroot::default();
        let named = names.iter().map(|name| device_at(&root, name)).collect::<Result<Vec<_>, _>>();
        let mut devices: Vec<String> = Vec::new();
        for device in named.map_err(Failure::usage)? {
            // A device named twice would count twice in every sum.
            if !devices.contains(&device) {
                devices.push(device);
            }
        }
        let is_named = !devices.is_empty();
        if !is_named {
            devices = worth_watching(&root);
        }
        Ok(Self::of(root, devices, is_named, None))
    }

    /// A source of all devices that have been used, and of `device` in any case.
    pub(crate) fn around(device: Option<&str>) -> Self {
        let root = Sysroot::default();
        let devices = with(worth_watching(&root), device);
        Self::of(root, devices, false, device.map(str::to_owned))
    }

    fn of(root: Sysroot, devices: Vec<String>, is_named: bool, always: Option<String>) -> Self {
        let mut sampler = Sampler::new(&root, &devices);
        let (start, last) = (Instant::now(), sampler.sample(Nanos::ZERO));
        let links = links(&devices);
        Self { root, devices, is_named, always, links, sampler, last, start }
    }

    /// The activity from the last call, or from the beginning, until the end of this one.
    pub(crate) fn activity(&mut self) -> Activity {
        let now = self.sampler.sample(Nanos::from(self.start.elapsed()));
        let activity = now.since(&self.last);
        self.last = now;
        if !self.is_named {
            self.look_for_new_devices();
        }
        activity
    }

    /// What the link of `device` carries, where that is known.
    pub(crate) fn ceiling(&self, device: &str) -> Option<Throughput> {
        self.links.iter().find(|link| link.device == device).and_then(|link| link.ceiling)
    }

    /// The watched devices that rest on `device`, itself included.
    pub(crate) fn resting_on(&self, device: &str) -> Vec<String> {
        let rests = |link: &&Link| link.layers.iter().any(|layer| layer == device);
        self.links.iter().filter(rests).map(|link| link.device.clone()).collect()
    }

    /// The window from the last call, or from the beginning, until now.
    pub(crate) fn take(&mut self) -> Sample {
        let activity = self.activity();
        let limited_by = limited_now(&activity, &|name| self.ceiling(name));
        let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        Sample { time, activity, limited_by }
    }

    fn look_for_new_devices(&mut self) {
        let devices = with(worth_watching(&self.root), self.always.as_deref());
        if devices != self.devices {
            self.sampler = Sampler::new(&self.root, &devices);
            self.last = self.sampler.sample(Nanos::from(self.start.elapsed()));
            self.links = links(&devices);
            self.devices = devices;
        }
    }
}

/// `devices`, and `device` if it is not among them.
fn with(mut devices: Vec<String>, device: Option<&str>) -> Vec<String> {
    let missing = device.filter(|device| devices.iter().all(|known| known != device));
    devices.extend(missing.map(str::to_owned));
    devices
}

/// What is known of each device beside its counters.
fn links(devices: &[String]) -> Vec<Link> {
    devices.iter().map(|device| Link::from_device(device)).collect()
}

impl Link {
    fn from_device(device: &str) -> Self {
        let path = std::path::Path::new("/dev").join(device.replace('!', "/"));
        let looked_at = look_at_block_device(&Sysroot::default(), &path).ok();
        let info = looked_at.map(|surroundings| surroundings.device).unwrap_or_default();
        let below = info.layers().filter_map(|layer| layer.name.clone());
        let mut layers = vec![device.to_owned()];
        layers.extend(below.filter(|name| name != device));
        let ceiling = info.link_ceiling_bytes_per_s.map(|bytes| Throughput(bytes as f64));
        Self { device: device.to_owned(), layers, ceiling }
    }
}
