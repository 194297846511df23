//! What strace prints of a job, as `strace -f -y -ttt -T -e trace=%file,%desc` does.
//!
//! With `-y` each descriptor carries its file's name; without, descriptors are followed from where
//! they are opened, as far as the lines tell. Of names only the tree is kept, of contents nothing.
//! Where a descriptor stands is known from its opening on; two processes that share one are not.

mod apply;
mod line;
mod names;
mod table;

use std::collections::HashMap;

use cardproof_units::Nanos;

use super::call::Call;
use super::form::{CallTrace, CallsHeader};
use crate::TextError;
use line::{Line, Parts, line_of};
use names::Names;

/// What a line must be.
const EXPECTED: &str = "expected a line of strace -f -ttt -T; let strace write to a file of its own \
                        with -o, so that the job's words do not come between";

/// A file that a process has open.
#[derive(Clone, Copy, Debug)]
struct Descriptor {
    /// Its number among the names; `None` where it is no file of a storage.
    file: Option<u32>,
    /// Where it stands; `None` where that is not known, or always at the end.
    position: Option<u64>,
}

/// The open files and the working directory of a process, or of threads that share them.
#[derive(Clone, Debug, Default)]
struct Files {
    open: HashMap<i64, Descriptor>,
    working_directory: u32,
}

/// Takes lines of strace and makes a trace of calls of them.
#[derive(Debug, Default)]
pub struct StraceReader {
    calls: Vec<Call>,
    names: Names,
    files: Vec<Files>,
    /// For each process its number in the trace, and which of `files` is its own.
    processes: HashMap<u32, (u32, usize)>,
    /// The first halves of calls, by process.
    begun: HashMap<u32, (Nanos, String)>,
    elsewhere: u64,
}

/// Whether `text` begins with a line of strace.
#[must_use]
pub fn is_strace(text: &str) -> bool {
    text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line_of(line).is_some())
}

/// The trace of calls in the lines `text`.
///
/// # Errors
/// The first line that is none of strace's.
pub fn read_strace(text: &str, name: &str, description: &str) -> Result<CallTrace, TextError> {
    let mut reader = StraceReader::default();
    for (line, number) in text.lines().zip(1..) {
        reader.add(line).map_err(|what| TextError::new(number, what, line))?;
    }
    Ok(reader.finish(name, description))
}

