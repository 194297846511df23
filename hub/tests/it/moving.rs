//! Backup, restore, and the move from SQLite to PostgreSQL: nothing is lost, and a target in use is refused.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cardproof_hub::db::{Db, Opening};

use crate::common::disk::{SmallDisk, fill};
use crate::common::{On, TestData, document, postgres, skip};
use crate::moderation::act;
use crate::running::refusal;

on_both!(
    a_backup_made_under_load_restores_everything,
    a_restored_hub_knows_its_submitters,
    what_is_no_whole_backup_is_not_restored,
    a_backup_tells_of_what_is_hidden,
);

/// A backup of `place` in a file called `name` in its data directory.
fn backup(place: &TestData, name: &str) -> PathBuf {
    told_backup(place, name).0
}

/// The same, with what the program says.
fn told_backup(place: &TestData, name: &str) -> (PathBuf, String) {
    let file = place.data.path().join(name);
    let made = place.command("backup").arg("--to").arg(&file).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    (file, String::from_utf8(made.stdout).unwrap())
}

fn restore(place: &TestData, file: &Path) -> Command {
    let mut command = place.command("restore");
    command.arg("--from").arg(file);
    command
}

fn a_backup_made_under_load_restores_everything(place: &TestData) {
    let mut hub = place.start(&[]);
    let kept: Vec<(String, String)> = (0..20)
        .map(|at| hub.submitted(&document(&format!("Card {at}"), 100.0 + f64::from(at))))
        .collect();
    hub.delete(&kept[0].0, &kept[0].1);
    // What one has left that was killed.
    fs::write(place.data.path().join("copy.sqlite.part"), vec![7; 100_000]).unwrap();
    let file = backup(place, "copy.sqlite");
    assert!(!place.data.path().join("copy.sqlite.part").exists());
    refusal(place.command("backup").arg("--to").arg(&file));
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let before = hub.dumped();
    hub.stop();
    let target = TestData::new(place.on).unwrap();
    let restored = restore(&target, &file).output().unwrap();
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    refusal(&mut restore(&target, &file));
    let again = target.start(&[]);
    assert_eq!(again.dumped(), before);
    assert_eq!(
        again.get(&format!("/r/{}", kept[0].0)).status,
        410,
        "what was deleted stays deleted"
    );
    assert_eq!(again.delete(&kept[1].0, &kept[1].1).status, 204, "tokens are still good");
}

fn a_restored_hub_knows_its_submitters(place: &TestData) {
    let options = ["--no-seed", "--no-dump", "--behind-proxy"];
    let hub = place.start(&options);
    let token = place.administrator();
    let key = [("X-Forwarded-For", "203.0.113.9"), ("Idempotency-Key", "the-key-of-this-one")];
    let sent = document("Kept", 321.0);
    let receipt = hub.submit(&sent, &key).json();
    let ban = format!("id={}&action=ban&reason=x", receipt["id"].as_str().unwrap());
    assert_eq!(act(&hub, &token, &ban), 303);
    let file = backup(place, "copy.sqlite");
    drop(hub);
    let target = TestData::new(place.on).unwrap();
    assert!(restore(&target, &file).status().unwrap().success());
    let hub = target.start(&options);
    let again = hub.submit(&sent, &key);
    assert_eq!((again.status, &again.json()["token"]), (200, &receipt["token"]));
    assert_eq!(hub.submit(&document("More", 1.0), &key[..1]).json()["waits"], true, "still banned");
}

fn a_backup_tells_of_what_is_hidden(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let token = place.administrator();
    let (id, _) = hub.submitted(&document("Hidden", 1.0));
    hub.submitted(&document("Shown", 1.0));
    assert!(told_backup(place, "before.sqlite").1.contains(": 2 records, "));
    assert_eq!(act(&hub, &token, &format!("id={id}&action=hide&reason=x")), 303);
    let told = told_backup(place, "after.sqlite").1;
    assert!(told.contains(": 2 records (1 hidden), "), "{told}");
}

