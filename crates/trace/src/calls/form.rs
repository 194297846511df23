//! The file of a trace of system calls: a header, the tree of names as numbers, and the calls.

use cardproof_units::Nanos;
use serde::{Deserialize, Serialize};

use super::call::Call;
use super::codec::{Context, decode, encode};
use crate::TraceError;
use crate::packed::{append_piece, piece, put, take, unpack};

/// The first bytes of every such file; the form's number follows.
const MAGIC: [u8; 7] = *b"CPCALLS";

/// The number of the form that is written here.
const FORM: u8 = 1;

/// How many calls are compressed together.
const FRAME_CALLS: usize = 8192;

/// The longest a frame's calls can be before they are compressed: three bytes and seven numbers of
/// at most ten bytes each.
const FRAME_BYTES_MAX: usize = FRAME_CALLS * 73;

/// The longest header.
const HEADER_BYTES_MAX: usize = 64 << 10;

/// The most names; each takes at most five bytes.
const NAMES_MAX: u32 = 1 << 23;

/// What a trace of calls says of itself. Nothing in it names a person, a host or a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallsHeader {
    /// A short name, such as `git-clone`.
    pub name: String,
    /// What the job was, in a sentence or two.
    #[serde(default)]
    pub description: String,
    /// How many calls there are.
    pub calls: u64,
    /// How many names.
    pub names: u32,
    /// From the first call to the end of the last.
    pub duration_ns: Nanos,
    /// Calls that touch no file of a storage, such as those on pipes or in /proc, and are left out.
    #[serde(default)]
    pub elsewhere: u64,
}

/// A whole trace of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTrace {
    /// What it says of itself; its counts are made anew when it is written.
    pub header: CallsHeader,
    /// The directory that each name is in, for the names 1, 2, 3 and so on; 0 is the root. A
    /// directory comes before what is in it.
    pub directories: Vec<u32>,
    /// The calls, in the order in which they began.
    pub calls: Vec<Call>,
}

/// Whether `bytes` begin as a trace of calls does.
#[must_use]
pub fn is_calls(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

impl CallTrace {
    /// The trace in `bytes`.
    ///
    /// # Errors
    /// They are no such trace, or it is cut off or damaged, and where.
    pub fn read(bytes: &[u8]) -> Result<Self, TraceError> {
        let form_at = MAGIC.len();
        if !is_calls(bytes) {
            return Err(TraceError::Foreign);
        }
        match bytes.get(form_at) {
            Some(&FORM) => {}
            Some(&found) => return Err(TraceError::LaterForm { found, known: FORM }),
            None => return Err(TraceError::CutOff { offset: form_at, what: "its form" }),
        }
        let offset = form_at + 1;
        let damaged = |what| TraceError::Damaged { offset, what };
        let (packed, next) = piece(bytes, offset, "the header")?;
        let text = unpack(packed, HEADER_BYTES_MAX)
            .ok_or_else(|| damaged("the header does not unpack"))?;
        let header: CallsHeader =
            serde_json::from_slice(&text).map_err(|_| damaged("the header is not understood"))?;
        if header.names > NAMES_MAX {
            return Err(damaged("the header tells of more names than there can be"));
        }
        let mut trace = Self { header, ..Self::default() };
        let next = trace.read_names(bytes, next)?;
        trace.read_calls(bytes, next)?;
        Ok(trace)
    }

    /// Reads the names at `offset`, and returns where the calls begin.
    fn read_names(&mut self, bytes: &[u8], offset: usize) -> Result<usize, TraceError> {
        let damaged = |what| TraceError::Damaged { offset, what };
        let (packed, next) = piece(bytes, offset, "the names")?;
        let plain = unpack(packed, self.header.names as usize * 5 + 1)
            .ok_or_else(|| damaged("the names do not unpack"))?;
        let mut rest = plain.as_slice();
        for number in 1..=self.header.names {
            let directory = take(&mut rest)
                .filter(|&directory| directory < u64::from(number))
                .ok_or_else(|| damaged("a name is in no directory"))?;
            self.directories.push(directory as u32);
        }
        if rest.is_empty() { Ok(next) } else { Err(damaged("there are more names than it says")) }
    }

    /// Reads the calls from `offset` to the end.
    fn read_calls(&mut self, bytes: &[u8], mut offset: usize) -> Result<(), TraceError> {
        let mut context = Context::default();
        loop {
            let damaged = |what| TraceError::Damaged { offset, what };
            let (packed, next) = piece(bytes, offset, "a part of the calls")?;
            if packed.is_empty() {
                return self.end(bytes, offset, next);
            }
            let plain = unpack(packed, FRAME_BYTES_MAX)
                .ok_or_else(|| damaged("this part does not unpack"))?;
            let mut rest = plain.as_slice();
            while !rest.is_empty() {
                let call = decode(&mut rest, &mut context, self.header.names)
                    .ok_or_else(|| damaged("a call in this part is not understood"))?;
                self.calls.push(call);
            }
            offset = next;
        }
    }

    fn end(&self, bytes: &[u8], offset: usize, next: usize) -> Result<(), TraceError> {
        if next != bytes.len() {
            return Err(TraceError::Damaged { offset: next, what: "something follows the end" });
        }
        if self.calls.len() as u64 != self.header.calls {
            let what = "the number of calls is not that of the header";
            return Err(TraceError::Damaged { offset, what });
        }
        Ok(())
    }

    /// The bytes of its file.
    #[must_use]
    pub fn written(&self) -> Vec<u8> {
        let end = |call: &Call| call.at.saturating_add(call.took.unwrap_or_default());
        let header = CallsHeader {
            calls: self.calls.len() as u64,
            names: self.directories.len() as u32,
            duration_ns: self.calls.iter().map(end).max().unwrap_or_default(),
            ..self.header.clone()
        };
        let mut bytes = MAGIC.to_vec();
        bytes.push(FORM);
        // Text and numbers always have a JSON form.
        append_piece(&serde_json::to_vec(&header).unwrap_or_default(), &mut bytes);
        let mut plain = Vec::new();
        self.directories.iter().for_each(|&directory| put(u64::from(directory), &mut plain));
        append_piece(&plain, &mut bytes);
        let mut context = Context::default();
        for frame in self.calls.chunks(FRAME_CALLS) {
            plain.clear();
            frame.iter().for_each(|call| encode(call, &mut context, &mut plain));
            append_piece(&plain, &mut bytes);
        }
        bytes.extend(0_u32.to_le_bytes());
        bytes
    }
}
