//! Moderators: what an administrator can do, and that it is noted.

use serde_json::{Value, json};

use crate::common::client::{Answer, request};
use crate::common::{Hub, TestData, document};

on_both!(a_moderator_hides_shows_and_deletes_and_all_is_noted);

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
