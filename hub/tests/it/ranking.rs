//! The order of cards under attack, and that it answers: one vote a submitter, nothing that one submitter invents is
//! shown, and a submission changes the order at once.

use serde_json::{Value, json};

use crate::common::{Hub, TestData, document};

on_both!(
    many_records_of_one_submitter_are_one_vote,
    what_one_submitter_invents_is_not_shown,
    a_document_counts_once,
    prices_to_come_are_refused_and_old_ones_have_no_worth,
    a_first_burst_waits_for_a_look,
    an_order_follows_every_change,
);

const OPTIONS: [&str; 6] =
    ["--no-seed", "--no-dump", "--behind-proxy", "--submitters-min", "3", "--first-records"];

fn start(place: &TestData, first_records: &str) -> Hub {
    place.start(&[&OPTIONS[..], &[first_records, "--submissions-per-hour", "0"]].concat())
}

/// The number and the token of a record of the card `model` with so many writes a second, sent from a network of its own.
fn send(hub: &Hub, from: u32, document: &Value) -> (u16, Value) {
    let client = format!("198.{}.{}.7", 18 + from / 256, from % 256);
    let answer = hub.submit(document, &[("X-Forwarded-For", &client)]);
    (answer.status, answer.json())
}

fn sent(hub: &Hub, from: u32, model: &str, iops: f64) -> Value {
    let (status, receipt) = send(hub, from, &document(model, iops));
    assert_eq!(status, 201, "{receipt}");
    receipt
}

fn ranking(hub: &Hub, query: &str) -> Value {
    hub.get_json(&format!("/api/v1/ranking?use=system{query}")).json()
}

/// The names of the cards in their order.
fn names(ranking: &Value) -> Vec<String> {
    let cards = ranking["cards"].as_array().unwrap().iter();
    cards.map(|it| it["name"].as_str().unwrap().to_owned()).collect()
}

/// Two cards of which the first is twice as fast, by five submitters each.
fn two_cards(hub: &Hub) {
    for from in 0..5 {
        sent(hub, from, "Quick", 1000.0 + 20.0 * f64::from(from));
        sent(hub, from, "Slow", 500.0 + 10.0 * f64::from(from));
    }
}

fn many_records_of_one_submitter_are_one_vote(place: &TestData) {
    let hub = start(place, "1000");
    two_cards(&hub);
    let before = ranking(&hub, "");
    assert_eq!(names(&before), ["Quick, 32 GB", "Slow, 32 GB"]);
    assert_eq!(before["cards"][0]["submitters"], 5);
    assert_eq!(before["cards"][1]["place"], 2, "their intervals do not overlap");
    for at in 0..60 {
        sent(&hub, 77, "Slow", 9000.0 + f64::from(at));
    }
    let after = ranking(&hub, "");
    assert_eq!(names(&after), names(&before));
    assert_eq!(after["cards"][1]["submitters"], 6);
    let value = |of: &Value| of["cards"][1]["value"].as_f64().unwrap();
    assert!((value(&after) / value(&before) - 1.0).abs() < 0.1, "{after}");
}

fn what_one_submitter_invents_is_not_shown(place: &TestData) {
    let hub = start(place, "1000");
    two_cards(&hub);
    let mut invented = document("Buy at evil.example", 2000.0);
    invented["record"]["conditions"]["host"]["board"] = json!("Best board of evil.example");
    let mut on_known_board = document("Wonder of evil.example", 3000.0);
    on_known_board["record"]["conditions"]["device"]["vendor"] = json!("evil.example");
    for at in 0..40 {
        invented["record"]["phases"][0]["ops"] = json!(1000 + at);
        on_known_board["record"]["phases"][0]["ops"] = json!(1000 + at);
        assert_eq!(send(&hub, 77, &invented).0, 201);
        assert_eq!(send(&hub, 77, &on_known_board).0, 201);
    }
    let path = "/api/v1/ranking?board=Best";
    assert_eq!(hub.get_json(path).status, 404, "and never the order of another board");
    let found = ranking(&hub, "");
    assert_eq!(names(&found), ["Quick, 32 GB", "Slow, 32 GB"]);
    assert_eq!(found["boards"].as_array().unwrap().len(), 1, "{found}");
    for path in ["/", "/latest", "/models", "/hosts", "/feed.atom", "/search?q=wonder"] {
        let page = hub.get(path).text();
        assert!(!page.contains("evil.example"), "{path}: {page}");
    }
    // With two more who agree, a card and a board have their names.
    for from in [78, 79] {
        assert_eq!(send(&hub, from, &invented).0, 201);
    }
    invented["record"]["phases"][0]["ops"] = json!(5000);
    assert_eq!(send(&hub, 78, &invented).0, 201);
    invented["record"]["phases"][0]["ops"] = json!(5001);
    assert_eq!(send(&hub, 79, &invented).0, 201);
    assert_eq!(ranking(&hub, "")["boards"].as_array().unwrap().len(), 2);
}

