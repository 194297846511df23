//! Advice after tests of a command queue and of discards.

use super::Case;
use crate::integrity::{DiscardVerdict, QueueVerdict, integrity};

/// What is left to say where no harm was found.
pub(super) const NO_HARM: &str = "No harm was found. Repeat the test after weeks of use, or with a smaller \
                                  --exclude-share for rarer harm. Keep backups either way.";

/// What a test says of a queue that the kernel does not use.
const QUEUE_OFF: &str = "The card's own queue was not tested: the card has none, or this computer does not use it. \
                         `cardproof tune` says how to turn it on, where that can be done.";

pub(super) fn distrust_queue(case: &Case<'_>) -> Option<String> {
    let queue = integrity(case.record)?.queue?;
    let text = match queue.verdict {
        QueueVerdict::Corrupts => {
            "Do not use this card with its command queue: data came back wrong without an error. On a Raspberry \
             Pi, take the line dtparam=sd_cqe=2 out of /boot/firmware/config.txt, or write dtparam=sd_cqe=0, and \
             restart. Then run this test again."
        }
        QueueVerdict::CorruptsWithoutQueue => {
            "Do not store data on this card: it returned wrong data with one request at a time. Copy your \
             important files to another device. Then test the card with `cardproof verify`, in another reader where it can be taken out."
        }
        QueueVerdict::Failing => {
            "The device reported errors. Look at the kernel's log (`cardproof diagnose`), and test the card \
             itself with `cardproof verify`."
        }
        QueueVerdict::Undecided if queue.queued.wrong > 0 => {
            "Do not keep data on this card until it is known why they were wrong. Run the test again with a smaller \
             --exclude-share, and test the card itself with `cardproof verify`."
        }
        QueueVerdict::Undecided => "Run the test again and let it come to its end.",
        QueueVerdict::Sound if queue.is_card_queue_on == Some(false) => QUEUE_OFF,
        QueueVerdict::Sound => return None,
    };
    Some(text.to_owned())
}

pub(super) fn judge_discards(case: &Case<'_>) -> Option<String> {
    let discard = integrity(case.record)?.discard?;
    let text = match discard.verdict {
        DiscardVerdict::HarmsData | DiscardVerdict::ReturnsOldData => {
            "Do not run fstrim on this card, do not mount it with the option discard, and turn off the timer: \
             systemctl disable --now fstrim.timer. Discards harm its data."
        }
        DiscardVerdict::NoEffect => {
            "fstrim does nothing for this card that can be measured. It can be left out, and it does no harm that \
             was found."
        }
        DiscardVerdict::Unsupported => {
            "fstrim cannot be used here: the device, or the reader that it is in, cannot discard."
        }
        DiscardVerdict::Failing => {
            "The device reported errors. Look at the kernel's log (`cardproof diagnose`), and test the card \
             itself with `cardproof verify`."
        }
        DiscardVerdict::CorruptsWithoutDiscards => {
            "Do not store data on this card: it returned wrong data without discards. Copy your important files to \
             another device. Then test the card with `cardproof verify`, in another reader where it can be taken out."
        }
        DiscardVerdict::Undecided if discard.wrong_places > 0 => {
            "Do not keep data on this card until it is known why they were wrong. Run the test again with a smaller \
             --exclude-share, and test the card itself with `cardproof verify`."
        }
        DiscardVerdict::Undecided => "Run the test again and let it come to its end.",
        DiscardVerdict::Sound => return None,
    };
    Some(text.to_owned())
}
