//! Limits: what one client does too much of counts against that client alone, and is written nowhere.

use std::fs;
use std::io::{Read, Write};
use std::net::Ipv4Addr;

use crate::common::client::{connect_from, request};
use crate::common::{Hub, On, TestData, document};

on_both!(
    one_client_is_held_to_its_limit,
    whom_the_proxy_does_not_name_is_held_too,
    who_asks_past_a_proxy_that_names_its_clients_is_no_fault,
    a_proxy_that_is_not_believed_is_told,
    refused_requests_of_one_client_lock_out_nobody,
    one_address_has_so_many_connections,
);

fn from(hub: &Hub, client: &str) -> u16 {
    hub.submit(&document("Any", 1.0), &[("X-Forwarded-For", client)]).status
}

fn one_client_is_held_to_its_limit(place: &TestData) {
    let hub = place.start(&["--no-seed", "--behind-proxy", "--submissions-per-hour", "3"]);
    let first: Vec<u16> = (0..4).map(|_| from(&hub, "203.0.113.1")).collect();
    assert_eq!(first, [201, 201, 201, 429]);
    let held = hub.submit(&document("Any", 1.0), &[("X-Forwarded-For", "203.0.113.1")]);
    assert!(held.status == 429 && held.head.contains("retry-after:"), "{}", held.head);
    assert_eq!(from(&hub, "198.51.100.1, 203.0.113.1"), 429, "only the proxy's own entry counts");
    assert_eq!(from(&hub, "203.0.113.2"), 201);
}

/// A proxy that names nobody stands for one client, and not for the hub's own machine, where it runs.
fn whom_the_proxy_does_not_name_is_held_too(place: &TestData) {
    let options = ["--no-seed", "--no-dump", "--behind-proxy", "--first-records", "2"];
    let hub = place.start(&[&options[..], &["--submissions-per-hour", "4"]].concat());
    let missing = |number: u32| hub.submit(&document(&format!("Any {number}"), 1.0), &[]);
    let waits: Vec<bool> = (0..3).map(|at| missing(at).json()["waits"] == true).collect();
    assert_eq!(waits, [false, false, true]);
    assert_eq!([from(&hub, "foo"), from(&hub, "foo"), missing(9).status], [201, 429, 429]);
    assert_eq!(from(&hub, "203.0.113.2"), 201, "who is named is another");
    let log = hub.log_with("X-Forwarded-For");
    assert_eq!(log.matches("no usable X-Forwarded-For").count(), 1, "{log}");
}

/// Its operator asks the hub itself, past the proxy, which is no fault of the proxy's.
fn who_asks_past_a_proxy_that_names_its_clients_is_no_fault(place: &TestData) {
    let mut hub = place.start(&["--no-seed", "--no-dump", "--behind-proxy"]);
    assert_eq!(from(&hub, "203.0.113.1"), 201);
    assert_eq!(hub.submit(&document("Any", 1.0), &[]).status, 201);
    hub.stop();
    let log = hub.log_with("\"event\":\"ended\"");
    assert!(!log.contains("X-Forwarded-For"), "{log}");
}

/// Without the option all who come through a proxy would be the hub's own machine, and nobody would know.
fn a_proxy_that_is_not_believed_is_told(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let named = [("X-Forwarded-For", "203.0.113.1")];
    assert_eq!(request(&hub.address, "GET", "/about", &named, b"").status, 200);
    let log = hub.log_with("--behind-proxy");
    assert!(log.contains("--behind-proxy"), "the first page shows it: {log}");
    assert_eq!([from(&hub, "203.0.113.1"), from(&hub, "203.0.113.2")], [201, 201]);
    let log = hub.log();
    assert_eq!(log.matches("start the hub with --behind-proxy").count(), 1, "{log}");
}

/// The bytes that the database has on the disk, its log included.
fn written(place: &TestData) -> u64 {
    let entries = fs::read_dir(place.data.path()).unwrap().map(|entry| entry.unwrap());
    let of_database = entries.filter(|it| it.file_name().to_string_lossy().contains("hub.sqlite"));
    of_database.map(|it| it.metadata().unwrap().len()).sum()
}

fn refused_requests_of_one_client_lock_out_nobody(place: &TestData) {
    // Everybody together may submit 200 in an hour.
    let options = ["--no-seed", "--no-dump", "--behind-proxy", "--submissions-per-hour", "2"];
    let hub = place.start(&options);
    assert_eq!(from(&hub, "198.51.100.1"), 201);
    let before = written(place);
    let headers = [("Content-Type", "application/json"), ("X-Forwarded-For", "203.0.113.1")];
    let empty = |_| request(&hub.address, "POST", "/api/v1/submissions", &headers, b"").status;
    let statuses: Vec<u16> = (0..600).map(empty).collect();
    assert_eq!(statuses[..3], [422, 422, 429]);
    assert!(statuses[2..].iter().all(|status| *status == 429));
    assert!(place.on == On::Postgres || written(place) == before, "refusals are not written");
    assert_eq!(from(&hub, "198.51.100.2"), 201);
}

fn one_address_has_so_many_connections(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let held: Vec<_> =
        (0..80).map(|_| connect_from(Ipv4Addr::new(127, 0, 0, 2), &hub.address).unwrap()).collect();
    let answers = |mut stream: &std::net::TcpStream| {
        let asked =
            stream.write_all(b"GET /about HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
        let mut answer = Vec::new();
        // One that was closed may say so by an error.
        asked.is_ok()
            && stream.read_to_end(&mut answer).is_ok()
            && answer.starts_with(b"HTTP/1.1 200")
    };
    assert_eq!(hub.get("/about").status, 200, "others are served");
    let served = held.iter().filter(|stream| answers(stream)).count();
    assert_eq!(served, 64);
}
