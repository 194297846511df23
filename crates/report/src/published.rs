//! The published cards by their small writes, with a storage in its place among them: the list behind
//! `faster than 74 of 91 published results`.

use cardproof_rating::published_rates;
use cardproof_record::Record;
use cardproof_units::Iops;

use crate::charts::{OURS, RatePoint};
use crate::clean::{one_line, put};
use crate::columns::beginning;
use crate::html::our_place;

/// A card in the list.
pub(crate) struct Place {
    /// Its number, the fastest first; none of the storage that the list is about.
    pub(crate) number: Option<usize>,
    pub(crate) name: String,
    /// Small writes a second.
    pub(crate) write: Iops,
    /// Small reads, where they were published.
    pub(crate) read: Option<Iops>,
    /// The computer, where the source tells it.
    pub(crate) board: String,
}

/// All published cards with `ours` among them, the fastest first.
pub(crate) fn places(ours: &RatePoint) -> Vec<Place> {
    let published = published_rates();
    let faster = published.iter().take_while(|card| card.write >= ours.write).count();
    let mut places: Vec<Place> = published
        .iter()
        .enumerate()
        .map(|(at, rates)| {
            let conditions = &rates.card.record.conditions;
            let name = conditions.device.model.as_deref().unwrap_or(&rates.card.name);
            Place {
                number: Some(at + 1),
                name: one_line(name),
                write: rates.write,
                read: rates.read,
                board: conditions.host.board.as_deref().map(one_line).unwrap_or_default(),
            }
        })
        .collect();
    let own = Place {
        number: None,
        name: OURS.to_owned(),
        write: ours.write,
        read: Some(ours.read),
        board: String::new(),
    };
    places.insert(faster, own);
    places
}

/// How many faster and how many slower cards a terminal shows.
const NEIGHBOURS: usize = 4;

/// The storage among the published cards next to it, for a terminal of `width` columns, ending in a newline; `None`
/// where the small reads and writes of `record` are not both known without a doubt. The page has all cards.
#[must_use]
pub fn published_list(record: &Record, width: u16) -> Option<String> {
    let places = places(&our_place(record)?);
    let own = places.iter().position(|place| place.number.is_none())?;
    let shown = own.saturating_sub(NEIGHBOURS)..places.len().min(own + NEIGHBOURS + 1);
    let mut out = format!(
        "Among {} published results, by small writes (4 KiB, one at a time) a second,\n\
         each on its own computer. The report page has all of them.\n",
        places.len() - 1
    );
    for Place { number, name, write, board, .. } in &places[shown] {
        let number = number.map_or_else(|| ">".to_owned(), |number| number.to_string());
        let on = if board.is_empty() { String::new() } else { format!(" ({board})") };
        let line = format!("{number:>5}  {:>6.0}  {name}{on}", write.0);
        let width = usize::from(width);
        // What is cut off in the middle of a word says so.
        let cut = if crate::columns::columns_of(&line) > width {
            format!("{}...", beginning(&line, width.saturating_sub(3)).trim_end())
        } else {
            line
        };
        put!(out, "{cut}\n");
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_storage_stands_behind_all_that_are_as_fast_or_faster() {
        let at = |write| {
            let ours = RatePoint { read: Iops(1.0), write: Iops(write) };
            places(&ours).iter().position(|place| place.number.is_none())
        };
        let all = published_rates();
        assert_eq!(at(f64::MAX), Some(0));
        assert_eq!(at(0.0), Some(all.len()));
        assert_eq!(at(all[0].write.0), Some(1), "as fast as the fastest is not faster");
    }
}
