//! The metrics of the table with their values.

use cardproof_rating::signs::Sign;

use super::facts::{CardFacts, Facts, Known, Missing, THROTTLING, VERDICTS, flag, word};
use super::table::*;

/// A value with the labels that tell it from others of its metric.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) labels: Vec<(&'static str, String)>,
    pub(super) value: f64,
}

/// A metric with its values.
#[derive(Clone, Debug)]
pub(super) struct Filled {
    pub(super) metric: Metric,
    pub(super) samples: Vec<Sample>,
}

/// Every metric that has a value, in the order of the table.
pub(super) fn filled(facts: &Facts<'_>) -> Vec<Filled> {
    let mut sheet = Sheet {
        rows: metrics().iter().map(|&metric| Filled { metric, samples: Vec::new() }).collect(),
    };
    sheet.machine(facts);
    for card in &facts.cards {
        sheet.identity(card);
        sheet.sums(card);
        sheet.outlook(card);
        sheet.signs(card);
    }
    sheet.rows.into_iter().filter(|row| !row.samples.is_empty()).collect()
}

/// The metrics while they are filled in.
struct Sheet {
    rows: Vec<Filled>,
}

impl Sheet {
    fn put(&mut self, metric: &Metric, labels: Vec<(&'static str, String)>, value: f64) {
        if let Some(row) = self.rows.iter_mut().find(|row| row.metric.base == metric.base) {
            row.samples.push(Sample { labels, value });
        }
    }

    /// Puts a value of `card`, with one more label where there is one.
    fn put_of(
        &mut self,
        card: &CardFacts<'_>,
        metric: &Metric,
        more: Option<(&'static str, String)>,
        value: f64,
    ) {
        let labels = labels_of(card).into_iter().chain(more).collect();
        self.put(metric, labels, value);
    }

    /// Puts what is known of `card`; of what is not, the reason.
    fn put_known(
        &mut self,
        card: &CardFacts<'_>,
        metric: &Metric,
        bound: Option<&str>,
        value: Known,
    ) {
        match value {
            Ok(value) => {
                self.put_of(card, metric, bound.map(|it| ("bound", it.to_owned())), value);
            }
            Err(missing) => self.put_missing(card, metric, bound, missing),
        }
    }

    fn put_missing(
        &mut self,
        card: &CardFacts<'_>,
        metric: &Metric,
        bound: Option<&str>,
        missing: Missing,
    ) {
        let name = metric.base.strip_prefix("cardproof_").unwrap_or(metric.base);
        let fact = bound.map_or_else(|| name.to_owned(), |bound| format!("{name}_{bound}"));
        let more = [("fact", fact), ("reason", missing.code().to_owned())];
        let labels = labels_of(card).into_iter().chain(more).collect();
        self.put(&UNKNOWN, labels, 1.0);
    }

    fn machine(&mut self, facts: &Facts<'_>) {
        self.put(&BUILD, vec![("version", facts.version.to_owned())], 1.0);
        self.put(&LOOK, Vec::new(), facts.time_s as f64);
        let machine = &facts.machine;
        for (sensor, millidegrees) in &machine.temperatures {
            let labels = vec![("sensor", (*sensor).to_owned())];
            self.put(&TEMPERATURE, labels, f64::from(*millidegrees) / 1000.0);
        }
        if let Some(flags) = machine.throttled_flags {
            for (bit, cause) in THROTTLING {
                for (when, bit) in [("now", bit), ("since_start", bit + 16)] {
                    let labels = vec![("cause", cause.to_owned()), ("when", when.to_owned())];
                    self.put(&THROTTLED, labels, flag(flags >> bit & 1 == 1));
                }
            }
        }
        if let Ok(value) = machine.under_voltage() {
            self.put(&UNDER_VOLTAGE, Vec::new(), value);
        }
    }

    fn identity(&mut self, card: &CardFacts<'_>) {
        let text = |value: Option<&str>| value.map_or_else(String::new, crate::one_line);
        let [device, key] = labels_of(card);
        let more = [("product", text(card.product)), ("transport", text(card.transport))];
        self.put(&CARD_INFO, [device, key].into_iter().chain(more).collect(), 1.0);
        self.put_known(card, &SIZE, None, card.size_bytes());
    }

    fn sums(&mut self, card: &CardFacts<'_>) {
        let counters = &card.totals.counters;
        let seconds = |milliseconds: u64| milliseconds as f64 / 1000.0;
        for (metric, value) in [
            (WRITTEN, card.written_bytes()),
            (READ, card.read_bytes()),
            (WRITES, counters.writes as f64),
            (READS, counters.reads as f64),
            (FLUSHES, counters.flushes as f64),
            (WRITE_TIME, seconds(counters.write_ms)),
            (READ_TIME, seconds(counters.read_ms)),
            (BUSY, seconds(counters.busy_ms)),
            (LOW_POWER, card.totals.low_power as f64),
            (LEDGER, card.totals.seconds as f64),
        ] {
            self.put_of(card, &metric, None, value);
        }
        for (partition, (read, written)) in &card.totals.partitions {
            for (metric, sectors) in [(PARTITION_READ, read), (PARTITION_WRITTEN, written)] {
                let label = ("partition", partition.to_string());
                self.put_of(card, &metric, Some(label), *sectors as f64 * 512.0);
            }
        }
        let errors = card.totals.errors;
        for (kind, count) in [
            ("failed", errors.failed),
            ("repeated", errors.repeated),
            ("filesystem", errors.filesystem),
        ] {
            self.put_of(card, &ERRORS, Some(("kind", kind.to_owned())), count as f64);
        }
    }

    fn outlook(&mut self, card: &CardFacts<'_>) {
        for (metric, bound, value) in [
            (PACE, Some("mean"), card.pace()),
            (PACE, Some("low"), card.pace_low()),
            (PACE, Some("high"), card.pace_high()),
            (LIFE_USED, Some("low"), card.life_used_low()),
            (LIFE_USED, Some("high"), card.life_used_high()),
            (LIFE_LEFT, Some("low"), card.life_left_low()),
            (LIFE_LEFT, Some("high"), card.life_left_high()),
            (REQUEST_TIME, None, card.request_time()),
            (SLOWER, None, card.is_slower()),
            (AT_RISK, None, card.is_at_risk()),
            (LOG, None, card.log_seconds()),
        ] {
            self.put_known(card, &metric, bound, value);
        }
    }

    fn signs(&mut self, card: &CardFacts<'_>) {
        for verdict in VERDICTS {
            let label = ("verdict", word(&verdict));
            self.put_of(card, &HEALTH, Some(label), flag(card.signs.verdict == verdict));
        }
        let mut told: Vec<(Vec<(&'static str, String)>, f64)> = Vec::new();
        for sign in &card.signs.signs {
            let labels: Vec<_> = labels_of(card).into_iter().chain(sign_labels(sign)).collect();
            let count = sign.count.max(1) as f64;
            // Reads and writes, and each partition, are signs of their own with the same labels.
            match told.iter_mut().find(|(known, _)| *known == labels) {
                Some((_, sum)) => *sum += count,
                None => told.push((labels, count)),
            }
        }
        for (labels, count) in told {
            self.put(&SIGN, labels, count);
        }
    }
}

fn labels_of(card: &CardFacts<'_>) -> [(&'static str, String); 2] {
    [("device", crate::one_line(card.device)), ("card", format!("{:08x}", card.totals.key.0))]
}

fn sign_labels(sign: &Sign) -> [(&'static str, String); 3] {
    [("kind", word(&sign.kind)), ("source", word(&sign.source)), ("weight", word(&sign.weight))]
}
