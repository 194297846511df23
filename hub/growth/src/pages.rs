//! What is asked of a hub: pages of cards as often as they have records, and rare ones; searches with slips; every
//! other page that reads the database.

use anyhow::{Result, ensure};
use cardproof_hub::db::Db;
use sqlx::Row;

use crate::variations::Draw;

/// A page, and the addresses by which it is asked for.
#[derive(Debug)]
pub struct Asked {
    /// Its name in tables.
    pub name: &'static str,
    /// The addresses.
    pub paths: Vec<String>,
}

/// The pages of the hub on `db`.
///
/// # Errors
/// The database does not answer, or has no record.
pub async fn all(db: &Db) -> Result<Vec<Asked>> {
    let mut draw = Draw(24);
    let rows = sqlx::query("SELECT model, name, submissions FROM models ORDER BY submissions DESC")
        .fetch_all(&db.readers())
        .await?;
    let mut models = Vec::new();
    for row in &rows {
        let (model, name): (String, String) = (row.try_get("model")?, row.try_get("name")?);
        models.push((model, name, row.try_get::<i64, _>("submissions")? as f64));
    }
    ensure!(!models.is_empty(), "the hub has no record");
    let all: f64 = models.iter().map(|(.., count)| count).sum();
    let mut by_records = || {
        let mut left = draw.unit() * all;
        let found = models.iter().position(|(.., count)| {
            left -= count;
            left <= 0.0
        });
        found.unwrap_or(0)
    };
    let popular: Vec<usize> = (0..1000).map(|_| by_records()).collect();
    let mut draw = Draw(42);
    let card = |at: usize| format!("/models/{}", models[at].0);
    // Two of three as often as a card is measured, one of three any card.
    let cards = popular
        .iter()
        .enumerate()
        .map(|(at, found)| {
            card(if at % 3 == 2 { draw.bits() as usize % models.len() } else { *found })
        })
        .collect();
    let searches = popular
        .iter()
        .map(|found| {
            let mut words: Vec<&str> = models[*found].1.split([' ', ',']).collect();
            words.retain(|word| word.len() > 1);
            words.truncate(1 + draw.bits() as usize % 3);
            let mut letters: Vec<char> = words.join("+").chars().collect();
            if letters.len() > 4 && draw.unit() < 0.5 {
                letters.remove(draw.bits() as usize % letters.len());
            }
            format!("/search?q={}", letters.into_iter().collect::<String>())
        })
        .collect();
    let as_json = popular.iter().map(|found| format!("/api/v1/models/{}", models[*found].0));
    let as_json = as_json.collect();
    let hosts = some_hosts(db, &mut draw).await?;
    let page_of_host = |(_, host): &(String, String)| format!("/hosts/{host}");
    let card_on_host = |(model, host): &(String, String)| format!("/models/{model}?host={host}");
    let records = some_records(db, &mut draw).await?;
    let compared = |two: &[String]| format!("/compare?ids={}", two.join(",").replace("/r/", ""));
    let one = |name, path: &str| Asked { name, paths: vec![path.to_owned()] };
    Ok(vec![
        Asked { name: "card", paths: cards },
        Asked { name: "search", paths: searches },
        one("front", "/"),
        one("ranking", "/ranking"),
        Asked { name: "card as JSON", paths: as_json },
        Asked { name: "card on a host", paths: hosts.iter().map(card_on_host).collect() },
        Asked { name: "host", paths: hosts.iter().map(page_of_host).collect() },
        one("models", "/models"),
        one("hosts", "/hosts"),
        one("feed", "/feed.atom"),
        Asked { name: "compare", paths: records.chunks(2).map(compared).collect() },
        Asked { name: "record", paths: records },
    ])
}

/// Some models and hosts that have met, the rare ones as often as the common.
async fn some_hosts(db: &Db, draw: &mut Draw) -> Result<Vec<(String, String)>> {
    let rows =
        sqlx::query("SELECT model, host FROM model_hosts WHERE host <> '' ORDER BY model, host")
            .fetch_all(&db.readers())
            .await?;
    ensure!(!rows.is_empty(), "the hub has no host");
    let mut found = Vec::new();
    for _ in 0..500 {
        let row = &rows[draw.bits() as usize % rows.len()];
        found.push((row.try_get("model")?, row.try_get("host")?));
    }
    Ok(found)
}

async fn some_records(db: &Db, draw: &mut Draw) -> Result<Vec<String>> {
    let ends =
        sqlx::query("SELECT MIN(created_ms) AS low, MAX(created_ms) AS high FROM submissions")
            .fetch_one(&db.readers())
            .await?;
    let (low, high): (i64, i64) = (ends.try_get("low")?, ends.try_get("high")?);
    let mut found = Vec::new();
    for _ in 0..500 {
        let moment = low + ((high - low) as f64 * draw.unit()) as i64;
        let row = sqlx::query(
            "SELECT id FROM submissions WHERE created_ms >= $1 ORDER BY created_ms LIMIT 1",
        )
        .bind(moment)
        .fetch_one(&db.readers())
        .await?;
        found.push(format!("/r/{}", row.try_get::<String, _>("id")?));
    }
    Ok(found)
}
