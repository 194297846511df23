//! Hostile input: every case has a clear answer, the hub stays up, and its memory stays bounded.

use std::collections::BTreeMap;
use std::io::Write;
use std::net::Ipv4Addr;
use std::thread;
use std::time::Instant;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::common::client::{connect_from, raw, request};
use crate::common::{Hub, TestData, document, prove};

on_both!(
    bad_bodies_have_clear_answers,
    injections_are_texts,
    stored_scripts_stay_texts,
    foreign_forms_are_refused,
    #[ignore = "hundreds of clients; nightly"]
    slow_clients_hold_nobody_up,
    #[ignore = "hundreds of large bodies; nightly"]
    bombs_in_parallel_are_bounded,
);

/// How many bombs come at once.
const BOMBS: usize = 400;

/// The most memory that the hub may hold, in bytes.
const MEMORY_MAX: i64 = 256 << 20;

fn memory(hub: &Hub) -> i64 {
    let text = hub.get("/metrics").text();
    let line =
        text.lines().find(|line| line.starts_with("cardproof_hub_resident_memory_bytes ")).unwrap();
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

/// The most memory that the hub has held since it began.
pub(crate) fn peak(hub: &Hub) -> i64 {
    let path = format!("/proc/{}/status", hub.process.id());
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<i64>().unwrap() << 10
}

fn post(hub: &Hub, headers: &[(&str, &str)], body: &[u8]) -> (u16, String) {
    let answer = request(&hub.address, "POST", "/api/v1/submissions", headers, body);
    (answer.status, answer.text())
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A name, the headers, the body, and the status that answers it.
type Case = (&'static str, Vec<(&'static str, &'static str)>, Vec<u8>, u16);

fn bad_bodies_have_clear_answers(place: &TestData) {
    let hub = place.start(&["--no-seed"]);
    let json = ("Content-Type", "application/json");
    let gz = ("Content-Encoding", "gzip");
    let good = document("Good", 1.0).to_string();
    let bomb = gzip(&vec![b' '; 16 << 20]);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_fields = format!("{}1{}", "{\"record\":".repeat(20_000), "}".repeat(20_000));
    // The good document with another end.
    let with = |end: &[u8]| [&good.as_bytes()[..good.len() - 1], end].concat();
    let twice = good.replace("\"seed\":0", "\"seed\":0,\"seed\":0");
    let long_label = format!(",\"label\":\"{}\"}}", "ß".repeat(65)).into_bytes();
    let many = format!("{{\"record\": {{\"phases\": [{}]}}}}", vec!["{}"; 80_000].join(","));
    let cases: Vec<Case> = vec![
        ("nothing", vec![json], Vec::new(), 422),
        ("no JSON", vec![json], b"hello".to_vec(), 422),
        ("no type", vec![], good.clone().into_bytes(), 415),
        (
            "a form",
            vec![("Content-Type", "application/x-www-form-urlencoded")],
            b"a=b".to_vec(),
            415,
        ),
        ("20 MB", vec![json], vec![b'x'; 20 << 20], 413),
        ("a bomb", vec![json, gz], bomb, 413),
        ("no gzip", vec![json, gz], good.clone().into_bytes(), 415),
        (
            "an unknown encoding",
            vec![json, ("Content-Encoding", "br")],
            good.clone().into_bytes(),
            415,
        ),
        ("deep lists", vec![json], deep.into_bytes(), 422),
        ("deep objects", vec![json], deep_fields.into_bytes(), 422),
        ("many phases", vec![json], many.into_bytes(), 422),
        ("not UTF-8", vec![json], b"{\"schema\": \"\xff\xfe\"}".to_vec(), 422),
        ("not UTF-8 where it is dropped", vec![json], with(b",\"zzz\":\"\xff\xfe\"}"), 422),
        ("a field twice", vec![json], with(b",\"label\":\"a\",\"label\":\"b\"}"), 422),
        ("a field in a field twice", vec![json], twice.into_bytes(), 422),
        ("a label of 65 characters", vec![json], with(&long_label), 422),
        ("an empty object", vec![json], b"{}".to_vec(), 422),
        ("a short key", vec![json, ("Idempotency-Key", "x")], good.clone().into_bytes(), 400),
        ("good gzip", vec![json, gz], gzip(good.as_bytes()), 201),
    ];
    for (name, headers, body, status) in cases {
        let (found, text) = post(&hub, &headers, &body);
        // A client that goes on sending may miss the answer when the connection closes.
        assert!(found == status || (found == 0 && body.len() > 1 << 20), "{name}: {found} {text}");
        let is_named = |it: Value| it["message"].as_str().is_some_and(|message| message.len() > 10);
        assert!(
            status == 201 || found == 0 || serde_json::from_str(&text).is_ok_and(is_named),
            "{name}: {text}"
        );
    }
    let mut impossible = document("Negative", 1.0);
    impossible["record"]["phases"][0]["iops"]["estimate"] = json!(-5.0);
    assert_eq!(hub.submit(&impossible, &[]).status, 422);
    assert!(memory(&hub) < MEMORY_MAX, "{}", memory(&hub));
    assert_eq!(hub.get("/healthz").status, 200);
    assert_eq!(hub.dumped().len(), 1);
}

/// What attackers write where a name is expected, for SQL, HTML, shells, headers, templates and paths.
const ATTACKS: [&str; 27] = [
    "'",
    "''",
    "' OR '1'='1",
    "'; DROP TABLE submissions; --",
    "\" OR \"\"=\"",
    "1); DELETE FROM models; --",
    "' UNION SELECT token_hash FROM submissions --",
    "$1",
    "?1",
    "%27%20OR%201=1",
    "\\'; --",
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "</title><script>alert(1)</script>",
    "javascript:alert(1)",
    "<svg/onload=alert(1)>",
    "{{1337*7331}}",
    "${1337*7331}",
    "<%= 1337*7331 %>",
    "../../../etc/passwd",
    "..%2f..%2f..%2fetc%2fpasswd",
    "/etc/passwd",
    "file:///etc/passwd",
    "http://169.254.169.254/latest/meta-data",
    "$(id)",
    "\r\nSet-Cookie: a=b",
    "a\0b",
];

/// `text` as a part of an address.
fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

fn injections_are_texts(place: &TestData) {
    let hub = place.start(&[]);
    let before = hub.dumped().len();
    let mut tried = 0;
    for attack in ATTACKS {
        let it = encoded(attack);
        for path in [
            format!("/search?q={it}"),
            format!("/search?q=a&ids={it}"),
            format!("/r/{it}"),
            format!("/r/{it}/delete"),
            format!("/models/{it}"),
            format!("/models/x?ids={it}"),
            format!("/hosts/{it}"),
            format!("/?use={it}&board={it}&kind={it}&maker={it}&gb={it}&price={it}&sort={it}"),
            format!("/api/v1/ranking?use={it}&board={it}"),
            format!("/compare?ids={it}"),
            format!("/latest?before={it}"),
            format!("/data/documents/{it}"),
            format!("/api/v1/search?q={it}"),
            format!("/api/v1/models/{it}"),
            format!("/models/{it}/badge.svg"),
            format!("/data/{it}"),
        ] {
            let answer = hub.get(&path);
            tried += 1;
            assert!(
                (200..500).contains(&answer.status),
                "{path}: {} {}",
                answer.status,
                answer.text()
            );
            let text = answer.text();
            for live in ["<script>alert", "<img src=x", "<svg/onload", "root:x:0", "uid=0"] {
                assert!(!text.contains(live), "{path} answers {live}");
            }
            assert!(!answer.head.contains("set-cookie"), "{path}");
            assert!(attack.contains("token_hash") || !text.contains("token_hash"), "{path}");
        }
        let bearer = format!("Bearer {}", attack.replace(['\r', '\n', '\0'], ""));
        let stolen =
            request(&hub.address, "DELETE", "/r/sim-v30-a2", &[("Authorization", &bearer)], b"");
        assert_eq!(stolen.status, 401, "{attack}");
        tried += 1;
    }
    for (bytes, statuses) in [
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n", [200, 400]),
        ("GET /feed.atom HTTP/1.1\r\nHost: \"><script>\r\nConnection: close\r\n\r\n", [200, 400]),
        (
            "POST /api/v1/submissions HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
            [400, 415],
        ),
        ("TRACE / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", [405, 405]),
        (
            "GET http://169.254.169.254/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            [200, 400],
        ),
    ] {
        let answer = raw(&hub.address, bytes.as_bytes());
        assert!(statuses.contains(&answer.status), "{bytes}: {}", answer.status);
        tried += 1;
    }
    assert_eq!(hub.dumped().len(), before, "nothing was changed");
    println!("{tried} attacks tried, 0 successful");
}

/// Puts `text` into every text of `value`.
fn poison(value: &mut Value, text: &str) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| {
            if !["schema", "licence", "op", "pattern", "state", "kind", "date", "currency"]
                .contains(&name.as_str())
            {
                poison(value, text);
            }
        }),
        Value::Array(entries) => entries.iter_mut().for_each(|value| poison(value, text)),
        Value::String(kept) => *kept = text.to_owned(),
        _ => {}
    }
}

