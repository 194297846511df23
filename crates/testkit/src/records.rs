//! Records as if measured: what rating, report and the program are tested against.
//!
//! They are built by code and not stored as files, so that they follow the record's form, and
//! they are the same in every run, so that whole outputs can be kept as snapshots. The rates are
//! near those of published cards; the shapes (pauses, tails) are typical and of no real device.
//! Nothing here is to be taken for a measurement.

mod draw;
mod job;

use cardproof_record::{
    Conditions, DataCheck, DeviceInfo, EngineName, FilesystemInfo, HostInfo, OpName, PatternName,
    Phase, PhaseState, ProfileInfo, Record, RunCost, SettingsInfo, State, SyncMode, TargetInfo,
    TargetKind, Tool, Transport, Verdict, Warning, WarningCause, WarningCode,
};
use cardproof_units::{Bytes, Nanos, Seed};
use serde_json::Map;

use draw::{Draw, Pause};

pub use job::package_installation;

const MIB: Bytes = Bytes::mib(1);
const PAGE: Bytes = Bytes::kib(4);

/// The rates of a card, in operations a second; sequential ones in operations of 1 MiB.
struct Rates {
    write_sequential: f64,
    read_sequential: f64,
    read_qd1: f64,
    read_qd32: f64,
    write_qd1: f64,
    write_qd32: f64,
    read_16k: f64,
    write_16k: f64,
    write_fsync: f64,
    mixed: f64,
}

const A1_CARD: Rates = Rates {
    write_sequential: 17.4,
    read_sequential: 62.0,
    read_qd1: 2520.0,
    read_qd32: 2870.0,
    write_qd1: 690.0,
    write_qd32: 790.0,
    read_16k: 1690.0,
    write_16k: 505.0,
    write_fsync: 172.0,
    mixed: 1240.0,
};

const CLASS_4_CARD: Rates = Rates {
    write_sequential: 9.1,
    read_sequential: 20.6,
    read_qd1: 1240.0,
    read_qd32: 1310.0,
    write_qd1: 32.0,
    write_qd32: 33.4,
    read_16k: 640.0,
    write_16k: 2.4,
    write_fsync: 11.0,
    mixed: 74.0,
};

/// A complete `standard` run on an ordinary A1 card in a Raspberry Pi 4: meets A1.
#[must_use]
pub fn typical_a1_card() -> Record {
    card_record("20261104T181502Z-7f3a", &A1_CARD, |draw| draw)
}

/// A complete run on an old Class 4 card in a Raspberry Pi 3: misses A1 by far, finishes anyway.
#[must_use]
pub fn slow_class4() -> Record {
    let mut record = card_record("20261104T191120Z-01c4", &CLASS_4_CARD, |draw| draw);
    record.conditions.device.model = Some("SD04G".to_owned());
    record.conditions.device.size_bytes = Some(Bytes(3_965_190_144));
    record.conditions.device.link_ceiling_bytes_per_s = Some(25_000_000);
    record.conditions.device.link = Some("SD high speed, 50 MHz, 4 bit".to_owned());
    record.conditions.host.board = Some("Raspberry Pi 3 Model B Rev 1.2".to_owned());
    for phase in &mut record.phases {
        if phase.block_size_bytes == Bytes::kib(16) && phase.op == OpName::Write {
            phase.warnings.push(WarningCause::FewOperations { ops: 14 }.into());
        }
    }
    record
}

/// A run in a directory that is not on storage at all: every figure is that of memory.
#[must_use]
pub fn ram_disk() -> Record {
    let fast = Rates {
        write_sequential: 3_100.0,
        read_sequential: 5_200.0,
        read_qd1: 61_000.0,
        read_qd32: 88_000.0,
        write_qd1: 52_000.0,
        write_qd32: 71_000.0,
        read_16k: 48_000.0,
        write_16k: 39_000.0,
        write_fsync: 44_000.0,
        mixed: 69_000.0,
    };
    let mut record = card_record("20261104T183300Z-aa10", &fast, |draw| draw);
    record.conditions.device = DeviceInfo::default();
    record.conditions.settings = SettingsInfo::default();
    record.conditions.target.engine = EngineName::Psync;
    record.conditions.target.engine_fallback =
        Some("tmpfs takes no direct I/O, so io_uring would not help".to_owned());
    record.conditions.target.direct = false;
    record.conditions.target.buffered_reason = Some("tmpfs takes no direct I/O".to_owned());
    record.conditions.filesystem = Some(FilesystemInfo {
        kind: "tmpfs".to_owned(),
        options: vec!["rw".to_owned(), "nosuid".to_owned()],
        size_bytes: Some(Bytes::gib(2)),
        free_bytes: Some(Bytes::mib(1900)),
        ..FilesystemInfo::default()
    });
    record
}

