//! Power cuts on a simulated card: the experiment of `cardproof_probe`, put into the record.

pub(crate) mod apps;
pub(crate) mod real;

use std::sync::atomic::Ordering;

use cardproof_evidence::powercut::{CutReport, Finding, Plan, SECTOR};
use cardproof_probe::powercut::{Outcome, Style, Wish, run};
use cardproof_record::{CutHarm, PowerCutTest, ProfileInfo, Record, State, TargetKind, Trial};
use cardproof_sim::Keeping;
use cardproof_units::{Bytes, Seed, with_causes};

use crate::announcement::{Effect, Prepared, Writes};
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::frontend::{Event, Frontend};
use crate::session::Bench;
use crate::target::{Span, Storage, StorageNeeds, Writing};

/// How much of a simulated card is written and read for each cut.
const AREA: Bytes = Bytes::mib(1);

/// How a write is made durable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutMode {
    /// A flush after some writes, to a device.
    Flush,
    /// Each write is durable when it is over (forced unit access).
    Fua,
    /// `fsync` after some writes to a file.
    Fsync,
}

impl CutMode {
    /// Its name in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flush => "flush",
            Self::Fua => "fua",
            Self::Fsync => "fsync",
        }
    }

    /// How many writes lie between two promises.
    #[must_use]
    pub const fn writes_per_flush(self) -> u32 {
        match self {
            Self::Flush | Self::Fsync => 8,
            Self::Fua => 1,
        }
    }
}

/// Power cuts on a simulated card, in virtual time.
#[derive(Clone, Copy, Debug)]
pub struct PowerCuts {
    cuts: u64,
    mode: CutMode,
    queue_depth: u16,
}

impl PowerCuts {
    /// So many `cuts`, at least 1, with at most `queue_depth` writes under way at a time.
    #[must_use]
    pub const fn new(cuts: u64, mode: CutMode, queue_depth: u16) -> Self {
        Self { cuts, mode, queue_depth }
    }

    fn wish(&self, area: Bytes) -> Wish {
        Wish {
            cuts: self.cuts,
            start: Bytes::ZERO,
            size: area,
            epoch_writes: self.mode.writes_per_flush(),
            // A kernel follows each write with a flush on cards without forced unit access.
            style: Style { queue_depth: self.queue_depth, writes_are_durable: false },
        }
    }
}

impl Experiment for PowerCuts {
    type Place = Storage;

    fn needs(&mut self, _seed: Seed) -> StorageNeeds {
        StorageNeeds {
            power_cuts: true,
            ..StorageNeeds::new(Span::new(AREA), Writing::Always, Keeping::Bytes)
        }
    }

    fn prepare(
        &mut self,
        place: &mut Storage,
        draft: &mut Record,
        _frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        if place.kind != TargetKind::Simulated {
            return Err(Failure::usage(
                "only the power of a simulated card can be cut here; for a real one: cardproof \
                 powercut write on the board, and cardproof powercut witness on another computer",
            ));
        }
        draft.profile = ProfileInfo::untimed("powercut", 1);
        let wish = self.wish(place.span);
        let block = place.target.abilities().logical_block;
        Plan::new(draft.seed, wish.start, wish.size, block, wish.epoch_writes)
            .map_err(|error| Failure::usage(error.to_string()))?;
        Ok(Prepared {
            name: "powercut".to_owned(),
            decided_by: serde_json::json!([
                wish.cuts,
                wish.start,
                wish.size,
                wish.epoch_writes,
                self.mode.name()
            ])
            .to_string(),
            effect: Effect { writes: Writes::Nothing, span: place.span, ..Effect::default() },
            notes: vec![format!(
                "Simulates {} power cuts during writes. Writes are made durable by {}.",
                self.cuts,
                self.mode.name()
            )],
        })
    }

    fn run(&mut self, bench: &mut Bench<'_, Storage>) {
        let wish = self.wish(bench.place.span);
        let Bench { place, record, seed, stop, recorder } = bench;
        let of = self.cuts;
        let outcome = run(&mut *place.target, &wish, *seed, &mut |done| {
            recorder.tell(Event::Part { deed: "of the cuts done", done, of });
            !stop.load(Ordering::Relaxed)
        });
        match outcome {
            Ok(outcome) => self.fill(record, &outcome, wish.size),
            Err(error) => {
                recorder.note(&format!("The test has ended early: {}.", with_causes(&error)));
                record.state = State::Failed;
            }
        }
    }
}

impl PowerCuts {
    fn fill(&self, record: &mut Record, outcome: &Outcome, area: Bytes) {
        record.bytes_written += outcome.bytes_written;
        record.bytes_read += outcome.bytes_read;
        record.state = if outcome.is_cut_short { State::Partial } else { State::Complete };
        let tally = &outcome.tally;
        let unstable = outcome.harmful.iter().map(|(_, report)| report.unstable_sectors).sum();
        record.trial = Some(Trial::PowerCuts(PowerCutTest {
            mode: self.mode.name().to_owned(),
            power: "simulated".to_owned(),
            queue_depth: self.queue_depth,
            writes_per_flush: self.mode.writes_per_flush(),
            area_bytes: area,
            cuts: tally.cuts,
            effective_cuts: tally.effective_cuts,
            harmful_cuts: tally.harmful_cuts,
            findings: tally
                .findings
                .iter()
                .map(|(kind, count)| (kind.name().to_owned(), *count))
                .collect(),
            harm: outcome.harmful.iter().flat_map(|(cut, report)| cut_harm(*cut, report)).collect(),
            unstable_sectors: unstable,
            extra: Default::default(),
        }));
    }
}

/// Each kind of harm of one cut once, with the first place that shows it.
#[must_use]
pub fn cut_harm(cut: u64, report: &CutReport) -> Vec<CutHarm> {
    let first = |kind| report.findings.iter().find(|finding| finding.kind == kind);
    let stored = |finding: &Finding| CutHarm {
        cut,
        kind: finding.kind.name().to_owned(),
        write: finding.number,
        address_bytes: Bytes(finding.sector * SECTOR as u64),
        length_bytes: Bytes(finding.sectors * SECTOR as u64),
        distance_bytes: finding.distance,
    };
    report.kinds().into_iter().filter_map(first).map(stored).collect()
}
