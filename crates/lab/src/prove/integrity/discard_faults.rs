//! Cards whose discards harm data, bring data back or do nothing.

use super::{Device, Rare};

/// The cards.
pub(super) const CARDS: &[Device] = &[
    Device {
        name: "rounds-out",
        words: "a discard is rounded outward to 64 KiB",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "rounds-out"
share = 1.0
reach = "64KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "rounds-out-unit",
        words: "a discard is rounded outward to 4 MiB, 1 in 50",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "rounds-out"
share = 0.02
reach = "4MiB"
reads = "zeros"
"#,
    },
    Device {
        name: "rounds-out-ones",
        words: "the same to 16 KiB, 1 in 100, and reads as 255",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "rounds-out"
share = 0.01
reach = "16KiB"
reads = "ones"
"#,
    },
    Device {
        name: "rounds-out-sector",
        words: "a discard takes 512 bytes beside it, 1 in 150",
        options: &["--discard"],
        right: &["harms_data"],
        rare: Some(Rare { share: 0.0066, bound: "bound" }),
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "neighbours"
share = 0.0066
reach = "512B"
reads = "zeros"
"#,
    },
    Device {
        name: "large-neighbours",
        words: "a discard of 4 MiB and more takes 64 KiB on either side",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "large-neighbours"
reach = "64KiB"
"#,
    },
    Device {
        name: "comes-back",
        words: "the old data are back after the next flush",
        options: &["--discard"],
        right: &["returns_old_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "comes-back"
share = 0.1
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "comes-back-rare",
        words: "the same, 1 discard in 100",
        options: &["--discard"],
        right: &["returns_old_data"],
        rare: Some(Rare { share: 0.01, bound: "bound" }),
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "comes-back"
share = 0.01
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "comes-back-later",
        words: "the old data are back after four flushes",
        options: &["--discard"],
        right: &["returns_old_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "comes-back-later"
share = 0.1
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "kills-next-write",
        words: "a discard over a boundary of 64 KiB loses the next write",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "kills-next-write"
share = 1.0
reach = "64KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "kills-next-rare",
        words: "the same, 1 discard in 20 over a boundary of 4 KiB",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "kills-next-write"
share = 0.05
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "loses-latest",
        words: "a discard loses the latest write that was not flushed",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "loses-latest"
share = 0.05
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "loses-latest-ones",
        words: "the same on a card whose discards read as 255",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "loses-latest"
share = 0.05
reach = "4KiB"
reads = "ones"
"#,
    },
    Device {
        name: "halves-next",
        words: "the first write to a discarded place keeps its first half",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "halves-next-write"
share = 0.05
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "frays-rewrite",
        words: "the first write to a discarded place loses its last sector",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "frays-rewrite"
share = 0.02
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "reads-others",
        words: "a discarded place reads as the data of another",
        options: &["--discard"],
        right: &["harms_data", "returns_old_data", "undecided"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "reads-others"
share = 0.1
reach = "1MiB"
reads = "zeros"
"#,
    },
    Device {
        name: "shifted-far",
        words: "a discard takes a range 8 MiB further on",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "shifted"
share = 0.05
reach = "8MiB"
reads = "zeros"
"#,
    },
    Device {
        name: "late-ones",
        words: "a discard is done late, on a card that reads as 255",
        options: &["--discard"],
        right: &["harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "late"
share = 0.05
reach = "4KiB"
reads = "ones"
"#,
    },
    Device {
        name: "revives-rare",
        words: "1 discard in 100 loses the data written after it",
        options: &["--discard"],
        right: &["returns_old_data", "harms_data"],
        rare: None,
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "revives"
share = 0.01
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "ignored",
        words: "discards do nothing",
        options: &["--discard"],
        right: &["no_effect"],
        rare: Some(Rare { share: 1.0, bound: "bound" }),
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
harm = "ignored"
share = 1.0
reach = "4KiB"
reads = "zeros"
"#,
    },
    Device {
        name: "ignored-durable",
        words: "discards do nothing, on a high-endurance card",
        options: &["--discard"],
        right: &["no_effect"],
        rare: Some(Rare { share: 1.0, bound: "bound" }),
        card: r#"
base = "high-endurance"
size = "8GB"
[discard]
harm = "ignored"
"#,
    },
    Device {
        name: "old",
        words: "discarded places read as before, and the card has no more room for writes",
        options: &["--discard"],
        right: &["no_effect"],
        rare: Some(Rare { share: 1.0, bound: "bound" }),
        card: r#"
base = "v30-a2"
size = "8GB"
[discard]
reads = "old"
[model.discard]
frees_room = false
"#,
    },
];
