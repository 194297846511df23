//! The used life of an eMMC as Linux's sysfs and mmc-utils print it, and where in a text it stands.
//!
//! `life_time` holds the codes of DEVICE_LIFE_TIME_EST_TYP_A and _B, `pre_eol_info` that of PRE_EOL_INFO
//! (`mmc_life_time_show` in `drivers/mmc/core/mmc.c`). People paste `cat` with its answer, `grep .` over
//! several files, or the lines of `mmc extcsd read` that they looked for.

use crate::paste::card_name;

/// The codes of used life: 0 where one is not told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LifeCodes {
    /// The card, as a path or a heading names it.
    pub card: Option<String>,
    /// Of the first kind of memory.
    pub a: u8,
    /// Of the second kind of memory.
    pub b: u8,
    /// Of the spare blocks.
    pub reserve: u8,
}

/// The highest codes of used life and of spare blocks (JESD84-B51, 7.4.44 to 7.4.46).
const LIFE_MAX: u8 = 0x0b;
const RESERVE_MAX: u8 = 3;

/// What a line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Both,
    A,
    B,
    Reserve,
}

/// The names, the longest of each kind first.
const NAMES: [(&str, Named); 7] = [
    ("life_time_est_typ_a", Named::A),
    ("life_time_est_typ_b", Named::B),
    ("life time estimation a", Named::A),
    ("life time estimation b", Named::B),
    ("life_time", Named::Both),
    ("pre_eol_info", Named::Reserve),
    ("pre eol information", Named::Reserve),
];

/// The codes that `text` tells, card by card: another card begins where a line names one, or where what is
/// told already is told again.
#[must_use]
pub fn find_life(text: &str) -> Vec<LifeCodes> {
    if let Some(codes) = nameless(text) {
        return vec![codes];
    }
    let mut reading = Reading::default();
    for line in text.lines() {
        reading.add(line);
    }
    reading.end();
    reading.found
}

/// The codes of a text that is nothing but what `cat` prints of `life_time`, and of `pre_eol_info` after it.
fn nameless(text: &str) -> Option<LifeCodes> {
    let lines: Option<Vec<Vec<u8>>> =
        text.lines().filter(|line| !line.trim().is_empty()).map(alone).collect();
    let (a, b, reserve) = match lines?.iter().map(Vec::as_slice).collect::<Vec<_>>().as_slice() {
        [[a, b]] => (*a, *b, 0),
        [[a, b], [reserve]] => (*a, *b, *reserve),
        _ => return None,
    };
    let is_life = [a, b].iter().all(|code| (1..=LIFE_MAX).contains(code)) && reserve <= RESERVE_MAX;
    is_life.then_some(LifeCodes { card: None, a, b, reserve })
}

/// What a text holds that is one file of sysfs alone, as copied from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeFile {
    /// `life_time`: two codes.
    LifeTime,
    /// `pre_eol_info`: one code.
    PreEolInfo,
}

/// Which file of sysfs `text` is the whole content of, by its codes; `None` where it is another text.
#[must_use]
pub fn life_file(text: &str) -> Option<LifeFile> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let codes = alone(lines.next()?)?;
    match (codes.as_slice(), lines.next()) {
        ([_, _], None) => Some(LifeFile::LifeTime),
        ([code], None) if *code <= RESERVE_MAX => Some(LifeFile::PreEolInfo),
        _ => None,
    }
}

#[derive(Debug, Default)]
struct Reading {
    found: Vec<LifeCodes>,
    current: LifeCodes,
    told: Vec<Named>,
    /// Commands whose answers stand below them, in their order.
    asked: Vec<Named>,
}

impl Reading {
    fn end(&mut self) {
        let current = std::mem::take(&mut self.current);
        if current != (LifeCodes { card: current.card.clone(), ..LifeCodes::default() }) {
            self.found.push(current);
        }
        self.told.clear();
    }

    fn add(&mut self, line: &str) {
        if let Some(card) = card_name(line).filter(|card| self.current.card.as_ref() != Some(card))
        {
            if !self.told.is_empty() {
                self.end();
            }
            self.current.card = Some(card);
        }
        let named = names(line);
        match named.as_slice() {
            [] => {
                if let Some(codes) = alone(line)
                    && !self.asked.is_empty()
                {
                    let name = self.asked.remove(0);
                    self.tell(name, &codes);
                }
            }
            [(end, name)] => match beside(&line[*end..]) {
                codes if codes.is_empty() => self.asked = vec![*name],
                codes => self.tell(*name, &codes),
            },
            names => self.asked = names.iter().map(|(_, name)| *name).collect(),
        }
    }

    fn tell(&mut self, name: Named, codes: &[u8]) {
        let (a, b, reserve) = match (name, codes) {
            (Named::Both, [a, b, ..]) => (Some(*a), Some(*b), None),
            (Named::A, [code, ..]) => (Some(*code), None, None),
            (Named::B, [code, ..]) => (None, Some(*code), None),
            (Named::Reserve, [code, ..]) => (None, None, Some(*code)),
            _ => return,
        };
        if self.told.contains(&name) {
            let card = self.current.card.clone();
            self.end();
            self.current.card = card;
        }
        self.told.push(name);
        let current = &mut self.current;
        current.a = a.unwrap_or(current.a);
        current.b = b.unwrap_or(current.b);
        current.reserve = reserve.unwrap_or(current.reserve);
    }
}

