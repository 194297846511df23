//! How numbers of this part are worded.

/// A clock, with a digit after the point only where it has one.
pub(crate) fn megahertz(hz: u64) -> String {
    let tenths = (hz + 50_000) / 100_000;
    if tenths.is_multiple_of(10) {
        format!("{} MHz", tenths / 10)
    } else {
        format!("{}.{} MHz", tenths / 10, tenths % 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_worded_as_people_say_them() {
        assert_eq!(megahertz(50_000_000), "50 MHz");
        assert_eq!(megahertz(41_666_667), "41.7 MHz");
        assert_eq!(megahertz(149_970_000), "150 MHz");
    }
}
