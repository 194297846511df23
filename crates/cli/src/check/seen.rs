//! What is seen without measuring: identity, settings, power, the device's own report of its wear.

use cardproof_device::Sysroot;
use cardproof_device::identify::{Identity, StorageChoice, identify};
use cardproof_rating::answer::PowerFacts;
use cardproof_rating::signs::{Seen as SeenSigns, Signs};
use cardproof_record::Conditions;
use cardproof_session::simulated_name;

use super::{CheckArgs, power_facts};
use crate::exit::{Failure, with_causes};

/// What was seen.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) conditions: Conditions,
    pub(super) signs: Signs,
    pub(super) power: PowerFacts,
    /// Whether the target may be written to: a directory, or a simulated card.
    pub(super) is_writable: bool,
}

/// Looks at what `args` name below `root`.
pub(super) fn look(root: &Sysroot, args: &CheckArgs) -> Result<Seen, Failure> {
    if simulated_name(&args.target).is_some() {
        return Ok(Seen {
            conditions: Conditions::default(),
            signs: Signs::of(&SeenSigns::default()),
            power: PowerFacts::default(),
            is_writable: true,
        });
    }
    let identity =
        identify(root, &choice(root, args)).map_err(|error| Failure::usage(with_causes(&error)))?;
    let signs = crate::signs::of(root, &identity);
    let power = power_facts(&identity.power);
    let is_writable = root.is_running_system() && args.target.is_dir();
    Ok(Seen { conditions: conditions(identity), signs, power, is_writable })
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
