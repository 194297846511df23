//! What the models are for: the effects that a probe has to find are there, and only there.

use crate::support::{lay_out, mean_latency, op, random_iops, run};
use cardproof_io::{OpKind, Slot, Target, Wait};
use cardproof_sim::model::{MapCache, Model, Noise, Writing};
use cardproof_sim::{Host, Keeping, SimulatedTarget, find};
use cardproof_units::{Bytes, Nanos, Seed};

const MIB: u64 = 1 << 20;

/// A card of the catalogue that keeps no bytes, with one slot.
fn card(name: &str) -> SimulatedTarget {
    with_slot(find(name).unwrap().build(Seed::from_bits(1), Keeping::Nothing).unwrap())
}

fn with_slot(mut target: SimulatedTarget) -> SimulatedTarget {
    target.prepare(1, Bytes::mib(16)).unwrap();
    target
}

/// The card's model without noise in `host`.
fn quiet(model: Model, host: &Host) -> SimulatedTarget {
    let model = Model { noise: Noise::NONE, ..model };
    with_slot(SimulatedTarget::new(&model, host, Seed::from_bits(1), Keeping::Nothing).unwrap())
}

#[test]
fn an_old_cards_random_writes_fall_with_the_span() {
    for name in ["intenso-class-4", "sandisk-ultra"] {
        let iops = [4, 16, 100, 1024].map(|mib| {
            let mut target = card(name);
            lay_out(&mut target, mib * MIB);
            random_iops(&mut target, OpKind::Write, 4096, mib * MIB, 8_000)
        });
        assert!(iops.is_sorted_by(|a, b| a > b), "{name}: {iops:?}");
        assert!(iops[0] > 4.0 * iops[2] || name == "sandisk-ultra", "{name}: {iops:?}");
        assert!(iops[2] > 2.0 * iops[3], "{name}: {iops:?}");
    }
}

#[test]
fn a_page_mapped_cards_random_writes_do_not_fall_within_the_reach_of_its_map() {
    let [small, large] = [100, 800].map(|mib| {
        let mut target = card("sandisk-ultra-a1");
        lay_out(&mut target, mib * MIB);
        random_iops(&mut target, OpKind::Write, 4096, mib * MIB, 8_000)
    });
    assert!((0.97..1.03).contains(&(small / large)), "{small} and {large}");
}

#[test]
fn reads_slow_down_beyond_the_reach_of_the_map() {
    let a1 = find("sandisk-ultra-a1").unwrap();
    let Writing::PageMap(page_map) = a1.model.write else { panic!("A1 cards map pages") };
    let reach =
        MapCache { reach: Bytes::mib(64), segment: Bytes::mib(1), miss: Nanos::from_micros(200) };
    let write =
        Writing::PageMap(cardproof_sim::model::PageMap { map_cache: Some(reach), ..page_map });
    let latency = |mib: u64| {
        let mut target = quiet(Model { write, ..a1.model }, &a1.host);
        lay_out(&mut target, mib * MIB);
        let place = |number: u64| (number.wrapping_mul(2_654_435_761) % (mib * 256)) * 4096;
        mean_latency(&mut target, OpKind::Read, 4096, 2_000, place);
        mean_latency(&mut target, OpKind::Read, 4096, 8_000, place)
    };
    let (within, beyond) = (latency(32), latency(512));
    let extra = beyond.saturating_sub(within);
    assert!((Nanos::from_micros(160)..Nanos::from_micros(200)).contains(&extra), "{extra}");
}

#[test]
fn writing_one_unit_too_many_in_turn_collapses() {
    for (name, open_units) in [("intenso-class-4", 4), ("sandisk-ultra", 5)] {
        let throughput = |units: u64| {
            let mut target = card(name);
            lay_out(&mut target, 64 * MIB);
            let length = 256 << 10;
            let place = |number: u64| (number % units) * 4 * MIB + number / units * length;
            let latency = mean_latency(&mut target, OpKind::Write, length, units * 12, place);
            length as f64 / latency.as_secs_f64()
        };
        let (within, beyond) = (throughput(open_units), throughput(open_units + 1));
        assert!(within > 6e6, "{name} with {open_units} units: {within}");
        assert!(within > 5.0 * beyond, "{name}: {within} falls to {beyond} only");
    }
}

#[test]
fn a_page_mapped_card_does_not_mind_how_many_units_are_written_in_turn() {
    let throughput = |units: u64| {
        let mut target = card("sandisk-extreme-a1");
        lay_out(&mut target, 64 * MIB);
        let length = 256 << 10;
        let place = |number: u64| (number % units) * 4 * MIB + number / units * length;
        let latency = mean_latency(&mut target, OpKind::Write, length, units * 12, place);
        length as f64 / latency.as_secs_f64()
    };
    let (few, many) = (throughput(2), throughput(8));
    assert!((0.95..1.05).contains(&(few / many)), "{few} and {many}");
}

