//! How far an endurance test is on its way, and how long the rest takes.

use cardproof_probe::endure::Wish;
use cardproof_units::{Bytes, Nanos};

/// No time is guessed from a smaller share of the way.
const SHARE_MIN: f64 = 0.01;

/// The way to the end that was asked for; without one, a cycle at a time.
#[derive(Debug, Default)]
pub(super) struct Way {
    cycles_max: Option<u64>,
    bytes_max: Option<Bytes>,
    /// Where this session began: the share that was done, and when that was.
    begun: Option<(f64, Nanos)>,
}

impl Way {
    /// The way to what `wish` asks for.
    pub(super) fn to(wish: &Wish) -> Self {
        Self { cycles_max: wish.cycles_max, bytes_max: wish.bytes_max, begun: None }
    }

    /// The share of the way that is done, 0 to 1, in `cycle` (from 1) of which the share `of_cycle` is done, once so much
    /// is `written` in all. The test ends at whichever limit comes first.
    pub(super) fn done(&self, cycle: u64, of_cycle: f64, written: Bytes) -> f64 {
        let cycles = cycle.saturating_sub(1) as f64 + of_cycle;
        let of_cycles = self.cycles_max.map(|most| cycles / most.max(1) as f64);
        let of_bytes = self.bytes_max.map(|most| written.as_f64() / most.as_f64().max(1.0));
        let of_limits = of_cycles.into_iter().chain(of_bytes).reduce(f64::max);
        of_limits.unwrap_or(of_cycle).min(1.0)
    }

    /// How long the rest takes at the rate of this session, `elapsed` after its begin; `None` without an end that was
    /// asked for, and too early to tell.
    pub(super) fn time_left(&mut self, done: f64, elapsed: Nanos) -> Option<Nanos> {
        if self.cycles_max.is_none() && self.bytes_max.is_none() {
            return None;
        }
        // A device that came back begins a session of its own.
        let begun = self.begun.filter(|(_, at)| *at <= elapsed);
        let (done_then, at) = *self.begun.insert(begun.unwrap_or((done, elapsed)));
        let share = done - done_then;
        let time = elapsed.saturating_sub(at).as_secs_f64();
        (share >= SHARE_MIN).then(|| Nanos::from_secs_f64(time / share * (1.0 - done)))
    }
}

#[cfg(test)]
mod tests {
    use cardproof_probe::endure::Pattern;

    use super::*;

    fn way(cycles_max: Option<u64>, bytes_max: Option<Bytes>) -> Way {
        Way::to(&Wish { pattern: Pattern::Random, cycles_max, bytes_max })
    }

    #[test]
    fn the_share_is_of_the_limit_that_comes_first() {
        let done = |way: Way| way.done(3, 0.75, Bytes::gib(6));
        assert_eq!(done(way(Some(11), None)), 0.25);
        assert_eq!(done(way(None, Some(Bytes::gib(8)))), 0.75);
        assert_eq!(done(way(Some(11), Some(Bytes::gib(8)))), 0.75);
        assert_eq!(done(way(None, None)), 0.75, "of the cycle, where no end was asked for");
        assert_eq!(done(way(None, Some(Bytes::gib(1)))), 1.0);
    }

    #[test]
    fn the_rest_takes_as_long_as_this_session_shows() {
        let mut way = way(Some(10), None);
        let second = Nanos::from_secs;
        assert_eq!(way.time_left(0.5, second(100)), None, "the session has only begun");
        assert_eq!(way.time_left(0.505, second(101)), None);
        assert_eq!(way.time_left(0.6, second(140)), Some(second(160)));
        assert_eq!(way.time_left(0.6, second(3)), None, "the device came back");
        assert_eq!(Way::default().time_left(0.5, second(9)), None, "no end was asked for");
    }
}
