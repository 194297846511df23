//! Every column of the database is marked as public or private, and no private one is in a dump.

use std::collections::BTreeSet;

use cardproof_hub::columns::{Sight, TABLES};

use crate::common::postgres;
use crate::common::{On, TestData, document};

on_both!(every_column_is_marked);

fn every_column_is_marked(place: &TestData) {
    let mut hub = place.start(&["--no-seed"]);
    hub.submitted(&document("Any", 100.0));
    let line = hub.dumped().remove(0);
    hub.stop();
    let marked: BTreeSet<String> = TABLES
        .iter()
        .flat_map(|table| {
            table.columns.iter().map(move |column| format!("{}.{}", table.name, column.name))
        })
        .collect();
    let found = columns(place);
    assert_eq!(found, marked, "mark each column in src/columns.rs");
    let private = TABLES
        .iter()
        .flat_map(|table| table.columns)
        .filter(|column| column.sight == Sight::Private);
    for column in private.filter(|column| !["id", "name"].contains(&column.name)) {
        assert!(line.get(column.name).is_none(), "{} is in the dump", column.name);
    }
}

/// The columns that the database has, as `table.column`.
fn columns(place: &TestData) -> BTreeSet<String> {
    let text = match place.on {
        On::Postgres => postgres::ask(
            place.url.as_ref().unwrap(),
            "SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = 'public'",
        ),
        On::Sqlite => sqlite(place),
    };
    text.lines()
        .filter(|line| !line.is_empty() && !line.starts_with("migrations."))
        .map(str::to_owned)
        .collect()
}

fn sqlite(place: &TestData) -> String {
    let path = place.data.path().join("hub.sqlite");
    let text = "SELECT m.name || '.' || p.name AS it FROM sqlite_master m, pragma_table_info(m.name) p \
                WHERE m.type = 'table'";
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        use sqlx::Row;
        let db = cardproof_hub::db::Db::sqlite(&path, cardproof_hub::db::Opening::Existing)
            .await
            .unwrap();
        let rows = sqlx::query(text).fetch_all(db.readers()).await.unwrap();
        rows.iter().map(|row| row.get::<String, _>("it") + "\n").collect()
    })
}
