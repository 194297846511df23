//! Eight storage devices with published measurements: the reference that figures are compared with, and
//! that simulated cards are fitted to.
//!
//! They were all measured on one board, so they can be compared with each other. They cannot be
//! compared exactly with a card on another host: it is a rough comparison, not a
//! prediction. The random figures are iozone's, one operation at a time over a file of 100 MiB.

use cardproof_units::{Iops, Nanos, Throughput};

/// Where the figures of [`PUBLISHED_CARDS`] come from.
pub const PUBLISHED_SOURCE: &str = "T. Kaiser, \"Performance impact of MMC storage used on SBC\" \
    (2018): sd-card-bench.sh on a NanoPi M4, 4 KiB iozone over 100 MiB";

/// How the figures of [`PUBLISHED_CARDS`] were measured.
pub const PUBLISHED_METHOD: &str = "Eight storage devices measured with sd-card-bench.sh on one NanoPi M4 (RK3399, SDR104 with the clock capped so that sequential tops out near 66 MB/s; eMMC not capped). Source: T. Kaiser, \"Performance impact of MMC storage used on SBC\" (2018). Kernel 4.x, Armbian Stretch, ext4, commit=600. iops: random IOPS by iozone -e -I over a file of 100 MiB, mean of 3 runs; MBps: records of 16 MiB, KiB/s divided by 1024 as the script does; times in seconds.";

/// A device with published figures.
#[derive(Clone, Copy, Debug)]
pub struct PublishedCard {
    /// Its name in the source.
    pub name: &'static str,
    /// The name of its reference card and of the simulated card that was fitted to it.
    pub reference: &'static str,
    /// Who made the device, where that is not part of the name.
    pub maker: Option<&'static str>,
    /// Whether it is an eMMC, not an SD card.
    pub is_emmc: bool,
    /// The application class printed on it.
    pub application_class: Option<u8>,
    /// Its capacity as printed, in GB (10^9 bytes).
    pub capacity_gb: Option<u32>,
    /// Year and month of its making.
    pub made: &'static str,
    /// 1 KiB random read, one at a time.
    pub random_read_1k: Iops,
    /// 1 KiB random write, one at a time.
    pub random_write_1k: Iops,
    /// 4 KiB random read, one at a time.
    pub random_read: Iops,
    /// 4 KiB random write, one at a time.
    pub random_write: Iops,
    /// 16 KiB random read, one at a time.
    pub random_read_16k: Iops,
    /// 16 KiB random write, one at a time.
    pub random_write_16k: Iops,
    /// Sequential read in records of 16 MiB. The source's unit is 1024 KiB/s and is called MB/s; its
    /// number is taken as MB/s.
    pub sequential_read: Throughput,
    /// Sequential write in records of 16 MiB, in the same unit.
    pub sequential_write: Throughput,
    /// How long the system took to start.
    pub boot: Nanos,
    /// How long a desktop (about 400 packages) took to install.
    pub desktop_install: Nanos,
    /// How long 150 of its packages took to remove.
    pub removal: Nanos,
    /// How long the same 150 took to install again.
    pub reinstall: Nanos,
}

impl PublishedCard {
    /// The device's name with its maker.
    #[must_use]
    pub fn model(&self) -> String {
        self.maker.map_or(self.name.to_owned(), |maker| format!("{} ({maker})", self.name))
    }
}

/// What a card is.
#[derive(Clone, Copy)]
struct Product {
    name: &'static str,
    reference: &'static str,
    application_class: Option<u8>,
    capacity_gb: Option<u32>,
    made: &'static str,
}

