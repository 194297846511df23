//! `cargo xtask prove hub-growth`: what pages, submissions and the dump cost with ten thousand to ten million records.
//!
//! Each part keeps its database and its rows below `target/hub-growth`: a proof that is stopped goes on with the parts
//! that are missing, and `--only PART` makes one. With `--short` all of it is a thousandth as large and lies in a
//! temporary directory. The hub and the program that fills and asks it are a workspace of their own.

mod dump;
mod processes;
mod server;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{Asked, DependsOn, Proof, Proved, Stamp, Takes};
use crate::program::{cache, cargo};
use processes::{Hub, shown};
use server::{Server, Settings};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "hub-growth",
    shows: "what pages, submissions and the dump cost with 10 thousand to 10 million records; 30 GB of disk; --only \
            takes parts such as postgres-10000, sqlite-10000, dump",
    document: "docs/design/hub-scale.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Only],
    run,
};

/// Records in PostgreSQL, and in SQLite.
const POSTGRES: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
const SQLITE: [u64; 3] = [10_000, 100_000, 1_000_000];

/// Documents that differ; each stands for as many records as it takes.
const DOCUMENTS: u64 = 500_000;

/// The short form is so many times smaller.
const SHORT: u64 = 1_000;

/// Seconds for which each page is asked for, in full and in the short form.
const SECONDS: (u32, u32) = (15, 2);

/// Where the parts lie, and how large they are.
#[derive(Debug)]
struct Scene {
    place: PathBuf,
    programs: PathBuf,
    is_short: bool,
}

impl Scene {
    fn growth(&self) -> Command {
        Command::new(self.programs.join("cardproof-hub-growth"))
    }

    fn hub(&self) -> PathBuf {
        self.programs.join("cardproof-hub")
    }

    fn scaled(&self, records: u64) -> u64 {
        if self.is_short { (records / SHORT).max(100) } else { records }
    }
}

/// A part of the proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Postgres(u64),
    Sqlite(u64),
    Dump,
}

impl Part {
    fn all() -> Vec<Self> {
        let sizes = POSTGRES.map(Self::Postgres).into_iter();
        sizes.chain([Self::Dump]).chain(SQLITE.map(Self::Sqlite)).collect()
    }

    fn name(self) -> String {
        match self {
            Self::Postgres(records) => format!("postgres-{records}"),
            Self::Sqlite(records) => format!("sqlite-{records}"),
            Self::Dump => "dump".to_owned(),
        }
    }

    /// The rows of its tables, each with the name of its table before it.
    fn measured(self, scene: &Scene) -> Result<Vec<String>> {
        match self {
            Self::Postgres(records) => on_postgres(scene, records),
            Self::Sqlite(records) => on_sqlite(scene, records),
            Self::Dump => dump::measured(scene, POSTGRES[POSTGRES.len() - 1]),
        }
    }
}

fn run(asked: &Asked) -> Result<Proved> {
    let status = cargo()
        .current_dir("hub")
        .args(["build", "--release", "--locked", "--workspace"])
        .env_remove("LIBSQLITE3_FLAGS")
        .status()?;
    ensure!(status.success(), "the hub does not build");
    let programs = fs::canonicalize("hub/target/release").context("the hub was not built")?;
    let short = asked.is_short.then(tempfile::tempdir).transpose()?;
    let place = match &short {
        Some(place) => place.path().to_owned(),
        None => cache("hub-growth")?,
    };
    let scene = Scene { place, programs, is_short: asked.is_short };
    let parts = Part::all();
    let is_wanted = |part: &&Part| asked.only.is_empty() || asked.only.contains(&part.name());
    let wanted: Vec<&Part> = parts.iter().filter(is_wanted).collect();
    ensure!(!wanted.is_empty(), "there is no such part; there are {parts:?}");
    let mut rows = Vec::new();
    for part in wanted {
        rows.extend(kept_or_made(*part, &scene)?);
    }
    Ok(Proved { tables: tables(&rows), holds: holds(&rows) })
}

