//! The way of a submission: sent, found, compared, amended, deleted; and one that is sent again.

use std::thread;

use serde_json::{Value, json};

use crate::common::client::request;
use crate::common::{TestData, document};
use crate::moderation::act;

on_both!(
    a_submission_is_kept_found_compared_and_deleted,
    an_amended_submission_keeps_its_address,
    a_submission_that_is_sent_again_is_kept_once,
    a_record_that_is_sent_again_with_another_price_is_kept_once,
    a_record_that_is_sent_again_keeps_its_state,
    search_forgives_typing,
    every_page_answers,
    a_stopped_hub_ends_in_order_and_keeps_everything,
);

fn a_submission_is_kept_found_compared_and_deleted(place: &TestData) {
    let hub = place.start(&[]);
    assert_eq!(hub.get("/healthz").status, 200);
    let sent = document("Testcard Mighty 32 GB", 1234.0);
    let (id, token) = hub.submitted(&sent);
    let kept = hub.get_json(&format!("/r/{id}"));
    assert_eq!((kept.status, kept.json()), (200, sent.clone()));
    assert_eq!(hub.get_json(&format!("/r/{id}.json")).json(), sent);
    let page = hub.get(&format!("/r/{id}")).text();
    assert!(page.contains("Testcard Mighty 32 GB") && page.contains("<svg"), "{page}");
    assert!(hub.get("/search?q=testcrad+mighty").text().contains("Testcard Mighty"));
    let model = model_of(&page);
    let card = hub.get(&format!("/models/{model}")).text();
    assert!(card.contains("Figures by board") && card.contains(&id), "{card}");
    let compared = hub.get(&format!("/compare?ids={id},sim-sandisk-ultra,ref-sandisk-extreme-a1"));
    assert_eq!(compared.status, 200, "{}", compared.text());
    let text = compared.text();
    assert!(text.contains("published") && text.contains("simulated"), "the origins are marked");
    assert!(hub.dumped().iter().any(|line| line["id"] == id.as_str() && line["document"] == sent));
    assert_eq!(hub.delete(&id, "0123456789abcdef").status, 401);
    assert_eq!(hub.delete(&id, &token).status, 204);
    assert_eq!(hub.get_json(&format!("/r/{id}")).status, 410);
    assert_eq!(hub.delete(&id, &token).status, 410);
    assert!(hub.dumped().iter().all(|line| line["id"] != id.as_str()));
    assert_eq!(
        hub.get(&format!("/models/{model}")).status,
        404,
        "the model went with its last record"
    );
    assert!(!hub.get("/search?q=testcard+mighty").text().contains("Testcard Mighty"));
}

/// The model's name in addresses, from a record's page.
fn model_of(page: &str) -> String {
    page.split("/models/").nth(1).and_then(|rest| rest.split('"').next()).unwrap().to_owned()
}

fn an_amended_submission_keeps_its_address(place: &TestData) {
    let hub = place.start(&["--no-seed"]);
    let (id, token) = hub.submitted(&document("Alpha card", 100.0));
    let put = |token: &str, document: &Value| {
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        request(&hub.address, "PUT", &format!("/r/{id}"), &headers, document.to_string().as_bytes())
            .status
    };
    let second = document("Zulu drive", 200.0);
    assert_eq!(put("wrong", &second), 401);
    assert_eq!(put(&token, &second), 200);
    assert_eq!(hub.get_json(&format!("/r/{id}")).json(), second);
    assert!(hub.get("/search?q=alpha").text().contains("Nothing is like"));
    assert!(hub.get("/search?q=zulu").text().contains("Zulu drive"));
    assert_eq!(hub.delete(&id, &token).status, 204);
    assert_eq!(put(&token, &second), 410);
}

