//! When a run compares its data: after each phase that wrote, and once at its end.

use cardproof_io::FileState;
use cardproof_record::{DataCheck, OpName, PatternName, Phase, Record};
use cardproof_units::Bytes;
use cardproof_workload::{Generation, OpStream, PhaseSpec, Role};

use super::Run;
use crate::check::{AFTER_PHASE, AT_END, Dice, Sample, check};
use crate::history::{Source, Written};
use crate::phase::PhaseEnd;
use crate::spread::{Gap, Spread, spread};

impl Run<'_> {
    /// Notes what the phase `spec` has written: the operations of `stream`, as it was before its
    /// first, the writes carrying generations after `before`.
    pub(super) fn note_written(
        &mut self,
        spec: &PhaseSpec,
        stream: OpStream,
        before: Generation,
        end: &PhaseEnd,
    ) {
        if !spec.writes() || end.submitted_ops == 0 {
            return;
        }
        let is_laid_out = spec.role == Role::LayOut;
        self.written.push(Written {
            source: Source::Stream(Box::new(stream), end.submitted_ops),
            block_size: spec.block_size,
            first: if is_laid_out { Generation(0) } else { Generation(before.0 + 1) },
            is_laid_out,
            writes: if is_laid_out { end.submitted_ops } else { self.generation.0 - before.0 },
            overlap: end.overlap,
            is_certain: end.error.is_none(),
        });
    }

    /// Reads a sample of what the last phase has written back, if it wrote and went well.
    pub(super) fn check_phase(&mut self, record: &mut Record) -> Option<DataCheck> {
        let last = self.written.len().checked_sub(1)?;
        let number = record.phases.len();
        let sample = Sample { from: last, asked: &[], budget: AFTER_PHASE };
        self.check(record, sample, &format!("data check after phase {number}"))
    }

    /// Reads a sample of all that was written back, when every phase is over, and blocks that are
    /// written for this all over the part of the span that no phase has filled.
    pub(super) fn check_all(&mut self, record: &mut Record) -> Option<DataCheck> {
        if self.written.is_empty() || self.is_over() {
            return None;
        }
        let spread = self.spread(record);
        record.bytes_written += spread.bytes;
        self.written.extend(spread.written);
        let sample = Sample { from: 0, asked: &spread.places, budget: AT_END };
        let found = self.check(record, sample, "data check at the end")?;
        Some(DataCheck { spread_bytes: spread.bytes, ..found })
    }

    fn check(&mut self, record: &mut Record, sample: Sample<'_>, label: &str) -> Option<DataCheck> {
        if self.is_over() {
            return None;
        }
        let start = self.target.now();
        let mut dice = Dice::new(self.plan.seed, label);
        let found = check(self.target, self.data, &self.written, sample, &mut dice, self.stop);
        // No phase has less time because its data was looked at.
        let took = self.target.now().saturating_sub(start);
        self.deadline = self.deadline.saturating_add(took);
        if let Some(found) = &found {
            record.bytes_read += found.place_bytes * found.places;
        }
        found
    }

    fn spread(&mut self, record: &Record) -> Spread {
        let plan = self.plan;
        let is_as_left = |spec: &PhaseSpec| spec.arrangement.file == FileState::AsIs;
        let abilities = self.target.abilities();
        if abilities.read_only
            || !abilities.keeps_data
            || !plan.profile.phases.iter().all(is_as_left)
        {
            return Spread::default();
        }
        // Never more than was announced.
        let most = plan.profile.bytes_written_max();
        let room = most.map_or(Bytes(u64::MAX), |most| most.saturating_sub(record.bytes_written));
        let gap = Gap {
            start: plan.span_offset + self.span_state.dense_to(),
            end: plan.span_offset + plan.span,
            room,
        };
        let mut dice = Dice::new(plan.seed, "data spread at the end");
        spread(self.target, self.data, &self.written, gap, &mut self.generation, &mut dice)
    }

    /// Whether the user or the target has ended the run.
    fn is_over(&self) -> bool {
        self.given_up.is_some() || self.stop.load(std::sync::atomic::Ordering::Relaxed)
    }
}

/// The end of the addresses that `phases` worked in, from the target's start.
pub(super) fn measured_to(phases: &[Phase]) -> Option<Bytes> {
    let end = |phase: &Phase| {
        let is_only_begun = phase.pattern == PatternName::Sequential && phase.op != OpName::Mixed;
        let reached =
            if is_only_begun { phase.span_bytes.min(phase.bytes) } else { phase.span_bytes };
        phase.span_offset_bytes + reached
    };
    phases.iter().filter(|phase| phase.ops > 0).map(end).max()
}
