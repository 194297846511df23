//! What the hub needs is missing: room on the disk, the database. Each request gets a clear answer, nothing that was
//! acknowledged is lost, and the hub goes on by itself when it is there again.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::common::client::request;
use crate::common::disk::{SmallDisk, fill};
use crate::common::postgres::Server;
use crate::common::{Hub, On, TestData, document, prove, skip};

/// The longest time for an answer without a database: nobody waits for longer at a terminal.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// Sends a submission that must be refused for want of `what`, with words and a time to try again.
fn refused(hub: &Hub, number: usize) -> u16 {
    let start = Instant::now();
    let answer = hub.submit(&document(&format!("Refused {number}"), 1.0), &[]);
    assert!(start.elapsed() < ANSWER_MAX, "an answer after {:?}", start.elapsed());
    assert!(matches!(answer.status, 503 | 507), "{}: {}", answer.status, answer.text());
    let told: Value = serde_json::from_slice(&answer.body).unwrap();
    let is_full = answer.status == 507;
    let names: &[&str] = if is_full { &["disk_full"] } else { &["database", "late"] };
    assert!(told["error"].as_str().is_some_and(|name| names.contains(&name)), "{told}");
    assert!(told["message"].as_str().unwrap().contains("try again"), "{told}");
    assert!(answer.head.contains("retry-after:"), "{}", answer.head);
    answer.status
}

/// The names of all submissions, asked without the hub.
fn kept(place: &TestData) -> BTreeSet<String> {
    use sqlx::Row;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = place.open().await;
        let rows = sqlx::query("SELECT id FROM submissions").fetch_all(db.readers()).await.unwrap();
        let ids = rows.iter().map(|row| row.get("id")).collect();
        db.close().await;
        ids
    })
}

/// Submits until the disk is full, again and again; frees it by `free`, and looks at what is left.
fn fill_up(place: &TestData, disk: &Path, free: impl FnOnce(&Path), name: &str) {
    let mut hub = place.start(&["--no-seed", "--submissions-per-hour", "0"]);
    let mut acknowledged = BTreeSet::new();
    let mut tokens = Vec::new();
    for number in 0..5 {
        let (id, token) = hub.submitted(&document(&format!("Before {number}"), 1.0));
        acknowledged.insert(id.clone());
        tokens.push((id, token));
    }
    let ballast = fill(disk);
    let mut refusals = Vec::new();
    // Room that the database has already may take a few more.
    for number in 0..2000 {
        let answer = hub.submit(&document(&format!("Full {number}"), 1.0), &[]);
        if answer.status == 201 {
            acknowledged.insert(answer.json()["id"].as_str().unwrap().to_owned());
        } else {
            refusals.push(refused(&hub, number));
        }
        if refusals.len() == 12 {
            break;
        }
    }
    assert_eq!(refusals.len(), 12, "the disk is never full");
    assert_eq!(hub.get("/healthz").status, 503, "it takes no submission");
    let taken = acknowledged.len();
    if place.on == On::Sqlite {
        acknowledged = deleted_on_a_full_disk(&hub, tokens, acknowledged);
    }
    let deleted = taken - acknowledged.len();
    free(&ballast);
    for number in 0..5 {
        acknowledged.insert(hub.submitted(&document(&format!("After {number}"), 1.0)).0);
    }
    assert_eq!(hub.get("/healthz").status, 200);
    assert_eq!(hub.manifest()["rows"], acknowledged.len());
    assert!(hub.stop().success());
    assert_eq!(kept(place), acknowledged, "what is there is what was acknowledged");
    let full = refusals.iter().filter(|status| **status == 507).count();
    prove(&format!(
        "| {name}, {} submissions | {full} times 507, {} times 503, then it goes on; 0 of {} acknowledged lost |",
        acknowledged.len() + deleted + refusals.len(),
        refusals.len() - full,
        acknowledged.len() + deleted
    ));
}

/// What is left of `kept` when each of `tokens` was used to delete, without a byte of room: done, or refused and undone.
fn deleted_on_a_full_disk(
    hub: &Hub,
    tokens: Vec<(String, String)>,
    mut kept: BTreeSet<String>,
) -> BTreeSet<String> {
    for (id, token) in tokens {
        match hub.delete(&id, &token).status {
            204 => assert!(kept.remove(&id)),
            status => assert_eq!(status, 507, "{id}"),
        }
    }
    kept
}

