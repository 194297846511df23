//! Where the storage stands: its small reads and writes among those of published cards. A few cards that
//! many people know have their names in the chart.

use cardproof_rating::{
    CLASSES, Class, PUBLISHED_CARDS, PublishedRates, Quantity, Rate, limits_of, published_rates,
};
use cardproof_units::Iops;

use super::{Axis, Chart, Layer, Scale, Tone};

const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 292.0;

/// The axes reach at least from the first to the second. Solid-state disks beyond are no neighbours of a card.
const READS: (f64, f64) = (350.0, 12_000.0);
const WRITES: (f64, f64) = (20.0, 6_000.0);

/// How far a dot keeps from the edge, as a factor of its rate.
const EDGE: f64 = 1.06;

/// The word beside the point that the chart is about.
pub(crate) const OURS: &str = "this storage";

/// Small reads and writes, one operation at a time.
pub(crate) struct RatePoint {
    /// 4 KiB random reads.
    pub(crate) read: Iops,
    /// 4 KiB random writes.
    pub(crate) write: Iops,
}

impl RatePoint {
    const fn place(&self) -> (f64, f64) {
        (self.read.0, self.write.0)
    }
}

/// The chart, with `ours` as the point that it is about.
pub(crate) fn field(ours: &RatePoint) -> Chart {
    let named = PUBLISHED_CARDS.iter().map(|card| Layer::Point {
        at: (card.random_read.0, card.random_write.0),
        tone: Tone::Line(5),
        label: card.name.to_owned(),
    });
    let names = Layer::AxisNames { across: "small reads a second", up: "small writes a second" };
    let dots = others().iter().map(RatePoint::place).collect();
    let mut layers = vec![names, Layer::Dots { points: dots, tone: Tone::Quiet }];
    layers.extend(named);
    layers.push(Layer::MainPoint { at: ours.place(), tone: Tone::Line(0), label: OURS.to_owned() });
    let (shown, all) = (PUBLISHED_CARDS.len() + others().len(), published_rates().len());
    let outside = match all - shown {
        0 => String::new(),
        1 => "; 1 lies outside the chart".to_owned(),
        count => format!("; {count} lie outside the chart"),
    };
    Chart {
        title: format!(
            "4 KiB random reads and writes a second, among {shown} of {all} published results{outside}"
        ),
        width: WIDTH,
        height: HEIGHT,
        x: axis(ours.read, READS),
        y: axis(ours.write, WRITES),
        layers,
    }
}

/// The published cards without a name in the chart.
pub(crate) fn others() -> Vec<RatePoint> {
    let is_named = |card: &PublishedRates| {
        PUBLISHED_CARDS.iter().any(|named| named.reference == card.card.name)
    };
    // A dot at the very edge would be cut.
    let is_near = |point: &RatePoint| {
        let between = |(low, high): (f64, f64), Iops(rate)| EDGE * low < rate && EDGE * rate < high;
        between(READS, point.read) && between(WRITES, point.write)
    };
    published_rates()
        .iter()
        .filter(|card| !is_named(card))
        .filter_map(|card| Some(RatePoint { read: card.read?, write: card.write }))
        .filter(is_near)
        .collect()
}

/// The limits of the application classes: a card meets one that lies in its corner.
pub(crate) fn class_corners() -> Vec<Layer> {
    let corner = |class: &'static Class| {
        let limit = |quantity: Quantity| {
            limits_of(class).into_iter().find_map(|limit| match limit.at_least {
                Rate::Iops(iops) if limit.quantity == quantity => Some(iops.0),
                _ => None,
            })
        };
        let at = (limit(Quantity::RandomRead)?, limit(Quantity::RandomWrite)?);
        Some(Layer::Corner { at, label: class.name })
    };
    CLASSES.iter().filter_map(corner).collect()
}

/// An axis over the range `(low, high)` that also holds `ours`.
fn axis(Iops(ours): Iops, (low, high): (f64, f64)) -> Axis {
    let (low, high) = (low.min(ours / 1.5), high.max(ours * 1.5));
    Axis { scale: Scale::Logarithmic, low, high, tick: |value| value.round().to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts::draw;
    use crate::drawing::svg;

    #[test]
    fn this_storage_and_well_known_cards_have_their_names_in_the_chart() {
        let ours = RatePoint { read: Iops(2600.0), write: Iops(1100.0) };
        let picture = svg::element(&draw(&field(&ours)).unwrap(), "f");
        assert!(picture.contains(">this storage</text>"), "{picture}");
        assert!(field(&ours).title.ends_with(" lie outside the chart"));
        let named = PUBLISHED_CARDS
            .iter()
            .filter(|card| picture.contains(&format!(">{}</text>", card.name)));
        let count = named.count();
        assert!(count >= 6, "{count} names found room");
        assert!(picture.matches("<circle").count() > 40);
    }

    #[test]
    fn storage_beyond_all_cards_is_still_in_the_chart() {
        for (read, write) in [(900_000.0, 900_000.0), (3.0, 0.5)] {
            assert!(field(&RatePoint { read: Iops(read), write: Iops(write) }).is_drawable());
        }
    }
}
