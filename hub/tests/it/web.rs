//! What other sites and programs rely on: tags, access from pages of others, feeds, previews, the map of the site; and two
//! cards side by side.

use serde_json::{Value, json};

use crate::common::client::request;
use crate::common::{Hub, TestData, document};

on_both!(
    data_has_a_tag_and_may_be_read_by_any_site,
    cards_and_hosts_have_feeds_and_previews,
    two_cards_are_compared,
    a_records_page_has_what_its_submitter_says_beside_it,
    cards_are_called_what_they_were_sold_as,
    what_is_not_understood_is_refused_in_one_form,
    who_may_not_amend_is_told_before_the_document_is_read,
);

fn data_has_a_tag_and_may_be_read_by_any_site(place: &TestData) {
    let hub = place.start(&[]);
    hub.manifest();
    let file = hub.manifest()["files"][0]["path"].as_str().unwrap().to_owned();
    let paths = [
        "/api/v1/ranking",
        "/api/v1/fakes",
        "/data/manifest.json",
        "/r/sim-v30-a2.json",
        &format!("/data/{file}"),
    ];
    for path in paths {
        let first = hub.get_json(path);
        assert!(first.head.contains("access-control-allow-origin: *"), "{path}: {}", first.head);
        let tag = first.head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
        let headers = [("Accept", "application/json"), ("If-None-Match", tag.trim())];
        let again = request(&hub.address, "GET", path, &headers, b"");
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
        let other = request(&hub.address, "GET", path, &[("If-None-Match", "\"other\"")], b"");
        assert_eq!(other.status, 200, "{path}");
    }
    assert!(!hub.get("/").head.contains("access-control"), "a page is for its readers");
    let tag = |hub: &Hub| {
        let head = hub.get_json("/api/v1/search?q=mighty").head;
        head.lines().find(|line| line.starts_with("etag: ")).unwrap().to_owned()
    };
    let before = tag(&hub);
    hub.submitted(&document("Mighty", 1.0));
    assert_ne!(tag(&hub), before, "what has changed has another tag");
}

fn cards_and_hosts_have_feeds_and_previews(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump", "--public-url", "https://hub.example.org"]);
    let (id, _) = hub.submitted(&document("Mighty <b> & co", 100.0));
    let model = hub.get_json("/api/v1/search?q=mighty").json()["models"][0]["model"].clone();
    let model = model.as_str().unwrap();
    let host = "raspberry-pi-4-model-b";
    for path in [format!("/models/{model}"), format!("/hosts/{host}")] {
        let feed = hub.get(&format!("{path}/feed.atom"));
        assert!(feed.head.contains("application/atom+xml"), "{}", feed.head);
        let text = feed.text();
        assert!(text.contains(&format!("https://hub.example.org/r/{id}")), "{text}");
        assert!(
            text.contains(&format!(
                "rel=\"self\" href=\"https://hub.example.org{path}/feed.atom\""
            )),
            "{text}"
        );
        assert!(hub.get(&path).text().contains(&format!("href=\"{path}/feed.atom\"")), "{path}");
    }
    assert_eq!(hub.get("/models/none/feed.atom").status, 404);
    for path in [format!("/models/{model}"), format!("/r/{id}")] {
        let page = hub.get(&path).text();
        assert!(page.contains("<meta property=\"og:title\" content=\"Mighty"), "{path}: {page}");
        assert!(!page.contains("Mighty <b>"), "{path}");
        // The policy of a report allows no request, so the browser would be asked for what it may not have.
        assert_eq!(page.contains("rel=\"icon\""), path.starts_with("/models/"), "{path}");
    }
    let map = hub.get("/sitemap.xml").text();
    assert!(map.contains(&format!("<loc>https://hub.example.org/models/{model}</loc>")), "{map}");
    assert!(hub.get("/robots.txt").text().contains("https://hub.example.org/sitemap.xml"));
    let api = hub.get("/api").text();
    assert!(
        api.contains("GET /api/v1/ranking") && api.contains("POST /api/v1/submissions"),
        "{api}"
    );
}

fn two_cards_are_compared(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump", "--submissions-per-hour", "0"]);
    for at in 0..12_u32 {
        hub.submitted(&document("Quick", 1000.0 + f64::from(at)));
        hub.submitted(&document("Slow", 300.0 + f64::from(at)));
    }
    let found = hub.get_json("/api/v1/search?q=quick").json();
    let quick = found["models"][0]["model"].as_str().unwrap().to_owned();
    let found = hub.get_json("/api/v1/search?q=slow").json();
    let slow = found["models"][0]["model"].as_str().unwrap().to_owned();
    let search = hub.get(&format!("/search?q=slow&card={quick}")).text();
    let address = format!("/compare?cards={quick},{slow}");
    assert!(search.contains(&format!("href=\"{address}\"")), "{search}");
    let page = hub.get(&address).text();
    assert!(page.contains("<td>0.30</td>"), "{page}");
    assert!(page.contains("card 1 ") && page.contains("Raspberry Pi 4: card 1 "), "{page}");
    assert_eq!(hub.get(&format!("/compare?cards={quick}")).status, 400);
    assert_eq!(hub.get(&format!("/compare?cards={quick},none")).status, 404);
}

