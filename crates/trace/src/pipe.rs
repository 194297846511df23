//! The kernel's block tracepoints as text, as `trace_pipe` gives them.
//!
//! `block_rq_issue` is a request on its way to the device, `block_rq_complete` its end. Lines of
//! other events, and of other devices, are passed over. Names of commands are not kept.
//!
//! The lines are those of the kernel's `include/trace/events/block.h`; from 6.11 on they have the
//! priority as one word more, which is passed over too.

use cardproof_units::{Bytes, Nanos};

use super::csv::letters;
use super::header::Source;
use super::recording::Recording;
use super::request::{Request, RequestKind};
use crate::seconds::nanos;

const ISSUE: &str = ": block_rq_issue: ";
const COMPLETE: &str = ": block_rq_complete: ";
const LOST: &str = "LOST ";

/// The unit of sectors in the kernel's events, whatever the device's block is.
const SECTOR_BYTES: u64 = 512;

/// Takes the lines of a recording and makes a trace of them.
#[derive(Debug, Default)]
pub struct PipeReader {
    recording: Recording,
    lost: u64,
    not_understood: u64,
}

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line<'a> {
    at: Nanos,
    rwbs: &'a str,
    sector: u64,
    sectors: u64,
}

impl PipeReader {
    /// Takes one line of the events of the device that is to be recorded.
    pub fn add(&mut self, line: &str) {
        if let Some((_, rest)) = line.split_once(ISSUE) {
            match parsed(line, ISSUE, rest) {
                Some(line) => self.issue(&line),
                None => self.not_understood += 1,
            }
        } else if let Some((_, rest)) = line.split_once(COMPLETE) {
            match parsed(line, COMPLETE, rest) {
                Some(line) => self.complete(&line),
                None => self.not_understood += 1,
            }
        } else if let Some((_, rest)) = line.split_once(LOST) {
            let count = rest.split_whitespace().next().and_then(|word| word.parse().ok());
            self.lost += count.unwrap_or(1);
        }
    }

    /// How many events the kernel had no room for, as its lines say.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// How many lines of the right events were not understood.
    #[must_use]
    pub const fn not_understood(&self) -> u64 {
        self.not_understood
    }

    /// How many requests there are.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.recording.requests()
    }

    /// The trace, from the first request on, of a device of `device`.
    #[must_use]
    pub fn finish(self, name: &str, description: &str, device: Bytes) -> Vec<u8> {
        self.recording.finish(name, description, Source::BlockTracepoints, device)
    }

    fn issue(&mut self, line: &Line<'_>) {
        let Some(letters) = letters(line.rwbs) else {
            self.not_understood += 1;
            return;
        };
        let Some(kind) = letters.kind else { return };
        let is_flush = kind == RequestKind::Flush;
        if !is_flush && line.sectors == 0 {
            return;
        }
        let length = if is_flush { Bytes::ZERO } else { bytes(line.sectors) };
        self.recording.issue(Request {
            durable: letters.durable && kind == RequestKind::Write,
            sync: letters.sync,
            metadata: letters.metadata,
            ..Request::new(line.at, kind, start(kind, line.sector), length)
        });
    }

    fn complete(&mut self, line: &Line<'_>) {
        if let Some(kind) = letters(line.rwbs).and_then(|letters| letters.kind) {
            self.recording.complete(kind, start(kind, line.sector), line.at);
        }
    }
}

/// Where a request of `kind` starts; a flush has no place, whatever sector the kernel prints.
fn start(kind: RequestKind, sector: u64) -> Bytes {
    if kind == RequestKind::Flush { Bytes::ZERO } else { bytes(sector) }
}

fn bytes(sectors: u64) -> Bytes {
    Bytes(sectors.saturating_mul(SECTOR_BYTES))
}

/// The parts of `line`, whose event's own text is `rest`.
fn parsed<'a>(line: &'a str, event: &str, rest: &'a str) -> Option<Line<'a>> {
    let head = line.split(event).next()?;
    let at = nanos(head.split_whitespace().next_back()?)?;
    let mut words = rest.split_whitespace();
    let _device = words.next()?;
    let rwbs = words.next()?;
    // The sector, a plus and the number of sectors come behind the command in brackets.
    let (_, range) = rest.split_once(") ")?;
    let mut range = range.split_whitespace();
    let sector = range.next()?.parse().ok()?;
    if range.next()? != "+" {
        return None;
    }
    Some(Line { at, rwbs, sector, sectors: range.next()?.parse().ok()? })
}

#[cfg(test)]
mod tests {
    use super::super::TraceReader;
    use super::*;

    const LINES: &str = "\
            tar: x-12   [001] d..1.   100.000100: block_rq_issue: 7,0 WS 8192 () 64 + 16 be,0,4 [tar: x]
   kworker/1:1H-99  [001] d..1.   100.000400: block_rq_complete: 7,0 WS () 64 + 16 be,0,4 [0]
CPU:1 [LOST 3 EVENTS]
   kworker/1:1H-99  [001] d..1.   100.000500: block_rq_issue: 7,0 FF 0 () 18446744073709551615 + 0 none,0,0 [kworker/1:1H]
   kworker/1:1H-99  [001] d..1.   100.000900: block_rq_complete: 7,0 FF () 18446744073709551615 + 0 none,0,0 [0]
            old-1    [000] d..1   100.001000: block_rq_issue: 7,0 RA 4096 () 8 + 8 [old]
            old-1    [000] d..1   100.001500: block_rq_issue: 7,0 broken
";

    #[test]
    fn lines_of_old_and_new_kernels_become_requests() {
        let mut reader = PipeReader::default();
        LINES.lines().for_each(|line| reader.add(line));
        assert_eq!((reader.lost(), reader.not_understood(), reader.requests()), (3, 1, 3));
        let bytes = reader.finish("job", "", Bytes::mib(64));
        let trace = TraceReader::new(&bytes).unwrap();
        assert_eq!(trace.header().device_bytes, Bytes::mib(64));
        let requests: Vec<Request> = trace.map(Result::unwrap).collect();
        let micros = Nanos::from_micros;
        let write = Request::new(Nanos::ZERO, RequestKind::Write, Bytes::kib(32), Bytes::kib(8));
        let flush = Request::new(micros(400), RequestKind::Flush, Bytes::ZERO, Bytes::ZERO);
        assert_eq!(
            requests,
            [
                Request { sync: true, service: Some(micros(300)), ..write },
                Request { service: Some(micros(400)), ..flush },
                Request::new(micros(900), RequestKind::Read, Bytes::kib(4), Bytes::kib(4)),
            ]
        );
    }

    #[test]
    fn a_request_that_is_issued_again_is_one() {
        let mut reader = PipeReader::default();
        for at in ["1.000001", "1.000002"] {
            reader.add(&format!("a-1 [000] ... {at}: block_rq_issue: 7,0 W 4096 () 8 + 8 [a]"));
        }
        assert_eq!(reader.requests(), 1);
    }
}
