//! Which part the signs point to, and which experiment would tell.
//!
//! Most signs have several causes: a wrong checksum is more often of the contacts than of the card, a place
//! that the card itself calls unreadable is of the card alone. Each kind of sign gives each suspect points;
//! kinds count and not events, for one loose contact prints thousands of messages. A suspect is named where no
//! other comes near it; otherwise all that do are named, and the experiment is what tells them apart.

use serde::{Deserialize, Serialize};

use super::seen::{Attachment, Seen};
use super::sign::{Sign, SignKind, Weight};

/// A part that can be at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Suspect {
    /// The storage itself.
    Card,
    /// The reader or slot: contacts, adapter, the host's driver.
    Reader,
    /// The power supply.
    Power,
    /// The cable or the port.
    Cable,
}

/// What would tell the suspects apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Experiment {
    /// Put the card into another reader: if the signs come back, it is the card.
    SwapReader,
    /// Use another supply: if the signs stay away, it was the power.
    SwapSupply,
    /// Use another cable and another port: if the signs stay away, it was the cable.
    SwapCable,
    /// Write and read back all free space: shows whether the storage still keeps data.
    VerifyFull,
}

/// A suspect whose points are at least this share of the most is named beside the first.
const NEAR: f64 = 0.6;

/// At most so many experiments.
const EXPERIMENTS_MAX: usize = 2;

/// The order in which suspects are told where they have the same points.
const ALL: [Suspect; 4] = [Suspect::Card, Suspect::Reader, Suspect::Power, Suspect::Cable];

/// The suspects that `signs` point to, the likeliest first; none where no sign tells.
pub(super) fn suspects(seen: &Seen, signs: &[Sign]) -> Vec<Suspect> {
    let mut kinds: Vec<SignKind> = Vec::new();
    for sign in signs.iter().filter(|it| it.weight > Weight::Note) {
        if !kinds.contains(&sign.kind) {
            kinds.push(sign.kind);
        }
    }
    let mut points = [0_u32; 4];
    for kind in kinds {
        let of_kind = of_kind(kind);
        points.iter_mut().zip(of_kind).for_each(|(sum, more)| *sum += more);
    }
    let is_possible = |suspect: &Suspect| match suspect {
        Suspect::Card | Suspect::Power => true,
        Suspect::Reader => !is_without_reader(seen.attachment),
        Suspect::Cable => matches!(seen.attachment, Attachment::Usb | Attachment::Cable),
    };
    let mut found: Vec<(Suspect, u32)> =
        ALL.into_iter().zip(points).filter(|(suspect, _)| is_possible(suspect)).collect();
    found.sort_by_key(|&(_, points)| std::cmp::Reverse(points));
    let most = found.first().map_or(0, |&(_, points)| points);
    let is_near = |points: u32| points > 0 && f64::from(points) >= NEAR * f64::from(most);
    found.into_iter().filter(|&(_, points)| is_near(points)).map(|(suspect, _)| suspect).collect()
}

/// Whether a storage attached so is in no reader.
const fn is_without_reader(attachment: Attachment) -> bool {
    matches!(attachment, Attachment::Soldered | Attachment::Cable | Attachment::Drive)
}

/// The points of a sign of `kind` for card, reader, power and cable.
const fn of_kind(kind: SignKind) -> [u32; 4] {
    match kind {
        SignKind::UnreadablePlaces
        | SignKind::SelfReportedFailure
        | SignKind::BeyondLife
        | SignKind::FewSpareBlocks
        | SignKind::NearEndOfLife
        | SignKind::ReplacedBlocks => [6, 0, 0, 0],
        SignKind::WrongData => [4, 1, 1, 0],
        SignKind::WriteProtected => [4, 1, 0, 0],
        SignKind::StuckBusy => [4, 1, 1, 0],
        SignKind::QueueRestarts => [4, 1, 0, 0],
        SignKind::NotUsable => [3, 3, 2, 1],
        SignKind::NoAnswer => [2, 2, 2, 2],
        SignKind::FailedRequests | SignKind::FailedCommands => [2, 1, 1, 1],
        SignKind::WrongChecksums => [1, 5, 3, 3],
        SignKind::Resets => [1, 3, 3, 3],
        SignKind::WentAway | SignKind::FailedAfterRemoval => [1, 2, 2, 3],
        SignKind::LinkErrors => [0, 1, 1, 6],
        SignKind::UnderVoltage => [0, 0, 6, 0],
        SignKind::LongWaits => [2, 0, 1, 0],
        SignKind::SmallerThanItsFilesystem => [3, 0, 0, 0],
        SignKind::FilesystemErrors | SignKind::NotedFilesystemErrors => [1, 0, 1, 0],
        // Says nothing of this storage.
        SignKind::EarlierMedium => [0, 0, 0, 0],
        // Follow from other signs, whatever the cause.
        SignKind::LostWrites
        | SignKind::TurnedReadOnly
        | SignKind::NotUnmounted
        | SignKind::SlowerBus
        | SignKind::SlowRequests
        | SignKind::FailedBootArea => [0, 0, 0, 0],
    }
}

/// What would tell `suspects` apart, the first to do first.
pub(super) fn experiments(seen: &Seen, signs: &[Sign], suspects: &[Suspect]) -> Vec<Experiment> {
    let mut weighty = signs.iter().filter(|it| it.weight > Weight::Note).peekable();
    // What the device says of its own wear is of the device, and no test makes it younger.
    if weighty.peek().is_some() && weighty.all(|sign| sign.kind.is_of_wear()) {
        return Vec::new();
    }
    let of_suspect = |suspect: &Suspect| match suspect {
        Suspect::Power => Some(Experiment::SwapSupply),
        Suspect::Cable => Some(Experiment::SwapCable),
        Suspect::Reader => Some(Experiment::SwapReader),
        Suspect::Card if is_without_reader(seen.attachment) => Some(Experiment::VerifyFull),
        Suspect::Card => Some(Experiment::SwapReader),
    };
    let mut experiments: Vec<Experiment> = Vec::new();
    for experiment in suspects.iter().filter_map(of_suspect) {
        if experiments.len() < EXPERIMENTS_MAX && !experiments.contains(&experiment) {
            experiments.push(experiment);
        }
    }
    experiments
}
