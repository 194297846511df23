//! Why the verdict is what it is, in words.

use cardproof_units::Bytes;

use super::exclusion::{Exclusion, MissingPart, SHARE_LEAST};
use super::finding::{Finding, Verdict};
use super::kind::Kind;
use super::modulus::aliases;
use super::observation::{Evidence, Found, Observation};

/// The reasons for `finding`, the most important first.
pub(super) fn reasons(evidence: &Evidence, finding: &Finding) -> Vec<String> {
    let mut reasons = match finding.verdict {
        Verdict::Genuine => genuine(evidence, finding),
        Verdict::Fake => fake(evidence, finding),
        Verdict::Damaged => damaged(evidence, finding),
        Verdict::Undecided => undecided(evidence, finding),
    };
    if finding.transient_errors > 0 {
        reasons.push(format!(
            "{} transient errors: a second attempt succeeded. They are no sign of a fake or of \
             damage; a bad contact or reader causes them",
            finding.transient_errors
        ));
    }
    reasons
}

fn genuine(evidence: &Evidence, finding: &Finding) -> Vec<String> {
    let places = evidence.observations.len();
    let mut reasons = vec![if evidence.is_full {
        "every byte was written and read back correctly".to_owned()
    } else {
        format!(
            "test data at {places} places, spread over all that was tested, was read back correctly"
        )
    }];
    // Where every byte was compared, nothing is left to be excluded.
    if !evidence.is_full {
        reasons.extend(excluded_fakes(finding));
        reasons.extend(excluded_sharing(evidence, finding));
        // Rounded up: no more is claimed than was found.
        let percent = (finding.excluded_bad_share * 1000.0).ceil() / 10.0;
        reasons.push(format!(
            "damage to {percent} % of the capacity or more would very probably have been found"
        ));
    }
    reasons
}

/// The fake that would have been found which lacks least, in any arrangement where that is known.
fn excluded_fakes(finding: &Finding) -> Option<String> {
    let anywhere = |exclusion: &&Exclusion| exclusion.part == MissingPart::Anywhere;
    let least = |a: &&Exclusion, b: &&Exclusion| a.missing_share.total_cmp(&b.missing_share);
    let all = &finding.exclusions;
    let told = all.iter().filter(anywhere).min_by(least).or_else(|| all.iter().min_by(least))?;
    let (share, _) = missing(told);
    Some(format!(
        "a fake that lacks {share} of its capacity or more would very probably have been found"
    ))
}

/// All fakes that would have been found, a sentence for each: by what they lack, and those whose addresses share their
/// places without a rule, up to the real size `sharing_bytes`.
#[must_use]
pub fn exclusions_in_words(exclusions: &[Exclusion], sharing_bytes: u64) -> Vec<String> {
    if exclusions.is_empty() {
        return Vec::new();
    }
    let why = "some fakes keep the latest writes in a store, so that short tests pass";
    let of = |exclusion: &Exclusion| {
        let (share, place) = missing(exclusion);
        let store = Bytes(exclusion.store_bytes);
        format!(
            "this test would have found a fake that lacks {share} of its capacity{place}, with a store of up to {store}"
        )
    };
    let sharing = (sharing_bytes > 0).then(|| {
        format!(
            "a fake that keeps several addresses in one place, chosen at random, would have been found if it holds {} \
             or less",
            Bytes(sharing_bytes)
        )
    });
    let all = exclusions.iter().map(of);
    std::iter::once(why.to_owned()).chain(all).chain(sharing).collect()
}

/// How much is missing, and what to add where it can be at any place.
fn missing(exclusion: &Exclusion) -> (String, &'static str) {
    let share = exclusion.missing_share * 100.0;
    match exclusion.part {
        MissingPart::Anywhere => (format!("{share:.0} %"), ", wherever it lies"),
        MissingPart::End => (format!("the last {share:.0} %"), ""),
    }
}

/// Which addresses would have been found to share a place in the flash.
fn excluded_sharing(evidence: &Evidence, finding: &Finding) -> Option<String> {
    let has_grid = evidence.grid_bytes > 0
        && evidence.grid_bytes <= evidence.filler_bytes
        && !evidence.is_unordered;
    let without_rule = Bytes(finding.excluded_sharing_bytes);
    if has_grid {
        return Some(
            "new data did not overwrite older data elsewhere, as it does on a fake whose addresses start \
             again from zero"
                .to_owned(),
        );
    }
    (evidence.is_unordered && without_rule > Bytes::ZERO).then(|| {
        format!(
            "new data did not overwrite older data elsewhere, as it would very probably do on a fake with \
             a real capacity of {without_rule} or less"
        )
    })
}

fn fake(evidence: &Evidence, finding: &Finding) -> Vec<String> {
    let mut reasons = vec![what_happens(evidence, finding)];
    if let Some(store) = finding.store {
        reasons.push(format!(
            "a hidden store returns the latest writes, so files look correct if read at once: test \
             blocks were correct after {} of other writes, and lost after {}",
            Bytes(store.low),
            Bytes(store.high)
        ));
    }
    if finding.damaged_share > 0.0 {
        reasons.push(format!(
            "the device is also damaged: {:.1} % of the test blocks below the real size fail",
            finding.damaged_share * 100.0
        ));
    }
    reasons
}

