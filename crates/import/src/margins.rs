//! What stands before each line of a whole stretch of text: marks of comments, the line numbers of an
//! editor or of `cat -n`, a rule beside quoted text.
//!
//! One line alone does not show whether its mark is one of the text's own: `# ` begins a command, a
//! heading or a comment. So a mark counts only where several lines in a row have it, and where they
//! look like an output behind it.

use super::view::trimmed_start;

/// So many lines in a row show that their mark is no part of them; of two it depends on what they are.
const RUN_MIN: usize = 3;

/// What stands before the lines of a stretch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// `#`, as in a shell's script or a configuration.
    Hash,
    /// A vertical rule.
    Rule,
    /// Line numbers.
    Number,
}

/// A stretch of lines with one kind of mark: the places of its first line, and of that behind its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stretch {
    pub(super) mark: Mark,
    pub(super) first: usize,
    pub(super) end: usize,
}

/// The stretches with marks in `lines`, in order.
pub(super) fn stretches(lines: &[&str]) -> Vec<Stretch> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let Some(mark) = mark_of(lines[at]) else {
            at += 1;
            continue;
        };
        let stretch = Stretch { mark, first: at, end: end_of(mark, lines, at) };
        if stretch.is_sure(lines) {
            found.push(stretch);
        }
        at = stretch.end;
    }
    found
}

/// `line` without `mark`.
pub(super) fn without(mark: Mark, line: &str) -> &str {
    let text = trimmed_start(line);
    let rest = match mark {
        Mark::Hash => text.strip_prefix('#'),
        Mark::Rule => text.strip_prefix(['|', '│', '┃']),
        Mark::Number => numbered(line).map(|(_, rest)| rest),
    };
    let rest = rest.unwrap_or(line);
    rest.strip_prefix(' ').unwrap_or(rest)
}

/// The mark that a line begins with.
fn mark_of(line: &str) -> Option<Mark> {
    match line.bytes().find(|byte| !matches!(byte, b' ' | b'\t'))? {
        b'#' => Some(Mark::Hash),
        b'|' | 0xe2 => is_ruled(line).then_some(Mark::Rule),
        b'0'..=b'9' => numbered(line).map(|_| Mark::Number),
        _ => None,
    }
}

/// Whether a rule stands before all of `line` and no other in it, as in a table. fio's percentiles have
/// one behind blanks.
fn is_ruled(line: &str) -> bool {
    let rest = line.strip_prefix(['|', '│', '┃']);
    rest.is_some_and(|rest| !rest.contains(['|', '│', '┃']))
}

/// The line number before `line` and what stands behind it.
fn numbered(line: &str) -> Option<(u32, &str)> {
    let text = trimmed_start(line);
    let (mut end, mut number) = (0, 0_u32);
    while let Some(digit @ b'0'..=b'9') = text.as_bytes().get(end) {
        number = number * 10 + u32::from(digit - b'0');
        end += 1;
        if end == 7 {
            return Some((text.parse().ok()?, ""));
        }
    }
    if end == 0 {
        return None;
    }
    let rest = &text[end..];
    // A blank line is its number alone.
    let rest = match rest.as_bytes() {
        [] => rest,
        [b':' | b'|', ..] => &rest[1..],
        [b'.' | b')', b' ', ..] => &rest[2..],
        [b' ' | b'\t', ..] => rest[1..].trim_start_matches(['|', '│']),
        _ => rest.strip_prefix('→').or_else(|| rest.strip_prefix('│'))?,
    };
    Some((number, rest))
}

/// The place behind the last line in a row that has `mark`, from the one at `first` on. Lines without
/// anything do not end a stretch of comments.
fn end_of(mark: Mark, lines: &[&str], first: usize) -> usize {
    let mut last = numbered(lines[first]).map_or(0, |(number, _)| number);
    let mut end = first + 1;
    for line in &lines[end..] {
        let is_next = match mark {
            Mark::Hash => trimmed_start(line).starts_with('#'),
            Mark::Rule => is_ruled(line),
            Mark::Number => {
                let number = numbered(line).map(|(number, _)| number);
                let is_next = number == last.checked_add(1);
                last = number.unwrap_or(last);
                is_next
            }
        };
        if !is_next {
            break;
        }
        end += 1;
    }
    end
}

