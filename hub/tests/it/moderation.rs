//! Moderators: what an administrator can do, and that it is noted.

use std::collections::BTreeSet;

use cardproof_hub::store::draft::Draft;
use serde_json::{Value, json};

use crate::common::client::{Answer, request};
use crate::common::{Hub, TestData, document};
use crate::lists::{draft, keep};

on_both!(
    a_moderator_hides_shows_and_deletes_and_all_is_noted,
    a_browser_hides_many_and_bans,
    a_ban_outlives_the_records_and_can_be_lifted,
    all_on_a_page_are_chosen_at_once,
    an_administrator_sees_what_is_hidden,
    all_on_a_page_are_deleted_in_a_second_step,
    pages_that_refuse_lead_back,
    a_long_list_has_pages,
    reported_records_are_counted_until_somebody_decides,
    a_moderator_finds_a_record_by_its_number,
);

fn moderate(hub: &Hub, id: &str, token: &str, wish: &Value) -> Answer {
    let bearer = format!("Bearer {token}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    request(
        &hub.address,
        "POST",
        &format!("/api/v1/moderation/{id}"),
        &headers,
        wish.to_string().as_bytes(),
    )
}

fn a_moderator_hides_shows_and_deletes_and_all_is_noted(place: &TestData) {
    let hub = place.start(&["--no-seed"]);
    let token = place.administrator();
    let (id, own_token) = hub.submitted(&document("Doubtful", 100.0));
    let hide = json!({"action": "hide", "reason": "made up"});
    assert_eq!(moderate(&hub, &id, &own_token, &hide).status, 401, "a submitter is no moderator");
    assert_eq!(moderate(&hub, &id, &token, &json!({"action": "hide", "reason": ""})).status, 400);
    let without = moderate(&hub, &id, &token, &json!({"action": "hide"}));
    let told = without.json()["message"].as_str().unwrap().to_owned();
    assert!(without.status == 400 && told.starts_with("the reason is missing"), "{told}");
    assert_eq!(moderate(&hub, "missing", &token, &hide).status, 404);
    assert_eq!(moderate(&hub, &id, &token, &hide).status, 200);
    assert_eq!(hub.get(&format!("/r/{id}")).status, 404);
    assert!(hub.dumped().is_empty());
    assert_eq!(
        moderate(&hub, &id, &token, &json!({"action": "show", "reason": "it is real"})).status,
        200
    );
    assert_eq!(hub.get(&format!("/r/{id}")).status, 200);
    assert_eq!(
        moderate(&hub, &id, &token, &json!({"action": "delete", "reason": "asked for"})).status,
        200
    );
    assert_eq!(hub.get(&format!("/r/{id}")).status, 410);
    let bearer = format!("Bearer {token}");
    let audit =
        request(&hub.address, "GET", "/api/v1/audit", &[("Authorization", &bearer)], b"").json();
    let deeds: Vec<&str> = audit["deeds"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["action"].as_str().unwrap())
        .collect();
    assert_eq!(deeds, ["delete", "show", "hide", "add administrator"]);
    assert_eq!(hub.get("/api/v1/audit").status, 401);
    assert!(place.command("revoke-administrator").arg("anna").output().unwrap().status.success());
    assert_eq!(moderate(&hub, &id, &token, &hide).status, 401);
}

