//! What the growth program writes in bulk is what the hub writes when the same documents are submitted: every row of
//! every table, but for what is random.

use std::collections::{BTreeMap, BTreeSet};

use cardproof_hub::columns::{Kind, TABLES};
use cardproof_hub::db::Db;
use cardproof_hub::store::draft::Draft;
use cardproof_hub::store::rows::Fresh;
use cardproof_hub_growth::load::Loader;
use cardproof_hub_growth::variations::Variations;
use cardproof_submission::accept;
use sqlx::{AssertSqlSafe, Row};

use crate::common::TestData;

on_both!(rows_in_bulk_are_those_of_the_hub);

/// Tables that hold nothing of a submission.
const OTHERS: [&str; 4] = ["secrets", "attempts", "audit", "administrators"];

/// Columns whose values are drawn when they are written.
const DRAWN: [&str; 2] = ["months.version", "catalogue.version"];

fn rows_in_bulk_are_those_of_the_hub(place: &TestData) {
    let variations = Variations::trimmed(40).unwrap();
    let documents: Vec<_> = (0..150).map(|number| variations.document(number).unwrap()).collect();
    let mut hub = place.start(&["--no-seed", "--submissions-per-hour", "0"]);
    let ids: Vec<String> = std::thread::scope(|scope| {
        // At the same time, so that some share a transaction.
        let parts: Vec<_> = documents
            .chunks(25)
            .enumerate()
            .map(|(part, documents)| {
                let hub = &hub;
                scope.spawn(move || {
                    let one = |(at, document)| {
                        let key = format!("growth-{part:04}-{at:04}");
                        let answer = hub.submit(document, &[("Idempotency-Key", &key)]);
                        assert_eq!(answer.status, 201, "{}", answer.text());
                        answer.json()["id"].as_str().unwrap().to_owned()
                    };
                    documents.iter().enumerate().map(one).collect::<Vec<_>>()
                })
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    hub.stop();
    let bulk = TestData::new(place.on).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let of_hub = place.open().await;
        let kept = rows(&of_hub, "submissions").await;
        let drafts: Vec<Draft> = documents
            .iter()
            .map(|document| {
                Draft::of(&accept(document.to_string().as_bytes()).unwrap(), None).unwrap()
            })
            .collect();
        let mut fresh: Vec<Fresh<'_>> = ids
            .iter()
            .zip(&drafts)
            .map(|(id, draft)| {
                let row = &kept[&format!("{id:?}")];
                Fresh {
                    id,
                    created_ms: row["created_ms"].parse().unwrap(),
                    draft,
                    token_hash: row["token_hash"].trim_matches('"'),
                    key_hash: Some(row["key_hash"].trim_matches('"')),
                }
            })
            .collect();
        fresh.sort_by_key(|row| row.created_ms);
        let mut loader = Loader::new(bulk.open().await, bulk.url.as_deref()).unwrap();
        let (first, second) = fresh.split_at(70);
        loader.add(first).await.unwrap();
        loader.add(second).await.unwrap();
        loader.end().await.unwrap();
        let of_bulk = bulk.open().await;
        for table in TABLES.iter().filter(|table| !OTHERS.contains(&table.name)) {
            let (expected, found) =
                (rows(&of_hub, table.name).await, rows(&of_bulk, table.name).await);
            assert!(!expected.is_empty() || table.name == "tombstones", "{}", table.name);
            assert_eq!(found, expected, "{}", table.name);
        }
        assert_eq!(indexes(&of_bulk, place).await, indexes(&of_hub, place).await);
    });
}

/// The rows of `table` by their first columns, each with its columns by name.
async fn rows(db: &Db, table: &'static str) -> BTreeMap<String, BTreeMap<&'static str, String>> {
    let of_table = TABLES.iter().find(|known| known.name == table).unwrap();
    let text = format!("SELECT * FROM {table}");
    let all = sqlx::query(AssertSqlSafe(text)).fetch_all(&db.readers()).await.unwrap();
    let mut found = BTreeMap::new();
    for row in all {
        let columns: BTreeMap<&str, String> = of_table
            .columns
            .iter()
            .filter(|column| !DRAWN.contains(&format!("{table}.{}", column.name).as_str()))
            .filter(|column| (table, column.name) != ("months", "changed_ms"))
            .map(|column| {
                let name = column.name;
                let value = match column.kind {
                    Kind::Text => {
                        let text: Option<String> = row.get(name);
                        text.map_or_else(|| "none".to_owned(), |text| format!("{text:?}"))
                    }
                    Kind::Whole => {
                        let number: Option<i64> = row.get(name);
                        number.map_or_else(|| "none".to_owned(), |number| number.to_string())
                    }
                    Kind::Real => panic!("a column of a kind that no table has"),
                    Kind::Bytes => format!("{:?}", row.get::<Vec<u8>, _>(name)),
                };
                (name, value)
            })
            .collect();
        let mut key: Vec<&str> = Vec::new();
        let is_by_two = table == "model_hosts";
        for column in of_table.columns.iter().take(1 + usize::from(is_by_two)) {
            key.push(&columns[column.name]);
        }
        assert!(found.insert(key.join(" "), columns.clone()).is_none());
    }
    found
}

/// What makes the indexes that a database has.
async fn indexes(db: &Db, place: &TestData) -> BTreeSet<String> {
    let text = if place.url.is_some() {
        "SELECT indexdef AS made FROM pg_indexes WHERE schemaname = 'public'"
    } else {
        "SELECT COALESCE(sql, name) AS made FROM sqlite_master WHERE type = 'index'"
    };
    let rows = sqlx::query(text).fetch_all(&db.readers()).await.unwrap();
    rows.iter().map(|row| row.get("made")).collect()
}
