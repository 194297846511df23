//! Linux io_uring: many operations in flight from one thread, few system calls.
//!
//! The file and the buffers are registered where the kernel allows it. Completions are handed
//! out in small batches: refilling the whole queue at each wake-up moves in lock-step with the
//! device and costs IOPS, one system call per operation costs processor time.

use std::io;
use std::os::fd::AsRawFd;

use cardproof_units::{Bytes, Nanos, in_words, with_causes};
use io_uring::types::{Fd, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};
use libc::iovec;
use rustix::io::Errno;

use crate::clock;
use crate::filling::Filler;
use crate::medium::Medium;
use crate::psync::performed;
use crate::slots::Slots;
use crate::{
    Abilities, Arrangement, Completion, Directness, Engine, Fault, Filling, Op, OpKind, Slot,
    Submission, SubmitError, Target, TargetError, Usage, Wait, usage,
};

/// The most operations in flight, and the size of the rings.
const QUEUE_DEPTH_MAX: u16 = 256;

/// How many completions are handed out at a time.
const BATCH: usize = 4;

/// A file or block device driven through io_uring.
pub struct UringTarget {
    abilities: Abilities,
    // Declared first, so closed first: the kernel lets go of the buffers before they are unmapped.
    ring: IoUring,
    file_is_registered: bool,
    buffers_are_registered: bool,
    slots: Slots,
    filler: Filler,
    /// Pushed to the submission ring and not yet handed to the kernel.
    unsent: Vec<Slot>,
    medium: Medium,
}

impl UringTarget {
    /// Drives `medium`, or gives it back with the reason why it cannot.
    pub(crate) fn new(medium: Medium, read_only: bool) -> Result<Self, (Medium, String)> {
        let ring = match build_ring() {
            Ok(ring) => ring,
            Err(error) => return Err((medium, refusal(&error))),
        };
        if !ring.params().is_feature_ext_arg() {
            let reason = "this kernel's io_uring cannot wait with a time limit (needs Linux 5.11)";
            return Err((medium, reason.to_owned()));
        }
        let slots = match Slots::new(1, medium.logical_block) {
            Ok(slots) => slots,
            Err(error) => return Err((medium, with_causes(&error))),
        };
        let file_is_registered =
            ring.submitter().register_files(&[medium.file.as_raw_fd()]).is_ok();
        Ok(Self {
            abilities: medium.abilities(Engine::IoUring, QUEUE_DEPTH_MAX, read_only),
            ring,
            file_is_registered,
            buffers_are_registered: false,
            slots,
            filler: Filler::new(),
            unsent: Vec::new(),
            medium,
        })
    }

    /// The submission entry of `op`; `None` where it has no slot or cannot be queued.
    fn entry(&self, op: &Op) -> Option<squeue::Entry> {
        let start = self.slots.buffers.start(op.slot)?.as_ptr();
        // `Abilities::check` has compared the length with the buffer's.
        let length = u32::try_from(op.length.get()).ok()?;
        let offset = op.offset.get();
        let fd = Fd(self.medium.file.as_raw_fd());
        let index = op.slot.0;
        let entry = match (op.kind, self.file_is_registered, self.buffers_are_registered) {
            (OpKind::Read, true, true) => {
                opcode::ReadFixed::new(Fixed(0), start, length, index).offset(offset).build()
            }
            (OpKind::Read, true, false) => {
                opcode::Read::new(Fixed(0), start, length).offset(offset).build()
            }
            (OpKind::Read, false, true) => {
                opcode::ReadFixed::new(fd, start, length, index).offset(offset).build()
            }
            (OpKind::Read, false, false) => {
                opcode::Read::new(fd, start, length).offset(offset).build()
            }
            (OpKind::Write, true, true) => {
                opcode::WriteFixed::new(Fixed(0), start, length, index).offset(offset).build()
            }
            (OpKind::Write, true, false) => {
                opcode::Write::new(Fixed(0), start, length).offset(offset).build()
            }
            (OpKind::Write, false, true) => {
                opcode::WriteFixed::new(fd, start, length, index).offset(offset).build()
            }
            (OpKind::Write, false, false) => {
                opcode::Write::new(fd, start, length).offset(offset).build()
            }
            (OpKind::Flush, true, _) => opcode::Fsync::new(Fixed(0)).build(),
            (OpKind::Flush, false, _) => opcode::Fsync::new(fd).build(),
            (OpKind::Discard, _, _) => return None,
        };
        Some(entry.user_data(u64::from(op.slot.0)))
    }