/// The rows of `part`, which are made where they are not there.
fn kept_or_made(part: Part, scene: &Scene) -> Result<Vec<String>> {
    let kept = scene.place.join(format!("{}.rows", part.name()));
    if !kept.is_file() {
        eprintln!("{}", part.name());
        let stamp = Stamp::take()?.sentence();
        let mut rows = part.measured(scene)?;
        rows.push(format!("stamp: {}: {stamp}", part.name()));
        fs::write(&kept, rows.join("\n"))?;
    }
    Ok(fs::read_to_string(&kept)?.lines().map(str::to_owned).collect())
}

fn on_postgres(scene: &Scene, records: u64) -> Result<Vec<String>> {
    let count = scene.scaled(records);
    let name = format!("records{records}");
    let server = Server::new(&scene.place)?;
    let mut rows = Vec::new();
    // One that was filled before is used again, so that a proof which was stopped need not fill it twice.
    let filled = scene.place.join(format!("{name}.filled"));
    if !filled.is_file() {
        let running = server.start(Settings::Fill)?;
        running.fresh_database(&name)?;
        let url = running.url(&name);
        fs::write(&filled, shown(fill(scene, count).args(["--database", &url]))?.join("\n"))?;
    }
    rows.extend(fs::read_to_string(&filled)?.lines().map(str::to_owned));
    let running = server.start(Settings::Serve)?;
    measure(scene, &["--database", &running.url(&name)], count, &mut rows)?;
    Ok(rows)
}

fn on_sqlite(scene: &Scene, records: u64) -> Result<Vec<String>> {
    let count = scene.scaled(records);
    let data = scene.place.join(format!("sqlite-{records}"));
    if data.exists() {
        fs::remove_dir_all(&data)?;
    }
    let of_data = data.to_str().context("the directory's name must be UTF-8")?;
    let mut rows = shown(fill(scene, count).args(["--data", of_data]))?;
    measure(scene, &["--data", of_data], count, &mut rows)?;
    fs::remove_dir_all(&data)?;
    Ok(rows)
}

fn fill(scene: &Scene, records: u64) -> Command {
    let mut command = scene.growth();
    let documents = DOCUMENTS.min(records);
    command.args(["fill", "--records", &records.to_string()]);
    command.args(["--documents", &documents.to_string()]);
    command
}

/// Asks a hub for its pages and submits to it.
fn measure(scene: &Scene, place: &[&str], records: u64, rows: &mut Vec<String>) -> Result<()> {
    let mut hub = Hub::start(scene, place)?;
    let seconds = if scene.is_short { SECONDS.1 } else { SECONDS.0 };
    let pages = |seconds: u32| {
        let mut command = scene.growth();
        command.arg("pages").args(place).args(["--hub", &hub.address]);
        command.args(["--seconds", &seconds.to_string()]);
        shown(&mut command)
    };
    // Once to warm up: a hub that has run for years has its indexes in memory.
    pages(seconds)?;
    for row in pages(seconds)? {
        rows.push(row.replacen("page: ", &format!("page: {records} | "), 1));
    }
    let submissions = (records / 10).clamp(1_000, 20_000);
    let mut ingest = scene.growth();
    ingest.args(["ingest", "--hub", &hub.address, "--records", &submissions.to_string()]);
    for row in shown(&mut ingest)? {
        let kind = if place[0] == "--data" { "SQLite" } else { "PostgreSQL" };
        let of_size = format!("ingest: {kind} | {records} | ");
        rows.push(row.replacen("ingest: ", &of_size, 1));
    }
    let kind = if place[0] == "--data" { "SQLite" } else { "PostgreSQL" };
    rows.push(format!("memory: {kind} | {records} | {:.0}", hub.memory_max_bytes()? / 1_048_576.0));
    hub.stop()
}

