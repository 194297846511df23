//! Records in any number with a spread over models, hosts and months like that of a hub that has grown for years.
//!
//! Judging a document takes longer than storing it, so each document stands for several records. Two records of one
//! document lie at least as many records apart as there are documents: nearly never in the same month, so that no
//! file of a month finds a document twice to compress.

use anyhow::Result;
use cardproof_hub::secret::{dated, hex};
use cardproof_hub::store::draft::Draft;
use cardproof_hub::store::rows::Fresh;
use cardproof_submission::accept;

use crate::variations::{Draw, Variations};

/// Card models, before their firmware revisions.
pub const MODELS: u64 = 2_000;

/// The first and the last moment: 30 months.
const FROM_MS: f64 = 1_717_200_000_000.0;
const TO_MS: f64 = 1_796_000_000_000.0;

/// Below 1, so that later months have more.
const GROWTH: f64 = 0.85;

/// The milliseconds of a day.
const DAY_MS: i64 = 86_400_000;

/// Records by their number, oldest first.
#[derive(Debug)]
pub struct Records {
    drafts: Vec<Draft>,
    /// How many there are.
    pub count: u64,
}

/// What a record is kept under.
#[derive(Debug)]
pub struct Names {
    /// Its name.
    pub id: String,
    /// When it came.
    pub created_ms: i64,
    /// The hash of its token.
    pub token_hash: String,
    /// The hash of its key.
    pub key_hash: String,
}

/// The bytes of documents as they were sent and as they are kept.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lengths {
    /// As JSON.
    pub sent: u64,
    /// Packed.
    pub kept: u64,
}

impl Records {
    /// `count` records of at most `documents` different documents.
    ///
    /// # Errors
    /// A document is not accepted.
    pub fn new(count: u64, documents: u64) -> Result<(Self, Lengths)> {
        let variations = Variations::trimmed(MODELS)?;
        let mut drafts = Vec::new();
        let mut lengths = Lengths::default();
        for number in 0..documents.min(count) {
            let text = serde_json::to_vec(&variations.document(number)?)?;
            let draft = Draft::of(&accept(&text)?, None)?;
            lengths.sent += text.len() as u64;
            lengths.kept += draft.packed_length() as u64;
            drafts.push(draft);
        }
        Ok((Self { drafts, count }, lengths))
    }

    /// What the record `number` is kept under.
    #[must_use]
    pub fn names(&self, number: u64) -> Names {
        let mut draw = Draw(number.wrapping_mul(0x9e6c_63d0_676a_9a99) ^ 0x6361_7264);
        let letters: Vec<u8> = (0..10).map(|_| draw.bits() as u8).collect();
        let share = (number as f64 / self.count as f64).powf(GROWTH);
        let created_ms = (FROM_MS + share * (TO_MS - FROM_MS)) as i64;
        Names {
            id: dated(created_ms / DAY_MS, &letters),
            created_ms,
            token_hash: hash(&mut draw),
            key_hash: hash(&mut draw),
        }
    }

    /// The record `number` as a row of the hub's.
    #[must_use]
    pub fn fresh<'a>(&'a self, number: u64, names: &'a Names) -> Fresh<'a> {
        Fresh {
            id: &names.id,
            created_ms: names.created_ms,
            draft: &self.drafts[(number % self.drafts.len() as u64) as usize],
            token_hash: &names.token_hash,
            key_hash: Some(&names.key_hash),
        }
    }
}

/// Random digits where the hub has those of a hash.
fn hash(draw: &mut Draw) -> String {
    let bytes: Vec<u8> = (0..4).flat_map(|_| draw.bits().to_be_bytes()).collect();
    hex(&bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn records_differ_and_come_in_order() {
        let (records, lengths) = Records::new(300, 60).unwrap();
        assert!(lengths.kept * 2 < lengths.sent);
        let names: Vec<Names> = (0..300).map(|number| records.names(number)).collect();
        assert!(names.is_sorted_by_key(|it| it.created_ms));
        let ids: BTreeSet<&str> = names.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids.len(), 300);
        let models: BTreeSet<String> = (0..300)
            .map(|number| records.fresh(number, &names[0]).draft.summary().model.key.clone())
            .collect();
        assert!(models.len() > 20, "{}", models.len());
        // The factors make some faster than their bus: these are in doubt.
        let is_sound = |draft: &&Draft| draft.summary().figures.iter().all(|it| it.doubt.is_none());
        let sound = records.drafts.iter().filter(is_sound).count();
        assert!(sound * 2 > records.drafts.len() && sound < records.drafts.len(), "{sound}");
    }
}
