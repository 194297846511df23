//! Lists: their pages leave nothing out.

use cardproof_hub::store::draft::Draft;
use cardproof_hub::store::keep::add;
use cardproof_hub::store::rows::Fresh;
use cardproof_hub::store::state::State;
use cardproof_submission::accept;
use serde_json::Value;

use crate::common::{TestData, document};

on_both!(pages_of_a_list_leave_nothing_out);

pub(crate) fn draft(document: &Value) -> Draft {
    Draft::of(&accept(document.to_string().as_bytes()).unwrap(), None).unwrap()
}

/// Adds submissions with these names and times, as one transaction of a hub does.
pub(crate) fn keep(place: &TestData, rows: &[(String, i64, &Draft)]) {
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
                submitter: Some("0123456789abcdef"),
                state: State::Public,
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
    let (mut found, mut path) = (Vec::new(), "/latest".to_owned());
    loop {
        let page = hub.get(&path).text();
        found.extend(listed(&page));
        let Some(rest) = page.split("href=\"/latest?before=").nth(1) else { break };
        path = format!("/latest?before={}", rest.split('"').next().unwrap());
        assert!(found.len() <= rows.len(), "{path}");
    }
    rows.sort_by(|a, b| (b.1, &b.0).cmp(&(a.1, &a.0)));
    let expected: Vec<String> = rows.into_iter().map(|(id, ..)| id).collect();
    assert_eq!(found, expected);
    assert_eq!(listed(&hub.get("/latest?before=1001").text()).len(), 50, "a time alone will do");
}
