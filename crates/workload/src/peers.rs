//! Profiles that do what other tools do, so that new figures stand beside years of old ones.
//!
//! Each takes the tool's sizes, order, depth, caching, flushes and state of the file, and names
//! its figures in the tool's units, whatever the tool means by them. What cannot be done alike is
//! said in the profile's notes. None writes what the tool writes: zeros and repeated blocks raise the rates of
//! storage that compresses, so data is incompressible here as everywhere.

mod agnostics;
mod crystaldiskmark;
mod fio;
mod iozone;
mod scripts;
mod shapes;

use crate::Profile;

/// A profile's name, and what makes it.
type Entry = (&'static str, fn() -> Profile);

/// The profiles, by name.
const PROFILES: &[Entry] = &[
    ("sd-card-bench", iozone::sd_card_bench),
    ("microsd-benchmarks", scripts::microsd_benchmarks),
    ("sd6-256m", iozone::sd6_256m),
    ("fio-randrw75", fio::randrw75),
    ("fio-fsync", fio::fsync),
    ("agnostics", agnostics::profile),
    ("pibenchmarks", scripts::pibenchmarks),
    ("crystaldiskmark", crystaldiskmark::profile),
];

/// Their names.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PROFILES.iter().map(|(name, _)| *name)
}

/// The one called `name`.
pub(crate) fn find(name: &str) -> Option<Profile> {
    PROFILES.iter().find(|(known, _)| *known == name).map(|(_, make)| make())
}

#[cfg(test)]
mod tests {
    use cardproof_io::FileState;
    use cardproof_units::{Bytes, Nanos};

    use super::*;
    use crate::{Origin, Role, TimeLimit};

    #[test]
    fn figures_name_phases_and_figures_that_are_there() {
        for profile in PROFILES.iter().map(|(_, make)| make()) {
            let has_phase = |name: &String| profile.phases.iter().any(|phase| phase.name == *name);
            for (at, figure) in profile.figures.iter().enumerate() {
                let before = |name: &str| profile.figures[..at].iter().any(|f| f.name == name);
                match &figure.origin {
                    Origin::Phases { phases, .. } => {
                        assert!(!phases.is_empty() && phases.iter().all(has_phase), "{figure:?}");
                    }
                    Origin::Sum { terms } => {
                        assert!(terms.iter().all(|(_, name)| before(name)), "{figure:?}");
                    }
                    Origin::SetsMet { sets } => {
                        assert!(sets.iter().flatten().all(|limit| before(&limit.figure)));
                    }
                }
            }
            for end in &profile.early_ends {
                assert!(has_phase(&end.after), "{end:?}");
            }
        }
    }

    #[test]
    fn names_are_unique_within_a_profile() {
        for profile in PROFILES.iter().map(|(_, make)| make()) {
            let mut names: Vec<&str> = profile.phases.iter().map(|p| p.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), profile.phases.len(), "{}", profile.name);
            let mut names: Vec<&str> = profile.figures.iter().map(|f| f.name.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), profile.figures.len(), "{}", profile.name);
        }
    }

    /// Every phase that reads finds a file that a phase before it has written as far.
    #[test]
    fn nothing_reads_what_was_not_written() {
        for profile in PROFILES.iter().map(|(_, make)| make()) {
            let mut filled = Bytes::ZERO;
            for phase in &profile.phases {
                let span = phase.span_within(profile.span).round_down_to(phase.block_size);
                if phase.arrangement.file != FileState::AsIs {
                    filled = Bytes::ZERO;
                }
                assert!(!phase.reads() || span <= filled, "{}: {}", profile.name, phase.name);
                let covers = phase.ends.bytes >= Some(span) && phase.ends.time == TimeLimit::None;
                if phase.read_percent == 0 && (phase.role == Role::LayOut || covers) {
                    filled = filled.max(span);
                }
            }
        }
    }

    /// What is written is known before a run, and no more than the tool itself writes.
    #[test]
    fn what_is_written_is_bounded() {
        let mib = |name: &str| find(name).unwrap().bytes_written_max().unwrap().get() >> 20;
        // Eight record sizes, three passes each; 16 MiB records fit a file of 100 MiB six times.
        assert_eq!(mib("sd-card-bench"), 8 * 300);
        assert_eq!(mib("microsd-benchmarks"), 400 + 300);
        assert_eq!(mib("sd6-256m"), 3 * 256);
        assert_eq!(mib("fio-randrw75"), 100 + 100);
        assert_eq!(mib("fio-fsync"), 32 + 128);
        assert_eq!(mib("agnostics"), 3 * 3 * 256);
        assert_eq!(mib("pibenchmarks"), 520 + 80 + 80 + 240);
        assert_eq!(mib("crystaldiskmark"), 1024 + 2 * 4 * 5 * 1024);
    }

    #[test]
    fn crystaldiskmark_measures_five_times_five_seconds() {
        let profile = find("crystaldiskmark").unwrap();
        let measuring = profile.phases.iter().filter(|phase| phase.role == Role::Measure);
        let times: Vec<TimeLimit> = measuring.map(|phase| phase.ends.time).collect();
        assert_eq!(times, vec![TimeLimit::Fixed(Nanos::from_secs(5)); 4 * 3 * 5]);
    }
}
