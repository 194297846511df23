//! Tables with a column for each pattern and block size, as records.

use cardproof_units::Bytes;

use super::records::{Draft, KIB, KIB_THOUSAND, MB, Shape, Stated, app_class, transport_of};
use super::table::Row;

/// The blocks that a table may have a column for.
const BLOCKS: [(&str, Bytes); 8] = [
    ("1k", Bytes::kib(1)),
    ("4k", Bytes::kib(4)),
    ("8k", Bytes::kib(8)),
    ("16k", Bytes::kib(16)),
    ("64k", Bytes::kib(64)),
    ("512k", Bytes::kib(512)),
    ("1m", Bytes::mib(1)),
    ("16m", Bytes::mib(16)),
];

/// The patterns and directions of the columns.
const PATTERNS: [(&str, &str); 4] =
    [("random", "read"), ("random", "write"), ("sequential", "read"), ("sequential", "write")];

/// The method of the script whose figures `fio-pi5-2024` holds; other forms of the script run fio otherwise.
const FIO_DEPTH_64: &str = "fio-depth64-512m";

/// A draft with what every table of this kind tells.
fn drafted(row: Row<'_>, tool: &'static str, method: &'static str) -> Draft {
    let model = row.text("card").unwrap_or_default().to_owned();
    let date = row.text("date").unwrap_or_default();
    Draft {
        board: row.text("host"),
        transport: transport_of(row),
        capacity_gb: row.number("capacity_gb"),
        app_class: app_class(row),
        ..Draft::new(tool, method, date, model)
    }
}

/// Adds the phase of each column that holds a rate; `shape` says how one was measured, and `unit` how many bytes
/// a second a 1 is.
fn add_all(
    draft: &mut Draft,
    row: Row<'_>,
    unit: f64,
    shape: fn(&'static str, &'static str, Bytes) -> Shape,
) {
    for (pattern, op) in PATTERNS {
        for (name, block) in BLOCKS {
            let rate = row.number(&format!("{pattern}_{op}_{name}"));
            let rate = rate.map(|rate| Stated::BytesPerS(rate * unit));
            draft.add(&shape(op, pattern, block), rate);
        }
    }
}

/// fio with 64 requests at a time over 512 MiB.
const fn deep(op: &'static str, pattern: &'static str, block: Bytes) -> Shape {
    Shape {
        span: Bytes::mib(512),
        queue_depth: 64,
        sync: "none",
        ..Shape::iozone(op, pattern, block)
    }
}

/// The eight cards that their makers call A2, with command queue on and off, and two SSDs.
pub(super) fn fio_pi_5(row: Row<'_>) -> Draft {
    let mode = row.text("mode").unwrap_or_default();
    // An SSD has no such setting.
    let is_queue_on = row.text("queue").map(|queue| queue == "on");
    let draft = drafted(row, "fio", FIO_DEPTH_64);
    let mut draft = Draft {
        board: Some("Raspberry Pi 5"),
        model: format!("{}, {mode}", draft.model),
        // The source calls all its cards A2.
        app_class: is_queue_on.map(|_| 2),
        is_queue_on,
        ..draft
    };
    for (op, random, sequential) in [
        ("read", "randread_4k_iops", "read_1m_MBps"),
        ("write", "randwrite_4k_iops", "write_1m_MBps"),
    ] {
        let rate = row.number(random).map(Stated::Iops);
        draft.add(&deep(op, "random", Bytes::kib(4)), rate);
        let rate = row.number(sequential).map(|rate| Stated::BytesPerS(rate * KIB_THOUSAND));
        draft.add(&deep(op, "sequential", Bytes::mib(1)), rate);
    }
    add_all(&mut draft, row, KIB_THOUSAND, deep);
    draft
}

/// iozone in KiB/s.
pub(super) fn iozone_cards(row: Row<'_>) -> Draft {
    let mut draft = drafted(row, "iozone", "iozone");
    add_all(&mut draft, row, KIB, Shape::iozone);
    draft
}

/// One eMMC by iozone, and one by fio.
pub(super) fn emmc_modules(row: Row<'_>) -> Draft {
    let is_fio = row.text("source") == Some("yabs");
    let (tool, method, shape): (_, _, fn(_, _, _) -> Shape) =
        if is_fio { ("fio", FIO_DEPTH_64, deep) } else { ("iozone", "iozone", Shape::iozone) };
    let mut draft = drafted(row, tool, method);
    add_all(&mut draft, row, KIB_THOUSAND, shape);
    draft
}

/// microSD Express cards at several depths; MB/s are 10^6 bytes a second, as CrystalDiskMark counts.
pub(super) fn express(row: Row<'_>) -> Draft {
    let (cooling, run) = (row.text("cooling").unwrap_or_default(), row.text("run"));
    let mut draft = drafted(row, "cdm_fio", "cdm-fio-1g");
    let state = match run {
        Some("10") => "tenth run in a row",
        _ => "first run",
    };
    draft.model = format!("{}, {cooling} cooling, {state}", draft.model);
    for (pattern, block, name, depth) in [
        ("random", Bytes::kib(4), "4k", 1),
        ("random", Bytes::kib(4), "4k", 32),
        ("random", Bytes::kib(4), "4k", 64),
        ("sequential", Bytes::kib(512), "512k", 1),
        ("sequential", Bytes::mib(32), "32m", 32),
        ("sequential", Bytes::gib(1), "1g", 1),
    ] {
        for op in ["read", "write"] {
            let rate = row.number(&format!("{pattern}_{op}_{name}_q{depth}"));
            let shape = Shape {
                span: Bytes::gib(1),
                queue_depth: depth,
                sync: "none",
                ..Shape::iozone(op, pattern, block)
            };
            draft.add(&shape, rate.map(|rate| Stated::BytesPerS(rate * MB)));
        }
    }
    draft
}

/// dd through the page cache.
pub(super) fn dd(row: Row<'_>) -> Draft {
    let mut draft = drafted(row, "dd", "dd-500k");
    for (op, heading, buffered) in [
        (
            "write",
            "write_MBps",
            "dd wrote through the page cache without waiting for it to be emptied",
        ),
        ("read", "read_MBps", "dd read through the page cache, which was empty"),
    ] {
        let shape = Shape {
            span: Bytes::kib(500 * 1024),
            sync: "none",
            buffered: Some(buffered),
            ..Shape::iozone(op, "sequential", Bytes::kib(500))
        };
        draft.add(&shape, row.number(heading).map(|rate| Stated::BytesPerS(rate * MB)));
    }
    draft
}
