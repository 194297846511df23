//! Canaries: planted in every field outside the allowlist and in headers, and looked for everywhere.

use serde_json::{Value, json};

use crate::common::{TestData, document};
use crate::dump::rows;

on_both!(no_canary_is_found_anywhere, logs_hold_nothing_of_a_request);

/// What no answer, page, log, dump or database may hold.
const CANARY: &str = "kanarienvogel";

/// Names of fields in which private things lie.
const FIELDS: [&str; 12] = [
    "serial",
    "psn",
    "hostname",
    "mac",
    "uuid",
    "user",
    "path",
    "email",
    "mount_point",
    "fs_uuid",
    "cid",
    "notes",
];

fn plant(value: &mut Value, count: &mut usize) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(|value| plant(value, count));
            for name in FIELDS {
                *count += 1;
                fields.insert(name.to_owned(), json!({"deep": [format!("{CANARY}{count}")]}));
            }
        }
        Value::Array(entries) => entries.iter_mut().for_each(|value| plant(value, count)),
        _ => {}
    }
}

fn no_canary_is_found_anywhere(place: &TestData) {
    let mut hub = place.start(&[]);
    let mut sent = document("Plain card", 700.0);
    let mut count = 0;
    plant(&mut sent, &mut count);
    let device = &mut sent["record"]["conditions"]["device"];
    // Texts of the allowlist that look like what leads to a person.
    for (field, text) in [
        ("vendor", format!("/home/{CANARY}/x")),
        ("revision", format!("{CANARY}@x.org")),
        ("name", format!("{CANARY}-disk")),
        ("link", format!("http://{CANARY}.org/")),
    ] {
        count += 1;
        device[field] = Value::from(text);
    }
    sent["record"]["id"] = Value::from(CANARY);
    sent["record"]["phases"][0]["warnings"] = json!([{"code": "unsteady", "message": CANARY}]);
    sent["record"]["conditions"]["host"]["kernel"] = Value::from(format!("6.6.31-{CANARY}"));
    sent["record"]["conditions"]["filesystem"] =
        json!({"kind": "ext4", "options": [format!("rw,x={CANARY}")]});
    count += 4;
    let headers = [
        ("User-Agent", CANARY),
        ("Referer", "http://kanarienvogel.example/"),
        ("Cookie", "name=kanarienvogel"),
        ("X-Forwarded-For", "203.0.113.77"),
        ("X-Real-IP", CANARY),
        ("From", "kanarienvogel@example.org"),
        ("Idempotency-Key", "kanarienvogel-key"),
        ("X-Kanarienvogel", "1"),
    ];
    count += headers.len();
    let answer = hub.submit(&sent, &headers);
    assert_eq!(answer.status, 201, "{}", answer.text());
    let receipt = answer.json();
    let (id, token) =
        (receipt["id"].as_str().unwrap(), receipt["token"].as_str().unwrap().to_owned());
    assert!(count > 100, "{count} canaries");
    let manifest = hub.dumped();
    assert!(manifest.iter().any(|line| line["id"] == id));
    let mut places: Vec<(String, String)> = vec![
        ("answer".to_owned(), answer.text()),
        ("dump".to_owned(), serde_json::to_string(&manifest).unwrap()),
        ("runs".to_owned(), format!("{:?}", rows(&hub, "runs"))),
        ("phases".to_owned(), format!("{:?}", rows(&hub, "phases"))),
    ];
    for path in [
        format!("/r/{id}"),
        format!("/r/{id}.json"),
        "/".to_owned(),
        "/search?q=plain".to_owned(),
        "/models".to_owned(),
        "/hosts".to_owned(),
        "/feed.atom".to_owned(),
        "/metrics".to_owned(),
        "/latest".to_owned(),
        format!("/compare?ids={id}"),
    ] {
        let answer = hub.get(&path);
        assert_eq!(answer.status, 200, "{path}");
        places.push((path, answer.text()));
    }
    hub.stop();
    places.push(("log".to_owned(), hub.log()));
    places.push((
        "database".to_owned(),
        String::from_utf8_lossy(&place.database_bytes()).into_owned(),
    ));
    for (name, text) in &places {
        let at = text.to_lowercase().find(CANARY);
        assert_eq!(
            at,
            None,
            "{name}: {}",
            &text[at.unwrap_or(0)..][..80.min(text.len() - at.unwrap_or(0))]
        );
        assert!(!text.contains("203.0.113.77"), "{name} holds an address");
        assert!(name == "answer" || !text.contains(&token), "{name} holds the token");
    }
    println!("{count} canaries planted, 0 found in {} places", places.len());
}

fn logs_hold_nothing_of_a_request(place: &TestData) {
    let mut hub = place.start(&["--no-seed"]);
    for path in
        ["/kanarienvogel", "/search?q=kanarienvogel", "/r/kanarienvogel", "/models/kanarienvogel"]
    {
        hub.get(path);
    }
    hub.stop();
    let log = hub.log_with("\"event\":\"ended\"");
    assert!(!log.contains(CANARY) && !log.contains("127.0.0.1\""), "{log}");
    assert!(log.contains("\"route\":\"/r/{id}\""), "{log}");
    let is_json = |line: &str| serde_json::from_str::<Value>(line).is_ok();
    assert!(log.lines().all(is_json), "{log}");
}