fn what_is_no_whole_backup_is_not_restored(place: &TestData) {
    let hub = place.start(&["--no-dump"]);
    let whole = backup(place, "whole.sqlite");
    drop(hub);
    let file = |name: &str| place.data.path().join(name);
    let bytes = fs::read(&whole).unwrap();
    fs::write(file("cut"), &bytes[..bytes.len() / 2]).unwrap();
    fs::write(file("text"), "no database").unwrap();
    fs::write(file("empty"), "").unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // What a backup that was killed had under its name once.
    runtime.block_on(async {
        Db::sqlite(&file("begun"), Opening::Make).await.unwrap().close().await;
    });
    let target = TestData::new(place.on).unwrap();
    for name in ["cut", "text", "empty", "begun"] {
        let told = refusal(&mut restore(&target, &file(name)));
        assert!(told.contains(&format!("{}: ", file(name).display())), "{name}: {told}");
    }
    assert!(restore(&target, &whole).status().unwrap().success(), "the target is still empty");
}

#[test]
fn a_backup_on_a_full_disk_says_so() {
    let disk = match SmallDisk::new("4m") {
        Ok(disk) => disk,
        Err(reason) => return skip("moving::a_backup_on_a_full_disk_says_so", &reason),
    };
    let place = TestData::new(On::Sqlite).unwrap();
    drop(place.start(&["--no-dump"]));
    fill(disk.path());
    let to = disk.path().join("copy.sqlite");
    let told = refusal(place.command("backup").arg("--to").arg(&to));
    assert!(told.contains("copy.sqlite") && told.contains("space"), "{told}");
    assert!(!to.exists());
}

#[test]
fn a_backup_on_a_disk_that_cannot_be_written_restores() {
    let disk = match SmallDisk::new("16m") {
        Ok(disk) => disk,
        Err(reason) => {
            return skip("moving::a_backup_on_a_disk_that_cannot_be_written_restores", &reason);
        }
    };
    let place = TestData::new(On::Sqlite).unwrap();
    let hub = place.start(&["--no-dump"]);
    let (id, _) = hub.submitted(&document("Kept", 1.0));
    let file = disk.path().join("copy.sqlite");
    assert!(place.command("backup").arg("--to").arg(&file).status().unwrap().success());
    drop(hub);
    let mut mount = Command::new("mount");
    assert!(mount.args(["-o", "remount,ro"]).arg(disk.path()).status().unwrap().success());
    let target = TestData::new(On::Sqlite).unwrap();
    let restored = restore(&target, &file).output().unwrap();
    assert!(restored.status.success(), "{}", String::from_utf8_lossy(&restored.stderr));
    assert_eq!(target.start(&["--no-dump"]).get(&format!("/r/{id}")).status, 200);
}

/// While it is read, not only afterwards: a command that fails or is killed has no time to tidy up.
#[test]
fn nothing_is_beside_a_backup_that_is_read() {
    let place = TestData::new(On::Sqlite).unwrap();
    drop(place.start(&["--no-dump"]));
    let directory = place.data.path().join("backups");
    fs::create_dir(&directory).unwrap();
    let file = backup(&place, "backups/copy.sqlite");
    let before = fs::read(&file).unwrap();
    let names = || {
        let entries = fs::read_dir(&directory).unwrap().map(|it| it.unwrap().file_name());
        entries.collect::<Vec<_>>()
    };
    assert_eq!(names(), ["copy.sqlite"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = Db::sqlite(&file, Opening::Backup).await.unwrap();
        db.check_pages().await.unwrap();
        let _snapshot = db.snapshot().await.unwrap();
        assert_eq!(names(), ["copy.sqlite"]);
    });
    refusal(&mut restore(&place, &file));
    assert_eq!(names(), ["copy.sqlite"]);
    assert!(fs::read(&file).unwrap() == before, "it is as it was");
}

/// One of PostgreSQL can be held up in the middle.
#[test]
fn an_interrupted_backup_leaves_nothing() {
    use sqlx::{Connection, Row};
    let place = match TestData::new(On::Postgres) {
        Ok(place) => place,
        Err(reason) => return skip("moving::an_interrupted_backup_leaves_nothing", &reason),
    };
    drop(place.start(&["--no-dump"]));
    let directory = place.data.path().join("backups");
    fs::create_dir(&directory).unwrap();
    let mut command = place.command("backup");
    command.arg("--to").arg(directory.join("copy.sqlite")).stderr(Stdio::piped());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let output = runtime.block_on(async {
        let url = place.url.as_ref().unwrap();
        let mut holder = sqlx::PgConnection::connect(url).await.unwrap();
        sqlx::raw_sql("BEGIN; LOCK TABLE submissions").execute(&mut holder).await.unwrap();
        let process = command.spawn().unwrap();
        let waits = "SELECT COUNT(*) FROM pg_locks WHERE NOT granted \
                     AND relation = 'submissions'::regclass";
        while sqlx::query(waits).fetch_one(&mut holder).await.unwrap().get::<i64, _>(0) == 0 {}
        assert_ne!(fs::read_dir(&directory).unwrap().count(), 0, "it has begun");
        let pid = rustix::process::Pid::from_child(&process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        process.wait_with_output().unwrap()
    });
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && told.contains("interrupted"), "{told}");
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}

