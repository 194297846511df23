//! What to do next, in sentences.

use std::fmt;

use cardproof_facts::RANDOM_SPAN;
use cardproof_record::{Record, Verdict};
use cardproof_units::Bytes;

use crate::advice::{Again, Elsewhere, GoOn, OtherWay, Room, Step, Trimming, steps};
use crate::defect_kind::DefectKind;
use crate::meaning::Grade;
use crate::sd_queue::{QueueStep, TRY_ALL};

use super::sd_queue::RISK;

/// What to do next, most important first; never empty.
#[must_use]
pub fn next_steps(record: &Record, verdicts: &[Verdict]) -> Vec<String> {
    steps(record, verdicts).iter().map(ToString::to_string).collect()
}

/// What figures of speed leave open, and the command that tells it.
pub const SPEED_TELLS_NO_FAKE: &str = "Speed does not show whether a card is a fake or keeps data. Whoever \
                                       has the card can find out with `cardproof verify`.";

/// Where a check was too short.
const LONGER: &str = "For a longer test: `cardproof run`.";

/// The advice where verdicts need intervals.
const MEASURE: &str = "Verdicts and exact grades need a measurement with `cardproof run`, on the computer that has the \
                       storage.";

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(words) = self.fixed() {
            return f.write_str(words);
        }
        match self {
            Self::WrongData(elsewhere) => write!(
                f,
                "Do not store data on this storage: it returned wrong data. Copy your important files to another \
                 device. Then run `cardproof verify`{}. If data is wrong again, replace the storage.",
                elsewhere.words()
            ),
            Self::OfCapacity(found) => f.write_str(&found.advice().unwrap_or_else(|| {
                "The capacity is not proven. Run `cardproof verify` on the device itself with --restore (keeps \
                 your data) or --destroy."
                    .to_owned()
            })),
            Self::OperationsFailed(other) => {
                let others = other.map_or("", OtherWay::words);
                write!(
                    f,
                    "Operations failed. Copy your important files to another device, and read the kernel log (dmesg). \
                     {others}If operations fail again, replace the storage."
                )
            }
            Self::VerifyCapacity(size) => {
                write!(f, "A run does not show whether all {size} are real. `cardproof verify` does.")
            }
            Self::RunToItsEnd { seconds, is_repeated } => {
                let of_one = if *is_repeated { "each of its runs" } else { "it" };
                let time = seconds
                    .map_or(String::new(), |seconds| format!("; {of_one} takes about {seconds:.0} s"));
                write!(f, "The run is not complete. Run it again to its end{time}.")
            }
            Self::CheckRangeCut { least, whole } => write!(
                f,
                "The test range was {least} instead of {whole}, since the time of a check ended. {LONGER}"
            ),
            Self::CheckRangeSmall { least, is_file } => {
                let how = if *is_file {
                    "Check a directory on the same storage."
                } else {
                    "Free 1 GiB there, and check again."
                };
                write!(
                    f,
                    "The test range was {least}. The class limits are for {RANDOM_SPAN}, and a smaller range gives higher rates. {how}"
                )
            }
            Self::RangeCut { least, whole } => write!(
                f,
                "The test range was {least} instead of {whole}, since the time budget ended. Run again \
                 with a longer --time-budget, such as 5m."
            ),
            Self::RangeSmall { least, room, is_directory } => {
                range_small(*least, *room, *is_directory, f)
            }
            Self::CheckAgain { is_simulated } => write!(
                f,
                "{} the check again: its figures are too uneven. {LONGER}",
                first(*is_simulated)
            ),
            Self::RunAgain { is_simulated, how } => {
                let (option, why) = how.words();
                write!(f, "{} again with {option}: {why}.", first(*is_simulated))
            }
            Self::TestOtherClass { rule, profile } => write!(
                f,
                "This run ended when one class was certain. To test {rule}, run with --profile {profile}."
            ),
            Self::TestA2(step) => a2(*step, f),
            Self::MeasureWithIntervals { tool: Some(tool) } => write!(
                f,
                "{MEASURE} `cardproof compare` shows the figures of {tool} beside those of other cards."
            ),
            Self::GeometryNeedsRange { needed, room: Room::Enough } => write!(
                f,
                "The test range was too small for some quantities. Run again with --size {} or more.",
                needed.as_argument()
            ),
            Self::GeometryNeedsRange { needed, room: Room::FileSmaller } => write!(
                f,
                "The test range was too small for some quantities. Name a directory, or a file of at least {needed}."
            ),
            Self::GeometryNeedsRange { needed, room: Room::StorageSmaller(size) } => write!(
                f,
                "This storage ({size}) is too small for some quantities, which need a range of {needed}."
            ),
            Self::CloseToBusLimit { rate, limit, has_other_reader } => {
                let faster = if *has_other_reader {
                    " A faster reader or port may give a higher rate."
                } else {
                    ""
                };
                write!(
                    f,
                    "The sequential read rate ({rate}) is close to the bus limit ({limit}).{faster}"
                )
            }
            Self::StorageStops(trimming) => write!(
                f,
                "The storage paused for a second or more. Free some space{}, and measure again. If the pauses \
                 stay, the storage itself causes them; only other storage helps.",
                trimming.words()
            ),
            Self::ChooseFaster { system } => {
                write!(f, "{} A card that passes A1, or an SSD, is faster.", fitness(*system))
            }
            Self::PlanByGeometry { device } => write!(
                f,
                "Plan partition, file system and settings for this card: `cardproof tune {device} --geometry latest`."
            ),
            // What has no figures has been told.
            _ => Ok(()),
        }
    }
}

