//! Where the storage stands: random reads against random writes, among eight published devices,
//! with the limits of the classes.

use cardproof_rating::{CLASSES, Class, PUBLISHED_CARDS, Quantity, Rate, limits_of};
use cardproof_units::Iops;

use super::{Axis, Chart, Layer, Scale, Tone};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 270.0;

/// A place in the field.
pub(crate) struct RatePoint {
    /// How it was measured.
    pub(crate) label: &'static str,
    /// 4 KiB random reads.
    pub(crate) read: Iops,
    /// 4 KiB random writes.
    pub(crate) write: Iops,
}

/// The chart, with `ours` as the points it is about, in the tones of lines from 0.
pub(crate) fn field(ours: &[RatePoint]) -> Chart {
    let mut layers: Vec<Layer> = corners();
    layers.extend((0..PUBLISHED_CARDS.len()).map(|index| Layer::Point {
        at: place(index),
        tone: Tone::Quiet,
        label: (index + 1).to_string(),
    }));
    layers.extend(ours.iter().enumerate().map(|(index, point)| Layer::MainPoint {
        at: (point.read.0, point.write.0),
        tone: Tone::Line(index),
    }));
    let reads = ours.iter().map(|point| point.read);
    let writes = ours.iter().map(|point| point.write);
    Chart {
        title: "4 KiB random reads and writes among eight published devices and the limits of A1 \
                and A2"
            .to_owned(),
        width: WIDTH,
        height: HEIGHT,
        x: axis(reads, 1_000.0, 8_000.0),
        y: axis(writes, 20.0, 4_000.0),
        layers,
    }
}

/// Where the published card `index` stands.
fn place(index: usize) -> (f64, f64) {
    let card = &PUBLISHED_CARDS[index];
    (card.random_read.0, card.random_write.0)
}

/// The limits of the application classes: a card meets one that lies in its corner.
pub(crate) fn corners() -> Vec<Layer> {
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

/// An axis from at most `low` to at least `high` that also holds all of `ours`.
fn axis(ours: impl Iterator<Item = Iops>, low: f64, high: f64) -> Axis {
    let start = (low, high);
    let (low, high) =
        ours.fold(start, |(low, high), iops| (low.min(iops.0 / 1.5), high.max(iops.0 * 1.5)));
    Axis { scale: Scale::Logarithmic, low, high, tick: |value| value.round().to_string() }
}
