//! Parameters of the eight cards on a Raspberry Pi 5, found once by a robust least-squares search.
//!
//! They bring each card's model nearest to its published figures of 4 KiB, 64 KiB and 1 MiB; the
//! figures of 8 KiB, 512 KiB and 16 MiB had no part in it. `cargo xtask prove cards-of-today` shows
//! both. Latencies are in microseconds.

use cardproof_units::Bytes;

use super::pi5::{Fit, Fitted};

pub(super) const ALL: [Fitted; 8] = [
    Fitted {
        names: ["pi5-amazon-basics-64gb-queue-off", "pi5-amazon-basics-64gb-queue-on"],
        titles: [
            "Amazon Basics A2, 64 GB, in a Raspberry Pi 5 without command queue",
            "Amazon Basics A2, 64 GB, in a Raspberry Pi 5 with command queue",
        ],
        capacity: Bytes(63_864_569_856),
        read: Fit {
            mb_per_s: 95.6,
            sequential: (123, 121),
            sequential_queued: (121, 128),
            random: (218, 224),
            random_queued: (222, 220),
        },
        write: Fit {
            mb_per_s: 80.6,
            sequential: (522, 692),
            sequential_queued: (523, 714),
            random: (655, 776),
            random_queued: (667, 777),
        },
    },
    Fitted {
        names: ["pi5-amazon-basics-128gb-queue-off", "pi5-amazon-basics-128gb-queue-on"],
        titles: [
            "Amazon Basics A2, 128 GB, in a Raspberry Pi 5 without command queue",
            "Amazon Basics A2, 128 GB, in a Raspberry Pi 5 with command queue",
        ],
        capacity: Bytes(127_865_454_592),
        read: Fit {
            mb_per_s: 95.8,
            sequential: (126, 137),
            sequential_queued: (128, 138),
            random: (235, 243),
            random_queued: (242, 249),
        },
        write: Fit {
            mb_per_s: 71.9,
            sequential: (771, 687),
            sequential_queued: (785, 860),
            random: (905, 801),
            random_queued: (909, 865),
        },
    },
    Fitted {
        names: ["pi5-sandisk-extreme-64gb-queue-off", "pi5-sandisk-extreme-64gb-queue-on"],
        titles: [
            "SanDisk Extreme A2, 64 GB, in a Raspberry Pi 5 without command queue",
            "SanDisk Extreme A2, 64 GB, in a Raspberry Pi 5 with command queue",
        ],
        capacity: Bytes(63_864_569_856),
        read: Fit {
            mb_per_s: 89.2,
            sequential: (240, 177),
            sequential_queued: (46, 181),
            random: (249, 608),
            random_queued: (65, 324),
        },
        write: Fit {
            mb_per_s: 66.5,
            sequential: (1_241, 1_340),
            sequential_queued: (137, 11),
            random: (907, 10_689),
            random_queued: (336, 2_171),
        },
    },
    Fitted {
        names: [
            "pi5-sandisk-extreme-pro-128gb-queue-off",
            "pi5-sandisk-extreme-pro-128gb-queue-on",
        ],
        titles: [
            "SanDisk Extreme PRO A2, 128 GB, in a Raspberry Pi 5 without command queue",
            "SanDisk Extreme PRO A2, 128 GB, in a Raspberry Pi 5 with command queue",
        ],
        capacity: Bytes(127_865_454_592),
        read: Fit {
            mb_per_s: 91.6,
            sequential: (256, 418),
            sequential_queued: (47, 245),
            random: (263, 683),
            random_queued: (74, 327),
        },
        write: Fit {
            mb_per_s: 83.7,
            sequential: (1_490, 1_438),
            sequential_queued: (157, 29),
            random: (959, 2_532),
            random_queued: (341, 2_303),
        },
    },
    Fitted {
        names: ["pi5-samsung-pro-plus-128gb-queue-off", "pi5-samsung-pro-plus-128gb-queue-on"],
        titles: [
            "Samsung PRO Plus A2, 128 GB, in a Raspberry Pi 5 without command queue",
            "Samsung PRO Plus A2, 128 GB, in a Raspberry Pi 5 with command queue",
        ],
        capacity: Bytes(127_865_454_592),
        read: Fit {
            mb_per_s: 96.5,
            sequential: (128, 246),
            sequential_queued: (128, 207),
            random: (194, 286),
            random_queued: (190, 266),
        },
        write: Fit {
            mb_per_s: 77.5,
            sequential: (1_225, 2_869),
            sequential_queued: (1_141, 3_027),
            random: (1_246, 2_481),
            random_queued: (1_221, 3_171),
        },
    },
    Fitted {
        names: ["pi5-raspberry-pi-32gb-queue-off", "pi5-raspberry-pi-32gb-queue-on"],
        titles: [
            "Raspberry Pi A2, 32 GB, in a Raspberry Pi 5 without command queue",
            "Raspberry Pi A2, 32 GB, in a Raspberry Pi 5 with command queue",
        ],
        capacity: Bytes(31_914_983_424),
        read: Fit {
            mb_per_s: 96.1,
            sequential: (113, 135),
            sequential_queued: (58, 62),
            random: (168, 212),
            random_queued: (146, 139),
        },
        write: Fit {
            mb_per_s: 37.6,
            sequential: (1_067, 754),
            sequential_queued: (25, 163),
            random: (572, 0),
            random_queued: (385, 0),
        },
    },
    Fitted {
        names: ["pi5-raspberry-pi-64gb-queue-off", "pi5-raspberry-pi-64gb-queue-on"],
        titles: [
            "Raspberry Pi A2, 64 GB, in a Raspberry Pi 5 without command queue",
            "Raspberry Pi A2, 64 GB, in a Raspberry Pi 5 with command queue",
        ],
        capacity: Bytes(63_864_569_856),
        read: Fit {
            mb_per_s: 95.2,
            sequential: (95, 269),
            sequential_queued: (51, 194),
            random: (130, 397),
            random_queued: (123, 403),
        },
        write: Fit {
            mb_per_s: 81.3,
            sequential: (297, 1_688),
            sequential_queued: (54, 48),
            random: (193, 326),
            random_queued: (204, 342),
        },
    },
    Fitted {
        names: ["pi5-raspberry-pi-128gb-queue-off", "pi5-raspberry-pi-128gb-queue-on"],
        titles: [
            "Raspberry Pi A2, 128 GB, in a Raspberry Pi 5 without command queue",
            "Raspberry Pi A2, 128 GB, in a Raspberry Pi 5 with command queue",
        ],
        capacity: Bytes(127_865_454_592),
        read: Fit {
            mb_per_s: 95.5,
            sequential: (99, 368),
            sequential_queued: (52, 201),
            random: (131, 413),
            random_queued: (124, 398),
        },
        write: Fit {
            mb_per_s: 82.2,
            sequential: (296, 1_707),
            sequential_queued: (49, 47),
            random: (189, 300),
            random_queued: (205, 322),
        },
    },
];
