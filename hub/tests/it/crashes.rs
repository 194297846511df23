//! The hub and its database are killed under load: no submission that was acknowledged is lost, none is there
//! twice, none that was deleted comes back, and what is derived from records still agrees with them.
//!
//! A short, seeded form; `cargo xtask prove hub` asks for hundreds of moments by `CARDPROOF_HUB_KILLS`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use sqlx::{AssertSqlSafe, Executor, Row};

use crate::common::client::request;
use crate::common::postgres::Server;
use crate::common::{Hub, On, TestData, document, prove, skip, wished};

on_both!(
    #[ignore = "kills at moments of the clock; nightly"]
    a_killed_hub_loses_nothing_and_doubles_nothing
);

/// Moments without a wish.
const KILLS: u32 = 8;

/// Clients that submit at once.
const CLIENTS: u32 = 4;

/// Every so many submissions, one is deleted when it is acknowledged.
const DELETED_EVERY: u32 = 7;

/// What a hub is started with.
pub(crate) const OPTIONS: [&str; 3] = ["--no-seed", "--submissions-per-hour", "0"];

/// Draws numbers from a seed: a generator by Knuth is enough.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn below(&mut self, count: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % count
    }
}

/// What clients know of their submissions.
#[derive(Default)]
pub(crate) struct Load {
    pub(crate) address: Mutex<String>,
    /// The names of acknowledged submissions by their numbers.
    pub(crate) kept: Mutex<HashMap<u32, String>>,
    /// Numbers whose deletion was tried, and whether it was acknowledged.
    pub(crate) deleted: Mutex<HashMap<u32, bool>>,
    next: AtomicU32,
    /// Submissions that had been kept when their client, without an answer, sent them again.
    pub(crate) kept_unanswered: AtomicU32,
    pub(crate) is_over: AtomicBool,
}

