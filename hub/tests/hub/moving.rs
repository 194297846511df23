//! Backup, restore, and the move from SQLite to PostgreSQL: nothing is lost, and a target in use is refused.

use std::process::Command;

use crate::common::{On, TestData, document, skip};

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
