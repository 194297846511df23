//! The command line of `cardproof compare`.

use std::path::PathBuf;
use std::str::FromStr;

use cardproof_rating::compare::Use;
use clap::{Args, ValueEnum};

use crate::output::Sink;

/// What to compare.
#[derive(Debug, Args)]
#[command(
    override_usage = "cardproof compare [OPTIONS] <CARD>...\n       cardproof compare --list [--json <FILE|->]"
)]
pub(crate) struct CompareArgs {
    /// A record: a file, an id as `list` shows it, a label, `latest`, or ref:NAME for a published one
    ///
    /// A label stands for all its records of the same card that were measured alike. To combine other runs of one card,
    /// join them with commas. ref:TABLE stands for all cards of
    /// a published table. --list shows the names and tables.
    #[arg(value_name = "CARD")]
    pub(crate) cards: Vec<String>,
    /// List the published measurements
    #[arg(long, conflicts_with = "cards")]
    pub(crate) list: bool,
    /// Use this if the runs of the cards alternated: run 1 of each, then run 2 of each, and so on
    #[arg(long)]
    pub(crate) paired: bool,
    /// What you want to use the card for; `server` includes Home Assistant
    #[arg(
        long = "use",
        value_enum,
        ignore_case = true,
        value_name = "USE",
        default_value = "system"
    )]
    pub(crate) wanted: UseArg,
    /// Show how the use is weighed, every figure with its interval, and its ratio to that of the first card
    #[arg(long)]
    pub(crate) details: bool,
    /// Price of a card; shows which card is the best value for money
    ///
    /// NAME is the card's name in the table. All prices must be in one currency.
    #[arg(long, value_name = "NAME=AMOUNT")]
    pub(crate) price: Vec<Price>,
    /// The comparison as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// The comparison as CSV, for a spreadsheet
    #[arg(long, value_name = "FILE|-")]
    pub(crate) csv: Option<Sink>,
    /// The comparison as Markdown, for a forum or an issue
    #[arg(long, value_name = "FILE|-")]
    pub(crate) markdown: Option<Sink>,
    /// The comparison as one HTML file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Save each chart of the HTML file as SVG and PNG, and its figures as CSV, in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) charts: Option<PathBuf>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// What a card is wanted for.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum UseArg {
    /// Starting, installing and updating a system, as on a Raspberry Pi: 4 KiB random writes and
    /// reads
    #[value(aliases = ["os", "boot", "pi", "raspberry-pi"])]
    System,
    /// A browser and large programs: mostly random reads, some sequential
    #[value(aliases = ["browser", "pc", "office"])]
    Desktop,
    /// Services that run day and night, such as Home Assistant: mostly synced writes
    #[value(aliases = ["homeassistant", "home-assistant", "homeserver", "docker"])]
    Server,
    /// SQLite transactions: synced writes
    #[value(aliases = ["db", "sqlite"])]
    Database,
    /// Video and photos: the sustained sequential write rate
    #[value(aliases = ["video", "photo", "photos", "dashcam", "drone"])]
    Camera,
    /// A games console: sequential and random reads
    #[value(aliases = ["game", "games", "gaming", "console", "retropie", "emulation"])]
    Retro,
}

impl From<UseArg> for Use {
    fn from(wanted: UseArg) -> Self {
        match wanted {
            UseArg::System => Self::System,
            UseArg::Desktop => Self::Desktop,
            UseArg::Server => Self::Server,
            UseArg::Database => Self::Database,
            UseArg::Camera => Self::Camera,
            UseArg::Retro => Self::Retro,
        }
    }
}

/// A card's price.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Price {
    pub(crate) name: String,
    pub(crate) amount: f64,
}

/// A text is no price.
#[derive(Debug, thiserror::Error)]
#[error("a price is NAME=AMOUNT with an amount above 0, such as mycard=12.50")]
pub(crate) struct ParsePriceError;

impl FromStr for Price {
    type Err = ParsePriceError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (name, amount) = text.rsplit_once('=').ok_or(ParsePriceError)?;
        let amount: f64 = amount.trim().parse().map_err(|_| ParsePriceError)?;
        let is_price = amount.is_finite() && amount > 0.0 && !name.is_empty();
        is_price.then(|| Self { name: name.to_owned(), amount }).ok_or(ParsePriceError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_has_a_name_and_an_amount_above_zero() {
        let price: Price = "ref:a=b=12.50".parse().unwrap();
        assert_eq!(price, Price { name: "ref:a=b".to_owned(), amount: 12.5 });
        for text in ["12.50", "a=", "a=-1", "a=0", "a=inf", "=3"] {
            assert!(text.parse::<Price>().is_err(), "{text}");
        }
    }
}
