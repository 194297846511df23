//! The binary files of `blktrace`: one for each processor, `NAME.blktrace.N`, or all of them in
//! one stream as `blktrace -o -` gives them.
//!
//! The form is that of Linux's `include/uapi/linux/blktrace_api.h`, version 7: events of 48 bytes,
//! each followed by as many bytes as it says. Of them the issue of a request to its driver and its
//! completion are kept; where a device has no issues (a mapped or stacked one) its requests count
//! from when they were queued. Names of programs, which are there too, are not kept.

use cardproof_units::{Bytes, Nanos};

use super::error::ByteError;
use super::header::Source;
use super::recording::Recording;
use super::request::{Request, RequestKind};

/// `BLK_IO_TRACE_MAGIC`, without the version in its lowest byte.
const MAGIC: u32 = 0x6561_7400;

/// `BLK_IO_TRACE_VERSION`.
const VERSION: u32 = 7;

/// The length of `struct blk_io_trace`.
const EVENT_LENGTH: usize = 48;

/// The unit of its sectors.
const SECTOR_BYTES: u64 = 512;

/// `__BLK_TA_QUEUE`, `__BLK_TA_ISSUE`, `__BLK_TA_COMPLETE`: what happened.
const QUEUE: u32 = 1;
const ISSUE: u32 = 7;
const COMPLETE: u32 = 8;

/// `__BLK_TA_CGROUP`: more bytes follow that name a control group.
const CGROUP: u32 = 1 << 8;

/// The categories, `BLK_TC_…`, in the upper half of an action.
const WRITE: u32 = 1 << 1;
const FLUSH: u32 = 1 << 2;
const SYNC: u32 = 1 << 3;
const PASSTHROUGH: u32 = 1 << 9;
const NOTIFY: u32 = 1 << 10;
const METADATA: u32 = 1 << 12;
const DISCARD: u32 = 1 << 13;
const FORCED_UNIT_ACCESS: u32 = 1 << 15;

/// Whether `bytes` begin as a file of blktrace does.
#[must_use]
pub fn is_blktrace(bytes: &[u8]) -> bool {
    order_of(bytes).is_some()
}

/// The order of bytes on the recording computer.
#[derive(Clone, Copy, Debug)]
enum Order {
    Little,
    Big,
}

/// The order of the bytes of an event at the start of `bytes`; `None` where there is none.
fn order_of(bytes: &[u8]) -> Option<Order> {
    let word = *bytes.first_chunk::<4>()?;
    if u32::from_le_bytes(word) & !0xff == MAGIC {
        Some(Order::Little)
    } else if u32::from_be_bytes(word) & !0xff == MAGIC {
        Some(Order::Big)
    } else {
        None
    }
}

/// The numbers of one event.
struct Fields<'a> {
    bytes: &'a [u8; EVENT_LENGTH],
    order: Order,
}

impl Fields<'_> {
    fn array<const N: usize>(&self, at: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes[at..at + N]);
        if matches!(self.order, Order::Big) {
            array.reverse();
        }
        array
    }

    fn half(&self, at: usize) -> u16 {
        u16::from_le_bytes(self.array(at))
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_le_bytes(self.array(at))
    }

    fn long(&self, at: usize) -> u64 {
        u64::from_le_bytes(self.array(at))
    }
}

/// An event that is kept.
#[derive(Clone, Copy, Debug)]
struct Event {
    action: u32,
    request: Request,
    flush_before: bool,
}

/// Takes the files of one recording and makes a trace of them.
#[derive(Debug, Default)]
pub struct BlktraceReader {
    events: Vec<Event>,
    device: Option<u32>,
}

impl BlktraceReader {
    /// Takes the events of one processor's file, or of a stream.
    ///
    /// # Errors
    /// The byte at which something begins that is no event, that is cut off, or that belongs to
    /// another device than what came before.
    pub fn add(&mut self, bytes: &[u8]) -> Result<(), ByteError> {
        let mut offset = 0;
        while offset < bytes.len() {
            offset += self.add_event(&bytes[offset..], offset)?;
        }
        Ok(())
    }

