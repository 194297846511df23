//! From the rows of the published tables to records, one function a table.
//!
//! A record is put together as JSON, the form in which records are exchanged, so that a field which
//! no source tells of needs no word here.

use cardproof_facts::{PUBLISHED_CARDS, PUBLISHED_METHOD, PublishedCard};
use cardproof_record::Record;
use cardproof_units::Bytes;
use serde_json::{Map, Value, json};

use super::table::{Row, Table};
use super::{ID_PREFIX, ReferenceCard, wide};

/// What a KB/s of iozone, fio and their kin is.
pub(super) const KIB: f64 = 1024.0;

/// What iozone's kB/s divided by 1000 is.
pub(super) const KIB_THOUSAND: f64 = 1000.0 * KIB;

const MIB: f64 = 1_048_576.0;

pub(super) const MB: f64 = 1e6;

/// The published cards of the crate of facts.
pub(super) fn published_cards() -> impl Iterator<Item = ReferenceCard> {
    PUBLISHED_CARDS.iter().filter_map(|card| {
        let (name, table) = (card.reference.to_owned(), "sd-card-bench-2018");
        let record = sd_card_bench(card).finish(&name, table, PUBLISHED_METHOD)?;
        Some(ReferenceCard { name, table, source: PUBLISHED_METHOD.to_owned(), record })
    })
}

/// The cards of `table`, which is called `name`.
pub(super) fn of(name: &'static str, table: &Table) -> Vec<ReferenceCard> {
    let draft: fn(Row<'_>) -> Draft = match name {
        "iozone-rpi3-2018" => iozone,
        "fio-mixed-rpi3-2018" => fio_mixed,
        "microsd-benchmarks-pi" => microsd_benchmarks,
        "fio-pi5-2024" => wide::fio_pi_5,
        "iozone-cards-2018-2022" => wide::iozone_cards,
        "emmc-modules-2025" => wide::emmc_modules,
        "express-2025" => wide::express,
        "dd-rpi-2019" => wide::dd,
        "iozone-pi-ssd" => iozone_ssd,
        _ => fsync,
    };
    let card = |row: Row<'_>| {
        let own_name = row.text("name")?.to_owned();
        let record = draft(row).finish(&own_name, name, &table.about)?;
        Some(ReferenceCard { name: own_name, table: name, source: table.about.clone(), record })
    };
    table.rows().filter_map(card).collect()
}

/// What is known of one row.
pub(super) struct Draft {
    /// The tool whose figures these are.
    pub(super) tool: &'static str,
    /// The profile that does what it did.
    pub(super) method: &'static str,
    /// The year or day of publication.
    pub(super) published: &'static str,
    pub(super) board: Option<&'static str>,
    pub(super) kernel: Option<&'static str>,
    pub(super) model: String,
    pub(super) transport: &'static str,
    pub(super) capacity_gb: Option<f64>,
    pub(super) app_class: Option<u8>,
    /// Whether the card's command queue was in use, where the source says it.
    pub(super) is_queue_on: Option<bool>,
    pub(super) made: Option<&'static str>,
    pub(super) filesystem: Option<&'static str>,
    pub(super) phases: Vec<Value>,
    pub(super) jobs: Vec<Value>,
}

/// What one phase did; its rate comes with it.
pub(super) struct Shape {
    pub(super) op: &'static str,
    pub(super) pattern: &'static str,
    pub(super) block: Bytes,
    pub(super) span: Bytes,
    pub(super) queue_depth: u16,
    pub(super) sync: &'static str,
    /// Why the page cache was in the way, if it was.
    pub(super) buffered: Option<&'static str>,
}

/// A rate as the source states it.
#[derive(Clone, Copy)]
pub(super) enum Stated {
    Iops(f64),
    BytesPerS(f64),
}

impl Shape {
    /// A pass of `iozone -e -I` over a file of 100 MiB.
    pub(super) const fn iozone(op: &'static str, pattern: &'static str, block: Bytes) -> Self {
        let is_write = matches!(op.as_bytes(), b"write");
        let sync = if is_write { "flush-at-end" } else { "none" };
        Self { op, pattern, block, span: Bytes::mib(100), queue_depth: 1, sync, buffered: None }
    }

