//! What this process has cost the computer so far.

use cardproof_units::{Bytes, Nanos};

/// Processor time and memory of the whole process, all threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Processor time in our own code.
    pub cpu_user: Nanos,
    /// Processor time in the kernel on our behalf.
    pub cpu_system: Nanos,
    /// The most memory held at any time.
    pub memory_peak: Bytes,
}

/// The usage of this process since its start (`getrusage(RUSAGE_SELF)`).
#[must_use]
pub fn usage() -> Usage {
    // SAFETY: all fields of `rusage` are numbers, for which zero is a value.
    let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer is to a whole `rusage` of our own.
    let status = unsafe { libc::getrusage(libc::RUSAGE_SELF, &raw mut raw) };
    if status != 0 {
        return Usage::default();
    }
    Usage {
        cpu_user: nanos(raw.ru_utime),
        cpu_system: nanos(raw.ru_stime),
        memory_peak: Bytes::kib(u64::try_from(raw.ru_maxrss).unwrap_or(0)),
    }
}

fn nanos(time: libc::timeval) -> Nanos {
    let (seconds, micros) = (u64::try_from(time.tv_sec), u64::try_from(time.tv_usec));
    Nanos::from_secs(seconds.unwrap_or(0)) + Nanos::from_micros(micros.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_processor_time_and_memory() {
        let before = usage();
        let mut sum = 0_u64;
        while (usage().cpu_user + usage().cpu_system)
            .saturating_sub(before.cpu_user + before.cpu_system)
            < Nanos::from_millis(2)
        {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(usage().memory_peak >= Bytes::kib(100));
    }
}
