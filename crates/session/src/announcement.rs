//! What an experiment is about to do to the storage, said before the first write.

use cardproof_record::TargetKind;
use cardproof_units::{Bytes, Nanos};

/// What an experiment will do, known once its target is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prepared {
    /// What distinguishes the experiment from others of its kind, such as a profile's name: the
    /// record of a simulated run is called after it, the card and the seed.
    pub name: String,
    /// All else that decides the result on a simulated card, as JSON: another text is another
    /// record.
    pub decided_by: String,
    /// What it costs the storage and the user.
    pub effect: Effect,
    /// Further sentences that the user should read before it begins.
    pub notes: Vec<String>,
}

/// What an experiment costs the storage and the user.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effect {
    /// The longest that it may take; `None` where it takes as long as the storage needs.
    pub time_max: Option<Nanos>,
    /// The time in which a progress bar fills, which is an estimate where `time_max` is `None`.
    pub time_guess: Nanos,
    /// What it writes.
    pub writes: Writes,
    /// How much of the target it works in, from its start: the size of its own file or files in a
    /// directory.
    pub span: Bytes,
    /// How many files it makes in a directory; `None` for one.
    pub files: Option<u64>,
}

/// What an experiment writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Writes {
    /// Nothing.
    #[default]
    Nothing,
    /// At most so much in all.
    AtMost(Bytes),
    /// About so much in all.
    About(Bytes),
    /// As much as the time allows.
    AsTimeAllows,
}

/// Where it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    /// To files of our own, which are removed.
    OwnFiles,
    /// Over what a device or file of the user's holds, of this size; it is called by this word.
    Over(Bytes, &'static str),
}

/// What a target that is overwritten is called.
pub(crate) const fn noun(kind: TargetKind) -> &'static str {
    match kind {
        TargetKind::File => "file",
        _ => "device",
    }
}

impl Effect {
    /// The effect in a sentence; `None` where nothing is written.
    pub(crate) fn sentence(&self, place: Where) -> Option<String> {
        let takes = match self.time_max {
            // Most of such a time is for what only a fault asks for.
            Some(time) if self.time_guess > Nanos::ZERO && time >= self.time_guess * 2 => format!(
                "Takes about {}, at most {}. ",
                self.time_guess.in_whole_seconds(),
                time.in_whole_seconds()
            ),
            Some(time) => format!("Takes at most {}. ", time.in_whole_seconds()),
            None => String::new(),
        };
        let (much, most) = match self.writes {
            Writes::Nothing => return None,
            Writes::AsTimeAllows => {
                let span = self.span;
                return Some(match place {
                    Where::OwnFiles => format!(
                        "{takes}Writes to a file of {span}, as often as that time allows; the file is \
                         removed afterwards."
                    ),
                    Where::Over(..) => {
                        format!("{takes}OVERWRITES the first {span}, as often as that time allows.")
                    }
                });
            }
            Writes::AtMost(most) => ("at most", most),
            Writes::About(most) => ("about", most),
        };
        Some(match (place, self.files) {
            (Where::OwnFiles, None) => format!(
                "{takes}Writes {much} {most} in all to a file of {}; the file is removed afterwards.",
                self.span
            ),
            (Where::OwnFiles, Some(1)) => format!(
                "{takes}Writes {much} {most} in all to a file of {}; the file is removed afterwards.",
                self.span
            ),
            (Where::OwnFiles, Some(files)) => format!(
                "{takes}Writes {much} {most} in all to {files} files; these files have together at most \
                 {} and are removed afterwards.",
                self.span
            ),
            (Where::Over(size, noun), _) => {
                let share = |part: Bytes| 100.0 * part.as_f64() / size.as_f64().max(1.0);
                format!(
                    "{takes}OVERWRITES the first {} ({:.1} % of the {noun}) with {much} {most} \
                     in all. This is as much wear as filling {:.1} % of the {noun} once.",
                    self.span,
                    share(self.span),
                    share(most)
                )
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_destroyed_is_said_with_its_share_and_its_wear() {
        let effect = Effect {
            writes: Writes::AtMost(Bytes::mib(20)),
            span: Bytes::mib(10),
            ..Effect::default()
        };
        let said = effect.sentence(Where::Over(Bytes::mib(100), "device")).unwrap();
        assert_eq!(
            said,
            "OVERWRITES the first 10 MiB (10.0 % of the device) with at most 20 MiB in all. This is as much wear as filling 20.0 % of the device once."
        );
        let said = effect.sentence(Where::OwnFiles).unwrap();
        let ending = "at most 20 MiB in all to a file of 10 MiB; the file is removed afterwards.";
        assert!(said.ends_with(ending), "{said}");
        let one = Effect { files: Some(1), ..effect.clone() };
        let said = one.sentence(Where::OwnFiles).unwrap();
        assert!(said.ends_with("to a file of 10 MiB; the file is removed afterwards."), "{said}");
        let timed = |guess, most| {
            let (time_guess, time_max) = (Nanos::from_secs(guess), Some(Nanos::from_secs(most)));
            Effect { time_guess, time_max, ..effect.clone() }.sentence(Where::OwnFiles).unwrap()
        };
        assert!(timed(5, 63).starts_with("Takes about 5 s, at most 63 s. "), "{}", timed(5, 63));
        assert!(timed(60, 75).starts_with("Takes at most 75 s. "), "{}", timed(60, 75));
        let nothing = Effect { writes: Writes::Nothing, ..effect };
        assert_eq!(nothing.sentence(Where::OwnFiles), None);
    }
}
