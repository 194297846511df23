//! What is seen without measuring: identity, settings, power, the device's own report of its wear.

use cardproof_device::identify::{Identity, LogAccess, StorageChoice, identify};
use cardproof_device::{Sysroot, seconds_since_start};
use cardproof_rating::answer::{Health, KernelErrors, LogRead, PowerFacts};
use cardproof_record::{Conditions, FindingKind, KernelFault};
use cardproof_session::simulated_name;

use super::{CheckArgs, power_facts};
use crate::exit::{Failure, with_causes};

/// What [`spare_blocks`](cardproof_record::CardInfo::spare_blocks) says where nothing is short.
const SPARE_BLOCKS_NORMAL: &str = "normal";

/// What was seen.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) conditions: Conditions,
    pub(super) health: Health,
    pub(super) power: PowerFacts,
    /// Whether the target may be written to: a directory, or a simulated card.
    pub(super) is_writable: bool,
}

/// Looks at what `args` name below `root`.
pub(super) fn look(root: &Sysroot, args: &CheckArgs) -> Result<Seen, Failure> {
    if simulated_name(&args.target).is_some() {
        return Ok(Seen { is_writable: true, ..Seen::default() });
    }
    let identity =
        identify(root, &choice(root, args)).map_err(|error| Failure::usage(with_causes(&error)))?;
    let health = health(root, &identity);
    let power = power_facts(&identity.power);
    let is_writable = root.is_running_system() && args.target.is_dir();
    Ok(Seen { conditions: conditions(identity), health, power, is_writable })
}

fn choice(root: &Sysroot, args: &CheckArgs) -> StorageChoice {
    let is_default = args.target.as_os_str() == ".";
    if is_default && !root.is_running_system() {
        StorageChoice::System
    } else {
        StorageChoice::Named(args.target.clone())
    }
}

fn health(root: &Sysroot, identity: &Identity) -> Health {
    let card = identity.device.lowest().card.as_ref();
    let counted = |wanted: &[KernelFault]| {
        let messages = identity.errors.log.iter().filter_map(|found| match found.what {
            FindingKind::KernelMessages { fault, count, .. } => Some((fault, count)),
            _ => None,
        });
        messages.filter(|(fault, _)| wanted.contains(fault)).map(|(_, count)| count).sum::<u64>()
    };
    Health {
        log: match identity.errors.log_access {
            LogAccess::Read => LogRead::Read {
                days: seconds_since_start(root).map(|seconds| (seconds / 86_400.0) as u64),
            },
            LogAccess::NotPermitted => LogRead::NotPermitted,
            LogAccess::Absent => LogRead::Absent,
        },
        errors: KernelErrors {
            failed_requests: counted(&[
                KernelFault::IoError,
                KernelFault::MediumError,
                KernelFault::WriteLost,
            ]),
            repeated_transfers: counted(&[
                KernelFault::NoAnswer,
                KernelFault::WrongChecksum,
                KernelFault::CommandFailed,
                KernelFault::StuckBusy,
                KernelFault::DeviceTimeout,
            ]),
            filesystem_errors: counted(&[KernelFault::FilesystemError]),
        },
        is_turned_read_only: counted(&[KernelFault::ReadOnly]) > 0,
        life_used_percent_max: card.and_then(|card| card.life_used_percent_max),
        is_short_of_spare_blocks: card
            .and_then(|card| card.spare_blocks.as_deref())
            .is_some_and(|state| state != SPARE_BLOCKS_NORMAL),
    }
}

fn conditions(identity: Identity) -> Conditions {
    let Identity { device, host, filesystem, settings, unknown, .. } = identity;
    Conditions { device, host, filesystem, settings, unknown, ..Conditions::default() }
}