fn a_document_counts_once(place: &TestData) {
    let hub = start(place, "1000");
    for from in 0..3 {
        sent(&hub, from, "Card", 100.0);
    }
    assert_eq!(ranking(&hub, "")["cards"], json!([]), "three senders of one document are one");
    sent(&hub, 1, "Card", 101.0);
    sent(&hub, 2, "Card", 102.0);
    let found = ranking(&hub, "");
    assert_eq!(found["cards"][0]["submitters"], 3, "{found}");
}

fn prices_to_come_are_refused_and_old_ones_have_no_worth(place: &TestData) {
    let hub = start(place, "1000");
    two_cards(&hub);
    let priced = |model: &str, iops: f64, date: &str, amount: f64| {
        let mut sent = document(model, iops);
        sent["price"] = json!({"amount": amount, "currency": "EUR", "date": date});
        sent
    };
    let (status, told) = send(&hub, 9, &priced("Quick", 1000.0, "2099-01-01", 1.0));
    assert_eq!((status, &told["error"]), (409, &json!("price_to_come")), "{told}");
    assert!(told["message"].as_str().unwrap().contains("in the future"));
    assert_eq!(send(&hub, 9, &priced("Quick", 1001.0, "2019-01-01", 0.01)).0, 201);
    assert_eq!(ranking(&hub, "")["cards"][0]["price"], Value::Null);
    let today = cardproof_hub::clock::day(cardproof_hub::clock::now_ms());
    for (from, amount) in [(10, 20.0), (11, 22.0), (12, 5000.0)] {
        let iops = 1000.0 + f64::from(from);
        assert_eq!(send(&hub, from, &priced("Quick", iops, &today, amount)).0, 201);
    }
    let price = &ranking(&hub, "")["cards"][0]["price"];
    assert_eq!((&price["amount"], &price["submitters"]), (&json!(22.0), &json!(3)));
}

fn a_first_burst_waits_for_a_look(place: &TestData) {
    let hub = start(place, "4");
    let administrator = place.administrator();
    let receipts: Vec<Value> =
        (0..6).map(|at| sent(&hub, 5, &format!("Card {at}"), 100.0)).collect();
    let waits: Vec<bool> = receipts.iter().map(|it| it["waits"].as_bool().unwrap()).collect();
    assert_eq!(waits, [false, false, false, false, true, true]);
    let path = receipts[5]["path"].as_str().unwrap();
    let page = hub.get(path);
    assert!(
        page.status == 200 && page.text().contains("waits for an administrator"),
        "{}",
        page.text()
    );
    let listed = || hub.get("/latest").text().matches("<li><a href=\"/r/").count();
    assert_eq!((listed(), hub.dumped().len()), (4, 4));
    let bearer = format!("Bearer {administrator}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let address = format!("/api/v1/moderation/{}", receipts[5]["id"].as_str().unwrap());
    let wish = json!({"action": "approve", "reason": "it is real"}).to_string();
    let approved =
        crate::common::client::request(&hub.address, "POST", &address, &headers, wish.as_bytes());
    assert_eq!(approved.status, 200, "{}", approved.text());
    assert_eq!((listed(), hub.dumped().len()), (5, 5));
    assert!(hub.get("/latest").text().contains("Card 5"), "what was approved has its name");
    assert!(!hub.get("/latest").text().contains("Card 4"));
}

fn an_order_follows_every_change(place: &TestData) {
    let mut hub = start(place, "1000");
    two_cards(&hub);
    assert_eq!(names(&ranking(&hub, "")).len(), 2);
    let third: Vec<Value> =
        (0..3).map(|from| sent(&hub, from, "Third", 3000.0 + f64::from(from))).collect();
    assert_eq!(names(&ranking(&hub, ""))[0], "Third, 32 GB");
    let sorted = ranking(&hub, "&kind=usb");
    assert_eq!(names(&sorted), Vec::<String>::new());
    hub.stop();
    let hub = start(place, "1000");
    assert_eq!(names(&ranking(&hub, ""))[0], "Third, 32 GB", "it is read again at the start");
    for receipt in third {
        let (id, token) = (receipt["id"].as_str().unwrap(), receipt["token"].as_str().unwrap());
        assert_eq!(hub.delete(id, token).status, 204);
    }
    assert_eq!(names(&ranking(&hub, "")), ["Quick, 32 GB", "Slow, 32 GB"]);
    assert!(hub.get("/").text().contains("Quick, 32 GB"));
}
