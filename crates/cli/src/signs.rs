//! The signs of a storage in use: what the device crate reads, as the values that signs are found in.

use cardproof_device::identify::{HostErrors, Identity, LogAccess};
use cardproof_device::{
    Condition, Sysroot, condition, earlier_log_troubles, log_troubles, seconds_since_start,
    unusable_card, wear_facts,
};
use cardproof_rating::signs::{
    Attachment, EarlierLogs, HostCounter, LogRead, MountedState, RequestMeans, Seen, Signs,
    SpareBlocks,
};
use cardproof_record::Transport;

use crate::journal::Journal;

/// Raspberry Pi's flags of a supply voltage that is too low (documentation of `get_throttled`).
const IS_LOW: u32 = 1;
const WAS_LOW: u32 = 1 << 16;

/// The signs of the storage that `identity` tells of.
pub(crate) fn of(root: &Sysroot, identity: &Identity) -> Signs {
    Signs::new(&seen(root, identity))
}

/// What was seen of the storage that `identity` tells of, also in the journal's earlier starts. A journal may be large,
/// so this takes longer.
pub(crate) fn seen_with_journal(root: &Sysroot, identity: &Identity) -> Seen {
    let mut seen = seen(root, identity);
    let Some(journal) = Journal::read(root) else { return seen };
    let name = identity.device.lowest().name.as_deref().unwrap_or_default();
    let days = seconds_since_start(root).map(|seconds| (seconds / 86_400.0) as u64);
    let earlier =
        (journal.starts > 0).then_some(EarlierLogs { starts: journal.starts, days: journal.days });
    match &mut seen.log {
        LogRead::Read { earlier: known, .. } => *known = earlier,
        // A user who may not read the kernel's own log may be allowed to read the journal.
        _ if journal.has_this_start => {
            seen.log = LogRead::Read { days, earlier };
            let told = log_troubles(root, name, &journal.this_start);
            (seen.troubles, seen.errors_before) = (told.troubles, told.errors_before);
        }
        _ => {}
    }
    seen.earlier_troubles = earlier_log_troubles(root, name, &journal.recent);
    seen.old_troubles = earlier_log_troubles(root, name, &journal.old);
    seen
}

/// What was seen of the storage that `identity` tells of.
pub(crate) fn seen(root: &Sysroot, identity: &Identity) -> Seen {
    let info = identity.device.lowest();
    let name = info.name.as_deref().unwrap_or_default();
    let condition = condition(root, name);
    let flags = identity.power.throttled_flags.unwrap_or(0);
    let wear = wear_facts(root, name);
    Seen {
        log: log_read(root, condition.log_access),
        troubles: condition.troubles.clone(),
        errors_before: condition.errors_before.clone(),
        crash_troubles: condition.crash_troubles.clone(),
        attachment: attachment(info.transport.as_ref()),
        is_present: condition.is_present.filter(|_| !name.is_empty()),
        is_write_protected: condition.is_write_protected,
        host_counters: condition.host_errors.as_deref().map(host_counters),
        mounted: mounted(&condition),
        requests: condition.counters.as_deref().and_then(request_means),
        life_used_percent: wear.life_codes.and_then(life_used_percent),
        spare_blocks: spare_blocks(wear.reserve_code),
        is_low_on_power: identity.power.is_under_voltage == Some(true) || flags & IS_LOW != 0,
        was_low_on_power: flags & WAS_LOW != 0,
        ..Seen::default()
    }
}

/// The signs of a card called `name`, such as `mmcblk0`, which the kernel could not put to use, so that there is no such
/// device; `None` where there is one, or nothing is told of its slot.
pub(crate) fn of_unusable(root: &Sysroot, name: &str) -> Option<Signs> {
    let condition = unusable_card(root, name)?;
    Some(Signs::new(&Seen {
        log: log_read(root, condition.log_access),
        host_counters: condition.host_errors.as_deref().map(host_counters),
        attachment: Attachment::Slot,
        is_present: condition.is_present,
        troubles: condition.troubles,
        ..Seen::default()
    }))
}

/// Whether the log was read, and how many days it covers.
fn log_read(root: &Sysroot, access: LogAccess) -> LogRead {
    match access {
        LogAccess::Read => LogRead::Read {
            days: seconds_since_start(root).map(|seconds| (seconds / 86_400.0) as u64),
            earlier: None,
        },
        LogAccess::NotPermitted => LogRead::NotPermitted,
        LogAccess::Absent => LogRead::Absent,
    }
}

const fn attachment(transport: Option<&Transport>) -> Attachment {
    match transport {
        Some(Transport::Sd) => Attachment::Slot,
        Some(Transport::Mmc) => Attachment::Soldered,
        Some(Transport::Usb) => Attachment::Usb,
        Some(Transport::Sata) => Attachment::Cable,
        Some(Transport::Nvme) => Attachment::Drive,
        _ => Attachment::Unknown,
    }
}

fn host_counters(errors: &[HostErrors]) -> Vec<(HostCounter, u64)> {
    errors.iter().map(|found| (HostCounter::named(&found.counter), found.count)).collect()
}

fn mounted(condition: &Condition) -> Vec<MountedState> {
    let states = condition.mounted.iter().map(|mount| MountedState {
        filesystem: mount.filesystem.clone(),
        partition: mount.partition.clone(),
        is_turned_read_only: mount.is_turned_read_only,
        noted_errors: mount.noted_errors,
    });
    states.collect()
}

/// The means of the fields of `stat`: reads and their milliseconds are the first and the fourth, writes the
/// fifth and the eighth (Documentation/block/stat.rst).
fn request_means(fields: &[u64]) -> Option<RequestMeans> {
    let &[reads, _, _, read_ms, writes, _, _, write_ms, ..] = fields else { return None };
    let mean = |sum: u64, count: u64| sum.checked_div(count).unwrap_or(0);
    Some(RequestMeans {
        reads,
        read_ms: mean(read_ms, reads),
        writes,
        write_ms: mean(write_ms, writes),
    })
}

/// The band of the more worn kind of memory (JESD84-B51, `DEVICE_LIFE_TIME_EST`): 0x01 is 0 to 10 %, 0x0A 90 to
/// 100 %, 0x0B beyond.
fn life_used_percent(codes: [u8; 2]) -> Option<(u64, Option<u64>)> {
    let code = codes.into_iter().filter(|code| (0x01..=0x0b).contains(code)).max()?;
    let low = u64::from(code - 1) * 10;
    Some((low, (code < 0x0b).then_some(low + 10)))
}

const fn spare_blocks(code: u8) -> SpareBlocks {
    match code {
        1 => SpareBlocks::Normal,
        2 => SpareBlocks::Warning,
        3 => SpareBlocks::Urgent,
        _ => SpareBlocks::Untold,
    }
}
