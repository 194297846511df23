//! Cards whose discards are what the promise allows.

use super::Device;

/// The cards.
pub(super) const CARDS: &[Device] = &[
    Device {
        name: "durable",
        words: "a high-endurance card",
        options: &["--discard"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "high-endurance"
size = "8GB"
"#,
    },
    Device {
        name: "zeros",
        words: "discarded places read as zeros",
        options: &["--discard"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "none"
share = 1.0
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "ones",
        words: "discarded places read as 255",
        options: &["--discard"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "none"
share = 1.0
reach = "4KiB"
reads = "ones"
"#,
    },
    Device {
        name: "old-frees",
        words: "discarded places read as before, and the card writes faster",
        options: &["--discard"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
reads = "old"
"#,
    },
    Device {
        name: "rounds-in",
        words: "only whole 64 KiB are discarded; the rest reads as before",
        options: &["--discard"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "rounds-in"
share = 1.0
reach = "64KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "rounds-in-unit",
        words: "only whole 512 KiB are discarded; the rest reads as before",
        options: &["--discard"],
        right: &["sound", "no_effect", "undecided"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "rounds-in"
share = 1.0
reach = "512KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "mixed",
        words: "each discard reads as zeros, as 255 or as before",
        options: &["--discard"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "none"
share = 1.0
reach = "4KiB"
reads = "mixed"
"#,
    },
    Device {
        name: "cached",
        words: "a volatile cache of 64 MiB",
        options: &["--discard"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "none"
share = 1.0
reach = "4KiB"
reads = "zeros"
[power]
volatile = "64MiB"
"#,
    },
    Device {
        name: "small",
        words: "a card of 256 MiB",
        options: &["--discard"],
        right: &["sound", "undecided"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "256MiB"
[discard]
harm = "none"
share = 1.0
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "large",
        words: "a card of 2 TB",
        options: &["--discard"],
        right: &["sound"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "2TB"
[discard]
harm = "none"
share = 1.0
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "slow",
        words: "a class 4 card that cannot discard",
        options: &["--discard"],
        right: &["unsupported"],
        rare: None,
        card: r#"
base = "intenso-class-4"
[discard]
reads = "ones"
"#,
    },
    Device {
        name: "transient",
        words: "1 request in 2,000 fails once",
        options: &["--discard"],
        right: &["sound", "failing", "undecided"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "none"
share = 1.0
reach = "4KiB"
reads = "zeros"
[damage]
transient_share = 0.0005
"#,
    },
];
