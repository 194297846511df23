//! What went wrong with a device: a kind of trouble with its figures.

use cardproof_record::OpName;

use super::Stamp;
use super::event::{Event, EventKind, Filesystem, ModeStep};

/// No more sectors are kept of one kind of trouble.
const SECTORS_MAX: usize = 16;

/// A kind of trouble, without the figures of single events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TroubleKind {
    /// Commands that failed with this number of the kernel.
    Command(u16),
    /// The card could not be put to use; the kernel's number.
    Init(u16),
    /// The card remained busy.
    StuckBusy,
    /// Requests that failed for good.
    Io,
    /// Requests for places that the device itself cannot read or write.
    Medium,
    /// Data that could not be written are lost.
    WriteLost,
    /// Errors that a file system met.
    Filesystem,
    /// A file system takes no more writes.
    ReadOnly,
    /// A file system was not unmounted.
    Unclean,
    /// Requests beyond the end of the device.
    BeyondEnd,
    /// The bus is narrower than it can be.
    Width,
    /// A faster mode did not work.
    Mode,
    /// The command queue stopped and was started again.
    Queue,
    /// Resets of a USB device.
    UsbReset,
    /// Errors on the link to a SATA device.
    Link,
    /// The device did not answer and was reset.
    DeviceTimeout,
    /// The device went away.
    Gone,
    /// Tasks waited for storage for minutes.
    TaskBlocked,
    /// The board's supply fell below 4.63 V.
    UnderVoltage,
    /// The card is write-protected.
    WriteProtected,
}

impl TroubleKind {
    /// Whether the device, or what is between it and the computer, failed to do what it was asked for.
    pub(super) const fn is_error(self) -> bool {
        self.is_of_data()
            || matches!(
                self,
                Self::Command(_)
                    | Self::Init(_)
                    | Self::StuckBusy
                    | Self::Medium
                    | Self::DeviceTimeout
            )
    }

    /// Whether data could not be read, written or kept.
    pub(super) const fn is_of_data(self) -> bool {
        matches!(self, Self::Io | Self::WriteLost | Self::Filesystem | Self::ReadOnly)
    }
}

/// One kind of trouble with its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Trouble {
    /// What went wrong.
    pub kind: TroubleKind,
    /// How often the log says so. The kernel leaves out repeats.
    pub count: u64,
    /// When the log says so first.
    pub first: Option<String>,
    /// When the log says so last.
    pub last: Option<String>,
    /// On how many days: of running, where the log counts seconds, else of the calendar. 1 without times.
    pub days: u64,
    /// The last of them.
    day: Option<String>,
    /// The line of the first.
    pub line: usize,
    /// The line of the last.
    pub last_line: usize,
    /// Sectors of 512 bytes, each once, in the order of the log; the first sixteen.
    pub sectors: Vec<u64>,
    /// What failed, where all messages agree.
    pub op: OpName,
    /// The file system, where one is meant.
    pub filesystem: Option<Filesystem>,
    /// The partition, where one is named.
    pub partition: Option<String>,
    /// The steps to a faster bus that failed.
    pub steps: Vec<ModeStep>,
    /// The longest wait of a task in seconds.
    pub seconds: u64,
    /// Where it happened, where the log names no device but a place ([`crate::is_place`]).
    pub place: Option<String>,
    /// Whether the device had gone before and was not found again.
    pub is_after_gone: bool,
    /// Whether it was seen on what rests on this device in part, or on a file of it: there it may have other causes.
    pub is_indirect: bool,
}

impl Trouble {
    /// Whether both are of one kind and one file system, and count alike.
    fn is_like(&self, other: &Self) -> bool {
        let key = |it: &Self| (it.kind, it.is_after_gone, it.is_indirect);
        key(self) == key(other) && self.partition == other.partition && self.place == other.place
    }

    /// Takes over what `later` tells of the same.
    pub(super) fn absorb(&mut self, later: Self) {
        self.count += later.count;
        self.last = later.last.or_else(|| self.last.take());
        self.last_line = later.last_line;
        self.seconds = self.seconds.max(later.seconds);
        if later.day.is_some() && later.day != self.day {
            self.days += later.days;
            self.day = later.day;
        }
        if self.op != later.op {
            self.op = OpName::Unknown;
        }
        for sector in later.sectors {
            self.add_sector(sector);
        }
        for step in later.steps {
            self.add_step(step);
        }
    }

    fn add_sector(&mut self, sector: u64) {
        if self.sectors.len() < SECTORS_MAX && !self.sectors.contains(&sector) {
            self.sectors.push(sector);
        }
    }

    fn add_step(&mut self, step: ModeStep) {
        if !self.steps.contains(&step) {
            self.steps.push(step);
        }
    }
}

/// Adds `trouble` to what `troubles` have of its kind.
pub(super) fn add(troubles: &mut Vec<Trouble>, trouble: Trouble) {
    match troubles.iter_mut().find(|known| known.is_like(&trouble)) {
        Some(known) => known.absorb(trouble),
        None => troubles.push(trouble),
    }
}

