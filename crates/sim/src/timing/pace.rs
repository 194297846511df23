//! A rate turned over: the time a byte takes, as a whole number.

use cardproof_units::Throughput;

use crate::model::{Latencies, PAGE, STRIPE};

/// Picoseconds a byte; zero for an endless rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pace(u64);

impl Pace {
    /// The pace of `rate`. A division and a rounding, which IEEE 754 makes the same everywhere.
    pub(crate) fn new(rate: Throughput) -> Self {
        Self((1e12 / rate.0).round() as u64)
    }

    /// The time of `bytes`, in nanoseconds.
    pub(crate) const fn nanos(self, bytes: u64) -> u64 {
        bytes.saturating_mul(self.0) / 1000
    }

    /// How many whole bytes go through in `nanos`.
    pub(crate) const fn bytes_in(self, nanos: u64) -> u64 {
        match nanos.saturating_mul(1000).checked_div(self.0) {
            Some(bytes) => bytes,
            None => u64::MAX,
        }
    }

    /// What `self` takes more than `other` for each byte.
    pub(crate) const fn beyond(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

/// [`Latencies`] in bare nanoseconds, ready for the hot path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LatencyTable {
    below_page: u64,
    page: u64,
    stripe: u64,
    misaligned: u64,
    /// The size from which the latency stays the same.
    stripe_bytes: u64,
}

const PAGE_BYTES: u64 = PAGE.get();
const STRIPE_BYTES: u64 = STRIPE.get();

impl LatencyTable {
    pub(crate) fn new(latencies: &Latencies) -> Self {
        Self::with_stripe(latencies, STRIPE_BYTES)
    }

    /// Latencies that grow up to commands of `stripe_bytes`, more than a page.
    pub(crate) fn with_stripe(latencies: &Latencies, stripe_bytes: u64) -> Self {
        let Latencies { below_page, page, stripe } = *latencies;
        Self {
            below_page: below_page.get(),
            page: page.get(),
            stripe: stripe.get(),
            misaligned: below_page.saturating_sub(page).get(),
            stripe_bytes,
        }
    }

    /// The latency of a request of `length` bytes at `offset`, in nanoseconds.
    pub(crate) const fn of(&self, offset: u64, length: u64) -> u64 {
        if length < PAGE_BYTES {
            return self.below_page;
        }
        let on_the_grid = (offset | length).is_multiple_of(PAGE_BYTES);
        let penalty = if on_the_grid { 0 } else { self.misaligned };
        if length >= self.stripe_bytes {
            return self.stripe + penalty;
        }
        let over = length - PAGE_BYTES;
        let under = self.stripe_bytes - length;
        (self.page * under + self.stripe * over) / (self.stripe_bytes - PAGE_BYTES) + penalty
    }
}

/// The number of whole pages that `bytes` need, in bytes.
pub(crate) const fn whole_pages(bytes: u64) -> u64 {
    bytes.next_multiple_of(PAGE_BYTES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_units::Nanos;

    #[test]
    fn a_pace_is_a_rate_turned_over() {
        assert_eq!(Pace::new(Throughput::from_mb_per_s(50.0)).nanos(50_000_000), 1_000_000_000);
        assert_eq!(Pace::new(Throughput(f64::INFINITY)).nanos(u64::MAX), 0);
    }

    #[test]
    fn latency_depends_on_size_and_alignment() {
        let table = LatencyTable::new(&Latencies {
            below_page: Nanos(500),
            page: Nanos(400),
            stripe: Nanos(1000),
        });
        let cases = [
            ("below a page", 0, 1024, 500),
            ("a page", 4096, 4096, 400),
            ("a page off the grid", 512, 4096, 500),
            ("a third of the way to a stripe", 0, 8192, 600),
            ("a stripe", 0, 16384, 1000),
            ("much", 0, 1 << 20, 1000),
            ("much, off the grid", 512, 1 << 20, 1100),
        ];
        for (what, offset, length, nanos) in cases {
            assert_eq!(table.of(offset, length), nanos, "{what}");
        }
    }
}
