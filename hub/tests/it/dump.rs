//! The dump: three tables that agree with what was submitted, only public records, and no month made twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use serde_json::{Value, json};
use sqlx::AssertSqlSafe;

use crate::common::client::request;
use crate::common::postgres::wait_until;
use crate::common::{Hub, TestData, document};
use crate::moderation::act;

on_both!(
    tables_hold_what_was_submitted,
    deleted_and_hidden_records_leave_all_tables,
    a_superseded_file_stays_an_hour_unless_it_may_hold_what_was_removed,
    a_month_that_did_not_change_is_not_made_again,
    tables_agree_while_submissions_go_on,
    files_are_read_in_ranges,
    one_process_at_a_time_makes_the_dump,
);

/// A row of a table by the names of its columns.
pub(crate) type Row = BTreeMap<String, Field>;

/// The rows of the dump's files of `table`.
pub(crate) fn rows(hub: &Hub, table: &str) -> Vec<Row> {
    let files = hub.files(table);
    files.iter().flat_map(|(file, bytes)| read(file, bytes)).collect()
}

fn read(file: &Value, bytes: &[u8]) -> Vec<Row> {
    let mut content = tempfile::tempfile().unwrap();
    content.write_all(bytes).unwrap();
    let reader = SerializedFileReader::new(content).unwrap();
    let row = |row: parquet::record::Row| -> Row { row.into_columns().into_iter().collect() };
    let rows: Vec<Row> =
        reader.get_row_iter(None).unwrap().map(|found| row(found.unwrap())).collect();
    assert_eq!(rows.len() as u64, file["rows"].as_u64().unwrap());
    rows
}

fn text(row: &Row, column: &str) -> String {
    match &row[column] {
        Field::Str(text) => text.clone(),
        other => panic!("{column} is {other}"),
    }
}

fn real(row: &Row, column: &str) -> f64 {
    match row[column] {
        Field::Double(number) => number,
        ref other => panic!("{column} is {other}"),
    }
}

fn whole(row: &Row, column: &str) -> i64 {
    match row[column] {
        Field::Long(number) => number,
        ref other => panic!("{column} is {other}"),
    }
}

/// A document with all that a table has a column for.
fn full(model: &str, iops: f64) -> Value {
    let mut document = document(model, iops);
    document["price"] = json!({"amount": 9.9, "currency": "EUR", "date": "2026-01-31"});
    document["record"]["conditions"]["device"]["card"] = json!({
        "manufacturer_id": "0x03", "oem_id": "SD", "product": "SC32G", "hardware_revision": 8,
        "manufactured": "2024-03", "life_used_percent_max": 20,
        "claims": {"application_class": 2},
        "command_queue": {"card": true, "kernel": true, "host": true, "enabled": true},
        "cache": {"card": true, "enabled": false},
    });
    document["record"]["conditions"]["device"]["bus"] =
        json!({"mode": "sd uhs SDR104", "clock_hz": 208_000_000, "width_bits": 4});
    document["record"]["phases"][1]["warnings"] =
        json!([{"code": "above_link", "message": "the rate is above the bus limit"}]);
    document
}

