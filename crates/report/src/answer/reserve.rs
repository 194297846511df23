//! The reserve below the headline: a fast and healthy storage may still be a fake if its capacity was not tested. The
//! reserve names the command that tests it.

use std::fmt;

use cardproof_rating::Grade;
use cardproof_rating::answer::{Answer, Overall, Real, Untested};
use cardproof_record::{Conditions, Transport};

use super::NO_TARGET;
use crate::wrap::unbroken;

/// What was not shown, and the command that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reserve {
    what: &'static str,
    command: Option<String>,
}

impl fmt::Display for Reserve {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.what)?;
        self.command.as_ref().map_or(Ok(()), |command| write!(f, " ({command} tests that)"))
    }
}

impl Reserve {
    /// The reserve for lines that are broken between words, but not within the command, which is copied.
    pub(crate) fn unbroken(self) -> String {
        let command = self.command.as_deref().map(unbroken);
        Self { command, ..self }.to_string()
    }
}

/// The reserve below the headline of `answer`, of which the target is called `target` in commands; `None` where the
/// headline praises nothing, where the capacity has a verdict or was not asked about, and of a virtual machine's disk,
/// which nobody sold.
pub(crate) fn reserve(
    answer: &Answer,
    conditions: &Conditions,
    target: &str,
    is_saved: bool,
) -> Option<Reserve> {
    if conditions.device.lowest().transport == Some(Transport::Virtio) {
        return None;
    }
    let praises = match answer.overall? {
        Overall::NothingWrong => true,
        Overall::ForASystem(grade) => !matches!(grade, Grade::Poor | Grade::Unknown),
        _ => false,
    };
    let real = answer.real.as_ref().filter(|_| praises)?;
    let (what, command) = match real {
        Real::Yes { .. }
        | Real::SoFar { .. }
        | Real::No { .. }
        | Real::Damaged
        | Real::Suspicious { .. } => return None,
        Real::TooSmall { .. } => ("Only a part was tested, so it may still be a fake", None),
        Real::Undecided => ("The quick test could not tell whether it is genuine", Some("")),
        Real::NotTested { why: Untested::Unsupported | Untested::TooLittleSpace } => {
            (UNTESTED, Some(" --full"))
        }
        Real::NotTested { why: Untested::OnlyRead } => (UNTESTED, Some(" --restore")),
        Real::NotTested { .. } => (UNTESTED, Some("")),
    };
    let is_elsewhere = is_saved
        || matches!(
            real,
            Real::NotTested {
                why: Untested::ReadOnly | Untested::NotPermitted | Untested::File | Untested::Holes
            }
        );
    let target = if is_elsewhere { NO_TARGET } else { target };
    let place = if is_saved { "on that computer, " } else { "" };
    let command = command.map(|option| format!("{place}cardproof verify{option} {target}"));
    Some(Reserve { what, command })
}

const UNTESTED: &str = "It was not tested whether it is genuine";
