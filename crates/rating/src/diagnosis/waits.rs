//! What programs were seen to wait for, beside what devices and pressure tell.
//!
//! A device that is busy in the background, while programs wait for a network drive, looks by its counters like one
//! that is waited for: the kernel's pressure is of the whole computer. Tasks in state `D` tell the two apart.

use cardproof_record::Limit;

use crate::limits::{Evidence, Limiting, Seen};

/// From this share of the tasks that wait for a network drive on, that is a cause of its own.
const NETWORK_MIN: f64 = 0.25;

/// How many tasks of programs waited in a window, by what for, added over its looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskWaits {
    /// For local storage.
    pub storage: u64,
    /// For a network drive.
    pub network: u64,
}

impl TaskWaits {
    /// What limits by `seen`, corrected by what tasks waited for.
    #[must_use]
    pub fn correct(self, mut seen: Seen) -> Seen {
        let all = self.storage + self.network;
        let limit = seen.limited_by.limit;
        let is_storage = limit.is_of_storage() || limit == Limit::BusCeiling;
        if (self.network as f64) < NETWORK_MIN * all as f64 || self.network == 0 {
            return seen;
        }
        let evidence = Evidence::WaitedForNetwork { network: self.network, all };
        if seen.limited_by.limit == Limit::Elsewhere {
            seen.limited_by.evidence.push(evidence);
            return seen;
        }
        if !is_storage {
            return seen;
        }
        let network = Limiting { limit: Limit::Elsewhere, device: None, evidence: vec![evidence] };
        if self.storage == 0 {
            return Seen { limited_by: network, beside: Vec::new(), is_asked: false };
        }
        seen.beside.push(network);
        seen
    }
}
