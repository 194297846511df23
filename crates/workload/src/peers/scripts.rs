//! Scripts that run hdparm, dd, fio and iozone one after the other: microsd-benchmarks.sh and
//! PiBenchmarks' Storage.sh.
//!
//! Both begin with hdparm on the device. A directory has no device to read, so hdparm's reads come
//! after dd, on the file that dd has written, and a buffered one ends with that file.

use cardproof_units::{Bytes, Nanos};

use super::iozone;
use super::shapes::{
    ONCE, cached, figure, flushed, kibibytes, lay_out, mebibytes, megabytes, on_growing,
    on_reserved, pass, plain, within,
};
use crate::{Access, FigureSpec, Origin, PhaseSpec, Profile, Quantity, Unit};

/// hdparm reads this much at a time (`TIMING_BUF_MB`).
const HDPARM_BLOCK: Bytes = Bytes::mib(2);

/// For so long it times disk reads.
const HDPARM_DISK: Nanos = Nanos::from_secs(3);

/// And for so long cached reads.
const HDPARM_CACHED: Nanos = Nanos::from_secs(2);

const RECORD: Bytes = Bytes::kib(4);

/// `dd if=/dev/zero of=test bs=BLOCK count=COUNT conv=fsync`.
fn dd(block: Bytes, count: u64) -> PhaseSpec {
    let size = block * count;
    flushed(cached(on_growing(pass("dd-write", Access::Sequential, 0, block, 1, size))))
}

/// `hdparm -t`: through the cache, for 3 s or to the end of a file of `size`.
fn hdparm_disk(size: Bytes) -> PhaseSpec {
    let reads = pass("hdparm-disk-reads", Access::Sequential, 100, HDPARM_BLOCK, 1, size);
    cached(within(reads, HDPARM_DISK))
}

/// `hdparm --direct`: past the cache over and over in `span`, for `time`.
fn hdparm_direct(name: &str, span: Bytes, time: Nanos) -> PhaseSpec {
    let mut reads = plain(within(pass(name, Access::Sequential, 100, HDPARM_BLOCK, 1, span), time));
    reads.ends.bytes = None;
    reads
}

const HDPARM_NOTE: &str = "hdparm reads the device from its start; here the same reads are done on the test file, after \
     dd has written it, so a card that is faster elsewhere may show another figure.";

const DD_NOTE: &str =
    "dd writes zeros, which some storage compresses; here the data is incompressible.";

pub(super) fn microsd_benchmarks() -> Profile {
    let (dd_size, size) = (Bytes::mib(400), Bytes::mib(100));
    let mut phases = vec![dd(Bytes::kib(8), 50 << 10), hdparm_disk(dd_size)];
    phases.extend(iozone::passes(&iozone::ALL, RECORD, size));
    let mut figures = vec![
        figure("hdparm", "buffered disk reads", mebibytes(), Quantity::Bytes, "hdparm-disk-reads"),
        figure("dd", "dd write", megabytes(), Quantity::Bytes, "dd-write"),
    ];
    figures.extend(iozone::row(&iozone::ALL, RECORD));
    Profile {
        name: "microsd-benchmarks".to_owned(),
        version: 1,
        purpose: "figures to compare with the Raspberry Pi microSD comparisons".to_owned(),
        source: "J. Geerling's microsd-benchmarks.sh: hdparm -t; dd bs=8k count=50k conv=fsync; \
                 iozone -e -I -a -s 100M -r 4k -i 0 -i 1 -i 2"
            .to_owned(),
        span: dd_size,
        time_budget: Nanos::from_secs(600),
        phases,
        figures,
        early_ends: Vec::new(),
        notes: vec![HDPARM_NOTE.to_owned(), DD_NOTE.to_owned()],
    }
}

pub(super) fn pibenchmarks() -> Profile {
    let (dd_size, size) = (Bytes::mib(520), Bytes::mib(80));
    let random = |name, reads| pass(name, ONCE, reads, RECORD, 64, size);
    let mut phases = vec![
        dd(RECORD, 130 << 10),
        hdparm_direct("hdparm-cached-reads", HDPARM_BLOCK, HDPARM_CACHED),
        hdparm_direct("hdparm-disk-reads", dd_size, HDPARM_DISK),
        on_reserved(random("fio-random-write", 0)),
        lay_out("fio-lay-out", size),
        random("fio-random-read", 100),
    ];
    phases.extend(iozone::passes(&iozone::ALL, RECORD, size));
    Profile {
        name: "pibenchmarks".to_owned(),
        version: 1,
        purpose: "figures and score to compare with pibenchmarks.com".to_owned(),
        source:
            "J. Chambers' Storage.sh: hdparm -Tt --direct; dd bs=4k count=130k conv=fsync; fio \
                 libaio direct iodepth=64 bs=4k size=80M randwrite, then randread; iozone -a -e -I \
                 -i 0 -i 1 -i 2 -s 80M -r 4k"
                .to_owned(),
        span: dd_size,
        time_budget: Nanos::from_secs(600),
        phases,
        figures: pibenchmarks_figures(),
        early_ends: Vec::new(),
        notes: vec![
            HDPARM_NOTE.to_owned(),
            DD_NOTE.to_owned(),
            "Scores of different versions of the script do not compare: older ones wrote 320 MiB \
             with dd and 100 or 200 MiB with fio."
                .to_owned(),
        ],
    }
}

fn pibenchmarks_figures() -> Vec<FigureSpec> {
    let fio = |name, quantity, unit, phase| figure("fio", name, unit, quantity, phase);
    let iops = || Unit::plain("IOPS");
    let mut figures = vec![
        figure("hdparm", "disk reads", mebibytes(), Quantity::Bytes, "hdparm-disk-reads"),
        figure("hdparm", "cached reads", mebibytes(), Quantity::Bytes, "hdparm-cached-reads"),
        figure("dd", "dd write", megabytes(), Quantity::Bytes, "dd-write"),
        fio("4k random read", Quantity::Operations, iops(), "fio-random-read"),
        fio("4k random write", Quantity::Operations, iops(), "fio-random-write"),
        fio("4k random read rate", Quantity::Bytes, kibibytes("KB/s"), "fio-random-read"),
        fio("4k random write rate", Quantity::Bytes, kibibytes("KB/s"), "fio-random-write"),
    ];
    figures.extend(iozone::row(&iozone::ALL, RECORD));
    figures.push(score());
    figures
}

/// The script's score, a hundredth of: dd's MB/s times 1024, fio's random read IOPS times 4 and
/// random write IOPS times 10, iozone's kB/s for read, write, random read times 4 and random write
/// times 10.
fn score() -> FigureSpec {
    let term = |weight: f64, name: &str| (weight / 100.0, name.to_owned());
    FigureSpec {
        name: "score".to_owned(),
        tool: "pibenchmarks".to_owned(),
        unit: Unit::plain("points"),
        origin: Origin::Sum {
            terms: vec![
                term(1024.0, "dd write"),
                term(4.0, "4k random read"),
                term(10.0, "4k random write"),
                term(1.0, "read 4k"),
                term(1.0, "write 4k"),
                term(4.0, "random read 4k"),
                term(10.0, "random write 4k"),
            ],
        },
    }
}
