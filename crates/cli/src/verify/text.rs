//! The answer for people: the verdict first, the reasons, and at last what to do.

use std::fmt::Write;

use cardproof_device::{Sysroot, guard};
use cardproof_record::CapacityVerdict;
use cardproof_units::Bytes;

use super::{Answer, VerifyArgs};

/// The page.
pub(super) fn page(answer: &Answer, args: &VerifyArgs) -> String {
    let mut text = format!("\n{}\n", headline(answer));
    for reason in &answer.reasons {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  - {reason}.");
    }
    text.push_str(&ranges(answer));
    let is_early = answer.verdict == CapacityVerdict::Fake && answer.written < answer.planned.0;
    let end = if is_early { " The test ended early, since the answer was certain." } else { "" };
    let _ = writeln!(text, "Written {}, read {}.{end}", answer.written, answer.read);
    text.push_str(&advice(answer, args, &identity(args)));
    text.push('\n');
    text
}

fn headline(answer: &Answer) -> String {
    let percent = percent(answer.probability);
    let (low, high) = answer.real_size;
    match answer.verdict {
        CapacityVerdict::Genuine => {
            format!(
                "GENUINE: the full capacity of {} is real (confidence {percent}).",
                answer.announced
            )
        }
        CapacityVerdict::Fake => format!(
            "FAKE: advertised capacity {}, real capacity {} (confidence {percent}; kind: {}).",
            answer.announced,
            between(low, high),
            answer.kind.replace('_', " "),
        ),
        CapacityVerdict::Damaged => {
            format!("DAMAGED: parts of the device do not keep data (confidence {percent}).")
        }
        CapacityVerdict::Suspicious => "SUSPICIOUS: there are signs of a counterfeit.".to_owned(),
        CapacityVerdict::Undecided => {
            "UNDECIDED: the test did not show enough for a verdict.".to_owned()
        }
    }
}

/// Rounded down, so that 100 % stands for certainty alone.
fn percent(probability: f64) -> String {
    if probability >= 1.0 - 1e-12 {
        return "100 %".to_owned();
    }
    format!("{:.2} %", (probability * 1e4).floor() / 100.0)
}

fn between(low: Bytes, high: Bytes) -> String {
    if low.to_string() == high.to_string() {
        format!("{low} ({} bytes)", high.get())
    } else {
        format!("{low} to {high}")
    }
}

fn ranges(answer: &Answer) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    for (start, end) in answer.damaged_ranges.iter().take(SHOWN) {
        let _ = writeln!(text, "  bad: bytes {start} to {}", end - 1);
    }
    if answer.damaged_ranges.len() > SHOWN {
        let _ = writeln!(text, "  and {} more (see --json)", answer.damaged_ranges.len() - SHOWN);
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
    let target = args.target.display();
    let by_writing = || {
        if args.target.is_dir() {
            format!("cardproof verify {target} --full")
        } else {
            format!(
                "cardproof verify {target} --restore={identity} (keeps the data), or the same with \
                 --destroy= (faster, erases everything)"
            )
        }
    };
    match answer.verdict {
        CapacityVerdict::Genuine => "What to do: nothing. You can use it.".to_owned(),
        CapacityVerdict::Fake => format!(
            "What to do: return it and ask for your money back. Do not store data on it: only the first \
             {} can keep data.",
            answer.real_size.0
        ),
        CapacityVerdict::Damaged => "What to do: copy your files to another device now, and \
                                     replace it. Do not store data on it."
            .to_owned(),
        CapacityVerdict::Suspicious => {
            format!("What to do: test it by writing: {}.", by_writing())
        }
        CapacityVerdict::Undecided if answer.written == Bytes::ZERO || args.target.is_dir() => {
            format!("What to do: to be sure, test it by writing: {}.", by_writing())
        }
        CapacityVerdict::Undecided => "What to do: repeat the test with another reader or port; \
                                       with --full it writes every byte."
            .to_owned(),
    }
}
