//! Whether two phases of one shape may be compared at all, and if not, why.

use cardproof_record::{Phase, Record, Warning, WarningCode};
use cardproof_units::Bytes;

use super::shape::Measured;
use crate::doubts::{Doubt, doubts};
use crate::stated::may_be_memory;

/// Methods that all run iozone for the phases that bypass the page cache.
const IOZONE: [&str; 5] =
    ["iozone", "sd-card-bench", "microsd-benchmarks", "pibenchmarks", "sd6-256m"];

/// Ranges that differ by less are alike: time may end the laying out a block early.
const SPAN_TOLERANCE: f64 = 1.05;

/// Something that differs between two figures and decides a rate.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// The methods.
    Method([String; 2]),
    /// The versions of the profile.
    Profile([u32; 2]),
    /// The hosts; `None` where one is not known.
    Host(Option<[Host; 2]>),
    /// The ranges of addresses; zero where one is not told.
    Range([Bytes; 2]),
    /// Only one used the page cache.
    PageCache,
    /// A figure is in doubt.
    Doubt(InDoubt),
}

impl Difference {
    /// Whether `other` differs in the same, whatever the values.
    pub(super) fn is_in_the_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Doubt(one), Self::Doubt(another)) => one == another,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }
}

/// Why a figure stands for nothing.
#[derive(Clone, Debug, PartialEq)]
pub enum InDoubt {
    /// A doubt says so.
    Warned(Warning),
    /// It may be of the page cache, as this tool does not tell.
    PerhapsMemory(String),
}

/// A class of hosts that serve a card alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// A simulated one.
    Simulated,
    /// A board of this name.
    Board(String),
    /// A computer.
    Computer {
        /// Its architecture.
        architecture: String,
        /// The number of its processors.
        cpus: u32,
        /// Its memory.
        memory: Bytes,
    },
}

/// What a figure was measured by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// The method.
    pub method: String,
    /// The host; `None` where too little is known of it.
    pub host: Option<Host>,
    /// Whether it went through the page cache.
    pub is_buffered: bool,
}

/// What the figures of a card were measured by, each once; empty where nothing was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bases(pub Vec<Basis>);

/// Everything that differs between `a` and `b` and decides a rate; empty where they are alike.
pub(super) fn differences(a: &Measured<'_>, b: &Measured<'_>) -> Vec<Difference> {
    let mut found: Vec<Difference> =
        [method(a, b), host(a, b), span(a, b), cache(a, b)].into_iter().flatten().collect();
    let doubts = [a, b].into_iter().filter_map(in_doubt);
    found.extend(doubts.map(Difference::Doubt));
    found
}

/// The basis of a figure: figures of one basis and one range may be compared. Profiles of ours in
/// different versions are different methods.
pub(super) fn basis(measured: &Measured<'_>) -> Basis {
    Basis {
        method: method_of(measured.record, measured.phase),
        host: host_class(measured.record),
        is_buffered: is_buffered(measured),
    }
}

/// Whether two ranges of addresses are alike; a range that is not told is like no other.
#[must_use]
pub fn is_span_alike(a: Bytes, b: Bytes) -> bool {
    a.min(b).as_f64() * SPAN_TOLERANCE >= a.max(b).as_f64()
}

/// The basis of a figure that may stand beside others of the same; `None` where too little is known
/// of the host to say that another's is the same, or where the figure is in doubt.
pub(super) fn shared_basis(measured: &Measured<'_>) -> Option<Basis> {
    let is_known = host_class(measured.record).is_some() && in_doubt(measured).is_none();
    is_known.then(|| basis(measured))
}

/// Beyond the range that a card has at hand, each operation takes at most so many times as long.
const MISS_COST_MAX: f64 = 10.0;

/// By what factor the range `own` may raise a rate beside one over `other`; `None` where a range is not
/// told. Two things make a smaller range faster: more of it lies in what the card has at hand, and small
/// writes that share an allocation unit share the copying of it, which goes with the range itself.
pub(super) fn range_advantage(own: Bytes, other: Bytes) -> Option<f64> {
    if is_span_alike(own, other) {
        return Some(1.0);
    }
    if own == Bytes::ZERO || other == Bytes::ZERO {
        return None;
    }
    let times = other.as_f64() / own.as_f64();
    // All of the smaller range is at hand, and of the larger one as much and no more.
    let at_hand = 1.0 + (MISS_COST_MAX - 1.0) * (1.0 - 1.0 / times);
    Some(if times < 1.0 { 1.0 } else { times.max(at_hand) })
}

fn method(a: &Measured<'_>, b: &Measured<'_>) -> Option<Difference> {
    let [method_a, method_b] = [a, b].map(|of| method_of(of.record, of.phase));
    if method_a != method_b {
        return Some(Difference::Method([method_a, method_b]));
    }
    let [profile_a, profile_b] = [a, b].map(|of| &of.record.profile);
    let is_changed = profile_a.name == profile_b.name
        && !a.record.is_imported()
        && !b.record.is_imported()
        && profile_a.version != profile_b.version;
    is_changed.then_some(Difference::Profile([profile_a.version, profile_b.version]))
}

