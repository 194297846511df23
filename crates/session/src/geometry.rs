//! The geometry of a card's flash: the probe's timings, put into the record.

use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_evidence::geometry::{Observations, Sweep, UnitsTable};
use cardproof_probe::geometry::{Outcome, Plan, Scope, Watch, run as probe};
use cardproof_record::{
    BlockRates, BoundaryRun, BoundaryTiming, CacheRecovery, FlashTimings, FrontTimes, OpenUnitsRun,
    PatternName, ProbeTimings, ProfileInfo, RateFall, Record, SpreadTimes, State, SweepRun,
    TargetKind, TimeAt, TimesRun,
};
use cardproof_sim::Keeping;
use cardproof_units::{Bytes, Nanos, Seed, with_causes};

use crate::announcement::{Effect, Prepared, Writes};
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::frontend::{Event, Frontend};
use crate::session::Bench;
use crate::target::{Span, Storage, StorageNeeds, Writing};

/// The size of a file of our own: room for places in eleven allocation units of 64 MiB.
const OWN_FILE: Bytes = Bytes::mib(768);

/// How long it takes on a slow card, for the progress bar.
const TIME_GUESS: Nanos = Nanos::from_secs(900);

/// The experiment. On a device without leave to destroy it reads only.
#[derive(Clone, Copy, Debug, Default)]
pub struct GeometryProbe {
    plan: Option<Plan>,
}

impl Experiment for GeometryProbe {
    type Place = Storage;

    fn needs(&mut self, _seed: Seed) -> StorageNeeds {
        // What it writes is not compared later, so nothing of it is kept.
        StorageNeeds {
            whole_device: true,
            ..StorageNeeds::new(
                Span { own_file: OWN_FILE, existing: Bytes(u64::MAX) },
                Writing::WhereAllowed,
                Keeping::Nothing,
            )
        }
    }

    fn prepare(
        &mut self,
        place: &mut Storage,
        draft: &mut Record,
        _frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        draft.profile = ProfileInfo::untimed("geometry", 1);
        let card = draft.conditions.device.card.as_ref();
        let abilities = place.target.abilities();
        let plan = Plan::new(Scope {
            size: place.span,
            logical_block: abilities.logical_block,
            may_write: !abilities.read_only,
            is_whole_device: matches!(place.kind, TargetKind::BlockDevice | TargetKind::Simulated),
            reported_unit: card.and_then(|card| card.allocation_unit_bytes),
            seed: draft.seed,
        });
        self.plan = Some(plan);
        Ok(Prepared {
            name: "geometry".to_owned(),
            decided_by: place.span.get().to_string(),
            effect: effect(&plan, place.span),
            notes: notes(&plan, has_room(place)),
        })
    }

    fn run(&mut self, bench: &mut Bench<'_, Storage>) {
        let Some(plan) = self.plan else { return };
        let recorder = &mut bench.recorder;
        let mut watch = Steps { stop: bench.stop, tell: &mut |event| recorder.tell(event) };
        match probe(&mut *bench.place.target, &plan, &mut watch) {
            Ok(outcome) => fill(&mut bench.record, &outcome),
            Err(error) => {
                bench.record.state = State::Failed;
                bench.recorder.note(&format!("Not measured: {}.", with_causes(&error)));
            }
        }
    }
}

fn effect(plan: &Plan, span: Bytes) -> Effect {
    let writes = match plan.bytes_most() {
        Bytes::ZERO => Writes::Nothing,
        most => Writes::AtMost(most),
    };
    Effect { writes, span, time_guess: TIME_GUESS, ..Effect::default() }
}

/// Whether the place has room for a range that suffices. A file of ours can be larger.
fn has_room(place: &Storage) -> bool {
    place.kind == TargetKind::Directory || place.target.abilities().size >= Plan::range_wanted()
}

fn notes(plan: &Plan, has_room: bool) -> Vec<String> {
    if plan.writes() {
        return vec![
            "Measures how the card manages its flash (its geometry), by reading and writing."
                .to_owned(),
        ];
    }
    if plan.is_too_small() {
        let wanted = Plan::range_wanted();
        let more = match has_room {
            true => format!("With --size {} or more", wanted.as_argument()),
            false => format!("On storage of at least {wanted}"),
        };
        return vec![format!(
            "Measures how the card manages its flash (its geometry), by reading alone, because the range is too small \
             for writes. {more}, cardproof also writes and finds more."
        )];
    }
    vec![
        "Measures how the card manages its flash (its geometry), by reading alone. Areas that were never written \
         show nothing. With --destroy, or in a directory, cardproof also writes and finds more."
            .to_owned(),
    ]
}