impl Stretch {
    /// Whether the lines are an output with a mark before it, and not a script's own.
    fn is_sure(self, lines: &[&str]) -> bool {
        let Self { mark, first, end } = self;
        let lines = &lines[first..end];
        let count = |is: fn(&str) -> bool| lines.iter().filter(|line| is(line)).count();
        let (are_few, is_one) = (lines.len() < RUN_MIN, lines.len() < 2);
        match mark {
            _ if is_one => false,
            Mark::Rule => !are_few,
            // A drive's attributes have numbers of their own, of which several follow each other.
            Mark::Number if count(crate::drive_report::is_sign) > 0 => false,
            // An editor sets its numbers right or puts a mark behind them.
            Mark::Number => !are_few || count(is_numbered_by_editor) == lines.len(),
            // Headings of Markdown have several marks, and a program's banner has a box of them.
            Mark::Hash => {
                let with_digits = count(has_digit);
                count(is_subheading) == 0
                    && count(is_boxed) * 4 < lines.len()
                    && count(is_command) * 2 < lines.len()
                    && if are_few {
                        with_digits == lines.len() && count(is_of_output) > 0
                    } else {
                        with_digits >= 2 && with_digits * 4 >= lines.len()
                    }
            }
        }
    }
}

fn has_digit(line: &str) -> bool {
    line.bytes().any(|byte| byte.is_ascii_digit())
}

fn is_subheading(line: &str) -> bool {
    trimmed_start(line).starts_with("##")
}

fn is_boxed(line: &str) -> bool {
    let line = line.trim();
    line.len() > 1 && line.ends_with('#')
}

fn is_command(line: &str) -> bool {
    let first = line.trim_start().trim_start_matches('#').split_whitespace().next();
    first.is_some_and(super::programs::is_program)
}

/// Whether a line behind `# ` is indented or a path: nobody writes a heading so.
fn is_of_output(line: &str) -> bool {
    without(Mark::Hash, line).starts_with([' ', '/'])
}

fn is_numbered_by_editor(line: &str) -> bool {
    let text = trimmed_start(line);
    let behind = text.trim_start_matches(|c: char| c.is_ascii_digit());
    line.starts_with(' ') || behind.starts_with([':', '|', '\t'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let found = stretches(&lines);
        let shown = lines.iter().enumerate().map(|(at, line)| {
            let stretch = found.iter().find(|it| (it.first..it.end).contains(&at));
            stretch.map_or(*line, |stretch| without(stretch.mark, line))
        });
        shown.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn marks_before_all_lines_of_an_output_are_taken_off() {
        let output = "1+0 records in\n1+0 records out\n\n4096 bytes copied, 1 s, 4.1 kB/s";
        let lines = || output.lines();
        let marked = |mark: fn((usize, &str)) -> String| {
            lines().enumerate().map(mark).collect::<Vec<_>>().join("\n")
        };
        for text in [
            marked(|(_, line)| format!("# {line}")),
            marked(|(_, line)| format!("| {line}")),
            marked(|(at, line)| format!("{:>4}  {line}", at + 7).replacen("  ", "\t", 0)),
            marked(|(at, line)| format!("{}: {line}", at + 99)),
            marked(|(at, line)| format!("{:>6}\t{line}", at + 1)),
        ] {
            let found = stripped(&text).lines().map(|it| it.trim().to_owned()).collect::<Vec<_>>();
            assert_eq!(found, lines().collect::<Vec<_>>(), "{text}");
        }
    }

    #[test]
    fn what_belongs_to_the_text_stays() {
        for text in [
            "# hdparm -t /dev/sda\n# dd if=/dev/sda of=/dev/null bs=1M count=64\n# sync",
            "# Results\n# Samsung\n# Kingston",
            "## A 32GB\n## B 64GB\n## C 128GB",
            "# ##### #\n#  v2023  #\n# ##### #",
            "102400 4 80292\n102400 16 78283\n102400 64 78283",
            "| card | 12 |\n| card | 13 |\n| card | 14 |",
            "    |  1.00th=[   82]\n    | 50.00th=[   94]\n    | 99.00th=[  251]",
            "1 a\n2 b",
            "196 Reallocated_Event_Count 0x0032   100   100   000    Old_age   Always       -       0\n\
             197 Current_Pending_Sector  0x0012   100   100   000    Old_age   Always       -       8\n\
             198 Offline_Uncorrectable   0x0010   100   100   000    Old_age   Offline      -       8",
        ] {
            assert_eq!(stripped(text), text);
        }
    }
}
