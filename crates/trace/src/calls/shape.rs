//! What is in a trace of calls: how many of each kind, what they moved, how many files they touched.

use std::collections::HashSet;

use cardproof_units::{Bytes, Nanos};

use super::call::{Call, CallKind, OpenHow};

/// Calls of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindCount {
    /// What they do.
    pub kind: CallKind,
    /// How many.
    pub calls: u64,
    /// How many of them failed.
    pub failed: u64,
    /// What they moved together.
    pub bytes: Bytes,
    /// How long they took together, as far as is known.
    pub took: Nanos,
}

/// The figures of a trace of calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CallShape {
    /// The kinds that occur, the most frequent first.
    pub kinds: Vec<KindCount>,
    /// How many files are opened.
    pub opened: u64,
    /// How many are opened so that they are made where they are not there.
    pub created: u64,
    /// How many are written to.
    pub written: u64,
    /// How many processes and threads call.
    pub processes: u64,
}

impl CallShape {
    /// The figures of `calls`.
    #[must_use]
    pub fn of(calls: &[Call]) -> Self {
        let mut kinds = CallKind::ALL.map(|kind| KindCount {
            kind,
            calls: 0,
            failed: 0,
            bytes: Bytes::ZERO,
            took: Nanos::ZERO,
        });
        let [mut opened, mut created, mut written] = [(); 3].map(|()| HashSet::new());
        let mut processes = HashSet::new();
        for call in calls {
            processes.insert(call.process);
            if let Some(count) = kinds.iter_mut().find(|count| count.kind == call.kind) {
                count.add(call);
            }
            let Some(file) = call.file.filter(|_| !call.failed) else { continue };
            match call.kind {
                CallKind::Open => {
                    opened.insert(file);
                    if call.how.has(OpenHow::CREATES) {
                        created.insert(file);
                    }
                }
                CallKind::Write | CallKind::Copy => {
                    written.insert(file);
                }
                _ => {}
            }
        }
        let mut kinds: Vec<KindCount> = kinds.into_iter().filter(|count| count.calls > 0).collect();
        kinds.sort_by_key(|count| std::cmp::Reverse(count.calls));
        let [opened, created, written] = [opened, created, written].map(|set| set.len() as u64);
        Self { kinds, opened, created, written, processes: processes.len() as u64 }
    }

    /// How many calls of `kind` did what they should.
    #[must_use]
    pub fn done(&self, kind: CallKind) -> u64 {
        let count = self.kinds.iter().find(|count| count.kind == kind);
        count.map_or(0, |count| count.calls - count.failed)
    }
}

impl KindCount {
    fn add(&mut self, call: &Call) {
        self.calls += 1;
        self.took = self.took.saturating_add(call.took.unwrap_or_default());
        if call.failed {
            self.failed += 1;
        } else if self.kind.moves() {
            self.bytes = Bytes(self.bytes.get().saturating_add(call.length.get()));
        }
    }
}

impl CallKind {
    /// Whether its length is an amount of data.
    const fn moves(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Copy | Self::Map | Self::Allocate)
    }
}
