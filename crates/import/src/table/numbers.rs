//! Numbers in cells: which mark parts decimals is decided for all cells of a table together.

/// What parts decimals in a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    /// A point does, as some number shows.
    point: bool,
    /// A comma does, as some number shows.
    comma: bool,
}

/// A cell's number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Number {
    pub(super) value: f64,
    /// How many bytes of the text it takes.
    pub(super) length: usize,
}

impl Marks {
    /// What the numbers in `texts` show.
    pub(super) fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut marks = Self::default();
        for text in texts {
            let mut rest = text;
            while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
                let length = length(&rest[start..]);
                marks.learn(&rest[start..start + length]);
                rest = &rest[start + length..];
            }
        }
        marks
    }

    fn learn(&mut self, number: &str) {
        let points: Vec<&str> = number.split('.').collect();
        let commas: Vec<&str> = number.split(',').collect();
        let is_decimals = |parts: &[&str]| parts.len() == 2 && parts[1].len() != 3;
        match (points.len(), commas.len()) {
            // A second kind of mark stands before the decimals.
            (2, 2..) if number.rfind('.') > number.rfind(',') => self.point = true,
            (2.., 2) if number.rfind(',') > number.rfind('.') => self.comma = true,
            (2, 1) if is_decimals(&points) || points[0].len() > 3 || points[0] == "0" => {
                self.point = true;
            }
            (1, 2) if is_decimals(&commas) || commas[0].len() > 3 || commas[0] == "0" => {
                self.comma = true;
            }
            (1, 3..) => self.point = true,
            (3.., 1) => self.comma = true,
            _ => {}
        }
    }

    /// The number at the start of `text`; nothing where it can be read in two ways. A count of operations
    /// has no three decimals.
    pub(super) fn number(self, text: &str, is_count: bool) -> Option<Number> {
        if !text.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        let length = length(text);
        let number = &text[..length];
        let value = self.value(number, is_count)?;
        (value.is_finite() && value < 1e15).then_some(Number { value, length })
    }

    fn value(self, number: &str, is_count: bool) -> Option<f64> {
        if number.bytes().all(|byte| byte.is_ascii_digit()) {
            return number.parse().ok();
        }
        let (decimal, group) = match (self.point, self.comma) {
            // Several people have typed it, or one was careless: only what has one reading counts.
            (true, true) => match only_decimal(number)? {
                '.' => ('.', ','),
                _ => (',', '.'),
            },
            (true, false) => ('.', ','),
            (false, true) => (',', '.'),
            (false, false) if !number.contains('.') => {
                // `1,231` alone is a thousand and more only where it counts.
                if !is_count {
                    return None;
                }
                ('.', ',')
            }
            (false, false) => {
                if is_count {
                    return None;
                }
                ('.', ',')
            }
        };
        let (whole, decimals) = number.rsplit_once(decimal).unwrap_or((number, ""));
        let groups: Vec<&str> = whole.split(group).collect();
        let is_group =
            |part: &&&str| part.len() == 3 && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_first = !groups[0].is_empty()
            && groups[0].bytes().all(|byte| byte.is_ascii_digit())
            && (groups.len() == 1 || groups[0].len() <= 3);
        if !is_first
            || groups[1..].iter().filter(is_group).count() != groups.len() - 1
            || !decimals.bytes().all(|byte| byte.is_ascii_digit())
        {
            return None;
        }
        format!("{}.{}", groups.concat(), if decimals.is_empty() { "0" } else { decimals })
            .parse()
            .ok()
    }
}

/// The mark that parts decimals in a number with marks, whatever other numbers show; nothing where `1.234` may be a
/// thousand and more.
fn only_decimal(number: &str) -> Option<char> {
    let last = number.rfind(['.', ','])?;
    let mark = if number[last..].starts_with('.') { '.' } else { ',' };
    let is_only_mark = number.find(['.', ',']) == Some(last);
    let is_alone = !number[..last].contains(mark);
    let has_group = number.len() - last == 4 && is_only_mark;
    (is_alone && !has_group).then_some(mark)
}

/// How many bytes the number at the start of `text` takes: digits, and marks between digits.
fn length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while is_digit(end) || (matches!(bytes.get(end), Some(b'.' | b',')) && is_digit(end + 1)) {
        end += 1;
    }
    end
}
