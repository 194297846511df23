//! A register in the middle of a sentence: `the CID of my card is 0000005446... - is that a fake?`.
//!
//! Words of a sentence may look like hex. So only a run of hex words with exactly the register's number of
//! digits counts, and only behind the register's name.

use crate::parse_hex;

/// Registers by the names that people write, and how many digits each has.
const NAMES: [(&str, &str, usize); 3] =
    [("cid", "CID", 32), ("csd", "CSD", 32), ("scr", "SCR", 16)];

/// The name of a register and its digits behind it in `line`.
pub(super) fn register_in(line: &str) -> Option<(&'static str, String)> {
    let mut words = line.split_whitespace();
    let (name, length) = words.find_map(|word| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        // A path of sysfs ends in the name.
        let word = word.rsplit('/').next().unwrap_or(word).to_ascii_lowercase();
        NAMES.iter().find(|(own, ..)| *own == word).map(|(_, name, length)| (*name, *length))
    })?;
    let mut run = String::new();
    for word in words.map(digits).chain([None]) {
        match word {
            Some(digits) => run.push_str(&digits),
            None if run.len() == length => return Some((name, run)),
            None => run.clear(),
        }
    }
    None
}

/// The digits of whole bytes in a word, without the marks of a sentence around it.
fn digits(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    let bytes = parse_hex(word).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_register_counts_behind_its_name_with_all_of_its_digits() {
        let digits = "000000544620202020100000031200c1";
        let bytes = "00 00 00 54 46 20 20 20 20 10 00 00 03 12 00 c1";
        let dotted = bytes.replace(' ', ":");
        for line in [
            &format!("cid: {digits} is this fake?"),
            &format!("My card's CID is {digits}, a bad one?"),
            &format!("CID of my new card: {bytes} (fake?)"),
            &format!("The CID \"0x{digits}\""),
            &format!("the cid reads {dotted}."),
            &format!("\"cat /sys/block/mmcblk0/device/cid\" gave {digits}, and now?"),
        ] {
            assert_eq!(register_in(line), Some(("CID", digits.to_owned())), "{line}");
        }
        for line in [
            &format!("{digits} is my CID"),
            &format!("the CID: {digits}00 is too long"),
            &format!("the CID: {}", &digits[..30]),
            &format!("the SCR {digits}"),
            "the CID is a bad face",
        ] {
            assert_eq!(register_in(line), None, "{line}");
        }
    }
}