/// Who measured how. A profile of ours that repeats a tool's method counts as that method.
fn method_of(record: &Record, phase: &Phase) -> String {
    let name = record.profile.name.as_str();
    let is_direct = !phase.warnings.iter().any(|warning| warning.code == WarningCode::Buffered);
    if IOZONE.contains(&name) && is_direct {
        "iozone".to_owned()
    } else if record.is_imported() || is_a_peers_method(name) {
        name.to_owned()
    } else {
        "cardproof".to_owned()
    }
}

/// Whether a profile of ours is a tool's method and not our own.
fn is_a_peers_method(name: &str) -> bool {
    IOZONE.contains(&name)
        || ["fio-randrw75", "fio-fsync", "agnostics", "crystaldiskmark"].contains(&name)
}

fn host(a: &Measured<'_>, b: &Measured<'_>) -> Option<Difference> {
    let [host_a, host_b] = [a, b].map(|of| host_class(of.record));
    match (host_a, host_b) {
        (Some(a), Some(b)) if a == b => None,
        (Some(a), Some(b)) => Some(Difference::Host(Some([a, b]))),
        _ => Some(Difference::Host(None)),
    }
}

/// The class of hosts that serve a card alike; `None` where too little is known.
fn host_class(record: &Record) -> Option<Host> {
    if record.is_simulated() {
        return Some(Host::Simulated);
    }
    let host = &record.conditions.host;
    if let Some(board) = &host.board {
        return Some(Host::Board(board_class(board)));
    }
    let architecture = host.architecture.clone()?;
    Some(Host::Computer { architecture, cpus: host.cpus?, memory: host.memory_bytes? })
}

/// A board without its revision: `Raspberry Pi 4 Model B Rev 1.4` and `Raspberry Pi 4 B` are one.
fn board_class(board: &str) -> String {
    let board = board.split(" Rev ").next().unwrap_or(board);
    let words: Vec<&str> = board.split_whitespace().collect();
    match words.as_slice() {
        ["Raspberry", "Pi", number, ..] if number.parse::<u8>().is_ok() => {
            format!("Raspberry Pi {number}")
        }
        words => words.join(" "),
    }
}

fn span(a: &Measured<'_>, b: &Measured<'_>) -> Option<Difference> {
    let [span_a, span_b] = [a, b].map(|of| of.phase.span_bytes);
    (!is_span_alike(span_a, span_b)).then_some(Difference::Range([span_a, span_b]))
}

fn is_buffered(measured: &Measured<'_>) -> bool {
    let is_warned =
        measured.phase.warnings.iter().any(|warning| warning.code == WarningCode::Buffered);
    is_warned || (!measured.record.is_imported() && !measured.record.conditions.target.direct)
}

fn cache(a: &Measured<'_>, b: &Measured<'_>) -> Option<Difference> {
    (is_buffered(a) != is_buffered(b)).then_some(Difference::PageCache)
}

/// Why the figure of `measured` stands for nothing, if it does not.
pub(super) fn in_doubt(measured: &Measured<'_>) -> Option<InDoubt> {
    in_one_of(&doubts(measured.record), measured).or_else(|| of_memory(measured))
}

/// Which of `doubts`, those about the record of `measured`, says that its figure stands for nothing.
fn in_one_of(doubts: &[Doubt], measured: &Measured<'_>) -> Option<InDoubt> {
    let doubt = doubts.iter().find(|doubt| {
        doubt.warning.code != WarningCode::Buffered && doubt.forbids_verdict_on(measured.index)
    })?;
    Some(InDoubt::Warned(doubt.warning.clone()))
}

/// That the figure of `measured` may be of memory and not of the storage.
fn of_memory(measured: &Measured<'_>) -> Option<InDoubt> {
    may_be_memory(measured.record, measured.phase)
        .then(|| InDoubt::PerhapsMemory(measured.record.tool.name.clone()))
}

/// The doubts about records, each found once for all figures.
#[derive(Default)]
pub(super) struct FoundDoubts<'r>(Vec<(&'r Record, Vec<Doubt>)>);

impl<'r> FoundDoubts<'r> {
    /// As [`in_doubt`].
    pub(super) fn in_doubt(&mut self, measured: &Measured<'r>) -> Option<InDoubt> {
        let known = self.0.iter().position(|(record, _)| std::ptr::eq(*record, measured.record));
        let at = known.unwrap_or_else(|| {
            self.0.push((measured.record, doubts(measured.record)));
            self.0.len() - 1
        });
        in_one_of(&self.0[at].1, measured).or_else(|| of_memory(measured))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boards_of_one_class() {
        for (board, class) in [
            ("Raspberry Pi 4 Model B Rev 1.4", "Raspberry Pi 4"),
            ("Raspberry Pi 4 B", "Raspberry Pi 4"),
            ("Raspberry Pi 1 B (2011.12)", "Raspberry Pi 1"),
            ("Raspberry Pi Zero 2 W Rev 1.0", "Raspberry Pi Zero 2 W"),
            ("NanoPi M4", "NanoPi M4"),
        ] {
            assert_eq!(board_class(board), class);
        }
    }
}
