//! How much a test tries: a part of its cases in the gate, all of them in a thorough run.

use std::env;
use std::iter::StepBy;

/// The variable that asks for a thorough run; `cargo xtask nightly` sets it.
pub const THOROUGH: &str = "CARDPROOF_TEST_THOROUGH";

/// Whether all cases are tried.
fn is_thorough() -> bool {
    env::var_os(THOROUGH).is_some()
}

/// The cases to try: in a thorough run all, elsewhere the first of each `step`.
///
/// # Panics
/// Where `step` is 0.
pub fn some_of<I: IntoIterator>(cases: I, step: usize) -> StepBy<I::IntoIter> {
    cases.into_iter().step_by(if is_thorough() { 1 } else { step })
}

/// How often to try: `all` in a thorough run, elsewhere `few`.
#[must_use]
pub fn few_or_all<N>(few: N, all: N) -> N {
    if is_thorough() { all } else { few }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thorough_run_tries_all_and_the_gate_a_part_with_the_first() {
        let (cases, count) = if is_thorough() { (vec![1, 2, 3, 4, 5], 9) } else { (vec![1, 4], 2) };
        assert_eq!(some_of(1..=5, 3).collect::<Vec<_>>(), cases);
        assert_eq!(few_or_all(2, 9), count);
    }
}
