//! The logs that fio writes with `--write_iolog` and replays with `--read_iolog`: versions 2 and 3.
//!
//! Version 3 begins each line with the time; version 2 has no times, only lines `wait`. A log may
//! name several files. They are laid one behind the other, each from a multiple of 4 MiB on, in the
//! order in which they first appear; their names are not kept. A sync of any of them is a flush.
//!
//! The forms are those of fio's manual, "Trace file format". There a wait is one of microseconds
//! since the last; what fio does (3.33, tried) is to wait until so many milliseconds after its
//! start, and so does this. How long a request took is not told.

use std::collections::HashMap;

use cardproof_units::{Bytes, Nanos};

use super::error::TextError;
use super::fold::REGION;
use super::header::Source;
use super::request::{Request, RequestKind};
use super::writer::TraceWriter;

const HEAD_2: &str = "fio version 2 iolog";
const HEAD_3: &str = "fio version 3 iolog";

/// What is wrong with a time beyond all clocks.
const NEVER: &str = "a time that never comes";

/// Requests are counted in blocks of this.
const BLOCK_BYTES: u64 = 512;

/// Whether `text` begins as a log of fio.
#[must_use]
pub fn is_iolog(text: &str) -> bool {
    text.starts_with("fio version ")
}

/// A log while it is read.
#[derive(Default)]
struct Log<'a> {
    has_times: bool,
    /// Lines of version 2 follow each other at once, but for what they wait.
    now: Nanos,
    /// The numbers of the files, by name.
    files: HashMap<&'a str, usize>,
    /// The end of what is read or written of each.
    ends: Vec<u64>,
    /// Each with the number of its file.
    requests: Vec<(usize, Request)>,
}

/// The trace in the log `text`.
///
/// # Errors
/// The first line that is not understood.
pub fn read_iolog(text: &str, name: &str, description: &str) -> Result<Vec<u8>, TextError> {
    let mut lines = text.lines().zip(1..);
    let has_times = match lines.next() {
        Some((HEAD_2, _)) => false,
        Some((HEAD_3, _)) => true,
        first => {
            let found = first.map_or("", |(line, _)| line);
            return Err(TextError::new(1, "expected 'fio version 2 iolog' or version 3", found));
        }
    };
    let mut log = Log { has_times, ..Log::default() };
    for (line, number) in lines {
        log.add(line).map_err(|what| TextError::new(number, what, line))?;
    }
    log.written(name, description).map_err(|what| TextError::new(1, what, ""))
}

impl<'a> Log<'a> {
    fn add(&mut self, line: &'a str) -> Result<(), &'static str> {
        let words: Vec<&str> = line.split_whitespace().collect();
        let words = if self.has_times { self.take_time(&words)? } else { &words[..] };
        match *words {
            [] if !self.has_times => Ok(()),
            [file, "add" | "open"] => {
                self.number_of(file);
                Ok(())
            }
            [_, "close"] => Ok(()),
            [_, "wait", _, _] if self.has_times => Err("version 3 has no wait"),
            [_, "wait", millis, _] => {
                let millis: u64 = millis.parse().map_err(|_| "expected milliseconds")?;
                let until = millis.checked_mul(1_000_000).ok_or(NEVER)?;
                self.now = self.now.max(Nanos(until));
                Ok(())
            }
            [file, action, offset, length] => self.add_request(file, action, offset, length),
            _ => Err("expected a file, an action, and for most an offset and a length"),
        }
    }

    /// Takes the time from the front of `words`.
    fn take_time<'w>(&mut self, words: &'w [&'a str]) -> Result<&'w [&'a str], &'static str> {
        let (time, rest) = words.split_first().ok_or("expected a time")?;
        self.now = self.now.max(micros_of(time)?);
        Ok(rest)
    }

    fn add_request(
        &mut self,
        file: &'a str,
        action: &str,
        offset: &str,
        length: &str,
    ) -> Result<(), &'static str> {
        let kind = match action {
            "read" => RequestKind::Read,
            "write" => RequestKind::Write,
            "trim" => RequestKind::Discard,
            "sync" | "datasync" | "syncfs" => RequestKind::Flush,
            // It starts to write back and makes nothing durable.
            "sync_file_range" => return Ok(()),
            _ => return Err("unknown action"),
        };
        let number = self.number_of(file);
        if kind == RequestKind::Flush {
            let flush = Request::new(self.now, kind, Bytes::ZERO, Bytes::ZERO);
            self.requests.push((number, flush));
            return Ok(());
        }
        let offset: u64 = offset.parse().map_err(|_| "expected an offset in bytes")?;
        let length: u64 = length.parse().map_err(|_| "expected a length in bytes")?;
        let end = offset
            .checked_add(length)
            .and_then(|end| end.checked_next_multiple_of(BLOCK_BYTES))
            .ok_or("the request ends beyond any file")?;
        if length > 0 {
            let start = offset / BLOCK_BYTES * BLOCK_BYTES;
            let request = Request::new(self.now, kind, Bytes(start), Bytes(end - start));
            self.requests.push((number, request));
            self.ends[number] = self.ends[number].max(end);
        }
        Ok(())
    }

    fn number_of(&mut self, name: &'a str) -> usize {
        *self.files.entry(name).or_insert_with(|| {
            self.ends.push(0);
            self.ends.len() - 1
        })
    }

    /// The trace, its files one behind the other.
    fn written(self, name: &str, description: &str) -> Result<Vec<u8>, &'static str> {
        let beyond = "the files of the log are longer than any device";
        let mut starts = Vec::with_capacity(self.ends.len());
        let mut next = 0_u64;
        for end in &self.ends {
            starts.push(next);
            let end = end.checked_next_multiple_of(REGION.get()).ok_or(beyond)?;
            next = next.checked_add(end).ok_or(beyond)?;
        }
        let mut writer = TraceWriter::new(name, description, Source::FioIolog);
        for (file, mut request) in self.requests {
            if request.kind != RequestKind::Flush {
                request.offset += Bytes(starts[file]);
            }
            writer.push(&request);
        }
        Ok(writer.finish(self.now))
    }
}

fn micros_of(text: &str) -> Result<Nanos, &'static str> {
    let micros: u64 = text.parse().map_err(|_| "expected a time in microseconds")?;
    micros.checked_mul(1000).map(Nanos).ok_or(NEVER)
}

