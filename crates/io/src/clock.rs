//! The machine's monotonic clock, the clock of every target that is real.

use cardproof_units::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// The time since some start that is the same for the whole life of the machine.
pub(crate) fn monotonic() -> Nanos {
    let time = clock_gettime(ClockId::Monotonic);
    // The kernel keeps both parts non-negative on this clock.
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// Sleeps until [`monotonic`] reads `deadline` or a signal arrives.
pub(crate) fn sleep_until(deadline: Nanos) {
    let left = deadline.saturating_sub(monotonic());
    if left > Nanos::ZERO {
        // A timed poll of nothing ends early on a signal; `thread::sleep` would sleep on.
        let timeout = rustix::time::Timespec {
            tv_sec: (left.get() / 1_000_000_000) as i64,
            tv_nsec: (left.get() % 1_000_000_000) as _,
        };
        let _ = rustix::event::poll(&mut [], Some(&timeout));
    }
}
