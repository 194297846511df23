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

    /// The values of the free parameters, times in nanoseconds, rates in bytes a second.
    pub(super) fn take(self, model: &Model) -> Result<Vec<f64>> {
        let mut values = latencies(&model.read.latencies).to_vec();
        values.push(model.read.rate.0);
        match (self, &model.write) {
            (Self::Hybrid, Writing::Hybrid(hybrid)) => values.extend([
                nanos(hybrid.log_latency),
                f64::from(hybrid.log_slots),
                hybrid.copy_rate.0,
                hybrid.rate.0,
            ]),
            (Self::PageMap, Writing::PageMap(page_map)) => {
                values.extend(latencies(&page_map.latencies));
                values.push(page_map.rate.0);
            }
            _ => bail!("the model is of another kind"),
        }
        Ok(values)
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

fn nanos(time: Nanos) -> f64 {
    time.get() as f64
}

/// A rate in whole bytes a second, as it is written down.
fn whole(rate: f64) -> Throughput {
    Throughput(rate.round())
}

fn latencies(latencies: &Latencies) -> [f64; 3] {
    [latencies.below_page, latencies.page, latencies.stripe].map(nanos)
}

fn from_values(below_page: f64, page: f64, stripe: f64) -> Latencies {
    let [below_page, page, stripe] =
        [below_page, page, stripe].map(|value| Nanos(value.round() as u64));
    Latencies { below_page, page, stripe }
}
