//! What to do next: the steps of an answer as commands and actions, and those of a record.

use std::borrow::Cow;
use std::fmt::{self, Display};

use cardproof_rating::answer::Next;
use cardproof_rating::next_steps;
use cardproof_record::{Record, Verdict};

use super::{NO_TARGET, check_steps};
use crate::clean::one_line;
use crate::wrap::unbroken;

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Where it is to be done, where that is not here.
    pub place: &'static str,
    /// The command to type, where it is one.
    pub command: Option<String>,
    /// What the command does, or what to do.
    pub action: Cow<'static, str>,
}

impl Step {
    /// The step for lines that are broken between words, but not within the command, which is copied.
    pub(super) fn unbroken(&self) -> String {
        let command = self.command.as_deref().map(unbroken);
        Self { command, ..self.clone() }.to_string()
    }
}

impl Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, command, action } = self;
        match command {
            Some(command) => write!(f, "{place}{command}   ({action})"),
            None => write!(f, "{place}{action}"),
        }
    }
}

/// A step as a command on `target`, or as an action.
pub(super) fn step(step: Next, target: &str, is_saved: bool) -> Step {
    let is_another = is_saved
        || matches!(
            step,
            Next::MeasureDirectory
                | Next::LookAtSwitch
                | Next::NameStorage
                | Next::LargerFile
                | Next::OwnDirectory
                | Next::MeasureMounted
        );
    let target = if is_another { NO_TARGET } else { target };
    let (command, action) = here(step);
    let place = if is_saved { "on that computer: " } else { "" };
    Step { place, command: command.map(|command| format!("{command} {target}")), action }
}

/// The command, without its target, and what it does; or what to do.
fn here(step: Next) -> (Option<&'static str>, Cow<'static, str>) {
    let (command, action) = match step {
        Next::CopyData => (None, "copy your data to another device now"),
        Next::ReturnIt => (None, "give it back and ask for your money back"),
        Next::ReplaceIt => (None, "replace it, and do not store data on it"),
        Next::PlanReplacement => {
            (None, "get another one, and copy your data to it before this one is worn out")
        }
        Next::VerifyFull => (Some("cardproof verify --full"), "proves all free space"),
        Next::VerifyByWriting => (Some("cardproof verify"), "tests its capacity"),
        Next::VerifyRestoring => {
            (Some("cardproof verify --restore"), "tests its capacity and puts your data back")
        }
        Next::SwapReader => {
            (None, "try the card in another reader: if errors go on, it is the card")
        }
        Next::SwapCable => {
            (None, "try another cable and another port: if errors stop, it was the cable")
        }
        Next::StrongerSupply => (None, "use a stronger power supply or a shorter cable"),
        Next::Cool => (None, "cool the computer"),
        Next::Tune => (Some("cardproof tune"), "shows what to set, and why"),
        Next::Noatime => (None, "mount it with noatime (in /etc/fstab)"),
        Next::RunAsRoot => (Some("sudo cardproof health"), "reads the kernel log"),
        Next::MeasureDirectory => {
            (Some("cardproof"), "name a directory on it, once it is mounted for writing")
        }
        Next::LookAtSwitch => (
            Some("cardproof"),
            "name a directory on it, once it is mounted for writing; is its write-protect switch on?",
        ),
        Next::NameStorage => (
            Some("cardproof"),
            "name a directory on the card or disk that you mean; an image has no speed of its own",
        ),
        Next::LargerFile => (
            Some("cardproof"),
            "name a directory on the storage that you mean; this file is too small to test its speed",
        ),
        Next::OwnDirectory => {
            (Some("cardproof"), "name a directory of your own on it, or use sudo")
        }
        Next::MeasureMounted => {
            (Some("cardproof"), "tests its speed: mount it, and name a directory on it")
        }
        Next::MoveFiles(lacking) => {
            let action = format!("free at least {lacking} more of its space, and check it again");
            return (None, action.into());
        }
        Next::FasterCard => (None, "for a system, use a card that passes A1"),
        Next::FasterStorage => (None, "for a system, use a faster card or an SSD"),
        Next::CheckAgain => (None, "close other programs, and check it again"),
    };
    (command, action.into())
}

/// What to do next: after a check what its page says, and nothing else.
pub(crate) fn steps(record: &Record, verdicts: &[Verdict]) -> Vec<String> {
    let of_check = check_steps(record).map(|steps| steps.iter().map(Step::to_string).collect());
    of_check
        .unwrap_or_else(|| next_steps(record, verdicts).iter().map(|step| one_line(step)).collect())
}
