//! Real time and a card's virtual time, one from the other.

use std::time::{Duration, Instant};

use cardproof_units::Nanos;

/// How long a request's way from the reply before it may take without being seen by the card:
/// through FUSE, a loop device and the scheduler to the program and back. It is taken off every
/// pause between requests, so a program that asks at once is served as if its host were free.
const TRANSPORT: Duration = Duration::from_micros(1500);

/// Where a card's virtual time stands on the real clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeline {
    start: Instant,
    /// Virtual seconds in a real one.
    speed: f64,
}

impl Timeline {
    /// A card whose time zero is now.
    pub(crate) fn starting_now(speed: f64) -> Self {
        Self { start: Instant::now(), speed }
    }

    /// When, on the card's clock, a request came that was received at `received`.
    pub(crate) fn arrival(&self, received: Instant) -> Nanos {
        let since_start = received.saturating_duration_since(self.start);
        self.to_virtual(since_start.saturating_sub(TRANSPORT))
    }

    /// When something is due that is due at `due` on the card's clock.
    pub(crate) fn deadline(&self, due: Nanos) -> Instant {
        self.start + Duration::from(Nanos::from_secs_f64(due.as_secs_f64() / self.speed))
    }

    fn to_virtual(self, real: Duration) -> Nanos {
        Nanos::from_secs_f64(real.as_secs_f64() * self.speed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fast_card_is_due_sooner() {
        let timeline = Timeline::starting_now(10.0);
        let deadline = timeline.deadline(Nanos::from_secs(20));
        assert_eq!(deadline - timeline.start, Duration::from_secs(2));
    }

    #[test]
    fn the_way_to_the_card_takes_no_time_of_its_own() {
        let timeline = Timeline::starting_now(2.0);
        let received = timeline.start + Duration::from_secs(1) + TRANSPORT;
        assert_eq!(timeline.arrival(received), Nanos::from_secs(2));
        assert_eq!(timeline.arrival(timeline.start + TRANSPORT / 2), Nanos::ZERO);
    }
}
