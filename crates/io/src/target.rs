//! The contract between cardproof and anything that stores blocks.
//!
//! One runner drives a real device, a file and a simulated card through this
//! trait and cannot tell which it has. [`crate::contract`] holds the suite that
//! every implementation passes.

use cardproof_units::{Bytes, Nanos};

use crate::{Arrangement, Completion, Op, OpKind, Slot, Submission, Usage};

/// Storage that takes operations and returns their completions.
///
/// # Contract
///
/// 1. **Clock.** [`now`](Self::now) never goes back. Every time in a completion is on this
///    clock, and `submitted <= completed <= now()` when it is returned. Nobody above a target
///    reads another clock.
/// 2. **Slots.** [`prepare`](Self::prepare) makes slots `0..slots`, each with a buffer. A slot
///    in flight (queued and not completed) is not submitted again and its buffer is not touched;
///    a caller that does gets [`SubmitError::SlotInFlight`], or from
///    [`buffer`](Self::buffer) an empty slice.
/// 3. **Every queued operation completes exactly once**, in any order, with a fault if need be.
///    A `Done` operation is not returned by [`complete`](Self::complete) again.
/// 4. **Busy** is returned only while something is in flight, so waiting always helps.
/// 5. **Refusals touch nothing.** A write or discard is refused by a read-only target
///    ([`SubmitError::ReadOnly`]); an operation outside the target, longer than its buffer, empty,
///    or not a multiple of the logical block is refused.
/// 6. **What was written is what is read** after the write completed, unless the storage fails;
///    after a flush completed it survives a power cut. Targets whose
///    [`Abilities::keeps_data`] is false are exempt.
/// 7. **Faults are completions**, not errors: an `Err` of `submit` is a mistake of the caller,
///    an `Err` of `complete` means that the engine itself has failed and the target is done for.
pub trait Target {
    /// What this target is and can do. The same from open to close.
    fn abilities(&self) -> &Abilities;

    /// The time on this target's clock.
    fn now(&mut self) -> Nanos;

    /// Makes ready for operations of another kind: on a fresh file, past the page cache or through
    /// it. What the page cache holds of the target is written back and let go, so that the next
    /// read meets the storage. To be called before [`prepare`](Self::prepare); what it does not
    /// undo stays so until the next call.
    ///
    /// Returns how the operations to come reach the storage. A target without files and without a
    /// page cache above it has nothing to arrange.
    ///
    /// # Errors
    /// [`TargetError::InFlight`] while operations are in flight, [`TargetError::Engine`] when the
    /// system refuses; the storage may then be as it was or half arranged.
    fn arrange(&mut self, arrangement: Arrangement) -> Result<Directness, TargetError> {
        let _ = arrangement;
        Ok(self.abilities().directness.clone())
    }

    /// Makes `slots` slots whose buffers hold `buffer_size` bytes each, aligned for direct I/O.
    /// Buffer contents are unspecified.
    ///
    /// # Errors
    /// [`TargetError::InFlight`] while operations are in flight, [`TargetError::Memory`] when the
    /// buffers cannot be had.
    fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError>;

    /// How many slots to prepare so that `queue_depth` operations can be kept at the storage. It
    /// is more than `queue_depth` for a target that must have the next operations at hand when
    /// one ends; those wait inside the target and are submitted, on its clock, when they leave it.
    fn slots_for(&self, queue_depth: u16) -> u16 {
        queue_depth
    }

    /// What this process has cost the computer so far; `None` where that says nothing of the
    /// target, as with a model on a clock of its own.
    fn cost(&self) -> Option<Usage> {
        None
    }

    /// Gives the data of the next operation on `slot` as numbers from which they follow, in place of
    /// its buffer: a write writes them; after a read, [`described`](Self::described) may tell that the
    /// data follow from numbers, and the buffer is then not filled. `false` where the target moves
    /// bytes only, as by default: then nothing has changed.
    ///
    /// A simulated card that keeps data as numbers runs thousands of cycles in this way.
    fn describe(&mut self, slot: Slot, data: Described) -> bool {
        let _ = (slot, data);
        false
    }

    /// The numbers that determine the data of the last read on `slot`; `None` where its buffer
    /// holds them.
    fn described(&self, slot: Slot) -> Option<[u64; 3]> {
        let _ = slot;
        None
    }

    /// Leaves it to the target to fill the buffer for the write that is submitted next on `slot`: on the
    /// thread that writes, past caches that are of no use, and before the time of the write begins.
    /// `false` where the caller fills the buffer, as by default; then nothing has changed.
    fn fill_at_write(&mut self, slot: Slot, filling: Filling) -> bool {
        let _ = (slot, filling);
        false
    }

    /// How warm the storage is by its own thermometer, in thousandths of a degree Celsius; `None` where
    /// it has none that a program can read, as by default.
    fn temperature_millicelsius(&mut self) -> Option<i32> {
        None
    }

    /// The switch of its power supply, where a program can cut it.
    fn power(&mut self) -> Option<&mut dyn PowerSwitch> {
        None
    }