fn tables_hold_what_was_submitted(place: &TestData) {
    let hub = place.start(&[]);
    let (id, _) = hub.submitted(&full("Full card", 1234.5));
    let (plain, _) = hub.submitted(&document("Plain card", 500.0));
    let lines = hub.dumped();
    let (runs, phases) = (rows(&hub, "runs"), rows(&hub, "phases"));
    assert_eq!(runs.len(), lines.len());
    let ids = |rows: &[Row], column| rows.iter().map(|it| text(it, column)).collect::<Vec<_>>();
    let of_lines: Vec<&str> = lines.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids(&runs, "id"), of_lines, "the same records in the same order");
    let key = |row: &Row| (text(row, "model"), text(row, "id"));
    assert!(runs.is_sorted_by_key(key), "runs are sorted by model");
    let key = |row: &Row| (text(row, "model"), text(row, "run"), whole(row, "position"));
    assert!(phases.is_sorted_by_key(key), "phases are sorted by model");
    for (run, line) in runs.iter().zip(&lines) {
        let of_document = line["document"]["record"]["phases"].as_array().unwrap().len();
        let of_table = phases.iter().filter(|phase| phase["run"] == run["id"]).count();
        assert_eq!((whole(run, "phases") as usize, of_table), (of_document, of_document));
        assert_eq!(text(run, "model"), line["model"].as_str().unwrap());
    }
    let run = runs.iter().find(|run| text(run, "id") == id).unwrap();
    for (column, expected) in [
        ("origin", "measured"),
        ("host_name", "Raspberry Pi 4 Model B"),
        ("manufacturer_id", "0x03"),
        ("lot", "2024-03"),
        ("transport", "sd"),
        ("bus_mode", "sd uhs SDR104"),
        ("price_currency", "EUR"),
        ("engine", "io_uring"),
        ("target", "block_device"),
        ("state", "complete"),
        ("profile", "standard"),
    ] {
        assert_eq!(text(run, column), expected, "{column}");
    }
    assert_eq!(
        (run["command_queue"].clone(), run["cache"].clone()),
        (Field::Bool(true), Field::Bool(false))
    );
    assert_eq!(
        (whole(run, "life_used_percent_max"), whole(run, "claimed_application_class")),
        (20, 2)
    );
    assert_eq!((real(run, "price"), run["price_date"].clone()), (9.9, Field::Date(20_484)));
    assert_eq!(run["random_write_iops"], Field::Null, "a figure in doubt is no figure");
    let plain = runs.iter().find(|run| text(run, "id") == plain).unwrap();
    let figures = [real(plain, "random_write_iops"), real(plain, "random_read_iops")];
    assert!((figures[0] - 500.0).abs() < 1e-9 && (figures[1] - 2000.0).abs() < 1e-9, "{figures:?}");
    assert_eq!(plain["synced_write_iops"], Field::Null, "what was not measured is no figure");
    let own: Vec<&Row> = phases.iter().filter(|phase| text(phase, "run") == id).collect();
    assert_eq!(
        (text(own[0], "op"), text(own[0], "pattern")),
        ("write".to_owned(), "random".to_owned())
    );
    assert_eq!((real(own[0], "iops"), real(own[0], "iops_low")), (1234.5, 1234.5 * 0.98));
    assert_eq!(
        (whole(own[0], "latency_p99_ns"), whole(own[0], "duration_ns")),
        (4000, 1_000_000_000)
    );
    assert_eq!(
        (own[0]["in_doubt"].clone(), own[1]["in_doubt"].clone()),
        (Field::Bool(false), Field::Bool(true))
    );
    assert_eq!(text(own[1], "warnings"), "above_link");
    columns_are_as_described(&hub, &[("runs", run), ("phases", own[0])]);
}

/// The published description is that of the tables, and that of the version that is named.
fn columns_are_as_described(hub: &Hub, samples: &[(&str, &Row)]) {
    let described = hub.get_json("/data/schema.json").json();
    let published: Value = serde_json::from_str(include_str!("../../data-v1.json")).unwrap();
    assert_eq!(described, published, "write the columns that were added into data-v1.json");
    assert_eq!(hub.get_json("/data/manifest.json").json()["data_schema"], described["schema"]);
    for (table, row) in samples {
        let tables = described["tables"].as_array().unwrap();
        let columns = &tables.iter().find(|it| it["name"] == *table).unwrap()["columns"];
        let names: BTreeSet<&str> =
            columns.as_array().unwrap().iter().map(|it| it["name"].as_str().unwrap()).collect();
        assert_eq!(names, row.keys().map(String::as_str).collect(), "{table}");
    }
}

