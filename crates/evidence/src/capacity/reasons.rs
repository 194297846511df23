//! Why the verdict is what it is, in words.

use cardproof_units::Bytes;

use super::bounds::CONFIDENCE;
use super::finding::{Finding, Kind, Verdict};
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
        format!("{places} test blocks across the whole address range returned correct data")
    }];
    // Where every byte was compared, nothing is left to be excluded.
    reasons.extend((!evidence.is_full).then(|| excluded(finding)));
    if evidence.grid_bytes > 0 && evidence.grid_bytes <= evidence.filler_bytes {
        reasons.push(format!(
            "no addresses share a place in the flash: the last {} of writes changed no test block",
            Bytes(evidence.filler_bytes)
        ));
    }
    reasons
}

fn excluded(finding: &Finding) -> String {
    format!(
        "a hidden store of up to {} would have been found with {2} % confidence, and bad blocks too if \
         they were {:.2} % of all blocks or more",
        Bytes(finding.excluded_store_bytes),
        finding.excluded_bad_share * 100.0,
        CONFIDENCE * 100.0
    )
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
        Kind::Wrap => format!("{}; addresses repeat every {edge}", shared(evidence)),
        Kind::Chained => format!(
            "addresses start again at {}, and each round keeps nothing above {edge}",
            Bytes(finding.modulus_bytes.unwrap_or_default())
        ),
        Kind::LastBlock => {
            format!("all addresses from {edge} up return the block that was written last")
        }
        Kind::Limbo => format!("addresses from {edge} up return different data on each read"),
        _ => format!("writes from {edge} up are accepted and discarded"),
    }
}

/// One pair of addresses that share a place.
fn shared(evidence: &Evidence) -> String {
    match aliases(evidence).next() {
        Some(alias) => format!(
            "data written at byte {} was found at byte {}",
            alias.written_bytes, alias.read_bytes
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
    vec![
        format!(
            "{} of {all} test blocks fail on every attempt: {failed} with an error, {wrong} with \
             wrong data",
            failed + wrong
        ),
        "the bad blocks are between good blocks, so the capacity itself is real".to_owned(),
        format!("about {:.2} % of the device is bad", finding.damaged_share * 100.0),
    ]
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
    let kinds = finding.hypotheses.iter().take(3);
    let kinds: Vec<String> =
        kinds.map(|(kind, chance)| format!("{} {:.1} %", kind.name(), chance * 100.0)).collect();
    vec![format!("the evidence fits more than one kind of card: {}", kinds.join(", "))]
}