/// A read-only run on a block device: nothing was written, so half of the phases were not run.
#[must_use]
pub fn read_only_device() -> Record {
    let mut record = typical_a1_card();
    record.id = "20261104T184211Z-3b77".to_owned();
    record.bytes_written = Bytes::ZERO;
    record.data_check = None;
    record.conditions.filesystem = None;
    record.conditions.target = TargetInfo {
        kind: TargetKind::BlockDevice,
        size_bytes: Bytes(31_914_983_424),
        logical_block_bytes: Bytes(512),
        engine: EngineName::IoUring,
        direct: true,
        read_only: true,
        ..TargetInfo::default()
    };
    for phase in &mut record.phases {
        if phase.op != OpName::Read {
            make_not_measured(phase, "writing would destroy its data");
        }
    }
    record
}

/// A run stopped by the user in its fifth phase.
#[must_use]
pub fn interrupted() -> Record {
    let mut record = typical_a1_card();
    record.id = "20261104T185512Z-90de".to_owned();
    record.state = State::Partial;
    record.phases.truncate(7);
    for phase in &mut record.phases[5..] {
        make_not_measured(phase, "the run was stopped before this phase");
    }
    record.phases[4].state = PhaseState::Partial;
    record.phases[4].ended_by = Some(cardproof_record::EndedBy::Interrupted);
    record
}

/// An A1 card that stops answering for up to 1.9 s while it tidies up.
#[must_use]
pub fn with_pauses() -> Record {
    let pauses = [Pause::at_ms(1_450, 640), Pause::at_ms(3_300, 1_900), Pause::at_ms(5_600, 380)];
    let mut record = card_record("20261104T190405Z-c0de", &A1_CARD, |draw| {
        if draw.is_random_write() { draw.pausing(&pauses) } else { draw }
    });
    for phase in &mut record.phases {
        if phase.op == OpName::Write && phase.pattern == PatternName::Random {
            phase
                .warnings
                .push(Warning::stated(WarningCode::Unsteady, "the rate changed within the phase"));
        }
    }
    record
}

/// A complete record of the `standard` profile's phases at `rates`, each drawn through `shape`.
fn card_record(id: &str, rates: &Rates, shape: impl Fn(Draw) -> Draw) -> Record {
    let seed = Seed::from_bits(0x5eed_ca4d);
    let phases: Vec<Phase> =
        standard_phases(rates).into_iter().map(|draw| shape(draw).phase(seed)).collect();
    let written = |phase: &Phase| match phase.op {
        OpName::Write => phase.bytes.0,
        OpName::Read => 0,
        OpName::Mixed | OpName::Unknown => phase.bytes.0 * 3 / 10,
    };
    let bytes_written: u64 = phases.iter().map(written).sum();
    let bytes_moved: u64 = phases.iter().map(|phase| phase.bytes.0).sum();
    let tool = Tool { name: "cardproof".to_owned(), version: "0.1.0".to_owned() };
    let profile = ProfileInfo {
        name: "standard".to_owned(),
        version: 1,
        time_budget_ns: Nanos::from_secs(60),
        extra: Map::new(),
    };
    Record {
        seed,
        state: State::Complete,
        conditions: conditions(),
        phases,
        monitor: RunCost {
            cpu_user_ns: Some(Nanos::from_millis(410)),
            cpu_system_ns: Some(Nanos::from_millis(2_900)),
            memory_peak_bytes: Some(Bytes::mib(9)),
            ..RunCost::default()
        },
        bytes_written: Bytes(bytes_written),
        bytes_read: Bytes(bytes_moved - bytes_written),
        measured_to_bytes: Some(Bytes::mib(256)),
        data_check: Some(DataCheck {
            places: 1_000,
            place_bytes: Bytes::kib(4),
            to_bytes: Bytes::mib(256),
            duration_ns: Nanos::from_millis(700),
            direct: true,
            ..DataCheck::default()
        }),
        ..Record::begun(id.to_owned(), "2026-11-04T18:15:02Z".to_owned(), tool, profile)
    }
}

/// The phases of a minute's run, in order.
fn standard_phases(rates: &Rates) -> Vec<Draw> {
    use OpName::{Mixed, Read, Write};
    let sixteen = Bytes::kib(16);
    vec![
        Draw::sequential("sequential-write-1m", Write, MIB, rates.write_sequential)
            .sync(SyncMode::FlushAtEnd),
        Draw::sequential("sequential-read-1m", Read, MIB, rates.read_sequential),
        Draw::random("random-read-4k-qd1", Read, PAGE, 1, rates.read_qd1),
        Draw::random("random-read-4k-qd32", Read, PAGE, 32, rates.read_qd32),
        Draw::random("random-write-4k-qd1", Write, PAGE, 1, rates.write_qd1),
        Draw::random("random-write-4k-qd32", Write, PAGE, 32, rates.write_qd32),
        Draw::random("random-read-16k-qd1", Read, sixteen, 1, rates.read_16k),
        Draw::random("random-write-16k-qd1", Write, sixteen, 1, rates.write_16k),
        Draw::random("overwrite-4k-fsync", Write, PAGE, 1, rates.write_fsync)
            .sync(SyncMode::every(1)),
        Draw::random("mixed-70-30-4k-qd32", Mixed, PAGE, 32, rates.mixed),
    ]
}