    fn phase(&self, rate: Stated) -> Value {
        let block = self.block.as_f64();
        let (iops, bytes_per_s) = match rate {
            Stated::Iops(iops) => (iops, iops * block),
            Stated::BytesPerS(bytes) => (bytes / block, bytes),
        };
        // No source has more digits, and what JSON rounds is then the same when it is read back.
        let (iops, bytes_per_s) = ((iops * 1e3).round() / 1e3, bytes_per_s.round());
        let size = match self.block.get() {
            block if block >= 1 << 20 => format!("{}m", block >> 20),
            block => format!("{}k", block >> 10),
        };
        let synced = if self.sync == "fsync-every-1" { "-fsync" } else { "" };
        let warnings: Vec<Value> = self
            .buffered
            .map(|message| json!({"code": "buffered", "message": message}))
            .into_iter()
            .collect();
        json!({
            "name": format!("{}-{}-{size}-qd{}{synced}", self.pattern, self.op, self.queue_depth),
            "op": self.op,
            "pattern": self.pattern,
            "read_percent": if self.op == "read" { 100 } else { 0 },
            "block_size_bytes": self.block,
            "span_offset_bytes": 0,
            "span_bytes": self.span,
            "queue_depth": self.queue_depth,
            "sync": self.sync,
            "state": "measured",
            "ops": 0,
            "bytes": 0,
            "duration_ns": 0,
            "stated": {"iops": iops, "throughput_bytes_per_s": bytes_per_s},
            "warnings": warnings,
        })
    }
}

impl Draft {
    pub(super) fn new(
        tool: &'static str,
        method: &'static str,
        published: &'static str,
        model: String,
    ) -> Self {
        Self {
            tool,
            method,
            published,
            board: None,
            kernel: None,
            model,
            transport: "sd",
            capacity_gb: None,
            app_class: None,
            is_queue_on: None,
            made: None,
            filesystem: None,
            phases: Vec::new(),
            jobs: Vec::new(),
        }
    }

    /// Adds the phase of `shape` where the source has a figure for it.
    pub(super) fn add(&mut self, shape: &Shape, rate: Option<Stated>) {
        self.phases.extend(rate.map(|rate| shape.phase(rate)));
    }

    fn job(&mut self, name: &str, seconds: Option<f64>) {
        self.jobs.extend(seconds.map(|seconds| {
            let nanos = (seconds * 1e9).round() as u64;
            json!({"name": name, "duration_ns": nanos})
        }));
    }

    fn finish(self, name: &str, table: &str, source: &str) -> Option<Record> {
        let mut device = known([
            ("model", Some(json!(self.model))),
            ("transport", Some(json!(self.transport))),
            ("size_bytes", self.capacity_gb.map(|size| json!((size * 1e9) as u64))),
        ]);
        let claims = known([("application_class", self.app_class.map(|class| json!(class)))]);
        device.insert(
            "card".to_owned(),
            Value::Object(known([
                ("claims", Some(Value::Object(claims))),
                ("command_queue", self.is_queue_on.map(|on| json!({"enabled": on}))),
                ("manufactured", self.made.map(|made| json!(made))),
            ])),
        );
        let host = known([
            ("board", self.board.map(|board| json!(board))),
            ("kernel", self.kernel.map(|kernel| json!(kernel))),
        ]);
        let filesystem = self.filesystem.map(|kind| json!({"kind": kind}));
        let target = json!({
            "kind": "unknown", "size_bytes": 0, "logical_block_bytes": 0, "engine": "",
            "direct": true, "read_only": false,
        });
        let conditions = known([
            ("target", Some(target)),
            ("device", Some(Value::Object(device))),
            ("host", Some(Value::Object(host))),
            ("filesystem", filesystem),
        ]);
        let record = json!({
            "schema": cardproof_record::SCHEMA,
            "id": format!("{ID_PREFIX}{name}"),
            "created": self.published,
            "tool": {"name": self.tool, "version": ""},
            "seed": cardproof_units::Seed::default(),
            "state": "complete",
            "conditions": conditions,
            "profile": {"name": self.method, "version": 0, "time_budget_ns": 0},
            "phases": self.phases,
            "jobs": self.jobs,
            "bytes_written": 0,
            "bytes_read": 0,
            "published": {"table": table, "source": source},
        });
        // Not `from_value`: the code that reads a record from a value would be in the program for this.
        serde_json::from_str(&record.to_string()).ok()
    }
}

