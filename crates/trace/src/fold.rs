//! Where a trace's addresses lie on another, often smaller, target.
//!
//! Where the target is as large as the trace reaches, addresses are kept. Else the trace's device
//! is cut into regions of 4 MiB, which is a card's usual allocation unit; those that are read or
//! written at all are put side by side in their order. So requests keep their place within a
//! region, neighbours stay neighbours, streams stay streams, and no two addresses meet. Only where
//! even that is too large do regions share a place: their numbers wrap around.

use std::collections::BTreeSet;

use cardproof_units::Bytes;

use super::error::TraceError;
use super::reader::TraceReader;
use super::request::{Request, RequestKind};

/// The unit of folding: the largest allocation unit of cards up to 32 GB (SD Physical Layer
/// Specification, AU_SIZE), and a multiple of most erase blocks.
pub const REGION: Bytes = Bytes::mib(4);

/// The longest read or write that a trace may hold; no kernel makes one of more than some MiB.
const LENGTH_MAX: Bytes = Bytes::gib(1);

/// Why a trace cannot be laid on a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// The trace is not sound.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// A request is longer than any device takes.
    #[error("request {number} of the trace is {length} long, and none is longer than {LENGTH_MAX}")]
    TooLong {
        /// Its number, from 1.
        number: u64,
        /// How long it is.
        length: Bytes,
    },
    /// There is not even room for one region.
    #[error(
        "a replay needs at least {REGION} to work in, and there are {span}; use more of the target"
    )]
    TooSmall {
        /// What there is.
        span: Bytes,
    },
}

/// What a trace touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// The end of the furthest read or write.
    pub end: Bytes,
    /// Whether anything is written or discarded.
    pub writes: bool,
    /// The numbers of the regions that are read or written, ascending.
    regions: Vec<u64>,
}

impl Reach {
    /// What the requests of `trace`, from its start, touch.
    ///
    /// # Errors
    /// The trace is damaged, or asks for more than any device takes at a time.
    pub fn new(trace: &TraceReader<'_>) -> Result<Self, FoldError> {
        let (mut end, mut writes, mut regions) = (Bytes::ZERO, false, BTreeSet::new());
        for (request, number) in trace.restarted().zip(1..) {
            let request = request?;
            writes |= matches!(request.kind, RequestKind::Write | RequestKind::Discard);
            if !moves_data(&request) {
                continue;
            }
            if request.length > LENGTH_MAX {
                return Err(FoldError::TooLong { number, length: request.length });
            }
            end = end.max(request.end());
            regions.extend(regions_of(&request));
        }
        Ok(Self { end, writes, regions: regions.into_iter().collect() })
    }

    /// How much room the trace takes where nothing is between the parts that it touches.
    #[must_use]
    pub fn packed(&self) -> Bytes {
        REGION * self.regions.len() as u64
    }
}

fn moves_data(request: &Request) -> bool {
    matches!(request.kind, RequestKind::Read | RequestKind::Write) && request.length > Bytes::ZERO
}

/// The numbers of the regions that `request`, which is not empty, touches.
fn regions_of(request: &Request) -> std::ops::RangeInclusive<u64> {
    let region = REGION.get();
    request.offset.get() / region..=(request.end().get() - 1) / region
}

/// How addresses are laid on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// As they were recorded.
    Kept,
    /// Regions that are touched lie side by side.
    Packed,
    /// The same, and some share a place.
    Wrapped,
}

/// The way from a trace's addresses to those of a target.
#[derive(Clone, Debug)]
pub struct Fold {
    layout: Layout,
    regions: Vec<u64>,
    /// How many regions the target holds.
    places: u64,
    span: Bytes,
    block: Bytes,
    piece_max: Bytes,
}

/// A part of a request, on the target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Where it starts, from the span's start.
    pub offset: Bytes,
    /// How long it is.
    pub length: Bytes,
}

impl Fold {
    /// Lays what `reach` says on a span of `span`, in whole blocks of `block`, a power of two, and
    /// in pieces of at most `piece_max`, a multiple of it.
    ///
    /// # Errors
    /// [`FoldError::TooSmall`].
    pub fn new(
        reach: &Reach,
        span: Bytes,
        block: Bytes,
        piece_max: Bytes,
    ) -> Result<Self, FoldError> {
        let span = span.round_down_to(block);
        let places = span.get() / REGION.get();
        let layout = if reach.end <= span {
            Layout::Kept
        } else if reach.regions.len() as u64 <= places {
            Layout::Packed
        } else if places > 0 {
            Layout::Wrapped
        } else {
            return Err(FoldError::TooSmall { span });
        };
        Ok(Self { layout, regions: reach.regions.clone(), places, span, block, piece_max })
    }

