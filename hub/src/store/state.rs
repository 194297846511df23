//! Who sees a submission.

/// The state of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// All see it, and it counts.
    Public,
    /// As public; an administrator has looked at it and agrees with what it calls things.
    Approved,
    /// It can be seen under its own address, is in no list, and counts nowhere before an administrator has looked at it.
    Waiting,
    /// Administrators alone see it.
    Hidden,
}

impl State {
    /// All states.
    pub const ALL: [Self; 4] = [Self::Public, Self::Approved, Self::Waiting, Self::Hidden];

    /// Its word in the database.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Approved => "approved",
            Self::Waiting => "waiting",
            Self::Hidden => "hidden",
        }
    }

    /// The state with the word `word`; hidden where there is none.
    #[must_use]
    pub fn of(word: &str) -> Self {
        Self::ALL.into_iter().find(|state| state.word() == word).unwrap_or(Self::Hidden)
    }

    /// Whether it is in lists and counts.
    #[must_use]
    pub const fn counts(self) -> bool {
        matches!(self, Self::Public | Self::Approved)
    }
}

/// What a row of `submissions` has to meet to be in lists.
pub(crate) const COUNTS: &str = "state IN ('public', 'approved')";
