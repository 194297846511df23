//! Published fio commands.
//!
//! fio reserves the space of a file that it only writes, lays out and flushes a file that it
//! reads, drops it from the page cache, and visits each block once where `norandommap` is not
//! given. Its rates are over the job's time, an fsync at its end included.

use cardproof_units::{Bytes, Nanos};

use super::shapes::{ONCE, cached, figure, flushed, kibibytes, lay_out, on_reserved, pass};
use crate::{PhaseSpec, Profile, Quantity, Unit};

const BLOCK: Bytes = Bytes::kib(4);

pub(super) fn randrw75() -> Profile {
    let size = Bytes::mib(100);
    let mix = "fio-random-mix";
    let iops = |name, quantity| figure("fio", name, Unit::plain("IOPS"), quantity, mix);
    let rate = |name, quantity| figure("fio", name, kibibytes("KiB/s"), quantity, mix);
    Profile {
        name: "fio-randrw75".to_owned(),
        version: 1,
        purpose: "figures to compare with the fio mix that many articles use".to_owned(),
        source: "an article on the Raspberry Pi 3 (2018): fio --randrepeat=1 --ioengine=libaio \
                 --direct=1 --gtod_reduce=1 --name=test --filename=test --bs=4k --iodepth=64 \
                 --size=100M --readwrite=randrw --rwmixread=75"
            .to_owned(),
        span: size,
        time_budget: Nanos::from_secs(300),
        phases: vec![lay_out("fio-lay-out", size), pass(mix, ONCE, 75, BLOCK, 64, size)],
        figures: vec![
            iops("read", Quantity::Reads),
            iops("write", Quantity::Writes),
            rate("read rate", Quantity::BytesRead),
            rate("write rate", Quantity::BytesWritten),
        ],
        early_ends: Vec::new(),
        notes: vec![
            "fio draws each operation's kind by itself; here 75 of every 100 read.".to_owned(),
        ],
    }
}

pub(super) fn fsync() -> Profile {
    let (written, read) = (Bytes::mib(32), Bytes::mib(128));
    let writes = flushed(cached(on_reserved(pass("fio-fsync-write", ONCE, 0, BLOCK, 1, written))));
    let reads = cached(pass("fio-cached-random-read", ONCE, 100, BLOCK, 1, read));
    let both = [("fsync write", "fio-fsync-write"), ("random read", "fio-cached-random-read")];
    let rate = |(name, phase)| figure("fio", name, kibibytes("KiB/s"), Quantity::Bytes, phase);
    let iops = |(name, phase)| {
        let name = format!("{name} IOPS");
        figure("fio", &name, Unit::plain("IOPS"), Quantity::Operations, phase)
    };
    Profile {
        name: "fio-fsync".to_owned(),
        version: 1,
        purpose: "rate of writes with an fsync after each, to compare with published figures"
            .to_owned(),
        source: "the CyanogenMod 12.1 wiki: fio with fsync=1, size=32m, rw=randwrite, bs=4k, and \
                 with size=128m, rw=randread, bs=4k, both through the page cache"
            .to_owned(),
        span: read,
        time_budget: Nanos::from_secs(600),
        phases: vec![
            PhaseSpec { fsync_every: Some(1), ..writes },
            lay_out("fio-lay-out", read),
            reads,
        ],
        figures: both.map(rate).into_iter().chain(both.map(iops)).collect(),
        early_ends: Vec::new(),
        notes: vec![
            "The figures are those of a file system: on a block device there is no journal to pay \
             for."
                .to_owned(),
        ],
    }
}
