//! Parameters of the calibrated cards, found by `cargo xtask fit` and written by it.
//!
//! They are what brings each card's model nearest to its published figures under the workload of
//! [`crate::calibration`]; a change by hand is lost with the next fit.

use cardproof_units::{Nanos, Throughput};

use super::calibrated::{HybridFit, PageMapFit};
use crate::model::Latencies;

pub(super) const INTENSO_CLASS_4: HybridFit = HybridFit {
    read: Latencies { below_page: Nanos(551_603), page: Nanos(364_682), stripe: Nanos(936_931) },
    read_rate: Throughput(43229446.0),
    log_latency: Nanos(963_269),
    log_slots: 965,
    copy_rate: Throughput(8465349.0),
    write_rate: Throughput(12476425.0),
};

pub(super) const SANDISK_ULTRA: HybridFit = HybridFit {
    read: Latencies { below_page: Nanos(363_340), page: Nanos(317_177), stripe: Nanos(282_099) },
    read_rate: Throughput(45239276.0),
    log_latency: Nanos(3_380_803),
    log_slots: 3_633,
    copy_rate: Throughput(26023199.0),
    write_rate: Throughput(8659122.0),
};

pub(super) const SANDISK_INDUSTRIAL: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(367_498), page: Nanos(417_606), stripe: Nanos(331_657) },
    read_rate: Throughput(68709657.0),
    write: Latencies {
        below_page: Nanos(2_124_415),
        page: Nanos(937_994),
        stripe: Nanos(1_257_815),
    },
    write_rate: Throughput(31232494.0),
};

pub(super) const SANDISK_EXTREME_PLUS: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(269_026), page: Nanos(305_677), stripe: Nanos(216_985) },
    read_rate: Throughput(69258083.0),
    write: Latencies { below_page: Nanos(1_221_513), page: Nanos(705_308), stripe: Nanos(800_989) },
    write_rate: Throughput(69168180.0),
};

pub(super) const SANDISK_ULTRA_A1: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(231_275), page: Nanos(226_675), stripe: Nanos(253_432) },
    read_rate: Throughput(69832261.0),
    write: Latencies { below_page: Nanos(1_675_162), page: Nanos(654_550), stripe: Nanos(495_065) },
    write_rate: Throughput(18366362.0),
};

pub(super) const SANDISK_EXTREME_A1: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(185_004), page: Nanos(190_298), stripe: Nanos(185_963) },
    read_rate: Throughput(70554045.0),
    write: Latencies { below_page: Nanos(1_078_203), page: Nanos(498_543), stripe: Nanos(777_191) },
    write_rate: Throughput(64930969.0),
};

pub(super) const SANDISK_EXTREME_PRO_A2: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(335_673), page: Nanos(443_495), stripe: Nanos(291_410) },
    read_rate: Throughput(65497661.0),
    write: Latencies {
        below_page: Nanos(2_264_412),
        page: Nanos(1_184_435),
        stripe: Nanos(1_801_923),
    },
    write_rate: Throughput(60951366.0),
};

pub(super) const SAMSUNG_EMMC: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(144_704), page: Nanos(125_028), stripe: Nanos(103_024) },
    read_rate: Throughput(129273927.0),
    write: Latencies { below_page: Nanos(644_456), page: Nanos(254_009), stripe: Nanos(223_105) },
    write_rate: Throughput(32433810.0),
};