fn stored_scripts_stay_texts(place: &TestData) {
    let hub = place.start(&["--no-seed"]);
    let mut ids = Vec::new();
    for attack in ATTACKS {
        let mut sent = document("x", 300.0);
        sent["label"] = json!("x");
        sent["record"]["conditions"]["device"]["card"] = json!({"product": "x", "oem_id": "x", "maker_maybe": "x", "manufactured": "x", "quirks": ["x"]});
        sent["record"]["figures"] = json!([{"name": "x", "tool": "x", "value": 1.0, "unit": "x"}]);
        poison(&mut sent, attack);
        let answer = hub.submit(&sent, &[]);
        assert_eq!(answer.status, 201, "{attack}: {}", answer.text());
        ids.push(answer.json()["id"].as_str().unwrap().to_owned());
    }
    let models = hub.get("/models").text();
    let cards = models
        .split("/models/")
        .skip(1)
        .map(|rest| format!("/models/{}", rest.split('"').next().unwrap()));
    let mut paths: Vec<String> = cards.collect();
    paths.extend(
        ["/", "/models", "/hosts", "/feed.atom", "/latest", "/search?q=script"].map(str::to_owned),
    );
    paths.extend(ids.iter().map(|id| format!("/r/{id}")));
    paths.push(format!("/compare?ids={}", ids[11..20].join(",")));
    for path in &paths {
        let answer = hub.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        let text = answer.text();
        for live in ["<script", "<img", "<svg/onload", "<%=", "href=\"javascript", ">9801547<"] {
            assert!(!text.contains(live), "{path} answers {live}");
        }
    }
    println!("{} pages with {} stored attacks, 0 alive", paths.len(), ATTACKS.len());
}

