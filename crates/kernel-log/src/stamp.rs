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
    let line = line.trim();
    if let Some(stamped) = of_field(line).or_else(|| of_kmsg(line)) {
        return stamped;
    }
    let mut rest = without_level(line);
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
        if found.is_none() && !is_caller(inside) && !is_since_last(inside) {
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

/// The message in a field of `journalctl -o json`, `export` and `verbose`, and of `dmesg -J`; in JSON also with its
/// time, where one object is on one line. What is escaped in JSON stays so.
fn of_field(line: &str) -> Option<Stamped<'_>> {
    if let Some(message) = line.strip_prefix("MESSAGE=") {
        return Some(Stamped { stamp: None, message: message.trim() });
    }
    let message = json_text(line, "MESSAGE").or_else(|| json_text(line, "msg"))?;
    let micros = json_text(line, "_SOURCE_MONOTONIC_TIMESTAMP").and_then(number);
    let seconds = micros.map(|micros| micros / 1e6).or_else(|| {
        let (_, rest) = line.split_once("\"time\"")?;
        let rest = rest.trim_start().strip_prefix(':')?.trim_start();
        number(rest.split([',', '}', ' ']).next()?)
    });
    Some(Stamped { stamp: seconds.map(Stamp::SinceBoot), message })
}

/// The text of the member called `name` in a line of JSON.
fn json_text<'t>(line: &'t str, name: &str) -> Option<&'t str> {
    let mut rest = line;
    loop {
        let (_, behind) = rest.split_once('"')?;
        let Some(value) = behind.strip_prefix(name).and_then(|it| it.strip_prefix('"')) else {
            rest = behind;
            continue;
        };
        let value = value.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let is_end = |&(at, c): &(usize, char)| c == '"' && !value[..at].ends_with('\\');
        let (end, _) = value.char_indices().find(is_end)?;
        return Some(&value[..end]);
    }
}

/// A record of `/dev/kmsg`: `3,800,303201200,-;MESSAGE` (kernel documentation, ABI/testing/dev-kmsg).
fn of_kmsg(line: &str) -> Option<Stamped<'_>> {
    let (head, message) = line.split_once(';')?;
    let mut fields = head.split(',');
    let (level, sequence, micros) = (fields.next()?, fields.next()?, fields.next()?);
    let is_head = [level, sequence].iter().all(|it| number(it).is_some());
    let seconds = number(micros).filter(|_| is_head && fields.next().is_some())? / 1e6;
    Some(Stamped { stamp: Some(Stamp::SinceBoot(seconds)), message: message.trim() })
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
    let seconds = inside.split_once(['@', '<']).map_or(inside, |(seconds, _)| seconds.trim_end());
    if seconds.contains('.')
        && let Some(seconds) = number(seconds).filter(|_| !seconds.contains(','))
    {
        return Some(Stamp::SinceBoot(seconds));
    }
    let colons = inside.matches(':').count();
    // `dmesg --reltime` prints a date without seconds where a minute begins: `Jan15 10:23`.
    let has_month = || inside.starts_with(char::is_alphabetic);
    let is_date = inside.len() >= 8 && (colons == 2 || colons == 1 && has_month());
    is_date.then_some(Stamp::Clock(inside))
}

/// Whether `inside` is the time since the message before: `+0.000012` of `dmesg --reltime`, `<    0.000012>`.
fn is_since_last(inside: &str) -> bool {
    let bare = inside.trim_start_matches('<').trim_end_matches('>').trim();
    let is_marked = inside.starts_with('+') || inside.len() > bare.len();
    is_marked && number(bare.trim_start_matches('+')).is_some()
}

/// Whether `inside` names who printed: a task (`T123`) or a processor (`C0`).
fn is_caller(inside: &str) -> bool {
    let digits = inside.strip_prefix(['T', 'C']).unwrap_or_default();
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventKind, event};

    #[test]
    fn the_time_before_a_message_is_found_in_any_log() {
        let message = "mmc0: running CQE recovery";
        let cases = [
            ("", None),
            ("[  301.120441] ", Some(Stamp::SinceBoot(301.120_441))),
            ("[  301.120441][    T7] ", Some(Stamp::SinceBoot(301.120_441))),
            ("[    8.888974@0] ", Some(Stamp::SinceBoot(8.888_974))),
            ("<3>[  301.120441] ", Some(Stamp::SinceBoot(301.120_441))),
            ("kern  :err   : [  301.120441] ", Some(Stamp::SinceBoot(301.120_441))),
            ("[Mon Mar  4 10:11:12 2024] ", Some(Stamp::Clock("Mon Mar  4 10:11:12 2024"))),
            ("Mar 12 10:11:12 pi kernel: ", Some(Stamp::Clock("Mar 12 10:11:12"))),
            ("Mar 12 10:11:12 pi kernel: [  301.120441] ", Some(Stamp::Clock("Mar 12 10:11:12"))),
            (
                "2024-03-12T10:11:12.123456+01:00 pi kernel: ",
                Some(Stamp::Clock("2024-03-12T10:11:12.123456+01:00")),
            ),
            (
                "2024-03-12T10:11:12,123456+01:00 ",
                Some(Stamp::Clock("2024-03-12T10:11:12,123456+01:00")),
            ),
            ("[  301.120441] pi kernel: ", Some(Stamp::SinceBoot(301.120_441))),
            (
                "Tue 2024-03-12 10:11:12 UTC pi kernel: ",
                Some(Stamp::Clock("Tue 2024-03-12 10:11:12 UTC")),
            ),
            ("[2023-04-03 09:58:37] [    3.5] ", Some(Stamp::Clock("2023-04-03 09:58:37"))),
        ];
        for (prefix, expected) in cases {
            let line = format!("{prefix}{message}");
            let found = event(&line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((found.stamp, found.device), (expected, Some("mmc0")), "{line}");
        }
    }

    #[test]
    fn the_message_is_found_in_each_form_that_has_fields_or_relative_times() {
        let message = "mmc0: Timeout waiting for hardware interrupt.";
        let seconds = Some(Stamp::SinceBoot(303.2));
        for (line, stamp) in [
            (format!("3,800,303200000,-;{message}"), seconds),
            (format!("[  303.200000 <    0.000012>] {message}"), seconds),
            (format!("[  +0.000012] {message}"), None),
            (format!("[Jan15 10:23] {message}"), Some(Stamp::Clock("Jan15 10:23"))),
            (
                format!(
                    r#"{{"_TRANSPORT":"kernel","MESSAGE":"{message}","_SOURCE_MONOTONIC_TIMESTAMP":"303200000"}}"#
                ),
                seconds,
            ),
            (format!(r#"   "MESSAGE" : "{message}","#), None),
            (format!(r#"  {{"pri": 3, "time":   303.200000, "msg": "{message}"}},"#), seconds),
            (format!("    MESSAGE={message}"), None),
            (
                format!(
                    "Jan 15 10:23:50 pi kernel: message repeated 5 times: [ [  303.2] {message}]"
                ),
                Some(Stamp::Clock("Jan 15 10:23:50")),
            ),
        ] {
            let found = event(&line).unwrap_or_else(|| panic!("not known: {line}"));
            assert_eq!((found.stamp, &found.kind), (stamp, &EventKind::NoAnswer), "{line}");
            let count = if line.contains("repeated") { 5 } else { 1 };
            assert_eq!((found.device, found.count), (Some("mmc0"), count), "{line}");
        }
    }
}
