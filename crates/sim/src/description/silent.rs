//! The tables `[queue]` and `[discard]` of a description: faults that corrupt data without an error.

use cardproof_units::Bytes;
use serde::Deserialize;

use super::{DescriptionError, whole_blocks};
use crate::fault::{DiscardFault, DiscardHarm, DiscardReads, QueueFault, QueueHarm};

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct QueueForm {
    harm: QueueHarm,
    depth: Option<u16>,
    share: Option<f64>,
    after_flush: Option<u32>,
}

impl QueueForm {
    /// The fault that the table describes.
    pub(super) fn read(self) -> Result<QueueFault, DescriptionError> {
        Ok(QueueFault {
            harm: self.harm,
            depth_min: self.depth.unwrap_or(2),
            share_ppm: ppm("[queue] share", self.share)?,
            after_flush: self.after_flush,
        })
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DiscardForm {
    harm: Option<DiscardHarm>,
    reach: Option<Bytes>,
    share: Option<f64>,
    reads: Option<DiscardReads>,
}

impl DiscardForm {
    /// The fault that the table describes.
    pub(super) fn read(self) -> Result<DiscardFault, DescriptionError> {
        let honest = DiscardFault::HONEST;
        let reach = self.reach.unwrap_or(honest.reach);
        whole_blocks("[discard] reach", reach)?;
        Ok(DiscardFault {
            harm: self.harm.unwrap_or(honest.harm),
            reach,
            share_ppm: ppm("[discard] share", self.share)?,
            reads: self.reads.unwrap_or(honest.reads),
        })
    }
}

/// A share as parts in a million; all where none is named.
fn ppm(name: &str, share: Option<f64>) -> Result<u32, DescriptionError> {
    match share.unwrap_or(1.0) {
        share if (0.0..=1.0).contains(&share) => Ok((share * 1e6).round() as u32),
        share => {
            Err(DescriptionError::Value(format!("{name} is {share}; it must lie between 0 and 1")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe;

    #[test]
    fn silent_faults_can_be_described() {
        let text = "[queue]\nharm = \"swapped-writes\"\ndepth = 8\nshare = 0.001\nafter_flush = 16\n\
                    [discard]\nharm = \"neighbours\"\nreach = \"64KiB\"\nreads = \"old\"";
        let card = describe("x", text).unwrap();
        let queue = QueueFault {
            harm: QueueHarm::SwappedWrites,
            depth_min: 8,
            share_ppm: 1000,
            after_flush: Some(16),
        };
        let discard = DiscardFault {
            harm: DiscardHarm::Neighbours,
            reach: Bytes::kib(64),
            reads: DiscardReads::Old,
            ..DiscardFault::HONEST
        };
        assert_eq!((card.queue, card.discard), (Some(queue), Some(discard)));
        let sound = describe("x", "[discard]").unwrap();
        assert_eq!((sound.queue, sound.discard), (None, Some(DiscardFault::HONEST)));
    }

    #[test]
    fn a_fault_that_no_card_has_is_an_error() {
        for (text, expected) in [
            ("[queue]", "harm"),
            ("[queue]\nharm = \"explodes\"", "explodes"),
            ("[queue]\nharm = \"lost-write\"\nshare = 2.0", "between 0 and 1"),
            ("[discard]\nreach = \"1000\"", "multiple of 512"),
        ] {
            let error = describe("x", text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }
}