impl StraceReader {
    /// Takes one line.
    ///
    /// # Errors
    /// What was expected, where it is none of strace's.
    pub fn add(&mut self, line: &str) -> Result<(), &'static str> {
        if line.trim().is_empty() {
            return Ok(());
        }
        let (process, at, what) = line_of(line).ok_or(EXPECTED)?;
        match what {
            Line::Talk => Ok(()),
            Line::Whole(text) => self.add_call(process, at, text),
            Line::Begun(text) => {
                self.begun.insert(process, (at, text.to_owned()));
                Ok(())
            }
            // A half without its first, at the start of a recording, tells too little.
            Line::Resumed(rest) => match self.begun.remove(&process) {
                Some((at, begun)) => self.add_call(process, at, &(begun + rest)),
                None => Ok(()),
            },
        }
    }

    /// How many calls there are.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.len() as u64
    }

    /// The trace, from the first call on.
    #[must_use]
    pub fn finish(mut self, name: &str, description: &str) -> CallTrace {
        self.calls.sort_by_key(|call| call.at);
        let start = self.calls.first().map_or(Nanos::ZERO, |call| call.at);
        for call in &mut self.calls {
            call.at = call.at.saturating_sub(start);
        }
        let end = |call: &Call| call.at.saturating_add(call.took.unwrap_or_default());
        let directories = self.names.into_directories();
        let header = CallsHeader {
            name: name.to_owned(),
            description: description.to_owned(),
            calls: self.calls.len() as u64,
            names: directories.len() as u32,
            duration_ns: self.calls.iter().map(end).max().unwrap_or_default(),
            elsewhere: self.elsewhere,
        };
        CallTrace { header, directories, calls: self.calls }
    }

    fn add_call(&mut self, process: u32, at: Nanos, text: &str) -> Result<(), &'static str> {
        let parts = Parts::of(text).ok_or(EXPECTED)?;
        let (number, files) = self.process(process);
        match table::way_of(parts.name) {
            Some(way) => self.apply(way, &parts, number, files, at),
            None => self.elsewhere += 1,
        }
        Ok(())
    }

    /// The number of `process` in the trace, and which of the files are its own.
    fn process(&mut self, process: u32) -> (u32, usize) {
        let number = self.processes.len() as u32;
        *self.processes.entry(process).or_insert_with(|| {
            self.files.push(Files::default());
            (number, self.files.len() - 1)
        })
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::Bytes;

    use super::*;
    use crate::calls::call::{CallKind, OpenHow};

    fn kinds(trace: &CallTrace) -> Vec<(CallKind, Option<u32>, Option<u64>, u64)> {
        let brief =
            |call: &Call| (call.kind, call.file, call.offset.map(Bytes::get), call.length.get());
        trace.calls.iter().map(brief).collect()
    }

    /// The same job, with the descriptors' files named and without.
    const PLAIN: &str = "\
7 10.000000 openat(AT_FDCWD, \"/a/new\", O_WRONLY|O_CREAT|O_EXCL, 0600) = 3 <0.000010>
7 10.000100 write(3, \"\"..., 4096) = 4096 <0.000020>
7 10.000200 write(3, \"\"..., 100) = 100 <0.000020>
7 10.000300 fsync(3) = 0 <0.001000>
7 10.002000 close(3) = 0 <0.000002>
7 10.002100 rename(\"/a/new\", \"/a/old\") = 0 <0.000040>
7 10.002200 openat(AT_FDCWD, \"/proc/stat\", O_RDONLY) = 3 <0.000010>
7 10.002300 read(3, \"\"..., 4096) = 900 <0.000010>
7 10.002400 unlink(\"/a/none\") = -1 ENOENT (No such file or directory) <0.000010>
7 10.002500 +++ exited with 0 +++
";

    #[test]
    fn a_file_is_followed_from_its_opening_on() {
        let expected = [
            (CallKind::Open, Some(2), None, 0),
            (CallKind::Write, Some(2), Some(0), 4096),
            (CallKind::Write, Some(2), Some(4096), 100),
            (CallKind::Sync, Some(2), None, 0),
            (CallKind::Close, Some(2), None, 0),
            (CallKind::Rename, Some(2), None, 0),
            (CallKind::Unlink, Some(4), None, 0),
        ];
        let trace = read_strace(PLAIN, "t", "").unwrap();
        assert_eq!(kinds(&trace), expected);
        assert_eq!(trace.directories, [0, 1, 1, 1]);
        assert_eq!(trace.calls[5].other, Some(3));
        assert!(trace.calls[6].failed);
        assert_eq!(trace.header.elsewhere, 2);
        let how = OpenHow::WRITES.and(OpenHow::CREATES).and(OpenHow::EXCLUSIVE);
        assert_eq!(trace.calls[0].how, how);
        assert_eq!(trace.header.duration_ns, Nanos::from_micros(2_410));
        let named = PLAIN.replace("(3,", "(3</a/new>,").replace("(3)", "(3</a/new>)");
        let named = named.replace("read(3</a/new>", "read(3</proc/stat>");
        assert_eq!(kinds(&read_strace(&named, "t", "").unwrap()), expected);
    }

    #[test]
    fn halves_of_calls_come_together_and_children_inherit() {
        let text = "\
1 1.000000 openat(AT_FDCWD, \"f\", O_RDWR|O_APPEND) = 5 <0.000001>
1 1.000100 clone(child_stack=NULL, flags=SIGCHLD) = 2 <0.000100>
2 1.000200 write(5, \"\"..., 10 <unfinished ...>
1 1.000300 fdatasync(5) = 0 <0.000100>
2 1.000500 <... write resumed>) = 10 <0.000300>
2 1.000600 pread64(5, \"\"..., 64, 512) = 64 <0.000001>
2 1.000700 read(5, <unfinished ...>
";
        let trace = read_strace(text, "t", "").unwrap();
        assert_eq!(
            kinds(&trace),
            [
                (CallKind::Open, Some(1), None, 0),
                (CallKind::Write, Some(1), None, 10),
                (CallKind::DataSync, Some(1), None, 0),
                (CallKind::Read, Some(1), Some(512), 64),
            ]
        );
        let processes: Vec<u32> = trace.calls.iter().map(|call| call.process).collect();
        assert_eq!(processes, [0, 1, 0, 1]);
    }

    #[test]
    fn what_is_none_of_strace_is_an_error_with_its_line() {
        assert!(is_strace(PLAIN) && !is_strace("t_s,rwbs\n") && !is_strace(""));
        let mixed = format!("{PLAIN}Reading package lists...\n");
        assert_eq!(read_strace(&mixed, "t", "").unwrap_err().line, 11);
        let cut_off = &PLAIN[..PLAIN.find("/none").unwrap()];
        assert_eq!(read_strace(cut_off, "t", "").unwrap_err().line, 9);
    }
}
