//! Records as votes: which boards and cards take part, and what each submitter says of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use cardproof_hub_standing::{Estimate, Fit, Vote, median};
use cardproof_rating::compare::{Column, Use};

use super::{Board, Order};
use crate::index::{Entry, Index, Records};
use crate::summary::Origin;

/// What all votes for a use say.
#[derive(Debug)]
pub(super) struct Fitted {
    /// Of which state of the records.
    pub(super) version: u64,
    /// The boards that can be asked for.
    pub(super) boards: Vec<Board>,
    /// The cards by their numbers.
    pub(super) cards: Vec<String>,
    /// Cards with which too few agree, by their numbers.
    unknown: HashSet<usize>,
    /// The numbers of `boards` in the fit.
    numbers: Vec<usize>,
    fit: Fit,
    /// Orders that were asked for, by board and day: prices age.
    orders: Mutex<BTreeMap<(usize, i32), Arc<Order>>>,
}

/// The values of one submitter for a card on a board.
type Values = BTreeMap<(usize, usize, u64), Vec<f64>>;

/// What is known of a board while records are read.
#[derive(Default)]
struct Seen {
    number: usize,
    submitters: BTreeSet<u64>,
    records: usize,
    is_approved: bool,
    has_votes: bool,
}

impl Fitted {
    /// The votes of `index` for `wanted`, fitted; boards and cards with which `least` submitters agree are shown.
    pub(super) fn of(index: &Index, wanted: Use, least: usize) -> Self {
        let (version, cards, unknown, seen, values) =
            index.look(|records| gathered(records, wanted, least));
        let vote = |((card, board, submitter), mut values): ((usize, usize, u64), Vec<f64>)| {
            Some(Vote { submitter, card, board, value: median(&mut values)? })
        };
        let votes = values.into_iter().filter_map(vote).collect();
        let fit = Fit::of(votes, cards.len(), seen.len());
        let agreed = seen
            .into_iter()
            .filter(|(_, it)| it.has_votes && (it.is_approved || it.submitters.len() >= least));
        let mut boards: Vec<(Board, usize)> = agreed
            .map(|(basis, it)| {
                let (submitters, records) = (it.submitters.len(), it.records);
                (Board { basis, submitters, records }, it.number)
            })
            .collect();
        boards.sort_by(|(a, _), (b, _)| {
            b.submitters
                .cmp(&a.submitters)
                .then(b.records.cmp(&a.records))
                .then(a.basis.cmp(&b.basis))
        });
        let (boards, numbers) = boards.into_iter().unzip();
        Self { version, boards, cards, unknown, numbers, fit, orders: Mutex::default() }
    }

    /// The order on the board at the place `at` of `boards` on a day, which `make` makes of what the cards are there, the
    /// best first.
    pub(super) fn order(
        &self,
        at: usize,
        day: i32,
        make: impl FnOnce(&[Estimate]) -> Order,
    ) -> Arc<Order> {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        orders.retain(|(_, made), _| *made == day);
        let of_board = orders.entry((at, day)).or_insert_with(|| {
            let mut estimates = self.fit.on(self.numbers[at]);
            estimates.retain(|it| !self.unknown.contains(&it.card));
            Arc::new(make(&estimates))
        });
        Arc::clone(of_board)
    }
}

type Gathered = (u64, Vec<String>, HashSet<usize>, BTreeMap<String, Seen>, Values);

fn gathered(records: &Records, wanted: Use, least: usize) -> Gathered {
    let (mut cards, mut unknown) = (Vec::new(), HashSet::new());
    let (mut boards, mut values) = (BTreeMap::<String, Seen>::new(), Values::new());
    // A document counts once, whoever sends it again.
    let mut documents = HashSet::new();
    for (key, card) in &records.cards {
        let number = cards.len();
        cards.push(key.clone());
        if !card.is_agreed(least) {
            unknown.insert(number);
        }
        let real = card.records.iter().filter(|it| it.origin != Origin::Simulated);
        for record in real.filter(|it| documents.insert(it.document)) {
            let next = boards.len();
            if !boards.contains_key(&*record.basis) {
                boards.insert(record.basis.to_string(), Seen { number: next, ..Seen::default() });
            }
            let Some(board) = boards.get_mut(&*record.basis) else { continue };
            board.submitters.insert(record.submitter);
            board.records += 1;
            board.is_approved |= record.is_approved;
            if let Some(seconds) = seconds(record, wanted) {
                board.has_votes = true;
                let place = (number, board.number, record.submitter);
                values.entry(place).or_default().push(seconds.ln());
            }
        }
    }
    (records.version, cards, unknown, boards, values)
}

/// The seconds that the work of a use takes at the rates of `record`; none where it lacks one.
fn seconds(record: &Entry, wanted: Use) -> Option<f64> {
    let parts = wanted.weights().iter().map(|weight| {
        // A write without levels lasts as it is.
        let rate = record.rate(weight.column).or_else(|| match weight.column {
            Column::SustainedWrite => record.rate(Column::SequentialWrite),
            _ => None,
        });
        Some(weight.amount / rate?)
    });
    parts.sum::<Option<f64>>().filter(|seconds| seconds.is_finite() && *seconds > 0.0)
}
