//! What the machine said of a run, and what is wrong with it.

use anyhow::{Context, Result};
use cardproof_units::Bytes;
use serde_json::Value;

/// A run in the machine.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// The file system, in the words of `mount`.
    pub(super) filesystem: String,
    /// The card's number.
    pub(super) card: usize,
    /// How much of the file system was full, in percent.
    pub(super) full: u32,
    /// What was seen; none where the card took no file system.
    pub(super) run: Option<Run>,
}

/// What was seen of the test.
#[derive(Clone, Debug)]
pub(super) struct Run {
    /// The exit status, or `killed`.
    pub(super) status: String,
    /// In the machine's time.
    pub(super) seconds: f64,
    /// What was free before, at the least, and after.
    pub(super) free: [Bytes; 3],
    /// Names that are there and were not, or the other way round.
    left: u32,
    /// The user's file is as it was.
    is_photo_same: bool,
    /// What the check of the file system said afterwards.
    checked: i32,
    answer: Value,
}

impl Seen {
    /// The runs that `said` tells of.
    pub(super) fn all(said: &str) -> Result<Vec<Self>> {
        let lines = said.lines().filter_map(|line| line.strip_prefix("RUN "));
        lines.map(|line| Self::parse(line).with_context(|| line.to_owned())).collect()
    }

    fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(13, ' ');
        let mut next = || words.next();
        let (filesystem, card, full) =
            (next()?.to_owned(), next()?.parse().ok()?, next()?.parse().ok()?);
        let status = next()?.to_owned();
        if status == "no-file-system" {
            return Some(Self { filesystem, card, full, run: None });
        }
        let (start, end): (f64, f64) = (next()?.parse().ok()?, next()?.parse().ok()?);
        let mut kib = || Some(Bytes(next()?.parse::<u64>().ok()? << 10));
        let free = [kib()?, kib()?, kib()?];
        let run = Run {
            status,
            seconds: end - start,
            free,
            left: next()?.parse().ok()?,
            is_photo_same: next()? == "same",
            checked: next()?.parse().ok()?,
            answer: serde_json::from_str(next()?).unwrap_or_default(),
        };
        Some(Self { filesystem, card, full, run: Some(run) })
    }
}

impl Run {
    /// The verdict, or the exit status where there is none.
    pub(super) fn verdict(&self) -> &str {
        self.answer["verdict"].as_str().unwrap_or(&self.status)
    }

    /// Bytes that the test has written.
    pub(super) fn written(&self) -> Bytes {
        Bytes(self.answer["bytes_written"].as_u64().unwrap_or_default())
    }

    /// What is wrong on a card of `size` that keeps everything, of which so many percent were `full`.
    pub(super) fn faults(&self, size: Bytes, full: u32) -> Vec<&'static str> {
        let [before, least, after] = self.free;
        // The file system needs some of the card for itself: ext4 7 % of 32 GiB.
        let slack = Bytes(size.get() / 50);
        let kept = Bytes(size.get() / 10);
        let room = Bytes(size.get() / 100 * u64::from(100 - full));
        let faults = [
            (before > room || before + slack * 4 < room, "it was not as full as it should be"),
            (least + slack < kept, "too little space was left"),
            (after + slack < before, "space is missing afterwards"),
            // What a killed test leaves is a directory of ours, which the next one removes.
            (self.left > 0 && self.status != "killed", "files are left"),
            (!self.is_photo_same, "a file of the user's has changed"),
            (self.checked != 0, "the file system is not clean"),
        ];
        faults.into_iter().filter_map(|(is_so, what)| is_so.then_some(what)).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_run_is_read_and_its_faults_are_seen() {
        let line =
            "RUN vfat 3 80 0 10.5 12.0 4000000 2000000 4000000 0 same 0 {\"verdict\":\"genuine\"}";
        let seen = Seen::all(&format!("talk\n{line}\nRUN ext4 1 0 no-file-system\n")).unwrap();
        assert_eq!(seen.len(), 2);
        assert!(seen[1].run.is_none());
        let run = seen[0].run.as_ref().unwrap();
        assert_eq!((run.verdict(), run.seconds), ("genuine", 1.5));
        assert!(run.faults(Bytes::gib(20), 80).is_empty());
        assert_eq!(run.faults(Bytes::gib(20), 0), ["it was not as full as it should be"]);
        let bad = line.replace("2000000 4000000 0 same 0", "1000000 3000000 1 changed 1");
        let bad = Seen::all(&bad).unwrap().remove(0).run.unwrap();
        assert_eq!(bad.faults(Bytes::gib(20), 80).len(), 5);
        assert!(Seen::all("RUN vfat 3 80 0 10.5").is_err());
    }
}
