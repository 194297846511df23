//! Backup, restore, and the move from SQLite to PostgreSQL: nothing is lost, and a target in use is refused.

use std::process::Command;

use crate::common::{Hub, On, TestData, document, postgres, skip};

on_both!(a_backup_made_under_load_restores_everything);

fn a_backup_made_under_load_restores_everything(place: &TestData) {
    let mut hub = place.start(&[]);
    let kept: Vec<(String, String)> = (0..20)
        .map(|at| hub.submitted(&document(&format!("Card {at}"), 100.0 + f64::from(at))))
        .collect();
    hub.delete(&kept[0].0, &kept[0].1);
    let file = place.data.path().join("copy.sqlite");
    let backup = || place.command("backup").arg("--to").arg(&file).output().unwrap();
    let first = backup();
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    assert!(!backup().status.success(), "a backup is never overwritten");
    let before = hub.dumped();
    hub.stop();
    let target = TestData::new(place.on).unwrap();
    let restore = || target.command("restore").arg("--from").arg(&file).output().unwrap();
    let restored = restore();
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    assert!(!restore().status.success(), "a database in use is no target");
    let again = target.start(&[]);
    assert_eq!(again.dumped(), before);
    assert_eq!(
        again.get(&format!("/r/{}", kept[0].0)).status,
        410,
        "what was deleted stays deleted"
    );
    assert_eq!(again.delete(&kept[1].0, &kept[1].1).status, 204, "tokens are still good");
}

#[test]
fn a_move_to_postgres_loses_nothing() {
    let place = TestData::new(On::Sqlite).unwrap();
    let target = match TestData::new(On::Postgres) {
        Ok(target) => target,
        Err(reason) => return skip("moving::a_move_to_postgres_loses_nothing", &reason),
    };
    let mut hub = place.start(&[]);
    let key = [("Idempotency-Key", "the-key-of-this-one")];
    let sent = document("Moved", 321.0);
    let receipt = hub.submit(&sent, &key).json();
    let before = hub.dumped();
    hub.stop();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cardproof-hub"));
    command
        .arg("migrate")
        .arg("--data")
        .arg(place.data.path())
        .arg("--to")
        .arg(target.url.as_ref().unwrap());
    let moved = command.output().unwrap();
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
    let hub = target.start(&[]);
    assert_eq!(hub.dumped(), before);
    assert_eq!(
        hub.submit(&sent, &key).json()["token"],
        receipt["token"],
        "a retried submission is still known"
    );
    assert!(!command.output().unwrap().status.success(), "a second move is refused");
}

/// What makes the form of the fourth migration of the one that the hub has.
const BACK_TO_FOUR: [(On, &[&str]); 2] = [
    (
        On::Sqlite,
        &[
            "CREATE TABLE before (submission TEXT NOT NULL PRIMARY KEY, model TEXT NOT NULL, host TEXT NOT NULL, \
             basis TEXT NOT NULL, created_ms BIGINT NOT NULL, sound BIGINT NOT NULL, figures TEXT NOT NULL)",
            "INSERT INTO before SELECT submission, model, host, basis, created_ms, sound, figures FROM results",
            "DROP TABLE results",
            "ALTER TABLE before RENAME TO results",
            "CREATE INDEX results_by_time ON results (created_ms) WHERE sound > 0",
            "CREATE INDEX results_of_basis ON results (basis, created_ms) WHERE sound > 0",
        ],
    ),
    (
        On::Postgres,
        &[
            "ALTER TABLE results DROP CONSTRAINT results_pkey",
            "ALTER TABLE results ADD PRIMARY KEY (submission)",
            "ALTER TABLE results DROP COLUMN origin, DROP COLUMN lot, DROP COLUMN has_doubts",
        ],
    ),
];

on_both!(a_database_of_the_form_before_keeps_its_rows);

fn a_database_of_the_form_before_keeps_its_rows(place: &TestData) {
    let mut hub = place.start(&[]);
    hub.submitted(&document("Any", 100.0));
    let models = hub.get("/models").text();
    let names = models.split("\"/models/").skip(1).filter_map(|rest| rest.split('"').next());
    let pages: Vec<String> = names.map(|name| format!("/models/{name}")).collect();
    assert!(pages.len() > 10, "{pages:?}");
    let shown =
        |hub: &Hub| -> Vec<String> { pages.iter().map(|page| hub.get(page).text()).collect() };
    let before = shown(&hub);
    hub.stop();
    let (_, back) = BACK_TO_FOUR.iter().find(|(on, _)| *on == place.on).unwrap();
    let common = [
        "CREATE INDEX results_of_model ON results (model, created_ms)",
        "DELETE FROM migrations WHERE version >= 5",
    ];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = place.open().await;
        let mut step = db.write().await.unwrap();
        for statement in back.iter().chain(&common) {
            sqlx::query(*statement).execute(&mut *step).await.unwrap();
        }
        step.commit().await.unwrap();
        db.close().await;
    });
    assert_eq!(shown(&place.start(&[])), before);
}

/// Longer than the hub gives a statement of a page.
const SLOW: &str = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql \
    AS 'BEGIN PERFORM pg_sleep(11); RETURN NEW; END'";

/// What works on the database as a whole takes its time: a statement of eleven seconds in a change of the form, in a
/// backup and in a restore.
#[test]
#[ignore = "has statements of eleven seconds; nightly"]
fn what_takes_long_in_postgres_is_not_cut_off() {
    let places: Result<Vec<TestData>, String> =
        (0..3).map(|_| TestData::new(On::Postgres)).collect();
    let places = match places {
        Ok(places) => places,
        Err(reason) => {
            return skip("moving::what_takes_long_in_postgres_is_not_cut_off", &reason);
        }
    };
    let [older, full, empty] = &places[..] else { unreachable!() };
    let ask = |place: &TestData, text: &str| postgres::ask(place.url.as_ref().unwrap(), text);
    let slow_insert = |place: &TestData, table: &str| {
        ask(place, SLOW);
        let each = "FOR EACH ROW EXECUTE FUNCTION slow()";
        ask(place, &format!("CREATE TRIGGER slow BEFORE INSERT ON {table} {each}"));
    };
    let backup = |place: &TestData, to: &std::path::Path| {
        place.command("backup").arg("--to").arg(to).output().unwrap()
    };
    let source = TestData::new(On::Sqlite).unwrap();
    drop(source.start(&[]));
    let file = source.data.path().join("copy.sqlite");
    assert!(backup(&source, &file).status.success());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            drop(older.start(&[]));
            slow_insert(older, "migrations");
            ask(older, "DELETE FROM migrations WHERE version = 6");
            assert_eq!(older.start(&[]).get("/healthz").status, 200);
        });
        scope.spawn(|| {
            drop(full.start(&[]));
            ask(full, "ALTER TABLE tombstones RENAME TO before");
            let one = "SELECT 'slow' AS id, CAST(1 AS BIGINT) AS deleted_ms FROM pg_sleep(11)";
            ask(full, &format!("CREATE VIEW tombstones AS {one}"));
            let made = backup(full, &full.data.path().join("copy.sqlite"));
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        });
        scope.spawn(|| {
            // Asking for the raw data brings the database to its form, and leaves no row.
            assert!(empty.command("dump").output().unwrap().status.success());
            slow_insert(empty, "secrets");
            let made = empty.command("restore").arg("--from").arg(&file).output().unwrap();
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        });
    });
}