    /// Takes the device from the system and brings it back, so that the reads to come meet it as
    /// after plugging it in. Nothing may be in flight; what was prepared stays prepared. `false`
    /// where that was not asked for, as by default.
    ///
    /// # Errors
    /// The system refused, or the same device did not come back.
    fn reconnect(&mut self) -> std::io::Result<bool> {
        Ok(false)
    }

    /// The buffer of `slot`; empty where there is no such slot or it is in flight.
    fn buffer(&mut self, slot: Slot) -> &mut [u8];

    /// Hands over one operation. A queued operation may wait inside the engine for company
    /// until the next [`complete`](Self::complete).
    ///
    /// # Errors
    /// The operation breaks the contract; nothing was done.
    fn submit(&mut self, op: Op) -> Result<Submission, SubmitError>;

    /// Appends finished operations to `completions`, at most as many as are handled best in one
    /// go, after waiting as `wait` says.
    ///
    /// # Errors
    /// The engine itself failed; no further operation will complete.
    fn complete(
        &mut self,
        wait: Wait,
        completions: &mut Vec<Completion>,
    ) -> Result<(), TargetError>;
}

/// Passes every method on to what a pointer points to, so that decorators fit on any target.
macro_rules! forward_target {
    ($pointer:ty) => {
        impl<T: Target + ?Sized> Target for $pointer {
            fn abilities(&self) -> &Abilities {
                (**self).abilities()
            }

            fn now(&mut self) -> Nanos {
                (**self).now()
            }

            fn arrange(&mut self, arrangement: Arrangement) -> Result<Directness, TargetError> {
                (**self).arrange(arrangement)
            }

            fn prepare(&mut self, slots: u16, buffer_size: Bytes) -> Result<(), TargetError> {
                (**self).prepare(slots, buffer_size)
            }

            fn slots_for(&self, queue_depth: u16) -> u16 {
                (**self).slots_for(queue_depth)
            }

            fn cost(&self) -> Option<Usage> {
                (**self).cost()
            }

            fn describe(&mut self, slot: Slot, data: Described) -> bool {
                (**self).describe(slot, data)
            }

            fn described(&self, slot: Slot) -> Option<[u64; 3]> {
                (**self).described(slot)
            }

            fn fill_at_write(&mut self, slot: Slot, filling: Filling) -> bool {
                (**self).fill_at_write(slot, filling)
            }

            fn temperature_millicelsius(&mut self) -> Option<i32> {
                (**self).temperature_millicelsius()
            }

            fn power(&mut self) -> Option<&mut dyn PowerSwitch> {
                (**self).power()
            }

            fn reconnect(&mut self) -> std::io::Result<bool> {
                (**self).reconnect()
            }

            fn buffer(&mut self, slot: Slot) -> &mut [u8] {
                (**self).buffer(slot)
            }

            fn submit(&mut self, op: Op) -> Result<Submission, SubmitError> {
                (**self).submit(op)
            }

            fn complete(
                &mut self,
                wait: Wait,
                completions: &mut Vec<Completion>,
            ) -> Result<(), TargetError> {
                (**self).complete(wait, completions)
            }
        }
    };
}

forward_target!(Box<T>);
forward_target!(&mut T);

/// The power supply of a target.
pub trait PowerSwitch {
    /// Cuts the power at the target's present time. What is in flight and all that is submitted
    /// later completes with [`Fault::Vanished`](crate::Fault::Vanished) until
    /// [`restore`](Self::restore).
    fn cut(&mut self);

    /// Turns the power on again. A device that did not survive goes on to fail.
    fn restore(&mut self);
}

/// Data as a few numbers from which every sector follows.
#[derive(Clone, Copy, Debug)]
pub struct Described {
    /// The numbers of the first sector.
    pub numbers: [u64; 3],
    /// Fills whole sectors with the data that follow from the numbers of the first.
    pub fill: fn([u64; 3], &mut [u8]),
}

/// The data of a write, to be made by the target.
#[derive(Clone, Copy, Debug)]
pub struct Filling {
    /// From these the data follow.
    pub numbers: [u64; 3],
    /// Fills a buffer with them, from the sector of 512 bytes of that number on.
    pub fill: fn([u64; 3], u64, &mut [u8]),
}

/// How long [`Target::complete`] waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not at all.
    No,
    /// Until at least one operation is finished; not at all when none is in flight. It may also
    /// end with nothing after a signal or a while, so that the caller can look at its own flags.
    One,
    /// Until at least one operation is finished or the target's clock reads this, whichever is
    /// first; with nothing in flight, until the clock reads this.
    Until(Nanos),
}

