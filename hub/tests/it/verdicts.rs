//! Verdicts of all kinds: kept, counted with one vote a submitter, shown with their bounds.

use serde_json::{Value, json};

use crate::common::client::request;
use crate::common::{Hub, TestData, document};

on_both!(
    a_model_with_many_fakes_is_one_to_avoid,
    one_submitter_makes_no_model_one_to_avoid,
    worn_cards_tell_how_long_a_model_lasts,
    a_page_answers_with_the_verdict_on_the_capacity,
    what_tests_have_found_is_on_the_page_of_the_card,
    a_model_that_changed_is_found,
    hostile_verdicts_are_refused_or_harmless,
);

fn start(place: &TestData) -> Hub {
    let options = ["--no-seed", "--no-dump", "--behind-proxy", "--submitters-min", "3"];
    place.start(
        &[&options[..], &["--first-records", "1000", "--submissions-per-hour", "0"]].concat(),
    )
}

/// The answer to `document`, sent from a network of its own.
fn send(hub: &Hub, from: u32, document: &Value) -> (u16, Value) {
    let client = format!("198.{}.{}.7", 18 + from / 256, from % 256);
    let answer = hub.submit(document, &[("X-Forwarded-For", &client)]);
    (answer.status, answer.json())
}

fn sent(hub: &Hub, from: u32, document: &Value) -> String {
    let (status, receipt) = send(hub, from, document);
    assert_eq!(status, 201, "{receipt}");
    receipt["id"].as_str().unwrap().to_owned()
}

/// A card without speeds whose test has left `test` in the record's `field`.
fn tested(model: &str, field: &str, test: Value) -> Value {
    let mut sent = document(model, 1.0);
    sent["record"]["phases"] = json!([]);
    sent["record"][field] = test;
    sent
}

/// A capacity test of a card of 64 GB; documents of another `number` are others.
fn capacity(model: &str, verdict: &str, number: u32) -> Value {
    let mut sent = document(model, 1.0);
    sent["record"]["phases"] = json!([]);
    sent["record"]["bytes_written"] = json!(1_000_000 + number);
    let real = if verdict == "fake" { 8_000_000_000_u64 } else { 64_000_000_000 };
    sent["capacity"] = json!({"verdict": verdict, "kind": "wrap", "probability": 0.999,
        "announced_size_bytes": 64_000_000_000_u64, "real_size_bytes": {"low": real, "high": real},
        "excluded_hidden_store_bytes": 4_000_000, "excluded_bad_share": 0.01, "bytes_written": 1, "bytes_read": 1});
    sent
}

fn fakes(hub: &Hub) -> Vec<Value> {
    hub.get_json("/api/v1/fakes").json()["models"].as_array().unwrap().clone()
}

fn a_model_with_many_fakes_is_one_to_avoid(place: &TestData) {
    let hub = start(place);
    let ids: Vec<String> =
        (0..4).map(|from| sent(&hub, from, &capacity("Bargain", "fake", from))).collect();
    for from in 4..10 {
        sent(&hub, from, &capacity("Bargain", "genuine", from));
        sent(&hub, from, &capacity("Honest", "genuine", from));
    }
    sent(&hub, 11, &capacity("Honest", "fake", 11));
    sent(&hub, 12, &capacity("Seldom", "fake", 12));
    let found = fakes(&hub);
    assert_eq!(found.len(), 2, "what one submitter has tested is not listed: {found:?}");
    assert_eq!(
        (&found[0]["name"], &found[0]["is_to_avoid"]),
        (&json!("Bargain, 32 GB"), &json!(true))
    );
    assert_eq!((&found[0]["fakes"]["found"], &found[0]["fakes"]["of"]), (&json!(4), &json!(10)));
    assert!(found[0]["fakes"]["low"].as_f64().unwrap() > 0.05, "{found:?}");
    assert_eq!(found[1]["is_to_avoid"], false, "{found:?}");
    let page = hub.get("/fakes").text();
    assert_eq!(page.matches(">avoid<").count(), 1, "{page}");
    assert!(
        ids.iter().all(|id| page.contains(&format!("/r/{id}"))),
        "its records are linked: {page}"
    );
    let record = hub.get(&format!("/r/{}", ids[0])).text();
    assert!(
        record.contains("Capacity: fake. It announces") && record.contains("7.5 GiB"),
        "{record}"
    );
    let card = hub.get(&format!("/models/{}", found[0]["model"].as_str().unwrap())).text();
    assert!(card.contains("4 of 10 submitters found a fake"), "{card}");
}

/// The page of a card with `verdict`, which a check has found beside its speed where `has_speed`.
fn answered(hub: &Hub, verdict: &str, has_speed: bool) -> String {
    let mut sent_one = capacity("Answered", verdict, 1);
    if has_speed {
        sent_one["record"]["phases"] = document("Answered", 1.0)["record"]["phases"].take();
        sent_one["record"]["data_check"] = json!({"places": 9, "place_bytes": 4096, "wrong_places": 0, "from_bytes": 0,
            "to_bytes": 36864, "duration_ns": 1, "direct": true});
    }
    let id = sent(hub, u32::from(has_speed), &sent_one);
    hub.get(&format!("/r/{id}")).text()
}

