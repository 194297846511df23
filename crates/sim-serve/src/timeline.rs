//! Real time and a card's virtual time, one from the other.

use std::time::{Duration, Instant};

use cardproof_units::Nanos;

/// A request that comes this soon after a reply is taken for an answer to it: by a program that
/// waited for nothing but the card. Its way there and back through the kernel, the loop device
/// and the scheduler is then no part of the card's time. A program that thinks for longer is
/// served at the moment at which it asks.
const AT_ONCE: Duration = Duration::from_millis(1);

/// Where a card's virtual time stands on the real clock.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeline {
    start: Instant,
    /// Virtual seconds in a real one.
    speed: f64,
    replied: Option<Instant>,
}

impl Timeline {
    /// A card whose time zero is now.
    pub(crate) fn starting_now(speed: f64) -> Self {
        Self { start: Instant::now(), speed, replied: None }
    }

    /// Notes that a reply has just been given.
    pub(crate) fn note_reply(&mut self) {
        self.replied = Some(Instant::now());
    }

    /// When, on the card's clock, a request came that was received at `received`; `card_now` is
    /// where that clock stands, which is the last moment at which anything happened.
    pub(crate) fn arrival(&self, received: Instant, card_now: Nanos) -> Nanos {
        let at_once = self
            .replied
            .is_some_and(|replied| received.saturating_duration_since(replied) < AT_ONCE);
        if at_once {
            return card_now;
        }
        let since_start = received.saturating_duration_since(self.start);
        Nanos::from_secs_f64(since_start.as_secs_f64() * self.speed).max(card_now)
    }

    /// When something is due that is due at `due` on the card's clock.
    pub(crate) fn deadline(&self, due: Nanos) -> Instant {
        self.start + Duration::from(Nanos::from_secs_f64(due.as_secs_f64() / self.speed))
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
    fn an_answer_comes_when_the_reply_did_and_anything_else_when_it_comes() {
        let timeline = Timeline::starting_now(2.0);
        let start = timeline.start;
        let replied = Timeline { replied: Some(start + Duration::from_secs(1)), ..timeline };
        let card_now = Nanos::from_millis(1999);
        let soon = start + Duration::from_secs(1) + AT_ONCE / 2;
        assert_eq!(replied.arrival(soon, card_now), card_now);
        let later = start + Duration::from_secs(2);
        assert_eq!(replied.arrival(later, card_now), Nanos::from_secs(4));
        assert_eq!(timeline.arrival(later, Nanos::from_secs(5)), Nanos::from_secs(5));
    }
}
