//! The computer a simulated card is plugged into, as far as it changes what the card can do.
//!
//! The same card gives other figures on another host: the bus has a ceiling, every command
//! costs time, large requests are cut up, and command queueing or the card's cache are of use
//! only where the host's driver knows them.

use cardproof_units::{Bytes, Nanos, Throughput};

/// A host, seen from the card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Host {
    /// What it is, in words.
    pub title: &'static str,
    /// What the bus carries at most, protocol overhead taken off.
    pub bus: Throughput,
    /// The time each command takes beside the card's own: interrupt, driver, command phase.
    pub command_overhead: Nanos,
    /// The most bytes one command moves; longer requests are cut into several.
    pub max_transfer: Bytes,
    /// How many commands the host lets the card work on at a time; 1 without command queueing.
    pub queue_depth: u16,
    /// Whether the host turns a card's volatile cache on and flushes it.
    pub uses_cache: bool,
    /// Time the host itself spends before each request is handed over.
    pub submit_overhead: Nanos,
    /// The most that an uneven bridge adds to a command; each gets an even draw from zero to this.
    pub jitter: Nanos,
}

/// The longest request an SD host controller takes under Linux (`max_req_size`).
const SD_REQUEST: Bytes = Bytes::kib(512);

/// What a command costs on a fast board, interrupt to interrupt; assumed.
const SD_COMMAND: Nanos = Nanos::from_micros(60);

impl Host {
    /// A slot in High Speed mode: 50 MHz, 4 bits, 25 MB/s less protocol (Raspberry Pi 0 to 3).
    pub const HIGH_SPEED: Self = Self::sd_slot("SD slot, High Speed", 23.0);

    /// A slot in DDR50 mode: 50 MB/s less protocol (Raspberry Pi 4).
    pub const DDR50: Self = Self::sd_slot("SD slot, DDR50", 44.5);

    /// A slot in SDR104 mode: 104 MB/s less protocol (Raspberry Pi 5).
    pub const SDR104: Self = Self::sd_slot("SD slot, SDR104", 93.0);

    /// The slot on which the calibrated cards were measured: SDR104 with the clock capped, so
    /// that a fast card's sequential read of 512 KiB commands ends at 66 MB/s.
    pub const SDR104_CAPPED: Self = Self::sd_slot("SD slot, SDR104, clock capped", 66.5023);

    /// As [`SDR104`](Self::SDR104), with a driver that knows command queueing and the cache.
    pub const SDR104_QUEUED: Self = Self {
        title: "SD slot, SDR104, command queue and cache in use",
        queue_depth: 32,
        uses_cache: true,
        ..Self::SDR104
    };

    /// A soldered eMMC socket in HS400 mode: 400 MB/s less protocol.
    pub const HS400: Self = Self {
        title: "eMMC, HS400",
        bus: Throughput::from_mb_per_s(330.0),
        command_overhead: Nanos::from_micros(40),
        ..Self::SDR104
    };

    /// A USB 2.0 port with bulk-only transport.
    pub const USB2: Self = Self {
        title: "USB 2.0 port",
        bus: Throughput::from_mb_per_s(38.0),
        command_overhead: Nanos::from_micros(130),
        max_transfer: Bytes::kib(120),
        ..Self::SDR104
    };

    /// A USB 3.0 port with bulk-only transport.
    pub const USB3: Self = Self {
        title: "USB 3.0 port",
        bus: Throughput::from_mb_per_s(380.0),
        command_overhead: Nanos::from_micros(60),
        ..Self::SDR104
    };

    const fn sd_slot(title: &'static str, mb_per_s: f64) -> Self {
        Self {
            title,
            bus: Throughput::from_mb_per_s(mb_per_s),
            command_overhead: SD_COMMAND,
            max_transfer: SD_REQUEST,
            queue_depth: 1,
            uses_cache: false,
            submit_overhead: Nanos::ZERO,
            jitter: Nanos::ZERO,
        }
    }
}
