//! A profile: named phases in their order, and where to find one.

use cardproof_units::{Bytes, Nanos};

use crate::{PhaseSpec, standard};

/// A named run.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name.
    pub name: &'static str,
    /// Raised whenever figures stop being comparable with those of the version before.
    pub version: u32,
    /// What it is for, in one line.
    pub purpose: &'static str,
    /// Where its method comes from, in one line.
    pub source: &'static str,
    /// The range of addresses it works in.
    pub span: Bytes,
    /// How long it takes unless told otherwise.
    pub time_budget: Nanos,
    /// Its phases, in order.
    pub phases: Vec<PhaseSpec>,
}

impl Profile {
    /// The most it may write to the target; `None` where only time bounds it.
    #[must_use]
    pub fn bytes_written_max(&self) -> Option<Bytes> {
        self.phases.iter().map(PhaseSpec::bytes_written_max).sum()
    }

    /// The same profile on another span: phases that end with the span's bytes follow it.
    #[must_use]
    pub fn with_span(mut self, span: Bytes) -> Self {
        for phase in &mut self.phases {
            if phase.ends.bytes == Some(self.span) {
                phase.ends.bytes = Some(span);
            }
        }
        self.span = span;
        self
    }
}

/// The names of all profiles.
#[must_use]
pub fn names() -> &'static [&'static str] {
    &["standard"]
}

/// The profile called `name`.
#[must_use]
pub fn find(name: &str) -> Option<Profile> {
    match name {
        "standard" => Some(standard::profile()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_profile_exists_and_can_run_in_its_span() {
        for name in names() {
            let profile = find(name).unwrap();
            assert_eq!(profile.name, *name);
            for phase in &profile.phases {
                assert!(phase.blocks_in(profile.span).is_ok(), "{name}: {}", phase.name);
            }
        }
        assert_eq!(find("no such profile"), None);
    }
}
