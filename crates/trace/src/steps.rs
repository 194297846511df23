//! A trace as steps of a job: what each request waited for, and how long the job thought first.
//!
//! When a request was issued says little of another storage. What counts is what it waited for.
//! Where the recording tells when requests ended, a request waited for all that had ended before
//! it was issued, and the job's thinking is what lay between the last such moment, or the issue
//! before, and its own. Where the recording does not tell, reads, flushes and durable writes are
//! waited for by whatever follows, a flush waits for everything before it, and other writes are
//! waited for by the next flush alone, as a kernel writes back. The thinking is then the gap
//! between issues and holds what the recording's device took.

use std::collections::VecDeque;

use cardproof_units::Nanos;

use super::error::TraceError;
use super::reader::TraceReader;
use super::request::{Request, RequestKind};

/// How many requests may be under way at a time in a recording; of more, the oldest count as over.
const OPEN_MAX: usize = 256;

/// One request of a job.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Its number in the trace, from 0.
    pub number: u64,
    /// What is asked for.
    pub request: Request,
    /// How long the job thought after what it waited for and after the request before.
    pub think: Nanos,
}

#[derive(Clone, Copy, Debug)]
struct Open {
    number: u64,
    /// When it ended in the recording; `None` where that is not known.
    end: Option<Nanos>,
    request: Request,
}

/// The steps of a trace, in order.
#[derive(Debug)]
pub struct Steps<'a> {
    trace: TraceReader<'a>,
    open: VecDeque<Open>,
    next: u64,
    last_issue: Nanos,
    last_end: Nanos,
}

impl<'a> Steps<'a> {
    /// The steps of `trace`, from its start.
    #[must_use]
    pub fn new(trace: &TraceReader<'a>) -> Self {
        Self {
            trace: trace.restarted(),
            open: VecDeque::with_capacity(OPEN_MAX),
            next: 0,
            last_issue: Nanos::ZERO,
            last_end: Nanos::ZERO,
        }
    }

    /// The next step. What is under way while it is issued is told by [`may_be_open`](
    /// Self::may_be_open) until the step after it is taken.
    ///
    /// # Errors
    /// The trace is damaged.
    pub fn advance(&mut self) -> Result<Option<Step>, TraceError> {
        let Some(request) = self.trace.next().transpose()? else { return Ok(None) };
        self.close_before(&request);
        let think = request.at.saturating_sub(self.last_issue.max(self.last_end));
        self.last_issue = request.at;
        let number = self.next;
        self.next += 1;
        if self.open.len() == OPEN_MAX {
            self.open.pop_front();
        }
        let end = request.service.map(|service| request.at.saturating_add(service));
        self.open.push_back(Open { number, end, request });
        Ok(Some(Step { number, request, think }))
    }

    /// Whether the request called `number` need not be over before the last step is issued.
    #[must_use]
    pub fn may_be_open(&self, number: u64) -> bool {
        // Almost always the youngest.
        self.open.iter().rev().any(|open| open.number == number)
    }

    /// Takes out what `next` waited for.
    fn close_before(&mut self, next: &Request) {
        let last_end = &mut self.last_end;
        self.open.retain(|open| match open.end {
            Some(end) if end <= next.at => {
                *last_end = (*last_end).max(end);
                false
            }
            Some(_) => true,
            None => {
                let is_awaited = open.request.kind == RequestKind::Read
                    || open.request.ends_epoch()
                    || next.kind == RequestKind::Flush;
                !is_awaited
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::Bytes;

    use super::super::{Source, TraceWriter};
    use super::*;

    const UNIT: u64 = 1_000;

    fn request(kind: RequestKind, at: u64, service: Option<u64>) -> Request {
        let length = if kind == Flush { Bytes::ZERO } else { Bytes::kib(4) };
        let service = service.map(|service| Nanos(service * UNIT));
        Request { service, ..Request::new(Nanos(at * UNIT), kind, Bytes::ZERO, length) }
    }

    /// For each step, how long it thinks and which steps before it may be open.
    fn steps(requests: &[Request]) -> Vec<(u64, Vec<u64>)> {
        let mut writer = TraceWriter::new("t", "", Source::Synthetic);
        requests.iter().for_each(|request| writer.push(request));
        let bytes = writer.finish(Nanos::ZERO);
        let mut steps = Steps::new(&TraceReader::new(&bytes).unwrap());
        let mut all = Vec::new();
        while let Some(step) = steps.advance().unwrap() {
            let open = (0..step.number).filter(|&number| steps.may_be_open(number)).collect();
            all.push((step.think.get() / UNIT, open));
        }
        all
    }

    use RequestKind::{Flush, Read, Write};

    #[test]
    fn what_had_ended_was_waited_for() {
        let all = steps(&[
            request(Write, 0, Some(10)),
            request(Write, 2, Some(20)),
            request(Flush, 13, Some(1)),
            request(Write, 30, Some(1)),
        ]);
        assert_eq!(all, [(0, vec![]), (2, vec![0]), (3, vec![1]), (8, vec![])]);
    }

    #[test]
    fn without_ends_writes_wait_for_the_flush_and_all_wait_for_reads_and_flushes() {
        let all = steps(&[
            request(Write, 0, None),
            request(Write, 2, None),
            request(Flush, 5, None),
            request(Write, 6, None),
            request(Read, 7, None),
            request(Write, 9, None),
        ]);
        let open: Vec<Vec<u64>> = all.iter().map(|step| step.1.clone()).collect();
        assert_eq!(open, [vec![], vec![0], vec![], vec![], vec![3], vec![3]]);
        assert_eq!(all.iter().map(|step| step.0).collect::<Vec<_>>(), [0, 2, 3, 1, 1, 2]);
    }
}
