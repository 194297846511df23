//! The kinds of text that may be shared, each as narrow as its use allows.

/// What stands for a name that may not be shared but cannot be left out.
pub(crate) const WITHHELD: &str = "withheld";

/// Device names that kernels give: a kind and a number, never a person's choice.
const NUMBERED: [&str; 9] = ["mmcblk", "nvme", "loop", "dm-", "md", "zram", "ram", "nbd", "nullb"];

/// Those with a letter or two instead of a number.
const LETTERED: [&str; 3] = ["sd", "vd", "xvd"];

/// Options of a mount that change speed; others, and the values of unknown ones, stay private.
const MOUNT_OPTIONS: [&str; 26] = [
    "rw",
    "ro",
    "noatime",
    "relatime",
    "lazytime",
    "strictatime",
    "nodiratime",
    "sync",
    "async",
    "discard",
    "nodiscard",
    "data",
    "commit",
    "barrier",
    "nobarrier",
    "journal_checksum",
    "compress",
    "compress-force",
    "ssd",
    "nodatacow",
    "flush",
    "background_gc",
    "active_logs",
    "fsync_mode",
    "mode",
    "checkpoint",
];

/// `text` as a word of a program's: letters, digits and a few signs; `None` for anything else.
pub(crate) fn word(text: &str, length_max: usize) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "-_.+:".contains(c);
    let is_word = !text.is_empty() && text.len() <= length_max && text.chars().all(fits);
    (is_word && !is_private(text)).then(|| text.to_owned())
}

/// `text` as the name of a product: printable, on one line, cut to `length_max` characters; `None` where
/// it looks like anything that leads to a person.
pub(crate) fn name(text: &str, length_max: usize) -> Option<String> {
    let shown: String = text.chars().map(|c| if steers(c) { ' ' } else { c }).collect();
    let line = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(length_max).collect();
    // A cut can end in a space, and can make of one text another that leads to a person.
    let cut = cut.trim_end();
    let is_shown = !cut.is_empty() && !is_private(&line) && !is_private(cut);
    is_shown.then(|| cut.to_owned())
}

/// The version of a kernel without what its builder has added: `6.6.31` of `6.6.31-of-my-laptop`.
pub(crate) fn kernel(text: &str) -> Option<String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let version = text[..end].trim_end_matches('.');
    let is_version = version.contains('.') && version.len() <= 16 && !version.contains("..");
    is_version.then(|| version.to_owned())
}

/// A device's name from the kernel or the simulator.
pub(crate) fn device(text: &str) -> Option<String> {
    if let Some(model) = text.strip_prefix("sim:") {
        return word(model, 48).map(|model| format!("sim:{model}"));
    }
    let after = |kinds: &[&str]| kinds.iter().find_map(|kind| text.strip_prefix(kind));
    let lettered = after(&LETTERED).map(|rest| {
        let letters = rest.trim_end_matches(|c: char| c.is_ascii_digit());
        (1..=2).contains(&letters.len()) && letters.bytes().all(|c| c.is_ascii_lowercase())
    });
    let numbered = after(&NUMBERED).map(|rest| {
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
        rest.len() <= 12 && rest.split(['n', 'p']).all(is_number)
    });
    numbered.or(lettered).unwrap_or(false).then(|| text.to_owned())
}

/// An option of a mount that changes speed.
pub(crate) fn mount_option(text: &str) -> Option<String> {
    let (key, value) = text.split_once('=').unwrap_or((text, ""));
    let is_plain =
        value.len() <= 16 && value.chars().all(|c| c.is_ascii_alphanumeric() || c == ':');
    (MOUNT_OPTIONS.contains(&key) && is_plain).then(|| text.to_owned())
}

/// The day of a moment in RFC 3339, or the first day of a year that stands alone, as its first moment: the
/// hour is private. What tells no day becomes the first day of 1970.
pub(crate) fn day(text: &str) -> String {
    let year = || format!("{text}-01-01");
    let date = text.get(..10).map(str::to_owned).unwrap_or_else(year);
    let date = if is_date(&date) { &date } else { "1970-01-01" };
    format!("{date}T00:00:00Z")
}

/// Whether `text` is a day of the form 2026-01-31.
pub(crate) fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else { return false };
    let number = |part: &str, length: usize| -> Option<u32> {
        let is_number = part.len() == length && part.bytes().all(|c| c.is_ascii_digit());
        is_number.then(|| part.parse().ok()).flatten()
    };
    let (Some(_), Some(month), Some(day)) = (number(year, 4), number(month, 2), number(day, 2))
    else {
        return false;
    };
    (1..=12).contains(&month) && (1..=31).contains(&day)
}

fn steers(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}'
    );
    c.is_control() || turns
}

