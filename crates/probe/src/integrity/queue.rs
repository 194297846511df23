//! A queue under test: a control without a queue, the same at depth, and a last reading of everything.
//!
//! Where data were wrong at depth, and the control was too short to have shown harm of that rate, both go on until
//! it is known whether the queue is to blame.

use cardproof_evidence::integrity::{control_for, is_to_blame, trials_for};
use cardproof_io::{Fault, Target};
use cardproof_units::{Bytes, Seed};

use super::exerciser::{Exerciser, Goal};
use super::pieces::{LENGTH_MEAN, count_in, lay_out};
use super::{PlanError, Progress, Tally, WrongPiece};
use crate::drive::DriveError;

/// Of the writes at depth so many are made without a queue before: one in this.
const CONTROL_PART: u64 = 8;

/// With fewer wrong pieces, more is done at depth before the control goes on: a rate is known too badly from them.
const WRONG_ENOUGH: u64 = 5;

/// What is done at depth goes on up to so many times the planned writes.
const QUEUED_MAX: u64 = 4;

/// The control goes on up to so many times the planned writes at depth: enough for 5 wrong pieces in the longest
/// part at depth.
const CONTROL_MAX: u64 = 7;

/// The least writes of the control at a time.
const CONTROL_MIN: u64 = 64;

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueuePlan {
    span: Bytes,
    pieces: u64,
    writes: u64,
    depth: u16,
    discards: bool,
    seed: Seed,
}

impl QueuePlan {
    /// A test in `span` from the start of a target, at `depth` requests, that finds a queue which spoils a
    /// share of `share` of the writes (between 0 and 1) with 95 % confidence. With `discards` some pieces are
    /// discarded among the writes.
    ///
    /// # Errors
    /// The span is too small.
    pub fn new(
        span: Bytes,
        depth: u16,
        share: f64,
        discards: bool,
        seed: Seed,
    ) -> Result<Self, PlanError> {
        let pieces = count_in(span)?;
        Ok(Self { span, pieces, writes: trials_for(share), depth, discards, seed })
    }

    /// The same test without discards, for a device that cannot.
    #[must_use]
    pub const fn without_discards(self) -> Self {
        Self { discards: false, ..self }
    }

    /// Whether pieces are discarded among the writes.
    #[must_use]
    pub const fn discards(&self) -> bool {
        self.discards
    }

    /// The most requests under way.
    #[must_use]
    pub const fn depth(&self) -> u16 {
        self.depth
    }

    /// How many pieces there are.
    #[must_use]
    pub const fn pieces(&self) -> u64 {
        self.pieces
    }

    /// The writes at depth.
    #[must_use]
    pub const fn writes(&self) -> u64 {
        self.writes
    }

    /// The writes without a queue.
    #[must_use]
    pub const fn control_writes(&self) -> u64 {
        self.writes.div_ceil(CONTROL_PART)
    }

    /// All writes one at a time before those at depth: the first writing of each piece, and those without a queue.
    #[must_use]
    pub const fn writes_before(&self) -> u64 {
        self.pieces + self.control_writes()
    }

    /// At most so much is written where data are wrong at depth, and too few to know whether they are without a
    /// queue as well.
    #[must_use]
    pub const fn bytes_at_most(&self) -> Bytes {
        Bytes((2 * self.pieces + (QUEUED_MAX + CONTROL_MAX) * self.writes) * LENGTH_MEAN)
    }

    /// About so much is written.
    #[must_use]
    pub const fn bytes_to_write(&self) -> Bytes {
        Bytes((self.writes_before() + self.writes) * LENGTH_MEAN)
    }
}

/// Why a test ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum End {
    /// All was done.
    #[default]
    Done,
    /// So much was wrong that the answer is certain.
    Certain,
    /// The user would have it end.
    Stopped,
    /// The device reported too many errors, the last of them this.
    Failing(Fault),
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct QueueOutcome {
    /// What was done one request at a time, the last reading of everything included.
    pub control: Tally,
    /// What was done at depth.
    pub queued: Tally,
    /// The wrong pieces, the first of them where there are many, and whether each was found at depth.
    pub wrong: Vec<(WrongPiece, bool)>,
    /// Requests that the device answered with an error.
    pub faults: u64,
    /// How many of these errors a further try, alone, did not show.
    pub mended: u64,
    /// Everything that was written.
    pub bytes_written: Bytes,
    /// Everything that was read.
    pub bytes_read: Bytes,
    /// How it ended.
    pub end: End,
}

