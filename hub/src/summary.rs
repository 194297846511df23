//! What the database keeps of a record beside its document: which card, which host, the figures, the doubts.
//!
//! All of it follows from the document, so that it can be made again by better rules.

use cardproof_rating::compare::{CardFigures, Contender, figures};
use cardproof_rating::doubts;
use cardproof_record::{DeviceInfo, Record};
use serde::{Deserialize, Serialize};

use crate::secret::hash;

/// Where a record comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Measured by cardproof.
    Measured,
    /// Read from another tool's output.
    Imported,
    /// Measured on a simulated card.
    Simulated,
    /// Published by others, and read from their tables.
    Published,
}

impl Origin {
    /// Its word in the database and in answers.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Imported => "imported",
            Self::Simulated => "simulated",
            Self::Published => "published",
        }
    }

    /// The origin with the word `word`; measured where there is none.
    #[must_use]
    pub fn of_word(word: &str) -> Self {
        let all = [Self::Measured, Self::Imported, Self::Simulated, Self::Published];
        all.into_iter().find(|origin| origin.word() == word).unwrap_or(Self::Measured)
    }

    /// Where `record` comes from; `source` names a publication.
    #[must_use]
    pub fn of(record: &Record, source: Option<&str>) -> Self {
        match source {
            Some(_) => Self::Published,
            None if record.is_simulated() => Self::Simulated,
            None if record.is_imported() => Self::Imported,
            None => Self::Measured,
        }
    }
}

/// A card model: what tells one product from another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// Its name in addresses.
    pub key: String,
    /// What people call it.
    pub name: String,
    /// Its maker, where the registers or the model's name tell.
    pub maker: Option<String>,
    /// The product name in its registers.
    pub product: Option<String>,
    /// The manufacturer's number in its registers.
    pub manufacturer_id: Option<String>,
    /// The letters of the OEM.
    pub oem_id: Option<String>,
    /// Its hardware and firmware revisions.
    pub revision: Option<String>,
    /// How it is attached.
    pub transport: Option<String>,
    /// Its capacity in bytes.
    pub capacity_bytes: Option<i64>,
}

impl Model {
    /// As JSON.
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// What it is called as long as too few agree with what its senders have written: by numbers alone.
    #[must_use]
    pub fn plain_name(&self) -> String {
        let digits = self.key.rsplit('-').next().unwrap_or_default();
        match gigabytes(self.capacity_bytes) {
            0 => format!("Card no. {digits}"),
            size => format!("Card no. {digits}, {size} GB"),
        }
    }

    /// The capacity as it is sold, in GB; 0 where it is not known.
    #[must_use]
    pub fn gigabytes(&self) -> i64 {
        gigabytes(self.capacity_bytes)
    }
}

/// A figure by which cards are chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The quantity, such as `random_write`.
    pub quantity: String,
    /// The rate, in operations or bytes a second.
    pub rate: f64,
    /// The interval's ends.
    pub between: Option<[f64; 2]>,
    /// Why nothing may be built on it, where that is so.
    pub doubt: Option<String>,
}

/// What is kept of a record.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The card.
    pub model: Model,
    /// The host's name in addresses.
    pub host: String,
    /// The host in words.
    pub host_name: String,
    /// When the card was made, as it says: its lot.
    pub lot: Option<String>,
    /// Where the record comes from.
    pub origin: Origin,
    /// How it was measured: only figures of one basis are compared.
    pub basis: String,
    /// The figures.
    pub figures: Vec<Figure>,
    /// The doubts, in words.
    pub doubts: Vec<String>,
}

/// What is kept of `record`, which `source` has published where it is given.
#[must_use]
pub fn summary(record: &Record, source: Option<&str>) -> Summary {
    let origin = Origin::of(record, source);
    let host_name = host_name(record);
    let device = record.conditions.device.lowest();
    let contender = Contender { name: String::new(), runs: vec![record], price: None };
    let CardFigures { basis, figures, .. } = figures(&contender);
    let mut told: Vec<String> = doubts(record).iter().map(|doubt| doubt.text(record)).collect();
    told.dedup();
    told.truncate(32);
    Summary {
        model: model(device, origin),
        host: host_key(&host_name),
        host_name,
        lot: device.card.as_ref().and_then(|card| card.manufactured.clone()),
        origin,
        basis: basis.to_string(),
        figures: figures
            .into_iter()
            .filter(|figure| figure.rate.is_finite())
            .map(|figure| Figure {
                quantity: quantity(figure.column),
                rate: figure.rate,
                between: figure.between.filter(|ends| ends.iter().all(|end| end.is_finite())),
                doubt: figure.doubt.map(|doubt| doubt.to_string()),
            })
            .collect(),
        doubts: told,
    }
}

