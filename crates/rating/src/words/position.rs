//! The position of a card among the published ones, in words.

use crate::compare::Position;

impl Position {
    /// In one sentence.
    #[must_use]
    pub fn in_words(&self) -> String {
        let Self { what, faster_than, of, .. } = self;
        let place = format!(
            "{what}: faster than {faster_than} of the {of} published measurements that cardproof knows"
        );
        if self.is_like_with_like {
            format!("{place} with the same method and the same kind of host.")
        } else {
            let differs_in: Vec<String> = self.differs_in.iter().map(ToString::to_string).collect();
            format!(
                "{place}. This is only a rough comparison. Different or unknown: {}.",
                differs_in.join(", ")
            )
        }
    }
}