#[test]
fn random_writes_collapse_at_16_kib_on_an_old_card_only() {
    let ratio = |name: &str| {
        let [smaller, larger] = [8, 16].map(|kib: u64| {
            let mut target = card(name);
            lay_out(&mut target, 100 * MIB);
            random_iops(&mut target, OpKind::Write, kib << 10, 100 * MIB, 400)
        });
        smaller / larger
    };
    assert!(ratio("intenso-class-4") > 5.0, "{}", ratio("intenso-class-4"));
    for name in ["sandisk-ultra-a1", "sandisk-extreme-a1"] {
        assert!(ratio(name) < 2.0, "{name}: {}", ratio(name));
    }
}

#[test]
fn a_full_slc_cache_is_a_cliff_in_time_and_heals_with_rest() {
    let mut target = card("v30-a2");
    let rates = |target: &mut SimulatedTarget, from: u64| -> Vec<f64> {
        (0..16)
            .map(|part| {
                let place = |number: u64| from + part * 128 * MIB + number * MIB;
                let latency = mean_latency(target, OpKind::Write, MIB, 128, place);
                MIB as f64 / latency.as_secs_f64() / 1e6
            })
            .collect()
    };
    let first = rates(&mut target, 0);
    assert!(first[..8].iter().all(|&rate| (60.0..80.0).contains(&rate)), "{first:?}");
    assert!(first[9..].iter().all(|&rate| (28.0..36.0).contains(&rate)), "{first:?}");
    let rested = target.now() + Nanos::from_secs(60);
    target.complete(Wait::Until(rested), &mut Vec::new()).unwrap();
    let second = rates(&mut target, 4096 * MIB);
    assert!(second[0] > 60.0 && second[15] < 36.0, "{second:?}");
}

#[test]
fn a_flush_costs_time_only_where_something_is_volatile() {
    let flush_after_write = |name: &str| {
        let mut target = card(name);
        run(&mut target, op(OpKind::Write, 0, 4096));
        run(&mut target, cardproof_io::Op::flush(Slot(0))).latency()
    };
    assert!(flush_after_write("v30-a2-queued") > Nanos::from_micros(400));
    for name in ["v30-a2", "sandisk-ultra-a1", "intenso-class-4", "samsung-emmc"] {
        assert_eq!(flush_after_write(name), Nanos::ZERO, "{name}");
    }
}

#[test]
fn a_volatile_cache_answers_writes_early() {
    let latency = |name: &str| {
        let mut target = card(name);
        run(&mut target, op(OpKind::Write, 0, 4096)).latency()
    };
    assert!(latency("v30-a2-queued") < Nanos::from_micros(200));
    assert!(latency("v30-a2") > Nanos::from_micros(600));
}

#[test]
fn a_volatile_cache_makes_no_card_faster_than_its_flash() {
    for (name, least) in [("v30-a2-queued", 70.0), ("v30-a2", 60.0)] {
        let mut target = card(name);
        let latency = mean_latency(&mut target, OpKind::Write, MIB, 512, |number| number * MIB);
        let rate = MIB as f64 / latency.as_secs_f64() / 1e6;
        assert!((least..80.5).contains(&rate), "{name}: {rate} MB/s on flash of 80");
    }
}

/// Random reads a second at `depth`.
fn iops_at_depth(name: &str, kind: OpKind, depth: u16) -> f64 {
    let mut target = card(name);
    lay_out(&mut target, 256 * MIB);
    target.prepare(depth, Bytes(4096)).unwrap();
    let mut free: Vec<Slot> = (0..depth).map(Slot).collect();
    let mut completions = Vec::new();
    let start = target.now();
    let (mut submitted, mut done) = (0_u64, 0);
    while done < 8_000 {
        while let Some(slot) = free.pop() {
            let offset = Bytes((submitted.wrapping_mul(2_654_435_761) % (256 * 256)) * 4096);
            let op = cardproof_io::Op { slot, kind, offset, length: Bytes(4096) };
            target.submit(op).unwrap();
            submitted += 1;
        }
        target.complete(Wait::One, &mut completions).unwrap();
        done += completions.len();
        free.extend(completions.drain(..).map(|completion| completion.slot));
    }
    done as f64 / (target.now() - start).as_secs_f64()
}

#[test]
fn depth_helps_only_where_card_and_host_queue_commands() {
    let gain = |name| iops_at_depth(name, OpKind::Read, 32) / iops_at_depth(name, OpKind::Read, 1);
    assert!(gain("v30-a2-queued") > 2.0, "{}", gain("v30-a2-queued"));
    for name in ["v30-a2", "sandisk-extreme-pro-a2", "sandisk-ultra-a1", "intenso-class-4"] {
        assert!((0.98..1.02).contains(&gain(name)), "{name}: {}", gain(name));
    }
}

#[test]
fn the_a2_card_meets_the_a2_limits_only_with_queue_and_cache() {
    let figures = |name| [OpKind::Read, OpKind::Write].map(|kind| iops_at_depth(name, kind, 32));
    let [reads, writes] = figures("v30-a2-queued");
    assert!(reads > 4000.0 && writes > 2000.0, "{reads} and {writes}");
    let [reads, writes] = figures("v30-a2");
    assert!((1500.0..4000.0).contains(&reads), "{reads}");
    assert!((500.0..2000.0).contains(&writes), "{writes}");
}