/// What a target is and can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Abilities {
    /// What drives it.
    pub engine: Engine,
    /// Why a better engine is not in use, in words, if one was wanted.
    pub engine_fallback: Option<String>,
    /// How many bytes it holds.
    pub size: Bytes,
    /// The unit of offsets and lengths; a power of two.
    pub logical_block: Bytes,
    /// Whether operations reach the device without passing the page cache, until
    /// [`Target::arrange`] is asked for something else.
    pub directness: Directness,
    /// The target refuses writes and discards.
    pub read_only: bool,
    /// Every byte of it was written before it was opened, by what its file system tells. It is false where
    /// that is not told, and of what is opened for writing.
    pub written_before: bool,
    /// [`OpKind::Discard`] may be submitted.
    pub discard: bool,
    /// Reads return what was written; false for a target that only counts.
    pub keeps_data: bool,
    /// The most operations at the storage at a time, at least 1.
    pub queue_depth_max: u16,
}

impl Abilities {
    /// Whether `op` keeps to the contract on this target with buffers of `buffer_size`.
    ///
    /// # Errors
    /// What the operation breaks.
    pub fn check(&self, op: &Op, buffer_size: Bytes) -> Result<(), SubmitError> {
        if op.kind.changes_data() && self.read_only {
            return Err(SubmitError::ReadOnly);
        }
        if op.kind == OpKind::Discard && !self.discard {
            return Err(SubmitError::NoDiscard);
        }
        if op.kind == OpKind::Flush {
            return Ok(());
        }
        if op.length == Bytes::ZERO
            || !op.length.is_multiple_of(self.logical_block)
            || !op.offset.is_multiple_of(self.logical_block)
        {
            return Err(SubmitError::Misaligned {
                offset: op.offset,
                length: op.length,
                logical_block: self.logical_block,
            });
        }
        match op.offset.checked_add(op.length) {
            Some(end) if end <= self.size => {}
            _ => {
                return Err(SubmitError::OutOfRange {
                    offset: op.offset,
                    length: op.length,
                    size: self.size,
                });
            }
        }
        if op.kind != OpKind::Discard && op.length > buffer_size {
            return Err(SubmitError::LongerThanBuffer { length: op.length, buffer_size });
        }
        Ok(())
    }
}

/// What drives a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Engine {
    /// Linux io_uring.
    IoUring,
    /// `pread` and `pwrite`, on worker threads above depth 1.
    Psync,
    /// Nothing: operations end as soon as they are taken.
    Null,
    /// A model on a virtual clock.
    Simulated,
}

impl Engine {
    /// The engine's usual name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Psync => "psync",
            Self::Null => "null",
            Self::Simulated => "simulated",
        }
    }
}

/// Whether operations reach the device without passing the page cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directness {
    /// O_DIRECT, or a target that has no cache above it.
    Direct,
    /// Through the page cache, for the reason given.
    Buffered {
        /// Why direct I/O is not in use, in words.
        reason: String,
    },
}

impl Directness {
    /// Whether this is direct.
    #[must_use]
    pub const fn is_direct(&self) -> bool {
        matches!(self, Self::Direct)
    }
}

/// A mistake of the caller: the operation was not taken and nothing was done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubmitError {
    /// A write or discard on a read-only target.
    #[error("the target is read-only; nothing was written")]
    ReadOnly,
    /// A discard on a target without that ability.
    #[error("the target cannot discard")]
    NoDiscard,
    /// Empty, or off the logical block grid.
    #[error(
        "an operation of {length} at offset {offset} does not fit the logical block of {logical_block}"
    )]
    Misaligned {
        /// Where it starts.
        offset: Bytes,
        /// How long it is.
        length: Bytes,
        /// The grid.
        logical_block: Bytes,
    },
    /// Not wholly inside the target.
    #[error("an operation of {length} at offset {offset} ends beyond the target's {size}")]
    OutOfRange {
        /// Where it starts.
        offset: Bytes,
        /// How long it is.
        length: Bytes,
        /// The target's size.
        size: Bytes,
    },
    /// Longer than the buffers made by [`Target::prepare`].
    #[error("an operation of {length} does not fit a buffer of {buffer_size}")]
    LongerThanBuffer {
        /// How long it is.
        length: Bytes,
        /// The size of each buffer.
        buffer_size: Bytes,
    },
    /// There is no such slot.
    #[error("there is no slot {0}")]
    NoSuchSlot(u16),
    /// The slot's operation has not completed yet.
    #[error("slot {0} is still in flight")]
    SlotInFlight(u16),
}

/// The engine, not the storage, cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TargetError {
    /// Buffers were to be replaced under operations in flight.
    #[error("{0} operations are still in flight")]
    InFlight(usize),
    /// Buffers could not be had.
    #[error("cannot get {wanted} of memory for buffers; use a smaller block size or queue depth")]
    Memory {
        /// How much was asked for.
        wanted: Bytes,
        /// Why it was not given.
        #[source]
        source: std::io::Error,
    },
    /// The kernel refused the engine's own machinery.
    #[error("the {engine} engine failed to {doing}")]
    Engine {
        /// Which engine.
        engine: &'static str,
        /// What it was doing.
        doing: &'static str,
        /// What the kernel said.
        #[source]
        source: std::io::Error,
    },
}
