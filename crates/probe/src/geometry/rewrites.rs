//! Writing the same place again: in many sizes, far apart, and at the front of the card.

use cardproof_evidence::geometry::{
    FirstArea, Observations, PlaceRow, SizePass, SizeRow, Spread, infer,
};
use cardproof_units::{Bytes, Nanos};

use super::bench::{BUFFER, Bench, ProbeError, at_percent, middle};
use super::places::Places;
use super::plan::Plan;

/// Writes of one place that count, and those before them.
const WRITES: usize = 5;
const WRITES_BEFORE: usize = 2;

/// Where in a place is written: neither at its front nor at its end.
const INSIDE: u64 = 1 << 19;

/// The smallest size, and the grid on which a jump is narrowed down.
const SIZE_LEAST: u64 = 1 << 10;

/// A jump worth narrowing down.
const JUMP: u64 = 3;

/// The size of writes that a log takes for large.
const LARGE: u64 = 64 << 10;

/// Writes from front to back for comparison.
const IN_ORDER: u64 = 32;

/// The front is looked at up to here.
const FRONT: u64 = 96 << 20;

/// How sharply the end of the front is narrowed down.
const FRONT_GRID: u64 = 64 << 10;

/// The time of writing `length` bytes at `offset` again and again: the second shortest, because a log
/// that is full makes some of the writes to it wait, and a place without a log makes all of them.
fn again(bench: &mut Bench<'_>, offset: u64, length: u64) -> Result<Nanos, ProbeError> {
    let mut times = Vec::new();
    for write in 0..WRITES_BEFORE + WRITES {
        let time = bench.write(offset, length)?;
        if write >= WRITES_BEFORE {
            times.extend(time);
        }
    }
    Ok(at_percent(&times, 100 / WRITES))
}

/// Times by size, with the jump narrowed down.
pub(super) fn sizes(bench: &mut Bench<'_>, places: &Places) -> Result<SizePass, ProbeError> {
    let offset = places.starts[1] + INSIDE.min(places.room / 2);
    let grid = SIZE_LEAST.max(bench.block);
    let mut rows: Vec<SizeRow> = Vec::new();
    let mut size = grid;
    while size <= BUFFER.get().min(places.room / 2) {
        rows.push(SizeRow { size: Bytes(size), time: again(bench, offset, size)? });
        size *= 2;
    }
    while let Some((below, above)) = widest(&rows, grid) {
        let between = (below + above) / 2 / grid * grid;
        rows.push(SizeRow { size: Bytes(between), time: again(bench, offset, between)? });
        rows.sort_by_key(|row| row.size);
    }
    Ok(SizePass { rows })
}

/// The sizes beside the highest jump, if there is room between them.
fn widest(rows: &[SizeRow], grid: u64) -> Option<(u64, u64)> {
    let jump = |pair: &&[SizeRow]| pair[1].time.get() / pair[0].time.get().max(1);
    let pair = rows.windows(2).max_by_key(jump)?;
    let (below, above) = (pair[0].size.get(), pair[1].size.get());
    (jump(&pair) >= JUMP && above - below > grid).then_some((below, above))
}

/// Writing again beside writing in order.
pub(super) fn spread(
    bench: &mut Bench<'_>,
    places: &Places,
    observations: &Observations,
) -> Result<Spread, ProbeError> {
    let log = infer(observations).small_write_threshold.bytes().map_or(0, Bytes::get);
    let block = LARGE.max(log.next_power_of_two()).min(BUFFER.get());
    let from = places.starts[0] + places.room;
    let mut in_order = Vec::new();
    for step in 0..IN_ORDER {
        in_order.extend(bench.write(from + step * block, block)?);
    }
    let mut times = Vec::new();
    for start in &places.starts[1..5] {
        times.push(again(bench, start + INSIDE.min(places.room / 2), block)?);
    }
    Ok(Spread { block: Bytes(block), in_order: middle(&in_order), again: middle(&times) })
}

/// Writing again at the front.
pub(super) fn first_area(
    bench: &mut Bench<'_>,
    plan: &Plan,
    observations: &Observations,
) -> Result<FirstArea, ProbeError> {
    let mut area = FirstArea::default();
    if !plan.scope.is_whole_device {
        area.obstacle = Some("the target does not begin where the card begins".to_owned());
        return Ok(area);
    }
    let Some(spread) = observations.spreads.first() else { return Ok(area) };
    area.elsewhere = spread.again;
    let block = spread.block.get();
    let mut end = 2 * block;
    while end <= FRONT.min(plan.scope.size.get() / 2) {
        area.rows.push(place(bench, end, block)?);
        end *= 2;
    }
    while let Some(end) = between(&area) {
        area.rows.push(place(bench, end, block)?);
        area.rows.sort_by_key(|row| row.end);
    }
    Ok(area)
}

fn place(bench: &mut Bench<'_>, end: u64, block: u64) -> Result<PlaceRow, ProbeError> {
    Ok(PlaceRow { end: Bytes(end), time: again(bench, end - block, block)? })
}

/// An end between the last place that costs little and the first that costs much.
fn between(area: &FirstArea) -> Option<u64> {
    let costs_little = |row: &&PlaceRow| row.time.get() * 3 < area.elsewhere.get();
    let spared = area.rows.iter().take_while(costs_little).count();
    let (last, first) = (area.rows.get(spared.checked_sub(1)?)?, area.rows.get(spared)?);
    let (low, high) = (last.end.get(), first.end.get());
    (high - low > FRONT_GRID).then(|| (low + high) / 2 / FRONT_GRID * FRONT_GRID)
}
