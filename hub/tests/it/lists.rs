//! Lists: their pages leave nothing out, and a card's page on one host knows all that was measured on it.

use cardproof_hub::store::draft::Draft;
use cardproof_hub::store::keep::add;
use cardproof_hub::store::rows::Fresh;
use cardproof_submission::accept;
use serde_json::{Value, json};

use crate::common::{TestData, document};

on_both!(pages_of_a_list_leave_nothing_out, a_rare_host_shows_all_that_was_measured_on_it);

fn draft(document: &Value) -> Draft {
    Draft::of(&accept(document.to_string().as_bytes()).unwrap(), None).unwrap()
}

/// Adds submissions with these names and times, as one transaction of a hub does.
fn keep(place: &TestData, rows: &[(String, i64, &Draft)]) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = place.open().await;
        let mut step = db.change().await.unwrap();
        let fresh: Vec<Fresh<'_>> = rows
            .iter()
            .map(|(id, created_ms, draft)| Fresh {
                id,
                created_ms: *created_ms,
                draft,
                token_hash: "hash",
                key_hash: None,
            })
            .collect();
        assert!(add(&mut step, &fresh).await.unwrap());
        step.commit().await.unwrap();
        db.close().await;
    });
}

/// The names of records that `page` lists, in their order.
fn listed(page: &str) -> Vec<String> {
    let links = page.split("<li><a href=\"/r/").skip(1);
    links.map(|rest| rest.split('"').next().unwrap().to_owned()).collect()
}

fn pages_of_a_list_leave_nothing_out(place: &TestData) {
    let one = draft(&document("Card", 100.0));
    // 64 of a transaction have one time; the bounds of pages fall among them.
    let mut rows: Vec<(String, i64, &Draft)> =
        (0..130).map(|at| (format!("name-{:03}", at * 37 % 130), 1_000 + at / 64, &one)).collect();
    keep(place, &rows);
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let (mut found, mut path) = (Vec::new(), "/".to_owned());
    loop {
        let page = hub.get(&path).text();
        found.extend(listed(&page));
        let Some(rest) = page.split("href=\"/?before=").nth(1) else { break };
        path = format!("/?before={}", rest.split('"').next().unwrap());
        assert!(found.len() <= rows.len(), "{path}");
    }
    rows.sort_by(|a, b| (b.1, &b.0).cmp(&(a.1, &a.0)));
    let expected: Vec<String> = rows.into_iter().map(|(id, ..)| id).collect();
    assert_eq!(found, expected);
    assert_eq!(listed(&hub.get("/?before=1001").text()).len(), 50, "a time alone will do");
}

fn a_rare_host_shows_all_that_was_measured_on_it(place: &TestData) {
    let (common, rare) = (document("Card", 100.0), document("Card", 700.0));
    let mut rare = rare;
    rare["record"]["conditions"]["host"]["board"] = json!("Rare board");
    let (common, rare) = (draft(&common), draft(&rare));
    let row = |at: i64, of| (format!("name-{at:03}"), at, of);
    let mut rows: Vec<(String, i64, &Draft)> = (0..3).map(|at| row(at, &rare)).collect();
    rows.extend((3..300).map(|at| row(at, &common)));
    keep(place, &rows);
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let model = &common.summary().model.key;
    let page = hub.get(&format!("/models/{model}?host={}", rare.summary().host)).text();
    assert_eq!(listed(&page), ["name-002", "name-001", "name-000"]);
    assert!(page.contains("700") && page.contains("3 results"), "{page}");
    let all = hub.get(&format!("/models/{model}")).text();
    assert!(all.contains("250 results") && !all.contains("700"), "{all}");
}