    /// Takes the event at the start of `bytes`, which is at `offset`, and returns its length.
    fn add_event(&mut self, bytes: &[u8], offset: usize) -> Result<usize, ByteError> {
        let wrong = |what| ByteError { offset, what };
        let cut_off = || wrong("the event that begins here is cut off; copy the file again");
        let Some(event) = bytes.first_chunk::<EVENT_LENGTH>() else {
            return Err(if bytes.len() < 4 || is_blktrace(bytes) {
                cut_off()
            } else {
                wrong("no event of blktrace begins here")
            });
        };
        let order = order_of(event).ok_or_else(|| wrong("no event of blktrace begins here"))?;
        let fields = Fields { bytes: event, order };
        if fields.word(0) & 0xff != VERSION {
            return Err(wrong("an event of another version of blktrace than 7"));
        }
        let length = EVENT_LENGTH + usize::from(fields.half(46));
        if bytes.len() < length {
            return Err(cut_off());
        }
        if let Some(event) = event_of(&fields).map_err(wrong)? {
            let device = fields.word(36);
            if *self.device.get_or_insert(device) != device {
                return Err(wrong("an event of a second device; read the files of one device"));
            }
            self.events.push(event);
        }
        Ok(length)
    }

    /// The trace, from the first request on; `None` where there is none.
    #[must_use]
    pub fn finish(mut self, name: &str, description: &str) -> Option<Vec<u8>> {
        // Of what happened at the same time, the completion comes last, as it must follow an issue.
        self.events.sort_by_key(|event| (event.request.at, event.action));
        let has = |action| self.events.iter().any(|event| event.action == action);
        let begin = if has(ISSUE) { ISSUE } else { QUEUE };
        let (has_ends, mut recording) = (has(COMPLETE), Recording::default());
        for Event { action, request, flush_before } in self.events {
            if action == COMPLETE {
                recording.complete(request.kind, request.offset, request.at);
            } else if action == begin {
                if flush_before {
                    let at = request.at;
                    recording.add(Request::new(at, RequestKind::Flush, Bytes::ZERO, Bytes::ZERO));
                }
                if has_ends { recording.issue(request) } else { recording.add(request) }
            }
        }
        let has_requests = recording.requests() > 0;
        has_requests.then(|| recording.finish(name, description, Source::Blktrace, Bytes::ZERO))
    }
}

