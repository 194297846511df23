//! The verdict on a capacity in words: for a sentence, for a list, and what to do.

use std::fmt;

use cardproof_evidence::capacity::exclusions_in_words;
use cardproof_record::CapacityVerdict;
use cardproof_units::Bytes;

use crate::capacity::{Capacity, CapacityReason, space_lacking};
use crate::defect_kind::DefectKind;

use super::origin;
use super::scope::OF_A_FILE;

impl Capacity {
    /// Why, in clauses without a full stop, the most important first.
    #[must_use]
    pub fn reasons_in_words(&self) -> Vec<String> {
        self.reasons.iter().map(ToString::to_string).collect()
    }

    /// Which fakes would have been found, in sentences, with the stores that could not have hidden them.
    #[must_use]
    pub fn exclusions_in_words(&self) -> Vec<String> {
        // Where every byte was compared, nothing is left to be excluded; and a file has no part in what a fake hides.
        let is_told = self.is_sound() && !self.is_full && !self.is_file;
        match is_told {
            true => exclusions_in_words(&self.exclusions, self.excluded_sharing.get()),
            false => Vec::new(),
        }
    }

    /// How sure the verdict is, in words, for those who ask for details; `None` where there is none.
    #[must_use]
    pub fn certainty_in_words(&self) -> Option<String> {
        let is_verdict = matches!(
            self.verdict,
            CapacityVerdict::Genuine | CapacityVerdict::Fake | CapacityVerdict::Damaged
        );
        is_verdict.then(|| format!("how sure this verdict is: {}", percent(self.probability)))
    }

    /// Whether anything is known of how much it really holds.
    fn has_bounds(&self) -> bool {
        self.real_size.0 > Bytes::ZERO || self.real_size.1 < self.announced
    }

    /// The verdict in one sentence.
    #[must_use]
    pub fn headline(&self) -> String {
        format!("{}: {}", self.verdict_in_words(), self.what_it_says())
    }

