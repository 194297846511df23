//! The columns of the table `runs`: one row a submission.

use std::borrow::Cow;

use cardproof_record::{BusInfo, CardInfo, DeviceInfo, Record, Verdict};

use super::sheet::{Column, Of};
use super::values::{bytes, column, some, whole, word};
use crate::clock::days;
use crate::summary::Summary;

/// What is known of a submission beside its document.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) id: String,
    pub(super) created_ms: i64,
    pub(super) month: String,
    pub(super) origin: String,
    pub(super) source: Option<String>,
    pub(super) model: String,
    pub(super) title: String,
    pub(super) host: String,
    pub(super) host_name: String,
    pub(super) lot: Option<String>,
    pub(super) price_hundredths: Option<i64>,
    pub(super) price_currency: Option<String>,
    pub(super) price_date: Option<String>,
    pub(super) revision: i64,
}

/// A row of `runs`.
pub(super) struct Run {
    pub(super) kept: Kept,
    pub(super) record: Record,
    pub(super) summary: Summary,
    pub(super) verdicts: Vec<Verdict>,
}

/// The figure of a run for a quantity, where nothing speaks against it.
fn figure(run: &Run, quantity: &str) -> Option<f64> {
    let found = run.summary.figures.iter().find(|figure| figure.quantity == quantity)?;
    found.doubt.is_none().then_some(found.rate)
}

fn verdict(run: &Run, rule: &str) -> Option<Cow<'static, str>> {
    word(&run.verdicts.iter().find(|verdict| verdict.rule == rule)?.outcome)
}

/// The card itself, below all layers.
fn device(run: &Run) -> &DeviceInfo {
    run.record.conditions.device.lowest()
}

fn card(run: &Run) -> Option<&CardInfo> {
    device(run).card.as_ref()
}

fn bus(run: &Run) -> Option<&BusInfo> {
    device(run).bus.as_ref()
}

