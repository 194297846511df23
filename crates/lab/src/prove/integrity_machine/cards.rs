//! The emulated cards, what QEMU's block layer does below each, and the answers that are right.
//!
//! QEMU's card writes and reads its image in blocks of 512 bytes, fills what it erases with bytes of 255 by writing
//! them, and answers no command with an error where its image does (`hw/sd/sd.c`): a write that fails below is lost, and
//! a read that fails gives the block that was read before.
//! That is so in QEMU 7.2; a later one that erases with zeros needs other answers in this table.

use std::fmt::Write as _;

use cardproof_units::Bytes;
use serde_json::Value;

use super::seen::Seen;

/// The smallest unit of the image.
const BLOCK: u64 = 512;

/// One block in so many is a bad place.
const BAD_PLACES: u64 = 1024;

/// One write of a block in so many is lost.
const LOST: u64 = 997;

/// A card.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) name: &'static str,
    pub(super) size: Bytes,
    /// What lies below it.
    pub(super) words: &'static str,
    pub(super) backend: Backend,
    pub(super) tests: &'static [Expected],
    /// Whether the short form has it.
    pub(super) is_short: bool,
}

/// What is asked of a card, and what is right to answer.
#[derive(Debug)]
pub(super) struct Expected {
    /// A function of the task.
    pub(super) test: &'static str,
    /// The verdicts that are right.
    pub(super) right: &'static [&'static str],
    /// The exit status.
    status: i32,
    /// Values of the answer, by their places.
    values: &'static [(&'static str, &'static str)],
}

/// What QEMU's block layer does below a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Backend {
    Sound,
    /// The image's file is not told of discards.
    IgnoresDiscards,
    /// Every discard of the image, and every write of zeros by a command, fails.
    RefusesDiscards,
    /// Writes to one block in [`BAD_PLACES`] fail.
    LosesPlaces,
    /// One write of a block in [`LOST`] fails, wherever it goes.
    LosesWrites,
    /// Reads of one block in [`BAD_PLACES`] fail.
    Misreads,
    /// There is no image: what is written is gone, and reads are zeros.
    KeepsNothing,
}

