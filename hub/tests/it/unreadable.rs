//! Documents that grow when they are kept, and one in the database that cannot be read: neither stops the others.

use std::io::Write;

use serde_json::json;

use crate::common::client::{Answer, request};
use crate::common::{Hub, TestData, document};

on_both!(
    a_document_that_grows_beyond_the_limit_is_refused,
    a_record_that_cannot_be_read_is_left_out_hidden_and_deleted,
);

/// A document of `runs` runs with 4,096 rates of `1e15`, which a hub writes as `1000000000000000.0`.
fn growing(runs: usize) -> String {
    let rates = vec!["1e15"; 64].join(",");
    let row = format!("{{\"block_bytes\": 4096, \"bytes_per_s\": [{rates}]}}");
    let run = format!("{{\"order\": \"sequential\", \"rows\": [{}]}}", vec![row; 64].join(","));
    let mut sent = document("Grown", 100.0);
    sent["record"]["flash_timings"] = json!({"open_units": "RUNS"});
    sent.to_string().replace("\"RUNS\"", &format!("[{}]", vec![run; runs].join(",")))
}

fn send(hub: &Hub, method: &str, path: &str, token: &str, body: &str) -> Answer {
    let bearer = format!("Bearer {token}");
    let headers = [("Content-Type", "application/json"), ("Authorization", bearer.as_str())];
    request(&hub.address, method, path, &headers, body.as_bytes())
}

fn a_document_that_grows_beyond_the_limit_is_refused(place: &TestData) {
    let hub = place.start(&["--no-seed"]);
    let post = |body: &str| send(&hub, "POST", "/api/v1/submissions", "", body);
    let (small, large) = (growing(2), growing(8));
    assert!(small.len() < 60_000 && large.len() < 250_000, "{} {}", small.len(), large.len());
    let kept = post(&small);
    assert_eq!(kept.status, 201, "{}", kept.text());
    let receipt = kept.json();
    let (path, token) = (receipt["path"].as_str().unwrap(), receipt["token"].as_str().unwrap());
    let written = hub.get_json(path);
    assert!(written.body.len() > 2 * small.len(), "{} bytes", written.body.len());
    for refused in [post(&large), send(&hub, "PUT", path, token, &large)] {
        assert_eq!(refused.status, 413, "{}", refused.text());
        let told = refused.json();
        assert_eq!(told["error"], "too_long");
        let words = told["message"].as_str().unwrap();
        assert!(words.contains("written out") && words.contains("262144"), "{words}");
    }
    assert_eq!(hub.get_json(path).body, written.body);
}

/// Makes the document of the submission `id` longer than any that is read.
fn spoil(place: &TestData, id: &str) {
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(&vec![b' '; 3 << 20]).unwrap();
    let packed = packer.finish().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = place.open().await;
        let mut step = db.write().await.unwrap();
        sqlx::query("UPDATE submissions SET document = $1 WHERE id = $2")
            .bind(packed)
            .bind(id.to_owned())
            .execute(&mut *step)
            .await
            .unwrap();
        step.commit().await.unwrap();
        db.close().await;
    });
}

fn a_record_that_cannot_be_read_is_left_out_hidden_and_deleted(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let administrator = place.administrator();
    hub.submitted(&document("Sound card", 100.0));
    let (id, token) = hub.submitted(&document("Spoilt card", 200.0));
    spoil(place, &id);
    let page = hub.get(&format!("/r/{id}"));
    assert_eq!(page.status, 500);
    assert!(page.text().contains("cannot read this record"), "{}", page.text());
    let told = hub.get_json(&format!("/r/{id}"));
    assert_eq!((told.status, told.json()["error"].clone()), (500, json!("unreadable")));
    let named = format!("the record {id}: ");
    assert!(hub.log_with(&named).contains(&named));
    assert_eq!(hub.get("/").status, 200);
    let lines = hub.dumped();
    let models: Vec<_> = lines.iter().map(|line| line["id"] != *id).collect();
    assert_eq!(models, [true], "the dump goes on without it: {lines:?}");
    let moderate = |action: &str| {
        let wish = json!({"action": action, "reason": "it cannot be read"}).to_string();
        send(&hub, "POST", &format!("/api/v1/moderation/{id}"), &administrator, &wish)
    };
    assert_eq!(hub.get(&format!("/r/{id}/delete")).status, 200);
    let hidden = moderate("hide");
    assert_eq!(hidden.status, 200, "{}", hidden.text());
    assert_eq!(hub.get(&format!("/r/{id}")).status, 404);
    assert_eq!(hub.get(&format!("/r/{id}/delete")).status, 404);
    assert_eq!(hub.delete(&id, &token).status, 204);
    assert_eq!(hub.get(&format!("/r/{id}")).status, 410);
}