    /// How addresses are laid out.
    #[must_use]
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Puts the pieces of `request` on the target into `pieces`, in order. A discard of what the
    /// trace never touches, or beyond the target, has none.
    pub fn pieces(&self, request: &Request, pieces: &mut Vec<Piece>) {
        pieces.clear();
        if request.length == Bytes::ZERO {
            return;
        }
        if self.layout == Layout::Kept {
            self.cut(request.offset, request.end().min(self.span), request.kind, pieces);
            return;
        }
        let touched = regions_of(request);
        let first = self.regions.partition_point(|region| region < touched.start());
        let here = self.regions[first..].iter().take_while(|region| *region <= touched.end());
        for (place, region) in (first as u64..).zip(here) {
            let start = Bytes(region * REGION.get());
            let from = request.offset.max(start).saturating_sub(start);
            let to = request.end().saturating_sub(start).min(REGION);
            let base = REGION * (place % self.places);
            self.cut(base + from, base + to, request.kind, pieces);
        }
    }

    /// The range from `from` to `to` in whole blocks; discards need no buffer and stay whole.
    fn cut(&self, from: Bytes, to: Bytes, kind: RequestKind, pieces: &mut Vec<Piece>) {
        let mut offset = from.round_down_to(self.block);
        let end = Bytes(to.get().next_multiple_of(self.block.get()));
        let piece_max = if kind == RequestKind::Discard { end } else { self.piece_max };
        while offset < end {
            let length = end.saturating_sub(offset).min(piece_max);
            pieces.push(Piece { offset, length });
            offset += length;
        }
    }
}

#[cfg(test)]
mod tests {
    use cardproof_units::Nanos;

    use super::super::{Source, TraceWriter};
    use super::*;

    fn write(offset: u64, length: u64) -> Request {
        Request::new(Nanos::ZERO, RequestKind::Write, Bytes(offset), Bytes(length))
    }

    fn fold(requests: &[Request], span: Bytes) -> Result<Fold, FoldError> {
        let mut writer = TraceWriter::new("t", "", Source::Synthetic);
        requests.iter().for_each(|request| writer.push(request));
        let bytes = writer.finish(Nanos::ZERO);
        let reach = Reach::new(&TraceReader::new(&bytes).unwrap())?;
        Fold::new(&reach, span, Bytes::kib(4), Bytes::mib(1))
    }

    fn pieces(fold: &Fold, request: &Request) -> Vec<(u64, u64)> {
        let mut pieces = Vec::new();
        fold.pieces(request, &mut pieces);
        pieces.iter().map(|piece| (piece.offset.get(), piece.length.get())).collect()
    }

    #[test]
    fn a_target_that_is_large_enough_keeps_addresses_in_whole_blocks() {
        let request = write(8192 + 512, 1024);
        let fold = fold(&[request], Bytes::mib(8)).unwrap();
        assert_eq!(fold.layout(), Layout::Kept);
        assert_eq!(pieces(&fold, &request), [(8192, 4096)]);
    }

    #[test]
    fn touched_regions_move_together_and_keep_their_order() {
        let mib = 1 << 20;
        let (low, high) = (write(5 * mib, mib), write(1000 * mib - 4096, 8192));
        let fold = fold(&[high, low], Bytes::mib(12)).unwrap();
        assert_eq!(fold.layout(), Layout::Packed);
        assert_eq!(pieces(&fold, &low), [(mib, mib)]);
        assert_eq!(pieces(&fold, &high), [(8 * mib - 4096, 4096), (8 * mib, 4096)]);
        let discard = Request { kind: RequestKind::Discard, ..write(100 * mib, 2000 * mib) };
        assert_eq!(pieces(&fold, &discard), [(4 * mib, 4 * mib), (8 * mib, 4 * mib)]);
    }

    #[test]
    fn regions_share_places_only_where_they_must() {
        let mib = 1 << 20;
        let far: Vec<Request> = (0..3).map(|number| write(number * 100 * mib, 4096)).collect();
        let fold = fold(&far, Bytes::mib(8)).unwrap();
        assert_eq!(fold.layout(), Layout::Wrapped);
        assert_eq!(pieces(&fold, &far[1]), [(4 * mib, 4096)]);
        assert_eq!(pieces(&fold, &far[2]), [(0, 4096)]);
    }

    #[test]
    fn long_requests_are_cut_and_impossible_ones_refused() {
        let long = write(0, 5 << 19);
        let whole = fold(&[long], Bytes::mib(8)).unwrap();
        let lengths: Vec<u64> = pieces(&whole, &long).iter().map(|piece| piece.1).collect();
        assert_eq!(lengths, [1 << 20, 1 << 20, 1 << 19]);
        let endless = fold(&[write(0, 1 << 40)], Bytes::mib(8)).unwrap_err();
        assert!(matches!(endless, FoldError::TooLong { number: 1, .. }));
        let small = fold(&[long], Bytes::mib(2)).unwrap_err();
        assert!(matches!(small, FoldError::TooSmall { .. }));
    }
}
