//! What f3write, f3read and f3probe find of the storage: sectors that read back wrong, files that could
//! not be written or read, a test that has no summary.
//!
//! f3read prints a row for each file (`ok/corrupted/changed/overwritten` in sectors) and sums of all at its
//! end. The sums count where they are there, for the rows may be cut; else the rows do.

use cardproof_record::{ErrorCause, FindingKind, OpName};
use cardproof_units::Bytes;

use crate::draft::RecordDraft;
use crate::lines::Line;
use crate::text::{quantities, whole};

/// The size of f3's sectors.
const SECTOR: u64 = 512;

/// Sectors by what was read back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sectors {
    ok: u64,
    corrupted: u64,
    changed: u64,
    overwritten: u64,
}

impl Sectors {
    const fn wrong(self) -> u64 {
        self.corrupted.saturating_add(self.changed).saturating_add(self.overwritten)
    }

    fn add(&mut self, other: Self) {
        self.ok = self.ok.saturating_add(other.ok);
        self.corrupted = self.corrupted.saturating_add(other.corrupted);
        self.changed = self.changed.saturating_add(other.changed);
        self.overwritten = self.overwritten.saturating_add(other.overwritten);
    }
}

/// Where the data of the files, which f3write lays one behind the other, turn from right to wrong.
#[derive(Debug, Default)]
struct Course {
    /// How many files there were.
    files: u64,
    /// Whether one was not the next, counted from 1: then the start of the storage is not known.
    has_gap: bool,
    /// Sectors from the start up to the first wrong one, and those that are right in the file of that one.
    right: u64,
    /// What is in the files behind that one.
    behind: Option<Sectors>,
}

impl Course {
    fn add(&mut self, number: Option<u64>, row: Sectors) {
        self.files += 1;
        self.has_gap |= number != Some(self.files);
        match &mut self.behind {
            Some(behind) => behind.add(row),
            None => {
                self.right = self.right.saturating_add(row.ok);
                self.behind = (row.wrong() > 0).then(Sectors::default);
            }
        }
    }

    /// How much from the start is right, where next to nothing behind it is; `None` where errors lie scattered, as of
    /// a damaged storage. Of a counterfeit, what was written last may be right.
    fn right_to(&self) -> Option<Bytes> {
        let behind = self.behind.filter(|_| !self.has_gap && self.right > 0)?;
        let all = behind.ok.saturating_add(behind.wrong());
        // Bits that differ are those of a damaged storage.
        let is_elsewhere = behind.changed < behind.wrong() / 10;
        let is_wrong = all >= FILE_SECTORS && behind.ok <= all / 10;
        (is_wrong && is_elsewhere).then(|| Bytes(self.right.saturating_mul(SECTOR)))
    }
}

/// Files in which one operation failed.
#[derive(Debug, Default)]
struct Failures<'l, 't> {
    files: Vec<u64>,
    cause: Option<ErrorCause>,
    first: Option<&'l Line<'t>>,
}

impl<'l, 't> Failures<'l, 't> {
    fn add(&mut self, line: &'l Line<'t>, file: Option<u64>, cause: ErrorCause) {
        self.first.get_or_insert(line);
        if self.cause.is_none() || self.cause == Some(ErrorCause::Unknown) {
            self.cause = Some(cause);
        }
        if self.files.len() < FILES_MAX {
            self.files.extend(file);
        }
    }

    fn settle(self, op: OpName, draft: &mut RecordDraft) {
        let Some(line) = self.first else { return };
        let what = FindingKind::IoErrors {
            op,
            count: self.files.len() as u64,
            cause: self.cause.unwrap_or(ErrorCause::Unknown),
            files: self.files,
            after_bytes: None,
            offset_bytes: None,
        };
        draft.find(line, what);
    }
}

/// The sums in a line: f3read has one a line, and people quote several in a sentence.
fn sums_in(text: &str) -> impl Iterator<Item = &str> {
    let mut starts: Vec<usize> =
        SUMS.iter().flat_map(|name| text.match_indices(name).map(|(at, _)| at)).collect();
    starts.sort_unstable();
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([text.len()]).collect();
    starts.into_iter().zip(ends).map(|(start, end)| &text[start..end])
}