impl Step {
    /// The sentence of a step without figures; of the others `None`.
    const fn fixed(&self) -> Option<&'static str> {
        Some(match self {
            Self::OfDefect(DefectKind::Fake) => {
                "Copy your data to another device now. Then give it back and ask for your money back."
            }
            Self::OfDefect(_) => {
                "Copy your data to another device now. Then replace it, and do not store data on it."
            }
            Self::LosesDataInPowerCuts => {
                "Do not rely on this storage where the power can fail: it lost data that it had reported as \
                 written. Use other storage, or a power supply with a battery."
            }
            Self::CutsTestedNothing => {
                "Run more power cuts, such as --cuts 1000: none of these came during a write, so they tested nothing."
            }
            Self::FailedInFirstCycle => {
                "Do not store data on this card: it failed in the first cycle of the test. Find out with `cardproof \
                 verify` whether it is a fake."
            }
            Self::WornOut => {
                "Do not store data on this card: the test has worn it out. Compare its life with other cards of \
                 the same model before you buy more of them."
            }
            Self::SpeedTellsNoFake => SPEED_TELLS_NO_FAKE,
            Self::QueueCorrupts => {
                "Do not use this card with its command queue: data came back wrong without an error. On a Raspberry \
                 Pi, take the line dtparam=sd_cqe=2 out of /boot/firmware/config.txt, or write dtparam=sd_cqe=0, and \
                 restart. Then run this test again."
            }
            Self::WrongDataWithoutQueue => {
                "Do not store data on this card: it returned wrong data with one request at a time. Copy your \
                 important files to another device. Then test the card with `cardproof verify`, in another reader where it can be taken out."
            }
            Self::WrongDataWithoutDiscards => {
                "Do not store data on this card: it returned wrong data without discards. Copy your important files to \
                 another device. Then test the card with `cardproof verify`, in another reader where it can be taken out."
            }
            Self::WrongDataOfUnknownCause => {
                "Do not keep data on this card until it is known why they were wrong. Run the test again with a smaller \
                 --exclude-share, and test the card itself with `cardproof verify`."
            }
            Self::DeviceErrors => {
                "The device reported errors. Look at the kernel's log (`cardproof diagnose`), and test the card \
                 itself with `cardproof verify`."
            }
            Self::LetTestEnd => "Run the test again and let it come to its end.",
            Self::QueueNotTested => {
                "The card's own queue was not tested: the card has none, or this computer does not use it. \
                 `cardproof tune` says how to turn it on, where that can be done."
            }
            Self::DoNotTrim => {
                "Do not run fstrim on this card, do not mount it with the option discard, and turn off the timer: \
                 systemctl disable --now fstrim.timer. Discards harm its data."
            }
            Self::TrimHasNoEffect => {
                "fstrim does nothing for this card that can be measured. It can be left out, and it does no harm that \
                 was found."
            }
            Self::CannotTrim => {
                "fstrim cannot be used here: the device, or the reader that it is in, cannot discard."
            }
            Self::NoHarm => {
                "No harm was found. Repeat the test after weeks of use, or with a smaller \
                 --exclude-share for rarer harm. Keep backups either way."
            }
            Self::MorePowerCuts => {
                "To find a loss that is rarer, test with more power cuts, such as --cuts 1000."
            }
            Self::TestAnotherCard => {
                "The test used up a part of this card's life. To learn how long such a card lasts, test another \
                 one with a larger --budget, or without one."
            }
            Self::GoOn(GoOn::Simulated) => {
                "To learn how long this simulated card lasts, test it with a larger --cycles, or without a limit."
            }
            Self::GoOn(GoOn::LargerCycles) => {
                "The test used up a part of this card's life. Continue it to learn how long the card lasts: give the command \
                 again with a larger --cycles."
            }
            Self::GoOn(GoOn::SameCommand) => {
                "The test used up a part of this card's life. Continue it to learn how long the card lasts: give the same \
                 command again."
            }
            Self::MeasuredMemory => {
                "This run measured memory. Name a directory on the storage that you want to measure, such as \
                 one below /home or /media: cardproof run DIRECTORY."
            }
            Self::RunOutsideOfContainers => {
                "Run cardproof as root and outside of any chroot or container, so that it can find the device \
                 below; or name a directory on the storage itself."
            }
            Self::OtherFilesystem => {
                "To judge the storage itself, measure a directory on a file system that overwrites in \
                 place, such as ext4, or read the whole device."
            }
            Self::WithoutPageCache => {
                "Measure a directory on a file system with direct I/O, such as ext4: the page cache hides the \
                 speed of the storage."
            }
            Self::AboveBusLimit => {
                "A rate is above the bus limit, so the data came from elsewhere, such as a cache. Measure again \
                 with a larger --size, or attach the storage directly."
            }
            Self::NameDirectory => {
                "To measure writes too, name a directory on the mounted storage. cardproof writes its own file \
                 there and removes it."
            }
            Self::RunInPeace => {
                "Close other programs and run again: other work disturbed the test."
            }
            Self::MeasureWithIntervals { tool: None } => MEASURE,
            Self::MeasureInPeace => {
                "Measure again when nothing else works on this computer. Compare no figures of this run."
            }
            Self::ReplaceSlow { may_be_sold_as_a1: true } => {
                "For a system, use a card that passes A1, or an SSD: this storage is too slow. If it is new and was sold \
                 as A1, give it back."
            }
            Self::ReplaceSlow { may_be_sold_as_a1: false } => {
                "For a system, use a card that passes A1, or an SSD: this storage is too slow."
            }
            Self::MeasureInOtherPort => {
                "To be sure that it is the storage itself, measure it again in another port or computer."
            }
            Self::MeasureElsewhereToBeSure => {
                "To be sure that it is the card, measure it again in another reader or board."
            }
            Self::MeasureElsewhere => {
                "Measure again in another reader or board. If the card does not pass A1 there either, run the \
                 system from a card that passes A1."
            }
            Self::UsualValuesSuit => {
                "Nothing needs to be done: `cardproof tune` uses values that suit most cards."
            }
            Self::NothingCompared => {
                "Nothing was compared. Remove the cause that is named above, or choose other setups with \
                 --only."
            }
            Self::MeasureStorage => {
                "Measure the storage itself with `cardproof run`. Its result shows why the job took \
                 this time, and what would make it faster."
            }
            Self::CutThePower => {
                "Cut the power: only power cuts can show whether flushes are honest. `cardproof powercut write --help` \
                 says how."
            }
            Self::JobWaited => {
                "The job waited 250 ms or more for single requests, which a user notices. Measure the storage \
                 itself with `cardproof run`, and compare with a replay on another card."
            }
            Self::NoRequestIsFelt => {
                "No request took so long that a user notices it. For verdicts, measure the storage itself with \
                 `cardproof run`."
            }
            Self::KeepRecord => "Keep this record, and measure again when the system feels slower.",
            Self::WrongData(_)
            | Self::OfCapacity(_)
            | Self::OperationsFailed(_)
            | Self::VerifyCapacity(_)
            | Self::RunToItsEnd { .. }
            | Self::CheckRangeCut { .. }
            | Self::CheckRangeSmall { .. }
            | Self::RangeCut { .. }
            | Self::RangeSmall { .. }
            | Self::CheckAgain { .. }
            | Self::RunAgain { .. }
            | Self::TestOtherClass { .. }
            | Self::TestA2(_)
            | Self::MeasureWithIntervals { tool: Some(_) }
            | Self::GeometryNeedsRange { .. }
            | Self::CloseToBusLimit { .. }
            | Self::StorageStops(_)
            | Self::ChooseFaster { .. }
            | Self::PlanByGeometry { .. } => return None,
        })
    }
}

