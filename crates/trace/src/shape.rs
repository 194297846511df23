//! What is in a trace: requests, sizes, streams, flushes.

use cardproof_units::{Bytes, Nanos};

use super::request::{Request, RequestKind};

/// How many streams are followed at most.
const STREAMS_MAX: usize = 8;

/// The upper ends of the classes of size.
const SIZE_CLASSES: [Bytes; 6] = [
    Bytes::kib(4),
    Bytes::kib(16),
    Bytes::kib(64),
    Bytes::kib(256),
    Bytes::mib(1),
    Bytes(u64::MAX),
];

/// Writes of about one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SizeClass {
    /// At most this long, and longer than the class before.
    pub up_to: Bytes,
    /// How many.
    pub writes: u64,
    /// What they wrote together.
    pub bytes: Bytes,
}

/// The figures of a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shape {
    /// How many requests read.
    pub reads: u64,
    /// How many write.
    pub writes: u64,
    /// How many flush.
    pub flushes: u64,
    /// How many discard.
    pub discards: u64,
    /// How many writes are durable by themselves.
    pub durable_writes: u64,
    /// What is read.
    pub bytes_read: Bytes,
    /// What is written.
    pub bytes_written: Bytes,
    /// Writes by their size.
    pub sizes: Vec<SizeClass>,
    /// When the last request was issued.
    pub last_issue: Nanos,
    /// How many epochs end with a flush or a durable write.
    pub epochs: u64,
    /// How many requests tell how long the device took.
    pub served: u64,
    /// How long it took for all of them.
    pub service: Nanos,
    /// How long it took for the slowest.
    pub service_max: Nanos,
    /// How long the device had nothing to do between requests: the job thought. Of use only where all
    /// requests tell how long they took.
    pub pauses: Nanos,
    /// When the last request so far was over.
    busy_until: Nanos,
    /// Of the writes, how many go on where one of the last 1, 2, … 8 streams ended.
    continuing: [u64; STREAMS_MAX],
    /// Where the streams of writes end, the latest first.
    ends: Vec<Bytes>,
    has_open_epoch: bool,
}

impl Shape {
    /// The shape of nothing.
    #[must_use]
    pub fn new() -> Self {
        let class = |up_to| SizeClass { up_to, ..SizeClass::default() };
        Self { sizes: SIZE_CLASSES.map(class).to_vec(), ..Self::default() }
    }

    /// Takes one request.
    pub fn add(&mut self, request: &Request) {
        self.last_issue = self.last_issue.max(request.at);
        match request.kind {
            RequestKind::Read => {
                self.reads += 1;
                self.bytes_read = with(self.bytes_read, request.length);
            }
            RequestKind::Write => self.add_write(request),
            RequestKind::Flush => self.flushes += 1,
            RequestKind::Discard => self.discards += 1,
        }
        self.add_times(request);
        if request.ends_epoch() {
            self.epochs += u64::from(self.has_open_epoch || request.durable);
            self.has_open_epoch = false;
        } else {
            self.has_open_epoch = true;
        }
    }

    fn add_times(&mut self, request: &Request) {
        if self.requests() > 1 {
            let pause = request.at.saturating_sub(self.busy_until);
            self.pauses = Nanos(self.pauses.0.saturating_add(pause.0));
        }
        let service = request.service.unwrap_or(Nanos::ZERO);
        self.served += u64::from(request.service.is_some());
        self.service = Nanos(self.service.0.saturating_add(service.0));
        self.service_max = self.service_max.max(service);
        self.busy_until = self.busy_until.max(Nanos(request.at.0.saturating_add(service.0)));
    }

    fn add_write(&mut self, request: &Request) {
        self.writes += 1;
        self.bytes_written = with(self.bytes_written, request.length);
        self.durable_writes += u64::from(request.durable);
        if let Some(class) = self.sizes.iter_mut().find(|class| request.length <= class.up_to) {
            class.writes += 1;
            class.bytes = with(class.bytes, request.length);
        }
        let stream = self.ends.iter().position(|&end| end == request.offset);
        match stream {
            Some(number) => {
                for count in &mut self.continuing[number..] {
                    *count += 1;
                }
                self.ends.remove(number);
            }
            None => self.ends.truncate(STREAMS_MAX - 1),
        }
        self.ends.insert(0, request.end());
    }