/// What a line names, in its order, each with where its name ends. A line of mmc-utils names a thing twice:
/// in words, and as the register does.
fn names(line: &str) -> Vec<(usize, Named)> {
    let lower = line.to_ascii_lowercase();
    let mut found: Vec<(usize, Named)> = Vec::new();
    for (name, kind) in NAMES {
        let Some(at) = lower.find(name) else { continue };
        let end = at + name.len();
        let is_longer = kind == Named::Both && lower[end..].starts_with("_est");
        match found.iter_mut().find(|(_, known)| *known == kind) {
            _ if is_longer => {}
            Some((known, _)) => *known = (*known).max(end),
            None => found.push((end, kind)),
        }
    }
    found.sort_by_key(|(end, _)| *end);
    found
}

/// The codes of two digits after `0x` that stand behind a name, up to other words.
fn beside(rest: &str) -> Vec<u8> {
    let marks = |c: char| c.is_whitespace() || "[]:=\"',{}".contains(c);
    let words = rest.split(marks).filter(|word| !word.is_empty());
    words.map_while(code).collect()
}

/// The codes that a line consists of.
fn alone(line: &str) -> Option<Vec<u8>> {
    let codes: Vec<u8> = line
        .split_whitespace()
        .map(|word| code(word.trim_matches(['"', '\''])))
        .collect::<Option<_>>()?;
    (1..=2).contains(&codes.len()).then_some(codes)
}

fn code(word: &str) -> Option<u8> {
    u8::from_str_radix(word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"))?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_file_of_sysfs_is_known_by_its_codes() {
        assert_eq!(life_file("0x05 0x06\n"), Some(LifeFile::LifeTime));
        assert_eq!(life_file("0x01\n"), Some(LifeFile::PreEolInfo));
        for other in ["", "0x05 0x06\n0x01\n", "0x09\n", "1\n", "pre_eol_info: 0x01\n"] {
            assert_eq!(life_file(other), None, "{other}");
        }
    }

    fn told(text: &str) -> Vec<(Option<String>, [u8; 3])> {
        find_life(text).into_iter().map(|it| (it.card, [it.a, it.b, it.reserve])).collect()
    }

    #[test]
    fn life_is_found_below_its_command_and_beside_its_name() {
        for text in [
            "# cat /sys/block/mmcblk0/device/life_time\n0x0b 0x05\n# cat /sys/block/mmcblk0/device/pre_eol_info\n0x02\n",
            "/sys/block/mmcblk0/device/life_time:0x0b 0x05\n/sys/block/mmcblk0/device/pre_eol_info:0x02\n",
            "$ cat /sys/class/mmc_host/mmc0/mmc0:0001/{life_time,pre_eol_info}\n0x0b 0x05\n0x02\n",
            "pre_eol_info = 0x02\nlife_time = 0x0b 0x05\n",
            "ATTRS{life_time}==\"0x0b 0x05\"\nATTRS{pre_eol_info}==\"0x02\"\n",
            "eMMC Life Time Estimation A [EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_A]: 0x0b\n\
             eMMC Life Time Estimation B [EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_B]: 0x05\n\
             eMMC Pre EOL information [EXT_CSD_PRE_EOL_INFO]: 0x02\n",
            "[DEVICE_LIFE_TIME_EST_TYP_A: 0x0B]\n[DEVICE_LIFE_TIME_EST_TYP_B: 0x05]\n[PRE_EOL_INFO: 0x02]\n",
            "DEVICE_LIFE_TIME_EST_TYP_A=0x0b\nDEVICE_LIFE_TIME_EST_TYP_B=0x05\nPRE_EOL_INFO=0x02",
            "eMMC Life Time Estimation A: 0x0b\neMMC Life Time Estimation B: 0x05\neMMC Pre EOL information: 0x02",
        ] {
            let found = told(text);
            assert_eq!(found.len(), 1, "{text}");
            assert_eq!(found[0].1, [0x0b, 5, 2], "{text}");
        }
        for text in
            ["", "life_time", "0x0c 0x05", "life_time: long\n0x1 0x2 0x3", "my life_time is 0x"]
        {
            assert_eq!(told(text), [], "{text}");
        }
    }

    #[test]
    fn the_bare_answer_of_cat_is_read() {
        assert_eq!(told("0x0b 0x05\n"), [(None, [0x0b, 5, 0])]);
        assert_eq!(told("0x02 0x01\n0x01\n"), [(None, [2, 1, 1])]);
        for other in
            ["0x02\n", "0x02 0x01 0x01\n", "0x02 0x00", "0x02 0x01\n0x04", "0x02 0x01\n0x44 0x53"]
        {
            assert_eq!(told(other), [], "{other}");
        }
    }

    #[test]
    fn a_command_that_is_piped_is_followed_by_its_lines() {
        let text = "root@host:~# mmc extcsd read /dev/mmcblk1 | grep -i LIFE\n\
             eMMC Life Time Estimation A [EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_A]: 0x02\n\
             eMMC Life Time Estimation B [EXT_CSD_DEVICE_LIFE_TIME_EST_TYP_B]: 0x01\n\
             root@host:~# mmc extcsd read /dev/mmcblk1 | grep -i EOL\n\
             eMMC Pre EOL information [EXT_CSD_PRE_EOL_INFO]: 0x01\n";
        assert_eq!(told(text), [(Some("mmcblk1".to_owned()), [2, 1, 1])]);
    }

    #[test]
    fn two_cards_stay_two() {
        let text = "$ cat /sys/block/mmcblk0/device/life_time\n0x0b 0x05\n\
             $ cat /sys/block/mmcblk2/device/life_time\n0x01 0x01\n";
        let named = |name: &str| Some(name.to_owned());
        let expected = [(named("mmcblk0"), [0x0b, 5, 0]), (named("mmcblk2"), [1, 1, 0])];
        assert_eq!(told(text), expected);
        let nameless = "life_time: 0x0b 0x05\nlife_time: 0x01 0x01\n";
        assert_eq!(told(nameless), [(None, [0x0b, 5, 0]), (None, [1, 1, 0])]);
    }
}
