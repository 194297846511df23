//! One line of strace, as `strace -f -ttt -T` writes it.
//!
//! `PID SECONDS NAME(ARGUMENTS) = RESULT <SECONDS>`; the PID is there only with `-f`, as a number
//! or as `[pid N]`. A call that another process comes between is told in two halves.

use cardproof_units::Nanos;

use crate::seconds::nanos;

/// What a line says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Line<'a> {
    /// A whole call.
    Whole(&'a str),
    /// The first half of one.
    Begun(&'a str),
    /// The second half.
    Resumed(&'a str),
    /// The process is over, or a signal came, or strace speaks of itself.
    Talk,
}

/// Who did it, when, and what; `None` where it is no line of strace.
pub(super) fn line_of(line: &str) -> Option<(u32, Nanos, Line<'_>)> {
    let line = line.trim_end();
    if line.starts_with("strace: ") || line.starts_with("[ Process ") {
        return Some((0, Nanos::ZERO, Line::Talk));
    }
    let (process, rest) = process_of(line)?;
    let (time, rest) = rest.split_once(' ')?;
    let at = nanos(time)?;
    let rest = rest.trim_start();
    let line = if rest.starts_with("+++ ") || rest.starts_with("--- ") {
        Line::Talk
    } else if let Some(rest) = rest.strip_prefix("<... ") {
        let (_, rest) = rest.split_once(" resumed>")?;
        // Some versions leave a space where the first half had one already.
        Line::Resumed(rest)
    } else if let Some(begun) = rest.strip_suffix("<unfinished ...>") {
        Line::Begun(begun)
    } else {
        Line::Whole(rest)
    };
    Some((process, at, line))
}

/// The process, 0 without one, and the rest of `line`.
fn process_of(line: &str) -> Option<(u32, &str)> {
    if let Some(rest) = line.strip_prefix("[pid") {
        let (number, rest) = rest.split_once(']')?;
        return Some((number.trim().parse().ok()?, rest.trim_start()));
    }
    let (word, rest) = line.split_once(' ')?;
    match word.parse() {
        Ok(process) => Some((process, rest.trim_start())),
        // Without -f the time comes first.
        Err(_) => Some((0, line)),
    }
}

/// The parts of a whole call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parts<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Vec<&'a str>,
    /// `None` where the process never saw it.
    pub(super) result: Option<i64>,
    pub(super) took: Option<Nanos>,
}

impl<'a> Parts<'a> {
    /// The parts of the call `text`; `None` where it is none.
    pub(super) fn of(text: &'a str) -> Option<Self> {
        let (name, rest) = text.split_once('(')?;
        let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_of_name) {
            return None;
        }
        let (arguments, rest) = arguments(rest)?;
        let result = rest.trim_start().strip_prefix('=')?.trim_start();
        let took = result
            .strip_suffix('>')
            .and_then(|result| result.rsplit_once(" <"))
            .and_then(|(_, seconds)| nanos(seconds));
        Some(Self { name, arguments, result: number(result), took })
    }

    /// The argument called `index`, or nothing.
    pub(super) fn argument(&self, index: usize) -> &'a str {
        self.arguments.get(index).copied().unwrap_or_default()
    }
}

/// The number at the start of `text`.
pub(super) fn number(text: &str) -> Option<i64> {
    let is_of_number = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
    let end = text.find(|letter| !is_of_number(letter)).unwrap_or(text.len());
    match text[..end].strip_prefix("0x") {
        // An address, which no caller needs.
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text[..end].parse().ok(),
    }
}