#[cfg(test)]
mod tests {
    use super::super::TraceReader;
    use super::*;

    fn requests(text: &str) -> Vec<Request> {
        let bytes = read_iolog(text, "t", "").unwrap();
        TraceReader::new(&bytes).unwrap().map(Result::unwrap).collect()
    }

    fn request(micros: u64, kind: RequestKind, offset: Bytes, length: u64) -> Request {
        Request::new(Nanos::from_micros(micros), kind, offset, Bytes(length))
    }

    #[test]
    fn both_versions_say_the_same() {
        let two = "fio version 2 iolog\n/dev/a add\n/dev/a open\n/dev/a write 4096 4096\n\
                   /dev/a wait 1 0\n/dev/a datasync 0 0\n/dev/a read 0 512\n/dev/a trim 0 8192\n\
                   /dev/a close\n";
        let three = "fio version 3 iolog\n0 /dev/a add\n0 /dev/a open\n0 /dev/a write 4096 4096\n\
                     1000 /dev/a datasync 0 0\n1000 /dev/a read 0 512\n1000 /dev/a trim 0 8192\n\
                     1900 /dev/a close\n";
        let expected = [
            request(0, RequestKind::Write, Bytes(4096), 4096),
            request(1000, RequestKind::Flush, Bytes(0), 0),
            request(1000, RequestKind::Read, Bytes(0), 512),
            request(1000, RequestKind::Discard, Bytes(0), 8192),
        ];
        assert_eq!(requests(two), expected);
        assert_eq!(requests(three), expected);
    }

    #[test]
    fn files_lie_one_behind_the_other_in_whole_blocks() {
        let text =
            "fio version 3 iolog\n0 a add\n0 b add\n1 b write 100 10\n2 a write 4194304 10\n";
        assert_eq!(
            requests(text),
            [
                request(1, RequestKind::Write, Bytes::mib(8), 512),
                request(2, RequestKind::Write, Bytes::mib(4), 512),
            ]
        );
    }

    #[test]
    fn an_error_names_the_line() {
        for (head, line, what) in [
            ("fio version 3 iolog", "x /dev/a read 0 512", "microseconds"),
            ("fio version 3 iolog", "5 /dev/a wait 5 0", "no wait"),
            ("fio version 3 iolog", "", "a time"),
            ("fio version 2 iolog", "/dev/a munge 0 512", "unknown action"),
            ("fio version 2 iolog", "/dev/a read 0 -512", "length"),
            ("fio version 2 iolog", "/dev/a read x 512", "offset"),
            ("fio version 2 iolog", "/dev/a read 18446744073709551615 1", "beyond"),
            ("fio version 2 iolog", "/dev/a read 0", "expected a file"),
        ] {
            let text = format!("{head}\n{line}\n");
            let error = read_iolog(&text, "t", "").unwrap_err();
            assert_eq!(error.line, 2, "{line}");
            assert!(error.to_string().contains(what), "{line}: {error}");
        }
        assert_eq!(read_iolog("fio version 9 iolog\n", "t", "").unwrap_err().line, 1);
        assert!(is_iolog("fio version 9 iolog\n") && !is_iolog("t_s,rwbs"));
    }
}
