//! The figures that a profile promises, from the phases that were measured.
//!
//! A figure that rests on a phase without a measurement is left out: no zero stands in its place.

use cardproof_record::{Direction, Figure, Phase};
use cardproof_workload::{Aggregate, EarlyEnd, FigureSpec, Minimum, Origin, Profile, Quantity};

/// The figures of `profile` that `phases` yield, in the profile's order.
pub(crate) fn figures(profile: &Profile, phases: &[Phase]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = Vec::with_capacity(profile.figures.len());
    for spec in &profile.figures {
        if let Some(value) = value(spec, phases, &figures) {
            figures.push(Figure {
                name: spec.name.clone(),
                tool: spec.tool.clone(),
                value,
                unit: spec.unit.name.clone(),
                unit_bytes_per_s: spec.unit.bytes_per_s,
                phases: match &spec.origin {
                    Origin::Phases { phases, .. } => phases.clone(),
                    Origin::Sum { .. } | Origin::SetsMet { .. } => Vec::new(),
                },
            });
        }
    }
    figures
}

/// Whether a run that has just finished the phase `name` has shown enough.
pub(crate) fn may_end(profile: &Profile, name: &str, figures: &[Figure]) -> bool {
    let ends = |end: &EarlyEnd| end.after == name && all_met(&end.limits, figures) == Some(true);
    profile.early_ends.iter().any(ends)
}

fn value(spec: &FigureSpec, phases: &[Phase], before: &[Figure]) -> Option<f64> {
    match &spec.origin {
        Origin::Phases { phases: names, quantity, aggregate } => {
            let values: Option<Vec<f64>> =
                names.iter().map(|name| taken(*quantity, spec, measured(phases, name)?)).collect();
            aggregated(*aggregate, &values?)
        }
        Origin::Sum { terms } => {
            terms.iter().map(|(weight, name)| Some(weight * find(before, name)?.value)).sum()
        }
        Origin::SetsMet { sets } => {
            let met: Vec<bool> = sets.iter().filter_map(|set| all_met(set, before)).collect();
            (!met.is_empty()).then(|| met.iter().filter(|met| **met).count() as f64)
        }
    }
}

/// Whether all of `limits` are met; `None` where a figure is not there.
fn all_met(limits: &[Minimum], figures: &[Figure]) -> Option<bool> {
    let met: Option<Vec<bool>> = limits
        .iter()
        .map(|limit| Some(find(figures, &limit.figure)?.value >= limit.at_least))
        .collect();
    met.map(|met| met.iter().all(|met| *met))
}

fn find<'a>(figures: &'a [Figure], name: &str) -> Option<&'a Figure> {
    figures.iter().find(|figure| figure.name == name)
}

fn measured<'a>(phases: &'a [Phase], name: &str) -> Option<&'a Phase> {
    phases.iter().find(|phase| phase.name == name && phase.is_measured())
}

/// What a phase gives, in the figure's unit.
fn taken(quantity: Quantity, spec: &FigureSpec, phase: &Phase) -> Option<f64> {
    let seconds = phase.duration_ns.as_secs_f64();
    let unit = spec.unit.bytes_per_s.unwrap_or(1.0);
    let bytes_of = |direction: Option<Direction>| Some(direction?.bytes.as_f64() / seconds / unit);
    let value = match quantity {
        Quantity::Bytes => phase.bytes.as_f64() / seconds / unit,
        Quantity::Operations => phase.ops as f64 / seconds,
        Quantity::Reads => phase.reads?.ops as f64 / seconds,
        Quantity::Writes => phase.writes?.ops as f64 / seconds,
        Quantity::BytesRead => bytes_of(phase.reads)?,
        Quantity::BytesWritten => bytes_of(phase.writes)?,
    };
    value.is_finite().then_some(value)
}

fn aggregated(aggregate: Aggregate, values: &[f64]) -> Option<f64> {
    match aggregate {
        Aggregate::Mean if values.is_empty() => None,
        Aggregate::Mean => Some(values.iter().sum::<f64>() / values.len() as f64),
        Aggregate::Best => values.iter().copied().max_by(f64::total_cmp),
    }
}
