//! Fewer places where a test has read more than a guess needs.

/// A period or a modulus is told by this number of places; a full test has a hundred times as many.
const PLACES_MOST: usize = 8192;

/// At most [`PLACES_MOST`] of `places`: one of each stretch of equal length, where in it jumps from stretch to
/// stretch. Places of a full test lie at equal distances, so that every eighth of them may lie in one part of a
/// period.
pub(super) fn thinned<T>(places: Vec<T>) -> Vec<T> {
    let length = places.len().div_ceil(PLACES_MOST).max(1);
    let is_taken = |index: &usize| index % length == jump(index / length) % length;
    let numbered = places.into_iter().enumerate();
    numbered.filter(|(index, _)| is_taken(index)).map(|(_, place)| place).collect()
}

/// A number without a short period, by the golden ratio (Knuth, The Art of Computer Programming, 6.4).
const fn jump(number: usize) -> usize {
    (number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(24) as usize & 0xff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_places_stay_and_many_are_taken_from_all_parts_of_any_period() {
        let few: Vec<usize> = (0..PLACES_MOST).collect();
        assert_eq!(thinned(few.clone()), few);
        let many = thinned((0..8 * PLACES_MOST).collect::<Vec<usize>>());
        assert_eq!(many.len(), PLACES_MOST);
        for period in [2, 3, 4, 7, 8, 16, 64] {
            let parts =
                (0..period).map(|part| many.iter().filter(|&it| it % period == part).count());
            let (least, most) = (parts.clone().min().unwrap(), parts.max().unwrap());
            assert!(2 * least > most, "{period}: {least} to {most}");
        }
    }
}
