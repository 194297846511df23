//! Hosts and ways of measuring with which enough submitters agree, over all records.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::{Entry, Records};
use crate::summary::Origin;

/// A kind of host, and what was measured on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    /// Its name in addresses.
    pub key: String,
    /// Its name in words.
    pub name: String,
    /// How many records.
    pub count: usize,
    /// Whether enough agree with its name.
    pub is_agreed: bool,
}

/// What enough agree with.
#[derive(Clone, Debug, Default)]
pub struct Agreed {
    /// All hosts, those with the most records first; not all of them are agreed with.
    pub hosts: Vec<Host>,
    /// Ways of measuring that are.
    pub bases: BTreeSet<String>,
}

/// Who speaks for a name.
#[derive(Default)]
struct Voices {
    submitters: HashSet<u64>,
    records: usize,
    is_approved: bool,
}

impl Voices {
    fn add(&mut self, record: &Entry) {
        self.submitters.insert(record.submitter);
        self.records += 1;
        self.is_approved |= record.is_approved || record.origin == Origin::Simulated;
    }

    fn is_agreed(&self, least: usize) -> bool {
        self.is_approved || self.submitters.len() >= least
    }
}

impl Agreed {
    /// What `least` submitters agree with in `records`.
    pub(super) fn of(records: &Records, least: usize) -> Self {
        let mut hosts = BTreeMap::<&str, (&str, Voices)>::new();
        let mut bases = BTreeMap::<&str, Voices>::new();
        for record in records.cards.values().flat_map(|card| &card.records) {
            let (_, voices) =
                hosts.entry(&record.host).or_insert_with(|| (&record.host_name, Voices::default()));
            voices.add(record);
            bases.entry(&record.basis).or_default().add(record);
        }
        let host = |(key, (name, voices)): (&str, (&str, Voices))| Host {
            key: key.to_owned(),
            name: name.to_owned(),
            count: voices.records,
            is_agreed: voices.is_agreed(least),
        };
        let mut hosts: Vec<Host> = hosts.into_iter().map(host).collect();
        hosts.sort_by(|a, b| b.count.cmp(&a.count).then(a.key.cmp(&b.key)));
        let agreed = bases.into_iter().filter(|(_, voices)| voices.is_agreed(least));
        Self { hosts, bases: agreed.map(|(basis, _)| basis.to_owned()).collect() }
    }
}
