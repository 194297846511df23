//! Signs of a counterfeit in an SD card's numbers, name, serial number and capacity.
//!
//! They are a suspicion and never more: genuine cards show each of them, and a counterfeit may
//! show none. Only reading back what was written over the whole capacity proves anything, so no
//! verdict is built on this, and the words here are "sign" and "suspicion". The signs and the
//! genuine cards that show them are gathered from public collections of card registers.

use cardproof_units::Bytes;

use crate::Serial;

/// Product names that no maker of note writes: left empty, or a controller's default.
const NAMELESS: [&str; 4] = ["00000", "SMI", "ASTC", "AS"];

/// Manufacturer's numbers that are not given out or belong to nobody known.
const NOT_ASSIGNED: [u8; 3] = [0x00, 0x12, 0xff];

/// The OEM's number `42` and the one manufacturer that owns it.
const OEM_42: (u16, u8) = (0x3432, 0x41);

/// How far the capacity may be from the number in the name, in percent of it: makers count in
/// powers of ten or of two, and keep some blocks back.
const NAMED_PERCENT: std::ops::RangeInclusive<u64> = 85..=110;

/// Genuine cards that show such signs: the manufacturer's number, the product's name where it
/// matters, and whose they are.
const INNOCENT: [(u8, Option<&str>, &str); 6] = [
    (0x12, Some("ASTC"), "genuine Gigastone cards look so"),
    (0x9f, Some("00000"), "some genuine Gigastone cards look so"),
    (0x00, None, "some genuine Gigastone cards have this number"),
    (0x1d, None, "some genuine ADATA cards look so"),
    (0x27, None, "some genuine cards by Phison look so"),
    (0x74, None, "some genuine old Transcend cards look so"),
];

/// What is known of a card. What is not known is no sign.
#[derive(Clone, Copy, Debug, Default)]
pub struct Evidence<'card> {
    /// The manufacturer's number.
    pub manufacturer_id: Option<u8>,
    /// The OEM's number.
    pub oem_id: Option<u16>,
    /// The product's name.
    pub product: Option<&'card str>,
    /// The serial number.
    pub serial: Option<Serial>,
    /// The capacity by the CSD register.
    pub register_capacity: Option<Bytes>,
    /// The size of the block device.
    pub device_size: Option<Bytes>,
}

/// How strong a suspicion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// There is no sign.
    None,
    /// There is one sign, or several that genuine cards of these numbers are known to show.
    Weak,
    /// There are several signs, or the capacity contradicts itself.
    Strong,
}

/// A suspicion with its reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suspicion {
    /// How strong it is.
    pub grade: Grade,
    /// Each sign, in words.
    pub signs: Vec<String>,
    /// Genuine cards that show such signs, in words; empty without signs.
    pub innocent_explanations: Vec<&'static str>,
}

/// Weighs the signs.
#[must_use]
pub fn suspect(evidence: &Evidence<'_>) -> Suspicion {
    let weak = weak_signs(evidence);
    let strong = contradictions(evidence);
    let explanations = explanations(evidence);
    let grade = match (weak.len(), strong.len()) {
        (0, 0) => Grade::None,
        (1, 0) => Grade::Weak,
        (_, 0) if !explanations.is_empty() => Grade::Weak,
        _ => Grade::Strong,
    };
    let innocent_explanations = if grade == Grade::None { Vec::new() } else { explanations };
    Suspicion { grade, signs: [strong, weak].concat(), innocent_explanations }
}

/// Signs each of which genuine cards show as well.
fn weak_signs(evidence: &Evidence<'_>) -> Vec<String> {
    [serial_sign(evidence), name_sign(evidence), maker_sign(evidence), oem_sign(evidence)]
        .into_iter()
        .flatten()
        .collect()
}

fn serial_sign(evidence: &Evidence<'_>) -> Option<String> {
    let serial = evidence.serial?;
    if serial.is_zero() {
        return Some("the serial number is zero".to_owned());
    }
    serial.is_low().then(|| "the upper half of the serial number is zero".to_owned())
}

fn name_sign(evidence: &Evidence<'_>) -> Option<String> {
    let product = evidence.product?;
    if product.is_empty() {
        return Some("the name of the product is empty".to_owned());
    }
    NAMELESS.contains(&product).then(|| format!("'{product}' is no maker's name of a product"))
}

fn maker_sign(evidence: &Evidence<'_>) -> Option<String> {
    let id = evidence.manufacturer_id?;
    NOT_ASSIGNED
        .contains(&id)
        .then(|| format!("manufacturer's number {id:#04x} belongs to no known maker"))
}

fn oem_sign(evidence: &Evidence<'_>) -> Option<String> {
    let (oem_id, owner) = OEM_42;
    let is_borrowed = evidence.oem_id? == oem_id && evidence.manufacturer_id? != owner;
    is_borrowed.then(|| {
        format!("OEM's number {oem_id:#06x} goes with manufacturer {owner:#04x} on genuine cards")
    })
}

/// Capacities that contradict one another.
fn contradictions(evidence: &Evidence<'_>) -> Vec<String> {
    [name_contradiction(evidence), size_contradiction(evidence)].into_iter().flatten().collect()
}

