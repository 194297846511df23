//! Rates, amounts and times as fio prints them for people.

use cardproof_units::Nanos;

use super::super::shared::Rates;
use crate::draft::Printed;
use crate::text::{Quantity, between, quantities};

pub(super) fn version_3(text: &str) -> Option<(Rates, Nanos)> {
    let iops = *quantities(between(text, "IOPS=", ",")?).first()?;
    let rate = *quantities(text.split_once("BW=")?.1).first()?;
    let bytes_of = bytes_of_3;
    let (_, amounts) = text.rsplit_once('(')?;
    let amounts = quantities(amounts.split_once(')')?.0);
    let [amount, time] = amounts.as_slice() else { return None };
    // `23.9MiB/127msec` reads as an amount in `MiB/` and a time.
    let amount = Quantity { unit: amount.unit.trim_end_matches('/'), ..*amount };
    let bytes = bytes_of(&amount)?;
    Some((rates(&rate, &iops, bytes, bytes_of)?, time_of(time)?))
}

pub(super) fn version_2(text: &str) -> Option<(Rates, Nanos)> {
    let first = |from: &str, to: &str| Some(*quantities(between(text, from, to)?).first()?);
    let bytes = bytes_of(&first("io=", ",")?)?;
    let (rate, iops) = (first("bw=", ",")?, first("iops=", ",")?);
    let time = time_of(quantities(text.split_once("runt=")?.1).first()?)?;
    Some((rates(&rate, &iops, bytes, bytes_of)?, time))
}

pub(super) fn rates(
    rate: &Quantity<'_>,
    iops: &Quantity<'_>,
    bytes: f64,
    bytes_of: fn(&Quantity<'_>) -> Option<f64>,
) -> Option<Rates> {
    let unit_bytes = rate.unit.strip_suffix("/s")?;
    let unit_bytes_per_s = bytes_of(&Quantity { unit: unit_bytes, value: 1.0 })?;
    let (factor, iops_unit) = match iops.unit {
        "" => (1.0, "IOPS"),
        "k" | "K" => (1e3, "k IOPS"),
        "M" => (1e6, "M IOPS"),
        _ => return None,
    };
    Some(Rates {
        bytes_per_s: rate.value * unit_bytes_per_s,
        iops: iops.value * factor,
        ops: 0,
        bytes: bytes as u64,
        printed: vec![
            Printed::new("bw", rate.value, rate.unit).in_bytes_per_s(unit_bytes_per_s),
            Printed::new("iops", iops.value, iops_unit),
        ],
    })
}

/// Bytes of an amount of version 3, which with `kb_base=1000` prints powers of 1000 first, as kB and MB.
pub(super) fn bytes_of_3(amount: &Quantity<'_>) -> Option<f64> {
    let power = match amount.unit {
        "kB" | "KB" => 1,
        "MB" => 2,
        "GB" => 3,
        "TB" => 4,
        "PB" => 5,
        _ => return bytes_of(amount),
    };
    Some(amount.value * 1000_f64.powi(power))
}

/// Bytes of an amount, in which K, M, G, T and P are powers of 1024 however they are written.
pub(super) fn bytes_of(amount: &Quantity<'_>) -> Option<f64> {
    let power = match amount.unit {
        "B" => 0,
        "K" | "KB" | "KiB" => 1,
        "M" | "MB" | "MiB" => 2,
        "G" | "GB" | "GiB" => 3,
        "T" | "TB" | "TiB" => 4,
        "P" | "PB" | "PiB" => 5,
        _ => return None,
    };
    Some(amount.value * 1024_f64.powi(power))
}

pub(super) fn time_of(time: &Quantity<'_>) -> Option<Nanos> {
    let seconds = match time.unit {
        "usec" => time.value / 1e6,
        "msec" => time.value / 1e3,
        "sec" => time.value,
        _ => return None,
    };
    Some(Nanos::from_secs_f64(seconds))
}
