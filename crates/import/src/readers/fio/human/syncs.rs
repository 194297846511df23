//! How often a job of fio asked for its writes to be made durable, and how long that took.
//!
//! `issued rwts: total=0,36,0,36` counts reads, writes, trims and syncs, and
//! `sync (usec): min=135, max=60928, avg=26223.68` tells how long one took.

use crate::draft::{Printed, Sync};
use crate::text::{between, number, whole};

/// The syncs of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct Syncs {
    writes: u64,
    syncs: u64,
    figures: Vec<Printed>,
}

impl Syncs {
    /// Takes over what a line of the job's report says of syncs.
    pub(super) fn read(&mut self, text: &str) {
        if let Some(rest) = text.strip_prefix("issued rwts: total=") {
            let total = rest.split(' ').next().unwrap_or_default();
            let counts: Option<Vec<u64>> = total.split(',').map(whole).collect();
            if let Some([_, writes, _, syncs]) = counts.as_deref() {
                (self.writes, self.syncs) = (*writes, *syncs);
            }
        } else if text.starts_with("sync (") && self.figures.is_empty() {
            self.figures = latency(text).unwrap_or_default();
        }
    }

    /// After how many writes a sync came. One alone came at the end.
    pub(super) const fn sync(&self) -> Sync {
        match (self.writes, self.syncs) {
            (0, _) | (_, 0) => Sync::None,
            (2.., 1) => Sync::AtEnd,
            (writes, syncs) if writes > syncs => Sync::Every(writes.div_ceil(syncs)),
            _ => Sync::Every(1),
        }
    }

    /// How long a sync took, as printed.
    pub(super) fn figures(self) -> Vec<Printed> {
        self.figures
    }
}

/// The mean and the longest latency.
fn latency(text: &str) -> Option<Vec<Printed>> {
    let unit = between(text, "(", ")").filter(|unit| ["nsec", "usec", "msec"].contains(unit))?;
    let value = |name: &str| {
        let rest = text.split_once(name)?.1.trim_start();
        let rest = rest.split(',').next().unwrap_or(rest).trim();
        match rest.strip_suffix('k') {
            Some(thousands) => number(thousands).map(|it| it * 1000.0),
            None => number(rest),
        }
    };
    let (mean, max) = (value("avg=")?, value("max=")?);
    Some(vec![
        Printed::new("mean sync latency", mean, unit),
        Printed::new("longest sync latency", max, unit),
    ])
}