/// A Raspberry Pi 4 with an SD card and ext4.
fn conditions() -> Conditions {
    Conditions {
        target: TargetInfo {
            kind: TargetKind::Directory,
            size_bytes: Bytes::mib(256),
            logical_block_bytes: Bytes(512),
            engine: EngineName::IoUring,
            direct: true,
            read_only: false,
            ..TargetInfo::default()
        },
        device: DeviceInfo {
            name: Some("mmcblk0".to_owned()),
            model: Some("SC32G".to_owned()),
            vendor: Some("SanDisk".to_owned()),
            transport: Some(Transport::Sd),
            size_bytes: Some(Bytes(31_914_983_424)),
            removable: Some(false),
            rotational: Some(false),
            link_ceiling_bytes_per_s: Some(104_000_000),
            link: Some("SD UHS-I SDR104".to_owned()),
            ..DeviceInfo::default()
        },
        host: HostInfo {
            board: Some("Raspberry Pi 4 Model B Rev 1.4".to_owned()),
            kernel: Some("Linux 6.12.34+rpt-rpi-v8".to_owned()),
            architecture: Some("aarch64".to_owned()),
            cpus: Some(4),
            memory_bytes: Some(Bytes::gib(4)),
            ..HostInfo::default()
        },
        filesystem: Some(FilesystemInfo {
            kind: "ext4".to_owned(),
            options: vec!["rw".to_owned(), "noatime".to_owned()],
            size_bytes: Some(Bytes::gib(29)),
            free_bytes: Some(Bytes::gib(21)),
            ..FilesystemInfo::default()
        }),
        settings: SettingsInfo {
            scheduler: Some("mq-deadline".to_owned()),
            nr_requests: Some(64),
            read_ahead_bytes: Some(Bytes::kib(128)),
            write_cache: Some("write through".to_owned()),
            governor: Some("ondemand".to_owned()),
            ..SettingsInfo::default()
        },
        ..Conditions::default()
    }
}

/// The reasons of `verdict` in words.
#[must_use]
pub fn words_of(verdict: &Verdict) -> Vec<&str> {
    verdict.reasons.iter().map(|reason| &*reason.text).collect()
}

/// Takes every figure from `phase` and states why there is none.
fn make_not_measured(phase: &mut Phase, cause: &str) {
    phase.state = PhaseState::NotMeasured { cause: cause.to_owned() };
    phase.ended_by = None;
    phase.ops = 0;
    phase.bytes = Bytes::ZERO;
    phase.duration_ns = Nanos::ZERO;
    phase.iops = None;
    phase.throughput_bytes_per_s = None;
    phase.latency_ns = None;
    phase.flush_latency_ns = None;
    phase.flushes = 0;
    phase.reads = None;
    phase.writes = None;
    phase.histogram.clear();
    phase.intervals.clear();
    phase.warnings.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Record; 6] {
        [
            typical_a1_card(),
            slow_class4(),
            ram_disk(),
            read_only_device(),
            interrupted(),
            with_pauses(),
        ]
    }

    #[test]
    fn every_record_survives_json() {
        for record in all() {
            let text = record.to_json().unwrap();
            assert!(Record::from_json(&text).unwrap() == record, "{} changed", record.id);
        }
    }

    #[test]
    fn the_figures_of_a_phase_agree_with_each_other() {
        for record in all() {
            for phase in record.phases.iter().filter(|phase| phase.is_measured()) {
                let in_slices: u64 = phase.intervals.iter().map(|slice| slice.ops).sum();
                let in_buckets: u64 = phase.histogram.iter().map(|bucket| bucket.ops).sum();
                assert_eq!(in_slices, phase.ops, "{} {}", record.id, phase.name);
                assert_eq!(in_buckets, phase.ops, "{} {}", record.id, phase.name);
                let latency = phase.latency_ns.unwrap();
                assert!(latency.min <= latency.p50 && latency.p50 <= latency.p99);
                assert!(latency.p999 <= latency.max, "{} {}", record.id, phase.name);
            }
        }
    }

    #[test]
    fn the_same_record_is_built_every_time() {
        assert!(with_pauses() == with_pauses());
    }
}