fn a_submission_that_is_sent_again_is_kept_once(place: &TestData) {
    let hub = place.start(&["--no-seed"]);
    let sent = document("Once", 100.0);
    let key = [("Idempotency-Key", "0123456789abcdef0123456789abcdef")];
    let receipts: Vec<Value> = thread::scope(|scope| {
        let tries: Vec<_> = (0..12).map(|_| scope.spawn(|| hub.submit(&sent, &key))).collect();
        let answers = tries.into_iter().map(|one| one.join().unwrap());
        answers
            .map(|answer| {
                assert!(matches!(answer.status, 200 | 201), "{}: {}", answer.status, answer.text());
                answer.json()
            })
            .collect()
    });
    assert!(receipts.iter().all(|receipt| *receipt == receipts[0]), "{receipts:?}");
    assert_eq!(hub.dumped().len(), 1);
    assert_eq!(hub.submit(&document("Other", 1.0), &key).status, 409);
    let (id, token) = (receipts[0]["id"].as_str().unwrap(), receipts[0]["token"].as_str().unwrap());
    assert_eq!(hub.delete(id, token).status, 204);
    assert!(hub.dumped().is_empty());
}

fn a_record_that_is_sent_again_with_another_price_is_kept_once(place: &TestData) {
    let hub = place.start(&["--no-seed"]);
    let price = |amount: f64, day: &str| json!({"amount": amount, "currency": "EUR", "date": day});
    let with = |price: Option<Value>, label: Option<&str>| {
        let mut sent = document("Once", 100.0);
        price.into_iter().for_each(|it| sent["price"] = it);
        label.into_iter().for_each(|it| sent["label"] = it.into());
        sent
    };
    let key = [("Idempotency-Key", "0123456789abcdef0123456789abcdef")];
    let first = with(Some(price(9.9, "2026-01-01")), None);
    let receipt = hub.submit(&first, &key).json();
    let id = receipt["id"].as_str().unwrap();
    let kept = || hub.get_json(&format!("/r/{id}")).json();
    for sent in [
        with(Some(price(9.9, "2026-01-02")), None),
        with(Some(price(8.5, "2026-01-02")), Some("mine")),
        with(None, Some("mine")),
        with(None, None),
        first.clone(),
    ] {
        let again = hub.submit(&sent, &key);
        assert_eq!((again.status, again.json()), (200, receipt.clone()), "{sent}");
        assert_eq!(kept(), sent);
        assert_eq!(hub.dumped().len(), 1);
    }
    // Another record is none of this key's, with the same price or another; one with another key is one of its own.
    let mut other = document("Other", 1.0);
    assert_eq!(hub.submit(&other, &key).status, 409);
    other["price"] = first["price"].clone();
    assert_eq!(hub.submit(&other, &key).status, 409);
    assert_eq!(kept(), first);
    let foreign = hub.submit(&with(None, None), &[("Idempotency-Key", "another-key-of-another")]);
    assert!(foreign.status == 201 && foreign.json()["id"] != receipt["id"]);
    assert_ne!(foreign.json()["token"], receipt["token"]);
    // A document that was put there with the token stays when the last one sent comes again.
    let put = with(Some(price(7.5, "2026-01-03")), None);
    let bearer = format!("Bearer {}", receipt["token"].as_str().unwrap());
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let put_there = put.to_string();
    let address = format!("/r/{id}");
    assert_eq!(request(&hub.address, "PUT", &address, &headers, put_there.as_bytes()).status, 200);
    assert_eq!(hub.submit(&first, &key).json(), receipt);
    assert_eq!(kept(), put);
}

/// In all lists, and as an administrator sees it.
fn a_record_that_is_sent_again_keeps_its_state(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let administrator = place.administrator();
    let key = [("Idempotency-Key", "0123456789abcdef0123456789abcdef")];
    let mut sent = document("Once", 100.0);
    let receipt = hub.submit(&sent, &key).json();
    let id = receipt["id"].as_str().unwrap();
    let hide = format!("id={id}&action=hide&reason=x");
    assert_eq!(act(&hub, &administrator, &hide), 303);
    sent["label"] = "mine".into();
    assert_eq!(hub.submit(&sent, &key).json()["token"], receipt["token"]);
    assert_eq!(hub.get(&format!("/r/{id}")).status, 404, "it stays hidden");
    assert!(!hub.get("/latest").text().contains(id));
    assert_eq!(hub.delete(id, receipt["token"].as_str().unwrap()).status, 204);
}