fn what_happens(evidence: &Evidence, finding: &Finding) -> String {
    let edge = Bytes(finding.size.high);
    match finding.kind {
        Kind::Wrap => {
            format!(
                "addresses above {edge} are stored at the same places as lower ones{}",
                same_place(evidence, finding)
            )
        }
        Kind::Chained => format!(
            "addresses start again at {}, and each round keeps nothing above {edge}",
            Bytes(finding.modulus_bytes.unwrap_or_default())
        ),
        Kind::LastBlock => {
            format!("all addresses from {edge} up return the block that was written last")
        }
        Kind::Holes => format!(
            "whole parts of the addresses keep nothing, with parts that do between them; {} keep data",
            amount(finding)
        ),
        Kind::Stripes => format!(
            "parts of the addresses that keep nothing come again at equal distances; {} keep data",
            amount(finding)
        ),
        Kind::Scattered => format!(
            "addresses all over the device return their data at once and lose them after other writes; {} \
             keep data",
            amount(finding)
        ),
        Kind::Shared => {
            format!("all over the device, new data overwrites old data: {}", shared(evidence))
        }
        Kind::FillsUp => format!(
            "the device keeps what is written first, at any address, and discards the rest: it was full \
             after {} in small pieces",
            Bytes(finding.size.low)
        ),
        Kind::Limbo => format!("addresses from {edge} up return different data on each read"),
        _ => format!("writes from {edge} up are accepted and discarded"),
    }
}

/// The bounds of the real size.
fn amount(finding: &Finding) -> String {
    format!("{} to {}", Bytes(finding.size.low), Bytes(finding.size.high))
}

/// One pair of addresses that lead to one place, and the lowest address of that, where it is known.
fn same_place(evidence: &Evidence, finding: &Finding) -> String {
    let Some(alias) = aliases(evidence).next() else { return String::new() };
    let (written, read) = (alias.written_bytes, alias.read_bytes);
    let folded = finding
        .modulus_bytes
        .and_then(|modulus| Some((written.checked_rem(modulus)?, read.checked_rem(modulus)?)));
    let found = format!(": data written at {} was found at {}", Bytes(written), Bytes(read));
    match folded {
        Some((first, same)) if first == same && first != read => {
            format!("{found}, because both are stored at one place, {}", Bytes(first))
        }
        _ => found,
    }
}

/// One pair of addresses that share a place.
fn shared(evidence: &Evidence) -> String {
    match aliases(evidence).next() {
        Some(alias) => format!(
            "data written at {} was found at {}",
            Bytes(alias.written_bytes),
            Bytes(alias.read_bytes)
        ),
        None => "different addresses return the same data".to_owned(),
    }
}

fn damaged(evidence: &Evidence, finding: &Finding) -> Vec<String> {
    let count = |wanted: &dyn Fn(&Observation) -> bool| {
        evidence.observations.iter().filter(|place| wanted(place)).count()
    };
    let all = evidence.observations.len();
    let failed = count(&|place| matches!(place.found, Found::ReadFailed | Found::WriteFailed));
    let wrong = count(&|place| !place.is_right()) - failed;
    if failed + wrong == all {
        return vec![
            "no test block kept its data; the device or its reader is defective".to_owned(),
        ];
    }
    let mut reasons = vec![format!(
        "{} of {all} test blocks fail on every attempt: {failed} with an error, {wrong} with wrong data",
        failed + wrong
    )];
    if finding.kind == Kind::FailsBeyond {
        reasons.push(format!(
            "every test block from {} up fails. A device that wears out can end like this; a fake that \
             reports errors beyond its real capacity looks the same",
            Bytes(finding.size.low)
        ));
        return reasons;
    }
    let real = finding.size.low as f64 / evidence.announced_bytes.max(1) as f64;
    reasons.push(format!(
        "the bad blocks are between good blocks: at least {:.1} % of the capacity keeps data",
        (real * 1000.0).floor() / 10.0
    ));
    if real < 1.0 - SHARE_LEAST {
        reasons.push(
            "a fake whose missing addresses are scattered looks the same; the test cannot tell them apart"
                .to_owned(),
        );
    }
    reasons.push(format!("about {:.2} % of the device is bad", finding.damaged_share * 100.0));
    reasons
}

fn undecided(evidence: &Evidence, finding: &Finding) -> Vec<String> {
    if evidence.is_cut_short {
        return vec![format!(
            "the test ended early, after {} were written",
            Bytes(evidence.writes.total_bytes())
        )];
    }
    if evidence.observations.is_empty() {
        return vec!["nothing was tested".to_owned()];
    }
    if evidence.observations.iter().all(Observation::is_right) {
        return vec![format!(
            "every test block is correct, but too little was written: a fake with a hidden store above {} \
             may pass this test; give a larger --exclude-store",
            Bytes(finding.excluded_store_bytes)
        )];
    }
    let kinds = finding.hypotheses.iter().take(3);
    let kinds: Vec<String> =
        kinds.map(|(kind, chance)| format!("{} {:.1} %", kind.name(), chance * 100.0)).collect();
    vec![format!("the evidence fits more than one kind of card: {}", kinds.join(", "))]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_anywhere_is_told_apart_from_a_missing_end() {
        let of = |part| Exclusion { missing_share: 0.5, part, store_bytes: 1 << 20 };
        let told = exclusions_in_words(&[of(MissingPart::Anywhere), of(MissingPart::End)], 1 << 30);
        assert_eq!(
            told[1],
            "this test would have found a fake that lacks 50 % of its capacity, wherever it lies, with a store of up to \
             1 MiB"
        );
        assert_eq!(
            told[2],
            "this test would have found a fake that lacks the last 50 % of its capacity, with a store of up to 1 MiB"
        );
        assert!(
            told[3].starts_with("a fake that keeps several addresses in one place"),
            "{told:?}"
        );
    }
}
