//! The lines that `blkparse` prints of blktrace's files.
//!
//! A line has the device, the processor, a number, the time, the process, the action, the letters of the
//! request and its place (blkparse(1), "default output"). Kept are the issue of a request to its driver
//! (`D`) and its completion (`C`); where there is no issue, requests count from when they were queued
//! (`Q`). Sums at the end and lines of other actions are passed over. Names of programs are not kept.

use cardproof_units::Bytes;

use super::csv::letters;
use super::error::TextError;
use super::header::Source;
use super::recording::Recording;
use super::request::{Request, RequestKind};
use crate::seconds::nanos;

/// The unit of sectors.
const SECTOR_BYTES: u64 = 512;

/// Text before the first event is not longer, in lines.
const HEAD_LINES: usize = 100;

/// What a line tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Queue,
    Issue,
    Complete,
    /// Another of blkparse's actions.
    Other,
}

/// A line of blkparse.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    device: &'a str,
    action: Action,
    request: Option<Request>,
    flush_before: bool,
}

/// Whether there is a line of blkparse near the beginning of `text`.
#[must_use]
pub fn is_blkparse(text: &str) -> bool {
    let is_event = |line: &str| line_of(line).is_some_and(|line| line.action != Action::Other);
    text.lines().take(HEAD_LINES).any(is_event)
}

/// The trace in the lines of `text`; `None` where they hold no request.
///
/// # Errors
/// The first line of a second device.
pub fn read_blkparse(
    text: &str,
    name: &str,
    description: &str,
) -> Result<Option<Vec<u8>>, TextError> {
    let mut lines = Vec::new();
    let mut device = None;
    for (line, number) in text.lines().zip(1..) {
        let Some(parsed) = line_of(line).filter(|it| it.action != Action::Other) else { continue };
        if *device.get_or_insert(parsed.device) != parsed.device {
            let what = "a request of a second device; keep the lines of one device";
            return Err(TextError::new(number, what, line));
        }
        lines.push(parsed);
    }
    let has = |action| lines.iter().any(|line| line.action == action);
    let begin = if has(Action::Issue) { Action::Issue } else { Action::Queue };
    let has_ends = has(Action::Complete);
    let mut recording = Recording::default();
    for line in lines {
        let Some(request) = line.request else { continue };
        if line.action == Action::Complete {
            recording.complete(request.kind, request.offset, request.at);
        } else if line.action == begin {
            if line.flush_before {
                let flush = RequestKind::Flush;
                recording.add(Request::new(request.at, flush, Bytes::ZERO, Bytes::ZERO));
            }
            if has_ends { recording.issue(request) } else { recording.add(request) }
        }
    }
    let has_requests = recording.requests() > 0;
    Ok(has_requests.then(|| recording.finish(name, description, Source::Blktrace, Bytes::ZERO)))
}

/// The parts of `179,0  2  5  0.000060222  146  D  WS 4325416 + 8 [kworker/2:1H]`.
fn line_of(line: &str) -> Option<Line<'_>> {
    let mut words = line.split_whitespace();
    let device = words.next().filter(|word| is_device(word))?;
    let mut number = || words.next()?.parse::<u64>().ok();
    number()?;
    number()?;
    let at = nanos(words.next()?)?;
    words.next()?.parse::<u64>().ok()?;
    let action = match words.next()? {
        "Q" => Action::Queue,
        "D" => Action::Issue,
        "C" => Action::Complete,
        action if action.bytes().all(|byte| byte.is_ascii_alphabetic()) => Action::Other,
        _ => return None,
    };
    let other = Line { device, action, request: None, flush_before: false };
    if action == Action::Other {
        return Some(other);
    }
    let letters = letters(words.next()?)?;
    // A flush alone has the letters of one before nothing.
    let kind = letters.kind.or_else(|| letters.flush_before.then_some(RequestKind::Flush));
    let Some(kind) = kind else { return Some(other) };
    let is_flush = kind == RequestKind::Flush;
    let range = range(&mut words);
    let (sector, sectors) = match range {
        _ if is_flush => (0, 0),
        Some((_, 0)) => return Some(other),
        Some(range) => range,
        None => return None,
    };
    let (offset, length) = (bytes(sector)?, bytes(sectors)?);
    offset.checked_add(length)?;
    let request = Request {
        durable: letters.durable && kind == RequestKind::Write,
        sync: letters.sync,
        metadata: letters.metadata,
        ..Request::new(at, kind, offset, length)
    };
    let flush_before = letters.flush_before && !is_flush;
    Some(Line { request: Some(request), flush_before, ..other })
}

