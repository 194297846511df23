//! Device, computer and conditions as short labelled facts. Unknown ones are left out.

use cardproof_record::{
    Conditions, DeviceInfo, EngineName, Phase, Record, TargetInfo, TargetKind, Transport,
};
use cardproof_registers::names::sd_products;
use cardproof_units::{Bytes, Nanos, Throughput};

use crate::clean::one_line;
use crate::day::day_of;
use crate::ended::ended;

/// The label of the system's settings, which a short report leaves out.
pub(crate) const SETTINGS: &str = "Settings";

/// The label of the data check, which a short report shows elsewhere.
pub(crate) const DATA: &str = "Data check";

/// A labelled fact.
pub(crate) struct Fact {
    pub(crate) label: &'static str,
    pub(crate) text: String,
}

/// The name of the storage in a report, such as `SanDisk SC32G, SD card, 29.7 GiB`.
#[must_use]
pub fn title(record: &Record) -> String {
    let named = named(&record.conditions.device);
    match (record.conditions.target.kind, named) {
        (TargetKind::Null, _) => "Null target".to_owned(),
        (TargetKind::Simulated, Some(named)) => format!("{named} (simulated)"),
        (TargetKind::Simulated, None) => "Simulated card".to_owned(),
        (TargetKind::File, named) => file_on(&named.unwrap_or_else(unknown_storage)),
        (_, named) => named.unwrap_or_else(unknown_storage),
    }
}

/// The name of a file that was tested in place of the `storage` on which it lies.
pub(crate) fn file_on(storage: &str) -> String {
    // A name stands by itself; a kind has its article.
    let article = if storage.starts_with(VIRTUAL_DISK) || storage.starts_with(LOOP_DEVICE) {
        "a "
    } else {
        ""
    };
    format!("a file on {article}{storage}")
}

/// The name of the storage on a narrow line. That of a simulated card holds its size.
pub(crate) fn title_in_short(record: &Record) -> String {
    let is_simulated = record.conditions.target.kind == TargetKind::Simulated;
    device_name(&record.conditions.device).filter(|_| is_simulated).unwrap_or_else(|| title(record))
}

/// As [`title`], of a device alone.
pub(crate) fn title_of_device(device: &DeviceInfo) -> String {
    named(device).unwrap_or_else(unknown_storage)
}

fn unknown_storage() -> String {
    "Unknown storage".to_owned()
}

fn named(device: &DeviceInfo) -> Option<String> {
    joined([
        device_name(device),
        device.transport.as_ref().map(attachment),
        device.size_bytes.map(|size| size.to_string()),
    ])
}

/// What an SD card may have been sold as, which is not the name that its register prints: `Samsung EVO Plus`.
/// Several products where cards of several were seen. `None` for a card that nobody has described.
#[must_use]
pub fn sold_as(device: &DeviceInfo) -> Option<String> {
    let card = device.card.as_ref()?;
    let hex =
        |text: &Option<String>| u16::from_str_radix(text.as_deref()?.strip_prefix("0x")?, 16).ok();
    let manufacturer_id = u8::try_from(hex(&card.manufacturer_id)?).ok()?;
    let size = card.capacity_bytes.or(device.size_bytes);
    let cards = sd_products(manufacturer_id, hex(&card.oem_id)?, card.product.as_deref()?, size);
    let mut products: Vec<&str> = cards.iter().map(|card| card.product).collect();
    products.dedup();
    (!products.is_empty()).then(|| products.join(" or "))
}

/// The name of the device, with what it may have been sold as.
fn device_name(device: &DeviceInfo) -> Option<String> {
    let printed = printed_name(device)?;
    Some(match sold_as(device) {
        Some(product) => format!("{printed} (perhaps {product})"),
        None => printed,
    })
}

fn printed_name(device: &DeviceInfo) -> Option<String> {
    let model = device.model.as_deref().map(one_line).filter(|model| !model.is_empty());
    let vendor = device.vendor.as_deref().map(one_line).filter(|vendor| !vendor.is_empty());
    match (vendor, model) {
        (Some(vendor), Some(model)) if !model.starts_with(&vendor) => {
            Some(format!("{vendor} {model}"))
        }
        (_, Some(model)) => Some(model),
        (vendor, None) => vendor,
    }
}

const VIRTUAL_DISK: &str = "virtual disk";
const LOOP_DEVICE: &str = "loop device";

/// The common name of a transport.
#[must_use]
pub fn attachment(transport: &Transport) -> String {
    match transport {
        Transport::Sd => "SD card".to_owned(),
        Transport::Mmc => "eMMC".to_owned(),
        Transport::Usb => "USB".to_owned(),
        Transport::Nvme => "NVMe".to_owned(),
        Transport::Sata => "SATA".to_owned(),
        Transport::Ufs => "UFS".to_owned(),
        Transport::Virtio => VIRTUAL_DISK.to_owned(),
        Transport::Loop => LOOP_DEVICE.to_owned(),
        other => one_line(other.as_str()),
    }
}

