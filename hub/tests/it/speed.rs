//! How long pages take on a hub with 100,000 records, at 100 requests a second.
//!
//! It is for a built program and an idle machine: `CARDPROOF_HUB_PROGRAM` names another program than the one of the tests.

use std::thread;
use std::time::{Duration, Instant};

use cardproof_hub::store::draft::Draft;
use cardproof_hub::store::keep::add;
use cardproof_hub::store::rows::Fresh;
use cardproof_hub::store::state::State;
use cardproof_submission::accept;
use serde_json::json;

use crate::common::{Hub, On, TestData, document, prove, wished};

const CARDS: usize = 300;
const BOARDS: usize = 12;
const SUBMITTERS: usize = 2_000;
const THREADS: u32 = 10;
const PER_S: u32 = 100;
const SECONDS: u32 = 20;

/// Keeps so many records of 300 cards on 12 boards.
fn fill(place: &TestData, records: usize) {
    let drafts: Vec<Draft> = (0..CARDS * BOARDS)
        .map(|at| {
            let (card, board) = (at % CARDS, at / CARDS);
            let mut sent = document(&format!("Card {card:03}"), 100.0 + (at * 7 % 900) as f64);
            sent["record"]["conditions"]["host"]["board"] = json!(format!("Board {board:02}"));
            Draft::of(&accept(sent.to_string().as_bytes()).unwrap(), None).unwrap()
        })
        .collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = place.open().await;
        for first in (0..records).step_by(6_400) {
            let rows = first..records.min(first + 6_400);
            let names: Vec<(String, String)> =
                rows.map(|at| (format!("r{at:06}"), format!("{:016x}", at % SUBMITTERS))).collect();
            let mut step = db.change().await.unwrap();
            let fresh: Vec<Fresh<'_>> = names
                .iter()
                .enumerate()
                .map(|(at, (id, submitter))| Fresh {
                    id,
                    created_ms: 1_790_000_000_000 + (first + at) as i64,
                    draft: &drafts[(first + at) % drafts.len()],
                    token_hash: "hash",
                    key_hash: None,
                    submitter: Some(submitter),
                    state: State::Public,
                })
                .collect();
            assert!(add(&mut step, &fresh).await.unwrap());
            step.commit().await.unwrap();
        }
        let mut step = db.write().await.unwrap();
        // Each is a document of its own.
        let other = "UPDATE submissions SET document_sha256 = lower(hex(randomblob(32)))";
        sqlx::query(other).execute(&mut *step).await.unwrap();
        step.commit().await.unwrap();
        db.close().await;
    });
}

/// The 99th percentile of the times for an answer, from the moment at which each was due.
fn p99(hub: &Hub, path: &str) -> Duration {
    let each = Duration::from_secs(1) * THREADS / PER_S;
    let start = Instant::now();
    let mut times: Vec<Duration> = thread::scope(|scope| {
        let client = |thread: u32| {
            let due = |at: u32| start + each * at + each * thread / THREADS;
            let ask = |at: u32| {
                thread::sleep(due(at).saturating_duration_since(Instant::now()));
                assert_eq!(hub.get(path).status, 200, "{path}");
                due(at).elapsed()
            };
            (0..SECONDS * PER_S / THREADS).map(ask).collect::<Vec<Duration>>()
        };
        let clients: Vec<_> = (0..THREADS).map(|at| scope.spawn(move || client(at))).collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    });
    times.sort_unstable();
    times[times.len() * 99 / 100]
}

#[test]
#[ignore = "needs a built program and an idle machine; two minutes"]
fn pages_answer_within_50_ms_on_sqlite() {
    let place = TestData::new(On::Sqlite).unwrap();
    let records = wished("CARDPROOF_HUB_RECORDS").map_or(100_000, |count| count as usize);
    fill(&place, records);
    let hub = place.start(&["--no-seed", "--no-dump", "--submitters-min", "3"]);
    let found = hub.get_json("/api/v1/search?q=card+007").json();
    let card = format!("/models/{}", found["models"][0]["model"].as_str().unwrap());
    let paths = ["/", &card, "/search?q=card+123", "/fakes", "/latest"];
    for path in paths {
        // The first one fits the order.
        hub.get(path);
        let time = p99(&hub, path);
        let path = if path == card { "a card" } else { path };
        prove(&format!(
            "| {path} | {records} records, {PER_S} a second | {:.1} ms |",
            time.as_secs_f64() * 1e3
        ));
    }
}
