//! x
use super::calibrated::{HybridFit, PageMapFit};
use crate::model::Latencies;
use cardproof_units::{Nanos, Throughput};
pub(super) const INTENSO_CLASS_4: HybridFit = HybridFit {
    read: Latencies { below_page: Nanos(552_000), page: Nanos(368_000), stripe: Nanos(950_000) },
    read_rate: Throughput(43.2e6),
    log_latency: Nanos(1_000_000),
    log_slots: 941,
    copy_rate: Throughput(8.5e6),
    write_rate: Throughput(10.5e6),
};
pub(super) const SANDISK_ULTRA: HybridFit = HybridFit {
    read: Latencies { below_page: Nanos(364_000), page: Nanos(320_000), stripe: Nanos(290_000) },
    read_rate: Throughput(45.2e6),
    log_latency: Nanos(3_000_000),
    log_slots: 3400,
    copy_rate: Throughput(26e6),
    write_rate: Throughput(8.5e6),
};
const PAGE: PageMapFit = PageMapFit {
    read: Latencies { below_page: Nanos(300_000), page: Nanos(300_000), stripe: Nanos(300_000) },
    read_rate: Throughput(66.5e6),
    write: Latencies {
        below_page: Nanos(2_000_000),
        page: Nanos(1_000_000),
        stripe: Nanos(1_500_000),
    },
    write_rate: Throughput(50e6),
};
pub(super) const SANDISK_INDUSTRIAL: PageMapFit = PAGE;
pub(super) const SANDISK_EXTREME_PLUS: PageMapFit = PAGE;
pub(super) const SANDISK_ULTRA_A1: PageMapFit = PAGE;
pub(super) const SANDISK_EXTREME_A1: PageMapFit = PAGE;
pub(super) const SANDISK_EXTREME_PRO_A2: PageMapFit = PAGE;
pub(super) const SAMSUNG_EMMC: PageMapFit = PAGE;