/// The facts, most important first.
pub(crate) fn facts(record: &Record) -> Vec<Fact> {
    let conditions = &record.conditions;
    let facts = [
        ("Device", device(&conditions.device)),
        ("Computer", computer(conditions)),
        ("File system", filesystem(conditions)),
        ("Target", Some(target(conditions))),
        (SETTINGS, settings(conditions)),
        ("Run", Some(run(record))),
        ("Transferred", transferred(record)),
        (DATA, cardproof_rating::words::data::in_words(record)),
        ("Not read", untold(record)),
    ];
    let known = facts.into_iter().filter_map(|(label, text)| Some(Fact { label, text: text? }));
    known.filter(|fact| !fact.text.is_empty()).collect()
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let known: Vec<String> = parts.into_iter().flatten().collect();
    (!known.is_empty()).then(|| known.join(", "))
}

/// The device's name in the kernel and its bus, which the title leaves out.
fn device(device: &DeviceInfo) -> Option<String> {
    let ceiling = device.link_ceiling_bytes_per_s.map(|bytes| Throughput(bytes as f64));
    joined([
        device.name.as_deref().map(one_line),
        device.link.as_deref().map(one_line),
        ceiling.map(|ceiling| format!("at most {ceiling}")),
    ])
}

fn computer(conditions: &Conditions) -> Option<String> {
    let host = &conditions.host;
    let cpus = |count| if count == 1 { "1 CPU".to_owned() } else { format!("{count} CPUs") };
    joined([
        host.board.as_deref().map(one_line),
        host.architecture.as_deref().map(one_line),
        host.cpus.map(cpus),
        host.memory_bytes.map(|bytes| format!("{bytes} of memory")),
        host.kernel.as_deref().map(one_line),
    ])
}

fn filesystem(conditions: &Conditions) -> Option<String> {
    let filesystem = conditions.filesystem.as_ref()?;
    let kind = one_line(&filesystem.kind);
    let options = match filesystem.options.as_slice() {
        [] => None,
        options => Some(format!("mounted {}", one_line(&options.join(",")))),
    };
    let free = match (filesystem.free_bytes, filesystem.size_bytes) {
        (Some(free), Some(size)) => Some(format!("{free} of {size} free")),
        (Some(free), None) => Some(format!("{free} free")),
        (None, _) => None,
    };
    joined([Some(kind), options, free])
}

fn target(conditions: &Conditions) -> String {
    let target = &conditions.target;
    let size = target.size_bytes;
    let what = match target.kind {
        TargetKind::Directory if target.engine == EngineName::Files => {
            return format!(
                "files of at most {size} in total, made for the run, used through the page cache"
            );
        }
        TargetKind::Directory => format!("a file of {size}, made for the run"),
        TargetKind::File => format!("an existing file of {size}"),
        TargetKind::BlockDevice => format!("the whole device of {size}"),
        TargetKind::Simulated => format!("a simulated card of {size}"),
        TargetKind::Null => "nothing: operations complete at once".to_owned(),
        TargetKind::Unknown => return foreign_target(target),
    };
    let engine = one_line(target.engine.as_str());
    let fallback = target.engine_fallback.as_deref().map(one_line);
    let fallback = fallback.map_or(String::new(), |cause| format!(" ({cause})"));
    let access = if target.direct {
        "direct I/O".to_owned()
    } else {
        let reason = target.buffered_reason.as_deref().map(one_line);
        format!("through the page cache{}", reason.map_or(String::new(), |why| format!(" ({why})")))
    };
    let only = if target.read_only { ", read-only" } else { "" };
    format!("{what}; engine {engine}{fallback}, {access}{only}")
}

/// The known facts of a target that another tool measured.
fn foreign_target(target: &TargetInfo) -> String {
    let engine = one_line(target.engine.as_str());
    let known = [
        (target.size_bytes > Bytes::ZERO).then(|| target.size_bytes.to_string()),
        (!engine.is_empty()).then(|| format!("engine {engine}")),
    ];
    joined([Some("not known (another tool measured)".to_owned())].into_iter().chain(known))
        .unwrap_or_default()
}

fn settings(conditions: &Conditions) -> Option<String> {
    let settings = &conditions.settings;
    let named = |name: &str, value: &Option<String>| {
        value.as_deref().map(|value| format!("{name} {}", one_line(value)))
    };
    joined([
        named("scheduler", &settings.scheduler),
        settings.nr_requests.map(|count| format!("{count} requests")),
        settings.read_ahead_bytes.map(|bytes| format!("read-ahead {bytes}")),
        named("write cache", &settings.write_cache),
        named("governor", &settings.governor),
    ])
}

fn run(record: &Record) -> String {
    if record.is_imported() {
        return imported(record);
    }
    let profile = &record.profile;
    let tool = &record.tool;
    let state = ended(&record.state).map_or_else(String::new, |ended| format!(", {ended}"));
    format!(
        "profile {} (version {}), {}, {} {}, seed {}{state}",
        one_line(&profile.name),
        profile.version,
        when(record),
        one_line(&tool.name),
        one_line(&tool.version),
        record.seed,
    )
}

