//! What is seen without measuring: identity, settings, power, the device's own report of its wear.

use std::path::Path;

use cardproof_device::identify::{Identity, StorageChoice, identify};
use cardproof_device::{Surroundings, Sysroot};
use cardproof_rating::answer::{Earlier, PowerFacts, Untested};
use cardproof_rating::signs::{Seen as SeenSigns, Signs};
use cardproof_rating::tuning::Mounted;
use cardproof_record::{Conditions, DeviceInfo, TargetInfo, TargetKind};
use cardproof_session::{NoStorage, known_cards, mounted_on, simulated_card, simulated_name};
use cardproof_units::with_causes;
use rustix::fs::{Access, access};

use super::{CheckArgs, power_facts};
use crate::exit::Failure;

/// What was seen.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) conditions: Conditions,
    pub(super) signs: Signs,
    pub(super) power: PowerFacts,
    /// What an earlier test of the capacity of this card has found.
    pub(super) earlier: Option<Earlier>,
    /// The mounted file systems on it, where it is a device.
    pub(super) mounts: Vec<Mounted>,
    /// Whether it is a directory, or a simulated card; a device or a file is only read.
    pub(super) is_directory: bool,
    /// Whether it is an ordinary file.
    pub(super) is_file: bool,
    /// Whether the target may be written to: a directory, or a simulated card.
    pub(super) is_writable: bool,
}

impl Seen {
    /// Why the capacity was not tested, where the session says no more than `why`: a device or a file is only read.
    pub(super) const fn untested(&self, why: Untested) -> Untested {
        match why {
            Untested::NotAsked if self.is_file => Untested::File,
            Untested::NotAsked if !self.is_directory => Untested::OnlyRead,
            why => why,
        }
    }
}

/// Looks at what `args` name below `root`.
pub(super) fn look(root: &Sysroot, args: &CheckArgs) -> Result<Seen, Failure> {
    if let Some(name) = simulated_name(&args.target) {
        simulated_card(name)?;
        return Ok(Seen {
            conditions: simulated(name),
            signs: Signs::new(&SeenSigns::default()),
            power: PowerFacts::default(),
            earlier: None,
            mounts: Vec::new(),
            is_directory: true,
            is_file: false,
            is_writable: true,
        });
    }
    let identity =
        identify(root, &choice(root, args)).map_err(|error| Failure::usage(with_causes(&error)))?;
    let is_directory = root.is_running_system() && args.target.is_dir();
    let surroundings =
        Surroundings { filesystem: identity.filesystem.clone(), ..Surroundings::default() };
    if is_directory && let Some(nothing) = NoStorage::find(&surroundings) {
        return Err(nothing.refusal(&args.target).into());
    }
    let signs = Signs::new(&crate::signs::seen_with_journal(root, &identity));
    let power = power_facts(&identity.power);
    let is_writable = is_directory && can_be_written(&args.target);
    let earlier = known_cards::of_card(&identity);
    let mounts = if root.is_running_system() { mounted_on(&args.target) } else { Vec::new() };
    let is_file = root.is_running_system() && args.target.is_file();
    let mut conditions = conditions(identity);
    if is_file {
        // It is called a file before it is measured, too.
        conditions.target.kind = TargetKind::File;
    }
    Ok(Seen { conditions, signs, power, earlier, mounts, is_directory, is_file, is_writable })
}

/// What is known of a simulated card before anything is measured.
fn simulated(name: &str) -> Conditions {
    let target = TargetInfo { kind: TargetKind::Simulated, ..TargetInfo::default() };
    let device = DeviceInfo { model: Some(format!("sim:{name}")), ..DeviceInfo::default() };
    Conditions { target, device, ..Conditions::default() }
}

/// Whether this user may make files in `directory`.
fn can_be_written(directory: &Path) -> bool {
    access(directory, Access::WRITE_OK).is_ok()
}

fn choice(root: &Sysroot, args: &CheckArgs) -> StorageChoice {
    let is_default = args.target.as_os_str() == ".";
    if is_default && !root.is_running_system() {
        StorageChoice::System
    } else {
        StorageChoice::Named(args.target.clone())
    }
}

fn conditions(identity: Identity) -> Conditions {
    let Identity { device, host, filesystem, settings, unknown, .. } = identity;
    Conditions { device, host, filesystem, settings, unknown, ..Conditions::default() }
}
