//! What is wrong with a card: places are read, written and read again, and the ways in which they fail
//! are compared.

use cardproof_evidence::capacity::stamp::{SECTOR, Stamp};
use cardproof_io::Fault;
use rand_core::Rng;

use super::bad::PAGE;
use super::run::{Runner, Stop};
use super::state::{End, Pass};

/// How many places are looked at.
const PLACES: usize = 64;

/// How often a place is drawn until there are enough.
const ATTEMPTS: usize = PLACES * 64;

/// The share of the places that must fail in one way, for an end of the whole card.
const WHOLE_CARD: f64 = 0.9;

/// So many places on either side of an edge make it one.
const BESIDE_EDGE: usize = 4;

/// One place of so many may be on the wrong side of an edge.
const MISFITS: usize = 20;

/// No answer in time at so many places in a row is enough.
const TIMEOUTS: usize = 4;

/// Marks the data of an examination, which no cycle writes.
const MARK: u64 = 1 << 31;

/// How one place behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behaviour {
    Good,
    /// As a card with this end does.
    Fails(End),
}

/// What an examination has found.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Places by address, with their behaviour.
    places: Vec<(u64, Behaviour)>,
}

impl Found {
    /// The end that the whole card is at, if it is at one.
    pub(super) fn of_whole_card(&self) -> Option<End> {
        if self.has_an_edge() {
            return Some(End::Shrinks);
        }
        let (end, count) = self.counted();
        let is_most = count as f64 >= WHOLE_CARD * self.places.len() as f64;
        (count > 0 && is_most).then_some(end)
    }

    /// The end that describes most places that fail.
    pub(super) fn most_frequent(&self) -> End {
        if self.has_an_edge() {
            return End::Shrinks;
        }
        self.counted().0
    }

    fn counted(&self) -> (End, usize) {
        let count =
            |end: End| self.places.iter().filter(|(_, how)| *how == Behaviour::Fails(end)).count();
        let ends = End::ALL.map(|end| (end, count(end)));
        ends.into_iter().max_by_key(|(_, count)| *count).unwrap_or((End::Unreadable, 0))
    }

    /// Whether the places below an address are good, and those from there on report errors, but for a
    /// few dead blocks.
    fn has_an_edge(&self) -> bool {
        let mut sorted = self.places.clone();
        sorted.sort_by_key(|(place, _)| *place);
        let is_error = |(_, how): &&(u64, Behaviour)| {
            matches!(how, Behaviour::Fails(End::Unreadable | End::ReadOnly | End::TimesOut))
        };
        let is_good = |(_, how): &&(u64, Behaviour)| *how == Behaviour::Good;
        (BESIDE_EDGE..=sorted.len().saturating_sub(BESIDE_EDGE)).any(|edge| {
            let (below, above) = sorted.split_at(edge);
            let good = below.iter().filter(is_good).count();
            let misfits = below.len() - good + above.len() - above.iter().filter(is_error).count();
            good >= BESIDE_EDGE && misfits <= sorted.len() / MISFITS
        })
    }
}

/// The places to look at. If the run is over, three bad ones to a good one, so that both sides of an
/// edge are seen however little of the card is left; otherwise any.
pub(super) fn places(runner: &mut Runner<'_>, is_over: bool) -> Vec<u64> {
    let count = runner.plan.count(Pass::Read);
    let mut chosen = Vec::new();
    for attempt in 0..ATTEMPTS {
        let (offset, length) = runner.plan.piece(Pass::Read, runner.random.next_u64() % count);
        let place = offset + runner.random.next_u64() % (length / PAGE).max(1) * PAGE;
        let wants_good = chosen.len() % 4 == 3;
        // There may be none of the wanted kind.
        let takes_any = !is_over || attempt >= ATTEMPTS / 2;
        let is_wanted = takes_any || runner.state.bad.has(place / PAGE) != wants_good;
        if is_wanted && !chosen.contains(&place) {
            chosen.push(place);
        }
        if chosen.len() == PLACES {
            break;
        }
    }
    chosen
}

/// Pages all over the span that are not bad, as (offset, length).
pub(super) fn random_places(runner: &mut Runner<'_>, count: usize) -> Vec<(u64, u64)> {
    let pieces = runner.plan.count(Pass::Read);
    let mut places = Vec::new();
    for _ in 0..count * 16 {
        let (offset, _) = runner.plan.piece(Pass::Read, runner.random.next_u64() % pieces);
        if places.len() < count && !runner.state.bad.has(offset / PAGE) {
            places.push((offset, PAGE));
        }
    }
    places
}

