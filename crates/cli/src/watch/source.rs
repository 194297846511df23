//! Where windows come from: the sampler, the clock, and what is known of each device's link.

use std::time::Instant;

use cardproof_device::live::{Counters, Sampler, active_devices, device_at};
use cardproof_device::{Sysroot, look_at_block_device};
use cardproof_rating::limits::limited_now;
use cardproof_record::{Activity, LimitedBy};
use cardproof_units::{Nanos, Throughput};

use crate::exit::Failure;

/// Devices that are no storage of their own: named, they are watched all the same.
const SELDOM_MEANT: [&str; 5] = ["loop", "ram", "zram", "sr", "fd"];

/// One window.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    /// When it ended, RFC 3339, in UTC.
    pub(crate) time: String,
    pub(crate) activity: Activity,
    pub(crate) limited_by: LimitedBy,
}

/// Takes one window after the other.
pub(crate) struct Source {
    root: Sysroot,
    devices: Vec<String>,
    /// Whether the user named the devices; else a card that is put in is watched as well.
    is_named: bool,
    ceilings: Vec<(String, Option<Throughput>)>,
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
        let mut sampler = Sampler::new(&root, &devices);
        let (start, last) = (Instant::now(), sampler.sample(Nanos::ZERO));
        let ceilings = ceilings(&devices);
        Ok(Self { root, devices, is_named, ceilings, sampler, last, start })
    }

    /// The window from the last call, or from the beginning, until now.
    pub(crate) fn take(&mut self) -> Sample {
        let now = self.sampler.sample(Nanos::from(self.start.elapsed()));
        let activity = now.since(&self.last);
        self.last = now;
        let ceiling = |name: &str| {
            self.ceilings.iter().find(|(device, _)| device == name).and_then(|(_, rate)| *rate)
        };
        let limited_by = limited_now(&activity, &ceiling);
        if !self.is_named {
            self.look_for_new_devices();
        }
        let time = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
        Sample { time, activity, limited_by }
    }

    fn look_for_new_devices(&mut self) {
        let devices = worth_watching(&self.root);
        if devices != self.devices {
            self.sampler = Sampler::new(&self.root, &devices);
            self.last = self.sampler.sample(Nanos::from(self.start.elapsed()));
            self.ceilings = ceilings(&devices);
            self.devices = devices;
        }
    }
}

/// The devices to watch when none is named: storage, or else whatever has been used.
fn worth_watching(root: &Sysroot) -> Vec<String> {
    let active = active_devices(root);
    let is_meant = |name: &&String| !SELDOM_MEANT.iter().any(|kind| name.starts_with(kind));
    let storage: Vec<String> = active.iter().filter(is_meant).cloned().collect();
    if storage.is_empty() { active } else { storage }
}

/// What the link of each device carries, where the kernel tells.
fn ceilings(devices: &[String]) -> Vec<(String, Option<Throughput>)> {
    let ceiling = |name: &String| {
        let path = std::path::Path::new("/dev").join(name.replace('!', "/"));
        let surroundings = look_at_block_device(&Sysroot::default(), &path).ok()?;
        surroundings.device.link_ceiling_bytes_per_s.map(|bytes| Throughput(bytes as f64))
    };
    devices.iter().map(|name| (name.clone(), ceiling(name))).collect()
}
