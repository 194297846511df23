//! Which parameters of a model the published figures can tell, and how to reach them.

use anyhow::{Result, bail};
use cardproof_sim::model::{Hybrid, Latencies, Model, PageMap, Writing};
use cardproof_units::{Nanos, Throughput};

/// The free parameters of one kind of model.
#[derive(Clone, Copy, Debug)]
pub(super) enum Free {
    /// Three latencies and the rate of reading; latency, size and copying of the log, and the
    /// rate of writing.
    Hybrid,
    /// Three latencies and the rate of reading, three and the rate of writing.
    PageMap,
}

impl Free {
    /// The free parameters of `model`.
    pub(super) fn of(model: &Model) -> Result<Self> {
        match &model.write {
            Writing::Hybrid(_) => Ok(Self::Hybrid),
            Writing::PageMap(PageMap { slc: None, .. }) => Ok(Self::PageMap),
            Writing::PageMap(_) => bail!("a card with an SLC cache has too much to be fitted"),
        }
    }

    /// Where the search starts: an everyday card, times in nanoseconds, rates in bytes a second.
    ///
    /// Not the catalogue's present values, so that a fit does not depend on the fit before. The
    /// rates start below every bus: a rate above it has no effect, which leaves a search lost.
    pub(super) const fn start(self) -> [f64; 8] {
        match self {
            Self::Hybrid => [4e5, 4e5, 4e5, 3e7, 1e6, 1500.0, 1.5e7, 8e6],
            Self::PageMap => [3e5, 3e5, 3e5, 5e7, 2e6, 1e6, 1e6, 2e7],
        }
    }

    /// `model` with other values of the free parameters.
    pub(super) fn put(self, model: &Model, values: &[f64]) -> Result<Model> {
        let &[below, page, stripe, rate, a, b, c, d] = values else {
            bail!("there are eight free parameters, not {}", values.len());
        };
        let mut model = *model;
        model.read.latencies = from_values(below, page, stripe);
        model.read.rate = whole(rate);
        model.write = match (self, model.write) {
            (Self::Hybrid, Writing::Hybrid(hybrid)) => Writing::Hybrid(Hybrid {
                log_latency: Nanos(a.round() as u64),
                log_slots: b.round() as u32,
                copy_rate: whole(c),
                rate: whole(d),
                ..hybrid
            }),
            (Self::PageMap, Writing::PageMap(page_map)) => Writing::PageMap(PageMap {
                latencies: from_values(a, b, c),
                rate: whole(d),
                ..page_map
            }),
            _ => bail!("the model is of another kind"),
        };
        Ok(model)
    }
}

/// A rate in whole bytes a second, as it is written down.
fn whole(rate: f64) -> Throughput {
    Throughput(rate.round())
}

fn from_values(below_page: f64, page: f64, stripe: f64) -> Latencies {
    let [below_page, page, stripe] =
        [below_page, page, stripe].map(|value| Nanos(value.round() as u64));
    Latencies { below_page, page, stripe }
}
