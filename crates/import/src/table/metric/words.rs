//! Words of headings in the languages in which people type tables, in small letters.

/// Reads.
pub(super) const READ: [&str; 12] = [
    "read",
    "reads",
    "reading",
    "rd",
    "lesen",
    "lesend",
    "lecture",
    "lectura",
    "lettura",
    "leitura",
    "lezen",
    "чтение",
];
/// Writes.
pub(super) const WRITE: [&str; 13] = [
    "write",
    "writes",
    "writing",
    "wr",
    "schreiben",
    "schreibend",
    "ecriture",
    "écriture",
    "escritura",
    "scrittura",
    "escrita",
    "schrijven",
    "запись",
];
/// In order.
pub(super) const SEQUENTIAL: [&str; 9] = [
    "seq",
    "sequential",
    "sequentially",
    "sequentiell",
    "sequentielles",
    "séquentielle",
    "secuencial",
    "sequenziale",
    "sequencial",
];
/// At random.
pub(super) const RANDOM: [&str; 8] =
    ["rand", "random", "randomly", "rnd", "zufällig", "aléatoire", "aleatoria", "casuale"];
/// Words that say nothing of what was measured.
pub(super) const FILLERS: [&str; 35] = [
    "direct",
    "speed",
    "speeds",
    "rate",
    "rates",
    "throughput",
    "test",
    "tests",
    "performance",
    "result",
    "results",
    "benchmark",
    "avg",
    "average",
    "mean",
    "median",
    "access",
    "i",
    "o",
    "io",
    "in",
    "of",
    "by",
    "with",
    "at",
    "the",
    "per",
    "block",
    "blocks",
    "blocksize",
    "size",
    "bs",
    "and",
    "record",
    "records",
];
/// What a column of names is called.
pub(super) const NAMES: [&str; 23] = [
    "card",
    "cards",
    "device",
    "storage",
    "product",
    "brand",
    "drive",
    "disk",
    "medium",
    "media",
    "name",
    "label",
    "microsd",
    "sd",
    "usb",
    "stick",
    "ssd",
    "emmc",
    "karte",
    "test",
    "manufacturer",
    "make",
    "type",
];
/// What a column of computers is called.
pub(super) const HOSTS: [&str; 8] =
    ["host", "board", "computer", "machine", "sbc", "system", "hardware", "platform"];