/// What `/healthz` says is what a submission finds, with whatever room there is.
#[test]
fn health_and_submissions_agree_on_a_disk_that_is_nearly_full() {
    let disk = match SmallDisk::new("24m") {
        Ok(disk) => disk,
        Err(reason) => return skip("hardship::health_and_submissions_agree", &reason),
    };
    let data = tempfile::tempdir_in(disk.path()).unwrap();
    let place = TestData { on: On::Sqlite, data, url: None };
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let (id, token) = hub.submitted(&document("Before", 1.0));
    let amended = document("Amended", 2.0).to_string();
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let mut seen = Vec::new();
    for free_kib in [6000, 5000, 4000, 2100, 500, 6000] {
        let ballast = fill(disk.path());
        let file = fs::OpenOptions::new().write(true).open(&ballast).unwrap();
        file.set_len(file.metadata().unwrap().len() - (free_kib << 10)).unwrap();
        let health = hub.get_json("/healthz");
        let sent = hub.submit(&document(&format!("With {free_kib}"), 1.0), &[]);
        let path = format!("/r/{id}");
        let put = request(&hub.address, "PUT", &path, &headers, amended.as_bytes());
        let all = [health.status, sent.status, put.status];
        assert!([[200, 201, 200], [503, 507, 507]].contains(&all), "{free_kib} KiB: {all:?}");
        seen.push(health.status);
        fs::remove_file(ballast).unwrap();
    }
    assert_eq!(seen, [200, 200, 503, 503, 503, 200], "4 MiB is the least");
}

#[test]
fn a_full_disk_under_sqlite_refuses_and_loses_nothing() {
    let disk = match SmallDisk::new("24m") {
        Ok(disk) => disk,
        Err(reason) => {
            return skip("hardship::a_full_disk_under_sqlite_refuses_and_loses_nothing", &reason);
        }
    };
    let data = tempfile::tempdir_in(disk.path()).unwrap();
    let place = TestData { on: On::Sqlite, data, url: None };
    fill_up(&place, disk.path(), |ballast| fs::remove_file(ballast).unwrap(), "full disk, SQLite");
}

#[test]
fn a_full_disk_under_postgres_refuses_and_loses_nothing() {
    let server = match Server::start(Some("220m")) {
        Ok(server) => server,
        Err(reason) => {
            return skip("hardship::a_full_disk_under_postgres_refuses_and_loses_nothing", &reason);
        }
    };
    let place = TestData::on_server(&server);
    let free = |ballast: &Path| {
        fs::remove_file(ballast).unwrap();
        // A server that finds no room for its log ends; an operator starts it again.
        server.kill();
        server.run();
    };
    fill_up(&place, server.place(), free, "full disk, PostgreSQL");
}

/// A disk that fills under the dump leaves the dump before.
#[test]
fn a_full_disk_leaves_the_dump_that_was_there() {
    let disk = match SmallDisk::new("24m") {
        Ok(disk) => disk,
        Err(reason) => {
            return skip("hardship::a_full_disk_leaves_the_dump_that_was_there", &reason);
        }
    };
    let place = TestData::new(On::Sqlite).unwrap();
    std::os::unix::fs::symlink(disk.path(), place.data.path().join("dump")).unwrap();
    let hub = place.start(&["--no-seed", "--no-dump"]);
    hub.submitted(&document("Before", 1.0));
    let before = hub.manifest();
    let ballast = fill(disk.path());
    // Submissions go to another disk here.
    let health = hub.get_json("/healthz");
    assert_eq!((health.status, &health.json()["disk_free_bytes"]), (200, &0.into()));
    assert!(hub.get("/metrics").text().contains("cardproof_hub_disk_free_bytes 0\n"));
    let (id, _) = hub.submitted(&document("On a full disk", 1.0));
    let full = place.command("dump").output().unwrap();
    let told = String::from_utf8_lossy(&full.stderr).into_owned();
    assert!(!full.status.success() && told.contains("disk is full"), "{told}");
    assert_eq!(hub.get_json("/data/manifest.json").json(), before);
    for file in before["files"].as_array().unwrap() {
        let path = format!("/data/{}", file["path"].as_str().unwrap());
        assert_eq!(hub.get(&path).body.len() as u64, file["bytes"].as_u64().unwrap(), "{path}");
    }
    fs::remove_file(ballast).unwrap();
    assert!(hub.dumped().iter().any(|line| line["id"] == id.as_str()));
    let names = |table: &str| fs::read_dir(disk.path().join(table)).unwrap().count();
    let all = [names("documents"), names("runs"), names("phases")];
    assert_eq!(all, [2, 2, 2], "the superseded files stay for an hour, and no part is left");
}

