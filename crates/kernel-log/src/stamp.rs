//! The times that `dmesg`, `journalctl`, syslog daemons and consoles put before a message.

use crate::text::number;

/// A time in a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stamp<'t> {
    /// Seconds since the kernel started.
    SinceBoot(f64),
    /// A date or an hour as printed.
    Clock(&'t str),
}

/// A line's time and its message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stamped<'t> {
    /// The time, where one stands before the message; a date rather than seconds.
    pub stamp: Option<Stamp<'t>>,
    /// The kernel's words.
    pub message: &'t str,
}

/// No log puts more before a message, in bytes.
const PREFIX_MAX: usize = 120;

/// The time and the message of `line`.
pub(super) fn split(line: &str) -> Stamped<'_> {
    let mut rest = without_level(line.trim());
    let mut stamp = None;
    let kernel = before_kernel(rest).filter(|(before, _)| !before.starts_with('['));
    if let Some((before, after)) = kernel {
        stamp = clock(before);
        rest = after.trim_start();
    } else if let Some((clock, after)) = leading_clock(rest) {
        stamp = Some(Stamp::Clock(clock));
        rest = after.trim_start();
    }
    while let Some((inside, after)) = bracket(rest) {
        let found = of_bracket(inside);
        if found.is_none() && !is_caller(inside) {
            break;
        }
        stamp = stamp.or(found);
        rest = after.trim_start();
        // `journalctl -o short-monotonic` has host and program behind the bracket.
        if let Some((before, after)) = before_kernel(rest)
            && !before.contains(' ')
        {
            rest = after.trim_start();
        }
    }
    Stamped { stamp, message: rest.trim_end() }
}

/// `line` without the level that `dmesg -r` (`<3>`) and `dmesg -x` (`kern  :err   : `) print.
fn without_level(line: &str) -> &str {
    if let Some((level, rest)) = line.strip_prefix('<').and_then(|rest| rest.split_once('>'))
        && level.len() <= 3
        && level.bytes().all(|byte| byte.is_ascii_digit())
    {
        return rest.trim_start();
    }
    let decoded = line.strip_prefix("kern").and_then(|rest| rest.trim_start().strip_prefix(':'));
    match decoded.and_then(|rest| rest.split_once(':')) {
        Some((level, rest)) if level.trim().bytes().all(|byte| byte.is_ascii_lowercase()) => {
            rest.trim_start()
        }
        _ => line,
    }
}

/// What stands before and behind `kernel: ` of a log daemon, near the line's beginning; without the space
/// only where it stands nowhere with one.
fn before_kernel(line: &str) -> Option<(&str, &str)> {
    const NAME: &str = "kernel";
    let mut found = None;
    for colon in memchr::memchr_iter(b':', line.as_bytes()) {
        let (before, after) = (&line[..colon], &line[colon + 1..]);
        let Some(before) = before.strip_suffix(NAME) else { continue };
        let has_space = after.starts_with(' ');
        if has_space || found.is_none() {
            found = Some((before, after.strip_prefix(' ').unwrap_or(after)));
        }
        if has_space {
            break;
        }
    }
    let (before, after) = found?;
    let is_word = before.is_empty() || before.ends_with(' ');
    (before.len() <= PREFIX_MAX && is_word).then(|| (before.trim_end(), after))
}

/// The date in what a log daemon prints before a message, without the host's name behind it.
fn clock(before: &str) -> Option<Stamp<'_>> {
    let (time, _host) = before.rsplit_once(' ')?;
    let time = time.trim();
    time.bytes().any(|byte| byte.is_ascii_digit()).then_some(Stamp::Clock(time))
}

/// A date that stands before the message without a host, as of `dmesg --time-format=iso`.
fn leading_clock(line: &str) -> Option<(&str, &str)> {
    let (time, rest) = line.split_once(' ')?;
    let bytes = time.as_bytes();
    let is_iso = bytes.len() >= 19
        && bytes[..4].iter().all(u8::is_ascii_digit)
        && (bytes[4], bytes[7], bytes[10], bytes[13]) == (b'-', b'-', b'T', b':');
    is_iso.then_some((time, rest))
}

/// The inside of the brackets with which `line` begins, and what follows.
fn bracket(line: &str) -> Option<(&str, &str)> {
    let (inside, rest) = line.strip_prefix('[')?.split_once(']')?;
    (inside.len() <= 40).then_some((inside.trim(), rest))
}

/// A time in brackets: seconds since the start, also with a processor's number behind them
/// (`8.888974@0`), or the date of `dmesg -T`.
fn of_bracket(inside: &str) -> Option<Stamp<'_>> {
    let seconds = inside.split_once('@').map_or(inside, |(seconds, _)| seconds);
    if seconds.contains('.')
        && let Some(seconds) = number(seconds).filter(|_| !seconds.contains(','))
    {
        return Some(Stamp::SinceBoot(seconds));
    }
    let is_date = inside.len() >= 8 && inside.matches(':').count() == 2;
    is_date.then_some(Stamp::Clock(inside))
}

/// Whether `inside` names who printed: a task (`T123`) or a processor (`C0`).
fn is_caller(inside: &str) -> bool {
    let digits = inside.strip_prefix(['T', 'C']).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}
