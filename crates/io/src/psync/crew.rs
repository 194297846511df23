//! The worker threads of the psync engine: as many as operations are to be at the storage.
//!
//! Workers stamp the times themselves, so that waiting for the caller is in no latency, and they fill
//! the buffers of their writes, which one thread could not for all of them. On fast storage a wake-up
//! costs more than an operation, so a deep queue has operations at hand for workers that end one, a
//! worker takes its fair share of them at a time, and the caller is woken only when half of them are
//! done. On slow storage nothing waits at hand: it would only delay the end of a phase.

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use cardproof_units::Nanos;

use super::performed;
use crate::clock;
use crate::filling::Filler;
use crate::medium::Medium;
use crate::{Completion, Filling, Op, OpKind, TargetError, Wait};

/// From this queue depth on, operations wait at hand.
const DEEP: u16 = 8;

/// How many operations a deep queue has for each worker: one in progress, the rest at hand.
const JOBS_PER_WORKER: u16 = 8;

/// The most operations that a worker takes at a time.
const SHARE_MAX: usize = 4;

/// Storage slower than this is given no operation before a worker is free for it.
const SLOW: Nanos = Nanos::from_millis(1);

/// How long a caller waits for a slow device before it may look at its own flags.
const PATIENCE: Nanos = Nanos::from_millis(200);

/// Enough for one system call and its error path.
const STACK_BYTES: usize = 64 << 10;

/// How many slots keep `queue_depth` workers busy.
pub(super) const fn slots_for(queue_depth: u16) -> u16 {
    if queue_depth < DEEP { queue_depth } else { queue_depth * JOBS_PER_WORKER }
}

/// How many workers `slots` slots are for: the inverse of [`slots_for`], and one for each slot
/// where a caller wants a number of slots of its own.
const fn workers_for(slots: u16) -> u16 {
    if slots < DEEP * JOBS_PER_WORKER { slots } else { slots / JOBS_PER_WORKER }
}

/// One operation and the start of its buffer.
#[derive(Debug)]
pub(super) struct PendingOp {
    pub(super) op: Op,
    pub(super) start: NonNull<u8>,
    /// What a write puts into its buffer first.
    pub(super) filling: Option<Filling>,
}

// SAFETY: the buffer belongs to the job's slot, which is in flight until the worker is done with
// it, and the target touches no buffer in flight.
unsafe impl Send for PendingOp {}

/// The threads and what they share with the caller.
#[derive(Debug)]
pub(super) struct Crew {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Taken and not yet put on the board.
    new_jobs: Vec<PendingOp>,
    /// Taken and not yet collected.
    uncollected: usize,
    recent_latency: Nanos,
}

#[derive(Debug, Default)]
struct Shared {
    board: Mutex<Board>,
    work_added: Condvar,
    work_done: Condvar,
}

#[derive(Debug, Default)]
struct Board {
    jobs: VecDeque<PendingOp>,
    done: Vec<Completion>,
    idle_workers: usize,
    /// A waiting caller wants to be woken when so many are done; 0 when it does not wait.
    caller_wants: usize,
    is_closed: bool,
}

