//! The log of PiBenchmarks' Storage.sh: hdparm, dd, fio and iozone, and a score of them.
//!
//! What the script runs is known: dd writes zeros in blocks of 4 KiB through the page cache and
//! waits for them at the end; fio does random 4 KiB operations, 64 in flight, direct. The script
//! takes dd's number for MB/s whatever its unit is, so the score of a card below 1 MB/s or above
//! 1 GB/s is wrong in the log; the score here is from the figures with their units, and the log's
//! is kept beside it. Serial numbers, host name and network addresses in the log stay there.

use cardproof_units::{Bytes, Iops, Throughput};

use super::microsd_benchmarks::found;
use super::pibenchmarks_system as system;
use super::{dd, hdparm, iozone};
use crate::draft::{PhaseDraft, Printed, RecordDraft, Sync};
use crate::lines::{Line, last_number};
use crate::text::{between, quantities};
use crate::view::{Beginnings, View};
use crate::{ForeignTool, ImportError};
use cardproof_record::{OpName, PatternName, Stated, WarningCode};

pub(super) const TOOL: ForeignTool = ForeignTool::Pibenchmarks;

/// What a score is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PibenchmarksFigures {
    /// dd's sequential write.
    pub dd_write: Throughput,
    /// fio's random reads of 4 KiB, 64 in flight.
    pub fio_random_read: Iops,
    /// fio's random writes of 4 KiB, 64 in flight.
    pub fio_random_write: Iops,
    /// iozone's sequential read in records of 4 KiB, in KiB/s.
    pub iozone_read_kib_per_s: f64,
    /// iozone's sequential write in records of 4 KiB, in KiB/s.
    pub iozone_write_kib_per_s: f64,
    /// iozone's random read in records of 4 KiB, in KiB/s.
    pub iozone_random_read_kib_per_s: f64,
    /// iozone's random write in records of 4 KiB, in KiB/s.
    pub iozone_random_write_kib_per_s: f64,
}

/// The score, cut to a whole number as the script does (Storage.sh, "Calculate score").
#[must_use]
pub fn pibenchmarks_score(figures: &PibenchmarksFigures) -> u64 {
    let sum = figures.dd_write.as_mb_per_s() * 1024.0
        + figures.fio_random_read.0 * 4.0
        + figures.fio_random_write.0 * 10.0
        + figures.iozone_read_kib_per_s
        + figures.iozone_write_kib_per_s
        + figures.iozone_random_read_kib_per_s * 4.0
        + figures.iozone_random_write_kib_per_s * 10.0;
    // A sum that is whole but for the last bits of its floating point is not cut to the next.
    (sum / 100.0 + 1e-9).floor() as u64
}

pub(super) fn is_sign(view: &View) -> bool {
    const PARTITION: &str = "Chosen partition (";
    const SIGNS: Beginnings = Beginnings::new(&[
        "FIO results - 4k RandWrite:",
        "Running HDParm tests",
        "System rootfs drive (/) has been detected",
        PARTITION,
    ]);
    SIGNS.begin(view.line)
        && (!view.line.starts_with(PARTITION) || view.line.contains("has been detected as"))
}

/// The record of a log.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let score_printed = score(lines)?;
    let command = dd::Command {
        op: OpName::Write,
        sync: Sync::AtEnd,
        is_told: true,
        block: Bytes::kib(4),
        ..dd::Command::default()
    };
    let mut draft = RecordDraft::new(TOOL);
    let timings = found(hdparm::find(lines, &mut Err))?.unwrap_or_default();
    let files = found(iozone::find(lines))?.unwrap_or_default();
    let writes = found(dd::find(lines, command, &mut Err))?.unwrap_or_default();
    let random = fio_results(lines)?.unwrap_or_default();
    system::read(lines, &mut draft.conditions);
    if draft.conditions.device.name.is_none() {
        draft.conditions.device.name = timings.device;
    }
    draft.conditions.target.engine = "libaio".into();
    add_score(&mut draft, &writes, &random, &files.phases, score_printed);
    draft.began = files.began;
    draft.phases = [timings.phases, writes, random, files.phases].concat();
    draft.figures.extend(timings.figures);
    if draft.phases.is_empty() {
        let expected = "a figure of hdparm, dd, fio or iozone".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    }
    Ok(draft)
}