    /// All requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.reads + self.writes + self.flushes + self.discards
    }

    /// Of the writes, the share that goes on where one of the last `streams` streams of writes
    /// ended, the most recently used ones being remembered: 0 to 1, and 0 without writes.
    /// `streams` is 1 to 8.
    #[must_use]
    pub fn sequential_share(&self, streams: usize) -> f64 {
        let count = self.continuing[streams.clamp(1, STREAMS_MAX) - 1];
        share(count, self.writes)
    }

    /// Of the writes, the share that is not longer than 4 KiB: 0 to 1, and 0 without writes.
    #[must_use]
    pub fn share_up_to_4k(&self) -> f64 {
        share(self.sizes.first().map_or(0, |class| class.writes), self.writes)
    }
}

/// The sum; of a table that asks for more than there can be, the most there can be.
fn with(sum: Bytes, more: Bytes) -> Bytes {
    sum.checked_add(more).unwrap_or(Bytes(u64::MAX))
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(block: u64, blocks: u64) -> Request {
        Request::new(Nanos::ZERO, RequestKind::Write, Bytes::kib(4 * block), Bytes::kib(4 * blocks))
    }

    fn shape(requests: &[Request]) -> Shape {
        let mut shape = Shape::new();
        requests.iter().for_each(|request| shape.add(request));
        shape
    }

    #[test]
    fn two_interleaved_streams_are_random_to_one_eye_and_sequential_to_two() {
        let shape = shape(&[write(0, 1), write(100, 1), write(1, 1), write(101, 1), write(2, 1)]);
        assert!(shape.sequential_share(1).abs() < 1e-12);
        assert!((shape.sequential_share(2) - 0.6).abs() < 1e-12);
        assert!((shape.sequential_share(8) - 0.6).abs() < 1e-12);
    }

    #[test]
    fn the_least_recent_stream_is_forgotten() {
        let mut requests: Vec<Request> = (0..9).map(|stream| write(1000 * stream, 1)).collect();
        requests.push(write(1, 1));
        assert!(shape(&requests).sequential_share(8).abs() < 1e-12);
        requests.pop();
        requests.push(write(1001, 1));
        assert!((shape(&requests).sequential_share(8) - 0.1).abs() < 1e-12);
    }

    #[test]
    fn epochs_end_with_flushes_and_durable_writes() {
        let flush = Request::new(Nanos::ZERO, RequestKind::Flush, Bytes::ZERO, Bytes::ZERO);
        let durable = Request { durable: true, ..write(9, 1) };
        let shape = shape(&[flush, write(0, 1), write(1, 1), flush, flush, durable, write(2, 1)]);
        assert_eq!((shape.epochs, shape.flushes, shape.durable_writes), (2, 3, 1));
        assert_eq!(shape.requests(), 7);
    }

    #[test]
    fn pauses_are_the_time_without_any_request() {
        let at = |millis, service| Request {
            at: Nanos::from_millis(millis),
            service: Some(Nanos::from_millis(service)),
            ..write(0, 1)
        };
        let shape = shape(&[at(5, 10), at(8, 1), at(20, 3), at(40, 2)]);
        assert_eq!(
            (shape.served, shape.service, shape.service_max),
            (4, Nanos::from_millis(16), Nanos::from_millis(10))
        );
        assert_eq!(shape.pauses, Nanos::from_millis(5 + 17));
    }

    #[test]
    fn sizes_are_counted_by_class() {
        let shape = shape(&[write(0, 1), write(5, 2), write(50, 4), write(90, 300)]);
        let counts: Vec<u64> = shape.sizes.iter().map(|class| class.writes).collect();
        assert_eq!(counts, [1, 2, 0, 0, 0, 1]);
        assert!((shape.share_up_to_4k() - 0.25).abs() < 1e-12);
        assert_eq!(shape.bytes_written, Bytes::kib(4 * 307));
    }
}