/// Whether `text` looks like a path, an address of any kind, or a serial number.
fn is_private(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let is_path =
        lower.contains('\\') || lower.split(' ').any(|part| part.matches('/').count() > 1);
    let is_address = lower.contains('@') || lower.contains("://");
    let bytes: Vec<char> = lower.chars().collect();
    is_path || is_address || has_long_number(&bytes) || has_mac(&lower) || has_uuid(&lower)
}

/// Ten digits in a row, or twelve hexadecimal ones with a digit and a letter among them.
fn has_long_number(characters: &[char]) -> bool {
    let mut runs = characters.split(|c| !c.is_ascii_hexdigit());
    runs.any(|run| {
        let digits = run.split(|c| !c.is_ascii_digit()).map(<[char]>::len).max().unwrap_or(0);
        let has_both =
            run.iter().any(char::is_ascii_digit) && run.iter().any(|c| !c.is_ascii_digit());
        digits >= 10 || (run.len() >= 12 && has_both)
    })
}

/// Six pairs of hexadecimal digits with colons or dashes between them.
fn has_mac(text: &str) -> bool {
    let is_pair = |part: &str| part.len() == 2 && part.chars().all(|c| c.is_ascii_hexdigit());
    text.split(|c: char| !c.is_ascii_hexdigit() && c != ':' && c != '-').any(|part| {
        let pairs: Vec<&str> = part.split([':', '-']).collect();
        pairs.windows(6).any(|six| six.iter().all(|part| is_pair(part)))
    })
}

/// Groups of 8, 4, 4, 4 and 12 hexadecimal digits, or of 4 and 4 as FAT has them.
fn has_uuid(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_hexdigit() && c != '-').any(|part| {
        let lengths: Vec<usize> = part.split('-').map(str::len).collect();
        lengths.windows(5).any(|five| five == [8, 4, 4, 4, 12])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_was_cut_is_taken_unchanged_the_next_time() {
        let cut = name("Storage Device", 8).unwrap();
        assert_eq!((cut.as_str(), name(&cut, 8)), ("Storage", Some("Storage".to_owned())));
        assert_eq!(name("aa:bb:cc:dd:ee:ff0", 17), None, "the cut makes it a MAC address");
    }

    #[test]
    fn products_pass_and_people_do_not() {
        for product in [
            "SanDisk Extreme A1, 32 GB (2017)",
            "Raspberry Pi 4 Model B Rev 1.4",
            "SU32G",
            "USB 3.0 / UHS-I reader",
            "Samsung SSD 980 PRO 1TB",
        ] {
            assert_eq!(name(product, 96).as_deref(), Some(product));
        }
        for private in [
            "/home/anna/card",
            "C:\\Users\\anna",
            "anna@example.org",
            "http://example.org",
            "serial 0123456789",
            "id deadbeef0123",
            "dc:a6:32:01:02:03",
            "DC-A6-32-01-02-03",
            "9f3c2b1a-0d4e-4f5a-8b6c-7d8e9f0a1b2c",
        ] {
            assert_eq!(name(private, 96), None, "{private}");
        }
    }

    #[test]
    fn a_name_is_one_line_of_a_bounded_length() {
        assert_eq!(name("a\u{202e}b\n\tc", 96).as_deref(), Some("a b c"));
        assert_eq!(name(&"x".repeat(200), 96).map(|text| text.len()), Some(96));
        assert_eq!(name(" \n", 96), None);
    }

    #[test]
    fn a_kernel_is_its_version() {
        assert_eq!(kernel("6.6.31+rpt-rpi-v8").as_deref(), Some("6.6.31"));
        assert_eq!(kernel("6.1.0-annas-laptop").as_deref(), Some("6.1.0"));
        assert_eq!(kernel("annas-laptop"), None);
        assert_eq!(kernel("6"), None);
    }

    #[test]
    fn devices_are_those_of_the_kernel() {
        for good in ["mmcblk0", "sda", "nvme0n1", "dm-3", "sim:sandisk-ultra"] {
            assert_eq!(device(good).as_deref(), Some(good));
        }
        for bad in ["annas-disk", "sdanna", "sim:/home/anna", "mapper/secret"] {
            assert_eq!(device(bad), None, "{bad}");
        }
    }

    #[test]
    fn options_that_name_places_are_dropped() {
        assert_eq!(mount_option("commit=30").as_deref(), Some("commit=30"));
        assert_eq!(mount_option("lowerdir=/home/anna"), None);
        assert_eq!(mount_option("data=/home/anna"), None);
    }

    #[test]
    fn only_the_day_is_told() {
        assert_eq!(day("2026-11-22T11:13:58Z"), "2026-11-22T00:00:00Z");
        assert_eq!(day("2018"), "2018-01-01T00:00:00Z");
        assert_eq!(day("yesterday, at home"), "1970-01-01T00:00:00Z");
        assert!(!is_date("2026-13-01") && !is_date("2026-1-01"));
    }
}
