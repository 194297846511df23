//! Cards whose queue harms data, and cards that harm data without one.

use super::{Device, Rare};

/// The cards.
pub(super) const CARDS: &[Device] = &[
    Device {
        name: "swapped-blocks",
        words: "the first 4 KiB of two neighbouring queued writes change places",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "swapped-blocks"
share = 0.01
"#,
    },
    Device {
        name: "swapped-blocks-rare",
        words: "the same, 1 write in 10,000",
        options: &["--queue"],
        right: &["corrupts"],
        rare: Some(Rare { share: 0.0001, bound: "write_bound" }),
        card: r#"
base = "v30-a2-queued"
size = "64GB"
[queue]
harm = "swapped-blocks"
share = 0.0001
"#,
    },
    Device {
        name: "swapped-neighbours",
        words: "two queued writes at most 64 KiB apart change places",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "swapped-neighbours"
"#,
    },
    Device {
        name: "flush-drops-newest",
        words: "a flush drops the newest write while a read is under way",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "flush-drops-newest"
share = 0.1
"#,
    },
    Device {
        name: "flush-drops-newest-rare",
        words: "the same, 1 flush in 200",
        options: &["--queue"],
        right: &["corrupts"],
        rare: Some(Rare { share: 0.005, bound: "flush_bound" }),
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "flush-drops-newest"
share = 0.005
"#,
    },
    Device {
        name: "other-tag",
        words: "a read returns the data of another tag",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "other-tag"
share = 0.001
"#,
    },
    Device {
        name: "other-tag-rare",
        words: "the same, 1 read in 18,000",
        options: &["--queue"],
        right: &["corrupts"],
        rare: Some(Rare { share: 0.000055, bound: "read_bound" }),
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "other-tag"
share = 5.5e-05
"#,
    },
    Device {
        name: "torn-block",
        words: "a write keeps all but its last 2 KiB",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "2GiB"
[queue]
harm = "torn-block"
share = 0.001
"#,
    },
    Device {
        name: "torn-block-rare",
        words: "the same, 1 write in 20,000",
        options: &["--queue"],
        right: &["corrupts"],
        rare: Some(Rare { share: 0.00005, bound: "write_bound" }),
        card: r#"
base = "v30-a2-queued"
size = "2GiB"
[queue]
harm = "torn-block"
share = 5e-05
"#,
    },
    Device {
        name: "stale-cached",
        words: "the first read of data that are still cached returns the older data",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "stale-while-cached"
share = 0.01
"#,
    },
    Device {
        name: "stale-cached-rare",
        words: "the same, 1 read in 5,000",
        options: &["--queue"],
        right: &["corrupts"],
        rare: Some(Rare { share: 0.0002, bound: "read_bound" }),
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "stale-while-cached"
share = 0.0002
"#,
    },
    Device {
        name: "resent-stale",
        words: "an error is mended by sending again what the tag sent before",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "resent-stale"
share = 0.001
"#,
    },
    Device {
        name: "resent-stale-rare",
        words: "the same, 1 write in 20,000",
        options: &["--queue"],
        right: &["corrupts"],
        rare: Some(Rare { share: 0.00005, bound: "write_bound" }),
        card: r#"
base = "v30-a2-queued"
size = "64GB"
[queue]
harm = "resent-stale"
share = 5e-05
"#,
    },
    Device {
        name: "flipped-bit",
        words: "one bit of a write is turned over, only at depth 16 and more",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "flipped-bit"
share = 0.001
depth = 16
"#,
    },
    Device {
        name: "flipped-bit-rare",
        words: "one bit of 1 write in 10,000 is turned over",
        options: &["--queue"],
        right: &["corrupts"],
        rare: Some(Rare { share: 0.0001, bound: "write_bound" }),
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "flipped-bit"
share = 0.0001
"#,
    },
    Device {
        name: "shifted-write",
        words: "a write lies one sector further on",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "shifted-write"
share = 0.0005
"#,
    },
    Device {
        name: "read-spoils",
        words: "a read is right and spoils its place for later reads",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "read-spoils"
share = 0.0005
"#,
    },
    Device {
        name: "delayed-loss",
        words: "a write is taken back 4,000 requests later",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "delayed-loss"
share = 0.005
"#,
    },
    Device {
        name: "delayed-loss-rare",
        words: "the same, 1 write in 5,000",
        options: &["--queue"],
        right: &["corrupts"],
        rare: Some(Rare { share: 0.0002, bound: "write_bound" }),
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "delayed-loss"
share = 0.0002
"#,
    },
    Device {
        name: "forgets-earlier",
        words: "a flush takes back a write that was right after the flush before",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "flush-forgets-earlier"
share = 0.1
"#,
    },
    Device {
        name: "forgets-earlier-rare",
        words: "the same, 1 flush in 200",
        options: &["--queue"],
        right: &["corrupts"],
        rare: Some(Rare { share: 0.005, bound: "flush_bound" }),
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "flush-forgets-earlier"
share = 0.005
"#,
    },
    Device {
        name: "full-queue",
        words: "a write is lost with a full queue of 32",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "lost-write"
share = 0.0005
depth = 32
"#,
    },
    Device {
        name: "after-flush",
        words: "the two requests after a flush are lost",
        options: &["--queue"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "lost-write"
share = 0.01
after_flush = 2
"#,
    },
    Device {
        name: "discard-hits-write",
        words: "a discard empties the place of a queued write",
        options: &["--queue", "--discard"],
        right: &["corrupts"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "discard-hits-write"
share = 0.1
"#,
    },
    Device {
        name: "alone-too",
        words: "1 write in 100 is lost, alone too",
        options: &["--queue"],
        right: &["corrupts_without_queue", "undecided"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "lost-write"
share = 0.01
depth = 1
"#,
    },
    Device {
        name: "alone-too-rare",
        words: "1 write in 10,000 is lost, alone too",
        options: &["--queue"],
        right: &["corrupts_without_queue", "undecided"],
        rare: Some(Rare { share: 0.0001, bound: "write_bound" }),
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "lost-write"
share = 0.0001
depth = 1
"#,
    },
    Device {
        name: "alone-reads-rare",
        words: "1 read in 10,000 returns older data, alone too",
        options: &["--queue"],
        right: &["corrupts_without_queue", "undecided"],
        rare: Some(Rare { share: 0.0001, bound: "read_bound" }),
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[queue]
harm = "stale-read"
share = 0.0001
depth = 1
"#,
    },
    Device {
        name: "damaged",
        words: "damaged flash turns bits over",
        options: &["--queue"],
        right: &["corrupts_without_queue", "undecided", "failing"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
[damage]
share = 0.001
gives = "flipped-bits"
"#,
    },
    Device {
        name: "fake",
        words: "a fake that wraps",
        options: &["--queue"],
        right: &["corrupts_without_queue", "undecided"],
        rare: None,
        card: r#"
base = "v30-a2-queued"
size = "8GB"
real_size = "1GB"
beyond = "wrap"
"#,
    },
];
