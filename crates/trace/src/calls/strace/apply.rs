//! From the parts of a call to what it does to files.

use cardproof_units::{Bytes, Nanos};

use super::line::{Parts, number};
use super::names::PathTarget;
use super::table::Way;
use super::{Descriptor, StraceReader};
use crate::calls::call::{Call, CallKind, OpenHow};

/// The flags of `open` that are kept.
const FLAGS: [(&str, OpenHow); 9] = [
    ("O_WRONLY", OpenHow::WRITES),
    ("O_RDWR", OpenHow::WRITES),
    ("O_CREAT", OpenHow::CREATES),
    ("O_EXCL", OpenHow::EXCLUSIVE),
    ("O_TRUNC", OpenHow::TRUNCATES),
    ("O_APPEND", OpenHow::APPENDS),
    ("O_SYNC", OpenHow::SYNCS),
    ("O_DSYNC", OpenHow::SYNCS),
    ("O_DIRECT", OpenHow::DIRECT),
];

/// A call of process `number`, whose files are `files`.
struct Caller {
    number: u32,
    files: usize,
    at: Nanos,
}

impl StraceReader {
    /// Does what the call in `parts` did.
    pub(super) fn apply(
        &mut self,
        way: Way,
        parts: &Parts<'_>,
        number: u32,
        files: usize,
        at: Nanos,
    ) {
        let caller = Caller { number, files, at };
        match way {
            Way::Open(path) => self.open(&caller, parts, path, how(parts.argument(path + 1))),
            Way::Create => {
                let how = OpenHow::WRITES.and(OpenHow::CREATES).and(OpenHow::TRUNCATES);
                self.open(&caller, parts, 0, how);
            }
            Way::Close => {
                self.on_descriptor(&caller, parts, CallKind::Close, Bytes::ZERO);
                if let Some(descriptor) = descriptor_number(parts.argument(0)) {
                    self.files[files].open.remove(&descriptor);
                }
            }
            Way::Descriptor(kind) => self.on_descriptor(&caller, parts, kind, Bytes::ZERO),
            Way::Sized(kind, length) => {
                let length = number_or_zero(parts.argument(length));
                self.on_descriptor(&caller, parts, kind, length);
            }
            Way::Moving(kind) => self.moving(&caller, parts, kind),
            Way::MovingAt(kind) => {
                let offset = number_or_zero(parts.argument(3));
                self.on_file(&caller, parts, kind, moved(parts), Some(offset));
            }
            Way::Path(kind, path) => self.on_path(&caller, parts, kind, path),
            Way::TwoPaths(kind, at_directories) => {
                self.on_two_paths(&caller, parts, kind, at_directories);
            }
            Way::Copy { to, from } => self.copy(&caller, parts, to, from),
            Way::Map => self.map(&caller, parts),
            Way::Seek => self.seek(files, parts),
            Way::Duplicate => self.duplicate(files, parts),
            Way::Control if parts.argument(1).starts_with("F_DUPFD") => {
                self.duplicate(files, parts);
            }
            Way::Control => self.elsewhere += 1,
            Way::WorkingDirectory => self.change_directory(files, parts),
            Way::Fork => self.fork(files, parts),
            Way::SyncAll => self.push(&caller, parts, Call::new(at, CallKind::SyncAll)),
        }
    }

    fn push(&mut self, caller: &Caller, parts: &Parts<'_>, call: Call) {
        let failed = parts.result.is_some_and(|result| result < 0);
        self.calls.push(Call { took: parts.took, process: caller.number, failed, ..call });
    }

    fn open(&mut self, caller: &Caller, parts: &Parts<'_>, path: usize, how: OpenHow) {
        let place = self.path(caller, parts, path);
        let file = match place {
            Some(PathTarget::Storage(file)) => Some(file).filter(|&file| file > 0),
            _ => None,
        };
        if let Some(descriptor) = parts.result.filter(|&descriptor| descriptor >= 0) {
            let position = (!how.has(OpenHow::APPENDS)).then_some(0);
            self.files[caller.files].open.insert(descriptor, Descriptor { file, position });
        }
        match file {
            Some(_) => {
                let call = Call { file, how, ..Call::new(caller.at, CallKind::Open) };
                self.push(caller, parts, call);
            }
            None => self.elsewhere += 1,
        }
    }

    fn on_descriptor(&mut self, caller: &Caller, parts: &Parts<'_>, kind: CallKind, length: Bytes) {
        self.on_file(caller, parts, kind, length, None);
    }