/// The word of a column in the database.
#[must_use]
pub fn quantity(column: cardproof_rating::compare::Column) -> String {
    let word = serde_json::to_value(column).ok();
    word.and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

fn host_name(record: &Record) -> String {
    if record.is_simulated() {
        return "simulated host".to_owned();
    }
    let host = &record.conditions.host;
    if let Some(board) = &host.board {
        return board.split(" Rev ").next().unwrap_or(board).to_owned();
    }
    match (&host.architecture, host.cpus) {
        (Some(architecture), Some(cpus)) => format!("{architecture}, {cpus} CPUs"),
        (Some(architecture), None) => architecture.clone(),
        _ => "unknown host".to_owned(),
    }
}

fn model(device: &DeviceInfo, origin: Origin) -> Model {
    let card = device.card.as_ref();
    let product = card.and_then(|card| card.product.clone());
    let maker = card.and_then(|card| card.maker_maybe.clone()).or_else(|| device.vendor.clone());
    let hardware = card.and_then(|card| card.hardware_revision);
    let firmware = card.and_then(|card| card.firmware_revision.clone());
    let of_registers =
        card.and_then(|card| card.product_revision.clone()).or(match (hardware, firmware) {
            (Some(hardware), Some(firmware)) => Some(format!("{hardware}.{firmware}")),
            (hardware, firmware) => hardware.map(|it| it.to_string()).or(firmware),
        });
    let capacity = device.size_bytes.or(card.and_then(|card| card.capacity_bytes));
    let capacity_bytes = capacity.and_then(|bytes| i64::try_from(bytes.get()).ok());
    let mut model = Model {
        key: String::new(),
        name: String::new(),
        maker,
        product,
        manufacturer_id: card.and_then(|card| card.manufacturer_id.clone()),
        oem_id: card.and_then(|card| card.oem_id.clone()),
        revision: of_registers.or_else(|| device.revision.clone()),
        transport: device.transport.as_ref().map(|transport| transport.as_str().to_owned()),
        capacity_bytes,
    };
    model.name = name(device, &model);
    if origin == Origin::Simulated {
        model.name.push_str(", simulated");
    }
    let kind = if origin == Origin::Simulated { "sim" } else { "card" };
    let identity = serde_json::json!([
        kind,
        model.manufacturer_id,
        model.oem_id,
        model.product,
        model.revision,
        device.model,
        device.vendor,
        gigabytes(capacity_bytes),
    ]);
    let digits: String = hash(&identity.to_string()).chars().take(8).collect();
    model.key = format!("{}-{digits}", slug(&format!("{kind} {}", model.name)));
    if let Some(sold) = cardproof_report::sold_as(device) {
        model.name = format!("{} (perhaps {sold})", model.name);
    }
    model
}

/// The capacity as it is sold, so that cards of one size are one although a few blocks differ.
fn gigabytes(bytes: Option<i64>) -> i64 {
    let exact = bytes.unwrap_or(0) / 1_000_000_000;
    let sold = [1, 2, 4, 8, 16, 32, 64, 128, 256, 400, 512, 1000, 1024, 2000, 2048, 4000];
    sold.into_iter().find(|size| exact <= *size && exact * 100 >= size * 86).unwrap_or(exact)
}

fn name(device: &DeviceInfo, model: &Model) -> String {
    let size = match gigabytes(model.capacity_bytes) {
        0 => String::new(),
        size => format!(", {size} GB"),
    };
    if let (None, Some(whole)) = (&model.product, &device.model) {
        let whole = match (&device.vendor, whole) {
            (Some(vendor), whole) if !whole.starts_with(vendor.as_str()) => {
                format!("{vendor} {whole}")
            }
            _ => whole.clone(),
        };
        return if whole.contains(" GB") { whole } else { format!("{whole}{size}") };
    }
    let parts = [&model.maker, &model.product, &model.revision];
    let words: Vec<&str> = parts.iter().filter_map(|part| part.as_deref()).collect();
    if words.is_empty() {
        format!("unnamed storage{size}")
    } else {
        format!("{}{size}", words.join(" "))
    }
}

/// `text` as a part of an address: small letters, digits and dashes, at most 60.
#[must_use]
pub fn slug(text: &str) -> String {
    slug_of(text, 60)
}

/// The name of a host in addresses: its [`slug`], and a hash where letters are not in that, so that boards with other
/// names have other addresses.
#[must_use]
pub fn host_key(name: &str) -> String {
    let slug = slug(name);
    if name.is_ascii() && !slug.is_empty() && slug == slug_of(name, usize::MAX) {
        return slug;
    }
    let digits: String = hash(name).chars().take(8).collect();
    format!("{}-{digits}", if slug.is_empty() { "host" } else { &slug })
}

fn slug_of(text: &str, length_max: usize) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_lowercase() || c.is_ascii_digit() => slug.push(c),
            '+' => slug.push_str("-plus"),
            _ if !slug.ends_with('-') && !slug.is_empty() => slug.push('-'),
            _ => {}
        }
        if slug.len() >= length_max {
            break;
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_parts_of_addresses() {
        assert_eq!(slug("Samsung EVO+ 2016, 32 GB"), "samsung-evo-plus-2016-32-gb");
        assert_eq!(slug("../<script>"), "script");
        assert_eq!(slug(""), "");
        assert!(slug(&"x y".repeat(100)).len() <= 65);
    }

    #[test]
    fn hosts_with_other_letters_have_other_addresses() {
        assert_eq!(host_key("Raspberry Pi 4 Model B"), "raspberry-pi-4-model-b");
        let long = "Board of a maker with a long name, revision ".repeat(2);
        let names = [
            "ラズパイ",
            "树莓派",
            "Raspberry",
            "Raspberry ラズパイ",
            "",
            &format!("{long}1"),
            &format!("{long}2"),
        ];
        let keys: std::collections::HashSet<String> = names.map(host_key).into();
        assert_eq!(keys.len(), names.len(), "{keys:?}");
        let is_of_address =
            |key: &String| !key.is_empty() && *key == slug_of(key, 80) && key.len() <= 80;
        assert!(keys.iter().all(is_of_address), "{keys:?}");
    }

    #[test]
    fn capacities_are_those_that_are_sold() {
        assert_eq!(gigabytes(Some(31_914_983_424)), 32);
        assert_eq!(gigabytes(Some(127_865_454_592)), 128);
        assert_eq!(gigabytes(None), 0);
    }

    #[test]
    fn references_become_models_with_figures() {
        let mut keys = std::collections::HashSet::new();
        for card in cardproof_rating::references() {
            let summary = summary(&card.record, Some(&card.source));
            assert_eq!(summary.origin, Origin::Published);
            keys.insert(summary.model.key);
        }
        assert!(keys.len() > 20, "{}", keys.len());
    }
}