/// Those of `fields` that are known.
fn known<const N: usize>(fields: [(&str, Option<Value>); N]) -> Map<String, Value> {
    fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

pub(super) fn app_class(row: Row<'_>) -> Option<u8> {
    row.text("app_class")?.strip_prefix('A')?.parse().ok()
}

fn sd_card_bench(card: &PublishedCard) -> Draft {
    let mut draft = Draft {
        board: Some("NanoPi M4"),
        kernel: Some("Linux 4.x"),
        transport: if card.is_emmc { "mmc" } else { "sd" },
        capacity_gb: card.capacity_gb.map(f64::from),
        app_class: card.application_class,
        made: Some(card.made),
        filesystem: Some("ext4"),
        ..Draft::new("sd-card-bench", "sd-card-bench", "2018", card.model())
    };
    for (kib, read, write) in [
        (1, card.random_read_1k, card.random_write_1k),
        (4, card.random_read, card.random_write),
        (16, card.random_read_16k, card.random_write_16k),
    ] {
        for (op, rate) in [("read", read), ("write", write)] {
            let shape = Shape::iozone(op, "random", Bytes::kib(kib));
            draft.add(&shape, Some(Stated::Iops(rate.0)));
        }
    }
    for (op, rate) in [("read", card.sequential_read), ("write", card.sequential_write)] {
        let shape = Shape::iozone(op, "sequential", Bytes::mib(16));
        draft.add(&shape, Some(Stated::BytesPerS(rate.as_mb_per_s() * MIB)));
    }
    for (job, took) in [
        ("boot", card.boot),
        ("desktop-install", card.desktop_install),
        ("desktop-removal", card.removal),
        ("desktop-install-again", card.reinstall),
    ] {
        draft.job(job, Some(took.as_secs_f64()));
    }
    draft
}

/// A card and its model number, where it has one that is sure.
fn card_and_model(row: Row<'_>) -> String {
    let card = row.text("card").unwrap_or_default();
    row.text("model").map_or(card.to_owned(), |model| format!("{card} {model}"))
}

pub(super) fn transport_of(row: Row<'_>) -> &'static str {
    row.text("transport").unwrap_or_default()
}

fn on_pi_3(row: Row<'_>, tool: &'static str, method: &'static str) -> Draft {
    Draft {
        board: Some("Raspberry Pi 3"),
        transport: transport_of(row),
        capacity_gb: row.number("capacity_gb"),
        app_class: app_class(row),
        ..Draft::new(tool, method, "2018", card_and_model(row))
    }
}

fn iozone(row: Row<'_>) -> Draft {
    let mut draft = on_pi_3(row, "iozone", "iozone");
    for (op, heading) in [("read", "rand_read_MBps"), ("write", "rand_write_MBps")] {
        let rate = row.number(heading).map(|rate| Stated::BytesPerS(rate * KIB_THOUSAND));
        draft.add(&Shape::iozone(op, "random", Bytes::kib(4)), rate);
    }
    draft
}

fn fio_mixed(row: Row<'_>) -> Draft {
    let mut draft = on_pi_3(row, "fio", "fio-randrw75");
    if let (Some(read), Some(write)) = (row.number("read_iops"), row.number("write_iops")) {
        let shape = Shape { op: "mixed", ..Shape::iozone("read", "random", Bytes::kib(4)) };
        let mut phase = shape.phase(Stated::Iops(read + write));
        phase["name"] = json!("random-mixed-4k-75-25-qd64");
        phase["read_percent"] = json!(75);
        phase["queue_depth"] = json!(64);
        phase["stated"]["read_iops"] = json!(read);
        phase["stated"]["write_iops"] = json!(write);
        draft.phases.push(phase);
    }
    draft
}

fn microsd_benchmarks(row: Row<'_>) -> Draft {
    let model = row.text("card").unwrap_or_default().to_owned();
    let year = if row.text("source") == Some("pidramble") { "" } else { "2019" };
    let mut draft = Draft {
        board: row.text("host"),
        transport: transport_of(row),
        capacity_gb: row.number("capacity_gb"),
        ..Draft::new("microsd-benchmarks", "microsd-benchmarks", year, model)
    };
    let buffered_read = Shape {
        span: Bytes::ZERO,
        buffered: Some("hdparm -t reads through the page cache, which it empties first"),
        ..Shape::iozone("read", "sequential", Bytes::mib(2))
    };
    let rate =
        |heading: &str, unit: f64| row.number(heading).map(|rate| Stated::BytesPerS(rate * unit));
    draft.add(&buffered_read, rate("hdparm_MBps", MIB));
    let buffered_write = Shape {
        span: Bytes::kib(8 * 50 * 1024),
        buffered: Some(
            "dd wrote through the page cache, and its figure includes the time to empty it; direct writes may differ",
        ),
        ..Shape::iozone("write", "sequential", Bytes::kib(8))
    };
    draft.add(&buffered_write, rate("dd_write_MBps", MB));
    for (op, heading) in [("read", "rand_read_4k_MBps"), ("write", "rand_write_4k_MBps")] {
        draft.add(&Shape::iozone(op, "random", Bytes::kib(4)), rate(heading, KIB_THOUSAND));
    }
    draft
}

fn fsync(row: Row<'_>) -> Draft {
    let model = row.text("device").unwrap_or_default().to_owned();
    let board = match row.text("host") {
        Some("phone") => Some("Sony Xperia"),
        Some("pc") => Some("desktop computer with a card reader"),
        _ => None,
    };
    let mut draft = Draft {
        board,
        transport: transport_of(row),
        filesystem: row.text("filesystem"),
        ..Draft::new("fio", "fio-fsync", "", model)
    };
    let buffered = Some("fio ran without direct=1, through the page cache");
    let read =
        Shape { span: Bytes::mib(128), buffered, ..Shape::iozone("read", "random", Bytes::kib(4)) };
    let write = Shape {
        span: Bytes::mib(32),
        buffered,
        sync: "fsync-every-1",
        ..Shape::iozone("write", "random", Bytes::kib(4))
    };
    let rate = |heading: &str| row.number(heading).map(|rate| Stated::BytesPerS(rate * KIB));
    draft.add(&read, rate("rand_read_KBps"));
    draft.add(&write, rate("rand_write_KBps"));
    draft
}

fn iozone_ssd(row: Row<'_>) -> Draft {
    let model = row.text("card").unwrap_or_default().to_owned();
    let date = row.text("date").unwrap_or_default();
    let mut draft = Draft {
        board: row.text("host"),
        transport: transport_of(row),
        capacity_gb: row.number("capacity_gb"),
        ..Draft::new("iozone", "iozone", date, model)
    };
    let span = Bytes::mib(row.number("span_mib").map_or(0, |span| span as u64));
    for (op, pattern, block, heading) in [
        ("read", "random", Bytes::kib(4), "rand_read_4k_MBps"),
        ("write", "random", Bytes::kib(4), "rand_write_4k_MBps"),
        ("read", "sequential", Bytes::mib(1), "read_1m_MBps"),
        ("write", "sequential", Bytes::mib(1), "write_1m_MBps"),
    ] {
        let rate = row.number(heading).map(|rate| Stated::BytesPerS(rate * KIB_THOUSAND));
        draft.add(&Shape { span, ..Shape::iozone(op, pattern, block) }, rate);
    }
    draft
}
