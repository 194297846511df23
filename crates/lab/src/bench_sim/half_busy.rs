//! A thread for each processor that computes for half of the time, as a desktop or a build beside a
//! measurement would.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Computes for so long, then rests for as long.
const TURN: Duration = Duration::from_millis(5);

/// Ends when it is dropped.
pub(super) struct HalfBusy {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl HalfBusy {
    /// Begins on every processor.
    pub(super) fn begin() -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let count = thread::available_parallelism().map_or(1, usize::from);
        let begin = |_| {
            let is_over = Arc::clone(&is_over);
            thread::spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    let start = Instant::now();
                    while start.elapsed() < TURN {
                        std::hint::spin_loop();
                    }
                    thread::sleep(TURN);
                }
            })
        };
        let threads = (0..count).map(begin).collect();
        Self { is_over, threads }
    }
}

impl Drop for HalfBusy {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            // A thread that only computes cannot have failed.
            let _ = thread.join();
        }
    }
}
