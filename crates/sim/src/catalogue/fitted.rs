//! Parameters of the calibrated cards, found once by a least-squares search.
//!
//! They are what brings each card's model nearest to its published figures under the workload of
//! [`crate::calibration`].

use cardproof_units::{Nanos, Throughput};

use super::calibrated::{HybridFit, PageMapFit};
use crate::model::Latencies;

pub(super) const INTENSO_CLASS_4: HybridFit = HybridFit {
    read: Latencies { below_page: Nanos(551_782), page: Nanos(364_326), stripe: Nanos(939_653) },
    read_rate: Throughput(43230751.0),
    log_latency: Nanos(995_907),
    log_slots: 971,
    copy_rate: Throughput(8466312.0),
    write_rate: Throughput(10538207.0),
};

pub(super) const SANDISK_ULTRA: HybridFit = HybridFit {
    read: Latencies { below_page: Nanos(363_234), page: Nanos(317_010), stripe: Nanos(281_661) },
    read_rate: Throughput(45239546.0),
    log_latency: Nanos(3_379_325),
    log_slots: 3_691,
    copy_rate: Throughput(26031731.0),
    write_rate: Throughput(8208301.0),
};

pub(super) const SANDISK_INDUSTRIAL: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(367_692), page: Nanos(417_846), stripe: Nanos(330_673) },
    read_rate: Throughput(67445931.0),
    write: Latencies {
        below_page: Nanos(2_122_537),
        page: Nanos(931_793),
        stripe: Nanos(1_236_770),
    },
    write_rate: Throughput(31218960.0),
};

pub(super) const SANDISK_EXTREME_PLUS: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(268_981), page: Nanos(304_776), stripe: Nanos(215_999) },
    read_rate: Throughput(67360364.0),
    write: Latencies { below_page: Nanos(1_219_547), page: Nanos(700_573), stripe: Nanos(777_045) },
    write_rate: Throughput(68550977.0),
};

pub(super) const SANDISK_ULTRA_A1: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(231_230), page: Nanos(227_030), stripe: Nanos(254_356) },
    read_rate: Throughput(67414198.0),
    write: Latencies { below_page: Nanos(1_673_100), page: Nanos(647_914), stripe: Nanos(468_708) },
    write_rate: Throughput(18295121.0),
};

pub(super) const SANDISK_EXTREME_A1: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(185_115), page: Nanos(191_039), stripe: Nanos(186_719) },
    read_rate: Throughput(67341279.0),
    write: Latencies { below_page: Nanos(1_076_244), page: Nanos(493_367), stripe: Nanos(754_510) },
    write_rate: Throughput(65095320.0),
};

pub(super) const SANDISK_EXTREME_PRO_A2: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(335_688), page: Nanos(444_172), stripe: Nanos(292_495) },
    read_rate: Throughput(65498231.0),
    write: Latencies {
        below_page: Nanos(2_262_573),
        page: Nanos(1_179_275),
        stripe: Nanos(1_776_395),
    },
    write_rate: Throughput(60573311.0),
};

pub(super) const SAMSUNG_EMMC: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(144_701), page: Nanos(124_740), stripe: Nanos(103_394) },
    read_rate: Throughput(129281293.0),
    write: Latencies { below_page: Nanos(642_955), page: Nanos(250_189), stripe: Nanos(201_490) },
    write_rate: Throughput(32545654.0),
};
