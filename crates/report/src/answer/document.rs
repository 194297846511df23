//! The answer for scripts: `cardproof.check/1`, with one key a question; fields may come, none goes.

use cardproof_rating::answer::{
    Fast, Healthy, Next, Overall, Powered, Question, Real, SetUp, Standing,
};
use cardproof_record::CHECK_SCHEMA;
use serde::Serialize;

use super::{AnswerPage, Reply};

/// The published form: the answer of `check --json`, one key for each question that was asked.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CheckDocument<'d> {
    /// Name and version of this form.
    schema: &'static str,
    /// The version of the program.
    cardproof: &'static str,
    /// The verdict on the whole; absent where neither real, healthy nor fast was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    overall: Option<Overall>,
    /// The verdict on the whole in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    headline: Option<&'static str>,
    /// The one figure to quote.
    #[serde(skip_serializing_if = "Option::is_none")]
    quote: Option<String>,
    /// Is its capacity real?
    #[serde(skip_serializing_if = "Option::is_none")]
    real: Option<Replied<'d, Real>>,
    /// Does it keep data?
    #[serde(skip_serializing_if = "Option::is_none")]
    healthy: Option<Replied<'d, Healthy>>,
    /// Is it fast enough for a system?
    #[serde(skip_serializing_if = "Option::is_none")]
    fast: Option<Replied<'d, Fast>>,
    /// Is it set up well?
    #[serde(skip_serializing_if = "Option::is_none")]
    set_up: Option<Replied<'d, SetUp>>,
    /// Does the computer have enough power?
    #[serde(skip_serializing_if = "Option::is_none")]
    power: Option<Replied<'d, Powered>>,
    /// What to do next, the most important first.
    #[cfg_attr(feature = "schema", schemars(length(max = 3)))]
    next: Vec<NextStep>,
    /// The ids of the records of this check.
    records: Vec<&'d str>,
}

/// A reply with its words.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Replied<'d, T> {
    /// How good the reply is.
    standing: Standing,
    /// One to three words.
    verdict: &'static str,
    /// What it rests on.
    details: Vec<String>,
    /// The reply.
    found: &'d T,
}

/// A step with its words.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct NextStep {
    /// Stable name of the step.
    code: Next,
    /// The step in words.
    text: String,
}

impl<'p> AnswerPage<'p> {
    /// The document of the page, made by version `cardproof` of the program from the records of these ids.
    #[must_use]
    pub fn document(&self, cardproof: &'static str, records: Vec<&'p str>) -> CheckDocument<'p> {
        let answer = self.answer;
        let replies = self.replies();
        let steps = answer.next.iter().copied().zip(self.steps_in_words());
        CheckDocument {
            schema: CHECK_SCHEMA,
            cardproof,
            overall: answer.overall,
            headline: self.headline_in_words(),
            quote: self.quote_in_words(),
            real: with_words(&replies, Question::Real, answer.real.as_ref()),
            healthy: with_words(&replies, Question::Healthy, answer.healthy.as_ref()),
            fast: with_words(&replies, Question::Fast, answer.fast.as_ref()),
            set_up: with_words(&replies, Question::SetUp, answer.set_up.as_ref()),
            power: with_words(&replies, Question::Power, answer.power.as_ref()),
            next: steps.map(|(code, step)| NextStep { code, text: step.to_string() }).collect(),
            records,
        }
    }
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
