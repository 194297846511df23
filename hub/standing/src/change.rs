//! Whether a model of cards changed from one month of making to the next, such as its flash.
//!
//! Each card has a month of making, the host on which it was measured, and the logarithm of a figure. For each month a
//! step between the cards made before it and the others is fitted together with one level a host (least squares; values
//! far from their host's median are drawn in, so that one lie is not a step). The step with the largest Student's t
//! counts, where it is larger than chance makes the largest of so many months (Bonferroni).
//!
//! Cards come one after the other, and a test that is repeated finds something in the end. So there are looks at 20, 30,
//! 45, ... cards, and look number k gets the part 1 / (k (k + 1)) of the false alarms that a model may have in its life.

use cardproof_stats::t_quantile;

use crate::median;

/// The number of cards of the first look; each next one has half as many more.
const FIRST_LOOK: usize = 20;

/// The least number of cards on either side of a step.
const SIDE_MIN: usize = 5;

/// Values further from their host's median than so many robust deviations are drawn in to there.
const FAR: f64 = 2.0;

/// No figure of a card is known better than to half a percent.
const VARIANCE_MIN: f64 = 2.5e-5;

/// A card.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Made {
    /// The month of making, counted from any month.
    pub month: i32,
    /// The host on which it was measured.
    pub host: u64,
    /// The logarithm of the figure.
    pub value: f64,
}

/// A step between two months of making.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The first month of the cards after it.
    pub month: i32,
    /// What is added to the logarithm of the figure.
    pub step: f64,
    /// The ends of its interval, 95 %, as if the month had been known.
    pub between: [f64; 2],
    /// The cards before and after.
    pub cards: [usize; 2],
}

/// The change that `cards`, in the order in which they came, show; as the last look sees it, if any look was sure. A model
/// that never changed is said to have changed, at any time, with at most the probability `false_max`.
#[must_use]
pub fn change(cards: &[Made], false_max: f64) -> Option<Change> {
    let (mut count, mut look, mut is_sure, mut last) = (FIRST_LOOK, 1.0, false, None);
    while count <= cards.len() {
        if let Some((found, t)) = largest(&cards[..count]) {
            is_sure |= found.is_sure(t, false_max / (look * (look + 1.0)));
            last = Some(found.change);
        }
        count += count / 2;
        look += 1.0;
    }
    last.filter(|_| is_sure)
}

/// The largest step, and what it was chosen from.
struct Found {
    change: Change,
    months: usize,
    freedom: f64,
}

impl Found {
    fn is_sure(&self, t: f64, false_max: f64) -> bool {
        let limit = t_quantile(self.freedom, 1.0 - false_max / self.months as f64);
        limit.is_some_and(|limit| t > limit)
    }
}

/// The step with the largest t of all months, and that t.
fn largest(cards: &[Made]) -> Option<(Found, f64)> {
    let mut months: Vec<i32> = cards.iter().map(|card| card.month).collect();
    months.sort_unstable();
    // The earliest month has nothing before it.
    let first = *months.get(SIDE_MIN)?;
    let last = *months.get(cards.len().checked_sub(SIDE_MIN)?)?;
    months.dedup();
    months.retain(|month| (first..=last).contains(month) && *month > cards_first(cards));
    let hosts = hosts(cards);
    let freedom = (cards.len() as f64) - hosts.len() as f64 - 1.0;
    if freedom < 5.0 {
        return None;
    }
    let best = months
        .iter()
        .filter_map(|month| Some((*month, step(&hosts, *month, freedom)?)))
        .max_by(|(_, a), (_, b)| a.t().total_cmp(&b.t()))?;
    let (month, Step { step, error }) = best;
    let reach = t_quantile(freedom, 0.95)? * error;
    let after = cards.iter().filter(|card| card.month >= month).count();
    let change = Change {
        month,
        step,
        between: [step - reach, step + reach],
        cards: [cards.len() - after, after],
    };
    Some((Found { change, months: months.len(), freedom }, (step / error).abs()))
}

fn cards_first(cards: &[Made]) -> i32 {
    cards.iter().map(|card| card.month).min().unwrap_or(0)
}

/// The cards of each host as month and value; far values are drawn in.
fn hosts(cards: &[Made]) -> Vec<Vec<(i32, f64)>> {
    let mut sorted: Vec<&Made> = cards.iter().collect();
    sorted.sort_by_key(|card| card.host);
    let mut hosts: Vec<Vec<(i32, f64)>> = sorted
        .chunk_by(|a, b| a.host == b.host)
        .map(|of_host| {
            let mut values: Vec<f64> = of_host.iter().map(|card| card.value).collect();
            let middle = median(&mut values).unwrap_or(0.0);
            of_host.iter().map(|card| (card.month, card.value - middle)).collect()
        })
        .collect();
    let mut distances: Vec<f64> =
        hosts.iter().filter(|it| it.len() > 1).flatten().map(|(_, value)| value.abs()).collect();
    let reach = FAR * 1.4826 * median(&mut distances).unwrap_or(0.0);
    if reach > 0.0 {
        hosts.iter_mut().flatten().for_each(|(_, value)| *value = value.clamp(-reach, reach));
    }
    hosts
}

/// A step and its standard error.
struct Step {
    step: f64,
    error: f64,
}

impl Step {
    fn t(&self) -> f64 {
        (self.step / self.error).abs()
    }
}

/// The step at `month`, with a level of its own for each host; none where no host has cards on both sides.
fn step(hosts: &[Vec<(i32, f64)>], month: i32, freedom: f64) -> Option<Step> {
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for host in hosts {
        let count = host.len() as f64;
        let mean = host.iter().map(|(_, value)| value).sum::<f64>() / count;
        let late = host.iter().filter(|(made, _)| *made >= month).count() as f64 / count;
        for (made, value) in host {
            let x = f64::from(u8::from(*made >= month)) - late;
            let y = value - mean;
            xx += x * x;
            xy += x * y;
            yy += y * y;
        }
    }
    // Less than what three cards on either side of one host tell is nothing to build on.
    if xx < 1.5 {
        return None;
    }
    let step = xy / xx;
    let variance = ((yy - step * xy) / freedom).max(VARIANCE_MIN);
    Some(Step { step, error: (variance / xx).sqrt() })
}