/// Sound discards. What QEMU's card has erased reads as bytes of 255.
const DISCARD: Expected = Expected {
    test: "discard",
    right: &["sound"],
    status: 0,
    values: &[
        ("/is_sound", "true"),
        ("/discard/reads", r#""ones""#),
        ("/discard/wrong_places", "0"),
        ("/discard/revived_bytes", "0"),
        ("/discard/faults", "0"),
        ("/discard/memory_doubt", "null"),
    ],
};

/// Sound data, with the word that the card has no queue of its own: that was not tested, so the status is no success.
const QUEUE: Expected = Expected {
    test: "queue",
    right: &["sound"],
    status: 1,
    values: &[
        ("/is_sound", "true"),
        ("/queue/is_card_queue_on", "false"),
        ("/queue/queued/wrong", "0"),
        ("/queue/faults", "0"),
        ("/queue/memory_doubt", "null"),
    ],
};

/// What is known of the card before anything is written to it. Its registers hold no allocation unit, no class, and no
/// wear.
const IDENTIFY: Expected = Expected {
    test: "identify",
    right: &["fine"],
    status: 0,
    values: &[
        ("/device/transport", r#""sd""#),
        ("/device/card/product", r#""QEMU!""#),
        ("/device/card/capacity_bytes", "2147483648"),
        ("/device/size_bytes", "2147483648"),
        ("/device/card/specification", r#""2.00""#),
        ("/device/card/claims", "{}"),
        ("/device/card/allocation_unit_bytes", "null"),
        ("/device/card/command_queue/enabled", "false"),
        ("/device/card/cache/enabled", "false"),
        ("/device/card/harmed_by_trimming", "false"),
        ("/suspicion/grade", r#""none""#),
    ],
};

const HEALTH: Expected = Expected {
    test: "health",
    right: &["fine"],
    status: 0,
    values: &[("/readings", "[]"), ("/values", "[]"), ("/health/signs", "[]")],
};

/// The free space of ext4 on the card.
const DIRECTORY: Expected = Expected {
    test: "directory",
    right: &["genuine"],
    status: 0,
    values: &[("/damaged_ranges_bytes", "[]")],
};

/// Its two first questions: an emulated card is as slow as the emulator.
const CHECK: Expected = Expected {
    test: "check",
    right: &["nothing_wrong"],
    status: 0,
    values: &[
        ("/healthy/found/reply", r#""yes""#),
        ("/healthy/found/life_used_percent_max", "null"),
    ],
};

const SOUND: [Expected; 2] = [DISCARD, QUEUE];

/// A card that is no longer what was written, whoever asks: neither the queue nor discards are to blame.
const CORRUPT: [Expected; 2] = [
    Expected {
        test: "discard",
        right: &["corrupts_without_discards"],
        status: 4,
        values: &[("/is_sound", "false"), ("/discard/faults", "0")],
    },
    Expected {
        test: "queue",
        right: &["corrupts_without_queue"],
        status: 4,
        values: &[("/is_sound", "false"), ("/queue/faults", "0")],
    },
];

pub(super) const CARDS: [Card; 9] = [
    Card {
        name: "sound",
        size: Bytes::gib(2),
        words: "an image",
        backend: Backend::Sound,
        tests: &[IDENTIFY, HEALTH, DIRECTORY, CHECK, QUEUE],
        is_short: false,
    },
    Card {
        name: "high-capacity",
        size: Bytes::gib(4),
        words: "an image, addressed in blocks",
        backend: Backend::Sound,
        tests: &[DISCARD],
        is_short: false,
    },
    Card {
        name: "small",
        size: Bytes::mib(16),
        words: "an image",
        backend: Backend::Sound,
        tests: &SOUND,
        is_short: true,
    },
    Card {
        name: "ignores-discards",
        size: Bytes::mib(8),
        words: "an image with `discard=ignore`",
        backend: Backend::IgnoresDiscards,
        tests: &[DISCARD],
        is_short: false,
    },
    Card {
        name: "refuses-discards",
        size: Bytes::mib(8),
        words: "discards of the image fail",
        backend: Backend::RefusesDiscards,
        tests: &[DISCARD],
        is_short: false,
    },
    Card {
        name: "loses-places",
        size: Bytes::mib(16),
        words: "writes of 1 block in 1,024 fail, always the same",
        backend: Backend::LosesPlaces,
        tests: &CORRUPT,
        is_short: false,
    },
    Card {
        name: "loses-writes",
        size: Bytes::mib(16),
        words: "1 write of a block in 997 fails, anywhere",
        backend: Backend::LosesWrites,
        tests: &CORRUPT,
        is_short: true,
    },
    Card {
        name: "misreads",
        size: Bytes::mib(16),
        words: "reads of 1 block in 1,024 fail, always the same",
        backend: Backend::Misreads,
        tests: &CORRUPT,
        is_short: false,
    },
    Card {
        name: "keeps-nothing",
        size: Bytes::mib(16),
        words: "writes go nowhere, reads are zeros",
        backend: Backend::KeepsNothing,
        tests: &CORRUPT,
        is_short: false,
    },
];

impl Card {
    /// What is wrong with the answers.
    pub(super) fn faults(&self, seen: &[Seen]) -> Vec<String> {
        let names = seen.iter().map(|seen| seen.test.as_str());
        if !names.eq(self.tests.iter().map(|expected| expected.test)) {
            return vec![format!("{} answers instead of {}", seen.len(), self.tests.len())];
        }
        let pairs = self.tests.iter().zip(seen);
        pairs.flat_map(|(expected, seen)| expected.faults(seen)).collect()
    }
}

impl Expected {
    fn faults(&self, seen: &Seen) -> Vec<String> {
        let mut faults = Vec::new();
        if !self.right.contains(&seen.verdict()) {
            faults.push(format!("{}: the verdict is '{}'", self.test, seen.verdict()));
        }
        if seen.status != self.status {
            faults.push(format!("{}: the exit status is {}", self.test, seen.status));
        }
        for (place, wanted) in self.values {
            let found = seen.answer.pointer(place).unwrap_or(&Value::Null).to_string();
            if found != *wanted {
                faults.push(format!("{}{place} is {found}, not {wanted}", self.test));
            }
        }
        faults
    }
}

impl Backend {
    /// The rules of `blkdebug` for a card of `size`; `None` where there are none.
    pub(super) fn rules(self, size: Bytes) -> Option<String> {
        let places = |kind: &str| {
            let blocks = (0..size.get() / BLOCK).filter(|block| is_bad(*block));
            blocks.map(|block| error("none", kind, &format!("sector = \"{block}\"\n"))).collect()
        };
        match self {
            Self::Sound | Self::IgnoresDiscards | Self::KeepsNothing => None,
            Self::RefusesDiscards => {
                Some(error("none", "discard", "") + &error("none", "write-zeroes", ""))
            }
            Self::LosesPlaces => Some(places("write")),
            Self::LosesWrites => Some(lost_writes()),
            Self::Misreads => Some(places("read")),
        }
    }
}

/// Whether a block is a bad place: one in [`BAD_PLACES`], which lie in no order.
fn is_bad(block: u64) -> bool {
    block.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & (BAD_PLACES - 1) == 0
}

/// A request of `kind` fails with an error of the device, from `event` on.
fn error(event: &str, kind: &str, more: &str) -> String {
    format!("[inject-error]\nevent = \"{event}\"\niotype = \"{kind}\"\nerrno = \"5\"\n{more}\n")
}

/// A state for each write, and the write of the last state fails. A rule stays in force until another takes its place,
/// so that of the first state names a block that no card has.
fn lost_writes() -> String {
    let mut rules = String::new();
    for state in 1..=LOST {
        let next = state % LOST + 1;
        // Writing to a string does not fail.
        let _ = writeln!(
            rules,
            "[set-state]\nevent = \"pwritev\"\nstate = \"{state}\"\nnew_state = \"{next}\"\n"
        );
    }
    let nowhere = format!("state = \"1\"\nsector = \"{}\"\n", u32::MAX);
    rules
        + &error("pwritev", "write", &nowhere)
        + &error("pwritev", "write", &format!("state = \"{LOST}\"\n"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn bad_places_are_as_many_as_is_said() {
        let bad: Vec<u64> = (0..1 << 17).filter(|block| is_bad(*block)).collect();
        assert!((90..170).contains(&bad.len()), "{}", bad.len());
    }

    #[test]
    fn every_write_has_a_state_and_one_of_them_fails() {
        let rules = Backend::LosesWrites.rules(Bytes::mib(1)).unwrap();
        assert_eq!(rules.matches("[set-state]").count() as u64, LOST);
        assert_eq!(rules.matches("[inject-error]").count(), 2);
    }

    #[test]
    fn an_answer_is_right_with_its_verdict_its_status_and_its_values_alone() {
        let said = |verdict: &str, status, reads: &str| Seen {
            test: "discard".to_owned(),
            status,
            seconds: 1.0,
            answer: serde_json::json!({
                "is_sound": true,
                "discard": {
                    "verdict": verdict, "reads": reads, "wrong_places": 0, "revived_bytes": 0, "faults": 0,
                },
            }),
        };
        assert_eq!(DISCARD.faults(&said("sound", 0, "ones")), Vec::<String>::new());
        for wrong in
            [said("no_effect", 0, "ones"), said("sound", 4, "ones"), said("sound", 0, "zeros")]
        {
            assert_eq!(DISCARD.faults(&wrong).len(), 1);
        }
    }
}