fn a_browser_hides_many_and_bans(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump", "--behind-proxy"]);
    let token = place.administrator();
    let send = |client: &str, at: u32| {
        let answer =
            hub.submit(&document(&format!("Card {at}"), 100.0), &[("X-Forwarded-For", client)]);
        assert_eq!(answer.status, 201);
        answer.json()
    };
    let ids: Vec<String> =
        (0..3).map(|at| send("203.0.113.9", at)["id"].as_str().unwrap().to_owned()).collect();
    let reported = request(
        &hub.address,
        "POST",
        &format!("/r/{}/report", ids[1]),
        &[("Accept", "text/html")],
        b"",
    );
    assert_eq!(reported.status, 200, "{}", reported.text());
    let asks = hub.get("/moderation");
    assert!(asks.status == 401 && asks.head.contains("www-authenticate: basic"), "{}", asks.head);
    let basic = format!("Basic {}", base_64(&format!("admin:{token}")));
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let get = |path: &str| {
        request(
            &hub.address,
            "GET",
            path,
            &[("Authorization", &basic), ("Accept", "text/html")],
            b"",
        )
        .text()
    };
    let list = get("/moderation?state=reported");
    assert!(list.contains(&ids[1]) && !list.contains(&ids[0]), "{list}");
    assert!(ids.iter().all(|id| get("/moderation?state=newest").contains(id)));
    let act = |body: &str| act(&hub, &token, body);
    assert_eq!(act(&format!("id={}&action=hide&reason=", ids[0])), 400, "a deed needs a reason");
    assert_eq!(act(&format!("id={}&id={}&action=hide&reason=made+up", ids[0], ids[1])), 303);
    let seen = ids.iter().map(|id| hub.get(&format!("/r/{id}")).status);
    assert_eq!(seen.collect::<Vec<u16>>(), [404, 404, 200]);
    assert!(get("/moderation?state=hidden").contains(&ids[0]));
    assert_eq!(act(&format!("id={}&action=ban&reason=made+up", ids[2])), 303);
    assert_eq!(send("203.0.113.77", 7)["waits"], true, "another address of the same network");
    assert_eq!(send("198.51.100.1", 8)["waits"], false);
    assert!(get("/moderation?state=banned").contains("Card 7"));
    assert_eq!(act(&format!("id={}&action=unban&reason=a+mistake", ids[2])), 303);
    assert_eq!(send("203.0.113.77", 9)["waits"], false);
    let wish = |action: &str| json!({"action": action, "reason": "as in a browser"});
    assert!(hub.get("/metrics").text().contains("cardproof_hub_records_waiting 1\n"));
    let page = get("/moderation?state=newest");
    assert!(page.contains("(5 records)") && page.contains("(1 record)"), "{page}");
    assert!(page.contains("6 records, 2 of them hidden."), "{page}");
    assert!(page.contains("256 addresses") && page.contains("<dt>delete</dt>"), "{page}");
    let banned = moderate(&hub, &ids[2], &token, &wish("ban"));
    assert_eq!(banned.status, 200);
    let note = banned.json()["note"].as_str().unwrap().to_owned();
    assert!(note.contains("whole network") && note.ends_with(": 4"), "{note}");
    let key = [("X-Forwarded-For", "203.0.113.77"), ("Idempotency-Key", "the-key-of-this-one")];
    for status in [201, 200] {
        let answer = hub.submit(&document("Card 10", 100.0), &key);
        assert_eq!((answer.status, &answer.json()["waits"]), (status, &json!(true)));
    }
    let unbanned = moderate(&hub, &ids[2], &token, &wish("unban"));
    assert_eq!(unbanned.status, 200);
    let note = unbanned.json()["note"].as_str().unwrap().to_owned();
    assert!(note.contains("2 from it still wait"), "{note}");
    assert!(hub.get("/moderation").status == 401 && get("/moderation").contains(">2 records"));
    assert_eq!(send("203.0.113.77", 11)["waits"], false);
    assert!(get("/moderation").contains("Card 7"));
    let foreign = [("Authorization", basic.as_str()), form, ("Sec-Fetch-Site", "cross-site")];
    let body = format!("id={}&action=delete&reason=x", ids[2]);
    assert_eq!(request(&hub.address, "POST", "/moderation", &foreign, body.as_bytes()).status, 400);
}