impl Shared {
    /// The board, whatever became of a thread that held it: it is never left half-changed.
    fn board(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports what is `done` and waits for `jobs`, a fair share for one of so many `workers`; `false`
    /// when the crew is sent home and no job is left.
    fn exchange(
        &self,
        done: &mut Vec<Completion>,
        jobs: &mut Vec<PendingOp>,
        workers: usize,
    ) -> bool {
        let mut board = self.board();
        board.done.append(done);
        if board.caller_wants > 0 && board.done.len() >= board.caller_wants {
            board.caller_wants = 0;
            self.work_done.notify_one();
        }
        loop {
            let share = (board.jobs.len() / workers).clamp(1, SHARE_MAX).min(board.jobs.len());
            if share > 0 {
                jobs.extend(board.jobs.drain(..share));
                return true;
            }
            if board.is_closed {
                return false;
            }
            board.idle_workers += 1;
            board = self.work_added.wait(board).unwrap_or_else(PoisonError::into_inner);
            board.idle_workers -= 1;
        }
    }
}

impl Crew {
    /// Starts the threads that `slots` slots are for on `medium`.
    pub(super) fn new(slots: u16, medium: &Arc<Medium>) -> Result<Self, TargetError> {
        let mut crew = Self {
            shared: Arc::default(),
            threads: Vec::new(),
            new_jobs: Vec::with_capacity(usize::from(slots)),
            uncollected: 0,
            recent_latency: Nanos(u64::MAX),
        };
        let workers = workers_for(slots);
        for _ in 0..workers {
            let (shared, medium) = (Arc::clone(&crew.shared), Arc::clone(medium));
            let thread = std::thread::Builder::new()
                .name("psync".to_owned())
                .stack_size(STACK_BYTES)
                .spawn(move || work(&shared, &medium, usize::from(workers)))
                .map_err(|source| TargetError::Engine {
                    engine: "psync",
                    doing: "start its threads",
                    source,
                })?;
            crew.threads.push(thread);
        }
        Ok(crew)
    }

    /// Takes `job`; false where it would only wait for a worker on slow storage.
    pub(super) fn add(&mut self, job: PendingOp) -> bool {
        if self.is_slow() && self.uncollected >= self.threads.len() {
            return false;
        }
        self.uncollected += 1;
        self.new_jobs.push(job);
        true
    }

    /// Hands the new jobs to the workers, waits as `wait` says and moves what is finished to
    /// `done`.
    pub(super) fn collect(&mut self, wait: Wait, done: &mut Vec<Completion>) {
        let deadline = match wait {
            Wait::No => Nanos::ZERO,
            Wait::One => clock::monotonic() + PATIENCE,
            Wait::Until(deadline) => deadline,
        };
        let has_jobs_at_hand = self.uncollected > self.threads.len() && !self.is_slow();
        let wanted = if has_jobs_at_hand { self.uncollected.div_ceil(2) } else { 1 };
        let mut board = self.shared.board();
        let added = self.new_jobs.len();
        board.jobs.extend(self.new_jobs.drain(..));
        for _ in 0..added.min(board.idle_workers) {
            self.shared.work_added.notify_one();
        }
        while board.done.len() < wanted {
            let left = deadline.saturating_sub(clock::monotonic());
            if left == Nanos::ZERO {
                break;
            }
            board.caller_wants = wanted;
            let woken = self.shared.work_done.wait_timeout(board, Duration::from(left));
            board = woken.unwrap_or_else(PoisonError::into_inner).0;
            board.caller_wants = 0;
        }
        if let Some(last) = board.done.last() {
            self.recent_latency = last.latency();
        }
        self.uncollected -= board.done.len();
        done.append(&mut board.done);
    }

    fn is_slow(&self) -> bool {
        self.recent_latency >= SLOW
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.shared.board().is_closed = true;
        self.shared.work_added.notify_all();
        for thread in self.threads.drain(..) {
            // A worker that panicked has nothing left to tell.
            let _ = thread.join();
        }
    }
}

/// A worker's life: take some jobs, do them, report them and take the next.
fn work(shared: &Shared, medium: &Medium, workers: usize) {
    let mut jobs = Vec::with_capacity(SHARE_MAX);
    let mut done = Vec::with_capacity(SHARE_MAX);
    let mut filler = Filler::new();
    while shared.exchange(&mut done, &mut jobs, workers) {
        for PendingOp { op, start, filling } in jobs.drain(..) {
            // SAFETY: see `PendingOp`: this worker alone uses the slot's buffer, which is at least
            // `op.length` long, as was checked before the job was made.
            let buffer =
                unsafe { std::slice::from_raw_parts_mut(start.as_ptr(), op.length.as_len()) };
            if let (Some(data), OpKind::Write) = (filling, op.kind) {
                filler.fill(buffer, &data);
            }
            done.push(performed(medium, &op, buffer));
        }
    }
}
