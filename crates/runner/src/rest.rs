//! The pause before a phase, in which the computer comes to rest.
//!
//! On a kernel's processor scheduler what a process has just done weighs on where it and the
//! kernel's own workers run next, and where storage answers within tens of microseconds that decides
//! the figure: without a pause the same 4 KiB reads of a loop device over memory ran at 23 to
//! 33 k IOPS from one run to the next, after 100 ms of rest at 31 to 32 k each time, after 300 ms
//! no differently. fio has the same rest before each job, since it starts a process for it.

use cardproof_io::{Target, Wait};
use cardproof_units::Nanos;

/// After this the history no longer shows; it is three times the 32 ms in which Linux's record of a
/// task's load halves (`LOAD_AVG_PERIOD`).
const REST_MAX: Nanos = Nanos::from_millis(100);

/// A phase is not delayed by more than this part of its own time.
const PART_OF_PHASE: u64 = 10;

/// Rests on `target` before a phase of `time`, a tenth of it at most. A phase that ends by its
/// count alone begins at once, and so does one on a model, whose clock no scheduler touches.
pub(crate) fn rest_before(target: &mut dyn Target, time: Option<Nanos>) {
    let Some(time) = time.filter(|_| target.cost().is_some()) else {
        return;
    };
    let until = target.now() + REST_MAX.min(time / PART_OF_PHASE);
    // Nothing is in flight, so that this only waits. An engine that fails here fails in the phase.
    let _ = target.complete(Wait::Until(until), &mut Vec::new());
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use cardproof_io::{
        Abilities, Completion, NullTarget, Op, Slot, Submission, SubmitError, TargetError, Usage,
    };
    use cardproof_units::Bytes;

    use super::*;

    /// A target whose clock goes on by waiting alone; with or without a cost to the computer.
    struct Waited {
        null: NullTarget,
        now: Nanos,
        cost: Option<Usage>,
    }

    impl Target for Waited {
        fn abilities(&self) -> &Abilities {
            self.null.abilities()
        }

        fn now(&mut self) -> Nanos {
            self.now
        }

        fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
            self.null.prepare(slots, buffer_size)
        }

        fn cost(&self) -> Option<Usage> {
            self.cost
        }

        fn buffer(&mut self, slot: Slot) -> &mut [u8] {
            self.null.buffer(slot)
        }

        fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
            self.null.submit(op)
        }

        fn complete(&mut self, wait: Wait, _: &mut Vec<Completion>) -> Result<(), TargetError> {
            if let Wait::Until(until) = wait {
                self.now = until;
            }
            Ok(())
        }
    }

    /// How long the rest before a phase of `time` is.
    fn rest(cost: Option<Usage>, time: Option<Nanos>) -> Nanos {
        let null = NullTarget::new(Bytes::mib(1)).unwrap();
        let mut target = Waited { null, now: Nanos::ZERO, cost };
        rest_before(&mut target, time);
        target.now
    }

    #[test]
    fn a_phase_waits_a_tenth_of_its_time_and_no_longer_than_the_history_lasts() {
        let cost = Some(Usage::default());
        assert_eq!(rest(cost, Some(Nanos::from_millis(200))), Nanos::from_millis(20));
        assert_eq!(rest(cost, Some(Nanos::from_secs(60))), REST_MAX);
    }

    #[test]
    fn a_count_of_operations_and_a_model_begin_at_once() {
        assert_eq!(rest(Some(Usage::default()), None), Nanos::ZERO);
        assert_eq!(rest(None, Some(Nanos::from_secs(60))), Nanos::ZERO);
    }
}