fn foreign_forms_are_refused(place: &TestData) {
    let hub = place.start(&["--no-seed", "--public-url", "https://hub.example.org"]);
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let delete = |id: &str, token: &str, said: (&str, &str)| {
        let path = format!("/r/{id}/delete");
        let body = format!("token={token}");
        request(&hub.address, "POST", &path, &[form, said], body.as_bytes()).status
    };
    let (id, token) = hub.submitted(&document("Mine", 1.0));
    let own = format!("http://{}", hub.address);
    for said in [
        ("Sec-Fetch-Site", "cross-site"),
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Origin", hub.address.as_str()),
        ("Origin", &format!("{own}.evil.example")),
    ] {
        assert_eq!(delete(&id, &token, said), 400, "{said:?}");
    }
    assert_eq!(hub.get(&format!("/r/{id}")).status, 200);
    assert_eq!(delete(&id, "wrong", ("Sec-Fetch-Site", "same-origin")), 401);
    for said in
        [("Sec-Fetch-Site", "same-origin"), ("Origin", &own), ("Origin", "https://hub.example.org")]
    {
        let (id, token) = hub.submitted(&document("Mine", 1.0));
        assert_eq!(delete(&id, &token, said), 303, "{said:?}");
        assert_eq!(hub.get(&format!("/r/{id}")).status, 410);
    }
}

/// How many clients are slow at once.
const SLOW: usize = 1000;

/// Lets this process and the hubs that it starts have as many files as the system allows; how many that is.
fn allow_files() -> u64 {
    let now = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: now.maximum, maximum: now.maximum };
    let _ = setrlimit(Resource::Nofile, wanted);
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

