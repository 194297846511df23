//! What is told of the way to the storage: link, ceiling, queue and cache.

use cardproof_device::identify::{Ceiling, CeilingSource, Identity, UsbStorage};
use cardproof_record::{BusInfo, Feature};

use super::layout::Section;
use super::words;

/// The bus or link, and the most that it lets through.
pub(super) fn bus(identity: &Identity) -> Section {
    let device = identity.device.lowest();
    let mut section = Section::new("Bus and its limit");
    section.some("Link", device.link.clone());
    if let Some(bus) = &device.bus {
        of_card_bus(&mut section, bus);
    }
    if let Some(usb) = &identity.usb {
        of_usb(&mut section, usb);
    }
    if let Some(ceiling) = &identity.ceiling {
        of_ceiling(&mut section, ceiling);
    }
    section
}

fn of_card_bus(section: &mut Section, bus: &BusInfo) {
    let voltage = bus.signal_voltage_millivolts;
    section.some("Signal voltage", voltage.map(|mv| format!("{:.1} V", f64::from(mv) / 1e3)));
    section.some("Controller", bus.driver.as_ref().map(|driver| format!("driver {driver}")));
    section.some("Read from", bus.source.clone());
}

fn of_usb(section: &mut Section, usb: &UsbStorage) {
    let name = [usb.id.clone(), usb.product.clone()];
    let name = name.into_iter().flatten().collect::<Vec<_>>().join(" ");
    section.some("Bridge", (!name.is_empty()).then_some(name));
    section.some(
        "Transfer",
        usb.driver.as_ref().map(|driver| match usb.queues_commands {
            Some(true) => format!("{driver}: several commands at a time"),
            Some(false) => format!("{driver}: bulk-only, one command at a time"),
            None => driver.clone(),
        }),
    );
    for trouble in &usb.troubles {
        section.row("Trouble", trouble.clone());
    }
}

fn of_ceiling(section: &mut Section, ceiling: &Ceiling) {
    let how_sure = match ceiling.source {
        CeilingSource::Read => "read from the system",
        CeilingSource::Mode => "the mode was read, its highest clock and width assumed",
        CeilingSource::Board => "not read: what the board is known to give at most",
        CeilingSource::Link => "by the link's speed",
    };
    section.row("Ceiling", format!("{} ({how_sure})", words::rate(ceiling.bytes_per_s)));
    if let (Some(low), Some(high)) =
        (ceiling.realistic_low_bytes_per_s, ceiling.realistic_high_bytes_per_s)
    {
        let mb = |bytes: u64| bytes as f64 / 1e6;
        let text = format!("long transfers reach {:.0} to {:.0} MB/s", mb(low), mb(high));
        section.row("", text);
    }
    let operations = ceiling.operations_4k_per_s;
    section.row("", format!("at most {operations} IOPS of 4 KiB (time of the transfers alone)"));
    if ceiling.source == CeilingSource::Board {
        section.row("Set by", ceiling.set_by.clone());
    }
}

/// The cache and the command queue, with their evidence.
pub(super) fn features(identity: &Identity) -> Section {
    let mut section = Section::new("Queueing and cache");
    let Some(card) = &identity.device.lowest().card else { return section };
    feature(&mut section, "Cache", &card.cache, None);
    feature(&mut section, "Command queue", &card.command_queue, card.command_queue_depth);
    for quirk in &card.quirks {
        section.row("Quirk", quirk.clone());
    }
    section
}

fn feature(section: &mut Section, label: &str, feature: &Feature, depth: Option<u16>) {
    let depth = depth.map(|depth| format!(" (depth {depth})")).unwrap_or_default();
    section.row(
        label,
        format!(
            "{}; card {}{depth}, kernel {}, host {}",
            words::state(feature.enabled),
            words::answer(feature.card),
            words::answer(feature.kernel),
            words::answer(feature.host)
        ),
    );
    for evidence in &feature.evidence {
        section.row("", format!("- {evidence}"));
    }
}
