//! The tests that wait for a worker, of programs that come one by one as cargo builds them.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::order::Order;
use super::programs::Test;

/// After so many tests it is said how many are left.
const BETWEEN_NOTES: usize = 250;

/// Tests on their way to the workers.
pub(super) struct Pool {
    state: Mutex<State>,
    changed: Condvar,
    order: Order,
}

/// As long as it lives, tests come.
pub(super) struct Feeding<'p>(&'p Pool);

impl Drop for Feeding<'_> {
    fn drop(&mut self) {
        self.0.state().is_complete = true;
        self.0.changed.notify_all();
    }
}

#[derive(Default)]
struct State {
    /// The one to be taken next is the last.
    tests: Vec<Test>,
    /// Whether tests may begin before all have come.
    is_begun: bool,
    /// Whether all tests have come.
    is_complete: bool,
}

impl Pool {
    /// An empty pool that hands its tests out in `order`.
    pub(super) fn new(order: Order) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), order }
    }

    /// Adds `tests`.
    pub(super) fn add(&self, tests: Vec<Test>) {
        let mut state = self.state();
        state.tests.extend(tests);
        self.order.sort(&mut state.tests);
        self.changed.notify_all();
    }

    /// What says, when it is dropped, that no more tests come.
    pub(super) const fn feeding(&self) -> Feeding<'_> {
        Feeding(self)
    }

    /// Takes all tests away that have not begun.
    pub(super) fn withdraw(&self) {
        self.state().tests.clear();
    }

    /// Lets tests begin before all have come.
    pub(super) fn begin(&self) {
        self.state().is_begun = true;
        self.changed.notify_all();
    }

    /// The next test for the worker `number`, who waits for one; `None` where none is left and none will come.
    ///
    /// While programs are being built, the compilers use all processors most of the time, so that one worker is
    /// enough. An order that is drawn is one of all tests, so that it is the same in the next run.
    pub(super) fn take(&self, number: usize) -> Option<Test> {
        let mut state = self.state();
        let is_early = number == 0 && !self.order.is_drawn();
        loop {
            let has_early = is_early && state.is_begun && !state.tests.is_empty();
            if state.is_complete || has_early {
                break;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let test = state.tests.pop();
        let left = state.tests.len();
        if state.is_complete && test.is_some() && left.is_multiple_of(BETWEEN_NOTES) {
            println!("   {left} tests left");
        }
        test
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::order::Times;
    use super::super::programs::Program;
    use super::*;

    fn test(name: &str) -> Test {
        let program = Arc::new(Program::at("io", "/t/io", "/w/crates/io"));
        Test { program, name: name.to_owned(), is_ignored: false }
    }

    fn taken(pool: &Pool, worker: usize) -> Option<String> {
        pool.take(worker).map(|test| test.name)
    }

    #[test]
    fn the_first_worker_takes_what_has_come_and_all_take_the_rest() {
        let pool = Pool::new(Order::new(Times::default(), None));
        let feeding = pool.feeding();
        pool.add(vec![test("a")]);
        pool.begin();
        assert_eq!(taken(&pool, 0).as_deref(), Some("a"));
        std::thread::scope(|scope| {
            let other = scope.spawn(|| taken(&pool, 1));
            pool.add(vec![test("b")]);
            assert_eq!(taken(&pool, 0).as_deref(), Some("b"));
            pool.add(vec![test("c")]);
            drop(feeding);
            assert_eq!(other.join().unwrap().as_deref(), Some("c"));
        });
        assert_eq!([taken(&pool, 0), taken(&pool, 1)], [None, None]);
    }
}