/// One row a submission.
pub(super) static RUNS: &[Column<Run>] = &[
    column(
        "id",
        Of::Name(|r| r.kept.id.as_str().into()),
        "name of the submission; its page is /r/ID",
    ),
    column("month", Of::Name(|r| r.kept.month.as_str().into()), "month of submission, YYYY-MM"),
    column(
        "submitted",
        Of::Day(|r| (r.kept.created_ms / 86_400_000) as i32),
        "day of submission, UTC",
    ),
    column(
        "origin",
        Of::Name(|r| r.kept.origin.as_str().into()),
        "measured, imported, simulated or published",
    ),
    column(
        "source",
        Of::Text(|r| some(r.kept.source.as_ref())),
        "publication, where the origin is published",
    ),
    column(
        "model",
        Of::Name(|r| r.kept.model.as_str().into()),
        "card model; its page is /models/MODEL",
    ),
    column("model_name", Of::Name(|r| r.kept.title.as_str().into()), "card model in words"),
    column(
        "maker",
        Of::Text(|r| some(r.summary.model.maker.as_ref())),
        "maker, from the registers or the model's name",
    ),
    column(
        "product",
        Of::Text(|r| some(r.summary.model.product.as_ref())),
        "product name in the registers",
    ),
    column(
        "manufacturer_id",
        Of::Text(|r| some(r.summary.model.manufacturer_id.as_ref())),
        "manufacturer number in the registers",
    ),
    column(
        "oem_id",
        Of::Text(|r| some(r.summary.model.oem_id.as_ref())),
        "OEM letters in the registers",
    ),
    column(
        "card_revision",
        Of::Text(|r| some(r.summary.model.revision.as_ref())),
        "hardware and firmware revision",
    ),
    column(
        "lot",
        Of::Text(|r| some(r.kept.lot.as_ref())),
        "month in which the card was made, as it says",
    ),
    column(
        "transport",
        Of::Text(|r| some(r.summary.model.transport.as_ref())),
        "how the card is attached: sd, mmc, usb, ...",
    ),
    column("capacity_bytes", Of::Whole(|r| r.summary.model.capacity_bytes), "capacity"),
    column(
        "claimed_application_class",
        Of::Whole(|r| card(r).and_then(|card| card.claims.application_class).map(i64::from)),
        "application class in the registers: 1 for A1, 2 for A2",
    ),
    column(
        "host",
        Of::Name(|r| r.kept.host.as_str().into()),
        "host model; its page is /hosts/HOST",
    ),
    column("host_name", Of::Name(|r| r.kept.host_name.as_str().into()), "host model in words"),
    column(
        "architecture",
        Of::Text(|r| some(r.record.conditions.host.architecture.as_ref())),
        "processor architecture",
    ),
    column(
        "cpus",
        Of::Whole(|r| r.record.conditions.host.cpus.map(i64::from)),
        "number of processors",
    ),
    column(
        "memory_bytes",
        Of::Whole(|r| bytes(r.record.conditions.host.memory_bytes)),
        "memory of the host",
    ),
    column(
        "kernel",
        Of::Text(|r| some(r.record.conditions.host.kernel.as_ref())),
        "version of the kernel",
    ),
    column(
        "bus_mode",
        Of::Text(|r| some(bus(r).and_then(|bus| bus.mode.as_ref()))),
        "mode of the bus to the card",
    ),
    column(
        "bus_clock_hz",
        Of::Whole(|r| bus(r).and_then(|bus| bus.clock_hz).map(whole)),
        "clock of the bus",
    ),
    column(
        "bus_width_bits",
        Of::Whole(|r| bus(r).and_then(|bus| bus.width_bits).map(i64::from)),
        "width of the bus",
    ),
    column(
        "link_ceiling_bytes_per_s",
        Of::Whole(|r| device(r).link_ceiling_bytes_per_s.map(whole)),
        "highest rate that the bus can carry",
    ),
    column(
        "command_queue",
        Of::Flag(|r| card(r).and_then(|card| card.command_queue.enabled)),
        "whether the command queue was in use",
    ),
    column(
        "cache",
        Of::Flag(|r| card(r).and_then(|card| card.cache.enabled)),
        "whether the card's cache was in use",
    ),
    column(
        "filesystem",
        Of::Text(|r| some(r.record.conditions.filesystem.as_ref().map(|it| &it.kind))),
        "file system under test",
    ),
    column(
        "scheduler",
        Of::Text(|r| some(r.record.conditions.settings.scheduler.as_ref())),
        "I/O scheduler",
    ),
    column(
        "target",
        Of::Text(|r| word(&r.record.conditions.target.kind)),
        "kind of target: directory, block_device, ...",
    ),
    column("engine", Of::Text(|r| word(&r.record.conditions.target.engine)), "I/O engine"),
    column(
        "direct",
        Of::Flag(|r| Some(r.record.conditions.target.direct)),
        "whether I/O went past the page cache",
    ),
    column("tool", Of::Name(|r| r.record.tool.name.as_str().into()), "program that measured"),
    column("tool_version", Of::Name(|r| r.record.tool.version.as_str().into()), "its version"),
    column("profile", Of::Name(|r| r.record.profile.name.as_str().into()), "profile of the run"),
    column(
        "profile_version",
        Of::Count(|r| i64::from(r.record.profile.version)),
        "its version; figures of two versions are not compared",
    ),
    column("state", Of::Text(|r| word(&r.record.state)), "complete, partial or failed"),
    column(
        "life_used_percent_max",
        Of::Whole(|r| card(r).and_then(|card| card.life_used_percent_max).map(i64::from)),
        "used life as the card tells it, upper bound in percent",
    ),
    column(
        "spare_blocks",
        Of::Text(|r| some(card(r).and_then(|card| card.spare_blocks.as_ref()))),
        "state of the spare blocks as the card tells it",
    ),
    column("price", Of::Real(|r| r.kept.price_hundredths.map(|it| it as f64 / 100.0)), "price"),
    column(
        "price_currency",
        Of::Text(|r| some(r.kept.price_currency.as_ref())),
        "its currency, ISO 4217",
    ),
    column("price_date", Of::MaybeDay(|r| days(r.kept.price_date.as_ref()?)), "its day"),
    column(
        "basis",
        Of::Name(|r| r.summary.basis.as_str().into()),
        "method and host; only figures of one basis are compared",
    ),
    column(
        "random_read_iops",
        Of::Real(|r| figure(r, "random_read")),
        "4 KiB random reads a second, queue depth 1; null if in doubt",
    ),
    column(
        "random_write_iops",
        Of::Real(|r| figure(r, "random_write")),
        "4 KiB random writes a second, queue depth 1; null if in doubt",
    ),
    column(
        "synced_write_iops",
        Of::Real(|r| figure(r, "synced_write")),
        "4 KiB random writes a second, each followed by a flush; null if in doubt",
    ),
    column(
        "sequential_read_bytes_per_s",
        Of::Real(|r| figure(r, "sequential_read")),
        "sequential read rate; null if in doubt",
    ),
    column(
        "sequential_write_bytes_per_s",
        Of::Real(|r| figure(r, "sequential_write")),
        "lowest lasting sequential write rate; null if in doubt",
    ),
    column(
        "a1",
        Of::Text(|r| verdict(r, "A1")),
        "verdict on A1: meets, misses, undecided or not_testable",
    ),
    column("a2", Of::Text(|r| verdict(r, "A2")), "verdict on A2"),
    column(
        "doubts",
        Of::Count(|r| whole(r.summary.doubts.len() as u64)),
        "number of doubts about the record",
    ),
    column(
        "phases",
        Of::Count(|r| whole(r.record.phases.len() as u64)),
        "number of its rows in phases",
    ),
    column(
        "bytes_written",
        Of::Count(|r| whole(r.record.bytes_written.get())),
        "all bytes written",
    ),
    column("bytes_read", Of::Count(|r| whole(r.record.bytes_read.get())), "all bytes read"),
    column(
        "document_revision",
        Of::Count(|r| r.kept.revision),
        "1, and one more with each amendment",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_from_1970() {
        assert_eq!((days("1970-01-02"), days("2026-11-22")), (Some(1), Some(20_779)));
        assert_eq!((days("2026-02-30"), days("yesterday")), (None, None));
    }
}
