//! The hub is killed under load: no submission that was acknowledged is lost, and none is there twice.
//!
//! A short, seeded form; `CARDPROOF_HUB_KILLS=1000` runs a thousand moments.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::common::client::request;
use crate::common::{Place, document};

on_both!(a_killed_hub_loses_nothing_and_doubles_nothing);

/// Moments without a wish.
const KILLS: u32 = 8;

/// The pauses between two kills, in milliseconds, from a seed: a generator by Knuth is enough.
fn pause(state: &mut u64) -> Duration {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    Duration::from_millis(20 + (*state >> 33) % 200)
}

fn a_killed_hub_loses_nothing_and_doubles_nothing(place: &Place) {
    let kills =
        std::env::var("CARDPROOF_HUB_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(KILLS);
    let seed =
        std::env::var("CARDPROOF_TEST_SEED").ok().and_then(|it| it.parse().ok()).unwrap_or(23);
    println!("seed {seed}, {kills} kills");
    let address = Mutex::new(String::new());
    let acknowledged = Mutex::new(HashMap::<u32, String>::new());
    let (is_over, next) = (AtomicBool::new(false), AtomicU32::new(0));
    let mut hub = place.start(&["--no-seed", "--submissions-per-hour", "0"]);
    *address.lock().unwrap() = hub.address.clone();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    submit_until_acknowledged(number, &address, &acknowledged, &is_over);
                }
            });
        }
        let mut state = seed;
        for _ in 0..kills {
            // The seeded moment lies after something was acknowledged, however slow the machine is.
            let before = acknowledged.lock().unwrap().len();
            for _ in 0..3000 {
                if acknowledged.lock().unwrap().len() > before {
                    break;
                }
                thread::sleep(Duration::from_millis(10));
            }
            thread::sleep(pause(&mut state));
            hub.kill();
            hub = place.start(&["--no-seed", "--submissions-per-hour", "0"]);
            *address.lock().unwrap() = hub.address.clone();
        }
        thread::sleep(Duration::from_millis(200));
        is_over.store(true, Ordering::Relaxed);
    });
    let mut found = HashMap::<u32, Vec<String>>::new();
    for line in hub.dumped() {
        let model = line["document"]["record"]["conditions"]["device"]["model"].as_str().unwrap();
        let number = model.rsplit(' ').next().unwrap().parse().unwrap();
        found.entry(number).or_default().push(line["id"].as_str().unwrap().to_owned());
    }
    let acknowledged = acknowledged.into_inner().unwrap();
    let lost: Vec<&u32> =
        acknowledged.keys().filter(|number| !found.contains_key(number)).collect();
    let doubled: Vec<&u32> =
        found.iter().filter(|(_, ids)| ids.len() > 1).map(|(number, _)| number).collect();
    assert!(lost.is_empty() && doubled.is_empty(), "lost {lost:?}, doubled {doubled:?}");
    let is_same = |(number, id): (&u32, &String)| found[number] == [id.as_str()];
    assert!(acknowledged.iter().all(is_same), "an acknowledged address leads elsewhere");
    assert!(acknowledged.len() >= kills as usize, "{} acknowledged", acknowledged.len());
    println!("{kills} kills, {} acknowledged, 0 lost, 0 doubled", acknowledged.len());
}

/// Sends the submission `number` with its own key again and again, as `cardproof submit --queue` does.
fn submit_until_acknowledged(
    number: u32,
    address: &Mutex<String>,
    acknowledged: &Mutex<HashMap<u32, String>>,
    is_over: &AtomicBool,
) {
    let body = document(&format!("Load {number}"), 100.0).to_string();
    let key = format!("crash-test-{number:08}");
    let headers = [("Content-Type", "application/json"), ("Idempotency-Key", key.as_str())];
    while !is_over.load(Ordering::Relaxed) {
        let to = address.lock().unwrap().clone();
        let answer = request(&to, "POST", "/api/v1/submissions", &headers, body.as_bytes());
        if matches!(answer.status, 200 | 201)
            && let Ok(receipt) = serde_json::from_slice::<Value>(&answer.body)
        {
            acknowledged.lock().unwrap().insert(number, receipt["id"].as_str().unwrap().to_owned());
            return;
        }
        thread::sleep(Duration::from_millis(10));
    }
}
