//! What lists know of a card: signs of a counterfeit, and what the kernel works around.

use cardproof_record::CardInfo;
use cardproof_units::Bytes;
use serde::Serialize;

use super::card::CardWord;
use cardproof_registers::quirks::{KernelKind, SdIdentity, quirks_of};
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
    word.info.quirks = quirks(word, release);
}

fn quirks(word: &CardWord, release: Option<&str>) -> Vec<String> {
    let (Some(ids), Some(release)) = (word.ids, release) else { return Vec::new() };
    let CardInfo { product, .. } = &word.info;
    let card = SdIdentity {
        manufacturer_id: ids.manufacturer,
        oem_id: ids.oem,
        product: product.as_deref().unwrap_or_default(),
        manufactured: word.month,
    };
    let known = quirks_of(&card, KernelKind::of_release(release));
    known.iter().map(cardproof_registers::quirks::Quirk::words).collect()
}
