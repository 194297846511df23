//! What a device is asked of its own wear: an SD card by CMD56, a drive by smartctl.
//!
//! The conversation with a card is readings, and on consent the query in two steps.
//!
//! The second step is asked a second after the first, as sdmon does for cards that need time (its option `-a`);
//! an answer that is blank is asked for once more.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use cardproof_device::{Sysroot, guard, permission_remedy};
use cardproof_io::{CMD56_BLOCK_LEN, CardChannel};
use cardproof_registers::{CMD56_READS, CMD56_TWO_STEP, Cmd56Error, Cmd56Layout, cmd56};

use cardproof_units::{in_words, with_causes};

use crate::failure::Failure;
use crate::frontend::Frontend;

/// What is said before the first step.
const ANNOUNCEMENT: &str = "If the card answers no plain reading, cardproof sends it the two-step query: a vendor's command that writes \
     512 zero bytes to its controller (CMD56 with 0x00000010), a second of pause, and a reading (0x00000021). No \
     address of its memory is written.";

/// How long the card works on the first step.
const PAUSE: Duration = Duration::from_secs(1);

/// What a card has told.
#[derive(Debug, Default)]
pub struct CardAnswer {
    /// The argument of the question, and the answer.
    pub answer: Option<(u32, [u8; CMD56_BLOCK_LEN])>,
    /// What was asked without an answer, and why there is none.
    pub unknown: Vec<Unanswered>,
}

/// Why a card has not answered.
#[derive(Debug, thiserror::Error)]
pub enum Unanswered {
    /// The question or the command did not reach it, or its answer did not come.
    #[error("CMD56 with {argument:#010x}: {}", in_words(error))]
    Failed {
        /// The argument of the question.
        argument: u32,
        /// What the system says.
        error: io::Error,
    },
    /// The answer is in no known layout.
    #[error("CMD56 with {argument:#010x}: {error}")]
    Unknown {
        /// The argument of the question.
        argument: u32,
        /// Why not.
        error: Cmd56Error,
    },
    /// The answer is in the layout of another question.
    #[error("CMD56 with {argument:#010x}: the layout belongs to another question")]
    OfOtherQuestion {
        /// The argument of the question.
        argument: u32,
    },
    /// It was not asked in two steps.
    #[error(
        "many consumer cards answer the two-step query only, which writes to the card's controller; \
         --two-step sends it"
    )]
    NotInTwoSteps,
}

/// What may be done to a card that is asked.
#[derive(Clone, Copy, Debug, Default)]
pub struct AskingLeave {
    /// It may be asked while it is in use.
    pub in_use: bool,
    /// The query in two steps may be sent, which writes to its controller.
    pub two_steps: bool,
}

/// Asks the SD card at `path` for its wear, as far as `leave` goes.
///
/// # Errors
/// It is in use, or cannot be opened.
pub fn ask_card(
    path: &Path,
    leave: AskingLeave,
    frontend: &mut dyn Frontend,
) -> Result<CardAnswer, Failure> {
    let inspection = guard::inspect(&Sysroot::default(), path)
        .map_err(|error| Failure::incomplete(with_causes(&error)))?;
    if let Some(objection) = inspection.forbidden_by().filter(|_| !leave.in_use) {
        return Err(Failure::refused(format!(
            "{}: {objection}; a card that does not know the command may stop answering and take its \
             file systems away; read it in another computer, or add --force",
            path.display()
        )));
    }
    let mut device = File::options().read(true).write(true).open(path).map_err(|error| {
        let remedy = match error.kind() {
            io::ErrorKind::PermissionDenied => permission_remedy(),
            _ => "check that the card is in its reader",
        };
        Failure::incomplete(format!(
            "cannot open {}: {error}; {remedy}",
            path.display(),
            error = in_words(&error)
        ))
    })?;
    if leave.two_steps {
        frontend.note(ANNOUNCEMENT);
    }
    Ok(converse(&mut device, leave.two_steps))
}

/// Why a drive's health report could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoDriveReport {
    /// smartctl is not installed, or cannot be started.
    NoProgram,
    /// It gave no JSON.
    NoJson,
}

/// What smartctl tells of the drive at `path`.
///
/// # Errors
/// It tells nothing.
pub fn ask_drive(path: &Path) -> Result<serde_json::Value, NoDriveReport> {
    let output = Command::new("smartctl").args(["--json", "--all"]).arg(path).output();
    let output = output.map_err(|_| NoDriveReport::NoProgram)?;
    serde_json::from_slice(&output.stdout).map_err(|_| NoDriveReport::NoJson)
}

/// Asks `card` for each layout that is read without writing, until one is known; with `may_write` then in two
/// steps. A card that does not answer in time is not asked again.
fn converse(card: &mut dyn CardChannel, may_write: bool) -> CardAnswer {
    let mut told = CardAnswer::default();
    for (argument, layouts) in CMD56_READS {
        let answer = card.ask(argument);
        if !note(argument, layouts, answer, &mut told) || told.answer.is_some() {
            return told;
        }
    }
    if may_write {
        in_two_steps(card, &mut told);
    } else {
        told.unknown.push(Unanswered::NotInTwoSteps);
    }
    told
}

