//! The example queries on a real dump in three engines: each gives the answers that are computed here from the
//! documents, so all three give the same.
//!
//! The engines come from Python's registry and are installed by `cargo xtask test`. What is missing is a skip.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use cardproof_hub::queries::queries;
use cardproof_hub::summary::summary;
use cardproof_record::{Outcome, Record};
use cardproof_submission::record_of;
use serde_json::{Map, Value, json};
use tempfile::TempDir;

use crate::common::variations::Variations;
use crate::common::{Hub, On, TestData, skip};

const SCRIPT: &str = include_str!("engines.py");

/// Submissions beside those that the hub begins with.
const DOCUMENTS: u64 = 80;

/// How far apart two floating-point numbers may be that were added in another order.
const TOLERANCE: f64 = 1e-9;

/// The dump of a hub, its queries, and their answers.
struct Golden {
    directory: TempDir,
    texts: BTreeMap<&'static str, String>,
    answers: BTreeMap<&'static str, Vec<Value>>,
}

static GOLDEN: OnceLock<Golden> = OnceLock::new();

impl Golden {
    fn get() -> &'static Self {
        GOLDEN.get_or_init(Self::make)
    }

    fn make() -> Self {
        let place = TestData::new(On::Sqlite).unwrap();
        let hub = place.start(&["--submissions-per-hour", "0"]);
        let variations = Variations::new(12);
        for number in 0..DOCUMENTS {
            hub.submitted(&variations.document(number));
        }
        let directory = tempfile::tempdir().unwrap();
        for table in ["runs", "phases"] {
            for (file, bytes) in hub.files(table) {
                let path = directory.path().join(file["path"].as_str().unwrap());
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, bytes).unwrap();
            }
        }
        let lines = lines(&hub);
        let model = most_common(&lines);
        let texts = queries(&model).into_iter().map(|query| (query.name, query.text)).collect();
        let answers = BTreeMap::from([
            ("random-writes-by-host", random_writes_by_host(&lines, &model)),
            ("a2-by-command-queue", a2_by_command_queue(&lines)),
            ("life-by-model", life_by_model(&lines)),
            ("price-and-job-time", price_and_job_time(&lines)),
            ("queue-depth", queue_depth(&lines)),
        ]);
        for (name, rows) in &answers {
            assert!(rows.len() > 1, "the data has nothing to ask for in {name}: {rows:?}");
        }
        Self { directory, texts, answers }
    }
}

/// A record of the dump.
struct Line {
    model: String,
    document: Value,
    record: Record,
    basis: String,
    figures: BTreeMap<String, f64>,
    name: String,
}

fn lines(hub: &Hub) -> Vec<Line> {
    let line = |line: Value| {
        let record = record_of(&line["document"], line["id"].as_str().unwrap()).unwrap();
        let summary = summary(&record, line["source"].as_str());
        let sound = summary.figures.into_iter().filter(|figure| figure.doubt.is_none());
        Line {
            model: line["model"].as_str().unwrap().to_owned(),
            document: line["document"].clone(),
            basis: summary.basis,
            figures: sound.map(|figure| (figure.quantity, figure.rate)).collect(),
            name: summary.model.name,
            record,
        }
    };
    hub.dumped().into_iter().map(line).collect()
}

