//! What other tools have found of a storage: how much each finding weighs, and whether it casts doubt on the speeds.
//!
//! A finding leads every answer. Speeds beside it come after, and none of them judges the storage: a
//! card that loses data or answers with errors is not measured by how fast it does so. The sentences are in
//! `words/findings.rs`.

use cardproof_record::{Finding, FindingKind, KernelFault, Record, WarningCode};

/// How much a finding weighs. The order is that in which findings are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gravity {
    /// Data were lost, or the capacity is not what it claims to be.
    DataLost,
    /// The device is failing, or says so.
    Failing,
    /// Reads or writes failed: the device, or what is between it and the computer.
    Errors,
    /// The computer's side limits or disturbs the storage: power, wiring, bus, settings.
    Host,
    /// Something was not tested, or took longer than it should.
    Notice,
}

/// How much `what` weighs.
#[must_use]
pub const fn gravity(what: &FindingKind) -> Gravity {
    match what {
        FindingKind::WrongSectors { .. }
        | FindingKind::DataLost { .. }
        | FindingKind::Counterfeit { .. } => Gravity::DataLost,
        FindingKind::Damaged
        | FindingKind::LikelyDefective
        | FindingKind::SelfAssessmentFailed
        | FindingKind::SelfTestsFailed { .. }
        | FindingKind::BelowThreshold { .. }
        | FindingKind::ReallocatedSectors { .. }
        | FindingKind::PendingSectors { .. }
        | FindingKind::UncorrectableErrors { .. }
        | FindingKind::CriticalWarning { .. }
        | FindingKind::MediaErrors { .. }
        | FindingKind::SpareBelowThreshold { .. }
        | FindingKind::SpareLow { .. }
        | FindingKind::LifeUsedUp { .. } => Gravity::Failing,
        FindingKind::IoErrors { .. } | FindingKind::Stalled { .. } => Gravity::Errors,
        FindingKind::KernelMessages { fault, .. } => gravity_of_fault(*fault),
        FindingKind::Unfinished { .. } | FindingKind::Unknown => Gravity::Notice,
    }
}

/// How much a fault weighs.
const fn gravity_of_fault(fault: KernelFault) -> Gravity {
    match fault {
        KernelFault::WriteLost => Gravity::DataLost,
        KernelFault::MediumError => Gravity::Failing,
        KernelFault::NoAnswer
        | KernelFault::WrongChecksum
        | KernelFault::CommandFailed
        | KernelFault::NotUsable
        | KernelFault::StuckBusy
        | KernelFault::IoError
        | KernelFault::FilesystemError
        | KernelFault::ReadOnly
        | KernelFault::BeyondEnd
        | KernelFault::DeviceTimeout
        | KernelFault::Gone
        | KernelFault::WriteProtected
        | KernelFault::TaskBlocked => Gravity::Errors,
        KernelFault::NarrowBus
        | KernelFault::SlowMode
        | KernelFault::QueueRecovery
        | KernelFault::UsbReset
        | KernelFault::LinkError
        | KernelFault::NotUnmounted
        | KernelFault::UnderVoltage => Gravity::Host,
        KernelFault::Unknown => Gravity::Notice,
    }
}

/// The findings of `record`, the gravest first, and of one gravity in the order of the text.
#[must_use]
pub fn by_gravity(record: &Record) -> Vec<&Finding> {
    let mut findings: Vec<&Finding> = record.findings.iter().collect();
    findings.sort_by_key(|finding| gravity(&finding.what));
    findings
}

/// Whether the speeds of `record` are in doubt for what was found of its storage.
#[must_use]
pub fn casts_doubt(record: &Record) -> bool {
    record.findings.iter().any(|finding| doubt(finding).is_some())
}

/// The kind of the doubt that `finding` casts on every speed beside it. A worn or a partly tested device is as fast
/// as it was measured.
pub(crate) fn doubt(finding: &Finding) -> Option<WarningCode> {
    match (&finding.what, gravity(&finding.what)) {
        // What was not written reads back as it was before, whatever else the storage returns.
        (FindingKind::KernelMessages { .. }, Gravity::DataLost) => Some(WarningCode::Faults),
        (FindingKind::LifeUsedUp { .. } | FindingKind::SpareLow { .. }, _)
        | (_, Gravity::Notice | Gravity::Host) => None,
        (_, Gravity::DataLost) => Some(WarningCode::WrongData),
        (_, Gravity::Failing | Gravity::Errors) => Some(WarningCode::Faults),
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::Bytes;

    use super::*;

    #[test]
    fn wear_and_an_unfinished_test_leave_the_speeds_as_they_are() {
        let unfinished = FindingKind::Unfinished { tested_bytes: None, of_bytes: None };
        for what in [unfinished, FindingKind::LifeUsedUp { used_percent: None }] {
            assert_eq!(doubt(&Finding::at(what, "", 1)), None);
        }
        let lost = FindingKind::DataLost {
            lost_bytes: Bytes(512),
            of_bytes: Bytes(1024),
            right_to_bytes: None,
        };
        let code = doubt(&Finding::at(lost, "", 1));
        assert_eq!(code, Some(WarningCode::WrongData));
    }
}
