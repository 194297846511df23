//! Cards whose queue harms nothing, though some are slow, odd or fail at times.

use super::Device;

/// The cards.
pub(super) const CARDS: &[Device] = &[
    Device {
        name: "sound-queued",
        words: "a V30 A2 card with a queue",
        options: &["--queue"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
"#,
    },
    Device {
        name: "sound-fitted",
        words: "the fitted A2 card with a queue",
        options: &["--queue"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "sandisk-extreme-pro-a2-queued"
size = "64GB"
"#,
    },
    Device {
        name: "sound-slow",
        words: "a class 4 card without a queue",
        options: &["--queue"],
        right: &["sound", "undecided"],
        rare: None,
        card: r#"
base = "intenso-class-4"
"#,
    },
    Device {
        name: "sound-usb",
        words: "a USB stick",
        options: &["--queue"],
        right: &["sound", "undecided"],
        rare: None,
        card: r#"
base = "usb-stick"
size = "8GB"
"#,
    },
    Device {
        name: "sound-emmc",
        words: "an eMMC",
        options: &["--queue"],
        right: &["sound", "undecided"],
        rare: None,
        card: r#"
base = "samsung-emmc"
"#,
    },
    Device {
        name: "sound-no-queue",
        words: "a queue that would lose writes, in a computer that does not use it",
        options: &["--queue"],
        right: &["sound", "undecided"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[host]
queue_depth = 1
[queue]
harm = "lost-write"
"#,
    },
    Device {
        name: "sound-cache",
        words: "a volatile cache of 256 MiB",
        options: &["--queue"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[power]
volatile = "256MiB"
"#,
    },
    Device {
        name: "sound-small",
        words: "a card of 256 MiB",
        options: &["--queue"],
        right: &["sound", "undecided"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "256MiB"
"#,
    },
    Device {
        name: "sound-large",
        words: "a card of 2 TB",
        options: &["--queue"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "2TB"
"#,
    },
    Device {
        name: "sound-transient",
        words: "1 request in 1,000 fails once",
        options: &["--queue"],
        right: &["sound", "failing", "undecided"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[damage]
transient_share = 0.001
"#,
    },
    Device {
        name: "sound-ignores-flush",
        words: "flushes that do nothing, and no power cut",
        options: &["--queue"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[power]
flush = "ignored"
"#,
    },
    Device {
        name: "sound-mixed-discards",
        words: "discards among queued requests read as anything allowed",
        options: &["--queue", "--discard"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[discard]
reads = "mixed"
"#,
    },
];
