//! Thousands of hostile clients at once: liars, floods, bombs, inventors, slow and curious readers. The order stays near
//! the truth, memory stays bounded, and no honest client is refused.
//!
//! A short, seeded form; `cargo xtask prove hub-attack` asks for ten thousand by `CARDPROOF_HUB_ATTACKS`.

use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use serde_json::{Value, json};

use crate::common::client::{connect_from, request};
use crate::common::{Hub, TestData, document, prove, wished};
use crate::crashes::Draw;
use crate::hostile::peak;

on_both!(
    #[ignore = "hundreds of clients; nightly"]
    hostile_clients_change_nothing
);

/// Hostile clients without a wish.
const HOSTILE: u32 = 400;

/// The most memory that the hub may hold, in bytes.
const MEMORY_MAX: i64 = 256 << 20;

/// Honest submitters, what each sends, and how many lie beside them: three in ten of all.
const HONEST: u32 = 210;
const RECORDS: u32 = 5;
const LIARS: u32 = 90;

const CARDS: u64 = 24;
const BOARDS: [&str; 2] = ["Raspberry Pi 4 Model B Rev 1.4", "Raspberry Pi 5 Model B Rev 1.0"];

/// Threads on each side.
const THREADS: u32 = 8;

impl Draw {
    /// Near to normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.below(1_000_000) as f64 / 1e6).sum::<f64>() - 6.0
    }
}

/// The true rate of a card on a board.
fn truth(card: u64, board: usize) -> f64 {
    (5.0 + 0.12 * card as f64 + 0.3 * board as f64).exp()
}

/// A record of the card that measures `iops`.
fn record(card: u64, board: usize, iops: f64) -> Value {
    let mut sent = document(&format!("Card {card:02}"), iops);
    sent["record"]["conditions"]["host"]["board"] = json!(BOARDS[board]);
    sent
}

/// The address of the submitter `number`, each in a network of its own.
fn client(number: u32) -> String {
    format!("{}.{}.{}.9", 11 + number / 65_536, number / 256 % 256, number % 256)
}

fn send(hub: &Hub, from: &str, body: &[u8], more: &[(&str, &str)]) -> u16 {
    let headers =
        [&[("Content-Type", "application/json"), ("X-Forwarded-For", from)], more].concat();
    request(&hub.address, "POST", "/api/v1/submissions", &headers, body).status
}

/// What one submitter sends: the truth with its own error, or four times as much.
fn submit(hub: &Hub, seed: u64, number: u32, does_lie: bool) -> Vec<u16> {
    let mut draw = Draw(seed ^ (u64::from(number) << 20));
    let mut one = |_| {
        let (card, board) = (draw.below(CARDS), draw.below(2) as usize);
        let factor = if does_lie { 4.0 } else { 1.0 };
        let iops = truth(card, board) * factor * (0.12 * draw.normal()).exp();
        send(hub, &client(number), record(card, board, iops).to_string().as_bytes(), &[])
    };
    (0..RECORDS).map(&mut one).collect()
}

/// One hostile client, of a kind that its number decides.
fn attack(hub: &Hub, bomb: &[u8], number: u32) {
    let from = client(100_000 + number);
    match number % 8 {
        0 => (0..40).for_each(|_| _ = send(hub, &from, b"", &[])),
        1 => _ = send(hub, &from, bomb, &[("Content-Encoding", "gzip")]),
        2 => _ = send(hub, &from, &vec![b'['; 200_000], &[]),
        3 => {
            let mut invented = document(&format!("Buy {number} at evil.example"), 1e6);
            invented["record"]["conditions"]["host"]["board"] = json!(format!("Evil {number}"));
            (0..4).for_each(|_| _ = send(hub, &from, invented.to_string().as_bytes(), &[]));
        }
        4 => {
            for path in [
                "/?board=%27;DROP",
                "/search?q=%3Cscript%3E",
                "/models/..%2f..",
                "/r/x",
                "/data/runs/..%2fx",
            ] {
                let answer = request(&hub.address, "GET", path, &[("X-Forwarded-For", &from)], b"");
                assert!((200..500).contains(&answer.status), "{path}: {}", answer.status);
            }
        }
        5 => {
            // A slow one: begins, and goes when its turn is over.
            let source =
                std::net::Ipv4Addr::new(127, 1, (number / 200) as u8, (1 + number % 200) as u8);
            if let Ok(mut stream) = connect_from(source, &hub.address) {
                let _ =
                    stream.write_all(b"POST /api/v1/submissions HTTP/1.1\r\nHost: a\r\nContent-Le");
            }
        }
        6 => {
            let ranges = format!("bytes={}", vec!["0-1"; 500].join(","));
            drop(request(&hub.address, "GET", "/data/manifest.json", &[("Range", &ranges)], b""));
        }
        _ => {
            // The record of an honest one, again and again.
            let copied = record(3, 0, truth(3, 0)).to_string();
            (0..6).for_each(|_| _ = send(hub, &from, copied.as_bytes(), &[]));
        }
    }
}

