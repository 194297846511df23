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
        label: label(index),
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

/// Points nearer than this, as a ratio of their rates, have one label, since two would cover each
/// other.
const LABELS_APART: f64 = 1.15;

/// Where the published card `index` stands.
fn place(index: usize) -> (f64, f64) {
    let card = &PUBLISHED_CARDS[index];
    (card.random_read.0, card.random_write.0)
}

/// The number of the published card `index` and of all that lie near it; nothing for one that an
/// earlier label names.
fn label(index: usize) -> String {
    let ratio = |a: f64, b: f64| (a / b).max(b / a);
    let is_near = |other: &usize| {
        let (a, b) = (place(index), place(*other));
        ratio(a.0, b.0) < LABELS_APART && ratio(a.1, b.1) < LABELS_APART
    };
    let near: Vec<usize> = (0..PUBLISHED_CARDS.len()).filter(is_near).collect();
    if near.first() != Some(&index) {
        return String::new();
    }
    near.iter().map(|index| (index + 1).to_string()).collect::<Vec<_>>().join(", ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_published_card_is_in_one_label() {
        let labels: Vec<String> = (0..PUBLISHED_CARDS.len()).map(label).collect();
        let mut named: Vec<usize> = labels
            .iter()
            .filter(|label| !label.is_empty())
            .flat_map(|label| label.split(", "))
            .map(|number| number.parse().expect("a number"))
            .collect();
        named.sort_unstable();
        assert_eq!(named, (1..=PUBLISHED_CARDS.len()).collect::<Vec<_>>(), "{labels:?}");
        assert!(labels.contains(&"3, 7".to_owned()), "{labels:?}");
    }
}
