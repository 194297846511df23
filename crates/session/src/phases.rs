//! The phases of a profile, once or several times over.

use cardproof_record::{CapacityTest, ProfileInfo, Record, Trial};
use cardproof_runner::{Plan, Repeat};
use cardproof_sim::Keeping;
use cardproof_units::{Bytes, Nanos, Seed};
use cardproof_workload::{Profile, TimeLimit};

use crate::announcement::{Effect, Prepared, Writes};
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::frontend::Frontend;
use crate::session::Bench;
use crate::target::{Span, Storage, StorageNeeds, Writing};

/// The phases of a profile.
#[derive(Clone, Debug)]
pub struct Phases {
    /// What is run.
    pub profile: Profile,
    /// What is run instead where the card's command queue or cache is not used, without which
    /// `profile` can say nothing.
    pub without_queue_or_cache: Option<Profile>,
    /// How long one run may take; what the profile says where it is absent.
    pub time_budget: Option<Nanos>,
    /// How often it is run.
    pub repeat: Repeat,
    /// What a test of the capacity has found just before, to be kept with the record.
    pub capacity: Option<CapacityTest>,
}

impl Phases {
    /// What is run in the `span` that there is. A span that the user named is as it should be for
    /// the run; the verdicts know what it means.
    fn plan(&self, seed: Seed, span: Bytes) -> Plan {
        let wanted = self.profile.span;
        let mut profile = self.profile.clone().with_span(span);
        // Phases tell of a span that is smaller than the profile's own.
        profile.span = wanted;
        Plan {
            seed,
            span_offset: Bytes::ZERO,
            span,
            time_budget: self.time_budget.unwrap_or(profile.time_budget),
            profile,
        }
    }

    fn effect(&self, plan: &Plan) -> Effect {
        let runs = u64::from(self.repeat.runs);
        let time = plan.time_budget * runs;
        let writes = match plan.profile.bytes_written_max() {
            Some(of_one_run) => Writes::AtMost(Bytes(of_one_run.get().saturating_mul(runs))),
            None => Writes::AsTimeAllows,
        };
        Effect {
            time_max: plan
                .profile
                .is_bounded_by_time()
                .then(|| time + plan.check_time_max() * runs),
            time_guess: fixed_time(plan).map_or(time, |fixed| fixed.min(plan.time_budget) * runs),
            writes,
            span: plan.span,
            files: None,
        }
    }
}

impl Experiment for Phases {
    type Place = Storage;

    fn needs(&mut self, _seed: Seed) -> StorageNeeds {
        StorageNeeds::new(Span::new(self.profile.span), Writing::WhereAllowed, Keeping::Bytes)
    }

    fn prepare(
        &mut self,
        place: &mut Storage,
        draft: &mut Record,
        frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        let idle = cardproof_rating::idle_queue_or_cache(&place.surroundings.device);
        if let (Some(why), Some(other)) = (idle, self.without_queue_or_cache.take()) {
            frontend.note(&format!(
                "{} cannot be tested here: {why}. Testing {} instead.",
                self.profile.name.to_uppercase(),
                other.name.to_uppercase()
            ));
            self.profile = other;
        }
        let plan = self.plan(draft.seed, place.span);
        draft.profile = ProfileInfo {
            name: plan.profile.name.clone(),
            version: plan.profile.version,
            time_budget_ns: plan.time_budget,
            extra: Default::default(),
        };
        let runs = self.repeat.runs;
        let times = if runs > 1 { format!("-x{runs}") } else { String::new() };
        let effect = self.effect(&plan);
        let checks = plan.check_time_max() * u64::from(runs);
        let decided_by = decided_by(&plan, self.repeat);
        let mut notes = plan.profile.notes;
        let is_read_only = place.target.abilities().read_only;
        if checks > Nanos::ZERO && place.simulated_card.is_none() && !is_read_only {
            notes.push(format!(
                "The time includes at most {} for the data check.",
                checks.in_whole_seconds()
            ));
        }
        Ok(Prepared { name: format!("{}{times}", plan.profile.name), decided_by, effect, notes })
    }

    fn run(&mut self, bench: &mut Bench<'_, Storage>) {
        let plan = self.plan(bench.seed, bench.place.span);
        bench.record = cardproof_runner::run_repeatedly(
            &mut *bench.place.target,
            &plan,
            self.repeat,
            bench.record.clone(),
            &mut bench.recorder,
            bench.stop,
        );
        // Its own record keeps it meanwhile. A save of this record with it would write a million bytes more, perhaps to
        // the storage that is measured.
        bench.record.trial = self.capacity.take().map(Trial::Capacity);
    }
}

/// How long one run takes where each phase has a time of its own, as in a fio job file.
fn fixed_time(plan: &Plan) -> Option<Nanos> {
    let times = plan.profile.phases.iter().map(|phase| match phase.ends.time {
        TimeLimit::Fixed(time) => Some(time),
        TimeLimit::Share(_) | TimeLimit::None => None,
    });
    times
        .collect::<Option<Vec<_>>>()
        .map(|all| all.into_iter().fold(Nanos::ZERO, Nanos::saturating_add))
}

/// All that decides what a run of `plan` comes to.
fn decided_by(plan: &Plan, repeat: Repeat) -> String {
    let Plan { profile, seed, span_offset, span, time_budget } = plan;
    let Repeat { runs, until_steady } = repeat;
    let method = (&profile.phases, &profile.figures, &profile.early_ends, profile.span);
    let range = (span_offset, span, time_budget);
    serde_json::json!([profile.name, profile.version, method, seed, range, runs, until_steady])
        .to_string()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use cardproof_workload::standard;

    use super::*;
    use crate::frontend::Event;
    use crate::options::{Access, Identity, Options};
    use crate::session::measure;

    /// Whether each record that was saved has the test of the capacity.
    #[derive(Default)]
    struct Saves(Vec<bool>);

    impl Frontend for Saves {
        fn tell(&mut self, event: Event<'_>) {
            if let Event::Saved(record) = event {
                self.0.push(record.capacity().is_some());
            }
        }
    }

    #[test]
    fn a_test_of_the_capacity_is_written_once_with_the_speed() {
        let directory = tempfile::tempdir().unwrap();
        let phases = Phases {
            profile: standard::check(),
            without_queue_or_cache: None,
            time_budget: None,
            repeat: Repeat::ONCE,
            capacity: Some(CapacityTest::default()),
        };
        let options = Options {
            target: "sim:sandisk-ultra-a1".into(),
            size: None,
            seed: Seed::from_bits(1),
            access: Access::default(),
            expect_device: None,
            identity: Identity { id: "id".to_owned(), label: None, created: String::new() },
            records: Ok(directory.path().to_owned()),
            does_without_record: false,
        };
        let mut saves = Saves::default();
        let measured = measure(phases, &options, &mut saves, &AtomicBool::new(false)).unwrap();
        let (at_end, meanwhile) = saves.0.split_last().unwrap();
        assert!(meanwhile.len() > 5 && !meanwhile.contains(&true), "{:?}", saves.0);
        assert!(*at_end && measured.record.capacity().is_some());
    }
}