impl Elsewhere {
    /// The end of a clause.
    const fn words(self) -> &'static str {
        match self {
            Self::Nowhere => "",
            Self::Reader => " in another reader",
            Self::ReaderOrPort => " in another reader or port",
        }
    }
}

impl OtherWay {
    const fn words(self) -> &'static str {
        match self {
            Self::Reader => "Then try another reader, port or power supply. ",
            Self::Cable => "Then try another cable, port or power supply. ",
        }
    }
}

impl Again {
    /// The option, and why it helps.
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::MoreRuns => ("a larger --repeat, such as 5", "more runs give a clearer result"),
            Self::StandardProfile => (
                "--profile standard --time-budget 5m",
                "this profile has written as much as it may",
            ),
            Self::MoreTime => {
                ("a longer --time-budget, such as 5m", "a longer test gives a clearer result")
            }
        }
    }
}

impl Trimming {
    const fn words(self) -> &'static str {
        match self {
            Self::Unknown => "",
            Self::NoHarmKnown => ", run fstrim if the file system supports it",
            Self::Harmful => {
                " (do not run fstrim: a kernel's list says that it can harm this card)"
            }
        }
    }
}

const fn first(is_simulated: bool) -> &'static str {
    if is_simulated { "Run" } else { "Close other programs and run" }
}