    fn on_file(
        &mut self,
        caller: &Caller,
        parts: &Parts<'_>,
        kind: CallKind,
        length: Bytes,
        offset: Option<Bytes>,
    ) {
        match self.descriptor(caller.files, parts.argument(0)) {
            Some(Descriptor { file: file @ Some(_), .. }) => {
                let call = Call { file, length, offset, ..Call::new(caller.at, kind) };
                self.push(caller, parts, call);
            }
            _ => self.elsewhere += 1,
        }
    }

    /// Reads or writes where the descriptor stands, and moves it on.
    fn moving(&mut self, caller: &Caller, parts: &Parts<'_>, kind: CallKind) {
        let length = moved(parts);
        let known = self.descriptor(caller.files, parts.argument(0));
        let position = known.and_then(|descriptor| descriptor.position);
        self.on_file(caller, parts, kind, length, position.map(Bytes));
        self.stand(caller.files, parts.argument(0), |position| {
            position.and_then(|position| position.checked_add(length.get()))
        });
    }

    fn on_path(&mut self, caller: &Caller, parts: &Parts<'_>, kind: CallKind, path: usize) {
        let is_directory = parts.arguments.iter().any(|word| word.contains("AT_REMOVEDIR"));
        let kind =
            if kind == CallKind::Unlink && is_directory { CallKind::RemoveDirectory } else { kind };
        // An empty path stands for the directory's descriptor itself.
        if path > 0 && matches!(parts.argument(path), "\"\"" | "NULL") {
            return self.on_descriptor(caller, parts, kind, Bytes::ZERO);
        }
        match self.path(caller, parts, path) {
            Some(PathTarget::Storage(file)) => {
                let file = Some(file).filter(|&file| file > 0);
                let length = match kind {
                    CallKind::Truncate => number_or_zero(parts.argument(path + 1)),
                    _ => Bytes::ZERO,
                };
                self.push(caller, parts, Call { file, length, ..Call::new(caller.at, kind) });
            }
            _ => self.elsewhere += 1,
        }
    }

    fn on_two_paths(
        &mut self,
        caller: &Caller,
        parts: &Parts<'_>,
        kind: CallKind,
        at_directories: bool,
    ) {
        let places = if at_directories { [1, 3] } else { [0, 1] };
        let [old, new] = places.map(|path| self.path(caller, parts, path));
        let (Some(PathTarget::Storage(old)), Some(PathTarget::Storage(new))) = (old, new) else {
            self.elsewhere += 1;
            return;
        };
        let [file, other] = [old, new].map(|file| Some(file).filter(|&file| file > 0));
        self.push(caller, parts, Call { file, other, ..Call::new(caller.at, kind) });
    }

    fn copy(&mut self, caller: &Caller, parts: &Parts<'_>, to: usize, from: usize) {
        let [to, from] = [to, from].map(|index| {
            self.descriptor(caller.files, parts.argument(index)).and_then(|known| known.file)
        });
        if to.is_none() && from.is_none() {
            self.elsewhere += 1;
            return;
        }
        // What goes to a pipe or a socket is read, what comes from one is written.
        let (kind, file, other) = match (to, from) {
            (Some(_), Some(_)) => (CallKind::Copy, to, from),
            (None, _) => (CallKind::Read, from, None),
            _ => (CallKind::Write, to, None),
        };
        let call = Call { file, other, length: moved(parts), ..Call::new(caller.at, kind) };
        self.push(caller, parts, call);
    }

    fn map(&mut self, caller: &Caller, parts: &Parts<'_>) {
        let known = self.descriptor(caller.files, parts.argument(4));
        let Some(Descriptor { file: file @ Some(_), .. }) = known else {
            self.elsewhere += 1;
            return;
        };
        let length = number_or_zero(parts.argument(1));
        let offset = Some(number_or_zero(parts.argument(5)));
        let call = Call { file, length, offset, ..Call::new(caller.at, CallKind::Map) };
        // Its result is an address.
        self.calls.push(Call { took: parts.took, process: caller.number, ..call });
    }

    fn seek(&mut self, files: usize, parts: &Parts<'_>) {
        let position = parts.result.and_then(|position| u64::try_from(position).ok());
        if position.is_some() {
            self.stand(files, parts.argument(0), |_| position);
        }
    }

    fn duplicate(&mut self, files: usize, parts: &Parts<'_>) {
        let known = self.descriptor(files, parts.argument(0));
        if let (Some(known), Some(copy)) = (known, parts.result.filter(|&copy| copy >= 0)) {
            self.files[files].open.insert(copy, known);
        }
    }

