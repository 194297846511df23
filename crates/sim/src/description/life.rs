//! The table `[life]` of a description: how long the flash lives, and how the card ends.

use cardproof_units::Bytes;
use serde::Deserialize;

use super::{DescriptionError, GivesForm, whole_blocks};
use crate::fault::{DamagedBlock, End, Life};

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LifeForm {
    cycles: u32,
    shape: Option<f64>,
    block: Option<Bytes>,
    spares: Option<f64>,
    weak: Option<f64>,
    levels: Option<bool>,
    gives: Option<GivesForm>,
    end: Option<End>,
    end_share: Option<f64>,
    shrinks_to: Option<f64>,
}

impl LifeForm {
    /// The life that the table describes.
    pub(super) fn read(self) -> Result<Life, DescriptionError> {
        let wrong = |message: &str| Err(DescriptionError::Value(message.to_owned()));
        if self.cycles == 0 {
            return wrong("[life] cycles must be at least 1");
        }
        let shape = self.shape.unwrap_or(Life::ENDLESS.shape);
        if !(0.2..=50.0).contains(&shape) {
            return wrong("[life] shape must lie between 0.2 and 50");
        }
        let block = self.block.unwrap_or(Life::ENDLESS.block);
        if block == Bytes::ZERO {
            return wrong("[life] block must be above zero");
        }
        whole_blocks("[life] block", block)?;
        let end = self.end.unwrap_or(Life::ENDLESS.end);
        Ok(Life {
            cycles: self.cycles,
            shape,
            block,
            spares_ppm: ppm("spares", self.spares, Life::ENDLESS.spares_ppm)?,
            weak_ppm: ppm("weak", self.weak, 0)?,
            levels: self.levels.unwrap_or(true),
            gives: self.gives.map_or(DamagedBlock::Fails, Into::into),
            end,
            end_ppm: ppm("end_share", self.end_share, 0)?,
            shrinks_to_permille: ppm("shrinks_to", self.shrinks_to, 500_000)? / 1000,
        })
    }
}

/// A share as parts in a million.
fn ppm(name: &str, share: Option<f64>, default: u32) -> Result<u32, DescriptionError> {
    match share {
        None => Ok(default),
        Some(share) if (0.0..=1.0).contains(&share) => Ok((share * 1e6).round() as u32),
        Some(share) => Err(DescriptionError::Value(format!(
            "[life] {name} is {share}; it must lie between 0 and 1"
        ))),
    }
}