impl Load {
    /// Submits one after the other until the end, each with its own key again and again until it is acknowledged,
    /// as `cardproof submit --queue` does.
    pub(crate) fn submit(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            let Some((id, token)) = self.acknowledged(number) else { return };
            self.kept.lock().unwrap().insert(number, id.clone());
            if number.is_multiple_of(DELETED_EVERY) {
                self.delete(number, &id, &token);
            }
        }
    }

    fn acknowledged(&self, number: u32) -> Option<(String, String)> {
        let body = document(&format!("Load {number}"), 100.0).to_string();
        let key = format!("crash-test-{number:08}");
        let headers = [("Content-Type", "application/json"), ("Idempotency-Key", key.as_str())];
        while !self.is_over.load(Ordering::Relaxed) {
            let to = self.address.lock().unwrap().clone();
            let answer = request(&to, "POST", "/api/v1/submissions", &headers, body.as_bytes());
            match answer.status {
                200 | 201 => {
                    let Ok(receipt) = serde_json::from_slice::<Value>(&answer.body) else {
                        continue;
                    };
                    self.kept_unanswered
                        .fetch_add(u32::from(answer.status == 200), Ordering::Relaxed);
                    let word = |name: &str| receipt[name].as_str().unwrap().to_owned();
                    return Some((word("id"), word("token")));
                }
                // No answer, or that of a hub without its database.
                0 | 503 => thread::sleep(Duration::from_millis(10)),
                other => panic!("{other}: {}", answer.text()),
            }
        }
        None
    }

    /// Deletes a submission until that is acknowledged or the end.
    fn delete(&self, number: u32, id: &str, token: &str) {
        self.deleted.lock().unwrap().insert(number, false);
        let bearer = format!("Bearer {token}");
        while !self.is_over.load(Ordering::Relaxed) {
            let to = self.address.lock().unwrap().clone();
            let headers = [("Authorization", bearer.as_str())];
            match request(&to, "DELETE", &format!("/r/{id}"), &headers, b"").status {
                204 | 410 => {
                    self.deleted.lock().unwrap().insert(number, true);
                    return;
                }
                0 | 503 => thread::sleep(Duration::from_millis(10)),
                other => panic!("deleting: {other}"),
            }
        }
    }

    pub(crate) fn acknowledgements(&self) -> usize {
        self.kept.lock().unwrap().len()
    }

    /// Waits until something more was acknowledged, however slow the machine is.
    pub(crate) fn go_on(&self) {
        let before = self.acknowledgements();
        for _ in 0..6000 {
            if self.acknowledgements() > before {
                return;
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("nothing was acknowledged for a minute");
    }
}

fn start(place: &TestData, load: &Load) -> Hub {
    let hub = place.start(&OPTIONS);
    *load.address.lock().unwrap() = hub.address.clone();
    hub
}

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victim {
    Hub,
    Database,
    Both,
}

/// Kills `victims` in turn at seeded moments under load, and looks at what is left.
fn kill(place: &TestData, server: Option<&Server>, victims: &[Victim], name: &str) {
    let kills = wished("CARDPROOF_HUB_KILLS").map_or(KILLS, |it| it as u32);
    let seed = wished("CARDPROOF_TEST_SEED").unwrap_or(23);
    println!("seed {seed}, {kills} kills");
    let load = Load::default();
    let mut hub = start(place, &load);
    thread::scope(|scope| {
        for _ in 0..CLIENTS {
            scope.spawn(|| load.submit());
        }
        let mut draw = Draw(seed);
        for moment in 0..kills {
            // The seeded moment lies after something was acknowledged.
            load.go_on();
            thread::sleep(Duration::from_millis(draw.below(200)));
            let victim = victims[moment as usize % victims.len()];
            if victim != Victim::Hub {
                server.unwrap().kill();
            }
            if victim != Victim::Database {
                hub.kill();
            }
            if victim != Victim::Hub {
                server.unwrap().run();
            }
            if victim != Victim::Database {
                hub = start(place, &load);
            }
        }
        load.go_on();
        load.is_over.store(true, Ordering::Relaxed);
    });
    assert!(hub.stop().success(), "{}", hub.log());
    let left = Left::of(place);
    let (lost, doubled, returned) = left.faults(&load);
    assert!(
        lost.is_empty() && doubled.is_empty() && returned.is_empty(),
        "lost {lost:?}, doubled {doubled:?}, deleted and there again {returned:?}"
    );
    assert!(load.acknowledgements() >= kills as usize, "{}", load.acknowledgements());
    let deletions = load.deleted.lock().unwrap().values().filter(|is_known| **is_known).count();
    prove(&format!(
        "| kill -9 of {name} | {kills} | {} | {deletions} | {} | {} | {} | {} |",
        load.acknowledgements(),
        load.kept_unanswered.load(Ordering::Relaxed),
        lost.len(),
        doubled.len(),
        returned.len()
    ));
}

/// What the database holds, asked without the hub.
pub(crate) struct Left {
    /// Names and numbers of all submissions.
    submissions: Vec<(String, u32)>,
}

impl Left {
    pub(crate) fn of(place: &TestData) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let db = place.open().await;
            let mut connection = db.readers().acquire().await.unwrap();
            if place.on == On::Postgres {
                // A crash takes what the planner knows with it, and these questions are not those of a page.
                connection.execute("SET statement_timeout = 0").await.unwrap();
            }
            connection.execute("ANALYZE").await.unwrap();
            let rows = sqlx::query("SELECT id, title FROM submissions")
                .fetch_all(&mut *connection)
                .await
                .unwrap();
            let number = |title: String| {
                title.trim_start_matches("Load ").split(',').next().unwrap().parse().unwrap()
            };
            let submissions =
                rows.iter().map(|row| (row.get("id"), number(row.get("title")))).collect();
            // What is derived from records must agree with them: each of these counts rows that do not.
            for (fault, text) in [
                (
                    "submissions without their figures",
                    "SELECT COUNT(*) AS n FROM submissions WHERE figures = '[]' OR card = ''",
                ),
                (
                    "submissions that are both there and deleted",
                    "SELECT COUNT(*) AS n FROM submissions s \
                  JOIN tombstones t ON t.id = s.id",
                ),
            ] {
                let row =
                    sqlx::query(AssertSqlSafe(text)).fetch_one(&mut *connection).await.unwrap();
                assert_eq!(row.get::<i64, _>("n"), 0, "{fault}");
            }
            if place.on == On::Sqlite {
                let row = sqlx::query("PRAGMA integrity_check")
                    .fetch_one(&mut *connection)
                    .await
                    .unwrap();
                assert_eq!(row.get::<String, _>(0), "ok");
            }
            drop(connection);
            db.close().await;
            Self { submissions }
        })
    }

    /// Numbers that were acknowledged and are lost, that are there twice, that were deleted and are there.
    pub(crate) fn faults(&self, load: &Load) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let mut by_number = HashMap::<u32, Vec<&str>>::new();
        for (id, number) in &self.submissions {
            by_number.entry(*number).or_default().push(id);
        }
        let (kept, deleted) = (load.kept.lock().unwrap(), load.deleted.lock().unwrap());
        let is_there = |number: &u32, id: &String| {
            by_number.get(number).is_some_and(|ids| ids.contains(&id.as_str()))
        };
        let lost = kept
            .iter()
            .filter(|(number, id)| !deleted.contains_key(number) && !is_there(number, id))
            .map(|(number, _)| *number)
            .collect();
        let doubled: BTreeSet<u32> =
            by_number.iter().filter(|(_, ids)| ids.len() > 1).map(|(number, _)| *number).collect();
        let returned = deleted
            .iter()
            .filter(|(number, is_known)| **is_known && by_number.contains_key(number))
            .map(|(number, _)| *number)
            .collect();
        (lost, doubled.into_iter().collect(), returned)
    }
}

fn a_killed_hub_loses_nothing_and_doubles_nothing(place: &TestData) {
    let name = if place.on == On::Sqlite { "the hub on SQLite" } else { "the hub on PostgreSQL" };
    kill(place, None, &[Victim::Hub], name);
}

#[test]
#[ignore = "kills at moments of the clock; nightly"]
fn a_killed_postgres_loses_nothing_and_doubles_nothing() {
    let server = match Server::start(None) {
        Ok(server) => server,
        Err(reason) => {
            return skip("crashes::a_killed_postgres_loses_nothing_and_doubles_nothing", &reason);
        }
    };
    let place = TestData::on_server(&server);
    let victims = [Victim::Database, Victim::Database, Victim::Both];
    kill(&place, Some(&server), &victims, "PostgreSQL, every third time with the hub");
}
