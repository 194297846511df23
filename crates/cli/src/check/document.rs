//! The answer for scripts: `cardproof.check/1`, with one key a question; fields may come, none goes.

use cardproof_rating::answer::{Fast, Healthy, Next, Overall, Powered, Question, Real, SetUp};
use cardproof_record::CHECK_SCHEMA;
use cardproof_report::{AnswerPage, Reply};
use serde::Serialize;

use super::measured::Measurements;
use crate::exit::Failure;

#[derive(Debug, Serialize)]
struct Document<'d> {
    schema: &'static str,
    cardproof: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    overall: Option<Overall>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    real: Option<Replied<'d, Real>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    healthy: Option<Replied<'d, Healthy>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fast: Option<Replied<'d, Fast>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    set_up: Option<Replied<'d, SetUp>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power: Option<Replied<'d, Powered>>,
    next: Vec<Step>,
    /// The ids of the records of this check.
    records: Vec<&'d str>,
}

/// A reply with its words.
#[derive(Debug, Serialize)]
struct Replied<'d, T> {
    standing: cardproof_rating::answer::Standing,
    verdict: &'static str,
    details: Vec<String>,
    found: &'d T,
}

#[derive(Debug, Serialize)]
struct Step {
    code: Next,
    text: String,
}

/// The document of `page`.
pub(super) fn json(page: &AnswerPage<'_>, measurements: &Measurements) -> Result<String, Failure> {
    let answer = page.answer;
    let replies = page.replies();
    let codes = answer.next.iter().copied();
    let steps = codes.zip(page.steps_in_words());
    let next = steps.map(|(code, step)| Step { code, text: step.to_string() }).collect();
    let records = [&measurements.capacity, &measurements.speed];
    let document = Document {
        schema: CHECK_SCHEMA,
        cardproof: env!("CARGO_PKG_VERSION"),
        overall: answer.overall,
        headline: page.headline_in_words(),
        quote: page.quote_in_words(),
        real: with_words(&replies, Question::Real, answer.real.as_ref()),
        healthy: with_words(&replies, Question::Healthy, answer.healthy.as_ref()),
        fast: with_words(&replies, Question::Fast, answer.fast.as_ref()),
        set_up: with_words(&replies, Question::SetUp, answer.set_up.as_ref()),
        power: with_words(&replies, Question::Power, answer.power.as_ref()),
        next,
        records: records.into_iter().flatten().map(|record| &*record.id).collect(),
    };
    let text = serde_json::to_string_pretty(&document)
        .map_err(Failure::because("the answer cannot be put into JSON"))?;
    Ok(text + "\n")
}

fn with_words<'d, T>(
    replies: &[Reply],
    question: Question,
    found: Option<&'d T>,
) -> Option<Replied<'d, T>> {
    let reply = replies.iter().find(|reply| reply.question == question)?;
    let Reply { standing, verdict, details, .. } = reply.clone();
    Some(Replied { standing, verdict, details, found: found? })
}
