//! Sharing a record: what is shown, what is sent, and what becomes of it when the hub is not there.
//!
//! The hub here is a few lines that note what they are sent; the real one is tried in `hub/`.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use cardproof_testkit::{lab_or_skip, schema_faults};
use serde_json::{Value, json};

use crate::home::Home;
use crate::process::run;

/// What a hub was sent: the key and the document.
pub(crate) type Sent = (String, Value);

/// A hub that answers each request with the next of `statuses`, and hands on what it was sent.
pub(crate) fn hub(statuses: &'static [u16]) -> (String, Receiver<Sent>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, sent) = channel();
    thread::spawn(move || {
        let mut names = HashMap::<String, usize>::new();
        for status in statuses {
            let mut stream = BufReader::new(listener.accept().unwrap().0);
            let (mut key, mut length) = (String::new(), 0);
            loop {
                let mut line = String::new();
                stream.read_line(&mut line).unwrap();
                let Some((name, value)) = line.trim().split_once(':') else {
                    if line.trim().is_empty() {
                        break;
                    }
                    continue;
                };
                match name.to_lowercase().as_str() {
                    "idempotency-key" => key = value.trim().to_owned(),
                    "content-length" => length = value.trim().parse().unwrap(),
                    _ => {}
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let count = names.len();
            let name = *names.entry(key.clone()).or_insert(count);
            let document: Value = serde_json::from_slice(&body).unwrap();
            // What has a label waits for an administrator here.
            let waits = document.get("label").is_some();
            let answer = match status {
                200..300 => {
                    json!({"path": format!("/r/n{name}"), "token": format!("t{name}"), "waits": waits})
                }
                _ => json!({"error": "x", "message": "the reason is told"}),
            };
            let answer = answer.to_string();
            let head = format!(
                "HTTP/1.1 {status} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                answer.len()
            );
            stream.get_mut().write_all((head + &answer).as_bytes()).unwrap();
            sender.send((key, document)).unwrap();
        }
    });
    (address, sent)
}

/// A record of a simulated card, with a label.
pub(crate) fn measured(home: &Home) {
    let words = [
        "run",
        "sim:sandisk-ultra-a1",
        "--size",
        "16M",
        "--time-budget",
        "5s",
        "--seed",
        "1",
        "--quiet",
    ];
    run(home.cardproof(&[&words[..], &["--label", "secret label"]].concat())).expect(0);
}

#[test]
fn what_would_be_sent_is_shown_and_of_its_published_form() {
    let home = Home::new();
    measured(&home);
    let words = run(home.cardproof(&["submit", "latest", "--dry-run"])).expect(0).stdout;
    assert!(words.lines().count() <= 12 && words.contains("Not in it: serial numbers"), "{words}");
    assert!(!words.contains("secret label"), "{words}");
    let words = ["submit", "latest", "--dry-run", "--json", "-"];
    let shown = run(home.cardproof(&words)).expect(0).stdout;
    let document: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(document["licence"], "CC0-1.0");
    assert!(document.get("label").is_none() && !shown.contains("secret label"));
    let labelled = run(home.cardproof(&[
        "submit",
        "latest",
        "--dry-run",
        "--json",
        "-",
        "--with-label",
        "--price",
        "9.90:eur",
    ]));
    let labelled: Value = serde_json::from_str(&labelled.expect(0).stdout).unwrap();
    assert_eq!(labelled["label"], "secret label");
    assert_eq!(
        (&labelled["price"]["amount"], &labelled["price"]["currency"]),
        (&json!(9.9), &json!("EUR"))
    );
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/submission-v1.schema.json");
    for document in [document, labelled] {
        let path = home.place().join("document.json");
        fs::write(&path, document.to_string()).unwrap();
        assert_eq!(lab_or_skip!(schema_faults(&schema, &[&path])), "");
    }
}

#[test]
fn verdicts_are_shared_and_no_journal() {
    let home = Home::new();
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/submission-v1.schema.json");
    let fake: &[&str] = &["verify", "sim:fake-drop", "--exclude-store", "64M", "--seed", "1", "-q"];
    let worn =
        &["endure", "sim:sandisk-ultra", "--size", "8M", "--cycles", "2", "--seed", "1", "-q"];
    let cut = &["powercut", "sim:sandisk-ultra", "--cuts", "5", "--seed", "1", "-q"];
    for (words, status, found) in [
        (fake, 4, ["/capacity/verdict", "\"fake\""]),
        (worn, 0, ["/record/endurance/cycles", "2"]),
        (cut, 0, ["/record/power_cuts/cuts", "5"]),
    ] {
        run(home.cardproof(words)).expect(status);
        let dry = ["submit", "latest", "--dry-run", "--json", "-"];
        let shown = run(home.cardproof(&dry)).expect(0).stdout;
        let document: Value = serde_json::from_str(&shown).unwrap();
        let told = document.pointer(found[0]).map(ToString::to_string);
        assert_eq!(told.as_deref(), Some(found[1]), "{shown}");
        for journal in ["\"places\"", "\"course\"", "\"harm\""] {
            assert!(!shown.contains(journal), "{journal} in {shown}");
        }
        let path = home.place().join("document.json");
        fs::write(&path, shown).unwrap();
        assert_eq!(lab_or_skip!(schema_faults(&schema, &[&path])), "");
    }
}

#[test]
fn nothing_is_sent_unasked() {
    let home = Home::new();
    measured(&home);
    let (address, sent) = hub(&[201]);
    let ended = run(home.cardproof(&["submit", "latest", "--to", &address])).expect(2);
    assert!(
        ended.stderr.contains("nothing was sent") && ended.stderr.contains("CC0-1.0"),
        "{}",
        ended.stderr
    );
    assert!(sent.try_recv().is_err());
}

#[test]
fn a_record_that_is_shared_twice_has_one_address() {
    let home = Home::new();
    measured(&home);
    let (address, sent) = hub(&[201, 200, 200, 200]);
    let words = ["submit", "latest", "--to", &address, "--yes", "--json", "-"];
    let first = run(home.cardproof(&words)).expect(0);
    let receipt: Value = serde_json::from_str(&first.stdout).unwrap();
    assert_eq!(
        receipt,
        json!({"schema": "cardproof.shared/1", "url": format!("{address}/r/n0"), "token": "t0"})
    );
    let (key, document) = sent.recv().unwrap();
    assert!(key.len() == 32, "{key}");
    // What was shown is what was sent.
    assert!(first.stderr.contains("Not in it: serial numbers"), "{}", first.stderr);
    let shown = run(home.cardproof(&["submit", "latest", "--dry-run", "--json", "-"])).expect(0);
    assert_eq!(serde_json::from_str::<Value>(&shown.stdout).unwrap(), document);
    let second: Value =
        serde_json::from_str(&run(home.cardproof(&words)).expect(0).stdout).unwrap();
    assert_eq!((&second, &sent.recv().unwrap().0), (&receipt, &key));
    for more in [&["--price", "9.90:EUR"][..], &["--price", "8:EUR", "--with-label"]] {
        run(home.cardproof(&[&words[..], more].concat())).expect(0);
        let (again, document) = sent.recv().unwrap();
        assert_eq!(again, key, "{more:?}");
        assert_eq!(document.get("label").is_some(), more.len() == 3, "it is what was asked for");
    }
}

#[test]
fn a_queued_submission_survives_an_absent_hub() {
    let home = Home::new();
    measured(&home);
    let (address, sent) = hub(&[503, 429, 201]);
    let words = ["submit", "latest", "--to", &address, "--yes", "--quiet", "--json", "-"];
    let queued = run(home.cardproof(&[&words[..], &["--queue"]].concat())).expect(0).stdout;
    let queued: Value = serde_json::from_str(&queued).unwrap();
    assert_eq!((&queued["queued"], queued.get("url")), (&json!(true), None));
    let other = ["submit", "--queue", "--to", "http://other.invalid"];
    let told = run(home.cardproof(&other)).expect(0).stderr;
    assert!(told.contains("1 for others"), "{told}");
    let told = run(home.cardproof(&["submit", "--queue"])).expect(1).stderr;
    let directory = told.split("delete its file in ").nth(1).unwrap().trim();
    assert_eq!(fs::read_dir(directory).unwrap().count(), 1, "{told}");
    let last = run(home.cardproof(&["submit", "--queue", "--json", "-"])).expect(0).stdout;
    let receipt: Value = serde_json::from_str(&last).unwrap();
    assert_eq!(receipt["url"], format!("{address}/r/n0"));
    let keys: Vec<String> = sent.iter().take(3).map(|(key, _)| key).collect();
    assert!(keys.iter().all(|key| *key == keys[0]), "{keys:?}");
    assert_eq!(run(home.cardproof(&["submit", "--queue", "--json", "-"])).expect(0).stdout, "");
}

#[test]
fn a_send_that_fails_takes_nothing_out_of_the_queue() {
    let home = Home::new();
    measured(&home);
    let (address, _sent) = hub(&[503, 503, 201, 422]);
    let words = ["submit", "latest", "--to", &address, "--yes", "--quiet"];
    run(home.cardproof(&[&words[..], &["--queue"]].concat())).expect(0);
    let told = run(home.cardproof(&words)).expect(1).stderr;
    assert!(told.contains("it is still queued"), "{told}");
    let last = run(home.cardproof(&["submit", "--queue", "--json", "-"])).expect(0).stdout;
    assert!(last.contains(&format!("{address}/r/n0")), "{last}");
    // What a hub will never take does not stay.
    let refused = run(home.cardproof(&[&words[..], &["--with-label"]].concat())).expect(1).stderr;
    assert!(!refused.contains("queue"), "{refused}");
    assert_eq!(run(home.cardproof(&["submit", "--queue", "--json", "-"])).expect(0).stdout, "");
}

#[test]
fn a_record_that_waits_for_a_look_is_told() {
    let home = Home::new();
    measured(&home);
    let (address, _sent) = hub(&[201, 201]);
    let words = ["submit", "latest", "--to", &address, "--yes", "--json", "-"];
    let plain = run(home.cardproof(&words)).expect(0);
    let waiting = run(home.cardproof(&[&words[..], &["--with-label"]].concat())).expect(0);
    assert_eq!([&plain, &waiting].map(|it| it.stderr.contains("administrator")), [false, true]);
    let receipt: Value = serde_json::from_str(&waiting.stdout).unwrap();
    assert_eq!(receipt["waits"], true);
}

#[test]
fn reasons_are_named() {
    let home = Home::new();
    measured(&home);
    let refusing = hub(&[422]).0;
    let nobody =
        format!("http://{}", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap());
    for (address, status, reason) in [
        (refusing.as_str(), 1, "the reason is told"),
        (nobody.as_str(), 1, "nothing answers at this address"),
        ("http://no-such-hub.invalid", 1, "cannot reach the hub"),
        ("hub", 2, "give --to an address"),
        ("http://me:secret@hub", 2, "name or password"),
    ] {
        let ended = run(home.cardproof(&["submit", "latest", "--to", address, "--yes", "--quiet"]))
            .expect(status);
        assert!(ended.stderr.contains(reason), "{address}: {}", ended.stderr);
        assert!(ended.stderr.matches("--queue").count() <= 1, "{}", ended.stderr);
    }
    let ended =
        run(home.cardproof(&["submit", "no-such-record", "--to", &nobody, "--yes"])).expect(2);
    assert!(ended.stderr.contains("no-such-record"), "{}", ended.stderr);
    run(home.cardproof(&["submit"])).expect(2);
}
