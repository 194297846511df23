//! A streaming replica of PostgreSQL takes over while submissions go on: the primary is killed, the replica is
//! promoted, and the hub finds it by itself.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use crate::common::postgres::Server;
use crate::common::{TestData, prove, skip, wished};
use crate::crashes::{Draw, Left, Load, OPTIONS};

const CLIENTS: usize = 4;

/// Failovers in the short form.
const FAILOVERS: u32 = 2;

/// Whether the primary waits for its replica before it says that something is durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Synchronous,
    Asynchronous,
}

impl Mode {
    const fn state(self) -> &'static str {
        match self {
            Self::Synchronous => "sync",
            Self::Asynchronous => "async",
        }
    }

    /// Waits until `replica` gets all that `primary` writes.
    fn begin(self, primary: &Server) {
        if self == Self::Synchronous {
            primary.wait_for("*");
        }
        for _ in 0..600 {
            if primary.replicas(self.state()) == 1 {
                return;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the replica did not follow within 30 s");
    }
}

/// Lets replicas take over; returns how many acknowledged submissions were lost.
fn fail_over(mode: Mode, name: &str) -> Option<usize> {
    let servers = Server::start(None).and_then(|first| Ok([first, Server::start(None)?]));
    let servers = match servers {
        Ok(servers) => servers,
        Err(reason) => {
            skip(&format!("replica::{name}"), &reason);
            return None;
        }
    };
    let count = wished("CARDPROOF_HUB_FAILOVERS").map_or(FAILOVERS, |it| it as u32);
    let seed = wished("CARDPROOF_TEST_SEED").unwrap_or(24);
    println!("seed {seed}, {count} failovers");
    let [mut primary, mut replica] = [&servers[0], &servers[1]];
    let mut place = TestData::on_server(primary);
    let own = place.url.take().unwrap();
    place.url = Some(format!("{own},{}", replica.same_database(&own)));
    replica.become_replica_of(primary);
    mode.begin(primary);
    let load = Load::default();
    let mut hub = place.start(&OPTIONS);
    *load.address.lock().unwrap() = hub.address.clone();
    let mut gaps = Vec::new();
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| load.submit());
        }
        let mut draw = Draw(seed);
        for _ in 0..count {
            load.go_on();
            thread::sleep(Duration::from_millis(draw.below(300)));
            primary.kill();
            let killed = Instant::now();
            replica.promote();
            // The only one that is left has nobody to wait for.
            replica.wait_for("");
            load.go_on();
            gaps.push(killed.elapsed().as_secs_f64());
            (primary, replica) = (replica, primary);
            replica.become_replica_of(primary);
            mode.begin(primary);
        }
        load.go_on();
        load.is_over.store(true, Ordering::Relaxed);
    });
    assert!(hub.stop().success(), "{}", hub.log());
    let (lost, doubled, returned) = Left::of(&place).faults(&load);
    assert!(doubled.is_empty(), "{doubled:?}");
    let lost: HashSet<u32> = lost.into_iter().chain(returned).collect();
    gaps.sort_by(f64::total_cmp);
    prove(&format!(
        "| {name} | {count} | {} | {} | {:.1} s | {:.1} s |",
        load.acknowledgements(),
        lost.len(),
        gaps[gaps.len() / 2],
        gaps[gaps.len() - 1]
    ));
    Some(lost.len())
}

#[test]
#[ignore = "fails over in real time; nightly"]
fn a_synchronous_replica_takes_over_and_nothing_is_lost() {
    if let Some(lost) = fail_over(Mode::Synchronous, "synchronous") {
        assert_eq!(lost, 0);
    }
}

#[test]
#[ignore = "fails over in real time; nightly"]
fn an_asynchronous_replica_takes_over() {
    // What is lost is shown, and none of it is doubled or half there.
    fail_over(Mode::Asynchronous, "asynchronous");
}
