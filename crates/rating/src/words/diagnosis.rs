//! What makes a computer slow, in sentences.

use cardproof_record::{Limit, Record};
use serde::Serialize;

use crate::diagnosis::{
    Answered, Culprit, DIAGNOSIS_SCHEMA, Known, Most, SYNCING_MAX, Step, answered,
};
use crate::judge::judge;
use crate::limits::Limiting;
use crate::meaning::{Grade, grades};

use super::wording;

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnosis {
    /// What makes the computer slow.
    pub culprit: Culprit,
    /// The answer in a sentence.
    pub answer: String,
    /// Why, in sentences.
    pub reasons: Vec<String>,
    /// What to do, most important first.
    pub steps: Vec<String>,
}

/// The published form: the answer of `diagnose --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct DiagnosisDocument<'d> {
    /// Name and version of this form.
    pub schema: &'static str,
    /// The answer.
    #[serde(flatten)]
    pub diagnosis: &'d Diagnosis,
}

impl<'d> DiagnosisDocument<'d> {
    /// The document of `diagnosis`.
    #[must_use]
    pub const fn new(diagnosis: &'d Diagnosis) -> Self {
        Self { schema: DIAGNOSIS_SCHEMA, diagnosis }
    }
}

/// Finds the answer.
#[must_use]
pub fn diagnose(known: &Known<'_>) -> Diagnosis {
    let found = answered(known);
    let mut reasons = Vec::new();
    if let Some(most) = &found.most {
        reasons.push(format!(
            "{} limited the computer in {:.0} % of the samples. In the last of these samples: {}.",
            subject(most),
            100.0 * most.share,
            most.last.evidence_in_words()
        ));
        reasons.extend(most.beside.iter().map(|limited| {
            format!("At the same time, {}: {}.", beside(limited), limited.evidence_in_words())
        }));
        reasons.extend(most.in_turn.map(|limited| {
            format!("At other times, {}: {}.", beside(limited), limited.evidence_in_words())
        }));
    }
    reasons.extend(known.syncing().into_iter().take(SYNCING_MAX).map(|(program, share)| {
        format!(
            "{program} waited for its synced writes in {:.0} % of the samples; such writes slow a card most.",
            100.0 * share
        )
    }));
    reasons.extend(known.troubles.iter().map(|trouble| format!("Found: {trouble}.")));
    reasons.extend(known.last.and_then(last_in_words));
    Diagnosis {
        culprit: found.culprit,
        answer: answer(&found),
        reasons,
        steps: found.steps.iter().map(|step| step_in_words(*step, known)).collect(),
    }
}

/// The culprit at the start of a sentence.
fn subject(most: &Most<'_>) -> String {
    let name = most.last.device.as_deref().map_or(String::new(), |name| format!(" ({name})"));
    match most.culprit {
        Culprit::Storage | Culprit::StorageAndMore => format!("The storage{name}"),
        Culprit::OtherStorage => format!("Another storage{name}"),
        Culprit::Elsewhere => "Waits for something other than the devices watched".to_owned(),
        Culprit::Bus => format!("The bus{name}"),
        Culprit::Processor => "The processors".to_owned(),
        Culprit::Memory => "Too little memory".to_owned(),
        Culprit::Heat => "Heat".to_owned(),
        Culprit::Power => "The power supply".to_owned(),
        Culprit::NothingSeen => "Nothing".to_owned(),
    }
}

/// What was seen beside the storage, as the start of a clause.
fn beside(limited: &Limiting) -> String {
    match (limited.limit, &limited.device) {
        (Limit::Cpu, _) => "the processors held programs back as well".to_owned(),
        (Limit::MemoryPressure, _) => "memory was short".to_owned(),
        (Limit::Heat, _) => "the computer was too hot".to_owned(),
        (Limit::Power, _) => "the supply voltage was too low".to_owned(),
        (Limit::Elsewhere, _) => "programs waited for something else".to_owned(),
        (_, Some(device)) => format!("programs waited for {device}"),
        (_, None) => "programs waited for another storage".to_owned(),
    }
}

fn answer(found: &Answered<'_>) -> String {
    let answer = match found.culprit {
        Culprit::Storage => "Yes: programs wait for the card or disk.",
        Culprit::StorageAndMore => {
            "Partly: programs wait for the card or disk, and for something else at the same time."
        }
        Culprit::OtherStorage => "No: programs wait for another storage of this computer.",
        Culprit::Elsewhere => {
            "No: programs wait for I/O, but the card or disk is not busy enough to be the cause."
        }
        Culprit::Bus => "Partly: the bus or reader is the limit, not the storage itself.",
        Culprit::Processor => {
            let share = found.most.as_ref().map_or(0.0, |most| 100.0 * most.share);
            return format!(
                "No: programs waited for a processor in {share:.0} % of the samples. A faster card would not \
                 have helped then."
            );
        }
        Culprit::Memory => "No: there is too little memory, and the storage is busy with swapping.",
        Culprit::Heat => "No: the computer is too hot and runs slower.",
        Culprit::Power => "No: the power supply is too weak, and the computer runs slower.",
        Culprit::NothingSeen if found.is_last_slow => {
            "Perhaps: nothing was slow during the watch, but an earlier run measured this storage as slow."
        }
        Culprit::NothingSeen => "Unknown: nothing was slow during the watch.",
    };
    answer.to_owned()
}

fn last_in_words(record: &Record) -> Option<String> {
    let day = record.created.get(..10).unwrap_or(&record.created);
    let poor: Vec<&str> = grades(record)
        .iter()
        .filter(|meaning| meaning.grade == Grade::Poor)
        .map(|meaning| meaning.purpose.topic())
        .collect();
    let verdict = judge(record).into_iter().find(|verdict| verdict.rule == "A1")?;
    let words = wording::outcome(verdict.outcome);
    let poor = if poor.is_empty() { String::new() } else { format!("; slow: {}", poor.join(", ")) };
    Some(format!("Measured on {day}: A1 {words}{poor}."))
}

fn step_in_words(step: Step, known: &Known<'_>) -> String {
    match step {
        Step::SeeWhoWrites => {
            let device = known.device.as_ref().map_or_else(String::new, |name| format!(" {name}"));
            format!("See which program writes: cardproof watch --who{device}")
        }
        Step::Against(culprit) => against(culprit).to_owned(),
        Step::StrongerSupply => "Use a stronger power supply or a shorter cable.".to_owned(),
        Step::Measure => "Measure the storage: cardproof run".to_owned(),
    }
}

const fn against(culprit: Culprit) -> &'static str {
    match culprit {
        Culprit::Storage => {
            "Move logs, databases and swap to an SSD, or use a faster card. `cardproof compare` \
             helps to choose one."
        }
        Culprit::StorageAndMore => {
            "Remove the other cause above first, then run `cardproof diagnose` again."
        }
        Culprit::OtherStorage => "Run `cardproof diagnose` with the name of that storage.",
        Culprit::Elsewhere => {
            "Look at network drives, at other disks, and at I/O limits of services or containers."
        }
        Culprit::Bus => "Use a faster port, reader or bus mode; see `cardproof identify`.",
        Culprit::Processor => "Look at `top` for the program that keeps the processors busy.",
        Culprit::Memory => "Close programs, or use a computer with more memory.",
        Culprit::Heat => "Add a heat sink or a fan, or open the case.",
        Culprit::Power => {
            "Use the power supply and the cable that the manufacturer of the board recommends."
        }
        Culprit::NothingSeen => "Run `cardproof diagnose` again while the slow program runs.",
    }
}
