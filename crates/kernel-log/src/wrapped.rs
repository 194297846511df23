//! Lines of a log that a terminal or a mail has cut into several, put together again.

use super::event;
use super::stamp::split;

/// A log is not taken for cut where its longest line has fewer or more bytes than these.
const WIDTH: std::ops::RangeInclusive<usize> = 60..=200;

/// The numbered lines of `text`, each message on one: a line without a time goes on with the one before, where that
/// had no room for its first word. Texts without times, and those whose lines are longer, stay as they are.
#[must_use]
pub fn unwrapped(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let width = lines.iter().map(|line| line.len()).max().unwrap_or_default();
    let goes_on = continuations(&lines, width);
    // A terminal cuts all lines at one place, and not between words.
    let mut cut = (1..lines.len()).filter(|&at| goes_on[at]).map(|at| lines[at - 1].len());
    let between = if cut.all(|length| length == width) { "" } else { " " };
    let mut found: Vec<(usize, String)> = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        match found.last_mut() {
            Some((_, known)) if goes_on[at] => {
                known.push_str(between);
                known.push_str(line);
            }
            _ => found.push((at + 1, (*line).to_owned())),
        }
    }
    found
}

/// Which of `lines`, the longest of which has `width` bytes, go on with the one before.
fn continuations(lines: &[&str], width: usize) -> Vec<bool> {
    let mut found = Vec::with_capacity(lines.len());
    // The length of the line before, where it is of a message.
    let mut before: Option<usize> = None;
    for line in lines {
        let is_new = begins(line);
        let first_word = line.split(' ').next().map_or(0, str::len);
        let has_room = |length: usize| length + 1 + first_word <= width;
        let goes_on = !is_new
            && !line.trim().is_empty()
            && WIDTH.contains(&width)
            && before.is_some_and(|length| !has_room(length));
        found.push(goes_on);
        before = (is_new || goes_on).then_some(line.len());
    }
    found
}

/// Whether a message begins with `line`.
fn begins(line: &str) -> bool {
    let has_time = split(line).stamp.is_some() || line.starts_with('[');
    has_time || line.contains(" kernel: ") || event(line).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOG: [&str; 3] = [
        "[  303.201200] I/O error, dev mmcblk0, sector 10372992 op 0x1:(WRITE) flags 0x800 phys_seg 1 prio class 2",
        "[  304.300000] Buffer I/O error on dev mmcblk0p2, logical block 139265, lost sync page write",
        "[  304.500000] Aborting journal on device mmcblk0p2-8.",
    ];

    fn joined(text: &str) -> Vec<String> {
        unwrapped(text).into_iter().map(|(_, line)| line).collect()
    }

    /// The parts of `line` of at most `width` bytes, cut between words.
    fn at_words(line: &str, width: usize) -> Vec<&str> {
        let mut parts = Vec::new();
        let mut rest = line;
        while rest.len() > width {
            let end = rest[..=width].rfind(' ').unwrap();
            parts.push(&rest[..end]);
            rest = &rest[end + 1..];
        }
        parts.push(rest);
        parts
    }

    #[test]
    fn a_log_that_was_cut_at_any_width_is_whole_again() {
        for width in [66, 72, 80] {
            let hard = LOG.iter().flat_map(|line| line.as_bytes().chunks(width));
            let hard: Vec<&str> = hard.map(|part| std::str::from_utf8(part).unwrap()).collect();
            assert_eq!(joined(&hard.join("\n")), LOG, "{width}");
            let soft: Vec<&str> = LOG.iter().flat_map(|line| at_words(line, width)).collect();
            assert_eq!(joined(&soft.join("\n")), LOG, "{width}");
        }
    }

    #[test]
    fn what_was_not_cut_stays() {
        let longest = LOG[0].split_once("] ").unwrap().1;
        for text in [
            format!("[Jan15 10:23] {longest}\n[  +0.000012] mmc0: a\n"),
            format!(
                "{longest}\nBuffer I/O error on dev mmcblk0p2, logical block 1, async page read"
            ),
            LOG.join("\n"),
            "mmc0: a\nmmc0: b\nmmc0: c".to_owned(),
            format!("{}\nThat is what I see.\nHelp!", LOG[2]),
        ] {
            assert_eq!(joined(&text).join("\n"), text.trim_end());
        }
    }
}
