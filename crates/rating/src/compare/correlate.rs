//! How the times of whole jobs go with what was measured: rank correlations over many cards.
//!
//! A job takes another time on another host, and a figure is another by another method, so only
//! cards that were measured on one basis are taken together.

use cardproof_stats::rank_correlation;
use cardproof_units::Bytes;
use serde::Serialize;

use super::Contender;
use super::likeness::{Basis, shared_basis};
use super::shape::{Measured, Shape, shapes_in};

/// Fewer cards than this show no order worth the name.
const CARDS_MIN: usize = 5;

/// How a job's time goes with one figure.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Correlation {
    /// The job, such as `desktop-install`.
    pub job: String,
    /// The figure, such as `4 KiB random write, depth 1`.
    pub with: Shape,
    /// Spearman's coefficient of the time and the rate, from -1 to 1: -1 where the faster card
    /// always took less time.
    pub rank_correlation: f64,
    /// Over how many cards.
    pub cards: usize,
}

/// The rank correlations of every job with every figure that at least five of `cards` have on one
/// basis, for each job the most telling first; of several bases the one of most cards. No probability is given: with few cards many coefficients are
/// large by chance.
#[must_use]
pub fn correlations(cards: &[Contender<'_>]) -> Vec<Correlation> {
    let first_runs = || cards.iter().filter_map(|card| card.runs.first().copied());
    let mut jobs: Vec<&str> = Vec::new();
    for job in first_runs().flat_map(|record| &record.jobs) {
        if !jobs.contains(&job.name.as_str()) {
            jobs.push(&job.name);
        }
    }
    let shapes = shapes_in(first_runs());
    let mut found = Vec::new();
    for job in jobs {
        let mut of_job: Vec<Correlation> = Vec::new();
        for shape in &shapes {
            let (times, rates): (Vec<f64>, Vec<f64>) = alike(cards, job, shape).into_iter().unzip();
            if times.len() < CARDS_MIN {
                continue;
            }
            of_job.extend(rank_correlation(&times, &rates).map(|rank_correlation| Correlation {
                job: job.to_owned(),
                with: shape.clone(),
                rank_correlation,
                cards: times.len(),
            }));
        }
        of_job.sort_by(|a, b| a.rank_correlation.total_cmp(&b.rank_correlation));
        found.extend(of_job);
    }
    found
}

/// What figures have in common that may be taken together: their basis and their range.
type Alike = (Basis, Bytes);

/// The times of `job` and the rates of `shape` of those `cards` that have both on one basis, of
/// several bases the one of most cards.
fn alike(cards: &[Contender<'_>], job: &str, shape: &Shape) -> Vec<(f64, f64)> {
    let mut by_basis: Vec<(Alike, Vec<(f64, f64)>)> = Vec::new();
    for card in cards {
        let Some((basis, pair)) = pair(card, job, shape) else { continue };
        match by_basis.iter_mut().find(|(known, _)| *known == basis) {
            Some((_, pairs)) => pairs.push(pair),
            None => by_basis.push((basis, vec![pair])),
        }
    }
    // The first of those that are equally long.
    by_basis.reverse();
    let most = by_basis.into_iter().max_by_key(|(_, pairs)| pairs.len());
    most.map_or_else(Vec::new, |(_, pairs)| pairs)
}

fn pair(card: &Contender<'_>, job: &str, shape: &Shape) -> Option<(Alike, (f64, f64))> {
    let jobs = &card.runs.first()?.jobs;
    let time = jobs.iter().find(|known| known.name == job)?.duration_ns;
    let measured = Measured::new(shape, &card.runs)?;
    // A range decides a rate too.
    let basis = (shared_basis(&measured)?, measured.phase.span_bytes);
    Some((basis, (time.as_secs_f64(), measured.rate())))
}