fn in_two_steps(card: &mut dyn CardChannel, told: &mut CardAnswer) {
    let (tell, question) = CMD56_TWO_STEP;
    if let Err(error) = card.tell(tell, &[0; CMD56_BLOCK_LEN]) {
        told.unknown.push(Unanswered::Failed { argument: tell, error });
        return;
    }
    card.pause(PAUSE);
    let mut answer = card.ask(question);
    let is_blank =
        |answer: &[u8; CMD56_BLOCK_LEN]| matches!(cmd56(answer), Err(Cmd56Error::Blank(_)));
    if answer.as_ref().is_ok_and(is_blank) {
        card.pause(PAUSE);
        answer = card.ask(question);
    }
    note(question, &[Cmd56Layout::SiliconMotion], answer, told);
}

/// Notes what became of a question; whether the card may be asked again.
fn note(
    argument: u32,
    layouts: &[Cmd56Layout],
    answer: io::Result<[u8; CMD56_BLOCK_LEN]>,
    told: &mut CardAnswer,
) -> bool {
    let answer = match answer {
        Ok(answer) => answer,
        Err(error) => {
            told.unknown.push(Unanswered::Failed { argument, error });
            return false;
        }
    };
    match cmd56(&answer) {
        Ok((layout, _)) if layouts.contains(&layout) => told.answer = Some((argument, answer)),
        Ok(_) => told.unknown.push(Unanswered::OfOtherQuestion { argument }),
        Err(error) => told.unknown.push(Unanswered::Unknown { argument, error }),
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A card of the kind that must be told before it answers.
    #[derive(Default)]
    struct Fake {
        /// How many answers to the second step are still blank.
        blanks: u32,
        is_mute: bool,
        was_told: bool,
        deeds: Vec<String>,
    }

    impl CardChannel for Fake {
        fn ask(&mut self, argument: u32) -> io::Result<[u8; CMD56_BLOCK_LEN]> {
            self.deeds.push(format!("ask {argument:#x}"));
            if self.is_mute {
                return Err(io::ErrorKind::TimedOut.into());
            }
            let mut answer = [0xff; CMD56_BLOCK_LEN];
            if argument == 0x21 && self.was_told {
                if self.blanks > 0 {
                    self.blanks -= 1;
                    return Ok(answer);
                }
                answer = [0; CMD56_BLOCK_LEN];
                answer[..2].copy_from_slice(&[0x45, 0x3e]);
                answer[96..98].copy_from_slice(&9994_u16.to_be_bytes());
            }
            Ok(answer)
        }

        fn tell(&mut self, argument: u32, block: &[u8; CMD56_BLOCK_LEN]) -> io::Result<()> {
            assert_eq!(block, &[0; CMD56_BLOCK_LEN]);
            self.deeds.push(format!("tell {argument:#x}"));
            self.was_told = true;
            Ok(())
        }

        fn pause(&mut self, time: Duration) {
            self.deeds.push(format!("pause {} ms", time.as_millis()));
        }
    }

    const READS: [&str; 3] = ["ask 0x1", "ask 0x110005fb", "ask 0x53420001"];

    #[test]
    fn nothing_is_written_without_consent() {
        let mut card = Fake::default();
        let told = converse(&mut card, false);
        assert_eq!((card.was_told, card.deeds), (false, READS.map(str::to_owned).to_vec()));
        assert!(
            told.answer.is_none() && matches!(told.unknown.last(), Some(Unanswered::NotInTwoSteps))
        );
    }

    #[test]
    fn a_consumer_card_answers_a_second_after_it_was_told() {
        for (blanks, rest) in [
            (0, &["tell 0x10", "pause 1000 ms", "ask 0x21"][..]),
            (1, &["tell 0x10", "pause 1000 ms", "ask 0x21", "pause 1000 ms", "ask 0x21"][..]),
        ] {
            let mut card = Fake { blanks, ..Fake::default() };
            let told = converse(&mut card, true);
            assert_eq!(card.deeds, [&READS[..], rest].concat());
            let (question, answer) = told.answer.unwrap();
            assert_eq!((question, cmd56(&answer).unwrap().0), (0x21, Cmd56Layout::SiliconMotion));
        }
    }

    #[test]
    fn a_card_that_does_not_answer_is_neither_asked_nor_told_again() {
        let mut card = Fake { is_mute: true, ..Fake::default() };
        let told = converse(&mut card, true);
        assert_eq!((card.deeds.len(), card.was_told, told.answer), (1, false, None));
    }

    #[test]
    fn a_card_that_stays_blank_has_no_answer() {
        let mut card = Fake { blanks: 9, ..Fake::default() };
        let told = converse(&mut card, true);
        assert!(told.answer.is_none());
        let last = told.unknown.last().unwrap();
        assert!(matches!(last, Unanswered::Unknown { argument: 0x21, .. }), "{last}");
    }
}