/// The names of f3read's sums.
const SUMS: [&str; 5] =
    ["Data OK:", "Data LOST:", "Corrupted:", "Slightly changed:", "Overwritten:"];

/// A record names no more files.
const FILES_MAX: usize = 1024;

/// What one run of a program found.
#[derive(Debug, Default)]
pub(super) struct Data<'l, 't> {
    rows: Option<(&'l Line<'t>, Sectors)>,
    /// The first row that holds a wrong sector.
    first_wrong: Option<&'l Line<'t>>,
    last_row: Option<&'l Line<'t>>,
    /// Where the data turn from right to wrong.
    course: Course,
    sums: Option<(&'l Line<'t>, Sectors)>,
    /// Lost data, where their kinds are not told.
    lost: Option<(&'l Line<'t>, u64)>,
    writes: Failures<'l, 't>,
    reads: Failures<'l, 't>,
    has_speed: bool,
}

impl<'l, 't> Data<'l, 't> {
    /// Takes over what `line` says.
    pub(super) fn read(&mut self, line: &'l Line<'t>) {
        let text = line.shown();
        if let Some(rest) = text.strip_prefix("Validating file ") {
            self.read_row(line, rest);
        } else if let Some(rest) = text.strip_prefix("Creating file ") {
            if let Some((_, why)) = rest.split_once("rite failure") {
                add_failure(&mut self.writes, line, rest, why);
            }
        } else if text.contains("due to I/O error") {
            if self.reads.first.is_none() {
                self.reads.add(line, None, ErrorCause::Io);
            }
        } else {
            sums_in(text).for_each(|sum| self.read_sum(line, sum));
        }
    }

    /// Notes that the run ended with its speed.
    pub(super) const fn note_speed(&mut self) {
        self.has_speed = true;
    }

    /// How much was compared.
    pub(super) fn tested(&self) -> Bytes {
        let sectors = self.sums.or(self.rows).map(|(_, sectors)| sectors).unwrap_or_default();
        let lost = self.lost.map_or(0, |(_, lost)| lost);
        let all = sectors.ok.saturating_add(sectors.wrong().max(lost));
        Bytes(all.saturating_mul(SECTOR))
    }

    /// Whether the program said of all that it compared that it is as written.
    pub(super) fn is_right(&self) -> bool {
        let is_summed = self.sums.is_some_and(|(_, sums)| sums.wrong() == 0 && sums.ok > 0);
        let are_rows_right = self.rows.is_none_or(|(_, rows)| rows.wrong() == 0);
        let has_failed = self.reads.first.is_some() || self.writes.first.is_some();
        is_summed && are_rows_right && self.lost.is_some_and(|(_, lost)| lost == 0) && !has_failed
    }

    fn read_row(&mut self, line: &'l Line<'t>, rest: &str) {
        if let Some((_, why)) = rest.split_once("due to") {
            add_failure(&mut self.reads, line, rest, why);
        } else if let Some((_, why)) = rest.split_once("ead failure") {
            add_failure(&mut self.reads, line, rest, why);
        }
        let Some(row) = rest.split_once("...").and_then(|(_, row)| row_of(row)) else { return };
        if row.wrong() > 0 {
            self.first_wrong.get_or_insert(line);
        }
        self.rows.get_or_insert((line, Sectors::default())).1.add(row);
        self.last_row = Some(line);
        self.course.add(rest.split('.').next().and_then(whole), row);
    }

    fn read_sum(&mut self, line: &'l Line<'t>, text: &str) {
        let Some((name, figures)) = text.split_once(':') else { return };
        let numbers = quantities(figures);
        let is_sectors = |unit: &str| matches!(unit, "sectors" | "sector");
        let Some(count) = numbers.iter().find(|it| is_sectors(it.unit)) else { return };
        let count = count.value as u64;
        if name == "Data LOST" {
            self.lost = Some((line, count));
            return;
        }
        let mut sectors = Sectors::default();
        match name {
            "Data OK" => sectors.ok = count,
            "Corrupted" => sectors.corrupted = count,
            "Slightly changed" => sectors.changed = count,
            "Overwritten" => sectors.overwritten = count,
            _ => return,
        }
        self.sums.get_or_insert((line, Sectors::default())).1.add(sectors);
    }

