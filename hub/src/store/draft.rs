//! A submission on its way into the database: judged, and in the form in which it is kept.

use cardproof_submission::{Accepted, LENGTH_MAX};
use serde_json::Value;

use crate::error::Error;
use crate::pack::packed;
use crate::secret::hash;
use crate::summary::{Summary, summary};
use crate::verdicts::Verdicts;

/// A submission that is to be kept. It holds the document in the form of the database, which is small, since many
/// may wait for it.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The document, packed.
    pub(super) packed: Vec<u8>,
    /// The hash of the document.
    pub(crate) sha256: String,
    /// The amount of its price in hundredths, the currency, the day.
    pub(crate) price: Option<(i64, String, String)>,
    /// What the database keeps beside it.
    pub(crate) summary: Summary,
    /// What tests have found.
    pub(crate) verdicts: Verdicts,
    /// Who has published it, for a reference.
    pub(crate) source: Option<String>,
}

impl Draft {
    /// What the database keeps beside the document.
    #[must_use]
    pub const fn summary(&self) -> &Summary {
        &self.summary
    }

    /// The day of its price.
    #[must_use]
    pub fn price_date(&self) -> Option<&str> {
        self.price.as_ref().map(|(_, _, date)| date.as_str())
    }

    /// The draft of an accepted document; `source` names a publication.
    ///
    /// # Errors
    /// The document is longer as it is kept than one may be, or memory is exhausted.
    pub fn of(accepted: &Accepted, source: Option<String>) -> Result<Self, Error> {
        let text = accepted.document.to_string();
        if text.len() > LENGTH_MAX {
            return Err(Error::TooLongKept(text.len()));
        }
        Ok(Self {
            packed: packed(text.as_bytes())?,
            sha256: hash(&text),
            price: price(&accepted.document["price"]),
            summary: summary(&accepted.record, source.as_deref()),
            verdicts: Verdicts::of(&accepted.record, accepted.capacity.as_ref()),
            source,
        })
    }
}

/// A price as it is kept. The amount is in hundredths: an optional number of 64 bits has one type on both databases,
/// an optional floating-point number has not (sqlx's `Any` declares its absence as a number of 32 bits to PostgreSQL).
fn price(price: &Value) -> Option<(i64, String, String)> {
    let word = |name: &str| price[name].as_str().map(str::to_owned);
    let hundredths = (price["amount"].as_f64()? * 100.0).round() as i64;
    Some((hundredths, word("currency")?, word("date")?))
}
