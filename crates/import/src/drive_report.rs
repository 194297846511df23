//! What SSDs and hard disks report of their health, as `smartctl` prints it for people or as JSON and as
//! `nvme smart-log` prints it.
//!
//! A value is taken only from a line of the form in which these tools print it, and a number with marks
//! between its thousands only where the rounded amount in brackets agrees. What the report says of the
//! drive's state is in [`DriveReport::findings`]. Serial numbers are never taken over.

mod ata;
mod json;
mod nvme;
mod text;

pub use json::of_json;
pub(crate) use text::SIGN_MIN;
pub use text::{is_sign, read};

use cardproof_record::FindingKind;
use cardproof_units::Bytes;

/// The program that printed a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveTool {
    /// smartctl of smartmontools.
    Smartctl,
    /// nvme of nvme-cli.
    Nvme,
}

impl DriveTool {
    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Smartctl => "smartctl",
            Self::Nvme => "nvme smart-log",
        }
    }
}

/// Why a program could read nothing of a drive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRead {
    /// It does not know the USB bridge, and has to be told how to speak through it.
    UnknownBridge,
    /// The user may not read the device.
    NotPermitted,
    /// The drive has no health report, or it is switched off.
    NoReport,
    /// Another reason, in the program's words.
    Other(String),
}

/// What a drive reports of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveReport {
    /// The program.
    pub tool: DriveTool,
    /// The numbers of its lines; empty for JSON.
    pub lines: Vec<usize>,
    /// The kernel's name of the device, if a command or heading has it.
    pub device: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// The capacity.
    pub capacity_bytes: Option<Bytes>,
    /// Whether the drive's own assessment is "passed".
    pub is_passed: Option<bool>,
    /// The values, each kind once.
    pub values: Vec<DriveValue>,
    /// Values of ATA at or below the maker's limit.
    pub below_threshold: Vec<BelowThreshold>,
    /// Why nothing could be read.
    pub not_read: Option<NotRead>,
    /// When it was read, in seconds since 1970, where the program tells.
    pub unix_s: Option<i64>,
    /// Whether smartctl says that it does not know the model: the names of its attributes are then those
    /// that most makers use, and a unit is a guess.
    pub is_unknown_model: bool,
    /// Whether the drive has read all of itself without an error in the tests so far.
    has_passed_whole: bool,
}

/// A value of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveValue {
    /// What it is.
    pub kind: DriveValueKind,
    /// In the unit of the kind.
    pub value: f64,
    /// The number as it was printed with its unit, where it was printed as one.
    pub printed: Option<(f64, &'static str)>,
    /// The line; 0 for JSON.
    pub line: usize,
}

/// A value of ATA at or below the maker's limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BelowThreshold {
    /// The attribute's name.
    pub name: String,
    /// The value, as a rule from 100 down.
    pub value: u64,
    /// The limit.
    pub threshold: u64,
    /// The line; 0 for JSON.
    pub line: usize,
}

/// Which values are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriveValueKind {
    /// Per cent of the life used; above 100 is defined (NVM Express, SMART log).
    LifeUsedPercent,
    /// Per cent of the life left.
    LifeLeftPercent,
    /// Per cent of the spare blocks left.
    SpareLeftPercent,
    /// The limit of the spare blocks, in per cent.
    SpareThresholdPercent,
    /// Bytes written by the host.
    BytesWritten,
    /// The bits of NVMe's critical warning.
    CriticalWarning,
    /// Errors of the medium.
    MediaErrors,
    /// Sectors replaced by spare ones.
    ReallocatedSectors,
    /// Sectors that wait to be replaced.
    PendingSectors,
    /// Errors that could not be corrected.
    UncorrectableErrors,
    /// Tests of the drive by itself that failed.
    FailedSelfTests,
}

impl DriveValueKind {
    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::LifeUsedPercent => "life used",
            Self::LifeLeftPercent => "life left",
            Self::SpareLeftPercent => "spare blocks left",
            Self::SpareThresholdPercent => "limit of spare blocks",
            Self::BytesWritten => "written by the host",
            Self::CriticalWarning => "critical warning",
            Self::MediaErrors => "media errors",
            Self::ReallocatedSectors => "reallocated sectors",
            Self::PendingSectors => "pending sectors",
            Self::UncorrectableErrors => "uncorrectable errors",
            Self::FailedSelfTests => "self-tests that failed",
        }
    }

    /// The unit in which it is printed.
    const fn unit(self) -> &'static str {
        match self {
            Self::LifeUsedPercent
            | Self::LifeLeftPercent
            | Self::SpareLeftPercent
            | Self::SpareThresholdPercent => "%",
            Self::BytesWritten => "units of 512,000 bytes",
            Self::CriticalWarning
            | Self::MediaErrors
            | Self::ReallocatedSectors
            | Self::PendingSectors
            | Self::UncorrectableErrors
            | Self::FailedSelfTests => "",
        }
    }
}

/// How a test that a drive made of itself ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SelfTest {
    /// It found an error.
    Failed,
    /// It read the whole drive and found none.
    PassedWhole,
    /// It was a short one that found none, or was ended early.
    Other,
}

