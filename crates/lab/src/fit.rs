//! `cargo xtask fit`: finds the parameters of the calibrated cards from their published figures.
//!
//! Each card has eight figures and eight free parameters. Everything else about it is assumed,
//! and stays as it is. The result is written into the catalogue, and what is left of the
//! difference into the simulator's design document, card by card and cell by cell.

mod free;
mod search;
mod show;

use anyhow::{Context, Result};
use cardproof_sim::calibration::{self, Figures, PUBLISHED};
use cardproof_sim::{Card, Keeping};
use cardproof_units::Seed;

use crate::document;
use free::Free;

/// The catalogue's file of fitted parameters.
const FITTED: &str = "crates/sim/src/catalogue/fitted.rs";

/// The document that holds the residuals.
const DOCUMENT: &str = "docs/design/simulator.md";

/// The seeds over which each figure is averaged. Pauses come at other moments under another seed,
/// which moves a single run's figure by up to one part in a hundred.
const SEEDS: [Seed; 4] =
    [Seed::from_bits(11), Seed::from_bits(12), Seed::from_bits(13), Seed::from_bits(14)];

/// A card after its fit.
struct Fitted {
    card: Card,
    published: Figures,
    simulated: Figures,
}

/// Fits every calibrated card and writes the results; `false` where a cell misses or the
/// published order of the cards is broken.
pub(crate) fn run() -> Result<bool> {
    let mut all = Vec::new();
    for published in &PUBLISHED {
        let start = *cardproof_sim::find(published.card)?;
        let fitted = fit(start, published.figures)?;
        println!("{}: worst cell {:+.2} %", published.card, 100.0 * worst(&fitted));
        all.push(fitted);
    }
    std::fs::write(FITTED, show::rust_source(&all)?).with_context(|| FITTED.to_owned())?;
    document::write(DOCUMENT, "fit", &show::tables(&all)?)?;
    let formatted =
        std::process::Command::new("rustfmt").arg("--edition=2024").arg(FITTED).status();
    formatted.context("rustfmt did not start")?;
    Ok(is_good(&all))
}

/// The parameters of `card` that come nearest to `published`.
fn fit(card: Card, published: Figures) -> Result<Fitted> {
    let free = Free::of(&card.model)?;
    let residuals = |parameters: &[f64]| -> Result<Vec<f64>> {
        let figures = measure(&Card { model: free.put(&card.model, parameters)?, ..card })?;
        let pairs = figures.0.iter().zip(&published.0);
        Ok(pairs.map(|(simulated, published)| (simulated / published).ln()).collect())
    };
    let found = search::least_squares(&free.start(), residuals)?;
    let card = Card { model: free.put(&card.model, &found)?, ..card };
    let simulated = measure(&card)?;
    Ok(Fitted { card, published, simulated })
}

/// The figures of `card` under the calibration workload, each the geometric mean over the seeds.
fn measure(card: &Card) -> Result<Figures> {
    let mut logs = [0.0; 8];
    for seed in SEEDS {
        let mut target = card.build(seed, Keeping::Nothing)?;
        let figures = calibration::measure(&mut target, seed)?;
        for (log, figure) in logs.iter_mut().zip(figures.0) {
            *log += figure.ln() / SEEDS.len() as f64;
        }
    }
    Ok(Figures(logs.map(f64::exp)))
}

/// The difference of the worst cell, as a part of the published figure.
fn worst(fitted: &Fitted) -> f64 {
    let pairs = fitted.simulated.0.iter().zip(&fitted.published.0);
    pairs
        .map(|(simulated, published)| simulated / published - 1.0)
        .fold(0.0, |worst: f64, part| if part.abs() > worst.abs() { part } else { worst })
}

/// Whether every cell is within a tenth and every row in the published order; says what is not.
fn is_good(all: &[Fitted]) -> bool {
    let mut good = true;
    for fitted in all {
        if worst(fitted).abs() > 0.1 {
            println!("{}: a cell misses by more than a tenth", fitted.card.name);
            good = false;
        }
    }
    let mut figures = [Figures([0.0; 8]); 8];
    for (place, fitted) in figures.iter_mut().zip(all) {
        *place = fitted.simulated;
    }
    for (cell, above, below) in calibration::order_broken(&figures) {
        println!("{}: {above} should be above {below}", cell.name());
        good = false;
    }
    good
}
