//! What is told of the device itself: who it is, what it claims, what is suspicious.

use cardproof_device::identify::Identity;
use cardproof_record::{CardInfo, Claims, DeviceInfo, Transport};
use cardproof_registers::names::smaller_cards;
use cardproof_units::Bytes;

use super::layout::Section;
use super::words;

/// The device, and the card's registers where it is one.
pub(super) fn device(identity: &Identity, show_serial: bool) -> Section {
    let device = &identity.device;
    let is_card = device.lowest().card.is_some();
    let mut section = Section::new(if is_card { "Card" } else { "Device" });
    section.row("Device", name(device));
    section.some("Layer", layer(device));
    if identity.has_medium == Some(false) {
        section.row("Medium", "there is none in it");
    }
    match &device.lowest().card {
        Some(card) => registers(&mut section, card, identity, show_serial),
        None => make(&mut section, device.lowest()),
    }
    capacity(&mut section, identity);
    section
}

fn name(device: &DeviceInfo) -> String {
    let kind = device.transport.as_ref().map(words::transport);
    let parts = [device.name.as_deref(), kind].into_iter().flatten().collect::<Vec<_>>();
    if parts.is_empty() { "no block device".to_owned() } else { parts.join(", ") }
}

/// What the device is made of, where it is made of others.
fn layer(device: &DeviceInfo) -> Option<String> {
    let on = device.beneath.as_ref().map(|below| format!("on {}", name(below)));
    let words = [device.layer.clone(), on].into_iter().flatten().collect::<Vec<_>>();
    (!words.is_empty()).then(|| words.join(", "))
}

/// The make of what is no card.
fn make(section: &mut Section, device: &DeviceInfo) {
    let name = [device.vendor.as_deref(), device.model.as_deref()];
    let name = name.into_iter().flatten().collect::<Vec<_>>().join(" ");
    section.some("Model", (!name.is_empty()).then_some(name));
    section.some("Revision", device.revision.clone());
}

fn registers(section: &mut Section, card: &CardInfo, identity: &Identity, show_serial: bool) {
    section.some("Product", card.product.clone());
    let products = card.products_maybe.join("; or ");
    section.some("Sold as", (!products.is_empty()).then(|| format!("perhaps {products}")));
    section.some("Maker", maker(card));
    section.some("Revision", revision(card));
    section.some("Serial number", serial(identity, show_serial));
    section.some("Made", card.manufactured.clone());
    section.some("Specification", card.specification.clone());
    section.some("Claims", claims(card.claims));
    section.some("Allocation unit", card.allocation_unit_bytes.map(|unit| unit.to_string()));
    section.some("Write protection", card.write_protected.map(words::state_of_protection));
}

fn maker(card: &CardInfo) -> Option<String> {
    let numbers = [card.manufacturer_id.as_deref(), card.oem_id.as_deref()];
    let numbers = numbers.into_iter().flatten().collect::<Vec<_>>().join("/");
    let name = card.maker_maybe.as_ref().map(|name| format!(", perhaps {name}"));
    (!numbers.is_empty()).then(|| {
        let name = name.unwrap_or_default();
        format!("{numbers}{name} (the number is of the maker of the controller or card, not of the brand)")
    })
}

fn revision(card: &CardInfo) -> Option<String> {
    let hardware = card.hardware_revision.map(|revision| format!("hardware {revision:#x}"));
    let product = card.product_revision.as_ref().map(|revision| format!("product {revision}"));
    let firmware = card.firmware_revision.as_ref().map(|revision| format!("firmware {revision}"));
    let parts: Vec<String> = [hardware, product, firmware].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

fn serial(identity: &Identity, show_serial: bool) -> Option<String> {
    let serial = identity.serial?;
    Some(if show_serial {
        serial.shown()
    } else {
        format!("{} (--show-serial shows it)", serial.masked())
    })
}

/// The classes that the card claims.
fn claims(claims: Claims) -> Option<String> {
    let classes = [
        ("C", claims.speed_class),
        ("U", claims.uhs_grade),
        ("V", claims.video_class),
        ("A", claims.application_class),
    ];
    let classes: Vec<String> = classes
        .iter()
        .filter_map(|(letter, class)| Some(format!("{letter}{}", (*class)?)))
        .collect();
    (!classes.is_empty()).then(|| format!("{} (claimed, not measured)", classes.join(" ")))
}

fn capacity(section: &mut Section, identity: &Identity) {
    let capacity = &identity.capacity;
    let size = capacity.kernel_bytes.or(capacity.register_bytes);
    let agreement = match (capacity.register_bytes, capacity.disagreements.is_empty()) {
        (Some(_), true) => "; the register, the kernel and the partitions give the same size",
        _ => "",
    };
    let size = size.filter(|&size| size > Bytes::ZERO);
    section.some("Capacity", size.map(|size| format!("{}{agreement}", words::size(size))));
    for disagreement in &capacity.disagreements {
        section.row("", format!("but {disagreement}"));
    }
    // Where sizes disagree nothing is said to fit.
    let is_sure = identity.device.lowest().card.is_some() && capacity.disagreements.is_empty();
    if let Some(size) = size.filter(|_| is_sure) {
        let is_sd = identity.device.lowest().transport == Some(Transport::Sd);
        section.row("Images", images(size, is_sd));
    }
}

/// Which images fit, to the byte: cards of one capacity class differ.
fn images(size: Bytes, is_sd: bool) -> String {
    let fits = format!("an image of up to {} bytes fits", size.get());
    match smaller_cards(size) {
        (known, smaller) if is_sd && smaller > 0 => format!(
            "{fits}; an image of this whole card does not fit on {smaller} of the {known} SD cards of this \
             class whose size is known"
        ),
        _ => fits,
    }
}

/// What is suspicious about a card, and what the kernel works around.
pub(super) fn suspicions(identity: &Identity) -> Section {
    let mut section = Section::new("Suspicions");
    let Some(suspicion) = &identity.suspicion else { return section };
    let words = match suspicion.grade {
        "none" => {
            "no sign of a counterfeit; only a test of the capacity can prove that it is genuine"
        }
        "weak" => "a weak suspicion; only a test of the whole capacity proves anything",
        _ => "a strong suspicion; only a test of the whole capacity proves anything",
    };
    section.row("Counterfeit", words);
    for sign in &suspicion.signs {
        section.row("", format!("- {sign}"));
    }
    for innocent in &suspicion.innocent_explanations {
        section.row("", format!("but {innocent}"));
    }
    if let Some(name) = identity.device.name.as_ref().filter(|_| suspicion.grade != "none") {
        section.row("", format!("test it: cardproof verify /dev/{name}"));
    }
    section
}
