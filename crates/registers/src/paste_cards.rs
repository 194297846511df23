//! Which of the registers in a text are of one card.
//!
//! A text may tell of several cards: by paths or headings that name them (`mmc0:0007`,
//! `mmcblk1`), or by telling a register for the second time. Registers of two cards are never put
//! together: where the order leaves open whose a register is, each stands alone.

use std::collections::HashMap;

use crate::paste::{Piece, PieceKind, belongs_to_mmc};

/// A card's registers, as pieces of the text.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub(super) name: Option<String>,
    pub(super) pieces: Vec<Piece>,
}

/// The pieces of each card, in the order in which the text first names the cards.
pub(super) fn group(pieces: Vec<Piece>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut last_of_name: HashMap<Option<String>, usize> = HashMap::new();
    for piece in pieces {
        let last = last_of_name.get(&piece.card).and_then(|&index| groups.get_mut(index));
        match last {
            Some(group) if !group.has(piece.kind()) => group.pieces.push(piece),
            _ => {
                last_of_name.insert(piece.card.clone(), groups.len());
                groups.push(Group { name: piece.card.clone(), pieces: vec![piece] });
            }
        }
    }
    let is_split = is_ambiguous(&groups);
    groups
        .into_iter()
        .flat_map(|group| {
            let is_alone = (is_split && group.name.is_none()) || group.contradicts_itself();
            if is_alone { group.apart() } else { vec![group] }
        })
        .filter(|group| group.pieces.iter().any(|piece| piece.kind() != PieceKind::Type))
        .collect()
}

impl Group {
    /// A piece of unknown kind is of a wrong length, and becomes an error later.
    fn has(&self, kind: PieceKind) -> bool {
        kind != PieceKind::Unknown && self.pieces.iter().any(|piece| piece.kind() == kind)
    }

    /// Whether some pieces can only be of an SD card and others only of an MMC.
    fn contradicts_itself(&self) -> bool {
        let says = |is_mmc| self.pieces.iter().any(|piece| belongs_to_mmc(piece) == Some(is_mmc));
        says(true) && says(false)
    }

    /// Each piece for itself.
    fn apart(self) -> Vec<Self> {
        let Self { name, pieces } = self;
        pieces.into_iter().map(|piece| Self { name: name.clone(), pieces: vec![piece] }).collect()
    }
}

/// Whether the order of registers without a card's name leaves open whose they are. It does not
/// where every card begins with the same register, and none but the last has fewer than two.
fn is_ambiguous(groups: &[Group]) -> bool {
    let nameless: Vec<&Group> = groups.iter().filter(|group| group.name.is_none()).collect();
    let Some((last, others)) = nameless.split_last() else { return false };
    let Some(first) = others.first() else { return false };
    let are_single = nameless.iter().all(|group| group.pieces.len() == 1);
    let start = |group: &Group| group.pieces.first().map(Piece::kind);
    let is_aligned =
        others.iter().all(|group| start(group) == start(first) && group.pieces.len() > 1)
            && start(last) == start(first);
    !are_single && !is_aligned
}