    /// Ends the run: adds what was found to `draft`.
    pub(super) fn settle(self, draft: &mut RecordDraft) {
        let Self { rows, first_wrong, last_row, course, sums, lost, writes, reads, has_speed } =
            self;
        writes.settle(OpName::Write, draft);
        reads.settle(OpName::Read, draft);
        let is_summed = sums.is_some() || lost.is_some();
        // Sums of which the end is missing tell only what is sound.
        let is_lost = lost.is_some_and(|it| it.1 > 0);
        let is_whole = |sums: Sectors| sums.wrong() > 0 || lost.is_some() && !is_lost;
        let told = sums.filter(|(_, sums)| is_whole(*sums)).or(rows.filter(|_| !is_lost));
        match (told, lost) {
            (Some((line, told)), _) if told.wrong() > 0 => {
                let Sectors { ok, corrupted, changed, overwritten } = told;
                // Rows of a text that is cut do not tell where the data end.
                let is_whole = rows.is_some_and(|(_, sectors)| sectors == told);
                let right_to_bytes = course.right_to().filter(|_| is_whole);
                let what = FindingKind::WrongSectors {
                    ok,
                    corrupted,
                    changed,
                    overwritten,
                    right_to_bytes,
                };
                draft.find(first_wrong.unwrap_or(line), what);
            }
            (Some(_), _) => {}
            (None, Some((line, lost))) if lost > 0 => {
                let ok = sums.or(rows).map_or(0, |(_, sectors)| sectors.ok);
                let what = FindingKind::DataLost {
                    lost_bytes: Bytes(lost.saturating_mul(SECTOR)),
                    of_bytes: Bytes(lost.saturating_add(ok).saturating_mul(SECTOR)),
                    right_to_bytes: None,
                };
                draft.find(line, what);
            }
            (None, _) => {}
        }
        if let Some((line, sectors)) = rows.filter(|_| !is_summed && !has_speed) {
            let all = sectors.ok.saturating_add(sectors.wrong()).saturating_mul(SECTOR);
            let what = FindingKind::Unfinished { tested_bytes: Some(Bytes(all)), of_bytes: None };
            draft.find(last_row.unwrap_or(line), what);
        }
    }
}

/// Adds the failure in `rest`, which begins with a file's name and of which `why` names the cause. A full
/// file system is how f3write ends.
fn add_failure<'l, 't>(failures: &mut Failures<'l, 't>, line: &'l Line<'t>, rest: &str, why: &str) {
    let cause = cause_of(why);
    if let Some(cause) = cause {
        let number = rest.split('.').next().and_then(whole);
        failures.add(line, number, cause);
    }
}

/// The cause of a failure by the words of the C library; `None` where the storage is only full.
fn cause_of(why: &str) -> Option<ErrorCause> {
    if why.contains("No space left") {
        return None;
    }
    Some(if why.contains("Input/output error") || why.contains("I/O error") {
        ErrorCause::Io
    } else if why.contains("Read-only file system") {
        ErrorCause::ReadOnly
    } else if why.contains("No such device") || why.contains("No medium") {
        ErrorCause::Gone
    } else {
        ErrorCause::Unknown
    })
}

/// The four counts of a row such as `2096744/      408/      0/      0`.
fn row_of(row: &str) -> Option<Sectors> {
    let row = row.split(" - ").next().unwrap_or(row);
    let mut counts = row.split('/').map(|count| whole(count.split_whitespace().next()?));
    let mut next = || counts.next().flatten();
    let sectors =
        Sectors { ok: next()?, corrupted: next()?, changed: next()?, overwritten: next()? };
    // No file of f3 is larger than 1 GiB.
    let most = [sectors.ok, sectors.corrupted, sectors.changed, sectors.overwritten];
    most.iter().all(|count| *count <= FILE_SECTORS).then_some(sectors)
}

/// The sectors of one of f3's files, 1 GiB.
const FILE_SECTORS: u64 = 2_097_152;
