//! A look at all cards of the computer, as the ledger takes it.

use cardproof_device::identify::{HostErrors, StorageChoice, identify};
use cardproof_device::{
    Condition, StorageCounters, Sysroot, boot_number, condition, seconds_since_start,
    storage_counters, wear_facts,
};
use cardproof_kernel_log::{Trouble, TroubleKind};
use cardproof_rating::ledger::{CardCounters, CardKey, CardReading, ErrorCounts, Reading};
use cardproof_rating::signs::HostCounter;
use cardproof_session::keyed_hash;

use crate::exit::Failure;

/// The firmware's flags of what happens at this moment: low voltage, capped clock, throttled, too hot
/// (Raspberry Pi documentation, `get_throttled`).
const LOW_NOW: u32 = 0b1111;

/// A card with the kernel's name that it has now.
pub(super) type Named = (String, CardKey);

/// What all cards below `root` have counted, on `date`; `key` is that of this computer's hashes.
pub(super) fn look(
    root: &Sysroot,
    key: &[u8],
    date: String,
) -> Result<(Reading, Vec<Named>), Failure> {
    let boot = boot_number(root);
    let uptime = seconds_since_start(root);
    let (Some(boot), Some(uptime)) = (boot, uptime) else {
        return Err(Failure::incomplete(
            "the kernel does not tell when the computer started; run cardproof outside of a container, \
             with /proc",
        ));
    };
    let storages = storage_counters(root);
    let mut names = Vec::new();
    let mut cards = Vec::new();
    for storage in &storages {
        let Some(card) = card(root, storage, key) else { continue };
        names.push((storage.name.clone(), card.key));
        cards.push(card);
    }
    let is_low_on_power = is_low_on_power(root);
    Ok((Reading { boot, uptime_s: uptime as u64, date, is_low_on_power, cards }, names))
}

fn is_low_on_power(root: &Sysroot) -> bool {
    let Ok(identity) = identify(root, &StorageChoice::System) else { return false };
    let power = &identity.power;
    power.is_under_voltage == Some(true)
        || power.throttled_flags.is_some_and(|flags| flags & LOW_NOW != 0)
}

fn card(root: &Sysroot, storage: &StorageCounters, key: &[u8]) -> Option<CardReading> {
    let condition = condition(root, &storage.name);
    let life = wear_facts(root, &storage.name).life_codes;
    Some(CardReading {
        key: card_key(key, &storage.identity),
        found_as: storage.found_as,
        counters: CardCounters::from_stat(&storage.counters)?,
        partitions: storage.partitions.clone(),
        errors: errors(&condition.troubles, &condition),
        life_used_percent_max: life
            .and_then(|codes| codes.into_iter().filter(|code| (1..=11).contains(code)).max())
            .map(|code| code * 10),
    })
}

/// The hash by which this computer knows the device with this `identity`; never that of no device, zero.
fn card_key(key: &[u8], identity: &str) -> CardKey {
    let [a, b, c, d, ..] = keyed_hash(key, identity);
    let number = u32::from_be_bytes([a, b, c, d]);
    CardKey(number.max(1))
}

/// Errors since the start: transfers that were repeated by the counters of the card's host, where it has them.
fn errors(troubles: &[Trouble], condition: &Condition) -> ErrorCounts {
    let count = |is_kind: &dyn Fn(TroubleKind) -> bool| {
        let of_kind = troubles.iter().filter(|trouble| is_kind(trouble.kind));
        of_kind.map(|trouble| trouble.count).sum::<u64>()
    };
    let in_log = count(&|kind| {
        matches!(
            kind,
            TroubleKind::Command(_)
                | TroubleKind::StuckBusy
                | TroubleKind::Queue
                | TroubleKind::DeviceTimeout
                | TroubleKind::Link
        )
    });
    ErrorCounts {
        failed: count(&|kind| {
            matches!(kind, TroubleKind::Io | TroubleKind::Medium | TroubleKind::WriteLost)
        }),
        repeated: condition.host_errors.as_deref().map_or(in_log, repeated),
        filesystem: count(&|kind| matches!(kind, TroubleKind::Filesystem | TroubleKind::ReadOnly)),
    }
}

/// Failed transfers by the counters of the host, without those that the search for a card's kind leaves.
fn repeated(errors: &[HostErrors]) -> u64 {
    let is_usual = |error: &&HostErrors| {
        matches!(
            HostCounter::named(&error.counter),
            HostCounter::CommandTimeout | HostCounter::Tuning | HostCounter::Other
        )
    };
    errors.iter().filter(|error| !is_usual(error)).map(|error| error.count).sum()
}