    /// Hands the unsent operations to the kernel and waits as `wait` says.
    fn enter(&mut self, wait: Wait) -> Result<(), TargetError> {
        let is_alone = self.unsent.len() == 1 && self.slots.flight.count() == 1;
        self.stamp_unsent();
        // A call that submits and waits puts this thread to sleep before the kernel's worker has
        // begun, and both are then woken on idle processors, which takes longer than a read of
        // memory. Between two calls the worker can run in this thread's place, without a wake-up.
        if is_alone && wait != Wait::No {
            ring_result(self.ring.submit())?;
        }
        let want = usize::from(self.ring.completion().is_empty());
        ring_result(match wait {
            // The kernel puts completions into the ring only for who waits, if for no time at all.
            Wait::No if want > 0 => self.wait_for(Nanos::ZERO),
            Wait::Until(deadline) if want > 0 => {
                self.wait_for(deadline.saturating_sub(clock::monotonic()))
            }
            _ => self.ring.submit_and_wait(want),
        })
    }

    /// Submits and waits for one completion, but no longer than `time`.
    fn wait_for(&mut self, time: Nanos) -> io::Result<usize> {
        let timeout = Timespec::from(std::time::Duration::from(time));
        let arguments = SubmitArgs::new().timespec(&timeout);
        self.ring.submitter().submit_with_args(1, &arguments)
    }

    /// Notes the time at which the unsent operations go to the kernel.
    fn stamp_unsent(&mut self) {
        if self.unsent.is_empty() {
            return;
        }
        let now = clock::monotonic();
        for slot in self.unsent.drain(..) {
            self.slots.flight.stamp(slot, now);
        }
    }

    /// Takes at most [`BATCH`] completions from the ring.
    fn reap(&mut self, completions: &mut Vec<Completion>) {
        let mut ring = self.ring.completion();
        if ring.is_empty() {
            return;
        }
        let now = clock::monotonic();
        for entry in ring.by_ref().take(BATCH) {
            let slot = Slot(entry.user_data() as u16);
            let result = entry.result();
            let outcome = match u64::try_from(result) {
                Ok(moved) => Ok(Bytes(moved)),
                Err(_) => Err(Fault::from(Errno::from_raw_os_error(-result))),
            };
            completions.extend(self.slots.flight.land(slot, now, |_| outcome));
        }
    }
}

impl Target for UringTarget {
    fn abilities(&self) -> &Abilities {
        &self.abilities
    }

    fn now(&mut self) -> Nanos {
        clock::monotonic()
    }

