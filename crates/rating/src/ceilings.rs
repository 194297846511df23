//! The highest rate of each kind of storage, whatever bus the kernel reports.
//!
//! The figures are the highest raw rates of the standards by which a transport may be attached,
//! so that only the impossible is above them; real transfers stay well below.

use cardproof_record::Transport;
use cardproof_units::Throughput;

/// The highest rate of a transport, and where it comes from.
#[derive(Clone, Debug)]
pub(crate) struct Ceiling {
    /// How the storage is attached.
    transport: Transport,
    /// The rate.
    pub(crate) rate: Throughput,
    /// What sets it.
    pub(crate) source: &'static str,
}

const CEILINGS: [Ceiling; 6] = [
    Ceiling {
        transport: Transport::Sd,
        rate: Throughput::from_mb_per_s(624.0),
        source: "UHS-III, SD Physical Layer Specification 6.0",
    },
    Ceiling {
        transport: Transport::Mmc,
        rate: Throughput::from_mb_per_s(400.0),
        source: "HS400, JEDEC JESD84-B51",
    },
    Ceiling {
        transport: Transport::Usb,
        rate: Throughput::from_mb_per_s(2_500.0),
        source: "20 Gbit/s, USB 3.2 Gen 2x2",
    },
    Ceiling {
        transport: Transport::Sata,
        rate: Throughput::from_mb_per_s(600.0),
        source: "6 Gbit/s with 8b/10b coding, Serial ATA 3",
    },
    Ceiling {
        transport: Transport::Ufs,
        rate: Throughput::from_mb_per_s(5_831.0),
        source: "two lanes of HS gear 5B, UFS 4.0",
    },
    Ceiling {
        transport: Transport::Nvme,
        rate: Throughput::from_mb_per_s(32_000.0),
        source: "four lanes of 64 GT/s, PCI Express 6.0",
    },
];

/// The ceiling of `transport`, if it has one.
pub(crate) fn ceiling_of(transport: &Transport) -> Option<Ceiling> {
    CEILINGS.into_iter().find(|ceiling| ceiling.transport == *transport)
}
