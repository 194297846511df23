//! What a simulated card's parameters say of each quantity, and whether a claim agrees.

use cardproof_evidence::geometry::{Finding, Mapping, Value};
use cardproof_sim::model::{Hybrid, PageMap, Writing};
use cardproof_units::Nanos;

use super::card::Made;

/// What came of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Claimed rightly.
    Right,
    /// Claimed wrongly, or claimed where there is nothing.
    Wrong,
    /// Not claimed, though the card has it.
    Missed,
    /// Not claimed, and the card has no such thing.
    Nothing,
}

/// A truth, and how far a claim may be off.
enum Truth {
    Nothing,
    Number { value: f64, factor: f64 },
    Mapping(Mapping),
}

impl Truth {
    const fn exactly(value: u64) -> Self {
        Self::Number { value: value as f64, factor: 1.0 }
    }
}

/// What came of the quantity `name` of the card `made`.
pub(super) fn outcome(name: &str, finding: &Finding, made: &Made) -> Outcome {
    let truth = truth(name, made);
    match (finding.claim(), truth) {
        (None, Truth::Nothing) => Outcome::Nothing,
        (None, _) => Outcome::Missed,
        (Some(_), Truth::Nothing) => Outcome::Wrong,
        (Some(claim), truth) if agrees(claim.value, &truth) => Outcome::Right,
        (Some(_), _) => Outcome::Wrong,
    }
}

fn agrees(claimed: Value, truth: &Truth) -> bool {
    let claimed = match (claimed, truth) {
        (Value::Mapping(claimed), Truth::Mapping(truth)) => return claimed == *truth,
        (Value::Bytes(bytes), _) => bytes.as_f64(),
        (Value::Units(count), _) => f64::from(count),
        (Value::Rate(rate), _) => rate.0,
        (Value::Mapping(_), _) => return false,
    };
    let Truth::Number { value, factor } = truth else { return false };
    claimed <= value * factor && claimed * factor >= *value
}

fn truth(name: &str, made: &Made) -> Truth {
    let boundaries = made.model.read.boundaries;
    match (name, &made.model.write) {
        ("allocation_unit", _) => Truth::exactly(made.model.allocation_unit.get()),
        ("page", _) if boundaries.page_crossing > Nanos::ZERO => {
            Truth::exactly(boundaries.page.get())
        }
        ("mapping", Writing::Hybrid(_)) => Truth::Mapping(Mapping::Units),
        ("mapping", Writing::PageMap(_)) => Truth::Mapping(Mapping::Pages),
        (_, Writing::Hybrid(hybrid)) => of_hybrid(name, hybrid),
        (_, Writing::PageMap(page_map)) => of_page_map(name, page_map),
    }
}

fn of_hybrid(name: &str, hybrid: &Hybrid) -> Truth {
    match name {
        "open_units_linear" => Truth::exactly(hybrid.open_units.into()),
        "open_units_random" => {
            hybrid.log_units.map_or(Truth::Nothing, |units| Truth::exactly(units.into()))
        }
        "small_write_threshold" => Truth::exactly(hybrid.log_below.get()),
        "first_area" if hybrid.fat_zone.get() > 0 => Truth::exactly(hybrid.fat_zone.get()),
        _ => Truth::Nothing,
    }
}

fn of_page_map(name: &str, page_map: &PageMap) -> Truth {
    match (name, &page_map.slc, &page_map.map_cache) {
        ("slc_cache", Some(slc), _) => Truth::Number { value: slc.size.as_f64(), factor: 1.05 },
        ("slc_recovery", Some(slc), _) => {
            Truth::Number { value: slc.idle_fold_rate.0, factor: 1.1 }
        }
        ("map_reach", _, Some(map)) => Truth::Number { value: map.reach.as_f64(), factor: 1.25 },
        _ => Truth::Nothing,
    }
}
