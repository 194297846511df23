//! Moderators and limits: what an administrator can do, that it is noted, and how much one client may send.

use serde_json::{Value, json};

use crate::common::client::{Answer, request};
use crate::common::{Hub, TestData, document};

on_both!(a_moderator_hides_shows_and_deletes_and_all_is_noted, one_client_is_held_to_its_limit);

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
    let output = place.command("add-administrator").arg("anna").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let token = String::from_utf8(output.stdout).unwrap().trim().to_owned();
    let hub = place.start(&["--no-seed"]);
    let (id, own_token) = hub.submitted(&document("Doubtful", 100.0));
    let hide = json!({"action": "hide", "reason": "made up"});
    assert_eq!(moderate(&hub, &id, &own_token, &hide).status, 401, "a submitter is no moderator");
    assert_eq!(moderate(&hub, &id, &token, &json!({"action": "hide", "reason": ""})).status, 400);
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

fn one_client_is_held_to_its_limit(place: &TestData) {
    let hub = place.start(&["--no-seed", "--behind-proxy", "--submissions-per-hour", "3"]);
    let from = |client: &str| hub.submit(&document("Any", 1.0), &[("X-Forwarded-For", client)]);
    let first: Vec<u16> = (0..4).map(|_| from("203.0.113.1").status).collect();
    // An hour may end between them.
    assert!(first == [201, 201, 201, 429] || hub.log().contains("\"status\":201"), "{first:?}");
    let held = from("203.0.113.1");
    assert_eq!(held.status, 429);
    assert!(held.head.contains("retry-after:"));
    assert_eq!(from("198.51.100.1, 203.0.113.1").status, 429, "only the proxy's own entry counts");
    assert_eq!(from("203.0.113.2").status, 201);
}
