//! A table of requests as text: `t_s,rwbs,sector,nsect,comm`, one request a line.
//!
//! The letters of `rwbs` are the kernel's (`blk_fill_rwbs` in its block tracing): an `F` in front
//! for a flush before the operation, then `R`, `W`, `D` or `F` for the operation itself, then `F`
//! for forced unit access, `A` for read-ahead, `S` for sync, `M` for metadata. The name of the
//! command is not kept.

use cardproof_units::{Bytes, Nanos};

use super::error::TextError;
use super::header::Source;
use super::request::{Request, RequestKind};
use super::writer::TraceWriter;

/// The first line.
const HEAD: &str = "t_s,rwbs,sector,nsect,comm";

/// The unit of the columns `sector` and `nsect`.
const SECTOR_BYTES: u64 = 512;

/// The letters of one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Letters {
    /// The operation, if it is one that a trace keeps.
    pub(super) kind: Option<RequestKind>,
    /// A flush comes first.
    pub(super) flush_before: bool,
    pub(super) durable: bool,
    pub(super) sync: bool,
    pub(super) metadata: bool,
}

/// What `letters` say; `None` where they are none of the kernel's.
pub(super) fn letters(letters: &str) -> Option<Letters> {
    let (flush_before, rest) = match letters.strip_prefix('F') {
        // A lone F is a flush without an operation, as blktrace prints it.
        Some("") => (false, "F"),
        Some(rest) => (true, rest),
        None => (false, letters),
    };
    let mut rest = rest.chars();
    let kind = match rest.next()? {
        'R' => Some(RequestKind::Read),
        'W' => Some(RequestKind::Write),
        'D' => Some(RequestKind::Discard),
        'F' => Some(RequestKind::Flush),
        'N' => None,
        _ => return None,
    };
    let flags = rest.as_str();
    if !flags.chars().all(|flag| "FASMEBU".contains(flag)) {
        return None;
    }
    Some(Letters {
        kind,
        flush_before: flush_before && kind != Some(RequestKind::Flush),
        durable: flags.contains('F'),
        sync: flags.contains('S'),
        metadata: flags.contains('M'),
    })
}

/// Whether `text` begins as such a table.
#[must_use]
pub fn is_csv(text: &str) -> bool {
    text.lines().next() == Some(HEAD)
}

/// The trace in the table `text`.
///
/// # Errors
/// The first line that is not understood.
pub fn read_csv(text: &str, name: &str, description: &str) -> Result<Vec<u8>, TextError> {
    let mut lines = text.lines().zip(1..);
    match lines.next() {
        Some((HEAD, _)) => {}
        first => {
            let found = first.map_or("", |(line, _)| line);
            return Err(TextError::new(1, "expected the head t_s,rwbs,sector,nsect,comm", found));
        }
    }
    let mut writer = TraceWriter::new(name, description, Source::Csv);
    let mut end = Nanos::ZERO;
    for (line, number) in lines {
        end = add(line, number, &mut writer)?.max(end);
    }
    Ok(writer.finish(end))
}

/// Adds the request of one line and returns its time.
fn add(line: &str, number: usize, writer: &mut TraceWriter) -> Result<Nanos, TextError> {
    let wrong = |what| TextError::new(number, what, line);
    let columns: Vec<&str> = line.splitn(5, ',').collect();
    let [time, rwbs, sector, sectors, _command] = columns[..] else {
        return Err(wrong("expected five columns"));
    };
    let seconds: f64 = time.parse().map_err(|_| wrong("expected a time in seconds"))?;
    if !(0.0..1e9).contains(&seconds) {
        return Err(wrong("expected a time of at least 0 seconds"));
    }
    let at = Nanos::from_secs_f64(seconds);
    let letters = letters(rwbs).ok_or_else(|| wrong("unknown letters of an operation"))?;
    let bytes = |text: &str, what| {
        let sectors: u64 = text.parse().map_err(|_| wrong(what))?;
        sectors.checked_mul(SECTOR_BYTES).map(Bytes).ok_or_else(|| wrong(what))
    };
    let offset = bytes(sector, "expected the number of a sector")?;
    let length = bytes(sectors, "expected a number of sectors")?;
    offset.checked_add(length).ok_or_else(|| wrong("the request ends beyond any device"))?;
    if letters.flush_before {
        writer.push(&Request::new(at, RequestKind::Flush, Bytes::ZERO, Bytes::ZERO));
    }
    let Some(kind) = letters.kind else { return Ok(at) };
    let (offset, length) = match kind {
        RequestKind::Flush => (Bytes::ZERO, Bytes::ZERO),
        // A write of nothing carries only its flush.
        _ if length == Bytes::ZERO => return Ok(at),
        _ => (offset, length),
    };
    writer.push(&Request {
        durable: letters.durable && kind == RequestKind::Write,
        sync: letters.sync,
        metadata: letters.metadata,
        ..Request::new(at, kind, offset, length)
    });
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::super::TraceReader;
    use super::*;

    fn requests(text: &str) -> Vec<Request> {
        let bytes = read_csv(text, "t", "").unwrap();
        TraceReader::new(&bytes).unwrap().map(Result::unwrap).collect()
    }

    #[test]
    fn a_line_is_a_request() {
        let requests = requests(
            "t_s,rwbs,sector,nsect,comm\n0.5,WSM,8,16,jbd2/loop0-8\n0.75,FF,0,0,kworker/0:1H\n\
             1.0,RA,100,8,a,comma\n",
        );
        assert_eq!(
            requests,
            [
                Request {
                    sync: true,
                    metadata: true,
                    ..Request::new(
                        Nanos::from_millis(500),
                        RequestKind::Write,
                        Bytes(4096),
                        Bytes(8192)
                    )
                },
                Request::new(Nanos::from_millis(750), RequestKind::Flush, Bytes(0), Bytes(0)),
                Request::new(Nanos::from_secs(1), RequestKind::Read, Bytes(51_200), Bytes(4096)),
            ]
        );
    }

    #[test]
    fn a_flush_before_a_write_is_a_request_of_its_own() {
        let requests = requests("t_s,rwbs,sector,nsect,comm\n0,FWFS,8,8,x\n0,FWS,0,0,x\n");
        let kinds: Vec<_> =
            requests.iter().map(|request| (request.kind, request.durable)).collect();
        assert_eq!(
            kinds,
            [(RequestKind::Flush, false), (RequestKind::Write, true), (RequestKind::Flush, false)]
        );
    }

    #[test]
    fn an_error_names_the_line() {
        for (line, what) in [
            ("1.0,W,0", "five columns"),
            ("x,W,0,8,c", "seconds"),
            ("-1,W,0,8,c", "at least 0"),
            ("nan,W,0,8,c", "at least 0"),
            ("0,Q,0,8,c", "letters"),
            ("0,WX,0,8,c", "letters"),
            ("0,W,-1,8,c", "sector"),
            ("0,W,18446744073709551615,8,c", "sector"),
            ("0,W,36028797018963967,8,c", "beyond"),
        ] {
            let text = format!("t_s,rwbs,sector,nsect,comm\n0,W,0,8,c\n{line}\n");
            let error = read_csv(&text, "t", "").unwrap_err();
            assert_eq!(error.line, 3, "{line}");
            assert!(error.to_string().contains(what), "{line}: {error}");
        }
        assert_eq!(read_csv("a,b\n", "t", "").unwrap_err().line, 1);
        assert_eq!(read_csv("", "t", "").unwrap_err().line, 1);
    }
}
