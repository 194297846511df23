//! Where the storage stands: random reads against random writes, among eight published devices,
//! with the limits of the classes.

use cardproof_rating::{CLASSES, PUBLISHED_CARDS, Quantity, Rate};
use cardproof_units::Iops;

use super::{Axis, Chart, Layer, Scale, Tone};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 270.0;

/// A place in the field.
pub(crate) struct Place {
    /// How it was measured.
    pub(crate) label: &'static str,
    /// 4 KiB random reads.
    pub(crate) read: Iops,
    /// 4 KiB random writes.
    pub(crate) write: Iops,
}

/// The chart, with `ours` as the points it is about, in the tones of lines from 0.
pub(crate) fn field(ours: &[Place]) -> Chart {
    let mut layers: Vec<Layer> = limits();
    layers.extend(PUBLISHED_CARDS.iter().enumerate().map(|(index, card)| Layer::Point {
        at: (card.random_read.0, card.random_write.0),
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

fn limits() -> Vec<Layer> {
    let mut layers = Vec::new();
    for class in &CLASSES {
        for limit in class.limits() {
            let label = Some(class.name);
            match (limit.quantity, limit.at_least) {
                (Quantity::RandomRead, Rate::Iops(iops)) => {
                    layers.push(Layer::LimitUp { at: iops.0, label });
                }
                (Quantity::RandomWrite, Rate::Iops(iops)) => {
                    layers.push(Layer::LimitAcross { at: iops.0, label });
                }
                _ => {}
            }
        }
    }
    layers
}

/// An axis from at most `low` to at least `high` that also holds all of `ours`.
fn axis(ours: impl Iterator<Item = Iops>, low: f64, high: f64) -> Axis {
    let start = (low, high);
    let (low, high) =
        ours.fold(start, |(low, high), iops| (low.min(iops.0 / 1.5), high.max(iops.0 * 1.5)));
    Axis { scale: Scale::Logarithmic, low, high, tick: |value| value.round().to_string() }
}
