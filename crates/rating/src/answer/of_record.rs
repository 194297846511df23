//! The answer as far as one record alone gives it, for the reports of saved records.

use cardproof_record::{Record, TargetKind};

use super::{Answer, Known, PowerFacts, Question, Real, SeenBeside, Untested};
use crate::capacity::Capacity;
use crate::data::wrong_data;
use crate::signs::{Seen, Signs};

impl Answer {
    /// The answer of `record`, whose phases measured the speed. A question at which its run did not look has no
    /// reply; `None` where there is nothing to judge the speed by.
    #[must_use]
    pub fn of_record(record: &Record) -> Option<Self> {
        (!record.phases.is_empty()).then(|| Self::of_parts(record, None))
    }

    /// The same of a record that is shared, with what a test of the capacity has `found`: the test itself is not
    /// shared.
    #[must_use]
    pub fn of_shared(record: &Record, found: Option<&Capacity>) -> Option<Self> {
        let is_told = !record.phases.is_empty() || found.is_some();
        is_told.then(|| Self::of_parts(record, found))
    }

    fn of_parts(record: &Record, found: Option<&Capacity>) -> Self {
        let seen = SeenBeside::of_record(record);
        let questions = match &seen {
            Some(_) => Question::ALL.to_vec(),
            None if record.phases.is_empty() => vec![Question::Real],
            None => questions_of(record),
        };
        let seen = seen.unwrap_or_else(|| SeenBeside {
            signs: Signs::new(&Seen::default()),
            power: power_of(record).unwrap_or_default(),
            untested: Untested::NotAsked,
            failure: None,
            earlier: None,
        });
        let known = Known {
            conditions: &record.conditions,
            speed: Some(record),
            capacity: record.capacity().map(|_| record),
            signs: &seen.signs,
            power: seen.power,
            untested: seen.untested,
            failure: seen.failure.as_deref(),
            earlier: seen.earlier.as_ref(),
            mounts: &[],
        };
        match found {
            None => Self::new(&known, &questions),
            Some(found) => {
                let real = || (Real::judged(found, &record.conditions, false), None);
                Self::from_real(&known, &questions, real)
            }
        }
    }
}

/// The questions of which `record` can tell anything. Another tool's output tells of the speed alone.
fn questions_of(record: &Record) -> Vec<Question> {
    if record.is_imported() {
        return vec![Question::Fast];
    }
    let is_simulated = record.conditions.target.kind == TargetKind::Simulated;
    let card = record.conditions.device.lowest().card.as_ref();
    let reports_life = card.is_some_and(|card| card.life_used_percent_max.is_some());
    let tells_health = record.data_check.is_some() || wrong_data(record).is_some() || reports_life;
    let tells_power = is_simulated || power_of(record).is_some();
    let is_told = |question: &Question| match question {
        Question::Healthy => tells_health,
        Question::Power => tells_power,
        Question::Real | Question::Fast | Question::SetUp => true,
    };
    Question::ALL.into_iter().filter(is_told).collect()
}

/// What the run saw of the computer's power. That it saw nothing may be because the computer does not tell.
fn power_of(record: &Record) -> Option<PowerFacts> {
    let surroundings = record.phases.iter().filter_map(|phase| phase.surroundings.as_deref());
    let climates: Vec<_> = surroundings.filter_map(|it| it.climate).collect();
    let was_low = climates.iter().any(|climate| climate.under_voltage_windows > 0);
    let was_throttled = climates.iter().any(|climate| climate.throttled_windows > 0);
    (was_low || was_throttled).then_some(PowerFacts { is_low: None, was_low, was_throttled })
}
