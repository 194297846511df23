//! What the machine said of the tests of a card.

use anyhow::{Context, Result};
use serde_json::Value;

/// A test in the machine.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// A function of the task.
    pub(super) test: String,
    /// The exit status.
    pub(super) status: i32,
    /// In the machine's time.
    pub(super) seconds: f64,
    pub(super) answer: Value,
}

impl Seen {
    /// The tests that `said` tells of: a line each that begins with `SEEN`, with the test, its status, its seconds and
    /// its answer.
    pub(super) fn all(said: &str) -> Result<Vec<Self>> {
        let lines = said.lines().filter_map(|line| line.strip_prefix("SEEN "));
        lines.map(|line| Self::parse(line).with_context(|| line.to_owned())).collect()
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(5, ' ');
        let mut next = || words.next();
        let (test, status) = (next()?.to_owned(), next()?.parse().ok()?);
        let (start, end): (f64, f64) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let answer = serde_json::from_str(next()?).ok()?;
        Some(Self { test, status, seconds: end - start, answer })
    }

    /// The verdict; empty where the answer has none.
    pub(super) fn verdict(&self) -> &str {
        let places =
            ["/discard/verdict", "/queue/verdict", "/verdict", "/overall", "/health/verdict"];
        let mut found = places.iter().filter_map(|place| self.answer.pointer(place)?.as_str());
        found.next().unwrap_or_default()
    }

    /// The figures that the verdict rests on.
    pub(super) fn details(&self) -> String {
        let Self { answer, .. } = self;
        let number =
            |place: &str| answer.pointer(place).and_then(Value::as_u64).unwrap_or_default();
        let one_in = |place: &str| {
            let bound = answer.pointer(place).and_then(Value::as_f64).unwrap_or(1.0);
            (1.0 / bound.max(f64::MIN_POSITIVE)).floor()
        };
        match self.test.as_str() {
            "discard" => format!(
                "{} discards, {} wrong, without {} wrong; bound 1 in {}",
                number("/discard/discards"),
                number("/discard/wrong_places"),
                number("/discard/control_wrong_places"),
                one_in("/discard/bound"),
            ),
            "queue" => format!(
                "{} writes at depth, {} wrong, without {} wrong; bound 1 in {}",
                number("/queue/queued/writes"),
                number("/queue/queued/wrong"),
                number("/queue/control/wrong"),
                one_in("/queue/write_bound"),
            ),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_line_is_read_and_a_cut_one_is_an_error() {
        let line =
            r#"SEEN queue 0 1.50 3.75 {"queue": {"verdict": "sound", "write_bound": 0.001}}"#;
        let seen = Seen::all(&format!("other\n{line}\n")).unwrap();
        assert_eq!((seen[0].verdict(), seen[0].status, seen[0].seconds), ("sound", 0, 2.25));
        assert!(seen[0].details().ends_with("bound 1 in 1000"), "{}", seen[0].details());
        assert!(Seen::all("SEEN queue 0 1.50").is_err());
        assert!(Seen::all("SEEN queue 0 1.50 3.75 {").is_err());
    }
}