impl DriveReport {
    fn new(tool: DriveTool) -> Self {
        Self {
            tool,
            lines: Vec::new(),
            device: None,
            model: None,
            capacity_bytes: None,
            is_passed: None,
            values: Vec::new(),
            below_threshold: Vec::new(),
            not_read: None,
            unix_s: None,
            is_unknown_model: false,
            has_passed_whole: false,
        }
    }

    /// The value of a kind.
    #[must_use]
    pub fn value(&self, kind: DriveValueKind) -> Option<f64> {
        self.values.iter().find(|value| value.kind == kind).map(|value| value.value)
    }

    /// Whether it says anything of the drive's health, or why not.
    #[must_use]
    pub fn has_content(&self) -> bool {
        !(self.values.is_empty()
            && self.is_passed.is_none()
            && self.below_threshold.is_empty()
            && self.not_read.is_none())
    }

    /// Notes a value of so many of `unit`, of which one is `scale` of the kind's own unit; the first of a
    /// kind counts.
    fn note(
        &mut self,
        kind: DriveValueKind,
        (number, unit): (f64, &'static str),
        scale: f64,
        line: usize,
    ) {
        let value = number * scale;
        if self.value(kind).is_none() && value.is_finite() {
            let printed = (kind != DriveValueKind::CriticalWarning).then_some((number, unit));
            self.values.push(DriveValue { kind, value, printed, line });
        }
    }

    /// Counts a test that the drive made of itself, in a line. The newest comes first: what failed before the whole
    /// drive passed has been repaired.
    fn note_self_test(&mut self, test: SelfTest, line: usize) {
        let kind = DriveValueKind::FailedSelfTests;
        self.has_passed_whole |= test == SelfTest::PassedWhole;
        let counts = test == SelfTest::Failed && !self.has_passed_whole;
        let failed = if counts { 1.0 } else { 0.0 };
        match self.values.iter_mut().find(|value| value.kind == kind) {
            Some(known) => {
                if known.value < 1.0 {
                    known.line = line;
                }
                known.value += failed;
                known.printed = Some((known.value, kind.unit()));
            }
            None => self.note(kind, (failed, kind.unit()), 1.0, line),
        }
    }

    /// What the report says of the drive's state, the gravest first, each with its line (0 for JSON).
    #[must_use]
    pub fn findings(&self) -> Vec<(FindingKind, usize)> {
        let line = |kind| self.values.iter().find(|it| it.kind == kind).map_or(0, |it| it.line);
        let count = |kind| self.value(kind).filter(|it| *it >= 1.0).map(|it| it as u64);
        let mut found = Vec::new();
        if self.is_passed == Some(false) {
            found.push((
                FindingKind::SelfAssessmentFailed,
                self.lines.first().copied().unwrap_or(0),
            ));
        }
        if let Some(bits) = count(DriveValueKind::CriticalWarning) {
            let kind = FindingKind::CriticalWarning { bits };
            found.push((kind, line(DriveValueKind::CriticalWarning)));
        }
        for it in &self.below_threshold {
            let kind = FindingKind::BelowThreshold {
                name: it.name.clone(),
                value: it.value,
                threshold: it.threshold,
            };
            found.push((kind, it.line));
        }
        let left = self.value(DriveValueKind::SpareLeftPercent);
        let threshold = self.value(DriveValueKind::SpareThresholdPercent);
        if let (Some(left), Some(threshold)) = (left, threshold)
            && left < threshold
        {
            let kind = FindingKind::SpareBelowThreshold {
                left_percent: left as u64,
                threshold_percent: threshold as u64,
            };
            found.push((kind, line(DriveValueKind::SpareLeftPercent)));
        }
        let used = self.value(DriveValueKind::LifeUsedPercent).filter(|used| *used >= 100.0);
        let left = self.value(DriveValueKind::LifeLeftPercent).filter(|left| *left <= 0.0);
        if let Some(used) = used.or(left.map(|_| 100.0)) {
            let kind = FindingKind::LifeUsedUp { used_percent: Some(used as u64) };
            let of = [DriveValueKind::LifeUsedPercent, DriveValueKind::LifeLeftPercent];
            found.push((kind, of.map(line).into_iter().max().unwrap_or(0)));
        }
        for kind in COUNTED {
            found.extend(count(kind).map(|count| (counted(kind, count), line(kind))));
        }
        found
    }
}

/// Values that should be zero, the gravest first.
const COUNTED: [DriveValueKind; 5] = [
    DriveValueKind::FailedSelfTests,
    DriveValueKind::MediaErrors,
    DriveValueKind::PendingSectors,
    DriveValueKind::UncorrectableErrors,
    DriveValueKind::ReallocatedSectors,
];

/// The finding of so many of a value that should be zero.
const fn counted(kind: DriveValueKind, count: u64) -> FindingKind {
    match kind {
        DriveValueKind::FailedSelfTests => FindingKind::SelfTestsFailed { count },
        DriveValueKind::MediaErrors => FindingKind::MediaErrors { count },
        DriveValueKind::PendingSectors => FindingKind::PendingSectors { count },
        DriveValueKind::ReallocatedSectors => FindingKind::ReallocatedSectors { count },
        _ => FindingKind::UncorrectableErrors { count },
    }
}

#[cfg(test)]
mod tests;