impl EventKind<'_> {
    /// Whether a message tells that something went wrong.
    #[must_use]
    pub fn is_trouble(&self) -> bool {
        trouble(self).is_some()
    }

    /// Whether a message comes while the kernel finds out what is in a slot, which may be another card than before.
    pub(super) const fn is_of_start(&self) -> bool {
        matches!(
            self,
            Self::Attached { .. }
                | Self::Card { .. }
                | Self::Clock(_)
                | Self::WidthFailed(_)
                | Self::ModeFailed(_)
                | Self::QueueOn
                | Self::QueueOff
                | Self::InitFailed(_)
        )
    }
}

/// The kind of trouble that a message tells of.
pub(super) fn trouble(event: &EventKind<'_>) -> Option<TroubleKind> {
    Some(match event {
        EventKind::CommandError { error, .. } => TroubleKind::Command(*error),
        EventKind::InitFailed(error) => TroubleKind::Init(*error),
        // ETIMEDOUT, which the kernel's other messages name by its number.
        EventKind::NoAnswer => TroubleKind::Command(110),
        EventKind::StuckBusy => TroubleKind::StuckBusy,
        EventKind::IoError { is_medium: true, .. } => TroubleKind::Medium,
        EventKind::IoError { .. } => TroubleKind::Io,
        EventKind::WriteLost => TroubleKind::WriteLost,
        EventKind::FilesystemError(_) => TroubleKind::Filesystem,
        EventKind::ReadOnly(_) => TroubleKind::ReadOnly,
        EventKind::Unclean(_) => TroubleKind::Unclean,
        EventKind::BeyondEnd => TroubleKind::BeyondEnd,
        EventKind::WidthFailed(_) => TroubleKind::Width,
        EventKind::ModeFailed(_) => TroubleKind::Mode,
        EventKind::QueueRecovery => TroubleKind::Queue,
        EventKind::UsbReset => TroubleKind::UsbReset,
        EventKind::LinkError => TroubleKind::Link,
        EventKind::DeviceTimeout => TroubleKind::DeviceTimeout,
        EventKind::Gone => TroubleKind::Gone,
        EventKind::TaskBlocked(_) => TroubleKind::TaskBlocked,
        EventKind::UnderVoltage => TroubleKind::UnderVoltage,
        EventKind::Card { is_read_only: true, .. } => TroubleKind::WriteProtected,
        EventKind::Boot
        | EventKind::Attached { .. }
        | EventKind::Card { .. }
        | EventKind::Disk { .. }
        | EventKind::Model(_)
        | EventKind::Capacity { .. }
        | EventKind::Explains(_)
        | EventKind::Removed { .. }
        | EventKind::Clock(_)
        | EventKind::UasOff
        | EventKind::QueueOn
        | EventKind::QueueOff
        | EventKind::VoltageNormal => return None,
    })
}

/// One event as a trouble.
pub(super) fn first(
    kind: TroubleKind,
    line: usize,
    event: &Event<'_>,
    partition: Option<&str>,
) -> Trouble {
    let time = event.stamp.map(printed);
    let mut found = Trouble {
        kind,
        count: event.count,
        first: time.clone(),
        last: time,
        days: 1,
        day: event.stamp.map(day),
        line,
        last_line: line,
        sectors: Vec::new(),
        op: OpName::Unknown,
        filesystem: None,
        partition: None,
        steps: Vec::new(),
        seconds: 0,
        place: None,
        is_after_gone: false,
        is_indirect: false,
    };
    match event.kind {
        EventKind::IoError { op, sector, .. } => {
            found.op = op;
            found.sectors.extend(sector);
            // Some boards do not let these areas of an eMMC be read, which is no fault.
            let is_area = |name: &&str| name.contains("boot") || name.ends_with("rpmb");
            found.partition = partition.filter(is_area).map(str::to_owned);
        }
        EventKind::CommandError { sector, .. } => found.sectors.extend(sector),
        EventKind::FilesystemError(it) | EventKind::ReadOnly(it) | EventKind::Unclean(it) => {
            found.filesystem = Some(it);
            found.partition = partition.map(str::to_owned);
        }
        EventKind::TaskBlocked(seconds) => found.seconds = seconds,
        EventKind::ModeFailed(step) => found.steps.push(step),
        _ => {}
    }
    found
}

/// What all times of a day have in common.
fn day(stamp: Stamp<'_>) -> String {
    match stamp {
        Stamp::SinceBoot(seconds) => format!("{:.0}", (seconds / 86_400.0).floor()),
        // What stands before the hour.
        Stamp::Clock(clock) => {
            let hour = clock.find(':').and_then(|colon| colon.checked_sub(2));
            hour.and_then(|hour| clock.get(..hour)).unwrap_or_default().trim_end().to_owned()
        }
    }
}

/// A time for people: seconds since the start, or the log's own words.
fn printed(stamp: Stamp<'_>) -> String {
    match stamp {
        Stamp::SinceBoot(seconds) => format!("{seconds:.1} s"),
        Stamp::Clock(clock) => clock.to_owned(),
    }
}
