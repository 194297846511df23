//! The `honesty` profile: are flushes answered before the data can be on the flash?
//!
//! It writes continuously, then in bursts with a flush after each and a rest between them. A cache
//! that a flush does not empty takes each burst as fast as the bus carries it, and empties itself during
//! the rest; storage that does what a flush asks cannot be faster in a burst than continuously.

use cardproof_io::Arrangement;
use cardproof_units::{Bytes, Iops, Nanos};

use crate::{Access, Ends, PhaseSpec, Profile, Role, TimeLimit, standard};

/// The sizes of the bursts, their number, and how many a second.
const BURSTS: [(&str, Bytes, u64, f64); 3] = [
    ("burst-64k-flush", Bytes::kib(64), 48, 8.0),
    ("burst-512k-flush", Bytes::kib(512), 24, 4.0),
    ("burst-4m-flush", Bytes::mib(4), 12, 1.0),
];

/// The profile.
pub(crate) fn profile() -> Profile {
    let bursts = BURSTS.map(|(name, size, count, a_second)| PhaseSpec {
        name: name.to_owned(),
        role: Role::Measure,
        block_size: size,
        queue_depth: 1,
        fsync_every: Some(1),
        flush_at_end: false,
        rate_limit: Some(Iops(a_second)),
        ends: Ends { time: TimeLimit::Share(18), ops: Some(count), ..Ends::SHARED },
        ..continuous()
    });
    Profile {
        name: "honesty".to_owned(),
        version: 1,
        purpose: "whether the storage reports data as safe (a flush as done) before it is".to_owned(),
        source: "cardproof's own".to_owned(),
        span: standard::SPAN,
        time_budget: Nanos::from_secs(60),
        phases: [continuous()].into_iter().chain(bursts).collect(),
        figures: Vec::new(),
        early_ends: Vec::new(),
        notes: vec![
            "If this test finds a sign that flushes are ignored, it is only a suspicion. Only power cuts can \
             show it: cardproof powercut write --help."
                .to_owned(),
        ],
    }
}

fn continuous() -> PhaseSpec {
    PhaseSpec {
        name: "sequential-write-1m".to_owned(),
        role: Role::LayOut,
        access: Access::Sequential,
        span: None,
        arrangement: Arrangement::default(),
        read_percent: 0,
        block_size: Bytes::mib(1),
        alignment_offset: Bytes::ZERO,
        queue_depth: 2,
        fsync_every: None,
        flush_at_end: true,
        rate_limit: None,
        ends: Ends { time: TimeLimit::Share(46), bytes: Some(standard::SPAN), ..Ends::SHARED },
    }
}
