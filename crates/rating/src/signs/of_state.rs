//! Signs in counters, mounts, registers and health reports.

use super::seen::{HostCounter, MountedState, RequestMeans, Seen, SpareBlocks};
use super::sign::{Certainty, Sign, SignKind, SignSource, Weight};

/// Fewer wrong checksums than this since the start have harmless causes, such as a card put in.
const CHECKSUMS_MIN: u64 = 3;

/// The search for a card's kind leaves so many commands without an answer at most, whenever a card is found
/// or woken (SD, SDIO and eMMC are asked for in turn, each several times).
const COMMAND_TIMEOUTS_MIN: u64 = 100;

/// An eMMC whose used life is in a band that begins here is near its end, in per cent.
const NEAR_END_PERCENT: u64 = 90;

/// Where fewer requests than this were ended, their mean says nothing.
const REQUESTS_MIN: u64 = 1000;

/// Reads that take longer than this on average, in milliseconds.
const SLOW_READ_MS: u64 = 250;

/// Writes that take longer than this on average: they wait in queues for their turn, so that it is long.
const SLOW_WRITE_MS: u64 = 3000;

/// All of them.
pub(super) fn signs(seen: &Seen) -> Vec<Sign> {
    let counters = seen.host_counters.iter().flatten().map(|&(of, count)| host(of, count));
    let mut signs: Vec<Sign> = Vec::new();
    for sign in counters {
        match signs.iter_mut().find(|known| known.kind == sign.kind) {
            Some(known) => {
                known.count += sign.count;
                known.weight = known.weight.max(sign.weight);
            }
            None => signs.push(sign),
        }
    }
    raise_checksums(&mut signs);
    signs.extend(seen.mounted.iter().flat_map(mounted));
    signs.extend(seen.requests.iter().flat_map(slow));
    signs.extend(life(seen));
    signs.extend(spare_blocks(seen.spare_blocks));
    if seen.is_write_protected {
        signs.push(Sign::new(SignKind::WriteProtected, SignSource::Registers, 0));
    }
    let has_power_in_log = seen
        .troubles
        .iter()
        .any(|it| matches!(it.kind, cardproof_kernel_log::TroubleKind::UnderVoltage));
    if (seen.is_low_on_power || seen.was_low_on_power) && !has_power_in_log {
        signs.push(Sign::new(SignKind::UnderVoltage, SignSource::PowerSensor, 0));
    }
    if seen.read_back == Some(false) {
        signs.push(Sign::new(SignKind::WrongData, SignSource::ReadBack, 0));
    }
    signs
}

/// What a counter of the card's host that stands at `count` means.
fn host(counter: HostCounter, count: u64) -> Sign {
    let kind = match counter {
        HostCounter::CommandChecksum | HostCounter::DataChecksum => SignKind::WrongChecksums,
        HostCounter::CommandTimeout | HostCounter::DataTimeout | HostCounter::RequestTimeout => {
            SignKind::NoAnswer
        }
        HostCounter::HostFailure => SignKind::FailedCommands,
        HostCounter::Queue => SignKind::QueueRestarts,
        HostCounter::Tuning | HostCounter::Other => SignKind::SlowerBus,
    };
    let mut sign = Sign::new(kind, SignSource::HostCounters, count);
    let is_usual = counter == HostCounter::CommandTimeout && count < COMMAND_TIMEOUTS_MIN;
    if is_usual || kind == SignKind::WrongChecksums {
        (sign.weight, sign.certainty) = (Weight::Note, Certainty::Weak);
    }
    sign
}

/// Wrong checksums of commands and of data count together.
fn raise_checksums(signs: &mut [Sign]) {
    for sign in signs.iter_mut().filter(|it| it.kind == SignKind::WrongChecksums) {
        if sign.count >= CHECKSUMS_MIN {
            (sign.weight, sign.certainty) = SignKind::WrongChecksums.usual();
        }
    }
}

fn mounted(state: &MountedState) -> Vec<Sign> {
    let with_place = |mut sign: Sign| {
        sign.evidence.partition = Some(state.partition.clone());
        sign.evidence.filesystem = Some(state.filesystem.clone());
        sign
    };
    let read_only = state
        .is_turned_read_only
        .then(|| Sign::new(SignKind::TurnedReadOnly, SignSource::MountTable, 0));
    let noted = state.noted_errors.filter(|&count| count > 0).map(|count| {
        Sign::new(SignKind::NotedFilesystemErrors, SignSource::FilesystemCounter, count)
    });
    read_only.into_iter().chain(noted).map(with_place).collect()
}

fn slow(requests: &RequestMeans) -> Option<Sign> {
    let RequestMeans { reads, read_ms, writes, write_ms } = *requests;
    let reads_slowly = reads >= REQUESTS_MIN && read_ms >= SLOW_READ_MS;
    let writes_slowly = writes >= REQUESTS_MIN && write_ms >= SLOW_WRITE_MS;
    let wait_ms = match (reads_slowly, writes_slowly) {
        (true, _) => read_ms,
        (false, true) => write_ms,
        (false, false) => return None,
    };
    let mut sign = Sign::new(SignKind::SlowRequests, SignSource::RequestCounters, 0);
    sign.evidence.wait_ms = Some(wait_ms);
    Some(sign)
}

fn life(seen: &Seen) -> Option<Sign> {
    let (low, high) = seen.life_used_percent?;
    let kind = match (low, high) {
        (_, None) => SignKind::BeyondLife,
        (low, Some(_)) if low >= NEAR_END_PERCENT => SignKind::NearEndOfLife,
        _ => return None,
    };
    let mut sign = Sign::new(kind, SignSource::Registers, 0);
    sign.evidence.used_percent_min = Some(low);
    sign.evidence.used_percent_max = high;
    Some(sign)
}

fn spare_blocks(state: SpareBlocks) -> Option<Sign> {
    let mut sign = Sign::new(SignKind::FewSpareBlocks, SignSource::Registers, 0);
    match state {
        SpareBlocks::Untold | SpareBlocks::Normal => return None,
        SpareBlocks::Warning => (sign.weight, sign.certainty) = (Weight::Watch, Certainty::Certain),
        SpareBlocks::Urgent => sign.certainty = Certainty::Certain,
    }
    Some(sign)
}
