//! The answer for people: the verdict first, the reasons, and at last what to do.

use std::fmt::Write;
use std::path::Path;

use cardproof_units::Bytes;

use super::Answer;

/// The page.
pub(super) fn page(answer: &Answer, target: &Path) -> String {
    let mut text = format!("\n{}\n", headline(answer));
    for reason in &answer.reasons {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  - {reason}.");
    }
    if answer.verdict == "damaged" || !answer.damaged_ranges.is_empty() {
        text.push_str(&ranges(answer));
    }
    let _ = writeln!(text, "Written {}, read {}.", answer.written, answer.read);
    text.push_str(&advice(answer, target));
    text.push('\n');
    text
}

fn headline(answer: &Answer) -> String {
    let percent = percent(answer.probability);
    let (low, high) = answer.real_size;
    match answer.verdict {
        "genuine" => format!("GENUINE: holds the announced {} ({percent} sure).", answer.announced),
        "fake" => format!(
            "FAKE: announces {} and holds {} ({percent} sure; kind: {}).",
            answer.announced,
            between(low, high),
            answer.kind.replace('_', " "),
        ),
        "damaged" => format!("DAMAGED: places of the device do not keep data ({percent} sure)."),
        "suspicious" => "SUSPICIOUS: shows signs of a counterfeit.".to_owned(),
        _ => "UNDECIDED.".to_owned(),
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

/// One sentence: what to do.
pub(super) fn advice(answer: &Answer, target: &Path) -> String {
    let target = target.display();
    match answer.verdict {
        "genuine" => "What to do: nothing; use it.".to_owned(),
        "fake" => format!(
            "What to do: return it and ask for your money back; keep no data on it beyond its \
             first {}.",
            answer.real_size.0
        ),
        "damaged" => "What to do: copy what you need from it now, replace it, and do not trust it \
                      with data."
            .to_owned(),
        "suspicious" => format!(
            "What to do: test it by writing: cardproof verify {target} --restore=IDENTITY (slow, \
             keeps the data) or --destroy=IDENTITY."
        ),
        _ if answer.written == Bytes::ZERO => format!(
            "What to do: to be sure, test it by writing: cardproof verify {target} \
             --restore=IDENTITY (keeps the data) or --destroy=IDENTITY."
        ),
        _ => {
            "What to do: repeat the test with another reader or port; with --full it writes every \
              byte."
                .to_owned()
        }
    }
}
