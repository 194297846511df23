//! The computer a simulated card is plugged into, as far as it changes what the card can do.
//!
//! The same card gives other figures on another host: the bus has a ceiling, every command
//! costs time, large requests are cut up, and command queueing or the card's cache are of use
//! only where the host's driver knows them.

use cardproof_units::{Bytes, Nanos, Throughput};
use serde::{Deserialize, Serialize};

/// The line between host and card, as a kernel would tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub struct Line {
    /// What it is, in words.
    pub words: &'static str,
    /// The raw rate of its data lines, which no transfer can exceed.
    pub ceiling: Throughput,
    /// The bus mode by Linux's name, on an SD or eMMC bus.
    pub mode: Option<&'static str>,
    /// The bus clock in Hz, on an SD or eMMC bus.
    pub clock_hz: Option<u64>,
    /// How many data lines, on an SD or eMMC bus.
    pub width_bits: Option<u8>,
}

impl Line {
    const HIGH_SPEED: Self = Self::sd("sd high-speed, 50 MHz, 4 bit", "sd high-speed", 50, 25.0);
    const DDR50: Self = Self::sd("sd uhs DDR50, 50 MHz, 4 bit", "sd uhs DDR50", 50, 50.0);
    const SDR104: Self = Self::sd("sd uhs SDR104, 208 MHz, 4 bit", "sd uhs SDR104", 208, 104.0);
    const SDR104_CAPPED: Self =
        Self::sd("sd uhs SDR104, 150 MHz, 4 bit", "sd uhs SDR104", 150, 75.0);
    const HS400: Self = Self {
        width_bits: Some(8),
        ..Self::sd("mmc HS400, 200 MHz, 8 bit", "mmc HS400", 200, 400.0)
    };
    /// 13 bulk packets of 512 bytes a microframe (USB 2.0 specification, table 5-10).
    const USB2: Self = Self::usb_or_pcie("USB 2.0, 480 Mbit/s", 53.248);
    const PCIE3_X1: Self = Self::usb_or_pcie("PCIe 3.0, one lane", 985.0);
    const USB3: Self = Self::usb_or_pcie("USB 3, 5 Gbit/s", 500.0);

    const fn sd(words: &'static str, mode: &'static str, megahertz: u64, mb_per_s: f64) -> Self {
        Self {
            words,
            ceiling: Throughput::from_mb_per_s(mb_per_s),
            mode: Some(mode),
            clock_hz: Some(megahertz * 1_000_000),
            width_bits: Some(4),
        }
    }

    const fn usb_or_pcie(words: &'static str, mb_per_s: f64) -> Self {
        let ceiling = Throughput::from_mb_per_s(mb_per_s);
        Self { words, ceiling, mode: None, clock_hz: None, width_bits: None }
    }
}

/// A host, seen from the card.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// What it is, in words.
    #[serde(skip)]
    pub title: &'static str,
    /// The line as a record names it.
    #[serde(skip)]
    pub line: Line,
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
    /// How it cools the card.
    #[serde(default, skip_serializing_if = "Cooling::is_usual")]
    pub cooling: Cooling,
}

/// The air around a card, and how well the card gives its heat to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Cooling {
    /// The temperature of the air, in thousandths of a degree Celsius.
    pub ambient_millicelsius: i32,
    /// By how much a watt warms the card in the end, in thousandths of a kelvin.
    pub resistance_mk_per_w: u32,
}

impl Cooling {
    /// A room, and no fan; assumed.
    pub const USUAL: Self = Self { ambient_millicelsius: 22_000, resistance_mk_per_w: 35_000 };

    fn is_usual(&self) -> bool {
        *self == Self::USUAL
    }
}

impl Default for Cooling {
    fn default() -> Self {
        Self::USUAL
    }
}

/// The longest request an SD host controller takes under Linux (`max_req_size`).
const SD_REQUEST: Bytes = Bytes::kib(512);

/// What a command costs on a fast board, interrupt to interrupt; assumed.
const SD_COMMAND: Nanos = Nanos::from_micros(60);

impl Host {
    /// A slot in High Speed mode: 50 MHz, 4 bits, 25 MB/s less protocol (Raspberry Pi 0 to 3).
    pub const HIGH_SPEED: Self = Self::sd_slot("SD slot, High Speed", Line::HIGH_SPEED, 23.0);

    /// A slot in DDR50 mode: 50 MB/s less protocol (Raspberry Pi 4).
    pub const DDR50: Self = Self::sd_slot("SD slot, DDR50", Line::DDR50, 44.5);

    /// A slot in SDR104 mode: 104 MB/s less protocol (Raspberry Pi 5).
    pub const SDR104: Self = Self::sd_slot("SD slot, SDR104", Line::SDR104, 93.0);

    /// The slot on which the calibrated cards were measured: SDR104 with the clock capped, so
    /// that a fast card's sequential read of 512 KiB commands ends at 66 MB/s.
    pub const SDR104_CAPPED: Self =
        Self::sd_slot("SD slot, SDR104, clock capped", Line::SDR104_CAPPED, 66.5023);

    /// The slot of a Raspberry Pi 5 under Linux, command queue not in use. The rate is what its fastest
    /// cards read in large blocks.
    pub const PI5: Self = Self {
        title: "SD slot of a Raspberry Pi 5, command queue off",
        bus: Throughput::from_mb_per_s(97.0),
        ..Self::SDR104
    };

    /// As [`PI5`](Self::PI5), with the command queue in use.
    pub const PI5_QUEUED: Self = Self {
        title: "SD slot of a Raspberry Pi 5, command queue on",
        queue_depth: 32,
        ..Self::PI5
    };

    /// An M.2 slot with one lane of PCIe 3.0, for a microSD Express card as an NVMe device.
    pub const M2_ONE_LANE: Self = Self {
        title: "M.2 slot, PCIe 3.0, one lane",
        line: Line::PCIE3_X1,
        bus: Throughput::from_mb_per_s(890.0),
        command_overhead: Nanos::from_micros(8),
        queue_depth: 256,
        ..Self::SDR104
    };

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
        line: Line::HS400,
        bus: Throughput::from_mb_per_s(330.0),
        command_overhead: Nanos::from_micros(40),
        ..Self::SDR104
    };

    /// A USB 2.0 port with bulk-only transport.
    pub const USB2: Self = Self {
        title: "USB 2.0 port",
        line: Line::USB2,
        bus: Throughput::from_mb_per_s(38.0),
        command_overhead: Nanos::from_micros(130),
        max_transfer: Bytes::kib(120),
        ..Self::SDR104
    };

    /// A USB 3.0 port with bulk-only transport.
    pub const USB3: Self = Self {
        title: "USB 3.0 port",
        line: Line::USB3,
        bus: Throughput::from_mb_per_s(380.0),
        command_overhead: Nanos::from_micros(60),
        ..Self::SDR104
    };

    const fn sd_slot(title: &'static str, line: Line, mb_per_s: f64) -> Self {
        Self {
            title,
            line,
            bus: Throughput::from_mb_per_s(mb_per_s),
            command_overhead: SD_COMMAND,
            max_transfer: SD_REQUEST,
            queue_depth: 1,
            uses_cache: false,
            submit_overhead: Nanos::ZERO,
            jitter: Nanos::ZERO,
            cooling: Cooling::USUAL,
        }
    }
}
