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
use crate::program::{cache, cargo, target_directory};
use processes::{Hub, shown};
use server::{Server, Settings};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "hub-growth",
    shows: "what pages, submissions and the dump cost with 10 thousand to 10 million records; 45 GB of disk; --only \
            takes parts such as fill-postgres-10000, postgres-10000, sqlite-10000, dump",
    document: "docs/design/hub-scale.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Only],
    run,
};

/// Records in PostgreSQL, and in SQLite.
const POSTGRES: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
const SQLITE: [u64; 3] = [10_000, 100_000, 1_000_000];

/// The most records, which are also dumped.
const LARGEST: u64 = POSTGRES[POSTGRES.len() - 1];

/// The number of the first document that is submitted: none that the database has.
const FIRST: u64 = 1_000_000_000;

/// The most submissions to one hub.
const SUBMISSIONS: u64 = 40_000;

/// Documents that differ; each stands for as many records as it takes.
const DOCUMENTS: u64 = 500_000;

/// The short form is so many times smaller.
const SHORT: u64 = 1_000;

/// Seconds for which each page is asked for, in full and in the short form.
const SECONDS: (u32, u32) = (5, 2);

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

    /// Where the rows of `part` are kept.
    fn rows(&self, part: Part) -> PathBuf {
        self.place.join(format!("{}.rows", part.name()))
    }

    fn scaled(&self, records: u64) -> u64 {
        if self.is_short { (records / SHORT).max(100) } else { records }
    }
}

/// A part of the proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Fill(On, u64),
    Measure(On, u64),
    Dump,
}

/// Which database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum On {
    Postgres,
    Sqlite,
}

impl On {
    const fn name(self) -> &'static str {
        match self {
            Self::Postgres => "PostgreSQL",
            Self::Sqlite => "SQLite",
        }
    }

    const fn short_name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Sqlite => "sqlite",
        }
    }
}

impl Part {
    fn all() -> Vec<Self> {
        let both =
            |on: On| move |records: u64| [Self::Fill(on, records), Self::Measure(on, records)];
        let on_postgres = POSTGRES.into_iter().flat_map(both(On::Postgres));
        let on_sqlite = SQLITE.into_iter().flat_map(both(On::Sqlite));
        on_postgres.chain([Self::Dump]).chain(on_sqlite).collect()
    }

    fn name(self) -> String {
        match self {
            Self::Fill(on, records) => format!("fill-{}-{records}", on.short_name()),
            Self::Measure(on, records) => format!("{}-{records}", on.short_name()),
            Self::Dump => "dump".to_owned(),
        }
    }

    /// The rows of its tables, each with the name of its table before it.
    fn measured(self, scene: &Scene) -> Result<Vec<String>> {
        match self {
            Self::Fill(On::Postgres, records) => {
                let server = Server::new(&scene.place)?;
                let running = server.start(Settings::Fill)?;
                running.fresh_database(&database(records))?;
                let name = database(records);
                let rows = shown(fill(scene, records).args(["--database", &running.url(&name)]))?;
                // Or the server would do it by itself while it is measured.
                running.ask(&name, "VACUUM (ANALYZE)")?;
                Ok(rows)
            }
            Self::Fill(On::Sqlite, records) => {
                let data = sqlite(scene, records);
                if data.exists() {
                    fs::remove_dir_all(&data)?;
                }
                shown(fill(scene, records).arg("--data").arg(&data))
            }
            Self::Measure(on, records) => {
                filled(scene, on, records)?;
                measured(scene, on, records)
            }
            Self::Dump => {
                filled(scene, On::Postgres, LARGEST)?;
                dump::measured(scene, &database(LARGEST))
            }
        }
    }
}

/// The name of the PostgreSQL database with `records` records.
fn database(records: u64) -> String {
    format!("records{records}")
}

/// The data directory of the SQLite database with `records` records.
fn sqlite(scene: &Scene, records: u64) -> PathBuf {
    scene.place.join(format!("sqlite-{records}"))
}

/// Sees to it that the database is there; one that was filled before is used again.
fn filled(scene: &Scene, on: On, records: u64) -> Result<()> {
    let part = Part::Fill(on, records);
    let is_there = match on {
        On::Sqlite => sqlite(scene, records).is_dir(),
        On::Postgres => {
            Server::new(&scene.place)?.start(Settings::Serve)?.has(&database(records))?
        }
    };
    if !is_there {
        // Rows of a database that is gone.
        let _ = fs::remove_file(scene.rows(part));
    }
    kept_or_made(part, scene).map(drop)
}

fn run(asked: &Asked) -> Result<Proved> {
    let status = cargo()
        .current_dir("hub")
        .args(["build", "--release", "--locked", "--workspace"])
        .env_remove("LIBSQLITE3_FLAGS")
        .status()?;
    ensure!(status.success(), "the hub does not build");
    let programs = target_directory()?.join("release");
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
    let kept = scene.rows(part);
    if !kept.is_file() {
        eprintln!("{}", part.name());
        let stamp = Stamp::take()?.sentence();
        let mut rows = part.measured(scene)?;
        rows.push(format!("stamp: {}: {stamp}", part.name()));
        fs::write(&kept, rows.join("\n"))?;
    }
    Ok(fs::read_to_string(&kept)?.lines().map(str::to_owned).collect())
}