impl Runner<'_> {
    /// Reads, writes and reads each of `places`, all of one step before the next, so that no memory of
    /// the latest writes hides what is lost. Puts the cycle's data back where that works.
    pub(super) fn examine(&mut self, places: &[u64]) -> Result<Found, Stop> {
        let mut timeouts = 0;
        let mut written = Vec::new();
        for &place in places {
            let fresh = self.plan.stamp(place, self.state.position.cycle | MARK);
            let outcome = self.drive.write_stamped(place, PAGE, fresh)?;
            timeouts += usize::from(outcome == Err(Fault::TimedOut));
            if timeouts >= TIMEOUTS && timeouts == written.len() + 1 {
                let ends = places.iter().map(|&place| (place, Behaviour::Fails(End::TimesOut)));
                return Ok(Found { places: ends.collect() });
            }
            written.push(outcome);
        }
        // What a flush reports shows in what is read.
        let _ = self.drive.flush()?;
        let mut found = Found::default();
        for (&place, outcome) in places.iter().zip(&written) {
            let how = self.behaviour(place, *outcome)?;
            found.places.push((place, how));
        }
        for &place in places {
            let stamp = self.plan.stamp(place, self.state.position.cycle);
            let _ = self.drive.write_stamped(place, PAGE, stamp)?;
        }
        Ok(found)
    }

    fn behaviour(&mut self, place: u64, written: Result<(), Fault>) -> Result<Behaviour, Stop> {
        let fresh = self.plan.stamp(place, self.state.position.cycle | MARK);
        let read = self.drive.check_stamped(place, PAGE, fresh)?;
        let end = match (written, read) {
            (Ok(()), Ok(true)) => return Ok(Behaviour::Good),
            (Err(Fault::TimedOut), _) | (_, Err(Fault::TimedOut)) => End::TimesOut,
            (_, Err(_)) => End::Unreadable,
            (Err(_), Ok(_)) => End::ReadOnly,
            (Ok(()), Ok(false)) if self.is_older(fresh) => End::IgnoresWrites,
            (Ok(()), Ok(false)) => End::SilentlyWrong,
        };
        Ok(Behaviour::Fails(end))
    }

    /// Whether the page in the buffer holds whole sectors of this run from before `fresh`, or was never
    /// written.
    fn is_older(&mut self, fresh: Stamp) -> bool {
        let page = self.drive.data(PAGE);
        let mut sectors = page.as_chunks::<SECTOR>().0.iter().enumerate();
        sectors.all(|(number, sector)| {
            let expected = fresh.further(number as u64);
            Stamp::of_whole(sector).is_some_and(|found| {
                found.salt == expected.salt
                    && found.address_bytes == expected.address_bytes
                    && found.generation < expected.generation
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(places: &[(u64, Behaviour)]) -> Found {
        Found { places: places.to_vec() }
    }

    #[test]
    fn an_edge_is_a_card_that_shrinks() {
        let good = |place| (place, Behaviour::Good);
        let bad = |place| (place, Behaviour::Fails(End::Unreadable));
        let edge: Vec<_> = (0..8).map(good).chain((8..16).map(bad)).collect();
        assert_eq!(found(&edge).of_whole_card(), Some(End::Shrinks));
        let with_a_dead_block: Vec<_> =
            (0..32).map(|n| if n < 16 && n != 5 { good(n) } else { bad(n) }).collect();
        assert_eq!(found(&with_a_dead_block).of_whole_card(), Some(End::Shrinks));
        let mixed: Vec<_> = (0..16).map(|n| if n % 2 == 0 { good(n) } else { bad(n) }).collect();
        assert_eq!(found(&mixed).of_whole_card(), None);
        assert_eq!(found(&mixed).most_frequent(), End::Unreadable);
    }

    #[test]
    fn nine_of_ten_places_speak_for_the_card() {
        let places: Vec<_> = (0..20)
            .map(|n| {
                let end = if n == 3 { End::Unreadable } else { End::ReadOnly };
                (n, Behaviour::Fails(end))
            })
            .collect();
        assert_eq!(found(&places).of_whole_card(), Some(End::ReadOnly));
        assert_eq!(found(&places[..4]).of_whole_card(), None);
    }
}