/// Hands on the probe's steps.
struct Steps<'a> {
    stop: &'a AtomicBool,
    tell: &'a mut dyn FnMut(Event<'_>),
}

impl Watch for Steps<'_> {
    fn step(&mut self, name: &'static str, done: f64) {
        // A thousandth is fine enough for a bar.
        let done = (done * 1000.0) as u64;
        (self.tell)(Event::Part { deed: name, done, of: 1000 });
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

fn fill(record: &mut Record, outcome: &Outcome) {
    record.bytes_read = outcome.bytes_read;
    record.bytes_written = outcome.bytes_written;
    record.state = if outcome.is_partial { State::Partial } else { State::Complete };
    record.flash_timings = timings(&outcome.observations);
}

/// The observations as the record keeps them.
fn timings(observations: &Observations) -> FlashTimings {
    let mut open_units = Vec::new();
    for table in &observations.linear {
        open_units.extend(runs(table, PatternName::Sequential));
    }
    for table in &observations.random {
        open_units.extend(runs(table, PatternName::Random));
    }
    FlashTimings {
        boundaries: boundaries(observations),
        open_units,
        first_areas: Vec::new(),
        probe: probe_timings(observations),
    }
}

fn boundaries(observations: &Observations) -> Vec<BoundaryRun> {
    let run = |pass: &cardproof_evidence::geometry::BoundaryPass| {
        let rows = pass.rows.iter().map(|row| BoundaryTiming {
            alignment_bytes: row.align,
            before_ns: row.reads[0],
            across_ns: row.reads[1],
            after_ns: row.reads[2],
            difference_ns: row.extra_ns,
        });
        BoundaryRun { block_bytes: None, rows: rows.collect() }
    };
    observations.boundaries.iter().map(run).collect()
}

fn runs(table: &UnitsTable, order: PatternName) -> impl Iterator<Item = OpenUnitsRun> + '_ {
    table.rows.iter().map(move |row| OpenUnitsRun {
        units: Some(row.units.into()),
        order,
        unit_bytes: None,
        rows: vec![BlockRates { block_bytes: row.block, bytes_per_s: vec![row.rate] }],
    })
}

fn probe_timings(observations: &Observations) -> ProbeTimings {
    let time = |at_bytes, time_ns| TimeAt { at_bytes, time_ns };
    ProbeTimings {
        sweeps: observations.sweeps.iter().map(sweep).collect(),
        recoveries: observations
            .recoveries
            .iter()
            .map(|one| CacheRecovery {
                rest_ns: one.rest,
                fast_bytes: one.fast,
                cache_bytes: one.cache,
            })
            .collect(),
        rewrites: observations
            .sizes
            .iter()
            .map(|pass| TimesRun {
                rows: pass.rows.iter().map(|row| time(row.size, row.time)).collect(),
            })
            .collect(),
        spreads: observations
            .spreads
            .iter()
            .map(|one| SpreadTimes {
                block_bytes: one.block,
                in_order_ns: one.in_order,
                again_ns: one.again,
            })
            .collect(),
        front: observations.first_area.as_ref().map(|area| FrontTimes {
            rows: area.rows.iter().map(|row| time(row.end, row.time)).collect(),
            elsewhere_ns: area.elsewhere,
            obstacle: area.obstacle.clone(),
        }),
        spans: observations
            .spans
            .iter()
            .map(|pass| TimesRun {
                rows: pass.rows.iter().map(|row| time(row.span, row.latency)).collect(),
            })
            .collect(),
        not_measured: observations.not_measured.clone(),
        needed_range_bytes: observations.needed_range,
    }
}

fn sweep(sweep: &Sweep) -> SweepRun {
    SweepRun {
        block_bytes: sweep.block,
        written_bytes: sweep.written,
        longer_every_bytes: sweep.longer_every,
        fall: sweep.cliff.map(|cliff| RateFall {
            fast_bytes: cliff.fast,
            before_bytes_per_s: cliff.before,
            after_bytes_per_s: cliff.after,
        }),
        bytes_per_s: sweep.course.clone(),
    }
}