/// Calls `change` while four clients submit, until each was refused twice; the longest time for an answer.
fn under_load(hub: &Hub, change: impl FnOnce()) -> Duration {
    thread::scope(|scope| {
        let client = |client: usize| {
            let (mut refusals, mut longest) = (0, Duration::ZERO);
            while refusals < 2 {
                let start = Instant::now();
                let answer = hub.submit(&document(&format!("Load {client}"), 1.0), &[]);
                longest = longest.max(start.elapsed());
                assert!(matches!(answer.status, 201 | 503), "{}", answer.status);
                refusals += usize::from(answer.status == 503);
            }
            longest
        };
        let clients: Vec<_> = (0..4).map(|at| scope.spawn(move || client(at))).collect();
        thread::sleep(Duration::from_millis(500));
        change();
        clients.into_iter().map(|client| client.join().unwrap()).max().unwrap()
    })
}

#[test]
#[ignore = "waits for a database in real time; nightly"]
fn an_absent_postgres_is_named_and_comes_back() {
    let server = match Server::start(None) {
        Ok(server) => server,
        Err(reason) => {
            return skip("hardship::an_absent_postgres_is_named_and_comes_back", &reason);
        }
    };
    let place = TestData::on_server(&server);
    let mut hub = place.start(&["--submissions-per-hour", "0"]);
    let mut acknowledged = BTreeSet::new();
    let mut rows = Vec::new();
    type Change = fn(&Server);
    let absences: [(&str, Change, Change); 2] = [
        ("killed", Server::kill, Server::run),
        // Connections stay open, and nothing answers.
        ("stopped", |server| server.signal(Signal::STOP), |server| server.signal(Signal::CONT)),
    ];
    for (name, go, come) in absences {
        acknowledged.insert(hub.submitted(&document(&format!("Before {name}"), 1.0)).0);
        let longest = under_load(&hub, || go(&server));
        assert!(longest < ANSWER_MAX, "{name}: an answer after {longest:?}");
        let start = Instant::now();
        assert_eq!(refused(&hub, 0), 503, "{name}");
        let pages = ["/r/sim-v30-a2", "/latest", "/feed.atom", "/healthz"];
        thread::scope(|scope| {
            for path in pages {
                let hub = &hub;
                scope.spawn(move || assert_eq!(hub.get(path).status, 503, "{name}: {path}"));
            }
        });
        for path in [
            "/",
            "/models",
            "/search?q=sandisk",
            "/about",
            "/style.css",
            "/openapi.json",
            "/metrics",
        ] {
            assert_eq!(hub.get(path).status, 200, "{name}: {path} needs no database");
        }
        rows.push(format!(
            "{name} under load: each answer within {:.0} s, 503 for {:.0} s",
            longest.as_secs_f64().ceil(),
            start.elapsed().as_secs_f64()
        ));
        come(&server);
        // Connections that were cut are noticed one by one.
        let back = Instant::now();
        while hub.get("/healthz").status != 200 {
            assert!(back.elapsed() < ANSWER_MAX, "{name}: it does not come back");
        }
        acknowledged.insert(hub.submitted(&document(&format!("After {name}"), 1.0)).0);
        assert_eq!(hub.get("/models").status, 200, "{name}");
    }
    assert!(hub.stop().success());
    let lost = acknowledged.difference(&kept(&place)).count();
    assert_eq!(lost, 0);
    server.kill();
    let refused = place.command("serve").args(["--listen", "127.0.0.1:0"]).output().unwrap();
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        !refused.status.success() && words.contains("cannot open the PostgreSQL database"),
        "{words}"
    );
    assert!(!words.contains("panicked"));
    prove(&format!(
        "| absent PostgreSQL | {}; comes back by itself, {lost} lost |",
        rows.join("; ")
    ));
}
