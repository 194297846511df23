//! Programs that copy, show and check files, where the storage fails them:
//! `cp: error reading 'photo.jpg': Input/output error`.
//!
//! Only the error EIO counts: what else they say is rarely about the storage. EIO is said of other things too, of
//! buses and of files that the kernel makes up, and those are left out.

use cardproof_record::{ErrorCause, OpName};

use super::dd::{cause_of, device_of, op_of};
use super::failed::{io_errors, nothing_in};
use crate::draft::RecordDraft;
use crate::lines::Line;
use crate::view::{Letters, View, Words};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::FileTools;

/// The programs: of GNU, of busybox and of shells.
const PROGRAMS: Words = Words::new(&[
    "cp",
    "mv",
    "cat",
    "ls",
    "rm",
    "tar",
    "rsync",
    "scp",
    "cmp",
    "diff",
    "find",
    "du",
    "head",
    "tail",
    "gzip",
    "gunzip",
    "zcat",
    "xz",
    "touch",
    "mkdir",
    "grep",
    "stat",
    "file",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
    "bash",
    "sh",
    "zsh",
    "dash",
    "git",
    "dpkg",
]);

/// Programs that read alone, whatever their message says.
const READERS: Words = Words::new(&[
    "cat",
    "cmp",
    "diff",
    "du",
    "head",
    "tail",
    "zcat",
    "grep",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
]);

/// Files that are on no storage.
const MADE_UP: [&str; 3] = ["/sys/", "/proc/", "/run/user/"];

/// The names of devices that store.
const STORAGE: [&str; 6] = ["sd", "mmcblk", "nvme", "vd", "loop", "md"];

/// A message about a file on storage.
#[derive(Debug, PartialEq)]
struct Failure {
    op: OpName,
    /// The kernel's name of the device, where the file is one.
    device: Option<String>,
}

pub(super) fn is_sign(view: &View) -> bool {
    failure_in(view).is_some()
}

fn failure_in(view: &View) -> Option<Failure> {
    const NEEDED: Letters = Letters::of_word(": /");
    if !view.has(NEEDED) {
        return None;
    }
    let (before, why) = view.text.rsplit_once(": ")?;
    if cause_of(why)? != ErrorCause::Io {
        return None;
    }
    let (program, what) = before.split_once(": ")?;
    // A prompt may stand before it, and a shell's name begins with a dash where it is that of a login.
    let program = program.rsplit(['$', '#', ' ', '/']).next()?.trim_start_matches('-');
    if !PROGRAMS.have(program) || MADE_UP.iter().any(|path| what.contains(path)) {
        return None;
    }
    let device = device_of(what);
    let is_storage = |name: &String| STORAGE.iter().any(|start| name.starts_with(start));
    if what.contains("/dev/") && !device.as_ref().is_some_and(is_storage) {
        return None;
    }
    let op = if READERS.have(program) { OpName::Read } else { op_of(what) };
    Some(Failure { op, device })
}

/// The record of what failed.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let mut failed: Vec<(&Line, OpName, u64)> = Vec::new();
    for line in lines {
        let Some(failure) = failure_in(&line.view()) else { continue };
        line.claim();
        let device = &mut draft.conditions.device.name;
        *device = device.take().or(failure.device);
        match failed.iter_mut().find(|(_, op, _)| *op == failure.op) {
            Some((_, _, count)) => *count += 1,
            None => failed.push((line, failure.op, 1)),
        }
    }
    if failed.is_empty() {
        return Err(nothing_in(TOOL, lines, "'cp: error reading FILE: Input/output error'"));
    }
    for (line, op, count) in failed {
        draft.find(line, io_errors(op, count, ErrorCause::Io));
    }
    Ok(draft)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_read_or_write_of_a_file_is_known_and_nothing_else() {
        let told = |text| failure_in(&View::of(text)).map(|it| (it.op, it.device));
        for (text, op, device) in [
            ("cp: error reading '/home/a b/x.jpg': Input/output error", OpName::Read, None),
            ("cp: Fehler beim Schreiben von 'x': Eingabe-/Ausgabefehler", OpName::Write, None),
            ("pi@pi:~ $ cat: big.iso: Input/output error", OpName::Read, None),
            ("-bash: /usr/bin/ls: Input/output error", OpName::Unknown, None),
            ("bash: line 1: /bin/ps: Input/output error", OpName::Unknown, None),
            (
                "rsync: [sender] read errors mapping \"/a\": Input/output error (5)",
                OpName::Read,
                None,
            ),
            (
                "tar: ./a: Read error at byte 0, while reading 10240 bytes: Input/output error",
                OpName::Read,
                None,
            ),
            ("md5sum: /dev/mmcblk0: Input/output error", OpName::Read, Some("mmcblk0")),
        ] {
            assert_eq!(told(text), Some((op, device.map(str::to_owned))), "{text}");
        }
        for text in [
            "cat: /sys/class/power_supply/x/status: Input/output error",
            "cat: /dev/i2c-1: Input/output error",
            "cat: /dev/ttyUSB0: Input/output error",
            "OSError: [Errno 5] Input/output error",
            "cp: cannot create 'x': No space left on device",
            "he said: the card is bad: Input/output error",
            "cp: and/or",
        ] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
