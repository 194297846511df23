//! The monitor beside a run: a thread that looks at the system twice a second.
//!
//! A thread, because the loop that drives the storage must neither wait for a file of the system
//! nor read another clock than the target's. It sleeps nearly always: one look costs some tenths
//! of a millisecond, so that even a board ten times slower stays below half a per cent of one
//! processor.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use cardproof_device::Sysroot;
use cardproof_device::live::{Counters, ProcessorWaits, Sampler};
use cardproof_record::{Activity, Disturbance, PhaseSurroundings};
use cardproof_runner::{Monitor, MonitorCost, Observation};
use cardproof_units::Nanos;
use rustix::time::{ClockId, clock_gettime};

/// How often it looks.
const EVERY: Duration = Duration::from_millis(500);

/// The most looks kept of one phase; from there on every second one goes.
const LOOKS_MAX: usize = 256;

/// Looks at the system until it is dropped.
pub struct SystemMonitor {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread and the run both reach.
struct Shared {
    state: Mutex<State>,
    /// Told when the run is over.
    over: Condvar,
    start: Instant,
}

struct State {
    sampler: Sampler,
    looks: Vec<Counters>,
    /// The look at which the last window that was shown ended.
    shown: Option<Counters>,
    samples: u64,
    /// How long threads had waited for a processor when the phase began.
    waited_before: Option<ProcessorWaits>,
    /// The thread's processor time when it last looked.
    cpu: Nanos,
    is_over: bool,
}

impl SystemMonitor {
    /// Starts to look at the system and at `device`, the kernel's name of what the target is on.
    /// Without a thread nobody looks, and the run goes on all the same.
    pub fn start(device: Option<&str>) -> Option<Self> {
        let devices: Vec<String> = device.into_iter().map(str::to_owned).collect();
        let state = State {
            sampler: Sampler::new(&Sysroot::default(), &devices),
            looks: Vec::with_capacity(LOOKS_MAX),
            shown: None,
            samples: 0,
            waited_before: None,
            cpu: Nanos::ZERO,
            is_over: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            over: Condvar::new(),
            start: Instant::now(),
        });
        let of_thread = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("monitor".to_owned())
            .stack_size(128 << 10)
            .spawn(move || of_thread.watch())
            .ok()?;
        Some(Self { shared, thread: Some(thread) })
    }
}

impl Shared {
    /// The thread: looks, and sleeps until the next look or the end.
    fn watch(&self) {
        let mut state = self.lock();
        while !state.is_over {
            let waited = self.over.wait_timeout(state, EVERY);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !state.is_over {
                state.look(self.start);
                state.cpu = thread_cpu();
            }
        }
    }

    /// A thread that panicked has left counters, which are sound in any state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn look(&mut self, start: Instant) {
        if self.looks.len() >= LOOKS_MAX {
            self.looks = thinned(std::mem::take(&mut self.looks));
        }
        let counters = self.sampler.sample(Nanos::from(start.elapsed()));
        self.looks.push(counters);
        self.samples += 1;
    }
}

/// Every second look. Its flags and its heat are those of the one that went as well.
fn thinned(looks: Vec<Counters>) -> Vec<Counters> {
    let mut kept: Vec<Counters> = Vec::with_capacity(LOOKS_MAX);
    for (number, look) in looks.into_iter().enumerate() {
        match kept.last_mut() {
            Some(last) if number % 2 == 1 => last.take_in(&look),
            _ => kept.push(look),
        }
    }
    kept
}

/// The processor time of the calling thread.
fn thread_cpu() -> Nanos {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    // The kernel keeps both parts non-negative on this clock.
    Nanos(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

impl Monitor for SystemMonitor {
    fn begin(&mut self) {
        let mut state = self.shared.lock();
        state.looks.clear();
        state.look(self.shared.start);
        state.shown = state.looks.last().cloned();
        state.waited_before = ProcessorWaits::read(&Sysroot::default());
    }

    fn window(&mut self) -> Option<Activity> {
        // While the thread looks there is nothing to show yet.
        let mut state = self.shared.state.try_lock().ok()?;
        let (last, shown) = (state.looks.last()?, state.shown.as_ref()?);
        if last.taken() <= shown.taken() {
            return None;
        }
        let (window, last) = (last.since(shown), last.clone());
        state.shown = Some(last);
        Some(window)
    }

    fn end(&mut self) -> Option<Observation> {
        let waited = ProcessorWaits::read(&Sysroot::default());
        let mut state = self.shared.lock();
        state.look(self.shared.start);
        let processor_wait =
            waited.zip(state.waited_before.take()).map(|(after, before)| after.since(&before));
        let looks = std::mem::take(&mut state.looks);
        let whole = looks.last()?.since(looks.first()?);
        let windows = looks.windows(2).map(|pair| pair[1].since(&pair[0])).collect();
        Some(Observation { whole, windows, processor_wait })
    }

    fn disturbances(
        &self,
        surroundings: &PhaseSurroundings,
        filesystem: Option<&str>,
    ) -> Vec<Disturbance> {
        cardproof_rating::disturbances(surroundings, filesystem)
    }

    fn is_part_disturbed(
        &self,
        surroundings: &PhaseSurroundings,
        filesystem: Option<&str>,
    ) -> bool {
        cardproof_rating::is_part_disturbed(surroundings, filesystem)
    }

    fn cost(&self) -> MonitorCost {
        let state = self.shared.lock();
        MonitorCost {
            samples: state.samples,
            cpu: Some(state.cpu),
            watched: Nanos::from(self.shared.start.elapsed()),
        }
    }
}

impl Drop for SystemMonitor {
    fn drop(&mut self) {
        self.shared.lock().is_over = true;
        self.shared.over.notify_all();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has already said so.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phase_has_a_window_however_short() {
        let mut monitor = SystemMonitor::start(None).unwrap();
        monitor.begin();
        let seen = monitor.end().unwrap();
        assert_eq!(seen.windows.len(), 1);
        assert_eq!(seen.whole.window_ns, seen.windows[0].window_ns);
        assert!(monitor.cost().samples >= 2);
    }

    #[test]
    fn a_long_phase_is_thinned_and_keeps_its_ends() {
        let mut sampler = Sampler::new(&Sysroot::new("/nonexistent"), &[]);
        let looks: Vec<Counters> =
            (0..LOOKS_MAX as u64).map(|second| sampler.sample(Nanos::from_secs(second))).collect();
        let kept = thinned(looks);
        assert_eq!(kept.len(), LOOKS_MAX / 2);
        assert_eq!(kept[0].taken(), Nanos::ZERO);
        assert_eq!(kept[1].taken(), Nanos::from_secs(2));
    }
}
