//! All profiles that come with cardproof, by name.

use crate::{Profile, application, honesty, peers, standard};

/// The names of all profiles.
#[must_use]
pub fn names() -> Vec<&'static str> {
    ["standard", "check", "a1", "a2", "honesty"].into_iter().chain(peers::names()).collect()
}

/// The profile called `name`.
#[must_use]
pub fn find(name: &str) -> Option<Profile> {
    match name {
        "standard" => Some(standard::profile()),
        "check" => Some(standard::check()),
        "a1" => Some(application::a1()),
        "a2" => Some(application::a2()),
        "honesty" => Some(honesty::profile()),
        _ => peers::find(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_profile_exists_and_can_run_in_its_span() {
        for name in names() {
            let profile = find(name).unwrap();
            assert_eq!(profile.name, name);
            for phase in &profile.phases {
                assert!(
                    phase.blocks_in(phase.span_within(profile.span)).is_ok(),
                    "{name}: {}",
                    phase.name
                );
            }
        }
        assert_eq!(find("no such profile"), None);
    }
}
