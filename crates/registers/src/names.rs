//! Which product an SD card may be, by the name that its CID register prints; and how the sizes of cards differ.
//!
//! The register's name and the product's are different keys: several products print one name, and one product
//! prints several. So what is found here is "perhaps", with the evidence beside it, and nothing is judged by it.
//! The rows are in `data/sd-names.csv`, with their sources in the lines above them.

use std::sync::LazyLock;

use cardproof_units::Bytes;

/// A card that was seen: what its register prints, and what it was sold as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownCard {
    /// The manufacturer's number.
    pub manufacturer_id: u8,
    /// The OEM's number.
    pub oem_id: u16,
    /// The name in the register.
    pub name: &'static str,
    /// The capacity printed on it, in GB (10^9 bytes).
    pub capacity_gb: Option<u64>,
    /// The exact capacity.
    pub size: Option<Bytes>,
    /// What it was sold as.
    pub product: &'static str,
    /// Where that was published, as the data file calls it.
    pub source: &'static str,
}

const TABLE: &str = include_str!("../data/sd-names.csv");

static CARDS: LazyLock<Vec<KnownCard>> =
    LazyLock::new(|| TABLE.lines().filter_map(KnownCard::read).collect());

impl KnownCard {
    /// The card in a line of the table; `None` for its head.
    fn read(line: &'static str) -> Option<Self> {
        let mut cells = line.split(',');
        let mut hex = || u16::from_str_radix(cells.next()?.strip_prefix("0x")?, 16).ok();
        let (manufacturer_id, oem_id) = (hex()?.try_into().ok()?, hex()?);
        let mut cell = || cells.next();
        let (name, capacity_gb, size) = (cell()?, cell()?.parse().ok(), cell()?.parse().ok());
        let (product, _made, source) = (cell()?, cell()?, cell()?);
        Some(Self {
            manufacturer_id,
            oem_id,
            name,
            capacity_gb,
            size: size.map(Bytes),
            product,
            source,
        })
    }

    /// The product with its doubt, such as `SanDisk Extreme A2 (one such card was seen: bahjeez.com)`.
    #[must_use]
    pub fn words(&self) -> String {
        let seen = match self.source {
            "owner" => "an owner's word, not published".to_owned(),
            source => format!("one such card was seen: {source}"),
        };
        format!("{} ({seen})", self.product)
    }
}

/// All cards of the table.
#[must_use]
pub fn known_cards() -> &'static [KnownCard] {
    &CARDS
}

/// The cards that print these numbers and this name. Of those that have a capacity, only the ones of about `size`
/// where that is known.
#[must_use]
pub fn sd_products(
    manufacturer_id: u8,
    oem_id: u16,
    name: &str,
    size: Option<Bytes>,
) -> Vec<&'static KnownCard> {
    let fits = |card: &&KnownCard| {
        let is_of_size = match (card.capacity_gb, size) {
            (Some(gb), Some(size)) => class_gb(size) == Some(gb),
            _ => true,
        };
        (card.manufacturer_id, card.oem_id) == (manufacturer_id, oem_id)
            && card.name == name
            && is_of_size
    };
    CARDS.iter().filter(fits).collect()
}

/// The capacity in GB that is printed on a card of `size`: the power of two that is at most a tenth above it and
/// at most a hundredth below. `None` where there is none.
#[must_use]
pub fn class_gb(size: Bytes) -> Option<u64> {
    let gb = size.as_f64() / 1e9;
    (0..16).map(|power| 1_u64 << power).find(|&class| {
        let class = class as f64;
        (0.9 * class..=1.01 * class).contains(&gb)
    })
}

/// How many cards of the table have the capacity class of `size`, and how many of them are smaller: an image of
/// `size` does not fit on those.
#[must_use]
pub fn smaller_cards(size: Bytes) -> (usize, usize) {
    let class = class_gb(size);
    let same: Vec<Bytes> = CARDS
        .iter()
        .filter(|card| class.is_some() && card.capacity_gb == class)
        .filter_map(|card| card.size)
        .collect();
    (same.len(), same.iter().filter(|other| **other < size).count())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_table_is_a_card_with_a_source() {
        let lines = TABLE.lines().filter(|line| line.starts_with("0x")).count();
        assert!(lines >= 25);
        assert_eq!(CARDS.len(), lines);
        let head: String = TABLE.lines().filter(|line| line.starts_with('#')).collect();
        for card in known_cards() {
            let name = card.source.split(' ').next().unwrap();
            assert!(head.contains(name), "{card:?}");
            assert!(!card.product.is_empty() && card.name.len() <= 5, "{card:?}");
            if let (Some(size), Some(gb)) = (card.size, card.capacity_gb) {
                assert_eq!(class_gb(size), Some(gb), "{card:?}");
            }
        }
    }

    #[test]
    fn a_register_name_is_no_product_name() {
        let products = |id, oem, name, gb: f64| -> Vec<&str> {
            let cards = sd_products(id, oem, name, Some(Bytes((gb * 1e9) as u64)));
            cards.iter().map(|card| card.product).collect()
        };
        assert_eq!(products(0x1b, 0x534d, "EE4S5", 256.0), ["Samsung EVO Plus"]);
        assert_eq!(products(0x03, 0x5344, "SN64G", 63.86), ["SanDisk Extreme A2"]);
        // Phison's number and name are those of PNY and of others.
        assert_eq!(products(0x27, 0x5048, "SD16G", 15.59), ["PNY"]);
        assert_eq!(products(0x41, 0x5048, "SD16G", 15.59), [""; 0]);
        assert_eq!(products(0x03, 0x5344, "SN64G", 31.9), [""; 0], "another size");
    }

    #[test]
    fn an_image_of_a_large_card_does_not_fit_on_smaller_ones_of_its_class() {
        let (all, smaller) = smaller_cards(Bytes(63_864_569_856));
        assert!(all >= 6 && smaller >= 4 && smaller < all, "{smaller} of {all}");
        assert_eq!(smaller_cards(Bytes(62_224_596_992)).1, 0, "the smallest of them");
        assert_eq!(smaller_cards(Bytes(3 << 40)), (0, 0));
    }
}