#[test]
fn the_bus_is_a_ceiling() {
    let mut target = card("v30-a2-pi3");
    lay_out(&mut target, 64 * MIB);
    let latency = mean_latency(&mut target, OpKind::Read, MIB, 64, |number| number * MIB);
    let rate = MIB as f64 / latency.as_secs_f64() / 1e6;
    assert!((21.0..23.0).contains(&rate), "{rate}");
}

#[test]
fn writes_off_the_page_grid_cost_more() {
    let a1 = find("sandisk-ultra-a1").unwrap();
    let latency = |shift: u64| {
        let mut target = quiet(a1.model, &a1.host);
        lay_out(&mut target, 64 * MIB);
        run(&mut target, op(OpKind::Write, 8 * MIB + shift, 8192)).latency()
    };
    assert!(latency(512) > latency(0) + Nanos::from_micros(500));
}

#[test]
fn never_written_areas_read_at_their_own_speed() {
    let a1 = find("sandisk-ultra-a1").unwrap();
    let mut target = quiet(a1.model, &a1.host);
    lay_out(&mut target, 64 * MIB);
    let latency = |target: &mut SimulatedTarget, offset| {
        run(target, op(OpKind::Read, offset, 4096)).latency()
    };
    latency(&mut target, 902 * MIB);
    let never_written = latency(&mut target, 900 * MIB);
    let written = latency(&mut target, 8 * MIB);
    assert_ne!(never_written, written);
    run(&mut target, op(OpKind::Discard, 8 * MIB, 4 * MIB));
    assert_eq!(latency(&mut target, 8 * MIB), never_written, "discarded, as if never written");
}

#[test]
fn small_writes_are_cheap_in_the_fat_zone() {
    let old = find("intenso-class-4").unwrap();
    let Writing::Hybrid(hybrid) = old.model.write else { panic!("it maps units") };
    let write = Writing::Hybrid(cardproof_sim::model::Hybrid { fat_zone: Bytes::mib(4), ..hybrid });
    let mut target = quiet(Model { write, ..old.model }, &old.host);
    lay_out(&mut target, 64 * MIB);
    let place = |number: u64| (number * 7 % 900) * 4096 + 4096;
    let inside = mean_latency(&mut target, OpKind::Write, 4096, 2000, place);
    let outside = mean_latency(&mut target, OpKind::Write, 4096, 2000, |n| 8 * MIB + place(n));
    assert!(inside * 2 < outside + inside / 2, "{inside} and {outside}");
}

#[test]
fn pauses_stand_out_of_the_latencies() {
    let mut target = card("usb-stick");
    lay_out(&mut target, 256 * MIB);
    let mut latencies: Vec<Nanos> = (0..4000_u64)
        .map(|number| {
            let offset = (number.wrapping_mul(2_654_435_761) % 65_536) * 4096;
            run(&mut target, op(OpKind::Write, offset, 4096)).latency()
        })
        .collect();
    latencies.sort_unstable();
    assert!(latencies[2000] < Nanos::from_millis(12), "{}", latencies[2000]);
    assert!(latencies[3999] > Nanos::from_millis(140), "{}", latencies[3999]);
}

#[test]
fn a_worn_out_card_turns_read_only() {
    let card = find("sandisk-ultra-a1").unwrap();
    let endurance = cardproof_sim::model::Endurance { cycles: 3, spare_units: 2 };
    let model = Model { capacity: Bytes::mib(64), endurance, ..card.model };
    let mut target = quiet(model, &card.host);
    let mut written = Bytes::ZERO;
    let fault = loop {
        let offset = written.get() % (64 * MIB);
        match run(&mut target, op(OpKind::Write, offset, MIB)).outcome {
            Ok(bytes) => written += bytes,
            Err(fault) => break fault,
        }
    };
    assert_eq!(fault, cardproof_io::Fault::WriteProtected);
    let units = written.get() / (4 * MIB);
    assert_eq!(units, 2 * 16 + 2 + 1, "two passes over 16 units, two spares, the last straw");
    assert!(run(&mut target, op(OpKind::Read, 0, MIB)).outcome.is_ok(), "it can still be read");
    let wear = target.wear();
    assert!(wear.worn_out && wear.spare_units_left == 0, "{wear:?}");
}

#[test]
fn reads_are_lost_as_often_as_the_model_says() {
    let card = find("sandisk-ultra-a1").unwrap();
    let read_errors = cardproof_sim::model::ReadErrors {
        retries_ppm: 0,
        retry: Nanos::ZERO,
        lost_ppb_new: 10_000_000,
        lost_ppb_worn: 10_000_000,
    };
    let mut target = quiet(Model { read_errors, ..card.model }, &card.host);
    let lost = (0..20_000_u64)
        .filter(|number| run(&mut target, op(OpKind::Read, number * 4096, 4096)).outcome.is_err())
        .count();
    assert!((150..250).contains(&lost), "{lost} of 20000 at one in a hundred");
}