/// The part of it that is in the log beside it would be missing.
#[test]
fn a_hubs_own_database_is_not_restored_without_its_log() {
    let place = TestData::new(On::Sqlite).unwrap();
    let mut hub = place.start(&["--no-dump"]);
    hub.submitted(&document("In the log", 1.0));
    hub.kill();
    let own = place.data.path().join("hub.sqlite");
    let target = TestData::new(On::Sqlite).unwrap();
    let told = refusal(&mut restore(&target, &own));
    assert!(told.contains("hub.sqlite-wal") && told.contains("`backup`"), "{told}");
    assert!(restore(&target, &backup(&place, "copy.sqlite")).status().unwrap().success());
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
    let mut command = Command::new(env!("CARGO_BIN_EXE_cardproof-hub"));
    command
        .arg("migrate")
        .arg("--data")
        .arg(place.data.path())
        .arg("--to")
        .arg(target.url.as_ref().unwrap());
    refusal(&mut command);
    hub.stop();
    let moved = command.output().unwrap();
    assert!(moved.status.success(), "{}", String::from_utf8_lossy(&moved.stderr));
    let told = String::from_utf8(moved.stdout).unwrap();
    assert!(told.contains("hub.sqlite stays as it was"), "{told}");
    let back = refusal(place.command("backup").arg("--to").arg(place.data.path().join("x")));
    assert!(back.contains("the way back to SQLite is `backup`"), "{back}");
    let hub = target.start(&[]);
    assert_eq!(hub.dumped(), before);
    assert_eq!(
        hub.submit(&sent, &key).json()["token"],
        receipt["token"],
        "a retried submission is still known"
    );
    assert!(!command.output().unwrap().status.success(), "a second move is refused");
}

/// Longer than the hub gives a statement of a page.
const SLOW: &str = "CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql \
    AS 'BEGIN PERFORM pg_sleep(11); RETURN NEW; END'";

/// What works on the database as a whole takes its time: a statement of eleven seconds in a backup and in a restore.
#[test]
#[ignore = "has statements of eleven seconds; nightly"]
fn what_takes_long_in_postgres_is_not_cut_off() {
    let places: Result<Vec<TestData>, String> =
        (0..2).map(|_| TestData::new(On::Postgres)).collect();
    let places = match places {
        Ok(places) => places,
        Err(reason) => {
            return skip("moving::what_takes_long_in_postgres_is_not_cut_off", &reason);
        }
    };
    let [full, empty] = &places[..] else { unreachable!() };
    let ask = |place: &TestData, text: &str| postgres::ask(place.url.as_ref().unwrap(), text);
    let slow_insert = |place: &TestData, table: &str| {
        ask(place, SLOW);
        let each = "FOR EACH ROW EXECUTE FUNCTION slow()";
        ask(place, &format!("CREATE TRIGGER slow BEFORE INSERT ON {table} {each}"));
    };
    let source = TestData::new(On::Sqlite).unwrap();
    drop(source.start(&[]));
    let file = backup(&source, "copy.sqlite");
    std::thread::scope(|scope| {
        scope.spawn(|| {
            drop(full.start(&[]));
            ask(full, "ALTER TABLE tombstones RENAME TO before");
            let one = "SELECT 'slow' AS id, CAST(1 AS BIGINT) AS deleted_ms FROM pg_sleep(11)";
            ask(full, &format!("CREATE VIEW tombstones AS {one}"));
            backup(full, "copy.sqlite");
        });
        scope.spawn(|| {
            // Opened to be made, it has its form and no row.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async { empty.open().await.close().await });
            slow_insert(empty, "months");
            let made = restore(empty, &file).output().unwrap();
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        });
    });
}
