//! The parts of a phase that lie between two looks of the monitor, and whether each was disturbed.

use cardproof_io::Usage;
use cardproof_record::OwnActivity;
use cardproof_units::Bytes;
use cardproof_workload::PhaseSpec;

use crate::meter::Meter;
use crate::monitor::{Monitor, Observation};
use crate::surroundings;

/// Asks the monitor for the parts of a phase, and whether each was disturbed.
pub(crate) struct Parts {
    filesystem: Option<String>,
    block_size: Bytes,
    is_direct: bool,
    before: OwnActivity,
    cost: Option<Usage>,
}

impl Parts {
    /// The parts of the phase `spec` that begins now, when the run has had the `cost`.
    pub(crate) fn new(
        spec: &PhaseSpec,
        is_direct: bool,
        filesystem: Option<String>,
        cost: Option<Usage>,
    ) -> Self {
        let block_size = spec.block_size;
        Self { filesystem, block_size, is_direct, before: OwnActivity::default(), cost }
    }

    /// Whether the part that has ended since the last call was disturbed; `None` while none has ended.
    pub(crate) fn ended(
        &mut self,
        meter: &Meter<'_>,
        monitor: &mut dyn Monitor,
        cost: impl FnOnce() -> Option<Usage>,
    ) -> Option<bool> {
        let whole = monitor.window()?;
        let cost = cost();
        let own_cpu = surroundings::own_cpu(self.cost, cost, &whole);
        self.cost = cost;
        let now = meter.own(self.block_size, self.is_direct);
        let own = OwnActivity {
            ops: now.ops - self.before.ops,
            flushes: now.flushes - self.before.flushes,
            read_bytes: now.read_bytes.saturating_sub(self.before.read_bytes),
            written_bytes: now.written_bytes.saturating_sub(self.before.written_bytes),
            ..now
        };
        self.before = now;
        let seen = Observation { windows: vec![whole.clone()], whole, processor_wait: None };
        let surroundings = surroundings::surroundings(&seen, own, own_cpu);
        Some(monitor.is_part_disturbed(&surroundings, self.filesystem.as_deref()))
    }
}
