//! The thread that owns the card: takes requests, waits for deadlines, answers.
//!
//! The card's clock stands at the last thing that happened to it and never runs ahead to the
//! real clock, so a request that comes a little late is still taken at the moment at which the
//! one before it was over.

use std::collections::VecDeque;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use cardproof_io::{Completion, Op, Slot, Submission, Target, TargetError, Wait};
use cardproof_sim::PacedTarget;
use cardproof_units::Bytes;
use fuser::Errno;

use crate::reply::{Reply, Request};
use crate::timeline::Timeline;

/// The most bytes in one request: what FUSE hands over at a time.
pub(crate) const REQUEST_MAX: Bytes = Bytes::mib(1);

/// How many requests the card works on; more wait in a queue here.
const SLOTS: u16 = 64;

/// A request on its way to the pacer.
#[derive(Debug)]
pub(crate) enum Message {
    /// Do this.
    Request(Request),
    /// End: answer what is there with an error.
    Stop,
}

/// What to do next.
enum Event {
    Request(Request),
    Due,
    Stop,
}

/// A card in real time.
pub(crate) struct Pacer {
    target: Box<dyn PacedTarget>,
    timeline: Timeline,
    free: Vec<Slot>,
    /// By slot: whom to tell.
    flying: Vec<Option<Reply>>,
    waiting: VecDeque<Request>,
    completions: Vec<Completion>,
}

impl Pacer {
    /// Makes `target` ready; its time zero is now, `speed` of its seconds take a real one.
    pub(crate) fn new(mut target: Box<dyn PacedTarget>, speed: f64) -> Result<Self, TargetError> {
        target.prepare(SLOTS, REQUEST_MAX)?;
        Ok(Self {
            target,
            timeline: Timeline::starting_now(speed),
            free: (0..SLOTS).map(Slot).collect(),
            flying: (0..SLOTS).map(|_| None).collect(),
            waiting: VecDeque::new(),
            completions: Vec::new(),
        })
    }

    /// Serves until told to stop or until nobody can send any more.
    pub(crate) fn run(mut self, messages: &Receiver<Message>) {
        wake_up_on_time();
        loop {
            match self.next_event(messages) {
                Event::Request(request) => self.take(request),
                Event::Due => self.answer_due(),
                Event::Stop => return self.fail_all(messages),
            }
        }
    }

    fn next_event(&mut self, messages: &Receiver<Message>) -> Event {
        let Some(due) = self.target.next_due() else {
            return messages.recv().map_or(Event::Stop, Event::from);
        };
        let left = self.timeline.deadline(due).saturating_duration_since(Instant::now());
        if left == Duration::ZERO {
            return Event::Due;
        }
        match messages.recv_timeout(left) {
            Ok(message) => Event::from(message),
            Err(RecvTimeoutError::Timeout) => Event::Due,
            Err(RecvTimeoutError::Disconnected) => Event::Stop,
        }
    }

    /// Takes a request at the time at which it came.
    fn take(&mut self, request: Request) {
        let arrival = self.timeline.arrival(request.received, self.target.now());
        while self.target.now() < arrival {
            self.advance(Wait::Until(arrival));
        }
        self.waiting.push_back(request);
        self.submit_waiting();
    }

    /// Goes on to the next thing that is due.
    fn answer_due(&mut self) {
        self.advance(Wait::One);
        self.submit_waiting();
    }

    /// Lets the card's time pass as `wait` says and answers what is over.
    fn advance(&mut self, wait: Wait) {
        let mut completions = std::mem::take(&mut self.completions);
        if self.target.complete(wait, &mut completions).is_err() {
            self.fail_flying();
        }
        for completion in completions.drain(..) {
            self.answer(&completion);
        }
        self.completions = completions;
    }

    fn answer(&mut self, completion: &Completion) {
        let Some(reply) = self.flying[completion.slot.index()].take() else { return };
        self.free.push(completion.slot);
        reply.answer(completion.outcome, self.target.buffer(completion.slot));
        self.timeline.note_reply();
    }

    fn submit_waiting(&mut self) {
        while let Some(slot) = self.free.pop() {
            let Some(request) = self.waiting.pop_front() else {
                self.free.push(slot);
                return;
            };
            self.submit(slot, request);
        }
    }

    fn submit(&mut self, slot: Slot, request: Request) {
        let Request { kind, offset, length, data, reply, .. } = request;
        self.target.buffer(slot)[..data.len()].copy_from_slice(&data);
        match self.target.submit(Op { slot, kind, offset, length }) {
            Ok(Submission::Queued) => self.flying[slot.index()] = Some(reply),
            Ok(Submission::Done(completion)) => {
                self.flying[slot.index()] = Some(reply);
                self.answer(&completion);
            }
            Ok(Submission::Busy) | Err(_) => {
                self.free.push(slot);
                reply.fail(Errno::EIO);
            }
        }
    }

    fn fail_flying(&mut self) {
        for reply in self.flying.iter_mut().filter_map(Option::take) {
            reply.fail(Errno::EIO);
        }
    }

    fn fail_all(mut self, messages: &Receiver<Message>) {
        self.fail_flying();
        let queued = messages.try_iter().filter_map(|message| match message {
            Message::Request(request) => Some(request),
            Message::Stop => None,
        });
        for request in self.waiting.into_iter().chain(queued) {
            request.reply.fail(Errno::ENODEV);
        }
    }
}

impl From<Message> for Event {
    fn from(message: Message) -> Self {
        match message {
            Message::Request(request) => Self::Request(request),
            Message::Stop => Self::Stop,
        }
    }
}

/// Asks the kernel not to put this thread's wake-ups off to save power, by up to 50 us. Where it
/// will not, replies are a little later.
fn wake_up_on_time() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}
