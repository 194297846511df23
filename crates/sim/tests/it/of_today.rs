//! The cards of today: what a queue, a full cache and heat do to them.

use cardproof_io::{OpKind, Target};
use cardproof_sim::calibration::{Amount, Deep};
use cardproof_sim::{Keeping, SimulatedTarget, find};
use cardproof_units::{Bytes, Nanos, Seed};

fn open(name: &str) -> SimulatedTarget {
    let mut target = find(name).unwrap().build(Seed::from_bits(1), Keeping::Nothing).unwrap();
    let span = Bytes::mib(512);
    let fill = Deep { kind: OpKind::Write, is_random: false, block: Bytes::mib(1), depth: 4, span };
    fill.rate(&mut target, Amount::Of(span), Seed::from_bits(1)).unwrap();
    target
}

/// The rate in MB/s of `seconds` over 512 MiB.
fn rate(
    target: &mut SimulatedTarget,
    kind: OpKind,
    is_random: bool,
    block: Bytes,
    depth: u16,
    seconds: u64,
) -> f64 {
    let deep = Deep { kind, is_random, block, depth, span: Bytes::mib(512) };
    let amount = Amount::For(Nanos::from_secs(seconds));
    deep.rate(target, amount, Seed::from_bits(2)).unwrap().as_mb_per_s()
}

#[test]
fn a_queue_gains_where_published_and_only_with_requests_in_flight() {
    for (card, gain) in [
        ("amazon-basics-64gb", 0.9..1.1),
        ("sandisk-extreme-64gb", 2.5..2.9),
        ("samsung-pro-plus-128gb", 0.95..1.05),
        ("raspberry-pi-64gb", 1.0..1.1),
    ] {
        let [off, on] = ["off", "on"].map(|queue| format!("pi5-{card}-queue-{queue}"));
        let small_reads =
            |name: &str, depth| rate(&mut open(name), OpKind::Read, true, Bytes::kib(4), depth, 2);
        let deep = small_reads(&on, 64) / small_reads(&off, 64);
        assert!(gain.contains(&deep), "{card}: {deep}");
        let single = small_reads(&on, 1) / small_reads(&off, 1);
        assert!((0.99..1.01).contains(&single), "{card}, one at a time: {single}");
        let useless = small_reads(&off, 64) / small_reads(&off, 1);
        assert!((0.99..1.01).contains(&useless), "{card}, depth without a queue: {useless}");
    }
}

#[test]
#[ignore = "writes 80 GB to a simulated card; nightly"]
fn an_express_card_slows_down_when_its_cache_is_full() {
    let mut target = open("express-adata-premier-extreme-256gb");
    let written = |target: &mut _| rate(target, OpKind::Write, false, Bytes::mib(32), 32, 10);
    let fresh = written(&mut target);
    assert!((600.0..640.0).contains(&fresh), "{fresh}");
    for _ in 0..25 {
        written(&mut target);
    }
    let full = written(&mut target);
    assert!((275.0..300.0).contains(&full), "{full}");
}

#[test]
#[ignore = "reads a simulated card for 20 minutes; nightly"]
fn without_a_fan_reads_become_slower_at_the_limit_and_recover() {
    let reads =
        |target: &mut _, seconds| rate(target, OpKind::Read, false, Bytes::mib(32), 32, seconds);
    let mut cooled = open("express-lexar-play-pro-1tb");
    reads(&mut cooled, 400);
    let warm = cooled.temperature_millicelsius().unwrap();
    assert!((40_000..42_000).contains(&warm), "{warm}");
    let mut target = open("express-lexar-play-pro-1tb-no-fan");
    let cold = reads(&mut target, 60);
    reads(&mut target, 500);
    let hot = reads(&mut target, 60);
    assert!((0.65..0.75).contains(&(hot / cold)), "{hot} of {cold}");
    let limit = target.temperature_millicelsius().unwrap();
    assert!((80_400..81_200).contains(&limit), "{limit}");
    let mut nothing = Vec::new();
    let rested = target.now() + Nanos::from_secs(600);
    target.complete(cardproof_io::Wait::Until(rested), &mut nothing).unwrap();
    assert_eq!(target.now(), rested);
    let again = reads(&mut target, 60);
    assert!((0.99..1.01).contains(&(again / cold)), "{again} of {cold}");
}