/// The model with the most records, so that its distribution has something to show.
fn most_common(lines: &[Line]) -> String {
    let mut counts = BTreeMap::<&str, usize>::new();
    lines.iter().for_each(|line| *counts.entry(&line.model).or_default() += 1);
    counts.into_iter().max_by_key(|(_, count)| *count).unwrap().0.to_owned()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { f64::midpoint(values[half - 1], values[half]) }
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

fn random_writes_by_host(lines: &[Line], model: &str) -> Vec<Value> {
    let mut by_basis = BTreeMap::<&str, Vec<f64>>::new();
    for line in lines.iter().filter(|line| line.model == model) {
        if let Some(rate) = line.figures.get("random_write") {
            by_basis.entry(&line.basis).or_default().push(*rate);
        }
    }
    let row = |(basis, rates): (&str, Vec<f64>)| {
        json!({"basis": basis, "results": rates.len(), "lowest_iops": least(&rates), "highest_iops": most(&rates),
            "median_iops": median(rates)})
    };
    by_basis.into_iter().map(row).collect()
}

fn a2_by_command_queue(lines: &[Line]) -> Vec<Value> {
    let mut by_queue = BTreeMap::<&str, (u32, u32)>::new();
    for line in lines {
        let card = line.record.conditions.device.lowest().card.as_ref();
        let queue = match card.and_then(|card| card.command_queue.enabled) {
            Some(true) => "in use",
            Some(false) => "not in use",
            None => "unknown",
        };
        let verdicts = cardproof_rating::judge(&line.record);
        let (judged, passed) = by_queue.entry(queue).or_default();
        match verdicts.iter().find(|verdict| verdict.rule == "A2").unwrap().outcome {
            Outcome::Meets => (*judged, *passed) = (*judged + 1, *passed + 1),
            Outcome::Misses => *judged += 1,
            _ => {}
        }
    }
    let judged = by_queue.into_iter().filter(|(_, (judged, _))| *judged > 0);
    let row = |(queue, (judged, passed)): (&str, (u32, u32))| {
        let percent = 100.0 * f64::from(passed) / f64::from(judged);
        json!({"queue": queue, "judged": judged, "passed": passed, "passed_percent": percent})
    };
    judged.map(row).collect()
}

fn life_by_model(lines: &[Line]) -> Vec<Value> {
    let mut by_model = BTreeMap::<&str, (&str, Vec<f64>)>::new();
    for line in lines {
        let device = &line.document["record"]["conditions"]["device"];
        if let Some(percent) = device["card"]["life_used_percent_max"].as_f64() {
            let (name, all) = by_model.entry(&line.model).or_insert((&line.name, Vec::new()));
            *name = line.name.as_str().min(name);
            all.push(percent);
        }
    }
    let row = |(model, (name, all)): (&str, (&str, Vec<f64>))| {
        json!({"model": model, "name": name, "cards": all.len(), "least_percent": least(&all),
            "most_percent": most(&all), "median_percent": median(all)})
    };
    by_model.into_iter().map(row).collect()
}

fn price_and_job_time(lines: &[Line]) -> Vec<Value> {
    let mut groups = BTreeMap::<(&str, &str, &str), (Vec<f64>, Vec<f64>)>::new();
    for line in lines {
        let price = &line.document["price"];
        let figures = ["random_write", "random_read"].map(|name| line.figures.get(name).copied());
        if let (Some(amount), [Some(write), Some(read)]) = (price["amount"].as_f64(), figures) {
            let key = (line.model.as_str(), price["currency"].as_str().unwrap(), &*line.basis);
            let (prices, seconds) = groups.entry(key).or_default();
            prices.push(amount);
            seconds.push(32_000.0 / write + 13_000.0 / read);
        }
    }
    let row = |(model, currency, basis): (&str, &str, &str), prices: &[f64], seconds| {
        json!({"model": model, "price_currency": currency, "basis": basis, "results": prices.len(),
            "lowest_price": least(prices), "median_job_s": median(seconds)})
    };
    let mut rows: Vec<Value> =
        groups.into_iter().map(|(key, (prices, seconds))| row(key, &prices, seconds)).collect();
    let seconds = |row: &Value| row["median_job_s"].as_f64().unwrap();
    rows.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
    rows
}

fn queue_depth(lines: &[Line]) -> Vec<Value> {
    let mut groups = BTreeMap::<(&str, u64), (Vec<f64>, u64)>::new();
    let forbids = |warnings: &Value| {
        let word = |it: &Value| it["code"].as_str().unwrap().to_owned();
        let forbidding =
            ["buffered", "memory", "layer_unknown", "copy_on_write", "wrong_data", "above_link"];
        let all = warnings.as_array().map(Vec::as_slice).unwrap_or_default();
        all.iter().any(|it| forbidding.contains(&word(it).as_str()))
    };
    for line in lines {
        let record = &line.document["record"];
        for phase in record["phases"].as_array().unwrap() {
            let is_wanted = phase["op"] == "write"
                && phase["pattern"] == "random"
                && phase["block_size_bytes"] == 4096
                && phase["state"] == "measured"
                && !forbids(&phase["warnings"])
                && !forbids(&record["warnings"]);
            if let (true, Some(iops)) = (is_wanted, phase["iops"]["estimate"].as_f64()) {
                let key = (line.model.as_str(), phase["queue_depth"].as_u64().unwrap());
                let (all, longest) = groups.entry(key).or_default();
                all.push(iops);
                *longest = (*longest).max(phase["latency_ns"]["max"].as_u64().unwrap_or(0));
            }
        }
    }
    let row = |((card, depth), (all, longest)): ((&str, u64), (Vec<f64>, u64))| {
        json!({"card": card, "depth": depth, "phases": all.len(), "median_iops": median(all),
            "longest_wait_ns": longest})
    };
    groups.into_iter().map(row).collect()
}

/// A Python that has `module`, of the environment that `cargo xtask test` makes.
pub(crate) fn python(module: &str) -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let python = root.join("target/engines/bin/python");
    let has = Command::new(&python).args(["-c", &format!("import {module}")]).output();
    if has.is_ok_and(|output| output.status.success()) {
        return Ok(python);
    }
    Err(format!("no Python package {module}; `cargo xtask test` installs it below target/engines"))
}

