//! Values as devices tell them, with how exact they are.

use cardproof_evidence::health::{Reading, Unit, Value};

use super::Sourced;

/// A value as devices tell it: per cents in whole numbers, and counts exactly.
pub(super) const fn value(name: &'static str, value: f64, unit: Unit) -> Value {
    match unit {
        Unit::PercentUsed | Unit::RatedLifeUsed | Unit::PercentLeft => {
            Value::rounded(name, value, unit, 1.0)
        }
        Unit::Count | Unit::Level | Unit::BytesWritten => Value::exact(name, value, unit),
    }
}

/// A value in hundredths of a per cent.
pub(super) const fn hundredths(name: &'static str, value: f64, unit: Unit) -> Value {
    Value::rounded(name, value, unit, 0.01)
}

/// A reading of `values`, without a date.
pub(super) fn with_values(values: Vec<Value>) -> Sourced {
    Sourced { reading: Reading { values, time_s: None, rejected: None }, ..Sourced::default() }
}