/// The score that the log prints near its end, where it was kept.
fn score(lines: &[Line]) -> Result<Option<f64>, ImportError> {
    let printed = lines.iter().rev().find_map(|line| {
        let (_, score) = line.text.split_once("Score:")?;
        Some((line, quantities(score).first().map(|score| score.value)))
    });
    match printed {
        Some((_, Some(score))) => Ok(Some(score)),
        Some((line, None)) => {
            Err(ImportError::unexpected(TOOL, line.number, "'Score: N'", &line.text))
        }
        None => Ok(None),
    }
}

/// fio's random writes and reads in `FIO results - 4k RandWrite: N IOPS (N KB/s) - 4k RandRead: …`.
fn fio_results(lines: &[Line]) -> Result<Option<Vec<PhaseDraft>>, ImportError> {
    let expected = "'FIO results - 4k RandWrite: N IOPS (N KB/s) - 4k RandRead: N IOPS (N KB/s)'";
    let found = lines.iter().find(|line| line.text.starts_with("FIO results"));
    let Some(line) = found else { return Ok(None) };
    let parsed = (|| {
        let write = random(OpName::Write, between(&line.text, "RandWrite:", " - ")?)?;
        Some(vec![write, random(OpName::Read, line.text.split_once("RandRead:")?.1)?])
    })();
    parsed.map(Some).ok_or_else(|| ImportError::unexpected(TOOL, line.number, expected, &line.text))
}

/// A phase of fio at `964 IOPS (3859 KB/s)`, whose KB are KiB.
pub(super) fn random(op: OpName, text: &str) -> Option<PhaseDraft> {
    // The operation's size, `4k`, stands before the colon and so is not among these.
    let [iops, rate]: [_; 2] = quantities(text).try_into().ok()?;
    let is_form = iops.unit == "IOPS" && rate.unit == "KB/s";
    is_form.then(|| PhaseDraft {
        block: Bytes::kib(4),
        depth: 64,
        stated: Stated {
            iops: Some(Iops(iops.value)),
            throughput_bytes_per_s: Some(Throughput(rate.value * 1024.0)),
            ..Stated::default()
        },
        figures: vec![
            Printed::new("iops", iops.value, "IOPS"),
            Printed::new("bw", rate.value, "KB/s").in_bytes_per_s(1024.0),
        ],
        ..PhaseDraft::new(op, PatternName::Random)
    })
}

/// Adds the log's score and the one of its figures, and says so where they differ. A log that was not
/// kept whole has none.
pub(super) fn add_score(
    draft: &mut RecordDraft,
    writes: &[PhaseDraft],
    random: &[PhaseDraft],
    files: &[PhaseDraft],
    printed: Option<f64>,
) {
    let of_iozone = |name: &str| {
        let figures = files.iter().flat_map(|phase| &phase.figures);
        figures.filter(|figure| figure.name == name).map(|figure| figure.value).next_back()
    };
    let of_fio = |index: usize| random.get(index)?.stated.iops;
    let figures = (|| {
        Some(PibenchmarksFigures {
            dd_write: rate_as_printed(writes.last()?)?,
            fio_random_write: of_fio(0)?,
            fio_random_read: of_fio(1)?,
            iozone_read_kib_per_s: of_iozone("read")?,
            iozone_write_kib_per_s: of_iozone("write")?,
            iozone_random_read_kib_per_s: of_iozone("random read")?,
            iozone_random_write_kib_per_s: of_iozone("random write")?,
        })
    })();
    let score = figures.map(|figures| pibenchmarks_score(&figures) as f64);
    draft.figures.extend(score.map(|score| Printed::new("score", score, "")));
    draft.figures.extend(printed.map(|score| Printed::new("score (in the file)", score, "")));
    if let Some((score, printed)) = score.zip(printed).filter(|(a, b)| (a - b).abs() > 1.0) {
        let message = format!(
            "the log's score is {printed}, and that of its figures {score}: the script takes dd's \
             number for MB/s whatever its unit is"
        );
        draft.warn(WarningCode::Other, message);
    }
}

/// dd's rate with the digits that it printed, as the script takes it.
fn rate_as_printed(phase: &PhaseDraft) -> Option<Throughput> {
    let figure = phase.figures.first()?;
    let unit = match figure.unit.as_str() {
        "B/s" => 1.0,
        "kB/s" => 1e3,
        "MB/s" => 1e6,
        "GB/s" => 1e9,
        _ => return phase.stated.throughput_bytes_per_s,
    };
    Some(Throughput(figure.value * unit))
}
