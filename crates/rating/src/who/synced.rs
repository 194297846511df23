//! Who waits for writes to be kept: the small synced writes that slow a card down most, whatever few bytes they have.
//!
//! The kernel counts flushes for the device and for no program. A program that waits for its write to be kept can be
//! seen while it waits. Its share of such waits is its share of the flushes, as far as one flush lasts like another.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Watched, service};

/// How often a program was seen while it waited for its writes to be kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncWaits {
    /// The name of the program.
    pub program: String,
    /// The control group.
    pub group: String,
    /// In how many looks.
    pub seen: u64,
}

/// A program that waits for its writes to be kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Synced {
    /// The name of the program.
    pub program: String,
    /// The service that it is of.
    pub service: String,
    /// Its share of all such waits that were seen, 0 to 1.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub share: f64,
    /// The share of the time that it waited, 0 to 1, and more where several of its processes did.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub waiting: f64,
    /// About how many of the flushes a minute are its own.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.0)))]
    pub flushes_a_minute: f64,
}

/// Those of what was `watched`, the one that waits most first.
pub(super) fn synced(watched: &Watched) -> Vec<Synced> {
    let mut seen: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for waits in &watched.sync_waits {
        *seen.entry((&waits.program, service(&waits.group))).or_default() += waits.seen;
    }
    let all: u64 = seen.values().sum();
    let a_minute = watched.flushes as f64 / watched.seconds.max(1e-9) * 60.0;
    let synced = |((program, service), seen): ((&str, &str), u64)| {
        let share = seen as f64 / all.max(1) as f64;
        Synced {
            program: program.to_owned(),
            service: service.to_owned(),
            share,
            waiting: seen as f64 / watched.sync_looks.max(1) as f64,
            flushes_a_minute: share * a_minute,
        }
    };
    let mut all: Vec<Synced> = seen.into_iter().map(synced).collect();
    all.sort_by(|a, b| b.share.total_cmp(&a.share));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flushes_are_shared_by_the_waits_that_were_seen() {
        let of = |program: &str, group: &str, seen| SyncWaits {
            program: program.to_owned(),
            group: group.to_owned(),
            seen,
        };
        let watched = Watched {
            seconds: 30.0,
            flushes: 1000,
            sync_looks: 100,
            sync_waits: vec![
                of("postgres", "/system.slice/postgresql.service", 10),
                of("dd", "/a.scope", 40),
                of("dd", "/user.slice/a.scope", 50),
            ],
            ..Watched::default()
        };
        let found = synced(&watched);
        let names: Vec<&str> = found.iter().map(|it| it.program.as_str()).collect();
        assert_eq!(names, ["dd", "postgres"]);
        assert!((found[0].waiting - 0.9).abs() < 1e-9, "{found:?}");
        assert!((found[0].flushes_a_minute - 1800.0).abs() < 1e-6, "{found:?}");
    }
}