/// An answer of an engine.
#[derive(serde::Deserialize)]
pub(crate) struct Answer {
    pub(crate) rows: Vec<Map<String, Value>>,
}

/// The answers of `engine` on the dump in a directory, or at an address.
pub(crate) fn ask(
    python: &Path,
    engine: &str,
    place: impl AsRef<OsStr>,
    texts: &BTreeMap<&str, String>,
) -> BTreeMap<String, Answer> {
    let mut command = Command::new(python);
    command.args(["-c", SCRIPT, engine]).arg(place);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let texts = serde_json::to_vec(texts).unwrap();
    child.stdin.take().unwrap().write_all(&texts).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{engine}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn is_same(found: &Value, expected: &Value) -> bool {
    match (found.as_f64(), expected.as_f64()) {
        (Some(found), Some(expected)) => (found - expected).abs() <= TOLERANCE * expected.abs(),
        _ => found == expected,
    }
}

fn answers_are_as_computed(engine: &str, module: &str) {
    let python = match python(module) {
        Ok(python) => python,
        Err(reason) => return skip(&format!("engines::{engine}_answers_as_computed"), &reason),
    };
    let golden = Golden::get();
    let found = ask(&python, engine, golden.directory.path(), &golden.texts);
    assert_eq!(found.len(), golden.answers.len());
    for (name, expected) in &golden.answers {
        are_same(&format!("{engine}, {name}"), &found[*name].rows, expected);
    }
}

pub(crate) fn are_same(asked: &str, rows: &[Map<String, Value>], expected: &[Value]) {
    assert_eq!(rows.len(), expected.len(), "{asked}: {rows:?}\n{expected:?}");
    for (row, expected) in rows.iter().zip(expected) {
        let expected = expected.as_object().unwrap();
        assert_eq!(row.len(), expected.len(), "{asked}");
        for (column, value) in expected {
            let is_good = row.get(column).is_some_and(|found| is_same(found, value));
            assert!(is_good, "{asked}, {column}: {row:?} is not {expected:?}");
        }
    }
}

/// The most values of which ClickHouse's own `median` keeps all.
const SAMPLED_ABOVE: u64 = 8_192;

#[test]
#[ignore = "needs the engines; nightly"]
fn clickhouse_draws_no_sample_of_large_groups() {
    let python = match python("chdb") {
        Ok(python) => python,
        Err(reason) => {
            return skip("engines::clickhouse_draws_no_sample_of_large_groups", &reason);
        }
    };
    let golden = Golden::get();
    let name = "queue-depth";
    let phases = |row: &Value| row["phases"].as_u64().unwrap();
    // Of an even number the median lies between two values; a sample of a third misses one of them in 99 of 100 cases.
    let even = golden.answers[name].iter().map(phases).filter(|count| count % 2 == 0);
    let copies = 3 * SAMPLED_ABOVE / even.max().unwrap() + 1;
    // Medians and extremes stay the same when every phase is repeated equally often.
    let many = tempfile::tempdir().unwrap();
    for (table, copies) in [("runs", 1), ("phases", copies)] {
        std::fs::create_dir(many.path().join(table)).unwrap();
        for entry in std::fs::read_dir(golden.directory.path().join(table)).unwrap() {
            let file = entry.unwrap();
            for copy in 0..copies {
                let to = format!("{table}/{copy}-{}", file.file_name().display());
                std::fs::hard_link(file.path(), many.path().join(to)).unwrap();
            }
        }
    }
    let expected: Vec<Value> = golden.answers[name]
        .iter()
        .map(|row| {
            let mut row = row.clone();
            row["phases"] = json!(phases(&row) * copies);
            row
        })
        .collect();
    let texts = BTreeMap::from([(name, golden.texts[name].clone())]);
    let found = ask(&python, "clickhouse", many.path(), &texts);
    are_same(name, &found[name].rows, &expected);
}

#[test]
#[ignore = "needs the engines; nightly"]
fn duckdb_answers_as_computed() {
    answers_are_as_computed("duckdb", "duckdb");
}

#[test]
#[ignore = "needs the engines; nightly"]
fn clickhouse_answers_as_computed() {
    answers_are_as_computed("clickhouse", "chdb");
}

#[test]
#[ignore = "needs the engines; nightly"]
fn polars_answers_as_computed() {
    answers_are_as_computed("polars", "polars");
}