fn a_ban_outlives_the_records_and_can_be_lifted(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump", "--behind-proxy"]);
    let token = place.administrator();
    let send = |name: &str| {
        let answer = hub.submit(&document(name, 100.0), &[("X-Forwarded-For", "203.0.113.9")]);
        assert_eq!(answer.status, 201);
        answer.json()
    };
    let ids = ["Card 1", "Card 2"].map(|name| send(name)["id"].as_str().unwrap().to_owned());
    assert!(!page(&hub, &token, "/moderation?state=banned").contains("<h2>Bans</h2>"));
    assert_eq!(act(&hub, &token, &format!("id={}&action=ban&reason=made+up", ids[0])), 303);
    let all = format!("id={}&id={}&action=delete&reason=made+up", ids[0], ids[1]);
    assert_eq!(act(&hub, &token, &all), 303);
    let bearer = format!("Bearer {token}");
    let get =
        |path: &str| request(&hub.address, "GET", path, &[("Authorization", &bearer)], b"").json();
    let bans = get("/api/v1/bans")["bans"].clone();
    let ban = &bans[0];
    let submitter = ban["submitter"].as_str().unwrap();
    let why = format!("made up (record {}, 2 records of the submitter)", ids[0]);
    assert_eq!((&ban["records"], &ban["is_over"]), (&json!(0), &json!(false)), "{bans}");
    assert_eq!((&ban["actor"], &ban["reason"]), (&json!("anna"), &json!(why)), "{bans}");
    let list = page(&hub, &token, "/moderation?state=banned");
    assert!(list.contains(&why) && list.contains("<p>0 records"), "{list}");
    assert!(list.contains(&format!("name=\"banned\" value=\"{submitter}\"")), "{list}");
    assert_eq!(send("Card 3")["waits"], true);
    let lift = |reason: &str| {
        act(&hub, &token, &format!("state=banned&action=unban&banned={submitter}&reason={reason}"))
    };
    assert_eq!([lift(""), lift("a+mistake")], [400, 303]);
    assert_eq!(send("Card 4")["waits"], false);
    assert!(get("/api/v1/bans")["bans"].as_array().unwrap().is_empty());
    let moderate = |submitter: &str, action: &str| {
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        let wish = json!({"action": action, "reason": "by its name"}).to_string();
        let path = format!("/api/v1/bans/{submitter}");
        request(&hub.address, "POST", &path, &headers, wish.as_bytes()).status
    };
    assert_eq!([moderate(submitter, "hide"), moderate("0123456789abcdef", "ban")], [400, 404]);
    assert_eq!(moderate(submitter, "ban"), 200);
    assert_eq!(send("Card 5")["waits"], true);
    assert_eq!(moderate(submitter, "unban"), 200);
    let deeds = get("/api/v1/audit")["deeds"].clone();
    let of_submitter = deeds.as_array().unwrap().iter().filter(|it| it["subject"] == submitter);
    let actions: Vec<&str> = of_submitter.map(|it| it["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["unban", "ban", "unban", "ban"], "{deeds}");
}

fn all_on_a_page_are_chosen_at_once(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump", "--behind-proxy"]);
    let token = place.administrator();
    let send = |client: &str, name: &str| {
        let answer = hub.submit(&document(name, 100.0), &[("X-Forwarded-For", client)]);
        answer.json()["id"].as_str().unwrap().to_owned()
    };
    let mine = ["Card 1", "Card 2"].map(|name| send("203.0.113.9", name));
    send("198.51.100.1", "Card 3");
    let fields = |path: &str| -> Vec<String> {
        let list = page(&hub, &token, path);
        let shown = list.split("name=\"shown\" value=\"").skip(1);
        shown.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
    };
    let list = page(&hub, &token, "/moderation?state=newest");
    assert!(
        list.contains("<button name=\"all\" value=\"1\">Do it to all 3 on this page"),
        "{list}"
    );
    let of_mine = list.split(&format!("<code>{}</code>", mine[0])).nth(1).unwrap();
    let submitter = of_mine.split("submitter=").nth(1).unwrap().split('"').next().unwrap();
    let shown = fields(&format!("/moderation?state=newest&submitter={submitter}"));
    assert_eq!(shown.iter().collect::<BTreeSet<_>>(), mine.iter().collect::<BTreeSet<_>>());
    let of_shown: String = shown.iter().map(|id| format!("shown={id}&")).collect();
    assert_eq!(act(&hub, &token, &format!("{of_shown}action=hide&reason=made+up")), 400);
    assert_eq!(act(&hub, &token, &format!("{of_shown}all=1&action=hide&reason=made+up")), 303);
    assert_eq!(fields("/moderation?state=hidden"), shown);
}

fn all_on_a_page_are_deleted_in_a_second_step(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let token = place.administrator();
    let ids = [1, 2, 3].map(|at| hub.submitted(&document(&format!("Card {at}"), 100.0)).0);
    let seen = || ids.each_ref().map(|id| hub.get(&format!("/r/{id}")).status);
    let shown: String = ids[..2].iter().map(|id| format!("&shown={id}")).collect();
    let form =
        format!("state=newest&submitter=abc&action=delete&reason=made+%3Cup%3E&all=1{shown}");
    let question = sent(&hub, &token, &form);
    assert_eq!((question.status, seen()), (200, [200; 3]), "{}", question.text());
    let page = question.text();
    assert!(
        page.contains("<h1>Delete 2 records?</h1>") && page.contains("submitter abc"),
        "{page}"
    );
    assert!(page.contains("href=\"/moderation?state=newest&#38;submitter=abc\""), "{page}");
    assert!(page.contains("made &#60;up&#62;"), "{page}");
    // The form of the page as a browser sends it.
    let mut again = String::new();
    for tag in page.split('<').filter(|it| it.contains("value=\"")) {
        let of = |name: &str| tag.split(&format!("{name}=\"")).nth(1)?.split('"').next();
        let value = of("value").unwrap().replace("&#60;", "%3C").replace("&#62;", "%3E");
        again += &format!("&{}={}", of("name").unwrap(), value.replace(' ', "+"));
    }
    assert_eq!(sent(&hub, &token, &again.replace("confirmed=2", "confirmed=3")).status, 200);
    assert_eq!(seen(), [200; 3], "another number is asked again");
    let done = sent(&hub, &token, &again);
    assert_eq!((done.status, seen()), (303, [410, 410, 200]));
    assert!(
        done.head.contains("location: /moderation?state=newest&submitter=abc"),
        "{}",
        done.head
    );
}

fn pages_that_refuse_lead_back(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let token = place.administrator();
    let (id, _) = hub.submitted(&document("Card", 100.0));
    let accept = ("Accept", "text/html");
    let reported = request(&hub.address, "POST", &format!("/r/{id}/report"), &[accept], b"").text();
    assert!(reported.contains(&format!("<a href=\"/r/{id}\">Back to the record")), "{reported}");
    let basic = format!("Basic {}", base_64(&format!("admin:{token}")));
    let refused = |from: &str| {
        let form = ("Content-Type", "application/x-www-form-urlencoded");
        let headers = [("Authorization", basic.as_str()), form, accept, ("Referer", from)];
        let body = b"action=hide&reason=x";
        let page = request(&hub.address, "POST", "/moderation", &headers, body).text();
        assert!(page.contains("choose records first"), "{page}");
        page
    };
    let list = format!("http://{}/moderation?state=newest", hub.address);
    assert!(refused(&list).contains(&format!("<a href=\"{list}\">Back</a>")));
    for foreign in ["http://example.org/", "javascript:alert(1)", "//example.org", "nonsense"] {
        let page = refused(foreign);
        assert!(page.contains("To the first page") && !page.contains(foreign), "{page}");
    }
}

fn an_administrator_sees_what_is_hidden(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let token = place.administrator();
    let (id, own_token) = hub.submitted(&document("Doubtful", 100.0));
    assert_eq!(act(&hub, &token, &format!("id={id}&action=hide&reason=x")), 303);
    let get = |token: &str| {
        let basic = format!("Basic {}", base_64(&format!("admin:{token}")));
        let headers = [("Authorization", basic.as_str()), ("Accept", "text/html")];
        request(&hub.address, "GET", &format!("/r/{id}"), &headers, b"")
    };
    let seen = get(&token);
    assert!(seen.status == 200 && seen.head.contains("cache-control: no-store"), "{}", seen.head);
    assert_eq!(get(&own_token).status, 404);
}

fn a_long_list_has_pages(place: &TestData) {
    let one = draft(&document("Card", 100.0));
    // All but the last two of one time: the bounds of pages fall among them.
    let rows: Vec<(String, i64, &Draft)> =
        (0..430).map(|at| (format!("name-{at:03}"), 1_000 + at / 428, &one)).collect();
    keep(place, &rows);
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let basic = format!("Basic {}", base_64(&format!("admin:{}", place.administrator())));
    let headers = [("Authorization", basic.as_str()), ("Accept", "text/html")];
    let mut path = "/moderation?state=newest".to_owned();
    let mut found = BTreeSet::new();
    for expected in [200, 200, 30] {
        let page = request(&hub.address, "GET", &path, &headers, b"").text();
        assert!(page.contains("430 records"), "{page}");
        let ids = page.split("name=\"id\" value=\"").skip(1);
        let before = found.len();
        found.extend(ids.map(|rest| rest.split('"').next().unwrap().to_owned()));
        assert_eq!(found.len() - before, expected);
        let next = page.split("<a href=\"/moderation?state=newest&amp;before=").nth(1);
        assert_eq!(next.is_some(), expected == 200);
        let next = next.map(|rest| rest.split('"').next().unwrap());
        path = format!("/moderation?state=newest&before={}", next.unwrap_or_default());
    }
}

fn reported_records_are_counted_until_somebody_decides(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let token = place.administrator();
    let ids = [1, 2, 3].map(|at| hub.submitted(&document(&format!("Card {at}"), 100.0)).0);
    let report = |id: &str| {
        let headers = [("Accept", "text/html")];
        request(&hub.address, "POST", &format!("/r/{id}/report"), &headers, b"").status
    };
    let shows = |count: u32| {
        let metrics = hub.get("/metrics").text();
        let page = page(&hub, &token, "/moderation");
        assert!(
            metrics.contains(&format!("cardproof_hub_records_reported {count}\n")),
            "{metrics}"
        );
        assert!(metrics.contains("# HELP cardproof_hub_records_reported Records that readers"));
        assert!(page.contains(&format!("state=reported\">reported</a> ({count})")), "{page}");
    };
    shows(0);
    assert_eq!(ids.each_ref().map(|id| report(id)), [200; 3]);
    assert_eq!(report(&ids[0]), 200, "a second reader");
    shows(3);
    for (id, action, left) in [(&ids[0], "show", 2), (&ids[1], "hide", 1), (&ids[2], "delete", 0)] {
        assert_eq!(act(&hub, &token, &format!("id={id}&action={action}&reason=x")), 303);
        shows(left);
    }
    assert_eq!((report(&ids[1]), report(&ids[2])), (404, 410), "what nobody sees is not reported");
}

fn a_moderator_finds_a_record_by_its_number(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let token = place.administrator();
    let [(wanted, _), (hidden, _), (gone, own)] =
        ["Wanted", "Hidden", "Gone"].map(|name| hub.submitted(&document(name, 100.0)));
    let basic = format!("Basic {}", base_64(&format!("admin:{token}")));
    let headers =
        [("Authorization", basic.as_str()), ("Content-Type", "application/x-www-form-urlencoded")];
    let body = format!("id={hidden}&action=hide&reason=x&state=newest");
    let done = request(&hub.address, "POST", "/moderation", &headers, body.as_bytes());
    assert!(done.head.contains("location: /moderation?state=newest"), "{}", done.head);
    assert_eq!(hub.delete(&gone, &own).status, 204);
    for (typed, found) in [
        (wanted.clone(), &wanted),
        (format!("http://{}/r/{wanted}", hub.address), &wanted),
        (format!("+{}+{}", &wanted[..5], &wanted[5..]).to_uppercase(), &wanted),
        (hidden.clone(), &hidden),
    ] {
        let list = page(&hub, &token, &format!("/moderation?record={typed}"));
        assert!(list.contains(&format!("name=\"id\" value=\"{found}\"")), "{typed}: {list}");
        assert!(list.contains("<p>1 record") && !list.contains("role=\"alert\""), "{list}");
    }
    for (typed, words) in
        [(gone.as_str(), "was deleted"), ("0000000000000", "nothing of this name")]
    {
        let list = page(&hub, &token, &format!("/moderation?record={typed}"));
        assert!(list.contains(words) && list.contains("<p>0 records"), "{list}");
    }
    // The search leads to what is hidden for administrators alone.
    let search = format!("/search?q={}", hidden.to_uppercase());
    let seen = request(&hub.address, "GET", &search, &headers[..1], b"");
    assert!(seen.status == 303 && seen.head.contains(&format!("/r/{hidden}")), "{}", seen.head);
    let unseen = hub.get(&search);
    assert!(unseen.status == 200 && unseen.text().contains("Nothing is like"), "{}", unseen.head);
}

/// The page at `path` as the administrator with `token` sees it.
fn page(hub: &Hub, token: &str, path: &str) -> String {
    let basic = format!("Basic {}", base_64(&format!("admin:{token}")));
    let headers = [("Authorization", basic.as_str()), ("Accept", "text/html")];
    request(&hub.address, "GET", path, &headers, b"").text()
}

/// Sends the form `body` as the administrator with `token`.
pub(crate) fn act(hub: &Hub, token: &str, body: &str) -> u16 {
    sent(hub, token, body).status
}

fn sent(hub: &Hub, token: &str, body: &str) -> Answer {
    let basic = format!("Basic {}", base_64(&format!("admin:{token}")));
    let form = ("Content-Type", "application/x-www-form-urlencoded");
    let headers = [("Authorization", basic.as_str()), form];
    request(&hub.address, "POST", "/moderation", &headers, body.as_bytes())
}

fn base_64(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let coded = text.as_bytes().chunks(3).map(|three| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(*three.get(at).unwrap_or(&0)));
        let letter = |at: usize| match at <= three.len() {
            true => char::from(LETTERS[(bits >> (18 - 6 * at)) as usize & 63]),
            false => '=',
        };
        (0..4).map(letter).collect::<String>()
    });
    coded.collect()
}