/// How a range becomes as large as the classes ask for, where that can be.
fn range_small(
    least: Bytes,
    room: Room,
    is_directory: bool,
    f: &mut fmt::Formatter<'_>,
) -> fmt::Result {
    write!(
        f,
        "The limits of the classes are for a range of {RANDOM_SPAN}, and the smallest range of these tests was {least}. "
    )?;
    let size = RANDOM_SPAN.as_argument();
    match room {
        Room::Enough if is_directory => {
            write!(f, "Run again with --size {size} in a directory with more free space than that.")
        }
        Room::Enough => write!(f, "Run again with --size {size} or more."),
        Room::FileSmaller => write!(
            f,
            "This file is too small. Name a directory, or a file of at least {RANDOM_SPAN}."
        ),
        Room::StorageSmaller(size) => {
            write!(f, "This storage has only {size}, so no class can be tested on it.")
        }
    }
}

/// How A2 can be tested, where A1 is passed and A2 could not be tested.
fn a2(step: QueueStep, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match step {
        QueueStep::InUse | QueueStep::NotWithThisCard => Ok(()),
        QueueStep::NotHere => f
            .write_str("This computer cannot test A2: it does not use a card's queue and cache."),
        QueueStep::NewerKernel => f.write_str(
            "To test A2, update the kernel: Raspberry Pi's list of cards with a working command queue has \
             this card.",
        ),
        QueueStep::RemoveSetting => f.write_str(
            "To test A2, remove the line dtparam=sd_cqe=0 from /boot/firmware/config.txt: the kernel's list of \
             cards with a working command queue has this card.",
        ),
        QueueStep::TryAtARisk => write!(
            f,
            "A2 needs the card's command queue. By default this kernel uses it only with cards on its list of \
             working ones, and this card is not on it. The line {TRY_ALL} in /boot/firmware/config.txt tries \
             it with other A2 cards. The risk: {RISK}."
        ),
    }
}

/// How fit it is for a system, in a sentence that agrees with the grade above it.
const fn fitness(system: Grade) -> &'static str {
    match system {
        Grade::Poor => "This storage is slow for an operating system.",
        Grade::PoorOrFair => "This storage is slow to fair for an operating system.",
        Grade::Fair => "This storage is only fair for an operating system.",
        Grade::FairOrGood | Grade::Good | Grade::Unknown => {
            "This storage does not reach A1, the class for an operating system."
        }
    }
}