fn search_forgives_typing(place: &TestData) {
    let hub = place.start(&["--no-seed"]);
    for model in
        ["SanDisk Extreme Pro A2, 64 GB", "Samsung EVO+ 2016, 32 GB", "Samsung EVO+ 2017, 32 GB"]
    {
        hub.submitted(&document(model, 500.0));
    }
    for (query, found) in [
        ("sandsik extrem", "SanDisk Extreme Pro"),
        ("samsnug+evo", "Samsung EVO+ 2016"),
        ("EVO%2B+2017", "Samsung EVO+ 2017"),
        ("etxreme", "SanDisk Extreme Pro"),
    ] {
        let page = hub.get(&format!("/search?q={}", query.replace(' ', "+"))).text();
        assert!(page.contains(found), "{query}: {page}");
    }
    let models = hub.get_json("/api/v1/search?q=samsung").json();
    assert_eq!(models["models"].as_array().unwrap().len(), 2, "models of two years are two");
}

/// Every address of the description answers, and every page forbids scripts and other hosts.
fn every_page_answers(place: &TestData) {
    let hub = place.start(&[]);
    hub.manifest();
    let described = hub.get_json("/openapi.json").json();
    let model = hub.get_json("/api/v1/search?q=sandisk").json()["models"][0]["model"].clone();
    let model = model.as_str().unwrap();
    let of_description: Vec<String> =
        described["paths"].as_object().unwrap().keys().cloned().collect();
    for path in &of_description {
        let path = path
            .replace("{model}", model)
            .replace("{id}", "sim-sandisk-ultra")
            .replace("{host}", "simulated-host")
            .replace("/{table}/{name}", "/runs/x");
        let status = hub.get_json(&path).status;
        assert!(matches!(status, 200 | 308 | 401 | 404 | 405), "{path}: {status}");
        assert!(status != 404 || path.ends_with("/x"), "{path}");
    }
    for path in [
        "/",
        "/?use=camera",
        "/?use=camera&board=&kind=none&gb=32&maker=none&price=9.90&sort=worth",
        "/latest",
        "/latest?before=1",
        "/search",
        "/search?q=a",
        "/models",
        "/hosts",
        "/hosts/simulated-host",
        "/hosts/simulated-host/feed.atom",
        "/fakes",
        "/lives",
        "/api",
        "/favicon.svg",
        "/robots.txt",
        "/sitemap.xml",
        "/api/v1/ranking",
        "/compare",
        "/compare?ids=sim-v30-a2",
        "/data",
        "/data/queries",
        "/about",
        "/feed.atom",
        "/r/sim-v30-a2",
        "/r/sim-v30-a2/delete",
        "/style.css",
        "/metrics",
        &format!("/models/{model}"),
        &format!("/models/{model}?ids=sim-v30-a2"),
        &format!("/models/{model}/badge.svg"),
        &format!("/models/{model}/feed.atom"),
        &format!("/compare?cards={model},{model}"),
        &format!("/search?q=a&card={model}"),
    ] {
        let answer = hub.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.text());
        assert!(answer.head.contains("content-security-policy: default-src 'none'"), "{path}");
        let text = answer.text();
        assert!(!text.contains("<script"), "{path}");
        // A report carries its style with it; a page that forbids it is bare text.
        let allows_style = answer.head.contains("style-src 'unsafe-inline'");
        assert_eq!(text.contains("<style>"), allows_style, "{path}: {}", answer.head);
        for outside in ["src=\"http", "src=\"//", "@import", "url(http"] {
            assert!(!text.contains(outside), "{path}: {outside}");
        }
    }
    assert!(hub.get("/metrics").text().ends_with("# EOF\n"));
    assert!(hub.get("/").text().contains("scope=\"row\""), "the first page has cards");
    assert_eq!(hub.get("/ranking").status, 308);
}

fn a_stopped_hub_ends_in_order_and_keeps_everything(place: &TestData) {
    let mut hub = place.start(&[]);
    let (id, _) = hub.submitted(&document("Kept", 100.0));
    assert!(hub.stop().success(), "{}", hub.log());
    let again = place.start(&[]);
    assert_eq!(again.get_json(&format!("/r/{id}")).status, 200);
}