fn deleted_and_hidden_records_leave_all_tables(place: &TestData) {
    let hub = place.start(&["--no-seed"]);
    let administrator = place.administrator();
    let kept: Vec<(String, String)> =
        (0..3).map(|at| hub.submitted(&full(&format!("Card {at}"), 100.0))).collect();
    let ids = || {
        let of = |table: &str, column: &str| {
            rows(&hub, table).iter().map(|row| text(row, column)).collect::<BTreeSet<_>>()
        };
        let lines = hub.dumped();
        let documents = lines.iter().map(|line| line["id"].as_str().unwrap().to_owned()).collect();
        let all = [documents, of("runs", "id"), of("phases", "run")];
        assert!(all.iter().all(|ids| *ids == all[0]), "{all:?}");
        all[0].clone()
    };
    let expected = |places: &[usize]| places.iter().map(|at| kept[*at].0.clone()).collect();
    assert_eq!(ids(), expected(&[0, 1, 2]));
    let old: Vec<String> = ["documents", "runs", "phases"]
        .iter()
        .map(|table| hub.files(table)[0].0["path"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(hub.delete(&kept[0].0, &kept[0].1).status, 204);
    assert_eq!(ids(), expected(&[1, 2]));
    for path in old {
        assert_eq!(hub.get(&format!("/data/{path}")).status, 404, "{path} has a deleted record");
    }
    let moderate = |action: &str| {
        let body = json!({"action": action, "reason": "a test"}).to_string();
        let bearer = format!("Bearer {administrator}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
        let path = format!("/api/v1/moderation/{}", kept[1].0);
        assert_eq!(request(&hub.address, "POST", &path, &headers, body.as_bytes()).status, 200);
    };
    moderate("hide");
    assert_eq!(ids(), expected(&[2]));
    moderate("show");
    assert_eq!(ids(), expected(&[1, 2]));
    assert_eq!(hub.delete(&kept[1].0, &kept[1].1).status, 204);
    assert_eq!(hub.delete(&kept[2].0, &kept[2].1).status, 204);
    assert_eq!(ids(), BTreeSet::new());
}

fn a_superseded_file_stays_an_hour_unless_it_may_hold_what_was_removed(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let token = place.administrator();
    let paths = || {
        let of = |table: &str| hub.files(table)[0].0["path"].as_str().unwrap().to_owned();
        ["documents", "runs", "phases"].map(of)
    };
    let statuses =
        |paths: &[String; 3]| paths.each_ref().map(|path| hub.get(&format!("/data/{path}")).status);
    let (id, _) = hub.submitted(&full("Card 1", 100.0));
    let first = paths();
    hub.submitted(&full("Card 2", 100.0));
    let second = paths();
    assert_ne!(first, second);
    assert_eq!(statuses(&first), [200; 3], "who has read the manifest before gets what it names");
    hub.manifest();
    assert_eq!(statuses(&first), [200; 3], "also after another dump");
    let dump = place.data.path().join("dump");
    for path in &first {
        let file = fs::File::open(dump.join(path)).unwrap();
        let since = file.metadata().unwrap().modified().unwrap();
        file.set_modified(since - Duration::from_secs(3601)).unwrap();
    }
    hub.manifest();
    assert_eq!((statuses(&first), statuses(&second)), ([404; 3], [200; 3]), "an hour later");
    hub.submitted(&full("Card 3", 100.0));
    let third = paths();
    assert_eq!(statuses(&second), [200; 3]);
    assert_eq!(act(&hub, &token, &format!("id={id}&action=hide&reason=x")), 303);
    assert_ne!(paths(), third);
    assert_eq!((statuses(&second), statuses(&third)), ([404; 3], [404; 3]), "it is in both");
}

/// Runs `text` in the database of `place`, which no hub has open.
fn execute(place: &TestData, text: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = place.open().await;
        let mut step = db.write().await.unwrap();
        sqlx::query(AssertSqlSafe(text.to_owned())).execute(&mut *step).await.unwrap();
        step.commit().await.unwrap();
        db.close().await;
    });
}

fn a_month_that_did_not_change_is_not_made_again(place: &TestData) {
    let mut hub = place.start(&["--no-seed"]);
    let (old, _) = hub.submitted(&full("Old card", 100.0));
    hub.submitted(&full("New card", 100.0));
    hub.stop();
    execute(place, &format!("UPDATE submissions SET month = '2025-03' WHERE id = '{old}'"));
    execute(place, "INSERT INTO months (month, changed_ms, version) VALUES ('2025-03', 1, 'one')");
    let mut hub = place.start(&["--no-seed"]);
    // What tells a file that was written from one that stays: its inode and its time.
    let stamps = |hub: &Hub| -> BTreeMap<String, (String, u64, i64)> {
        let manifest = hub.manifest();
        let files = manifest["files"].as_array().unwrap().iter();
        let of = |file: &Value| {
            let path = file["path"].as_str().unwrap().to_owned();
            let it = fs::metadata(place.data.path().join("dump").join(&path)).unwrap();
            let key =
                format!("{}/{}", file["table"].as_str().unwrap(), file["month"].as_str().unwrap());
            (key, (path, it.ino(), it.mtime_nsec()))
        };
        files.map(of).collect()
    };
    let first = stamps(&hub);
    assert_eq!(first.len(), 6, "three tables of two months: {first:?}");
    assert_eq!(stamps(&hub), first, "nothing has changed");
    hub.submitted(&full("Newest card", 100.0));
    let second = stamps(&hub);
    for (key, stamp) in &second {
        assert_eq!(stamp == &first[key], key.ends_with("2025-03"), "{key}");
    }
    hub.stop();
    let hub = place.start(&["--no-seed"]);
    assert_eq!(stamps(&hub), second, "another start makes nothing again");
    let part = second["runs/2025-03"].0.clone();
    fs::remove_file(place.data.path().join("dump").join(&part)).unwrap();
    assert_eq!(stamps(&hub)["runs/2025-03"].0, part, "a file that was lost is made again");
}

fn tables_agree_while_submissions_go_on(place: &TestData) {
    let hub = place.start(&["--no-seed", "--submissions-per-hour", "0"]);
    let tokens = thread::scope(|scope| {
        let hub = &hub;
        let writers: Vec<_> = (0..3)
            .map(|writer| {
                scope.spawn(move || {
                    let one = |at: usize| {
                        let kept = hub.submitted(&full(&format!("Load {writer} {at}"), 100.0));
                        if at.is_multiple_of(3) {
                            assert_eq!(hub.delete(&kept.0, &kept.1).status, 204);
                        }
                        kept
                    };
                    (0..12).map(one).collect::<Vec<_>>()
                })
            })
            .collect();
        for _ in 0..6 {
            // One manifest, so one state of the month, whatever is submitted meanwhile.
            let manifest = hub.manifest();
            let files = manifest["files"].as_array().unwrap();
            let sum = |table: &str| -> u64 {
                let of_table = files.iter().filter(|file| file["table"] == table);
                of_table.map(|file| file["rows"].as_u64().unwrap()).sum()
            };
            assert_eq!((sum("runs"), sum("phases")), (sum("documents"), 2 * sum("documents")));
        }
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    let found: BTreeSet<String> = rows(&hub, "runs").iter().map(|row| text(row, "id")).collect();
    let expected: BTreeSet<String> = tokens
        .iter()
        .enumerate()
        .filter(|(at, _)| at % 12 % 3 != 0)
        .map(|(_, it)| it.0.clone())
        .collect();
    assert_eq!(found, expected);
}

fn files_are_read_in_ranges(place: &TestData) {
    let hub = place.start(&["--no-seed"]);
    hub.submitted(&full("Card", 100.0));
    for (table, kind) in [
        ("documents", "application/gzip"),
        ("runs", "application/vnd.apache.parquet"),
        ("phases", "application/vnd.apache.parquet"),
    ] {
        let (file, bytes) = hub.files(table).remove(0);
        let path = format!("/data/{}", file["path"].as_str().unwrap());
        let part = |range: &str| request(&hub.address, "GET", &path, &[("Range", range)], b"");
        let length = bytes.len();
        let end = part("bytes=-8");
        assert_eq!((end.status, &end.body[..]), (206, &bytes[length - 8..]), "{table}");
        assert!(end.head.contains(&format!(
            "content-range: bytes {}-{}/{length}",
            length - 8,
            length - 1
        )));
        assert!(
            end.head.contains(&format!("content-type: {kind}")) && end.head.contains("immutable")
        );
        let middle = part("bytes=4-99");
        assert_eq!((middle.status, &middle.body[..]), (206, &bytes[4..100]), "{table}");
        let outside = part(&format!("bytes={length}-"));
        assert_eq!(outside.status, 416);
        assert!(!outside.head.contains("immutable"), "{}", outside.head);
        let tag = format!("\"{}\"", path.rsplit('/').next().unwrap());
        assert!(end.head.contains(&format!("etag: {tag}")), "{}", end.head);
        let with = |name: &str, tag: &str| {
            let fields = [("Range", "bytes=0-3"), (name, tag)];
            let answer = request(&hub.address, "GET", &path, &fields, b"");
            (answer.status, answer.body.len())
        };
        assert_eq!(with("If-Range", &tag), (206, 4));
        assert_eq!(with("If-Range", "\"another\""), (200, length));
        assert_eq!(with("If-None-Match", &tag), (304, 0));
        assert_eq!(with("If-None-Match", "\"another\""), (206, 4));
        let head = request(&hub.address, "HEAD", &path, &[], b"");
        assert_eq!((head.status, head.body.len()), (200, 0));
        assert!(head.head.contains(&format!("content-length: {length}")), "{}", head.head);
        assert!(head.head.contains("accept-ranges: bytes"));
    }
}

fn one_process_at_a_time_makes_the_dump(place: &TestData) {
    let hub = place.start(&["--no-dump"]);
    hub.submitted(&document("First card", 100.0));
    assert_eq!(hub.get_json("/data/manifest.json").status, 503, "there is none yet");
    assert_eq!(hub.get("/data").status, 503);
    let before = hub.manifest();
    hub.submitted(&document("Second card", 200.0));
    let held = fs::File::create(place.data.path().join("dump/lock")).unwrap();
    held.lock().unwrap();
    let mut waiting = place.command("dump").stdout(Stdio::null()).spawn().unwrap();
    assert_eq!(hub.get_json("/data/manifest.json").json(), before, "asking makes nothing");
    assert!(waiting.try_wait().unwrap().is_none(), "it waits for the other");
    drop(held);
    assert!(waiting.wait().unwrap().success());
    let after = hub.get_json("/data/manifest.json").json();
    assert_eq!(after["rows"].as_u64().unwrap(), before["rows"].as_u64().unwrap() + 1);
}

/// How many long documents there are.
const LONG: usize = 32;

mod long_documents_of_before_fit_in_the_memory {
    use crate::common::{On, TestData, skip};

    #[test]
    #[ignore = "its 32 MB are read for a quarter of a minute; nightly"]
    fn on_sqlite() {
        super::long_documents_of_before_fit_in_the_memory(&TestData::new(On::Sqlite).unwrap());
    }

    #[test]
    #[ignore = "as on SQLite; nightly"]
    fn on_postgres() {
        match TestData::new(On::Postgres) {
            Ok(place) => super::long_documents_of_before_fit_in_the_memory(&place),
            Err(reason) => skip("long_documents_of_before_fit_in_the_memory::on_postgres", &reason),
        }
    }
}

/// Documents of a megabyte that an earlier hub took: the dump makes them within its memory, and the hub never does.
fn long_documents_of_before_fit_in_the_memory(place: &TestData) {
    let mut hub = place.start(&["--no-seed", "--no-dump", "--submissions-per-hour", "0"]);
    let mut long = document("Long card", 100.0);
    let phase = long["record"]["phases"][0].clone();
    let seed: Value = serde_json::from_str(include_str!("../../seed/v30-a2.json")).unwrap();
    let slices = seed["record"]["phases"][0]["intervals"].clone();
    let ids: Vec<String> =
        (0..LONG).map(|at| hub.submitted(&document(&format!("Card {at}"), 100.0)).0).collect();
    let phases = long["record"]["phases"].as_array_mut().unwrap();
    while phases.iter().map(|it| it.to_string().len()).sum::<usize>() < 1_000_000 {
        let mut one = phase.clone();
        one["intervals"] = slices.clone();
        one["name"] = json!(format!("phase-{}", phases.len()));
        phases.push(one);
    }
    let mut packer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    packer.write_all(long.to_string().as_bytes()).unwrap();
    let packed = packer.finish().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let db = place.open().await;
        let mut step = db.write().await.unwrap();
        sqlx::query("UPDATE submissions SET document = $1")
            .bind(packed)
            .execute(&mut *step)
            .await
            .unwrap();
        step.commit().await.unwrap();
        db.close().await;
    });
    hub.stop();
    let hub = place.start(&["--no-seed"]);
    // The hub's own process for it has a limit: it fails where it needs more.
    wait_until(|| hub.get_json("/data/manifest.json").status == 200);
    let lines = hub.dumped();
    assert_eq!(lines.len(), ids.len());
    let peak = crate::hostile::peak(&hub);
    assert!(peak < 128 << 20, "the hub held {} MiB", peak >> 20);
}
