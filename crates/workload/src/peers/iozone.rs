//! iozone and the tools that are iozone with certain words: sd-card-bench.sh and the review's
//! SD 6.0 scenario.
//!
//! `iozone -e -I -a -s SIZE -r RECORD -i 0 -i 1 -i 2` makes a new file for each record size. It
//! opens it with O_DIRECT and goes through it once for each of its columns: write (the file
//! grows), rewrite, read, reread, random read and random write, both of which visit each record
//! once. With `-e` the fsync at a pass's end is inside the time. Observed with strace on iozone 3.

use cardproof_units::{Bytes, Nanos};

use super::shapes::{ONCE, figure, flushed, kibibytes, on_growing, pass, plain};
use crate::{Access, FigureSpec, PhaseSpec, Profile, Quantity, Unit};

/// One of iozone's columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Write,
    Rewrite,
    Read,
    Reread,
    RandomRead,
    RandomWrite,
}

/// The columns of `-i 0 -i 1 -i 2`, in their order.
pub(super) const ALL: [Column; 6] = [
    Column::Write,
    Column::Rewrite,
    Column::Read,
    Column::Reread,
    Column::RandomRead,
    Column::RandomWrite,
];

/// The columns of `-i 0 -i 2`.
const WITHOUT_READS: [Column; 4] =
    [Column::Write, Column::Rewrite, Column::RandomRead, Column::RandomWrite];

impl Column {
    const fn name(self) -> &'static str {
        match self {
            Self::Write => "write",
            Self::Rewrite => "rewrite",
            Self::Read => "read",
            Self::Reread => "reread",
            Self::RandomRead => "random-read",
            Self::RandomWrite => "random-write",
        }
    }

    /// As iozone heads its column.
    const fn heading(self) -> &'static str {
        match self {
            Self::RandomRead => "random read",
            Self::RandomWrite => "random write",
            other => other.name(),
        }
    }

    fn phase_name(self, record: Bytes) -> String {
        format!("iozone-{}k-{}", record.get() >> 10, self.name())
    }

    fn phase(self, record: Bytes, size: Bytes) -> PhaseSpec {
        let name = self.phase_name(record);
        let shape =
            |access, read_percent| plain(pass(&name, access, read_percent, record, 1, size));
        match self {
            Self::Write => flushed(on_growing(shape(Access::Sequential, 0))),
            Self::Rewrite => flushed(shape(Access::Sequential, 0)),
            Self::Read | Self::Reread => shape(Access::Sequential, 100),
            Self::RandomRead => shape(ONCE, 100),
            Self::RandomWrite => flushed(shape(ONCE, 0)),
        }
    }
}

/// iozone's passes over a file of `size` in records of `record`.
pub(super) fn passes(columns: &[Column], record: Bytes, size: Bytes) -> Vec<PhaseSpec> {
    columns.iter().map(|column| column.phase(record, size)).collect()
}

/// iozone's row for them: kB/s, of 1024 bytes.
pub(super) fn row(columns: &[Column], record: Bytes) -> Vec<FigureSpec> {
    let cell = |column: &Column| {
        let name = format!("{} {}k", column.heading(), record.get() >> 10);
        let phase = column.phase_name(record);
        figure("iozone", &name, kibibytes("kB/s"), Quantity::Bytes, &phase)
    };
    columns.iter().map(cell).collect()
}

/// The record sizes of sd-card-bench.sh, in KiB.
const SD_CARD_BENCH_RECORDS: [u64; 8] = [1, 2, 4, 16, 128, 512, 1024, 16_384];

/// Those whose random columns it reports as IOPS, in KiB.
const SD_CARD_BENCH_IOPS: [u64; 3] = [1, 4, 16];

pub(super) fn sd_card_bench() -> Profile {
    let size = Bytes::mib(100);
    let records = SD_CARD_BENCH_RECORDS.map(Bytes::kib);
    let mut figures = sd_card_bench_report();
    figures.extend(records.iter().flat_map(|&record| row(&ALL, record)));
    Profile {
        name: "sd-card-bench".to_owned(),
        version: 1,
        purpose: "figures to compare with sd-card-bench.sh, for cards that systems run from"
            .to_owned(),
        source: "T. Kaiser's sd-card-bench.sh (2018): iozone -e -I -a -s 100M -r 1k -r 2k -r 4k \
                 -r 16k -r 128k -r 512k -r 1024k -r 16384k -i 0 -i 1 -i 2"
            .to_owned(),
        span: size,
        time_budget: Nanos::from_secs(1200),
        phases: records.iter().flat_map(|&record| passes(&ALL, record, size)).collect(),
        figures,
        early_ends: Vec::new(),
        notes: vec![
            "The script reports the means of three boots; repeat the run to have them.".to_owned(),
            "It pins iozone to the last processor with the governor at performance; here the \
             governor stays as it is and is in the record."
                .to_owned(),
            "Its timed installations, removals and boots are not part of this profile.".to_owned(),
        ],
    }
}

/// The figures of the script's own report: random IOPS, and MB/s (kB/1024) from the largest
/// records.
fn sd_card_bench_report() -> Vec<FigureSpec> {
    let tool = "sd-card-bench";
    let mut figures = Vec::new();
    for record in SD_CARD_BENCH_IOPS.map(Bytes::kib) {
        for (word, column) in [("read", Column::RandomRead), ("write", Column::RandomWrite)] {
            let name = format!("{}k {word} IOPS", record.get() >> 10);
            let phase = column.phase_name(record);
            let unit = Unit::plain("IOPS");
            figures.push(figure(tool, &name, unit, Quantity::Operations, &phase));
        }
    }
    for (word, column) in [("read", Column::Read), ("write", Column::Write)] {
        let phase = column.phase_name(Bytes::mib(16));
        let unit = Unit::of_bytes("MB/s", 1_048_576.0);
        figures.push(figure(tool, &format!("seq {word}"), unit, Quantity::Bytes, &phase));
    }
    figures
}

pub(super) fn sd6_256m() -> Profile {
    let (record, size) = (Bytes::kib(4), Bytes::mib(256));
    Profile {
        name: "sd6-256m".to_owned(),
        version: 1,
        purpose: "figures to compare with reviews that ran iozone over 256 MiB".to_owned(),
        source: "the SD 6.0 scenario of a 2019 review of cards on the Raspberry Pi: iozone -e -I \
                 -a -s 256M -r 4k -i 0 -i 2"
            .to_owned(),
        span: size,
        time_budget: Nanos::from_secs(900),
        phases: passes(&WITHOUT_READS, record, size),
        figures: row(&WITHOUT_READS, record),
        early_ends: Vec::new(),
        notes: Vec::new(),
    }
}
