//! The dump of the largest database, and the example queries on it in three engines.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use super::Scene;
use super::processes::memory_max_bytes;
use super::server::{Server, Settings};
use crate::program::target_directory;

/// The engines as the script calls them.
const ENGINES: [&str; 3] = ["duckdb", "clickhouse", "polars"];

/// How far apart two floating-point numbers may be that were added in another order.
const TOLERANCE: f64 = 1e-9;

/// Rows about the dump of the database `name`.
pub(super) fn measured(scene: &Scene, name: &str) -> Result<Vec<String>> {
    let server = Server::new(&scene.place)?;
    let running = server.start(Settings::Serve)?;
    let data = scene.place.join("dumped");
    let start = Instant::now();
    let mut hub = Command::new(scene.hub())
        .arg("dump")
        .arg("--data")
        .arg(&data)
        .args(["--database", &running.url(name)])
        .stderr(Stdio::null())
        .spawn()?;
    let mut memory = 0.0_f64;
    let status = loop {
        if let Some(status) = hub.try_wait()? {
            break status;
        }
        memory = memory.max(memory_max_bytes(&hub).unwrap_or(0.0));
        std::thread::sleep(Duration::from_millis(200));
    };
    ensure!(status.success(), "the dump failed");
    let seconds = start.elapsed().as_secs_f64();
    let directory = data.join("dump");
    let manifest: Value = serde_json::from_slice(&fs::read(directory.join("manifest.json"))?)?;
    let count = manifest["rows"].as_u64().context("the manifest has no rows")?;
    let mut rows = vec![format!(
        "made: {count} | {seconds:.0} | {:.0} | {:.0}",
        count as f64 / seconds,
        memory / 1_048_576.0
    )];
    rows.extend(sizes(&manifest)?);
    let most = "SELECT model FROM models ORDER BY submissions DESC, model LIMIT 1";
    let model = running.ask(name, most)?.trim().to_owned();
    drop(running);
    rows.extend(queries(&directory, &model)?);
    Ok(rows)
}

fn sizes(manifest: &Value) -> Result<Vec<String>> {
    let files = manifest["files"].as_array().context("the manifest has no files")?;
    let mut tables = BTreeMap::<&str, (u64, u64, u64)>::new();
    for file in files {
        let table = tables.entry(file["table"].as_str().unwrap_or_default()).or_default();
        let number = |name: &str| file[name].as_u64().unwrap_or(0);
        *table = (table.0 + 1, table.1 + number("rows"), table.2 + number("bytes"));
    }
    let row = |(table, (files, rows, bytes)): (&str, (u64, u64, u64))| {
        format!("dump: {table} | {files} | {rows} | {bytes} | {:.1}", bytes as f64 / rows as f64)
    };
    Ok(tables.into_iter().map(row).collect())
}

/// The times of the example queries on the files in `directory`, and whether all engines answer the same.
fn queries(directory: &Path, model: &str) -> Result<Vec<String>> {
    let mut texts = BTreeMap::new();
    for entry in fs::read_dir("hub/queries")? {
        let path = entry?.path();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
        texts.insert(name, fs::read_to_string(&path)?.replace("MODEL", model));
    }
    let asked = json!(texts).to_string();
    let answers: Vec<Value> =
        ENGINES.iter().map(|engine| answered(engine, directory, &asked)).collect::<Result<_>>()?;
    let row = |name: &String| {
        let of_query: Vec<&Value> = answers.iter().map(|answer| &answer[name]).collect();
        let rows = of_query[0]["rows"].as_array().map_or(0, Vec::len);
        let seconds: Vec<String> = of_query
            .iter()
            .map(|answer| format!("{:.2}", answer["s"].as_f64().unwrap_or(f64::NAN)))
            .collect();
        let is_same = of_query.iter().all(|other| is_same(&of_query[0]["rows"], &other["rows"]));
        let told = if is_same && rows > 0 { "equal" } else { "differ" };
        format!("query: {name} | {rows} | {} | {told}", seconds.join(" | "))
    };
    Ok(texts.keys().map(row).collect())
}

fn answered(engine: &str, directory: &Path, queries: &str) -> Result<Value> {
    let mut child = Command::new(target_directory()?.join("engines/bin/python"))
        .args(["hub/tests/it/engines.py", engine])
        .arg(directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("no engines; `cargo xtask test` installs them")?;
    child.stdin.take().context("no input")?.write_all(queries.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "{engine} failed");
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Whether two answers are the same, but for the last digits of numbers.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(a, b)| is_same(a, b))
        }
        (Value::Object(one), Value::Object(other)) => is_same_row(one, other),
        _ => match (one.as_f64(), other.as_f64()) {
            (Some(one), Some(other)) => (one - other).abs() <= TOLERANCE * one.abs(),
            _ => one == other,
        },
    }
}

fn is_same_row(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    let is_there =
        |(name, value): (&String, &Value)| other.get(name).is_some_and(|it| is_same(value, it));
    one.len() == other.len() && one.iter().all(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_differ_by_more_than_the_last_digits() {
        let one = json!([{"a": 1.0, "b": "x"}]);
        assert!(is_same(&one, &json!([{"a": 1.000_000_000_000_1, "b": "x"}])));
        for other in [json!([{"a": 1.1, "b": "x"}]), json!([]), json!([{"a": 1.0}])] {
            assert!(!is_same(&one, &other));
        }
    }
}