fn a_page_answers_with_the_verdict_on_the_capacity(place: &TestData) {
    let hub = start(place);
    let reply = |page: &str, question: &str| {
        let after = page.split(&format!("<dt>{question}</dt><dd><strong>")).nth(1);
        after.map(|rest| rest.split('<').next().unwrap().to_owned())
    };
    for has_speed in [true, false] {
        let page = answered(&hub, "fake", has_speed);
        assert!(page.contains("<h2 class=\"verdict\">FAKE: DO NOT USE IT</h2>"), "{page}");
        assert_eq!(reply(&page, "Real?").as_deref(), Some("NO"), "{page}");
        assert_ne!(reply(&page, "Healthy?").as_deref(), Some("yes"), "{page}");
        assert!(!page.contains("TOO SLOW FOR A SYSTEM"), "{page}");
        let page = answered(&hub, "genuine", has_speed);
        assert_eq!(reply(&page, "Real?").as_deref(), Some("yes"), "{page}");
        assert!(!page.contains("FAKE: DO NOT USE IT"), "{page}");
    }
    // Without a test nothing is said of it.
    let id = sent(&hub, 5, &document("Untested", 1.0));
    let page = hub.get(&format!("/r/{id}")).text();
    assert_eq!(reply(&page, "Real?").as_deref(), Some("not known"), "{page}");
}

fn one_submitter_makes_no_model_one_to_avoid(place: &TestData) {
    let hub = start(place);
    for number in 0..60 {
        sent(&hub, 77, &capacity("Rival", "fake", number));
    }
    for from in 0..5 {
        sent(&hub, from, &capacity("Rival", "genuine", from));
    }
    let found = fakes(&hub);
    assert_eq!((&found[0]["fakes"]["found"], &found[0]["fakes"]["of"]), (&json!(1), &json!(6)));
    assert_eq!(found[0]["is_to_avoid"], false);
    // Many who send one document are one.
    for from in 10..30 {
        sent(&hub, from, &capacity("Copied", "fake", 1));
    }
    sent(&hub, 31, &capacity("Copied", "genuine", 2));
    sent(&hub, 32, &capacity("Copied", "genuine", 3));
    let copied = fakes(&hub).into_iter().find(|it| it["name"] == "Copied, 32 GB").unwrap();
    assert_eq!((&copied["fakes"]["found"], &copied["fakes"]["of"]), (&json!(1), &json!(3)));
}

fn worn(model: &str, cycles: u64, has_ended: bool) -> Value {
    let end = has_ended.then_some(cycles);
    tested(
        model,
        "endurance",
        json!({"pattern": "random", "span_bytes": 1 << 30, "cycle_bytes": 1 << 30,
        "pages": 1 << 18, "cycles": cycles, "written_bytes": 1_u64 << 40, "bad_pages": if has_ended { 300 } else { 0 },
        "milestones": {"first_error": end, "0.1%": end}, "end": if has_ended { json!("read_only") } else { Value::Null },
        "stopped_by": if has_ended { "end" } else { "user" }}),
    )
}

fn worn_cards_tell_how_long_a_model_lasts(place: &TestData) {
    let hub = start(place);
    for (from, cycles) in [(0, 900), (1, 1000), (2, 1200), (3, 1300), (4, 1100)] {
        sent(&hub, from, &worn("Worn", cycles, true));
    }
    sent(&hub, 5, &worn("Worn", 800, false));
    for cycles in 1..40 {
        sent(&hub, 9, &worn("Worn", 2 + cycles, true));
    }
    let lives = hub.get_json("/api/v1/lives").json();
    let of = &lives["models"][0];
    assert_eq!(
        (&of["submitters"], &of["ended"]),
        (&json!(7), &json!(6)),
        "one run a submitter: {of}"
    );
    let median = of["median_cycles"].as_f64().unwrap();
    assert!((500.0..1300.0).contains(&median), "{of}");
    let page = hub.get("/lives").text();
    assert!(page.contains("Worn, 32 GB") && page.contains("/r/"), "{page}");
}

