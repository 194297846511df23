//! Places: one order by value, with ties only where intervals overlap.

/// The places of cards that come best first with these intervals. A card shares the place of the first card of the place
/// before it where their intervals overlap; else it has the place of its own number. So places never go back.
#[must_use]
pub fn places(intervals: &[[f64; 2]]) -> Vec<usize> {
    let (mut first, mut places) = (0, Vec::new());
    for (at, interval) in intervals.iter().enumerate() {
        let of_first = intervals[first];
        let overlap = interval[0] <= of_first[1] && of_first[0] <= interval[1];
        if !overlap {
            first = at;
        }
        places.push(first + 1);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_the_order_and_ties_overlap() {
        let intervals = [[9.0, 11.0], [10.0, 14.0], [12.0, 13.0], [12.5, 20.0], [21.0, 22.0]];
        assert_eq!(places(&intervals), [1, 1, 3, 3, 5]);
        assert!(places(&[]).is_empty());
    }
}