fn name_contradiction(evidence: &Evidence<'_>) -> Option<String> {
    let product = evidence.product?;
    let capacity = evidence.register_capacity.or(evidence.device_size)?;
    let named_gb = named_gb(product)?;
    let percent = capacity.get() / (named_gb * 10_000_000);
    (!NAMED_PERCENT.contains(&percent))
        .then(|| format!("the name '{product}' says {named_gb} GB, and the capacity is {capacity}"))
}

fn size_contradiction(evidence: &Evidence<'_>) -> Option<String> {
    let (register, device) = (evidence.register_capacity?, evidence.device_size?);
    (register != device)
        .then(|| format!("the card's register says {register}, and the system sees {device}"))
}

/// The number of gigabytes in a name such as `SD64G`: digits just before a G.
fn named_gb(product: &str) -> Option<u64> {
    let (before, _) = product.split_once('G')?;
    let start = before.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    before[start..].parse().ok().filter(|gb| (1..=8192).contains(gb))
}

/// The genuine cards that could have these signs.
fn explanations(evidence: &Evidence<'_>) -> Vec<&'static str> {
    INNOCENT
        .iter()
        .filter(|(id, product, _)| {
            evidence.manufacturer_id == Some(*id)
                && (product.is_none() || *product == evidence.product)
        })
        .map(|&(_, _, words)| words)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A card whose numbers, name and capacity are in order.
    fn genuine() -> Evidence<'static> {
        Evidence {
            manufacturer_id: Some(0x03),
            oem_id: Some(0x5344),
            product: Some("SN64G"),
            serial: Some(Serial::new(0x7e65_0771)),
            register_capacity: Some(Bytes(63_864_569_856)),
            device_size: Some(Bytes(63_864_569_856)),
        }
    }

    fn grade(change: impl Fn(&mut Evidence<'static>)) -> (Grade, usize) {
        let mut evidence = genuine();
        change(&mut evidence);
        let suspicion = suspect(&evidence);
        for sign in &suspicion.signs {
            assert!(!sign.contains("fake"), "{sign}");
        }
        (suspicion.grade, suspicion.signs.len())
    }

    #[test]
    fn a_card_in_order_and_an_unknown_one_have_no_sign() {
        assert_eq!(grade(|_| {}), (Grade::None, 0));
        assert_eq!(suspect(&Evidence::default()).grade, Grade::None);
    }

    #[test]
    fn one_sign_is_weak() {
        assert_eq!(grade(|e| e.serial = Some(Serial::new(0))), (Grade::Weak, 1));
        assert_eq!(grade(|e| e.serial = Some(Serial::new(0xffff))), (Grade::Weak, 1));
        assert_eq!(grade(|e| e.serial = Some(Serial::new(0x1_0000))), (Grade::None, 0));
        assert_eq!(grade(|e| e.product = Some("SMI")), (Grade::Weak, 1));
        assert_eq!(grade(|e| e.manufacturer_id = Some(0xff)), (Grade::Weak, 1));
        assert_eq!(grade(|e| e.oem_id = Some(0x3432)), (Grade::Weak, 1));
    }

    #[test]
    fn the_oems_number_is_no_sign_with_its_owner() {
        let kingston = |e: &mut Evidence<'_>| {
            (e.manufacturer_id, e.oem_id) = (Some(0x41), Some(0x3432));
        };
        assert_eq!(grade(kingston), (Grade::None, 0));
    }

    #[test]
    fn two_signs_are_strong_unless_genuine_cards_are_known_to_show_them() {
        let nameless = |e: &mut Evidence<'_>| {
            (e.product, e.serial) = (Some("00000"), Some(Serial::new(0x12)));
        };
        assert_eq!(grade(nameless), (Grade::Strong, 2));
        let gigastone = Evidence {
            manufacturer_id: Some(0x12),
            oem_id: Some(0x3456),
            product: Some("ASTC"),
            serial: Some(Serial::new(0x123)),
            ..Evidence::default()
        };
        let suspicion = suspect(&gigastone);
        assert_eq!((suspicion.grade, suspicion.signs.len()), (Grade::Weak, 3));
        assert_eq!(suspicion.innocent_explanations, ["genuine Gigastone cards look so"]);
    }

    #[test]
    fn capacities_that_contradict_are_strong() {
        let small = Some(Bytes(7_948_206_080));
        let named = |e: &mut Evidence<'_>| (e.register_capacity, e.device_size) = (small, small);
        assert_eq!(grade(named), (Grade::Strong, 1));
        assert_eq!(grade(|e| e.device_size = small), (Grade::Strong, 1));
    }

    #[test]
    fn a_capacity_in_a_name_is_digits_before_a_g() {
        for (product, expected) in [
            ("SD64G", Some(64)),
            ("SU08G", Some(8)),
            ("0016G", Some(16)),
            ("SN128", None),
            ("GB1QT", None),
            ("QEMU!", None),
            ("00G", None),
            ("", None),
        ] {
            assert_eq!(named_gb(product), expected, "{product}");
        }
    }
}
