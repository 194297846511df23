//! The worker threads of the psync engine: one for each slot.
//!
//! Workers stamp the times themselves, so that waiting for the caller is in no latency. A worker
//! that finishes takes the next waiting operation without going to sleep.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use cardproof_units::Nanos;

use super::perform;
use crate::clock;
use crate::medium::Medium;
use crate::{Completion, Op, TargetError, Wait};

/// How long a caller waits for a slow device before it may look at its own flags.
const PATIENCE: Nanos = Nanos::from_millis(200);

/// Enough for one system call and its error path.
const STACK_BYTES: usize = 64 << 10;

/// One operation and the start of its buffer.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) op: Op,
    pub(super) start: NonNull<u8>,
}

// SAFETY: the buffer belongs to the job's slot, which is in flight until the worker is done with
// it, and the target touches no buffer in flight.
unsafe impl Send for Job {}

/// The threads and what they share with the caller.
#[derive(Debug)]
pub(super) struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    board: Mutex<Board>,
    work_added: Condvar,
    work_done: Condvar,
}

#[derive(Debug, Default)]
struct Board {
    jobs: VecDeque<Job>,
    done: Vec<Completion>,
    idle_workers: usize,
    caller_waits: bool,
    closed: bool,
}

impl Shared {
    /// The board, whatever became of a thread that held it before: it is never left half-changed.
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Crew {
    /// Starts `workers` threads on `medium`.
    pub(super) fn new(workers: u16, medium: &Arc<Medium>) -> Result<Self, TargetError> {
        let shared = Arc::new(Shared {
            board: Mutex::default(),
            work_added: Condvar::new(),
            work_done: Condvar::new(),
        });
        let mut crew = Self { shared, threads: Vec::with_capacity(usize::from(workers)) };
        for _ in 0..workers {
            let (shared, medium) = (Arc::clone(&crew.shared), Arc::clone(medium));
            let thread = std::thread::Builder::new()
                .name("psync".to_owned())
                .stack_size(STACK_BYTES)
                .spawn(move || work(&shared, &medium))
                .map_err(|source| TargetError::Engine {
                    engine: "psync",
                    doing: "start its threads",
                    source,
                })?;
            crew.threads.push(thread);
        }
        Ok(crew)
    }

    /// Gives `job` to the next free worker.
    pub(super) fn add(&self, job: Job) {
        let mut board = self.shared.board();
        board.jobs.push_back(job);
        let wake = board.idle_workers > 0;
        drop(board);
        if wake {
            self.shared.work_added.notify_one();
        }
    }

    /// What is finished, after waiting as `wait` says.
    pub(super) fn collect(&self, wait: Wait) -> Vec<Completion> {
        let mut board = self.shared.board();
        let mut patience = match wait {
            Wait::No => Nanos::ZERO,
            Wait::One => PATIENCE,
            Wait::Until(deadline) => deadline.saturating_sub(clock::monotonic()),
        };
        while board.done.is_empty() && patience > Nanos::ZERO {
            board.caller_waits = true;
            let (woken, timeout) = self
                .shared
                .work_done
                .wait_timeout(board, Duration::from(patience))
                .unwrap_or_else(PoisonError::into_inner);
            board = woken;
            patience = match wait {
                Wait::Until(deadline) => deadline.saturating_sub(clock::monotonic()),
                Wait::One if !timeout.timed_out() => PATIENCE,
                _ => Nanos::ZERO,
            };
        }
        board.caller_waits = false;
        std::mem::take(&mut board.done)
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.board().closed = true;
        self.shared.work_added.notify_all();
        for thread in self.threads.drain(..) {
            // A worker that panicked has nothing left to tell.
            let _ = thread.join();
        }
    }
}

/// A worker's life: take a job, do it, report it.
fn work(shared: &Shared, medium: &Medium) {
    while let Some(Job { op, start }) = next_job(shared) {
        // SAFETY: see `Job`: this worker alone uses the slot's buffer, which is at least
        // `op.length` long, as was checked before the job was made.
        let buffer = unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), op.length.as_len()) };
        let submitted = clock::monotonic();
        let outcome = perform(medium, &op, buffer);
        let completed = clock::monotonic();
        let mut board = shared.board();
        board.done.push(Completion { slot: op.slot, kind: op.kind, submitted, completed, outcome });
        let wake = std::mem::take(&mut board.caller_waits);
        drop(board);
        if wake {
            shared.work_done.notify_one();
        }
    }
}

/// The next job, after waiting for it; `None` when the crew is sent home and no job is left.
fn next_job(shared: &Shared) -> Option<Job> {
    let mut board = shared.board();
    loop {
        if let Some(job) = board.jobs.pop_front() {
            return Some(job);
        }
        if board.closed {
            return None;
        }
        board.idle_workers += 1;
        board = shared.work_added.wait(board).unwrap_or_else(PoisonError::into_inner);
        board.idle_workers -= 1;
    }
}