/// The sector and the number of sectors in `4325416 + 8`.
fn range<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<(u64, u64)> {
    let sector = words.next()?.parse().ok()?;
    (words.next()? == "+").then_some(())?;
    Some((sector, words.next()?.parse().ok()?))
}

/// Whether `word` is a device's number, such as `179,0`.
fn is_device(word: &str) -> bool {
    let is_number = |text: &str| text.parse::<u32>().is_ok();
    word.split_once(',').is_some_and(|(major, minor)| is_number(major) && is_number(minor))
}

fn bytes(sectors: u64) -> Option<Bytes> {
    sectors.checked_mul(SECTOR_BYTES).map(Bytes)
}

#[cfg(test)]
mod tests {
    use cardproof_units::Nanos;

    use super::super::TraceReader;
    use super::*;

    const TEXT: &str = "\
179,0    2        1     0.000000000   312  A  WS 4325416 + 8 <- (179,2) 3792936
179,0    2        2     0.000008519   312  Q  WS 4325416 + 8 [jbd2/mmcblk0p2-]
179,0    2        5     0.000060222   146  D  WS 4325416 + 8 [kworker/2:1H]
179,0    2        6     0.003911036     0  C  WS 4325416 + 8 [0]
179,0    2        7     0.004000000   312  Q FWFS 4325424 + 8 [jbd2/mmcblk0p2-]
179,0    2        8     0.004060222   146  D FWFS 4325424 + 8 [kworker/2:1H]
179,0    2        9     0.024060222     0  C FWFS 4325424 + 8 [0]
179,0    2       10     0.030000000   312  D  FN [kworker/2:1H]
179,0    2        0     0.031000000     0  m   N cfq312S put_queue
CPU2 (179,0):
 Reads Queued:           0,        0KiB\t Writes Queued:           2,        8KiB
";

    fn requests(text: &str) -> Vec<Request> {
        let bytes = read_blkparse(text, "t", "").unwrap().unwrap();
        TraceReader::new(&bytes).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn requests_count_from_their_issue_to_their_end() {
        assert!(is_blkparse(TEXT));
        let found = requests(TEXT);
        let told: Vec<_> = found
            .iter()
            .map(|it| (it.kind, it.offset.get() / 512, it.length.get(), it.durable, it.service))
            .collect();
        let (write, flush) = (RequestKind::Write, RequestKind::Flush);
        let took = |nanos| Some(Nanos(nanos));
        assert_eq!(
            told,
            [
                (write, 4_325_416, 4096, false, took(3_850_814)),
                (flush, 0, 0, false, None),
                (write, 4_325_424, 4096, true, took(20_000_000)),
                (flush, 0, 0, false, None),
            ]
        );
        assert_eq!(found[2].at, Nanos(4_000_000));
    }

    #[test]
    fn without_issues_requests_count_from_the_queue() {
        let text: String =
            TEXT.lines().filter(|line| line.contains(" Q ")).map(|it| format!("{it}\n")).collect();
        assert_eq!(requests(&text).len(), 3);
    }

    #[test]
    fn requests_of_two_devices_are_no_trace_of_one() {
        let text = format!("{TEXT}8,0 0 1 0.5 1 D R 8 + 8 [x]\n");
        assert_eq!(read_blkparse(&text, "t", "").unwrap_err().line, 12);
    }

    #[test]
    fn other_texts_are_none_of_blkparse() {
        for text in [
            "",
            "a\n",
            "1,2 3 4 5.6",
            "179,0 2 1 0.5 1 D WS 99999999999999999999 + 8 [x]",
            "179,0 2 1 0.5 1 D WS 18446744073709551615 + 8 [x]",
            "CPU2 (179,0):\n",
        ] {
            assert!(!is_blkparse(text), "{text}");
            assert_eq!(read_blkparse(text, "t", ""), Ok(None), "{text}");
        }
    }
}
