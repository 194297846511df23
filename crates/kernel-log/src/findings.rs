//! What went wrong with a device, in the form in which records keep it.

use cardproof_record::{Finding, FindingKind, KernelFault};

use super::log::{CardSeen, DeviceLog};
use super::trouble::{Trouble, TroubleKind};

/// Who says so, in a finding.
const TOOL: &str = "kernel-log";

impl DeviceLog {
    /// What went wrong, in the order in which it began.
    pub fn findings(&self) -> impl Iterator<Item = Finding> + '_ {
        let name = self.device.as_ref().or(self.host.as_ref());
        self.troubles.iter().map(move |trouble| Finding {
            device: name.cloned(),
            ..Finding::at(self.kind(trouble), TOOL, trouble.line)
        })
    }

    fn kind(&self, trouble: &Trouble) -> FindingKind {
        let fault = trouble.kind.fault();
        let bus = (fault == KernelFault::NarrowBus).then_some(&self.card);
        FindingKind::KernelMessages {
            fault,
            error: trouble.kind.error(),
            op: trouble.op,
            count: trouble.count,
            sectors: trouble.sectors.clone(),
            filesystem: trouble.filesystem.map(|it| it.name().to_owned()),
            partition: trouble.partition.clone(),
            width_bits: bus.and_then(CardSeen::width_bits),
            clock_hz: bus.and_then(|card| card.clock_hz),
            seconds: (trouble.seconds > 0).then_some(trouble.seconds),
            first_at: trouble.first.clone(),
            last_at: trouble.last.clone(),
        }
    }
}

impl TroubleKind {
    /// The kind of fault that a record stores for it.
    #[must_use]
    pub const fn fault(self) -> KernelFault {
        match self {
            Self::Command(110) => KernelFault::NoAnswer,
            Self::Command(84 | 74) => KernelFault::WrongChecksum,
            Self::Command(_) => KernelFault::CommandFailed,
            Self::Init(_) => KernelFault::NotUsable,
            Self::StuckBusy => KernelFault::StuckBusy,
            Self::Io => KernelFault::IoError,
            Self::Medium => KernelFault::MediumError,
            Self::WriteLost => KernelFault::WriteLost,
            Self::Filesystem => KernelFault::FilesystemError,
            Self::ReadOnly => KernelFault::ReadOnly,
            Self::Unclean => KernelFault::NotUnmounted,
            Self::BeyondEnd => KernelFault::BeyondEnd,
            Self::Width => KernelFault::NarrowBus,
            Self::Mode => KernelFault::SlowMode,
            Self::Queue => KernelFault::QueueRecovery,
            Self::UsbReset => KernelFault::UsbReset,
            Self::Link => KernelFault::LinkError,
            Self::DeviceTimeout => KernelFault::DeviceTimeout,
            Self::Gone => KernelFault::Gone,
            Self::TaskBlocked => KernelFault::TaskBlocked,
            Self::UnderVoltage => KernelFault::UnderVoltage,
            Self::WriteProtected => KernelFault::WriteProtected,
        }
    }

    /// The kernel's number of the error, where it is part of the kind.
    #[must_use]
    pub const fn error(self) -> Option<u16> {
        match self {
            Self::Command(error) | Self::Init(error) => Some(error),
            _ => None,
        }
    }
}