/// When it was measured.
pub(crate) fn when(record: &Record) -> String {
    let of_its_own = record.conditions.target.kind.clock();
    of_its_own.map_or_else(|| one_line(&record.created), str::to_owned)
}

/// The source of an imported record, whose profile, budget and seed are unknown.
fn imported(record: &Record) -> String {
    let tool = &record.tool;
    let name = format!("{} {}", one_line(&tool.name), one_line(&tool.version));
    let printed = record.began_as_printed.as_deref().map(one_line).filter(|it| !it.is_empty());
    let measured = printed.map_or_else(String::new, |printed| {
        format!("measured {}, ", day_of(&printed).unwrap_or(printed))
    });
    let imported = one_line(&record.created);
    format!("read from the output of {}, {measured}imported {imported}", name.trim_end())
}

/// How much was read and written; `None` if another tool's output does not contain it.
fn transferred(record: &Record) -> Option<String> {
    let durations = record.phases.iter().map(|phase| phase.duration_ns);
    let durations = durations.chain(record.job_runs.iter().map(|run| run.duration_ns));
    let total = durations.fold(Nanos::ZERO, Nanos::saturating_add);
    let (written, read) = (record.bytes_written, record.bytes_read);
    let replays = match record.layout() {
        Some(trial) => [&*trial.plain_ns, &*trial.log_ns].concat(),
        None => record.replays.iter().map(|replay| replay.duration_ns).collect(),
    };
    let total = replays.into_iter().fold(total, Nanos::saturating_add);
    if !record.is_imported() && total > Nanos::ZERO {
        return Some(format!("{written} written, {read} read, in {total}"));
    }
    joined([
        (written > Bytes::ZERO).then(|| format!("{written} written")),
        (read > Bytes::ZERO).then(|| format!("{read} read")),
        (total > Nanos::ZERO).then(|| format!("in {total}")),
    ])
}

/// The facts that cardproof measures and that were not read from another tool's output, though it may hold some of them;
/// `None` for cardproof's own runs.
fn untold(record: &Record) -> Option<String> {
    if !record.is_imported() {
        return None;
    }
    let Conditions { device, host, .. } = &record.conditions;
    let phases = || record.phases.iter().filter(|phase| phase.is_measured());
    let any = |is_untold: fn(&Phase) -> bool| phases().any(is_untold);
    let is_storage_untold = device.model.is_none() && device.transport.is_none();
    let is_host_untold = host.board.is_none() && host.architecture.is_none();
    let untold = [
        (any(|phase| phase.iops.is_none()), "intervals of the rates"),
        (any(|phase| phase.intervals.is_empty()), "rates over time"),
        (any(|phase| phase.latency_ns.is_none()), "latencies"),
        (any(|phase| phase.block_size_bytes == Bytes::ZERO), "block sizes"),
        (any(|phase| phase.queue_depth == 0), "queue depths"),
        (any(|phase| phase.span_bytes == Bytes::ZERO), "the test range"),
        (record.conditions.target.kind == TargetKind::Unknown, "the kind of target"),
        (is_storage_untold, "the storage"),
        (is_host_untold, "the computer"),
    ];
    let all =
        joined(untold.into_iter().map(|(is_untold, what)| is_untold.then(|| what.to_owned())));
    all.map(|all| format!("from this output: {all}"))
}

#[cfg(test)]
mod tests {
    use cardproof_record::CardInfo;

    use super::*;

    /// A card with this number and name in its register.
    fn card(manufacturer_id: &str, oem_id: &str, name: &str, size: Bytes) -> DeviceInfo {
        let card = CardInfo {
            manufacturer_id: Some(manufacturer_id.to_owned()),
            oem_id: Some(oem_id.to_owned()),
            product: Some(name.to_owned()),
            ..CardInfo::default()
        };
        DeviceInfo {
            model: Some(name.to_owned()),
            size_bytes: Some(size),
            transport: Some(Transport::Sd),
            card: Some(card),
            ..DeviceInfo::default()
        }
    }

    #[test]
    fn a_card_is_named_by_its_register_and_by_what_it_may_have_been_sold_as() {
        let evo = card("0x1b", "0x534d", "EE4S5", Bytes(256_000_000_000));
        assert_eq!(title_of_device(&evo), "EE4S5 (perhaps Samsung EVO Plus), SD card, 238.4 GiB");
        // The same name of another maker, and a size that no such card has.
        assert_eq!(sold_as(&card("0x03", "0x534d", "EE4S5", Bytes(256_000_000_000))), None);
        assert_eq!(sold_as(&card("0x1b", "0x534d", "EE4S5", Bytes(32_000_000_000))), None);
        assert_eq!(sold_as(&card("1b", "", "EE4S5", Bytes(256_000_000_000))), None);
        assert_eq!(sold_as(&DeviceInfo { card: None, ..evo }), None);
    }
}