    /// The verdict, in capitals, as it leads the sentence of [`headline`](Self::headline).
    #[must_use]
    pub fn verdict_in_words(&self) -> &'static str {
        match self.verdict {
            CapacityVerdict::Genuine if self.is_file => "FILE KEEPS DATA",
            CapacityVerdict::Genuine if self.part_tested().is_some() => "GENUINE as far as tested",
            CapacityVerdict::Genuine => "GENUINE",
            CapacityVerdict::Fake => "FAKE",
            CapacityVerdict::Damaged => "DAMAGED",
            CapacityVerdict::Suspicious => "SUSPICIOUS",
            CapacityVerdict::Undecided => "UNDECIDED",
        }
    }

    /// What the verdict says of this device: the rest of the sentence of [`headline`](Self::headline).
    #[must_use]
    pub fn what_it_says(&self) -> String {
        match (self.verdict, self.part_tested()) {
            (CapacityVerdict::Genuine, Some(tested)) => {
                format!("{}.", covered(tested, self.free_before, self.announced))
            }
            (CapacityVerdict::Genuine, None) if self.is_file && self.is_full => {
                format!("all {} were read back correctly.", self.announced)
            }
            (CapacityVerdict::Genuine, None) if self.is_full => match self.free_space {
                Some(tested) if tested < self.announced => {
                    format!("all {tested} that were tested of {} keep data.", self.announced)
                }
                _ => format!("all {} keep data.", self.announced),
            },
            (CapacityVerdict::Genuine, None) => {
                format!("samples over all {} were correct.", self.announced)
            }
            (CapacityVerdict::Fake, _) if !self.has_bounds() => {
                format!("announced capacity {}, and less than that is real.", self.announced)
            }
            (CapacityVerdict::Fake, _) => format!(
                "announced capacity {}, real capacity {}.",
                self.announced,
                between(self.real_size),
            ),
            (CapacityVerdict::Damaged, _) => format!("parts of the {} do not keep data.", self.noun()),
            (CapacityVerdict::Suspicious, _) => "there are signs of a counterfeit.".to_owned(),
            (CapacityVerdict::Undecided, _) if self.is_only_read && self.is_file => {
                "nothing was written, and only a test that writes can show whether the file keeps data."
                    .to_owned()
            }
            (CapacityVerdict::Undecided, _) if self.is_only_read => {
                "nothing was written, and only a test that writes can show whether the capacity is real."
                    .to_owned()
            }
            (CapacityVerdict::Undecided, Some(tested)) if self.is_too_small => format!(
                "nothing wrong was found in what was tested: {}.",
                covered(tested, self.free_before, self.announced)
            ),
            (CapacityVerdict::Undecided, _) => {
                "the test did not show enough for a verdict.".to_owned()
            }
        }
    }

    /// The verdict in a word or more, beside another result; `None` where it is not genuine, which stands alone.
    #[must_use]
    pub fn beside_another(&self) -> Option<&'static str> {
        let words = match self.part_tested() {
            _ if self.is_file => "file keeps data",
            Some(_) => "genuine so far",
            None => "genuine",
        };
        (self.verdict == CapacityVerdict::Genuine).then_some(words)
    }

    /// The verdict in a few words, for a list.
    #[must_use]
    pub fn in_short(&self) -> String {
        match self.verdict {
            CapacityVerdict::Genuine if let Some(tested) = self.part_tested() => {
                format!("capacity genuine as far as tested ({tested} of {})", self.announced)
            }
            CapacityVerdict::Genuine if self.is_file && self.is_full => {
                format!("file: all {} keep data", self.announced)
            }
            CapacityVerdict::Genuine if self.is_file => {
                format!("file: samples over all {} were correct", self.announced)
            }
            CapacityVerdict::Genuine => "capacity genuine".to_owned(),
            CapacityVerdict::Fake => format!("{}: {}", DefectKind::Fake.word(), self.held()),
            CapacityVerdict::Damaged => DefectKind::Damaged.word().to_owned(),
            CapacityVerdict::Suspicious => "suspicious".to_owned(),
            CapacityVerdict::Undecided if self.is_file => "file: undecided".to_owned(),
            CapacityVerdict::Undecided => "capacity undecided".to_owned(),
        }
    }

    /// What a fake holds, in a few words.
    pub(super) fn held(&self) -> String {
        match self.real_size {
            _ if !self.has_bounds() => format!("holds less than {}", self.announced),
            (Bytes::ZERO, most) => format!("holds at most {most} of {}", self.announced),
            (least, _) => format!("holds {least} of {}", self.announced),
        }
    }

    /// What was tested, as a noun.
    const fn noun(&self) -> &'static str {
        if self.is_file { "file" } else { "device" }
    }

    /// What to do with the device; `None` where another test is needed first.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        let advice = match self.verdict {
            CapacityVerdict::Genuine | CapacityVerdict::Undecided
                if self.is_sound()
                    && let Some(tested) = self.part_tested() =>
            {
                let untested = 100.0 * (1.0 - tested.as_f64() / self.announced.as_f64().max(1.0));
                let more = if self.is_too_small {
                    let lacking = space_lacking(tested, self.announced);
                    format!(
                        " A quarter of the device is enough for a verdict: free at least {lacking} more, and repeat \
                         the test."
                    )
                } else {
                    String::new()
                };
                format!(
                    "The free space keeps data. {untested:.0} % of the device was not tested.{more}"
                )
            }
            CapacityVerdict::Fake if self.free_space.is_some() => {
                "Copy your data to another device, then return this one and ask for your money back. Do not store data \
                 on it."
                    .to_owned()
            }
            CapacityVerdict::Genuine if self.is_file => OF_A_FILE.to_owned(),
            CapacityVerdict::Genuine => {
                "The capacity is genuine. You can use the device.".to_owned()
            }
            CapacityVerdict::Fake if !self.holds_front => {
                "Return the device and ask for your money back. Do not store data on it: it loses data at \
                 addresses of all kinds."
                    .to_owned()
            }
            CapacityVerdict::Fake => format!(
                "Return the device and ask for your money back. Do not store data on it: only the first {} can \
                 keep data.",
                self.real_size.0
            ),
            CapacityVerdict::Damaged => {
                "Copy your files to another device now, and replace this one. Do not store data on it."
                    .to_owned()
            }
            CapacityVerdict::Suspicious | CapacityVerdict::Undecided => return None,
        };
        Some(advice)
    }
}

