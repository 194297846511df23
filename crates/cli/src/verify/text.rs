//! The answer for people: the verdict first, the reasons, and at last what to do.

use std::fmt::Write;

use cardproof_device::{Sysroot, guard};
use cardproof_rating::wording;
use cardproof_record::CapacityVerdict;
use cardproof_units::Bytes;

use super::{Answer, VerifyArgs};

/// The page.
pub(super) fn page(answer: &Answer, args: &VerifyArgs) -> String {
    let mut text = format!("\n{}\n", answer.found.headline());
    for reason in &answer.found.reasons {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  - {}.", wording::sentence(reason));
    }
    text.push_str(&ranges(answer));
    let is_early =
        answer.found.verdict == CapacityVerdict::Fake && answer.written < answer.planned.0;
    let end = if is_early { " The test ended early, since the answer was certain." } else { "" };
    let (written, read) = (answer.written.rounded(), answer.read.rounded());
    let _ = writeln!(text, "Written {written}, read {read}.{end}");
    text.push_str(&advice(answer, args, &identity(args)));
    text.push('\n');
    text
}

fn ranges(answer: &Answer) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    for (start, end) in answer.found.damaged_ranges.iter().take(SHOWN) {
        let _ = writeln!(text, "  bad: bytes {start} to {}", end - 1);
    }
    if answer.found.damaged_ranges.len() > SHOWN {
        let _ =
            writeln!(text, "  and {} more (see --json)", answer.found.damaged_ranges.len() - SHOWN);
    }
    text
}

/// The device's identity as the options want it, for the terminal: it may hold a serial number.
pub(super) fn identity(args: &VerifyArgs) -> String {
    let found = guard::inspect(&Sysroot::default(), &args.target);
    found.map_or_else(|_| NO_IDENTITY.to_owned(), |found| found.identity.to_string())
}

/// Stands for the identity where it is not told.
pub(super) const NO_IDENTITY: &str = "IDENTITY";

/// One sentence: what to do.
pub(super) fn advice(answer: &Answer, args: &VerifyArgs, identity: &str) -> String {
    if let Some(advice) = answer.found.advice() {
        return format!("What to do: {advice}");
    }
    let target = args.target.display();
    let is_files = args.target.is_dir();
    let by_writing = if is_files {
        format!("cardproof verify {target} --full")
    } else {
        format!("cardproof verify {target} --restore={identity}")
    };
    let keeps = if is_files { "" } else { " (keeps your data)" };
    match answer.found.verdict {
        CapacityVerdict::Suspicious => {
            format!("What to do: test it by writing: {by_writing}{keeps}")
        }
        CapacityVerdict::Undecided if is_files && args.full => {
            "What to do: to be sure, test the whole device: cardproof verify DEVICE --restore=IDENTITY \
             (keeps your data)"
                .to_owned()
        }
        CapacityVerdict::Undecided if is_files => {
            format!("What to do: to be sure, test all of the free space: {by_writing}")
        }
        CapacityVerdict::Undecided if answer.written == Bytes::ZERO => {
            format!("What to do: to be sure, test it by writing: {by_writing}{keeps}")
        }
        _ => "What to do: repeat the test with another reader or port; \
                                       with --full it writes every byte."
            .to_owned(),
    }
}