/// Random IOPS of 1, 4 and 16 KiB as (read, write), sequential MB/s as (read, write), milliseconds to
/// start, seconds to install, remove and install again.
const fn card(
    product: Product,
    iops: [(f64, f64); 3],
    mb_per_s: (f64, f64),
    boot_ms: u64,
    jobs_s: [u64; 3],
) -> PublishedCard {
    PublishedCard {
        name: product.name,
        reference: product.reference,
        maker: None,
        is_emmc: false,
        application_class: product.application_class,
        capacity_gb: product.capacity_gb,
        made: product.made,
        random_read_1k: Iops(iops[0].0),
        random_write_1k: Iops(iops[0].1),
        random_read: Iops(iops[1].0),
        random_write: Iops(iops[1].1),
        random_read_16k: Iops(iops[2].0),
        random_write_16k: Iops(iops[2].1),
        sequential_read: Throughput::from_mb_per_s(mb_per_s.0),
        sequential_write: Throughput::from_mb_per_s(mb_per_s.1),
        boot: Nanos::from_millis(boot_ms),
        desktop_install: Nanos::from_secs(jobs_s[0]),
        removal: Nanos::from_secs(jobs_s[1]),
        reinstall: Nanos::from_secs(jobs_s[2]),
    }
}

/// A card of which the source tells no application class.
const fn product(
    name: &'static str,
    reference: &'static str,
    capacity_gb: Option<u32>,
    made: &'static str,
) -> Product {
    Product { name, reference, application_class: None, capacity_gb, made }
}

const fn of_class(class: u8, product: Product) -> Product {
    Product { application_class: Some(class), ..product }
}

/// The devices, in the source's order.
pub static PUBLISHED_CARDS: [PublishedCard; 8] = [
    card(
        product("Intenso Class 4", "intenso-class-4", Some(4), "2015-02"),
        [(1574.0, 99.0), (1926.0, 33.0), (726.0, 2.0)],
        (43.0, 10.0),
        26700,
        [1070, 149, 470],
    ),
    card(
        product("SanDisk Ultra", "sandisk-ultra", Some(8), "2016-06"),
        [(2243.0, 184.0), (2139.0, 133.0), (1421.0, 6.0)],
        (45.0, 8.0),
        20900,
        [430, 68, 157],
    ),
    card(
        product("SanDisk Industrial", "sandisk-industrial", Some(8), "2018-02"),
        [(2257.0, 416.0), (1853.0, 762.0), (1571.0, 457.0)],
        (66.0, 29.0),
        20700,
        [253, 49, 113],
    ),
    card(
        product("SanDisk Extreme Plus", "sandisk-extreme-plus", None, "2015-07"),
        [(2903.0, 564.0), (2344.0, 770.0), (1915.0, 577.0)],
        (66.0, 62.0),
        13400,
        [216, 33, 76],
    ),
    card(
        of_class(1, product("SanDisk Ultra A1", "sandisk-ultra-a1", Some(32), "2017-09")),
        [(3262.0, 470.0), (2867.0, 787.0), (1784.0, 516.0)],
        (66.0, 18.0),
        14200,
        [207, 31, 75],
    ),
    card(
        of_class(1, product("SanDisk Extreme A1", "sandisk-extreme-a1", Some(32), "2017-10")),
        [(3840.0, 826.0), (3201.0, 1480.0), (2030.0, 769.0)],
        (66.0, 59.0),
        16200,
        [161, 28, 57],
    ),
    card(
        of_class(
            2,
            product("SanDisk Extreme Pro A2", "sandisk-extreme-pro-a2", Some(64), "2018-08"),
        ),
        [(2431.0, 417.0), (1766.0, 732.0), (1660.0, 427.0)],
        (65.0, 50.0),
        17000,
        [190, 36, 75],
    ),
    PublishedCard {
        is_emmc: true,
        maker: Some("FriendlyELEC"),
        ..card(
            product("Samsung eMMC", "samsung-emmc", Some(8), "2018-02"),
            [(5191.0, 1230.0), (5083.0, 1943.0), (3707.0, 981.0)],
            (128.0, 32.0),
            15500,
            [178, 27, 65],
        )
    },
];