/// The event in `fields`, if it is one that is kept.
fn event_of(fields: &Fields<'_>) -> Result<Option<Event>, &'static str> {
    let (action, categories) = (fields.word(28) & 0xffff & !CGROUP, fields.word(28) >> 16);
    if categories & (NOTIFY | PASSTHROUGH) != 0 || ![QUEUE, ISSUE, COMPLETE].contains(&action) {
        return Ok(None);
    }
    let is = |category| categories & category != 0;
    let bytes = u64::from(fields.word(24));
    let kind = match (bytes, is(FLUSH)) {
        (0, true) => RequestKind::Flush,
        // Neither moves anything nor flushes.
        (0, false) => return Ok(None),
        _ if is(DISCARD) => RequestKind::Discard,
        _ if is(WRITE) => RequestKind::Write,
        _ => RequestKind::Read,
    };
    let is_flush = kind == RequestKind::Flush;
    let sector = if is_flush { 0 } else { fields.long(16) };
    let beyond = "a request that ends beyond any device";
    let offset = sector.checked_mul(SECTOR_BYTES).ok_or(beyond)?;
    let length = bytes.next_multiple_of(SECTOR_BYTES);
    offset.checked_add(length).ok_or(beyond)?;
    let request = Request {
        durable: is(FORCED_UNIT_ACCESS) && kind == RequestKind::Write,
        sync: is(SYNC),
        metadata: is(METADATA),
        ..Request::new(Nanos(fields.long(8)), kind, Bytes(offset), Bytes(length))
    };
    Ok(Some(Event { action, request, flush_before: is(FLUSH) && !is_flush }))
}

#[cfg(test)]
mod tests {
    use super::super::TraceReader;
    use super::*;

    /// One event; `what` is its action and categories.
    fn event(at: u64, sector: u64, bytes: u32, what: (u32, u32), device: u32) -> Vec<u8> {
        let mut event = Vec::new();
        for word in [MAGIC | VERSION, 1] {
            event.extend(word.to_le_bytes());
        }
        event.extend(at.to_le_bytes());
        event.extend(sector.to_le_bytes());
        for word in [bytes, what.0 | what.1 << 16, 77, device, 0] {
            event.extend(word.to_le_bytes());
        }
        event.extend(0_u16.to_le_bytes());
        event.extend(2_u16.to_le_bytes());
        event.extend(b"xy");
        event
    }

    fn requests(files: &[Vec<u8>]) -> Vec<Request> {
        let mut reader = BlktraceReader::default();
        files.iter().for_each(|file| reader.add(file).unwrap());
        let trace = reader.finish("t", "").unwrap();
        TraceReader::new(&trace).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn the_files_of_processors_are_merged_by_time() {
        let first = [
            event(100, 8, 4096, (QUEUE, WRITE), 1),
            event(1100, 8, 4096, (ISSUE, WRITE | SYNC | METADATA), 1),
            event(3000, 0, 0, (ISSUE, FLUSH), 1),
            event(9000, 64, 512, (ISSUE, 1), 1),
        ];
        let second =
            [event(2100, 8, 4096, (COMPLETE, WRITE), 1), event(3500, 0, 0, (COMPLETE, FLUSH), 1)];
        let write = Request::new(Nanos::ZERO, RequestKind::Write, Bytes::kib(4), Bytes::kib(4));
        let flush = Request::new(Nanos(1900), RequestKind::Flush, Bytes::ZERO, Bytes::ZERO);
        let expected = [
            Request { sync: true, metadata: true, service: Some(Nanos(1000)), ..write },
            Request { service: Some(Nanos(500)), ..flush },
            Request::new(Nanos(7900), RequestKind::Read, Bytes::kib(32), Bytes(512)),
        ];
        assert_eq!(requests(&[second.concat(), first.concat()]), expected);
    }

    #[test]
    fn without_issues_requests_count_from_the_queue_and_without_ends_none_is_a_repetition() {
        let write = (QUEUE, WRITE | FLUSH | FORCED_UNIT_ACCESS);
        let file = [event(5, 8, 512, write, 1), event(6, 8, 512, (QUEUE, WRITE), 1)].concat();
        let kinds: Vec<_> =
            requests(&[file]).iter().map(|request| (request.kind, request.durable)).collect();
        assert_eq!(
            kinds,
            [(RequestKind::Flush, false), (RequestKind::Write, true), (RequestKind::Write, false)]
        );
    }

    #[test]
    fn bytes_in_the_other_order_are_read_as_well() {
        let little = event(5, 8, 512, (ISSUE, WRITE), 1);
        let mut big = little.clone();
        for (at, length) in [
            (0, 4),
            (4, 4),
            (8, 8),
            (16, 8),
            (24, 4),
            (28, 4),
            (32, 4),
            (36, 4),
            (40, 4),
            (44, 2),
            (46, 2),
        ] {
            big[at..at + length].reverse();
        }
        assert_eq!(requests(&[big]), requests(&[little]));
    }

    #[test]
    fn an_error_names_the_byte() {
        let good = event(5, 8, 512, (ISSUE, WRITE), 1);
        let add = |bytes: &[u8]| BlktraceReader::default().add(bytes).unwrap_err();
        let whole = good.len();
        for (tail, offset, what) in [
            (good[..20].to_vec(), whole, "cut off"),
            (good[..49].to_vec(), whole, "cut off"),
            (vec![0; 60], whole, "no event"),
            (event(6, 8, 512, (ISSUE, WRITE), 2), whole, "second device"),
            (event(6, u64::MAX, 512, (ISSUE, WRITE), 1), whole, "beyond"),
        ] {
            let error = add(&[good.clone(), tail].concat());
            assert_eq!(error.offset, offset, "{what}");
            assert!(error.to_string().contains(what), "{error}");
        }
        let mut old = good;
        old[0] = 6;
        assert!(add(&old).what.contains("version"));
    }
}
