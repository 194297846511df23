//! Reference cards: published measurements of others, as records to compare with.
//!
//! The figures are in the crate of facts and in `data/*.csv`, one table a source, with the source and
//! its method in the lines above; here they become records as an imported log does: the tool is the one that measured, the
//! rates are stated and have no interval, and what the source does not tell is absent. Nothing is
//! corrected, but units are told apart: KiB/s that a source calls KB/s are KiB/s.

mod express;
mod rates;
mod records;
mod table;
mod wide;

use std::sync::LazyLock;

use cardproof_record::Record;

use table::Table;

pub use express::{EXPRESS_TESTS, ExpressRun, express_runs};
pub use rates::{PublishedRates, published_rates};

/// What the id of such a record begins with.
pub(crate) const ID_PREFIX: &str = "ref:";

/// A published measurement.
#[derive(Clone, Debug)]
pub struct ReferenceCard {
    /// Its unique name, such as `sandisk-extreme-a1`.
    pub name: String,
    /// The table it stands in, such as `sd-card-bench-2018`.
    pub table: &'static str,
    /// Who published it, where and when.
    pub source: String,
    /// What was measured.
    pub record: Record,
}

/// The tables that ship with the program.
const TABLES: [(&str, &str); 10] = [
    ("iozone-rpi3-2018", include_str!("../data/iozone-rpi3-2018.csv")),
    ("fio-mixed-rpi3-2018", include_str!("../data/fio-mixed-rpi3-2018.csv")),
    ("microsd-benchmarks-pi", include_str!("../data/microsd-benchmarks-pi.csv")),
    ("fsync-by-filesystem", include_str!("../data/fsync-by-filesystem.csv")),
    ("fio-pi5-2024", include_str!("../data/fio-pi5-2024.csv")),
    ("iozone-pi-ssd", include_str!("../data/iozone-pi-ssd.csv")),
    ("iozone-cards-2018-2022", include_str!("../data/iozone-cards-2018-2022.csv")),
    ("emmc-modules-2025", include_str!("../data/emmc-modules-2025.csv")),
    ("express-2025", include_str!("../data/express-2025.csv")),
    ("dd-rpi-2019", include_str!("../data/dd-rpi-2019.csv")),
];

static REFERENCES: LazyLock<Vec<ReferenceCard>> = LazyLock::new(|| {
    let tables = TABLES.iter().flat_map(|(name, text)| records::of(name, &Table::read(text)));
    records::published_cards().chain(tables).collect()
});

/// All published measurements, in the order of their tables.
#[must_use]
pub fn references() -> &'static [ReferenceCard] {
    &REFERENCES
}

/// Whether `record` is one of these.
pub(crate) fn is_published(record: &Record) -> bool {
    record.id.strip_prefix(ID_PREFIX).is_some_and(|name| find_reference(name).is_some())
}

/// The published measurement called `name`.
#[must_use]
pub fn find_reference(name: &str) -> Option<&'static ReferenceCard> {
    references().iter().find(|card| card.name.eq_ignore_ascii_case(name))
}
