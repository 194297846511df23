//! Counters of a card since it was found, and how far they grow from one look to the next.

/// Where counters of 32 bits begin again: the kernel's times everywhere, all of them on 32-bit machines.
const WRAP: u64 = 1 << 32;

/// What the block layer counts of a card since the kernel found it (Documentation/block/stat.rst).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CardCounters {
    /// Reads that were ended.
    pub reads: u64,
    /// Sectors of 512 bytes that they moved.
    pub sectors_read: u64,
    /// How long they took together, in milliseconds.
    pub read_ms: u64,
    /// Writes that were ended.
    pub writes: u64,
    /// Sectors of 512 bytes that they moved.
    pub sectors_written: u64,
    /// How long they took together, in milliseconds.
    pub write_ms: u64,
    /// How long the card had a request under way, in milliseconds.
    pub busy_ms: u64,
    /// Flushes of its cache; zero on kernels before 5.5.
    pub flushes: u64,
}

impl CardCounters {
    /// From the fields of `stat`; `None` where there are too few.
    #[must_use]
    pub fn from_stat(fields: &[u64]) -> Option<Self> {
        let &[
            reads,
            _,
            sectors_read,
            read_ms,
            writes,
            _,
            sectors_written,
            write_ms,
            _,
            busy_ms,
            _,
            ref more @ ..,
        ] = fields
        else {
            return None;
        };
        let flushes = more.get(4).copied().unwrap_or(0);
        Some(Self {
            reads,
            sectors_read,
            read_ms,
            writes,
            sectors_written,
            write_ms,
            busy_ms,
            flushes,
        })
    }

    pub(super) const fn to_array(self) -> [u64; 8] {
        [
            self.reads,
            self.sectors_read,
            self.read_ms,
            self.writes,
            self.sectors_written,
            self.write_ms,
            self.busy_ms,
            self.flushes,
        ]
    }

    pub(super) const fn from_array(fields: [u64; 8]) -> Self {
        let [reads, sectors_read, read_ms, writes, sectors_written, write_ms, busy_ms, flushes] =
            fields;
        Self { reads, sectors_read, read_ms, writes, sectors_written, write_ms, busy_ms, flushes }
    }

    /// How far these are from `earlier`; all of them where a counter was set back, for then the card was found
    /// anew.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        let (now, then) = (self.to_array(), earlier.to_array());
        let mut grown = [0; 8];
        for ((grown, now), then) in grown.iter_mut().zip(now).zip(then) {
            match growth(now, then) {
                Some(growth) => *grown = growth,
                None => return *self,
            }
        }
        Self::from_array(grown)
    }
}

/// How far a counter has come: past its end in 32 bits, if it was in the last half of them and is in the first;
/// `None` where it can only have been set back.
pub(super) fn growth(now: u64, then: u64) -> Option<u64> {
    if now >= then {
        return Some(now - then);
    }
    let has_wrapped = (WRAP / 2..WRAP).contains(&then) && now < WRAP / 2;
    has_wrapped.then(|| now + WRAP - then)
}

/// Errors since the computer started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Reads and writes that failed for good, and places that the device calls unreadable.
    pub failed: u64,
    /// Transfers that were repeated: wrong checksums, time-outs, busy cards.
    pub repeated: u64,
    /// Errors of file systems, read-only ones included.
    pub filesystem: u64,
}

impl ErrorCounts {
    pub(super) const fn to_array(self) -> [u64; 3] {
        [self.failed, self.repeated, self.filesystem]
    }

    pub(super) const fn from_array([failed, repeated, filesystem]: [u64; 3]) -> Self {
        Self { failed, repeated, filesystem }
    }

    /// What came since `earlier`. The kernel's log forgets its oldest lines: fewer than before is none.
    pub(super) fn since(&self, earlier: &Self) -> Self {
        let (now, then) = (self.to_array(), earlier.to_array());
        Self::from_array(std::array::from_fn(|at| now[at].saturating_sub(then[at])))
    }
}
