//! The result of a fit as Rust source for the catalogue and as tables for the document.

use std::fmt::Write as _;

use anyhow::Result;
use cardproof_sim::calibration::Cell;
use cardproof_sim::model::{Latencies, Writing};

use super::Fitted;

const OPENING: &str = "\
//! Parameters of the calibrated cards, found by `cargo xtask fit` and written by it.
//!
//! They are what brings each card's model nearest to its published figures under the workload of
//! [`crate::calibration`]; a change by hand is lost with the next fit.

use cardproof_units::{Nanos, Throughput};

use super::calibrated::{HybridFit, PageMapFit};
use crate::model::Latencies;
";

/// The catalogue's file of fitted parameters.
pub(super) fn rust_source(all: &[Fitted]) -> Result<String> {
    let mut text = OPENING.to_owned();
    for Fitted { card, .. } in all {
        let name = card.name.to_uppercase().replace('-', "_");
        let read = latencies(&card.model.read.latencies);
        let read_rate = card.model.read.rate.0;
        match &card.model.write {
            Writing::Hybrid(hybrid) => write!(
                text,
                "\npub(super) const {name}: HybridFit = HybridFit {{ read: {read}, read_rate: \
                 Throughput({read_rate:?}), log_latency: Nanos({}), log_slots: {}, copy_rate: \
                 Throughput({:?}), write_rate: Throughput({:?}) }};\n",
                grouped(hybrid.log_latency.get()),
                grouped(hybrid.log_slots.into()),
                hybrid.copy_rate.0,
                hybrid.rate.0,
            )?,
            Writing::PageMap(page_map) => write!(
                text,
                "\npub(super) const {name}: PageMapFit = PageMapFit {{ read: {read}, read_rate: \
                 Throughput({read_rate:?}), write: {}, write_rate: Throughput({:?}) }};\n",
                latencies(&page_map.latencies),
                page_map.rate.0,
            )?,
        }
    }
    Ok(text)
}

fn latencies(latencies: &Latencies) -> String {
    format!(
        "Latencies {{ below_page: Nanos({}), page: Nanos({}), stripe: Nanos({}) }}",
        grouped(latencies.below_page.get()),
        grouped(latencies.page.get()),
        grouped(latencies.stripe.get()),
    )
}

/// A number with its thousands set apart, as Rust writes them.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

/// The tables of the document.
pub(super) fn tables(all: &[Fitted]) -> Result<String> {
    Ok(format!("{}\n{}", residuals(all)?, parameters(all)?))
}

/// Published figure, simulated figure and difference, a row for each card.
fn residuals(all: &[Fitted]) -> Result<String> {
    let mut text = String::from("| card |");
    for cell in Cell::ALL {
        write!(text, " {} |", cell.name())?;
    }
    text.push_str("\n| --- |");
    text.push_str(&" ---: |".repeat(Cell::ALL.len()));
    text.push('\n');
    for fitted in all {
        write!(text, "| {} |", fitted.card.name)?;
        for cell in Cell::ALL {
            let (published, simulated) = (fitted.published.of(cell), fitted.simulated.of(cell));
            let decimals = usize::from(published < 100.0) * 2;
            let percent = 100.0 * (simulated / published - 1.0);
            write!(text, " {published} / {simulated:.decimals$} ({percent:+.2} %) |")?;
        }
        text.push('\n');
    }
    Ok(text)
}

/// The fitted parameters, a row for each card.
fn parameters(all: &[Fitted]) -> Result<String> {
    let mut text = String::from(
        "| card | read latency below 4K / 4K / from 16K, us | read rate, MB/s | write latency, us \
         | write rate, MB/s | copy rate, MB/s | log slots |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for Fitted { card, .. } in all {
        let read = micros(&card.model.read.latencies);
        write!(text, "| {} | {read} | {:.2} |", card.name, card.model.read.rate.as_mb_per_s())?;
        match &card.model.write {
            Writing::Hybrid(hybrid) => writeln!(
                text,
                " {} + {:.0} in the log | {:.2} | {:.2} | {} |",
                hybrid.latency.get() / 1000,
                hybrid.log_latency.get() as f64 / 1e3,
                hybrid.rate.as_mb_per_s(),
                hybrid.copy_rate.as_mb_per_s(),
                hybrid.log_slots,
            )?,
            Writing::PageMap(page_map) => writeln!(
                text,
                " {} | {:.2} | | |",
                micros(&page_map.latencies),
                page_map.rate.as_mb_per_s(),
            )?,
        }
    }
    Ok(text)
}

fn micros(latencies: &Latencies) -> String {
    let Latencies { below_page, page, stripe } = *latencies;
    let [below_page, page, stripe] = [below_page, page, stripe].map(|time| time.get() as f64 / 1e3);
    format!("{below_page:.0} / {page:.0} / {stripe:.0}")
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_set_apart() {
        let cases = [(1, "1"), (999, "999"), (1000, "1_000"), (12_345_678, "12_345_678")];
        for (number, text) in cases {
            assert_eq!(grouped(number), text);
        }
    }
}