    fn arrange(&mut self, arrangement: Arrangement) -> Result<Directness, TargetError> {
        self.slots.ensure_idle()?;
        self.medium.arrange(arrangement).map_err(|error| error.in_engine(Engine::IoUring.name()))
    }

    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
        self.slots.ensure_idle()?;
        let fresh = Slots::new(slots, buffer_size)?;
        if self.buffers_are_registered {
            self.ring.submitter().unregister_buffers().map_err(|source| TargetError::Engine {
                engine: "io_uring",
                doing: "release its buffers",
                source,
            })?;
            self.buffers_are_registered = false;
        }
        self.slots = fresh;
        self.unsent = Vec::with_capacity(usize::from(slots));
        let vectors: Vec<iovec> = (0..slots)
            .filter_map(|number| self.slots.buffers.start(Slot(number)))
            .map(|start| iovec {
                iov_base: start.as_ptr().cast(),
                iov_len: self.slots.buffers.size().as_len(),
            })
            .collect();
        // SAFETY: the buffers live until the next `prepare`, which unregisters them first, or
        // until the ring is closed, which happens before they are dropped.
        let registered = unsafe { self.ring.submitter().register_buffers(&vectors) };
        // A refusal (a small RLIMIT_MEMLOCK on kernels before 5.12) costs speed, nothing else.
        self.buffers_are_registered = registered.is_ok();
        Ok(())
    }

    fn cost(&self) -> Option<Usage> {
        Some(usage())
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.slots.free_buffer(slot)
    }

    fn fill_at_write(&mut self, slot: Slot, filling: Filling) -> bool {
        let buffer = self.slots.free_buffer(slot);
        self.filler.fill(buffer, &filling);
        !buffer.is_empty()
    }

    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
        self.slots.check(&self.abilities, &op)?;
        if self.slots.flight.count() >= usize::from(QUEUE_DEPTH_MAX) {
            return Ok(Submission::Busy);
        }
        // Through the page cache, for one, the kernel would hand most operations to a worker, which costs
        // more than they do; plain system calls are what the tools use there.
        // A flush the kernel always hands to a worker; alone, a plain call does the same and wakes nobody.
        let is_lone_flush = op.kind == OpKind::Flush && self.slots.flight.count() == 0;
        let is_plain = self.medium.is_plain() || is_lone_flush;
        let entry = if is_plain { None } else { self.entry(&op) };
        let Some(entry) = entry else {
            let buffer = self.slots.buffers.slice_mut(op.slot);
            return Ok(Submission::Done(performed(&self.medium, &op, buffer)));
        };
        // SAFETY: the entry's buffer belongs to a slot that is in flight from here until its
        // completion is reaped; nobody touches it meanwhile, and `drop` waits for the kernel.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        if pushed.is_err() {
            return Ok(Submission::Busy);
        }
        self.slots.flight.take_off(op, Nanos::ZERO);
        self.unsent.push(op.slot);
        Ok(Submission::Queued)
    }

    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError> {
        if self.slots.flight.count() == 0 {
            if let Wait::Until(deadline) = wait {
                clock::sleep_until(deadline);
            }
            return Ok(());
        }
        self.enter(wait)?;
        self.reap(completions);
        Ok(())
    }
}

impl Drop for UringTarget {
    /// Waits for the operations in flight: the kernel may still write into their buffers. Then
    /// gives the registered file back: the kernel takes a closed ring down in its own time, and
    /// until then a registered device would stay held, so that the next run finds it busy.
    fn drop(&mut self) {
        let mut completions = Vec::new();
        while self.slots.flight.count() > 0 {
            completions.clear();
            if self.complete(Wait::One, &mut completions).is_err() {
                self.slots.buffers.leak();
                return;
            }
        }
        if self.file_is_registered {
            // A drop has nobody to tell, and closing the ring does the same a little later.
            let _ = self.ring.submitter().unregister_files();
        }
    }
}

/// A ring with the settings that suit one thread best, of those that this kernel knows.
fn build_ring() -> io::Result<IoUring> {
    let entries = u32::from(QUEUE_DEPTH_MAX);
    // Linux 6.1; completions are handled only when this thread asks for them.
    let best = IoUring::builder().setup_single_issuer().setup_defer_taskrun().build(entries);
    match best {
        Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
            IoUring::builder().build(entries)
        }
        other => other,
    }
}

/// Why there is no ring, in words.
fn refusal(error: &io::Error) -> String {
    match Errno::from_io_error(error) {
        Some(Errno::NOSYS) => "this kernel has no io_uring".to_owned(),
        Some(Errno::PERM | Errno::ACCESS) => {
            "io_uring is forbidden here, by kernel.io_uring_disabled or by a sandbox".to_owned()
        }
        _ => format!("io_uring cannot be set up: {}", in_words(error)),
    }
}

/// What a call into the ring means: of its errors only those that say more than that nothing came.
fn ring_result(result: io::Result<usize>) -> Result<(), TargetError> {
    match result {
        Err(source) if !is_passing(&source) => {
            Err(TargetError::Engine { engine: "io_uring", doing: "submit and wait", source })
        }
        _ => Ok(()),
    }
}

/// Whether an error of waiting means only that nothing came: a signal, the time limit, or a
/// kernel short of memory for the moment.
fn is_passing(error: &io::Error) -> bool {
    matches!(
        Errno::from_io_error(error),
        Some(Errno::INTR | Errno::TIME | Errno::AGAIN | Errno::BUSY)
    )
}

impl std::fmt::Debug for UringTarget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UringTarget")
            .field("abilities", &self.abilities)
            .field("in_flight", &self.slots.flight.count())
            .finish_non_exhaustive()
    }
}
