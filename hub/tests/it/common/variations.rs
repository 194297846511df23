//! Documents in any number, made from those of simulated cards with a spread like that of real ones: models, hosts
//! and single records differ by factors. The number of a document decides everything in it.

use serde_json::{Value, json};

/// Documents of simulated cards, which a new hub begins with.
const BASES: [&str; 8] = [
    include_str!("../../../seed/sandisk-extreme-a1.json"),
    include_str!("../../../seed/sandisk-ultra.json"),
    include_str!("../../../seed/samsung-emmc.json"),
    include_str!("../../../seed/v30-a2.json"),
    include_str!("../../../seed/v30-a2-queued.json"),
    include_str!("../../../seed/intenso-class-4.json"),
    include_str!("../../../seed/high-endurance.json"),
    include_str!("../../../seed/usb-stick.json"),
];

/// Hosts; the first ones are the most common.
const BOARDS: [&str; 24] = [
    "Raspberry Pi 4 Model B",
    "Raspberry Pi 5 Model B",
    "Raspberry Pi 3 Model B Plus",
    "Orange Pi 5",
    "Radxa ROCK 5B",
    "Hardkernel ODROID-N2",
    "Raspberry Pi Zero 2 W",
    "Pine64 Quartz64",
    "BeagleBone Black",
    "NVIDIA Jetson Nano",
    "Raspberry Pi Compute Module 4",
    "Orange Pi Zero 3",
    "Banana Pi M5",
    "Libre Computer Le Potato",
    "Rock64",
    "ODROID-XU4",
    "Radxa Zero",
    "VisionFive 2",
    "Khadas VIM3",
    "Pine64 RockPro64",
    "NanoPi R4S",
    "NanoPi NEO3",
    "Raspberry Pi 2 Model B",
    "Turing RK1",
];

/// The standard deviations of the logarithm of a rate: from model to model, host to host, record to record.
const SPREADS: [f64; 3] = [0.5, 0.15, 0.08];

/// Versions of Linux; the first ones are the most common.
const KERNELS: [&str; 6] = ["6.12.47", "6.6.74", "6.1.21", "6.12.25", "5.15.84", "5.10.103"];

/// Firmware revisions of one product; many products have only the first.
const REVISIONS: [&str; 4] = ["0", "1", "2", "a"];

/// Makes documents.
#[derive(Debug)]
pub(crate) struct Variations {
    bases: Vec<Value>,
    models: u64,
}

/// Random numbers that follow from a number alone (Steele, Lea and Flood, OOPSLA 2014).
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between 0 and 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from 0 to below `count`, small ones far more often than large ones.
    pub(crate) fn favoured(&mut self, count: u64) -> u64 {
        let skewed = ((count as f64 + 1.0).ln() * self.unit()).exp() - 1.0;
        (skewed as u64).min(count - 1)
    }

    /// A factor whose logarithm is near to normal (twelve uniform numbers) with the deviation `spread`.
    fn factor(&mut self, spread: f64) -> f64 {
        let normal: f64 = (0..12).map(|_| self.unit()).sum::<f64>() - 6.0;
        (normal * spread).exp()
    }
}

impl Variations {
    /// Of `models` card models.
    pub(crate) fn new(models: u64) -> Self {
        let mut bases = Vec::new();
        for text in BASES {
            let mut base = serde_json::from_str(text).unwrap();
            for phase in phases(&mut base) {
                // The long series, which no page of a card asks for.
                for series in ["histogram", "intervals"] {
                    phase[series] = json!([]);
                }
            }
            bases.push(base);
        }
        Self { bases, models }
    }

    /// The document `number`.
    pub(crate) fn document(&self, number: u64) -> Value {
        let mut draw = Draw(number.wrapping_mul(0x5851_f42d_4c95_7f2d));
        let model = draw.favoured(self.models);
        let board = draw.favoured(BOARDS.len() as u64) as usize;
        let mut document = self.bases[(model % self.bases.len() as u64) as usize].clone();
        let rate = Draw(model).factor(SPREADS[0])
            * Draw(board as u64 + (1 << 40)).factor(SPREADS[1])
            * draw.factor(SPREADS[2]);
        let record = &mut document["record"];
        let name = format!(
            "{}, series {}",
            record["conditions"]["device"]["model"].as_str().unwrap(),
            model / self.bases.len() as u64
        );
        // As if they were real, or all would have one host and no claim to a place among others.
        record["conditions"]["target"]["kind"] = json!("block_device");
        record["conditions"]["target"]["engine"] = json!("io_uring");
        let device = &mut record["conditions"]["device"];
        device["name"] = json!("mmcblk0");
        device["model"] = json!(name);
        if draw.unit() < 0.4 {
            device["card"]["command_queue"] =
                json!({"card": true, "host": true, "enabled": draw.unit() < 0.6});
        }
        if draw.unit() < 0.2 {
            device["card"]["life_used_percent_max"] = json!(10 * (1 + draw.favoured(10)));
        }
        let of_product = 1 + Draw(model ^ (1 << 41)).favoured(REVISIONS.len() as u64);
        let revision = draw.favoured(of_product) as usize;
        device["card"]["firmware_revision"] = json!(REVISIONS[revision]);
        device["card"]["manufactured"] =
            json!(format!("{}-{:02}", 2022 + draw.favoured(4), 1 + draw.favoured(12)));
        let kernel = KERNELS[draw.favoured(KERNELS.len() as u64) as usize];
        record["conditions"]["host"] =
            json!({"board": BOARDS[board], "kernel": kernel, "architecture": "aarch64", "cpus": 4});
        for phase in phases(&mut document) {
            scale(phase, rate * draw.factor(SPREADS[2]));
        }
        if draw.unit() < 0.3 {
            let amount = (500.0 + draw.unit() * 4000.0).round() / 100.0;
            let currency = if draw.unit() < 0.8 { "EUR" } else { "USD" };
            document["price"] =
                json!({"amount": amount, "currency": currency, "date": "2026-10-05"});
        }
        document
    }
}

fn phases(document: &mut Value) -> &mut Vec<Value> {
    document["record"]["phases"].as_array_mut().unwrap()
}

/// Makes a phase `rate` times as fast.
fn scale(phase: &mut Value, rate: f64) {
    for figure in ["iops", "anytime_iops", "throughput_bytes_per_s"] {
        for end in ["estimate", "low", "high"] {
            if let Some(number) = phase[figure][end].as_f64() {
                phase[figure][end] = json!((number * rate * 1e3).round() / 1e3);
            }
        }
    }
    if let Some(latencies) = phase["latency_ns"].as_object_mut() {
        for number in latencies.values_mut() {
            *number = json!((number.as_f64().unwrap_or_default() / rate) as u64);
        }
    }
    // Intervals of latencies belong to the figures that were.
    if let Some(fields) = phase.as_object_mut() {
        fields.remove("latency_intervals");
    }
}