    fn change_directory(&mut self, files: usize, parts: &Parts<'_>) {
        if parts.result != Some(0) {
            return;
        }
        let place = match quoted(parts.argument(0)) {
            Some(path) => Some(self.names.place(self.files[files].working_directory, path)),
            None => self
                .descriptor(files, parts.argument(0))
                .and_then(|known| known.file)
                .map(PathTarget::Storage),
        };
        if let Some(PathTarget::Storage(directory)) = place {
            self.files[files].working_directory = directory;
        }
    }

    /// A child has its parent's files, or a copy of them.
    fn fork(&mut self, files: usize, parts: &Parts<'_>) {
        let Some(child) = parts.result.and_then(|child| u32::try_from(child).ok()) else { return };
        if child == 0 {
            return;
        }
        let shares = parts.arguments.iter().any(|word| word.contains("CLONE_FILES"));
        let (_, of_child) = self.process(child);
        if shares {
            if let Some(entry) = self.processes.get_mut(&child) {
                entry.1 = files;
            }
        } else {
            self.files[of_child] = self.files[files].clone();
        }
    }

    /// The place of the path that is the argument called `index`.
    fn path(&mut self, caller: &Caller, parts: &Parts<'_>, index: usize) -> Option<PathTarget> {
        let path = quoted(parts.argument(index))?;
        let directory = index.checked_sub(1).map_or("", |before| parts.argument(before));
        let base = match (annotation(directory), descriptor_number(directory)) {
            (Some(path), _) => self.names.place(0, path),
            (None, Some(number)) => {
                let known = self.files[caller.files].open.get(&number);
                PathTarget::Storage(known.and_then(|known| known.file).unwrap_or(0))
            }
            _ => PathTarget::Storage(self.files[caller.files].working_directory),
        };
        match base {
            PathTarget::Storage(base) => Some(self.names.place(base, path)),
            PathTarget::Elsewhere if path.starts_with('/') => Some(self.names.place(0, path)),
            PathTarget::Elsewhere => Some(PathTarget::Elsewhere),
        }
    }

    /// What is known of the descriptor `word`; strace's own word on its file counts.
    fn descriptor(&mut self, files: usize, word: &str) -> Option<Descriptor> {
        let known =
            descriptor_number(word).and_then(|number| self.files[files].open.get(&number)).copied();
        let Some(path) = annotation(word) else { return known };
        let file = match path.starts_with('/').then(|| self.names.place(0, path)) {
            Some(PathTarget::Storage(file)) => Some(file).filter(|&file| file > 0),
            _ => None,
        };
        let position = known.and_then(|known| known.position);
        Some(Descriptor { file, position })
    }

    /// Changes where the descriptor `word` stands.
    fn stand(&mut self, files: usize, word: &str, to: impl Fn(Option<u64>) -> Option<u64>) {
        let number = descriptor_number(word);
        if let Some(known) = number.and_then(|number| self.files[files].open.get_mut(&number)) {
            known.position = to(known.position);
        }
    }
}

/// What `flags` say.
fn how(flags: &str) -> OpenHow {
    let is_of_flag = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = flags.split(|letter| !is_of_flag(letter));
    let known = words.filter_map(|word| FLAGS.iter().find(|(name, _)| *name == word));
    known.fold(OpenHow::default(), |how, (_, flag)| how.and(*flag))
}

/// What a call has read, written or copied: its result, unless it failed.
fn moved(parts: &Parts<'_>) -> Bytes {
    Bytes(parts.result.and_then(|result| u64::try_from(result).ok()).unwrap_or_default())
}

fn number_or_zero(word: &str) -> Bytes {
    Bytes(number(word).and_then(|number| u64::try_from(number).ok()).unwrap_or_default())
}

/// The number of the descriptor `word`.
fn descriptor_number(word: &str) -> Option<i64> {
    number(word).filter(|&descriptor| descriptor >= 0)
}

/// The name that strace gives for the descriptor `word`.
fn annotation(word: &str) -> Option<&str> {
    let (number, rest) = word.split_once('<')?;
    if number.starts_with('"') {
        return None;
    }
    rest.rsplit_once('>').map(|(name, _)| name)
}

/// The text between the quotes of `word`.
fn quoted(word: &str) -> Option<&str> {
    let (text, _) = word.strip_prefix('"')?.rsplit_once('"')?;
    Some(text)
}
