//! Pages of what all records together say, and those for programs.

use askama::Template;

use super::CardFigure;
use crate::tally::{Lasted, Tested};

/// The share of fakes of each model.
#[derive(Debug, Template)]
#[template(path = "fakes.html")]
pub struct Fakes {
    /// The models, those with the most fakes first.
    pub rows: Vec<Tested>,
    /// How many submitters must have tested one.
    pub least: usize,
}

/// How long cards last.
#[derive(Debug, Template)]
#[template(path = "lives.html")]
pub struct Lives {
    /// The models.
    pub rows: Vec<Lasted>,
    /// How many submitters must have tested one.
    pub least: usize,
}

/// A figure of two cards on one board.
#[derive(Debug)]
pub struct Pair {
    /// The board.
    pub basis: String,
    /// What was measured.
    pub column: String,
    /// Of the first and the second card.
    pub cells: [CardFigure; 2],
    /// How many times as fast the second is.
    pub factor: f64,
}

/// Two cards.
#[derive(Debug, Template)]
#[template(path = "compare-cards.html")]
pub struct CompareCards {
    /// Their names in addresses and in words.
    pub cards: [(String, String); 2],
    /// Which is better, in a sentence.
    pub answer: String,
    /// The uses: name, words, whether it is the one shown.
    pub uses: Vec<(&'static str, &'static str, bool)>,
    /// What was measured of both on one board.
    pub pairs: Vec<Pair>,
}

/// What a program may ask for.
#[derive(Debug)]
pub struct Call {
    /// The method.
    pub method: String,
    /// The path.
    pub path: String,
    /// What it is for.
    pub summary: String,
    /// The names of its parameters.
    pub parameters: String,
}

/// The page for programmers.
#[derive(Debug, Template)]
#[template(path = "api.html")]
pub struct Api {
    /// The hub's address.
    pub base: String,
    /// All calls.
    pub calls: Vec<Call>,
}

/// The addresses for search engines.
#[derive(Debug, Template)]
#[template(path = "sitemap.xml")]
pub struct Sitemap {
    /// The hub's address.
    pub base: String,
    /// The cards.
    pub models: Vec<String>,
}