/// A table: its name in rows, and its head.
const TABLES: [(&str, &str); 7] = [
    (
        "fill",
        "| database | records | different documents | bytes of a document as sent | as kept | bytes of a record in all | \
         microseconds to accept and judge a document | seconds to fill |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ),
    (
        "page",
        "| records | database | page | asked a second | answered a second | p50, ms | p99, ms | longest, ms | failed | \
         bytes of a page |\n| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ),
    (
        "ingest",
        "| database | records before | submissions | connections | acknowledged a second | p50, ms | p99, ms |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ),
    ("memory", "| database | records | most memory of the hub, MiB |\n| --- | ---: | ---: |"),
    ("dump", "| table | files | rows | bytes | bytes a row |\n| --- | ---: | ---: | ---: | ---: |"),
    (
        "made",
        "| records dumped | seconds | records a second | most memory, MiB |\n| ---: | ---: | ---: | ---: |",
    ),
    (
        "query",
        "| query | rows | DuckDB, s | ClickHouse, s | Polars, s | answers |\n| --- | ---: | ---: | ---: | ---: | --- |",
    ),
];

fn tables(rows: &[String]) -> String {
    let mut text = String::new();
    for (name, head) in TABLES {
        let prefix = format!("{name}: ");
        let of_table: Vec<String> = rows
            .iter()
            .filter_map(|row| row.strip_prefix(&prefix))
            .map(|row| format!("| {row} |"))
            .collect();
        if !of_table.is_empty() {
            text += &format!("{head}\n{}\n\n", of_table.join("\n"));
        }
    }
    let stamps: Vec<String> = rows
        .iter()
        .filter_map(|row| row.strip_prefix("stamp: "))
        .map(|stamp| format!("- {stamp}"))
        .collect();
    text + &stamps.join("\n")
}

/// Whether cards and searches are as quick as is claimed, without a failure, and engines agree.
fn holds(rows: &[String]) -> bool {
    rows.iter().all(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        match cells.as_slice() {
            [_, _, "card", _, _, _, p99, _, failed, _] => is_below(p99, 50.0) && *failed == "0",
            [_, _, "search", _, _, _, p99, _, failed, _] => is_below(p99, 100.0) && *failed == "0",
            [table, _, memory] if table.starts_with("memory: ") => is_below(memory, 256.0),
            [table, .., answers] if table.starts_with("query: ") => *answers == "equal",
            _ => true,
        }
    })
}

fn is_below(text: &str, most: f64) -> bool {
    text.parse::<f64>().is_ok_and(|number| number < most)
}

/// A path as text.
fn text_of(path: &Path) -> Result<&str> {
    path.to_str().context("the directory's name must be UTF-8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_too_slow_breaks_the_claim() {
        let page = |name: &str, p99: &str, failed: &str| {
            vec![format!(
                "page: 10 | SQLite | {name} | 200 | 200 | 1.0 | {p99} | 9.0 | {failed} | 9"
            )]
        };
        assert!(holds(&page("card", "49.9", "0")));
        assert!(!holds(&page("card", "50.1", "0")));
        assert!(!holds(&page("card", "1.0", "1")));
        assert!(holds(&page("search", "99.0", "0")) && !holds(&page("search", "NaN", "0")));
        assert!(!holds(&["memory: SQLite | 10 | 300".to_owned()]));
        assert!(!holds(&["query: life | 3 | 1 | 1 | 1 | differ".to_owned()]));
    }

    #[test]
    fn rows_come_into_their_tables() {
        let rows = ["memory: SQLite | 10 | 30", "stamp: sqlite-10: Measured."].map(str::to_owned);
        let text = tables(&rows);
        assert!(text.contains("| --- | ---: | ---: |\n| SQLite | 10 | 30 |\n"), "{text}");
        assert!(text.ends_with("- sqlite-10: Measured."), "{text}");
    }
}
