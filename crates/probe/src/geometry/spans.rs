//! Random reads in wider and wider spans, each visited wholly just before.

use cardproof_evidence::geometry::{Mapping, Observations, SpanPass, SpanRow, Value, infer};
use cardproof_units::{Bytes, Nanos};

use super::bench::{Bench, ProbeError};
use super::plan::Plan;

/// The narrowest and widest span.
const LEAST: u64 = 16 << 20;
const MOST: u64 = 16 << 30;

/// The distance of the places that are visited; maps are fetched in pieces of this and more.
const STRIDE: u64 = 1 << 20;

/// The size of each read.
const READ: u64 = 4096;

/// Reads in each span that count.
const READS: u64 = 384;

/// Passes; all must agree.
const PASSES: usize = 2;

/// Times all passes.
pub(super) fn passes(
    bench: &mut Bench<'_>,
    plan: &Plan,
    observations: &mut Observations,
) -> Result<(), ProbeError> {
    let most = MOST.min(plan.scope.size.get());
    if most < 4 * LEAST {
        return Ok(());
    }
    let most = if plan.writes() { filled(bench, plan, observations, most)? } else { most };
    for _ in 0..PASSES {
        let mut pass = SpanPass::default();
        let mut span = LEAST;
        while span <= most {
            pass.rows.extend(row(bench, span)?);
            span *= 2;
        }
        observations.spans.push(pass);
    }
    Ok(())
}

/// Makes every place that will be read one that was written, because others read differently; returns
/// how far they were. On a card that does not map by page small writes all over cost too much: there,
/// only what a sweep has written is looked at.
fn filled(
    bench: &mut Bench<'_>,
    plan: &Plan,
    observations: &Observations,
    most: u64,
) -> Result<u64, ProbeError> {
    let swept = observations.sweeps.first().map_or(0, |sweep| sweep.written.get());
    let by_page = Some(Value::Mapping(Mapping::Pages));
    if infer(observations).mapping.claim().map(|claim| claim.value) != by_page {
        return Ok(most.min(swept));
    }
    let most = most.min(plan.scope.size.get());
    for place in swept / STRIDE..most / STRIDE {
        bench.write(place * STRIDE, READ.max(bench.block))?;
    }
    Ok(most)
}

fn row(bench: &mut Bench<'_>, span: u64) -> Result<Option<SpanRow>, ProbeError> {
    let places = span / STRIDE;
    for place in 0..places {
        bench.read(place * STRIDE, READ.max(bench.block))?;
    }
    let mut total = 0;
    let mut count = 0;
    for _ in 0..READS {
        let place = bench.below(places);
        if let Some(time) = bench.read(place * STRIDE, READ.max(bench.block))? {
            total += time.get();
            count += 1;
        }
    }
    Ok((count > 0).then(|| SpanRow { span: Bytes(span), latency: Nanos(total / count) }))
}