/// Asks a hub on the filled database for its pages and submits to it. Of the databases only the largest stays: it is
/// dumped.
fn measured(scene: &Scene, on: On, records: u64) -> Result<Vec<String>> {
    if on == On::Sqlite {
        let data = sqlite(scene, records);
        forget(scene)?;
        let rows = asked(scene, on, &["--data", text_of(&data)?], scene.scaled(records))?;
        fs::remove_dir_all(&data)?;
        return Ok(rows);
    }
    let server = Server::new(&scene.place)?;
    forget(scene)?;
    let running = server.start(Settings::Serve)?;
    let url = running.url(&database(records));
    let rows = asked(scene, on, &["--database", &url], scene.scaled(records))?;
    if records != LARGEST {
        running.ask("postgres", &format!("DROP DATABASE {}", database(records)))?;
    }
    Ok(rows)
}

/// Lets the system forget what it holds of files in memory.
fn forget(scene: &Scene) -> Result<()> {
    if scene.is_short {
        return Ok(());
    }
    ensure!(Command::new("sync").status()?.success(), "sync failed");
    fs::write("/proc/sys/vm/drop_caches", "1").context("cannot empty the system's cache of files")
}

fn fill(scene: &Scene, records: u64) -> Command {
    let mut command = scene.growth();
    let records = scene.scaled(records);
    let documents = DOCUMENTS.min(records);
    command.args(["fill", "--records", &records.to_string()]);
    command.args(["--documents", &documents.to_string()]);
    command
}

fn asked(scene: &Scene, on: On, place: &[&str], records: u64) -> Result<Vec<String>> {
    let mut hub = Hub::start(scene, place)?;
    let seconds = if scene.is_short { SECONDS.1 } else { SECONDS.0 };
    let pages = |table: &str| -> Result<Vec<String>> {
        let mut command = scene.growth();
        command.arg("pages").args(place).args(["--hub", &hub.address]);
        command.args(["--seconds", &seconds.to_string()]);
        let named = |row: String| row.replacen("page: ", &format!("{table}: {records} | "), 1);
        Ok(shown(&mut command)?.into_iter().map(named).collect())
    };
    // First with nothing in memory, then as a hub that has run for long.
    let mut rows = pages("cold")?;
    rows.extend(pages("page")?);
    let submissions = (records / 10).clamp(1_000, SUBMISSIONS);
    let ingest = |table: &str, first: u64| -> Result<Vec<String>> {
        let mut command = scene.growth();
        command.args(["ingest", "--hub", &hub.address, "--first", &first.to_string()]);
        command.args(["--records", &submissions.to_string()]);
        let of_size = format!("{table}: {} | {records} | ", on.name());
        let named = |row: String| row.replacen("ingest: ", &of_size, 1);
        Ok(shown(&mut command)?.into_iter().map(named).collect())
    };
    rows.extend(ingest("begin", FIRST)?);
    rows.extend(ingest("ingest", FIRST + submissions)?);
    let memory = hub.memory_max_bytes()? / 1_048_576.0;
    rows.push(format!("memory: {} | {records} | {memory:.0}", on.name()));
    hub.stop()?;
    Ok(rows)
}

/// The head of a table of pages.
const PAGES: &str = "| records | database | page | asked a second | answered a second | p50, ms | p99, ms | longest, ms | failed | \
                     bytes of a page |\n| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |";

/// The head of a table of submissions.
const SUBMITTED: &str = "| database | records before | submissions | connections | acknowledged a second | p50, ms | p99, ms |\n\
                         | --- | ---: | ---: | ---: | ---: | ---: | ---: |";

/// What is said before a table.
const ABOVE: [(&str, &str); 4] = [
    ("cold", "With nothing in memory at the start, the pages in this order:"),
    ("page", "The same again:"),
    ("begin", "The first submissions after the start, which read the indexes from the disk:"),
    ("ingest", "The next ones:"),
];

/// A table: its name in rows, and its head.
const TABLES: [(&str, &str); 9] = [
    (
        "fill",
        "| database | records | different documents | bytes of a document as sent | as kept | bytes of a record in all | \
         microseconds to accept and judge a document | seconds to fill |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ),
    ("cold", PAGES),
    ("page", PAGES),
    ("begin", SUBMITTED),
    ("ingest", SUBMITTED),
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
            if let Some((_, words)) = ABOVE.iter().find(|(of, _)| *of == name) {
                text += &format!("{words}\n\n");
            }
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

/// From so many records on a hub has to take submissions as quickly as is claimed; smaller ones are over too soon.
const FULL: u64 = 100_000;

/// Whether cards and searches are as quick as is claimed, without a failure, submissions too, and engines agree.
fn holds(rows: &[String]) -> bool {
    rows.iter().filter(|row| !row.starts_with("cold: ")).all(|row| {
        let cells: Vec<&str> = row.split(" | ").collect();
        match cells.as_slice() {
            [_, _, "card", _, _, _, p99, _, failed, _] => is_below(p99, 50.0) && *failed == "0",
            [_, _, "search", _, _, _, p99, _, failed, _] => is_below(p99, 100.0) && *failed == "0",
            [table, records, _, _, per_s, ..] if table == &"ingest: PostgreSQL" => {
                records.parse().is_ok_and(|records: u64| records < FULL)
                    || is_at_least(per_s, 2_000.0)
            }
            [table, _, memory] if table.starts_with("memory: ") => is_below(memory, 256.0),
            [table, .., answers] if table.starts_with("query: ") => *answers == "equal",
            _ => true,
        }
    })
}

fn is_at_least(text: &str, least: f64) -> bool {
    text.parse::<f64>().is_ok_and(|number| number >= least)
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
        let ingest = |records: u64, per_s: u64| {
            vec![format!("ingest: PostgreSQL | {records} | 9 | 64 | {per_s} | 1.0 | 2.0")]
        };
        assert!(holds(&ingest(1_000_000, 2_000)) && !holds(&ingest(1_000_000, 1_999)));
        assert!(holds(&ingest(10, 5)));
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