fn what_is_not_understood_is_refused_in_one_form(place: &TestData) {
    let hub = place.start(&["--no-dump"]);
    let long = format!("/api/v1/search?q={}", "a".repeat(201));
    for (method, path, status) in [
        ("GET", "/api/v1/search?q=a&q=b", 400),
        ("GET", long.as_str(), 400),
        ("GET", "/api/v1/search?q=%00", 400),
        ("GET", "/api/v1/search?q=%ff", 200),
        ("GET", "/api/v1/ranking?use=bogus", 400),
        ("GET", "/api/v1/ranking?sort=bogus", 400),
        ("GET", "/api/v1/ranking?board=nope", 404),
        ("GET", "/api/v1/ranking?price=abc", 400),
        ("GET", "/api/v1/ranking?price=-1", 400),
        ("GET", "/api/v1/ranking?gb=-1", 400),
        ("GET", "/?use=camera&kind=&gb=&maker=&price=9.90&sort=worth", 200),
        ("GET", "/latest?before=bogus", 400),
        ("GET", "/r/%ff", 400),
        ("GET", "/nowhere", 404),
        ("PATCH", "/api/v1/search", 405),
        ("POST", "/r/sim-v30-a2/delete", 415),
    ] {
        let json = request(&hub.address, method, path, &[("Accept", "application/json")], b"");
        assert_eq!(json.status, status, "{method} {path}: {}", json.text());
        let page = request(&hub.address, method, path, &[("Accept", "text/html")], b"");
        if status != 200 {
            let told = json.json();
            assert!(told["error"].is_string() && told["message"].is_string(), "{path}: {told}");
            assert_eq!(page.text().contains("<h1>"), !path.starts_with("/api/"), "{path}");
        }
        assert_eq!(json.head.contains("\nallow: "), status == 405, "{}", json.head);
    }
}

fn who_may_not_amend_is_told_before_the_document_is_read(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let (id, token) = hub.submitted(&document("Card", 1.0));
    let put = |id: &str, token: &str| {
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        request(&hub.address, "PUT", &format!("/r/{id}"), &headers, b"{}").status
    };
    assert_eq!([put("missing", &token), put(&id, "wrong"), put(&id, &token)], [404, 401, 422]);
    assert_eq!(hub.delete(&id, &token).status, 204);
    assert_eq!(put(&id, &token), 410);
}

fn a_records_page_has_what_its_submitter_says_beside_it(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let page = |sent: &Value| hub.get(&format!("/r/{}", hub.submitted(sent).0)).text();
    let mut sent = document("Plain", 100.0);
    assert!(!page(&sent).contains("as its submitter says"));
    sent["label"] = json!("<b>Mine & \"best\"</b>");
    sent["price"] = json!({"amount": 9.9, "currency": "EUR", "date": "2026-01-02"});
    let told = page(&sent);
    let label =
        "Label, as its submitter says: &#60;b&#62;Mine &#38; &#34;best&#34;&#60;/b&#62;</p>";
    assert!(told.contains(label) && !told.contains("<b>Mine"), "{told}");
    assert!(told.contains("Price, as its submitter says: 9.90 EUR on 2026-01-02</p>"), "{told}");
    let title = told.split("<h1").nth(1).unwrap().split("</h1>").next().unwrap();
    assert!(!title.contains("Mine"), "{title}");
    sent.as_object_mut().unwrap().remove("price");
    assert!(!page(&sent).contains("Price, as its"), "a label alone");
}

fn cards_are_called_what_they_were_sold_as(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let mut sent = document("x", 100.0);
    sent["label"] = json!("Best card of the world");
    sent["record"]["conditions"]["device"] = json!({"name": "mmcblk0", "transport": "sd", "size_bytes": 63_864_569_856_u64,
        "card": {"manufacturer_id": "0x03", "oem_id": "0x5344", "product": "SN64G", "maker_maybe": "SanDisk"}});
    let (id, _) = hub.submitted(&sent);
    let page = hub.get(&format!("/r/{id}")).text();
    assert!(page.contains("perhaps SanDisk Extreme A2"), "{page}");
    let title = page.split("<h1").nth(1).unwrap().split("</h1>").next().unwrap();
    assert!(!title.contains("Best card"), "the card is the title: {title}");
    assert!(hub.get("/search?q=extreme+a2").text().contains("perhaps SanDisk Extreme A2"));
}