/// The arguments at the start of `text`, and what follows their closing bracket.
fn arguments(text: &str) -> Option<(Vec<&str>, &str)> {
    let bytes = text.as_bytes();
    let (mut all, mut depth, mut start, mut at) = (Vec::new(), 0_usize, 0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = end_of_string(bytes, at)?,
            b'<' => at = end_of_annotation(bytes, at),
            b'(' | b'[' | b'{' => depth += 1,
            b')' if depth == 0 => {
                let last = text[start..at].trim();
                if !last.is_empty() || !all.is_empty() {
                    all.push(last);
                }
                return Some((all, &text[at + 1..]));
            }
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => {
                all.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

/// Where the string that begins at `at` ends.
fn end_of_string(bytes: &[u8], at: usize) -> Option<usize> {
    let mut here = at + 1;
    loop {
        match bytes.get(here)? {
            b'"' => return Some(here),
            b'\\' => here += 2,
            _ => here += 1,
        }
    }
}

/// Where the name of a descriptor's file, which begins at `at` behind its number, ends; `at` where
/// the bracket is none of a name.
fn end_of_annotation(bytes: &[u8], at: usize) -> usize {
    let is_behind_word = at > 0 && bytes[at - 1].is_ascii_alphanumeric();
    if !is_behind_word || bytes.get(at + 1) == Some(&b'<') {
        return at;
    }
    bytes[at..].iter().position(|&byte| byte == b'>').map_or(at, |length| at + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_and_without_processes_are_told_apart() {
        for (line, process) in [
            ("77 1700000000.000001 close(3) = 0 <0.000002>", 77),
            ("[pid   77] 1700000000.000001 close(3) = 0 <0.000002>", 77),
            ("1700000000.000001 close(3) = 0 <0.000002>", 0),
        ] {
            let (found, at, what) = line_of(line).unwrap();
            assert_eq!((found, at), (process, Nanos(1_700_000_000_000_001_000)), "{line}");
            assert_eq!(what, Line::Whole("close(3) = 0 <0.000002>"));
        }
        let talk = [
            "77 1.5 +++ exited with 0 +++",
            "77 1.5 --- SIGCHLD {si_signo=SIGCHLD} ---",
            "strace: Process 78 attached",
        ];
        assert!(talk.iter().all(|line| line_of(line).unwrap().2 == Line::Talk));
        assert_eq!(line_of("77 1.5 read(3, <unfinished ...>").unwrap().2, Line::Begun("read(3, "));
        let resumed = line_of("77 1.5 <... read resumed>\"\"..., 5) = 5").unwrap().2;
        assert_eq!(resumed, Line::Resumed("\"\"..., 5) = 5"));
        for foreign in ["", "hello", "hello world", "1,W,0,8", "77 close(3) = 0"] {
            assert_eq!(line_of(foreign), None, "{foreign}");
        }
    }

    #[test]
    fn arguments_are_parted_at_the_right_commas() {
        let text =
            r#"openat(AT_FDCWD</home/a, b>, "x\",(y", O_RDONLY|O_CLOEXEC) = 3</h/x> <0.000012>"#;
        let parts = Parts::of(text).unwrap();
        assert_eq!(parts.arguments, ["AT_FDCWD</home/a, b>", r#""x\",(y""#, "O_RDONLY|O_CLOEXEC"]);
        assert_eq!((parts.result, parts.took), (Some(3), Some(Nanos::from_micros(12))));
        let text = r#"writev(1, [{iov_base="a"..., iov_len=4}, {iov_base=""}], 2) = 6"#;
        let parts = Parts::of(text).unwrap();
        assert_eq!((parts.arguments.len(), parts.result, parts.took), (3, Some(6), None));
        let failed = Parts::of("rmdir(\"x\") = -1 ENOENT (No such file or directory) <0.1>");
        assert_eq!(failed.unwrap().result, Some(-1));
        assert_eq!(Parts::of("sync() = 0").unwrap().arguments.len(), 0);
        assert_eq!(Parts::of("f(1<<2, 3) = 0").unwrap().arguments, ["1<<2", "3"]);
        for broken in
            ["close(3", "close(3)", "close(3)) = 0", "(3) = 0", "a b(3) = 0", "f(\"x) = 0"]
        {
            assert_eq!(Parts::of(broken), None, "{broken}");
        }
    }
}