/// Tests the queue of `target` by `plan`.
///
/// # Errors
/// The experiment cannot go on.
pub fn run_queue(
    target: &mut dyn Target,
    plan: &QueuePlan,
    progress: &mut dyn Progress,
) -> Result<QueueOutcome, DriveError> {
    let pieces = lay_out(plan.span, plan.pieces, plan.seed.derive("places of pieces"));
    let mut exerciser = Exerciser::new(target, pieces, plan.depth, plan.seed)?;
    let control = Goal { depth: 1, writes: plan.control_writes(), discards: false };
    let queued = Goal { depth: plan.depth, writes: plan.writes, discards: plan.discards };
    let mut end = exerciser.lay_down("first writing", progress)?;
    if end == End::Done {
        end = exerciser.exercise(&control, "without a queue", progress)?;
    }
    let mut of_control = exerciser.take_tally();
    let mut of_queue = Tally::default();
    if end == End::Done && of_control.wrong == 0 {
        end = exerciser.exercise(&queued, "at depth", progress)?;
        of_queue = exerciser.take_tally();
        if end == End::Done {
            end = find_more(&mut exerciser, plan, &mut of_queue, progress)?;
        }
        if matches!(end, End::Done | End::Certain) {
            let last = exerciser.read_all("last reading", progress)?;
            end = if end == End::Done { last } else { end };
            let found = exerciser.take_tally();
            // What is wrong at the end was right without a queue before.
            of_queue.wrong += found.wrong;
            of_control.reads += found.reads;
        }
        if end == End::Done && of_queue.wrong > 0 {
            end = extend_control(&mut exerciser, plan, &of_queue, &mut of_control, progress)?;
        }
    }
    exerciser.drain()?;
    let (faults, mended) = exerciser.faults();
    let wrong = exerciser.found();
    let (bytes_written, bytes_read) = exerciser.moved();
    Ok(QueueOutcome {
        control: of_control,
        queued: of_queue,
        wrong,
        faults,
        mended,
        bytes_written,
        bytes_read,
        end,
    })
}

/// Goes on at depth where few pieces were wrong.
fn find_more(
    exerciser: &mut Exerciser<'_>,
    plan: &QueuePlan,
    of_queue: &mut Tally,
    progress: &mut dyn Progress,
) -> Result<End, DriveError> {
    let part = Goal { depth: plan.depth, writes: plan.control_writes(), discards: plan.discards };
    let mut end = End::Done;
    while end == End::Done
        && (1..WRONG_ENOUGH).contains(&of_queue.wrong)
        && of_queue.writes + part.writes <= QUEUED_MAX * plan.writes
    {
        end = exerciser.exercise(&part, "at depth, longer", progress)?;
        of_queue.add(&exerciser.take_tally());
    }
    Ok(end)
}

/// Goes on without a queue until the control would have shown what was wrong at depth, or shows it.
///
/// Everything is written anew first, so that what was written at depth and is lost later is not found now.
fn extend_control(
    exerciser: &mut Exerciser<'_>,
    plan: &QueuePlan,
    of_queue: &Tally,
    of_control: &mut Tally,
    progress: &mut dyn Progress,
) -> Result<End, DriveError> {
    let (mut end, mut is_anew) = (End::Done, false);
    while end == End::Done
        && of_control.wrong == 0
        && !of_queue.is_told_from(of_control)
        && of_control.writes < CONTROL_MAX * plan.writes
    {
        end = if is_anew {
            let missing =
                control_for(of_queue.wrong, of_queue.writes).saturating_sub(of_control.writes);
            let writes = missing.clamp(CONTROL_MIN, plan.control_writes().max(CONTROL_MIN));
            let part = Goal { depth: 1, writes, discards: false };
            exerciser.exercise(&part, "without a queue, longer", progress)?
        } else {
            exerciser.lay_down("writing anew", progress)?
        };
        is_anew = true;
        of_control.add(&exerciser.take_tally());
    }
    Ok(end)
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.writes += other.writes;
        self.reads += other.reads;
        self.flushes += other.flushes;
        self.wrong += other.wrong;
        self.time += other.time;
    }

    /// Whether `control`, in which nothing was wrong, would have shown what is wrong here, if it came as often from
    /// each write, each read or each flush.
    fn is_told_from(&self, control: &Self) -> bool {
        [
            (self.writes, control.writes),
            (self.reads, control.reads),
            (self.flushes, control.flushes),
        ]
        .iter()
        .all(|&(queued, control)| is_to_blame(self.wrong, queued, control))
    }
}