fn what_tests_have_found_is_on_the_page_of_the_card(place: &TestData) {
    let hub = start(place);
    let checked = |wrong: u64| json!({"writes": 9000, "reads": 9000, "flushes": 900, "wrong": wrong, "time_ns": 1});
    let setups = |ratio: f64| {
        json!({"rounds": 3, "comparisons": [{"title": "File systems", "baseline": "ext4",
        "confidence": 0.95, "results": [{"setup": "f2fs", "job": "fsync-4k", "deed": "write", "unit": "op/s",
        "rates": [1.0, 2.0], "ratio": {"estimate": ratio, "low": 1.2, "high": 2.5}, "costs": "none",
        "fit_for": "anything"}]}]})
    };
    for from in 0..3_u32 {
        let cuts = json!({"mode": "fsync", "power": "by hand", "queue_depth": 4, "writes_per_flush": 8,
            "area_bytes": 9, "cuts": 40 + from, "effective_cuts": 30, "harmful_cuts": 1, "findings": {"torn": 1}});
        sent(&hub, from, &tested("Tried", "power_cuts", cuts));
        let queue = json!({"queue": {"queue_depth": 32, "pieces": 5 + from, "span_bytes": 1, "control": checked(0),
            "queued": checked(u64::from(from == 0) * 40), "origin": {"read_bytes": 9, "from_device_bytes": 9}}});
        sent(&hub, from, &tested("Tried", "integrity", queue));
        sent(&hub, from, &tested("Tried", "setups", setups(1.5 + f64::from(from) / 10.0)));
    }
    let mut invented = setups(9.0);
    invented["comparisons"][0]["results"][0]["setup"] = json!("evil.example");
    sent(&hub, 9, &tested("Tried", "setups", invented));
    let id = sent(&hub, 3, &document("Tried", 100.0));
    let record = hub.get(&format!("/r/{id}")).text();
    let model = record.split("/models/").nth(1).unwrap().split('"').next().unwrap();
    let page = hub.get(&format!("/models/{model}")).text();
    for words in [
        "3 of 90 cuts during writes did harm: 0.7 to 9.4 %",
        "1 of 3 submitters found wrong data",
        "fsync-4k: f2fs is 1.60 times as fast as ext4 (3 submitters)",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    assert!(!page.contains("evil.example"), "{page}");
    let told = hub.get_json(&format!("/api/v1/models/{model}")).json();
    assert!(told["verdicts"].as_array().unwrap().len() >= 3, "{told}");
}

/// A card called `product` that was made in `month` of 2024.
fn made(product: &str, month: u32, from: u32, iops: f64) -> Value {
    let mut sent = document("x", iops);
    let card = json!({"manufacturer_id": "0x03", "oem_id": "SD", "product": product, "maker_maybe": "SanDisk",
        "manufactured": format!("2024-{month:02}")});
    sent["record"]["conditions"]["device"]["card"] = card;
    let board = ["Raspberry Pi 4 Model B", "Raspberry Pi 5"][from as usize % 2];
    sent["record"]["conditions"]["host"]["board"] = json!(board);
    sent
}

fn a_model_that_changed_is_found(place: &TestData) {
    let hub = start(place);
    let send_all = |product: &str, change: f64, first: u32| {
        let mut id = String::new();
        for from in first..first + 60 {
            let month = 1 + from % 12;
            let noise = 1.0 + 0.03 * f64::from((from * 7919) % 13) / 6.0;
            let host = 1.0 + 0.5 * f64::from(from % 2);
            let step = if month >= 7 { change } else { 1.0 };
            id = sent(&hub, from, &made(product, month, from, 500.0 * noise * host * step));
        }
        let record = hub.get(&format!("/r/{id}")).text();
        record.split("/models/").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    let page = |model: String| hub.get(&format!("/models/{model}")).text();
    let same = page(send_all("SC16G", 1.0, 0));
    assert!(!same.contains("This model changed"), "{same}");
    let changed = page(send_all("SC32G", 0.8, 100));
    assert!(changed.contains("This model changed: cards made from 2024-07 on have -"), "{changed}");
}

fn hostile_verdicts_are_refused_or_harmless(place: &TestData) {
    let hub = start(place);
    let mut bad = capacity("Any", "fake", 1);
    bad["capacity"]["probability"] = json!(2.0);
    assert_eq!(send(&hub, 1, &bad).0, 422);
    bad["capacity"] = json!({"verdict": "fake"});
    assert_eq!(send(&hub, 1, &bad).0, 422);
    let endless = 9_000_000_000_000_000_000_u64;
    let cuts = json!({"mode": "fsync", "power": "command", "queue_depth": 1, "writes_per_flush": 1, "area_bytes": 1,
        "cuts": endless, "effective_cuts": endless, "harmful_cuts": endless - 1});
    assert_eq!(send(&hub, 1, &tested("Any", "power_cuts", cuts)).0, 422);
    let mut named = capacity("Any", "<script>evil</script>", 1);
    named["capacity"]["kind"] = json!("/home/someone");
    let id = sent(&hub, 1, &named);
    let kept = hub.get_json(&format!("/r/{id}")).json();
    assert_eq!(
        (&kept["capacity"]["verdict"], &kept["capacity"]["kind"]),
        (&json!("undecided"), &json!("withheld"))
    );
    // What is amended is judged anew.
    let (id, token) = {
        let (_, receipt) = send(&hub, 2, &capacity("Other", "fake", 1));
        (receipt["id"].as_str().unwrap().to_owned(), receipt["token"].as_str().unwrap().to_owned())
    };
    for from in 3..5 {
        sent(&hub, from, &capacity("Other", "genuine", from));
    }
    assert_eq!(fakes(&hub)[0]["fakes"]["found"], 1);
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let better = capacity("Other", "genuine", 9).to_string();
    let path = format!("/r/{id}");
    assert_eq!(request(&hub.address, "PUT", &path, &headers, better.as_bytes()).status, 200);
    assert_eq!(fakes(&hub)[0]["fakes"]["found"], 0);
}
