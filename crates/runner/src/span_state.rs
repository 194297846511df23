//! What is known of the data in a run's span: how much was laid out, how much was ever written, and
//! whether it is what the run at hand has laid out.
//!
//! What was never written is answered by the tables of the file system or of the device, without a
//! look at the medium, so that reads of it say nothing of the storage.

use cardproof_io::FileState;
use cardproof_units::Bytes;
use cardproof_workload::{Access, PhaseSpec, Repetition, Role};

use crate::phase::PhaseEnd;

/// A layout that lacks less of its span than this part is as good as whole.
const WHOLE: f64 = 0.95;

/// The range to work in where `written` bytes of `span` were laid out: all of them where that is the
/// span but for a little, else the next lower power of two. So slow cards share a few ranges, and can be
/// compared with each other and with any card that is measured over such a range.
fn common_range(written: Bytes, span: Bytes) -> Bytes {
    let written = written.min(span);
    if written.as_f64() >= WHOLE * span.as_f64() || written == Bytes::ZERO {
        return written;
    }
    Bytes(1 << written.get().ilog2())
}

/// The span as the phases so far have left it, those of earlier runs on it included.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SpanState {
    /// How much of it, from its start, was laid out, once a phase has tried to.
    laid_out: Option<Bytes>,
    /// How much of it, from its start, was written at all.
    written: Bytes,
    /// It was laid out by the run at hand, so that reads can be compared with that.
    is_known: bool,
}

impl SpanState {
    /// Another run begins, whose data are others.
    pub(crate) const fn begin_run(&mut self) {
        self.is_known = false;
    }

    /// The file is fresh.
    pub(crate) fn empty(&mut self) {
        *self = Self::default();
    }

    /// Up to here, from its start, the span was written without a gap.
    pub(crate) const fn dense_to(&self) -> Bytes {
        self.written
    }

    /// Whether reads can be compared with what was laid out.
    pub(crate) const fn is_known(&self) -> bool {
        self.is_known
    }

    /// How much of a run's span `spec` works in: no more than was laid out, unless it makes a file
    /// of its own or lays out anew.
    pub(crate) fn span_for(&self, spec: &PhaseSpec, run_span: Bytes) -> Bytes {
        let span = spec.span_within(run_span);
        let is_as_left = spec.arrangement.file == FileState::AsIs && spec.role != Role::LayOut;
        self.laid_out.filter(|_| is_as_left).map_or(span, |laid_out| span.min(laid_out))
    }

    /// Whether `spec` has no room in `span`, since nothing was laid out for it.
    pub(crate) fn is_missing(&self, spec: &PhaseSpec, span: Bytes) -> bool {
        self.laid_out.is_some() && span < spec.block_size
    }

    /// Whether `spec` may read in `span` what was never written.
    pub(crate) fn is_unwritten(&self, spec: &PhaseSpec, span: Bytes) -> bool {
        spec.reads() && self.written < span.round_down_to(spec.block_size)
    }

    /// Notes what the phase `spec` has done in `span`.
    pub(crate) fn note(&mut self, spec: &PhaseSpec, span: Bytes, end: &PhaseEnd) {
        if spec.role == Role::LayOut {
            // The last block may have ended the time and not the span.
            self.laid_out = Some(common_range(end.written_to, span));
            self.is_known = true;
        }
        let is_dense = !spec.reads() && spec.alignment_offset == Bytes::ZERO;
        let whole = span.round_down_to(spec.block_size);
        let written = match spec.access {
            _ if !is_dense => Bytes::ZERO,
            Access::Sequential => end.written_to.min(whole),
            Access::Random(Repetition::EachBlockOnce)
                if end.error.is_none() && end.written_to >= whole =>
            {
                whole
            }
            Access::Random(_) => Bytes::ZERO,
        };
        self.written = self.written.max(written);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layouts_that_did_not_finish_share_a_few_ranges() {
        let of = |mib: u64| common_range(Bytes::mib(mib), Bytes::mib(256)).get() >> 20;
        let cases =
            [(256, 256), (250, 250), (240, 128), (128, 128), (127, 64), (70, 64), (1, 1), (0, 0)];
        for (written, expected) in cases {
            assert_eq!(of(written), expected, "{written} MiB");
        }
    }
}