/// Spearman's rank correlation of the order on `board` with the truth, and how many cards are in it.
fn correlation(hub: &Hub, board: usize) -> (f64, usize) {
    let name = ["Pi 4", "Pi 5"][board];
    let found = hub.get_json("/api/v1/ranking?use=system").json();
    let mut boards =
        found["boards"].as_array().unwrap().iter().map(|it| it["basis"].as_str().unwrap());
    let basis = boards.find(|it| it.contains(name)).unwrap().replace(' ', "+");
    let order = hub.get_json(&format!("/api/v1/ranking?use=system&board={basis}")).json();
    let cards: Vec<u64> = order["cards"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|it| it["name"].as_str()?.strip_prefix("Card ")?.get(..2)?.parse().ok())
        .collect();
    // A card with a higher number is quicker, so that it comes first.
    let mut expected = cards.clone();
    expected.sort_by(|a, b| b.cmp(a));
    let place = |card: &u64| expected.iter().position(|it| it == card).unwrap() as f64;
    let squares: f64 =
        cards.iter().enumerate().map(|(at, card)| (at as f64 - place(card)).powi(2)).sum();
    let count = cards.len() as f64;
    (1.0 - 6.0 * squares / (count * (count * count - 1.0)), cards.len())
}

fn hostile_clients_change_nothing(place: &TestData) {
    let hostile = wished("CARDPROOF_HUB_ATTACKS").map_or(HOSTILE, |it| it as u32);
    let seed = wished("CARDPROOF_TEST_SEED").unwrap_or(23);
    println!("seed {seed}, {hostile} hostile clients");
    let hub = place.start(&["--no-seed", "--behind-proxy", "--submitters-min", "3"]);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    packer.write_all(&vec![b' '; 64 << 20]).unwrap();
    let bomb = packer.finish().unwrap();
    let (next, next_honest) = (AtomicU32::new(0), AtomicU32::new(0));
    let refused = thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                while let Some(number) = below(&next, hostile) {
                    attack(&hub, &bomb, number);
                }
            });
        }
        let honest = || {
            let mut refused = 0;
            while let Some(number) = below(&next_honest, HONEST + LIARS) {
                let does_lie = number % 10 < 3;
                let statuses = submit(&hub, seed, number, does_lie);
                refused += statuses.iter().filter(|status| **status != 201 && !does_lie).count();
            }
            refused
        };
        let clients: Vec<_> = (0..THREADS).map(|_| scope.spawn(honest)).collect();
        clients.into_iter().map(|client| client.join().unwrap()).sum::<usize>()
    });
    assert_eq!(refused, 0, "an honest client was refused");
    for path in ["/", "/latest", "/models", "/hosts", "/search?q=evil"] {
        let page = hub.get(path);
        assert_eq!(page.status, 200, "{path}");
        assert!(!page.text().contains("evil.example") && !page.text().contains("Evil "), "{path}");
    }
    let found = [correlation(&hub, 0), correlation(&hub, 1)];
    let lowest = found[0].0.min(found[1].0);
    assert!(lowest >= 0.95 && found.iter().all(|it| it.1 >= 20), "{found:?}");
    let memory = peak(&hub);
    assert!(memory < MEMORY_MAX, "{} MiB", memory >> 20);
    prove(&format!(
        "| {hostile} hostile clients beside {HONEST} honest submitters and {LIARS} liars, {:?} | {refused} | {lowest:.3} | {} MiB |",
        place.on,
        memory >> 20
    ));
}

/// The next number below `end`; none after these.
fn below(next: &AtomicU32, end: u32) -> Option<u32> {
    Some(next.fetch_add(1, Ordering::Relaxed)).filter(|number| *number < end)
}
