//! Whether a set of parameters describes a possible card in a possible host.

use cardproof_units::{Bytes, Throughput};

use crate::host::Host;
use crate::model::{LOGICAL_BLOCK, Model, PAGE, Writing};

/// Parameters that describe no possible card.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// A size that is zero or off its grid.
    #[error("{what} is {size}; it must be a multiple of {grid} above zero")]
    Size {
        /// Which size.
        what: &'static str,
        /// What it was.
        size: Bytes,
        /// What it must be a multiple of.
        grid: Bytes,
    },
    /// A rate that is not a positive number.
    #[error("{what} is {} bytes a second; it must be a number above zero", rate.0)]
    Rate {
        /// Which rate.
        what: &'static str,
        /// What it was.
        rate: Throughput,
    },
    /// A number outside its range.
    #[error("{what} is {number}; it must lie between {least} and {most}")]
    Range {
        /// Which number.
        what: &'static str,
        /// What it was.
        number: u64,
        /// The least it may be.
        least: u64,
        /// The most it may be.
        most: u64,
    },
}

/// The largest card whose tables a test machine should have to hold.
const CAPACITY_MAX: Bytes = Bytes::gib(4096);

/// Checks `model` in `host`.
pub(crate) fn check(model: &Model, host: &Host) -> Result<(), ModelError> {
    size("the capacity", model.capacity, LOGICAL_BLOCK)?;
    range("the capacity in bytes", model.capacity.get(), 1, CAPACITY_MAX.get())?;
    size("the allocation unit", model.allocation_unit, PAGE)?;
    size("the host's largest transfer", host.max_transfer, LOGICAL_BLOCK)?;
    rate("the host's bus", host.bus)?;
    rate("the read rate", model.read.rate)?;
    size("the page for its boundaries", model.read.boundaries.page, LOGICAL_BLOCK)?;
    range("the number of ways", model.ways.into(), 1, 16)?;
    range("the host's queue depth", host.queue_depth.into(), 1, 256)?;
    range("the spread in thousandths", model.noise.spread_permille.into(), 0, 250)?;
    range("the drift in thousandths", model.noise.drift_permille.into(), 0, 500)?;
    if let Some(service) = &model.service {
        size("the stripe of the service times", service.stripe, PAGE)?;
        let stripe = service.stripe.get();
        range("the stripe of the service times in bytes", stripe, PAGE.get() + 1, 1 << 30)?;
    }
    if let Some(heat) = &model.heat {
        range("the heat capacity", heat.capacity_mj_per_k.into(), 1, 1 << 30)?;
        for (what, percent) in [
            ("the pace of light throttling in percent", heat.throttle.light_percent),
            ("the pace of heavy throttling in percent", heat.throttle.heavy_percent),
        ] {
            range(what, percent.into(), 1, 100)?;
        }
    }
    if let Some(cache) = &model.cache {
        size("the volatile cache", cache.size, LOGICAL_BLOCK)?;
    }
    check_writing(&model.write)
}

fn check_writing(writing: &Writing) -> Result<(), ModelError> {
    match writing {
        Writing::Hybrid(hybrid) => {
            rate("the write rate", hybrid.rate)?;
            rate("the copy rate", hybrid.copy_rate)?;
            size("the log's slot", hybrid.log_slot, LOGICAL_BLOCK)?;
            range("the number of open units", hybrid.open_units.into(), 1, 32)?;
            let log_units = hybrid.log_units.unwrap_or(1).into();
            range("the number of units in the log", log_units, 1, u16::MAX.into())?;
            let slots_least = hybrid.log_below.get().div_ceil(hybrid.log_slot.get());
            range("the number of log slots", hybrid.log_slots.into(), slots_least, 1 << 24)
        }
        Writing::PageMap(page_map) => {
            rate("the write rate", page_map.rate)?;
            if let Some(slc) = &page_map.slc {
                rate("the write rate of a full SLC cache", slc.rate_when_full)?;
                rate("the SLC cache's fold rate", slc.idle_fold_rate)?;
            }
            if let Some(map_cache) = &page_map.map_cache {
                size("a piece of the map", map_cache.segment, PAGE)?;
            }
            Ok(())
        }
    }
}

fn size(what: &'static str, size: Bytes, grid: Bytes) -> Result<(), ModelError> {
    if size > Bytes::ZERO && size.is_multiple_of(grid) {
        Ok(())
    } else {
        Err(ModelError::Size { what, size, grid })
    }
}

fn rate(what: &'static str, rate: Throughput) -> Result<(), ModelError> {
    if rate.0 > 0.0 { Ok(()) } else { Err(ModelError::Rate { what, rate }) }
}

fn range(what: &'static str, number: u64, least: u64, most: u64) -> Result<(), ModelError> {
    if (least..=most).contains(&number) {
        Ok(())
    } else {
        Err(ModelError::Range { what, number, least, most })
    }
}
