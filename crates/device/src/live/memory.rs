//! Memory that is left, from `/proc/meminfo`, and pages swapped, from `/proc/vmstat` (proc(5)).

use cardproof_record::MemoryActivity;
use cardproof_units::Bytes;

/// Memory now, and pages swapped since boot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MemoryCounters {
    total: Bytes,
    available: Bytes,
    swapped_in_pages: u64,
    swapped_out_pages: u64,
}

impl MemoryCounters {
    /// From the texts of both files; without `vmstat` nothing was swapped.
    pub(super) fn parse(meminfo: &str, vmstat: &str) -> Option<Self> {
        let kib = |name| field(meminfo, name)?.checked_mul(1024).map(Bytes);
        Some(Self {
            total: kib("MemTotal:")?,
            available: kib("MemAvailable:")?,
            swapped_in_pages: field(vmstat, "pswpin").unwrap_or(0),
            swapped_out_pages: field(vmstat, "pswpout").unwrap_or(0),
        })
    }

    /// Memory now and what was swapped since `earlier`, in pages of `page_bytes`.
    pub(super) fn since(&self, earlier: &Self, page_bytes: u64) -> MemoryActivity {
        let bytes = |later: u64, earlier: u64| {
            Bytes(later.saturating_sub(earlier).saturating_mul(page_bytes))
        };
        MemoryActivity {
            total_bytes: self.total,
            available_bytes: self.available,
            swapped_in_bytes: bytes(self.swapped_in_pages, earlier.swapped_in_pages),
            swapped_out_bytes: bytes(self.swapped_out_pages, earlier.swapped_out_pages),
        }
    }
}

/// The number after `name` at a line's start.
fn field(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let mut words = line.split_ascii_whitespace();
        (words.next() == Some(name)).then(|| words.next()?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapping_is_counted_in_bytes_with_pages_of_every_size() {
        let meminfo = "MemTotal: 1000 kB\nMemFree: 5 kB\nMemAvailable: 400 kB\n";
        let before = MemoryCounters::parse(meminfo, "pswpin 10\npswpout 5\n").unwrap();
        let after = MemoryCounters::parse(meminfo, "pgpgin 3\npswpin 12\npswpout 8\n").unwrap();
        // A Raspberry Pi 5 has pages of 16 KiB by default, other boards of 64 KiB.
        for page in [4, 16, 64].map(Bytes::kib) {
            let memory = after.since(&before, page.get());
            assert_eq!(memory.available_bytes, Bytes::kib(400));
            assert_eq!(memory.swapped_in_bytes, page * 2);
            assert_eq!(memory.swapped_out_bytes, page * 3);
        }
        assert_eq!(MemoryCounters::parse("MemTotal: 1 kB", ""), None);
    }
}