impl fmt::Display for CapacityReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stated(words) => f.write_str(words),
            Self::NotDone => f.write_str("the test could not be done"),
            Self::NothingSuspicious => f.write_str("nothing suspicious was found"),
            Self::PartTested { is_order_unknown } => write!(
                f,
                "the sizes and percentages below are those of the tested space{}",
                order(*is_order_unknown)
            ),
            Self::Covered { tested, free, announced, is_order_unknown } => write!(
                f,
                "the test covered {}; the sizes and percentages below are those of that space{}",
                covered(*tested, *free, *announced),
                order(*is_order_unknown)
            ),
            Self::LargerFakePasses { tested } => {
                write!(f, "a fake that really holds {tested} or more may pass this test")
            }
            Self::FakeBeyondLooksSame => {
                f.write_str("a fake whose free space lies beyond its real capacity looks the same")
            }
            Self::Origin(origin) => f.write_str(&origin::in_words(origin)),
            Self::Reconnected => {
                f.write_str("the device was disconnected and connected again before it was read")
            }
            Self::Untested(bytes) => write!(
                f,
                "{bytes} could not be tested: they cannot be read, so they were not saved and not overwritten"
            ),
            Self::SurfaceSound(bytes) => write!(f, "{bytes} were read without an error"),
            Self::SurfaceUnreadable { unreadable, of } => {
                write!(f, "{unreadable} of {of} cannot be read, each part tried three times")
            }
            Self::FoundElsewhere { places } => write!(
                f,
                "data of this test are at {places} places that it has not written, and it is not known how they came there"
            ),
            Self::NowhereElse { places, excluded } => write!(
                f,
                "the test data appear at none of {places} other places of the device: a fake that really holds {excluded} or \
                 less would have been found"
            ),
            Self::ChangesElsewhere { places, changed } => write!(
                f,
                "of {places} other places that were read, {changed} change when the test writes: several addresses share one place"
            ),
            Self::FilesRead { tested, right, foreign, wrong, unreadable } => write!(
                f,
                "{tested} of files were read: {right} sectors correct, {foreign} with data of another address, {wrong} with wrong \
                 data, {unreadable} unreadable"
            ),
            Self::TransientErrors(count) => {
                write!(f, "{count} transient errors: a second attempt succeeded")
            }
            Self::MissingFiles(count) => write!(f, "{count} files of the set are missing"),
            Self::FilesCover { share } => {
                let covered = match share * 100.0 {
                    percent if percent < 0.1 => "less than 0.1 %".to_owned(),
                    percent => format!("{percent:.1} %"),
                };
                write!(
                    f,
                    "the files cover {covered} of the file system; the file system chose their places"
                )
            }
        }
    }
}

const fn order(is_unknown: bool) -> &'static str {
    if is_unknown {
        "; the file system does not tell where on the device that space lies"
    } else {
        ""
    }
}

/// What a test in free space has covered: of what was free, where that is known, and of the device.
fn covered(tested: Bytes, free: Option<Bytes>, announced: Bytes) -> String {
    let of_free = |free: Bytes| format!("the {free} that were free");
    let space = free.map_or_else(|| "free space".to_owned(), of_free);
    format!("{tested} of {space}, on a device of {announced}")
}

/// In whole per cent, rounded down: a test leaves some doubt, so nothing is 100 %.
fn percent(probability: f64) -> String {
    if probability >= 0.99 {
        return "more than 99 %".to_owned();
    }
    format!("about {:.0} %", (probability * 100.0).floor())
}

fn between((low, high): (Bytes, Bytes)) -> String {
    if low == Bytes::ZERO {
        format!("at most {high}")
    } else if low.to_string() == high.to_string() {
        format!("{low} ({} bytes)", high.get())
    } else {
        format!("{low} to {high}")
    }
}
