//! What models and hosts are called, and what counts: public records alone, and none that has gone.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::common::client::{Answer, request};
use crate::common::{Hub, TestData, document};

on_both!(
    no_name_outlives_its_record,
    hidden_records_count_nowhere,
    hosts_without_latin_letters_have_pages,
    a_card_that_is_a_number_is_explained,
    a_number_leads_to_its_page,
    a_record_that_waits_has_no_dead_links,
);

/// A card of one model whatever its maker, on a board of one address whatever its signs.
fn card(product: &str, maker: &str, board: &str) -> Value {
    let mut sent = document("x", 100.0);
    let conditions = &mut sent["record"]["conditions"];
    conditions["device"]["card"] = json!({"manufacturer_id": "0x03", "oem_id": "SD", "product": product, "maker_maybe": maker});
    conditions["host"]["board"] = json!(board);
    sent
}

struct Moderator(String);

impl Moderator {
    fn does(&self, hub: &Hub, action: &str, id: &str) {
        let wish = json!({"action": action, "reason": "a test"});
        let answer = send(hub, "POST", &format!("/api/v1/moderation/{id}"), &self.0, &wish);
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

fn send(hub: &Hub, method: &str, path: &str, token: &str, body: &Value) -> Answer {
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    request(&hub.address, method, path, &headers, body.to_string().as_bytes())
}

/// The models that a search finds, by their keys: name and number of records.
fn models(hub: &Hub, query: &str) -> BTreeMap<String, (String, i64)> {
    let found = hub.get_json(&format!("/api/v1/search?q={query}")).json();
    let models = found["models"].as_array().unwrap().iter();
    let of = |it: &Value| (it["name"].as_str().unwrap().to_owned(), it["submissions"].as_i64());
    models
        .map(|it| (it["model"].as_str().unwrap().to_owned(), (of(it).0, of(it).1.unwrap())))
        .collect()
}

fn a_card_that_is_a_number_is_explained(place: &TestData) {
    let words = "shown by its number until 3 submitters agree on its name";
    for (least, is_told) in [("3", true), ("1", false)] {
        let hub = place.start(&["--no-seed", "--no-dump", "--submitters-min", least]);
        hub.submitted(&document(&format!("Named by {least}"), 1.0));
        let latest = hub.get("/latest").text();
        assert_eq!((latest.contains("Card no. "), latest.contains(words)), (is_told, is_told));
    }
}

/// Where a search for `typed` leads, as an address without the hub's.
fn led(hub: &Hub, typed: &str, more: &str) -> String {
    let answer = hub.get(&format!("/search?q={}{more}", typed.replace(' ', "+")));
    let location = answer.head.lines().find_map(|line| line.strip_prefix("location: "));
    location.unwrap_or_else(|| panic!("{typed}{more}: {}", answer.text())).trim().to_owned()
}

fn a_number_leads_to_its_page(place: &TestData) {
    let hub = place.start(&["--no-dump", "--submitters-min", "3"]);
    let sent = hub.submit(&document("Unagreed 32 GB", 1.0), &[]).json();
    let (other, token) = hub.submitted(&document("Another 64 GB", 1.0));
    let (id, url) = (sent["id"].as_str().unwrap(), sent["url"].as_str().unwrap());
    let page = hub.get(&format!("/r/{id}")).text();
    let of = |text: &str, before: &str, after: char| {
        text.split(before).nth(1).unwrap().split(after).next().unwrap().to_owned()
    };
    let (key, title) = (of(&page, "of <a href=\"/models/", '"'), of(&page, "\">Card no. ", '<'));
    let number = title.split(',').next().unwrap().to_owned();
    let [record, card] = [format!("/r/{id}"), format!("/models/{key}")];
    assert!(hub.get(&card).text().contains("<dd>SD card</dd>"), "how it is attached, in words");
    for (typed, there) in [
        (id.to_owned(), &record),
        (id.to_uppercase(), &record),
        (format!("{} {} {}", &id[..4], &id[4..9], &id[9..]), &record),
        (format!("Record {id}"), &record),
        (url.to_owned(), &record),
        (format!("{url}.json"), &record),
        (sent["path"].as_str().unwrap().to_owned(), &record),
        (format!("Shared: {url}"), &record),
        (format!("Card no. {title} ({id})"), &record),
        (number.clone(), &card),
        (number.to_uppercase(), &card),
        (format!("{} {}", &number[..4], &number[4..]), &card),
        (format!("Card no. {title}"), &card),
        (key.clone(), &card),
        (format!("http://{}{card}", hub.address), &card),
    ] {
        assert_eq!(&led(&hub, &typed, ""), there, "{typed}");
    }
    assert_eq!(led(&hub, "REF-SanDisk-Extreme-A1", ""), "/r/ref-sandisk-extreme-a1");
    assert_eq!(led(&hub, id, "&ids=sim-v30-a2"), format!("/compare?ids=sim-v30-a2,{id}"));
    assert_eq!(led(&hub, id, &format!("&card={key}")), format!("/compare?cards={key},{key}"));
    assert_eq!(hub.get(&led(&hub, &number, "&ids=sim-v30-a2")).status, 200);
    let found = hub.get_json(&format!("/api/v1/search?q={}", id.to_uppercase())).json();
    assert_eq!((&found["record"], &found["models"][0]["model"]), (&json!(id), &json!(key)));
    let found = hub.get_json(&format!("/api/v1/search?q={number}")).json();
    assert_eq!((&found["record"], &found["models"][0]["model"]), (&Value::Null, &json!(key)));
    // A deleted record's address says that it was deleted; what was never there is not found.
    assert_eq!(hub.delete(&other, &token).status, 204);
    assert_eq!(hub.get(&led(&hub, &other, "")).status, 410);
    assert!(hub.get("/search?q=zzzzzzzzzzzzz").text().contains("Nothing is like"));
    // The number of a record on its sender's computer, which no hub knows.
    let own = hub.get("/search?q=SIM-ultra-standard-3867174667161538-8D0E764B").text();
    let advice = format!("cardproof submit 8d0e764b --to http://{}</pre>", hub.address);
    assert!(own.contains(&advice), "{own}");
    let card = hub.get(&format!("/search?q={number}&card=nowhere"));
    assert_eq!(card.status, 200, "{}", card.head);
}

fn a_record_that_waits_has_no_dead_links(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump", "--behind-proxy", "--first-records", "0"]);
    let first = [("X-Forwarded-For", "203.0.113.9")];
    hub.submit(&document("First", 1.0), &first);
    let waits = hub.submit(&card("SC16G", "SanDisk", "Board of its own"), &first).json();
    assert_eq!(waits["waits"], true);
    let path = waits["path"].as_str().unwrap();
    hub.manifest();
    let page = hub.get(path).text();
    let links = page.split("href=\"/").skip(1).map(|rest| rest.split('"').next().unwrap());
    for link in links {
        assert_eq!(hub.get(&format!("/{link}")).status, 200, "{link}");
    }
    assert!(page.contains("Card no. "), "{page}");
    assert_eq!(led(&hub, waits["id"].as_str().unwrap(), ""), path);
}

fn no_name_outlives_its_record(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let moderator = Moderator(place.administrator());
    for (way, product) in [("delete", "AAAAA"), ("hide", "BBBBB"), ("amend", "CCCCC")] {
        let (id, token) = hub.submitted(&card(product, "SanDisk Плохо", "Pi!!Four"));
        hub.submitted(&card(product, "SanDisk", "Pi Four"));
        let found = models(&hub, product);
        assert_eq!(found.len(), 1, "{found:?}");
        let (key, (name, count)) = found.first_key_value().unwrap();
        assert!(name.contains("Плохо") && *count == 2, "the first names it: {found:?}");
        let paths = [
            format!("/models/{key}"),
            format!("/search?q={product}"),
            format!("/api/v1/models/{key}"),
            format!("/models/{key}/badge.svg"),
            "/models".to_owned(),
            "/hosts".to_owned(),
            "/latest".to_owned(),
        ];
        let named = |name: &str| -> Vec<&String> {
            paths.iter().filter(|path| hub.get(path).text().contains(name)).collect()
        };
        assert_eq!(named("Плохо").len(), 6, "{:?}", named("Плохо"));
        match way {
            "delete" => assert_eq!(hub.delete(&id, &token).status, 204),
            "hide" => moderator.does(&hub, "hide", &id),
            _ => {
                let other = card("OTHER", "Samsung", "Board");
                assert_eq!(send(&hub, "PUT", &format!("/r/{id}"), &token, &other).status, 200);
            }
        }
        assert_eq!(named("Плохо"), Vec::<&String>::new(), "{way}");
        assert_eq!(named("Pi!!Four"), Vec::<&String>::new(), "{way}");
        let name = format!("SanDisk {product}, 32 GB");
        assert_eq!(models(&hub, product)[key], (name.clone(), 1), "{way}");
        assert!(hub.get(&paths[0]).text().contains("on Pi Four,"), "{way}");
        // Found by what it is called now, and not by what it was called.
        assert!(models(&hub, "SanDisk").contains_key(key), "{way}");
        assert!(models(&hub, "%D0%9F%D0%BB%D0%BE%D1%85%D0%BE").is_empty(), "{way}");
    }
}

fn hidden_records_count_nowhere(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let moderator = Moderator(place.administrator());
    let (first, _) = hub.submitted(&card("SC16G", "SanDisk", "Board one"));
    let (second, token) = hub.submitted(&card("SC16G", "SanDisk", "Board two"));
    let (other, other_token) = hub.submitted(&card("EVO32", "Samsung", "Board three"));
    let key = models(&hub, "SC16G").into_keys().next().unwrap();
    let evo = models(&hub, "EVO32").into_keys().next().unwrap();
    let seen = || {
        let (front, hosts) = (hub.get("/").text(), hub.get("/hosts").text());
        let words =
            front.split(" card models.").next().unwrap().rsplit('>').next().unwrap().to_owned();
        let bases = front.split("</select>").next().unwrap().matches("<option").count();
        (words, models(&hub, "SC16G").get(&key).cloned(), hosts.matches("/hosts/").count(), bases)
    };
    let all = seen();
    assert_eq!(all.0, "3 records of 2");
    assert_eq!(all.1.as_ref().unwrap().1, 2);
    moderator.does(&hub, "hide", &second);
    moderator.does(&hub, "hide", &second);
    moderator.does(&hub, "hide", &other);
    let few = seen();
    assert_eq!((few.0.as_str(), few.1.as_ref().unwrap().1), ("1 records of 1", 1));
    assert_eq!((all.2 - few.2, all.3 - few.3), (2, 2), "hosts and ways of measuring go too");
    assert_eq!(hub.get(&format!("/models/{evo}")).status, 404);
    assert!(models(&hub, "EVO32").is_empty());
    // What is hidden stays hidden when it is amended, and counts nowhere when it is deleted.
    let amended = card("EVO64", "Samsung", "Board four");
    let path = format!("/r/{other}");
    assert_eq!(send(&hub, "PUT", &path, &other_token, &amended).status, 200);
    assert!(models(&hub, "EVO64").is_empty());
    assert_eq!(seen(), few);
    assert_eq!(
        send(&hub, "PUT", &path, &other_token, &card("EVO32", "Samsung", "Board three")).status,
        200
    );
    moderator.does(&hub, "show", &second);
    moderator.does(&hub, "show", &other);
    moderator.does(&hub, "show", &other);
    assert_eq!(seen(), all);
    moderator.does(&hub, "hide", &second);
    assert_eq!(hub.delete(&second, &token).status, 204);
    moderator.does(&hub, "delete", &other);
    assert_eq!(seen(), few);
    moderator.does(&hub, "delete", &first);
    assert_eq!(seen().0, "0 records of 0");
}

fn hosts_without_latin_letters_have_pages(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    for board in ["ラズパイ", "树莓派", "Orange ラズパイ", "Orange"] {
        hub.submitted(&card("SC16G", "SanDisk", board));
    }
    let hosts = hub.get("/hosts").text();
    for board in ["ラズパイ", "树莓派", "Orange ラズパイ", "Orange"] {
        let link = hosts.split("<a href=\"").find(|rest| rest.contains(&format!(">{board}</a>")));
        let path = link.unwrap_or_else(|| panic!("{board}: {hosts}")).split('"').next().unwrap();
        let page = hub.get(path);
        assert_eq!(page.status, 200, "{path}");
        assert_eq!(page.text().matches("<li><a href=\"/r/").count(), 1, "{path}");
        assert!(page.text().contains(&format!("<h1>{board}</h1>")), "{path}");
    }
}
