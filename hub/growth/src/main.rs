//! `cardproof-hub-growth`: fills a hub, asks it for pages, submits to it. `cargo xtask prove hub-growth` runs it.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};
use cardproof_hub::db::Db;
use cardproof_hub::store::rows::Fresh;
use cardproof_hub_growth::load::{Loader, Psql};
use cardproof_hub_growth::records::{Names, Records};
use cardproof_hub_growth::{client, ingest, pages, tell};
use clap::{Args, Parser, Subcommand};

/// Fills a hub with records of simulated cards, and measures it under load.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Fill an empty database
    Fill {
        #[command(flatten)]
        place: Place,
        /// How many records
        #[arg(long)]
        records: u64,
        /// How many of their documents differ
        #[arg(long, default_value_t = 500_000)]
        documents: u64,
    },
    /// Ask a running hub for its pages at a fixed rate
    Pages {
        #[command(flatten)]
        place: Place,
        /// The hub's address
        #[arg(long)]
        hub: String,
        /// Requests a second
        #[arg(long, default_value_t = 200)]
        rate: u32,
        /// Seconds for each page
        #[arg(long, default_value_t = 15)]
        seconds: u32,
    },
    /// Submit to a running hub
    Ingest {
        /// The hub's address
        #[arg(long)]
        hub: String,
        /// The number of the first document
        #[arg(long, default_value_t = 1_000_000_000)]
        first: u64,
        /// How many documents
        #[arg(long, default_value_t = 40_000)]
        records: usize,
        /// Connections
        #[arg(long, default_value_t = 64)]
        connections: usize,
    },
}

/// Where the hub's database is.
#[derive(Debug, Args)]
struct Place {
    /// The data directory
    #[arg(long)]
    data: Option<PathBuf>,
    /// The address of PostgreSQL
    #[arg(long)]
    database: Option<String>,
}

impl Place {
    async fn open(&self) -> Result<Db> {
        if let Some(url) = &self.database {
            return Ok(Db::postgres(url).await?);
        }
        let data = self.data.as_deref().context("name --data or --database")?;
        std::fs::create_dir_all(data)?;
        Ok(Db::sqlite(&data.join("hub.sqlite")).await?)
    }

    /// The database's bytes.
    fn bytes(&self) -> Result<u64> {
        match (&self.database, &self.data) {
            (Some(url), _) => {
                let lines = Psql::at(url)?.ask("SELECT pg_database_size(current_database())")?;
                Ok(lines.first().context("no size")?.parse()?)
            }
            (None, Some(data)) => bytes_below(data),
            (None, None) => Ok(0),
        }
    }

    const fn kind(&self) -> &'static str {
        if self.database.is_some() { "PostgreSQL" } else { "SQLite" }
    }
}

fn bytes_below(directory: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("hub.sqlite") {
            bytes += entry.metadata()?.len();
        }
    }
    Ok(bytes)
}

fn main() -> Result<()> {
    let cli = Cli::parse();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        match cli.command {
            Command::Fill { place, records, documents } => fill(&place, records, documents).await,
            Command::Pages { place, hub, rate, seconds } => ask(&place, &hub, rate, seconds).await,
            Command::Ingest { hub, first, records, connections } => {
                let times = ingest::submitted(&hub, first, records, connections).await?;
                tell::row(
                    "ingest",
                    &format!(
                        "{records} | {connections} | {:.0} | {:.1} | {:.1}",
                        times.per_s,
                        times.at(0.5),
                        times.at(0.99)
                    ),
                )
            }
        }
    })
}

async fn fill(place: &Place, count: u64, documents: u64) -> Result<()> {
    let start = Instant::now();
    let (records, lengths) = Records::new(count, documents)?;
    let judged = start.elapsed();
    let db = place.open().await?;
    let mut loader = Loader::new(db.clone(), place.database.as_deref())?;
    let mut number = 0;
    while number < count {
        let names: Vec<Names> =
            (number..(number + 20_000).min(count)).map(|number| records.names(number)).collect();
        let rows: Vec<Fresh<'_>> =
            (number..).zip(&names).map(|(number, names)| records.fresh(number, names)).collect();
        loader.add(&rows).await?;
        number += names.len() as u64;
    }
    loader.end().await?;
    // SQLite puts its log into the file then.
    db.close().await;
    let documents = documents.min(count);
    tell::row(
        "fill",
        &format!(
            "{} | {count} | {documents} | {} | {} | {} | {:.0} | {:.0}",
            place.kind(),
            lengths.sent / documents,
            lengths.kept / documents,
            place.bytes()? / count,
            judged.as_secs_f64() * 1e6 / documents as f64,
            start.elapsed().as_secs_f64(),
        ),
    )
}

async fn ask(place: &Place, hub: &str, rate: u32, seconds: u32) -> Result<()> {
    let db = place.open().await?;
    let asked = pages::all(&db).await?;
    db.close().await;
    for page in asked {
        let times = client::asked(hub, &page.paths, rate, seconds).await?;
        tell::row(
            "page",
            &format!(
                "{} | {} | {rate} | {:.0} | {:.1} | {:.1} | {:.1} | {} | {}",
                place.kind(),
                page.name,
                times.per_s,
                times.at(0.5),
                times.at(0.99),
                times.at(1.0),
                times.failed,
                times.bytes / (times.ms.len().max(1) as u64),
            ),
        )?;
    }
    Ok(())
}