fn slow_clients_hold_nobody_up(place: &TestData) {
    // A tenth more for everything else that the process has open.
    let count = SLOW.min(usize::try_from(allow_files() * 9 / 10).unwrap_or(SLOW));
    let hub = place.start(&["--no-seed"]);
    let slow: Vec<_> = (0..count)
        .filter_map(|at| {
            // Sixty of each address, which may have a few more.
            let source = Ipv4Addr::new(127, 0, 1, u8::try_from(at / 60).ok()?);
            let mut stream = connect_from(source, &hub.address).ok()?;
            let part: &[u8] = match at % 3 {
                0 => b"GET / HT",
                1 => b"POST /api/v1/submissions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{",
                _ => b"",
            };
            stream.write_all(part).ok()?;
            Some(stream)
        })
        .collect();
    assert!(slow.len() * 10 > count * 9, "{} of {count} connected", slow.len());
    let start = Instant::now();
    let others: Vec<u16> = thread::scope(|scope| {
        let tries: Vec<_> = (0..8)
            .map(|at| {
                let hub = &hub;
                scope.spawn(move || hub.submit(&document(&format!("Quick {at}"), 1.0), &[]).status)
            })
            .collect();
        tries.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(others, [201; 8]);
    let took = start.elapsed();
    let memory = peak(&hub);
    assert!(memory < MEMORY_MAX, "{memory}");
    drop(slow);
    assert_eq!(hub.get("/healthz").status, 200);
    prove(&format!(
        "| {count} slow clients, {:?} | 8 others answered within {:.1} s, {} MiB of memory at most |",
        place.on,
        took.as_secs_f64(),
        memory >> 20
    ));
}

/// Headers, a body, and the status that answers it where the hub takes it up.
type Bomb<'headers> = (&'headers [(&'headers str, &'headers str)], Vec<u8>, u16);

/// Bodies as large as they may be and bombs, many at once: each has an answer, and the memory is bounded.
fn bombs_in_parallel_are_bounded(place: &TestData) {
    allow_files();
    let hub = place.start(&["--no-seed", "--submissions-per-hour", "0"]);
    let json = ("Content-Type", "application/json");
    let (plain, packed) = ([json], [json, ("Content-Encoding", "gzip")]);
    // A document that is taken, as long as may be: what is not in the allowlist is dropped.
    let mut large = document("Large", 1.0);
    large["record"]["notes"] = json!("x".repeat(260_000 - large.to_string().len()));
    let large = large.to_string();
    let numbers = format!("{{\"record\": {{\"phases\": [{}1]}}}}", "1,".repeat(120_000));
    let digits = format!("{{\"record\": {{\"seed\": {}}}}}", "9".repeat(250_000));
    let keys = format!("{{{}\"a\": 1}}", "\"schema\": \"x\", ".repeat(15_000));
    let escapes = format!("{{\"schema\": \"{}\"}}", "\\u0000".repeat(43_000));
    // Unpacked once it is short enough to be taken up, and no document.
    let once = gzip(&vec![b' '; 8 << 20]);
    assert!(once.len() < 250_000, "{}", once.len());
    let twice = gzip(&once);
    let bodies: Vec<Bomb> = vec![
        (&packed, gzip(&vec![b' '; 200 << 20]), 413),
        (&packed, gzip(large.as_bytes()), 201),
        (&packed, twice, 422),
        (&plain, large.clone().into_bytes(), 201),
        (&plain, numbers.into_bytes(), 422),
        (&plain, digits.into_bytes(), 422),
        (&plain, keys.into_bytes(), 422),
        (&plain, escapes.into_bytes(), 422),
    ];
    let start = Instant::now();
    let client = |client: usize| {
        let (headers, body, expected) = &bodies[client % bodies.len()];
        let (status, text) = post(&hub, headers, body);
        // Too much at once is told; a client that goes on sending may miss it when the connection closes.
        let is_known = status == 0 || status == 503 || status == *expected;
        assert!(is_known, "body {}: {status} {text}", client % bodies.len());
        status
    };
    let statuses: BTreeMap<u16, usize> = thread::scope(|scope| {
        let client = &client;
        let clients: Vec<_> = (0..BOMBS).map(|at| scope.spawn(move || client(at))).collect();
        let mut statuses = BTreeMap::new();
        for client in clients {
            *statuses.entry(client.join().unwrap()).or_default() += 1;
        }
        statuses
    });
    let took = start.elapsed();
    let memory = peak(&hub);
    assert!(memory < MEMORY_MAX, "{} MiB", memory >> 20);
    assert_eq!(hub.get("/healthz").status, 200);
    assert_eq!(hub.submit(&document("Afterwards", 1.0), &[]).status, 201);
    let words: Vec<String> =
        statuses.iter().map(|(status, count)| format!("{count} times {status}")).collect();
    prove(&format!(
        "| {BOMBS} bombs and bodies of 256 KiB at once, {:?} | {} in {:.0} s (0: cut off), {} MiB of memory at most |",
        place.on,
        words.join(", "),
        took.as_secs_f64(),
        memory >> 20
    ));
}
