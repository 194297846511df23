//! What lists know of a card: signs of a counterfeit, and what the kernel works around.

use cardproof_units::Bytes;
use serde::Serialize;

use super::card::CardWord;
use cardproof_registers::quirks::{
    CardIdentity, CardKind, KernelKind, Quirk, harmed_by_trimming, has_faulty_cache, queue_allowed,
    quirks_of,
};
use cardproof_registers::suspicion::{Evidence, Grade, Suspicion, suspect};

/// A suspicion of a counterfeit. Only a test of the whole capacity proves anything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doubts {
    /// How strong it is: `none`, `weak` or `strong`.
    pub grade: &'static str,
    /// Each sign, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signs: Vec<String>,
    /// Genuine cards that show such signs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub innocent_explanations: Vec<String>,
}

impl From<Suspicion> for Doubts {
    fn from(suspicion: Suspicion) -> Self {
        let grade = match suspicion.grade {
            Grade::None => "none",
            Grade::Weak => "weak",
            Grade::Strong => "strong",
        };
        let explanations = suspicion.innocent_explanations.into_iter();
        Self {
            grade,
            signs: suspicion.signs,
            innocent_explanations: explanations.map(str::to_owned).collect(),
        }
    }
}

/// Weighs the signs of the SD card `word`, whose device has `device_size`.
pub(crate) fn doubts(word: &CardWord, device_size: Option<Bytes>) -> Doubts {
    suspect(&Evidence {
        manufacturer_id: word.ids.map(|ids| ids.manufacturer),
        oem_id: word.ids.map(|ids| ids.oem),
        product: word.info.product.as_deref(),
        serial: word.serial,
        register_capacity: word.info.capacity_bytes,
        device_size,
    })
    .into()
}

/// Fills what lists know of the SD card `word`.
pub(crate) fn fill_doubts(word: &mut CardWord, device_size: Option<Bytes>, release: Option<&str>) {
    word.info.counterfeit_signs = doubts(word, device_size).signs;
    fill_lists(word, CardKind::Sd, release);
}

/// Fills what the kernel's lists know of the card `word`, for a kernel with this `release`.
pub(crate) fn fill_lists(word: &mut CardWord, kind: CardKind, release: Option<&str>) {
    let Some(ids) = word.ids else { return };
    let product = word.info.product.clone().unwrap_or_default();
    let card = CardIdentity {
        kind,
        manufacturer_id: ids.manufacturer,
        oem_id: ids.oem,
        product: &product,
        revision: word.revision,
        manufactured: word.month,
    };
    let known = release.map_or_else(Vec::new, |it| quirks_of(&card, KernelKind::of_release(it)));
    word.info.quirks = known.iter().map(Quirk::words).collect();
    let harm = harmed_by_trimming(&card);
    word.info.harmed_by_trimming = Some(harm.is_some());
    word.info.cache_is_faulty = Some(has_faulty_cache(&card));
    // Another kernel's list: this one does not know, and erases.
    let is_news = |harm: &Quirk| known.iter().all(|quirk| quirk.effect != harm.effect);
    word.info.quirks.extend(harm.filter(is_news).map(|harm| {
        format!("do not trim or discard: {} ({}, which this kernel has not)", harm.why, harm.source)
    }));
    word.info.queue_is_trusted =
        (kind == CardKind::Sd && word.revision.is_some()).then(|| queue_allowed(&card).is_some());
}
