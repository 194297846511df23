//! The day in a time as another tool printed it.

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// The day in `printed` as year, month and day, such as `2024-03-10`; `None` where it is not certain, as in `03/10/2024`.
pub(crate) fn day_of(printed: &str) -> Option<String> {
    let words: Vec<&str> = printed.split_whitespace().collect();
    let (year, month, day) = match words[..] {
        // The form of C: `Sun Mar 10 14:02:11 2024`, perhaps with a zone before the year.
        [_, month, day, .., year] if month_of(month).is_some() => {
            (number(year, 4)?, month_of(month)?, number(day, 2)?)
        }
        [first, ..] => {
            let date = first.split('T').next()?;
            let mut parts = date.split(['-', '/']);
            let year = parts.next().filter(|year| year.len() == 4)?;
            let parts = [year, parts.next()?, parts.next()?];
            (number(parts[0], 4)?, number(parts[1], 2)?, number(parts[2], 2)?)
        }
        [] => return None,
    };
    let is_day = (1970..=9999).contains(&year) && (1..=12).contains(&month);
    (is_day && (1..=31).contains(&day)).then(|| format!("{year}-{month:02}-{day:02}"))
}

fn month_of(word: &str) -> Option<u32> {
    let index = MONTHS.iter().position(|month| *month == word)?;
    u32::try_from(index + 1).ok()
}

/// The number that `word` is, of at most so many digits.
fn number(word: &str, digits_max: usize) -> Option<u32> {
    let is_number = word.len() <= digits_max && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_read_where_it_is_certain() {
        for (printed, day) in [
            ("Sun Mar 10 14:02:11 2024", Some("2024-03-10")),
            ("Tue Mar  5 14:02:11 2024", Some("2024-03-05")),
            ("Sun Mar 10 14:02:11 CET 2024", Some("2024-03-10")),
            ("2024-03-10T14:02:11Z", Some("2024-03-10")),
            ("2024/3/10 14:02:11", Some("2024-03-10")),
            ("03/10/2024 14:02", None),
            ("10.03.2024", None),
            ("2024-13-10", None),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(day_of(printed).as_deref(), day, "{printed}");
        }
    }
}
