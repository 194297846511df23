//! The used life of an eMMC as Linux's sysfs prints it, and where in a text it stands.
//!
//! `life_time` holds the codes of DEVICE_LIFE_TIME_EST_TYP_A and _B, `pre_eol_info` that of PRE_EOL_INFO
//! (`mmc_life_time_show` in `drivers/mmc/core/mmc.c`). People paste `cat` with its answer, or `grep .` over
//! several files.

/// The codes of used life: 0 where one is not told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LifeCodes {
    /// Of the first kind of memory.
    pub a: u8,
    /// Of the second kind of memory.
    pub b: u8,
    /// Of the spare blocks.
    pub reserve: u8,
}

/// What a line names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Named {
    Life,
    Reserve,
}

/// The codes that `text` tells, by their names in sysfs; `None` where it tells none.
#[must_use]
pub fn find_life(text: &str) -> Option<LifeCodes> {
    let mut found: Option<LifeCodes> = None;
    // Commands whose answers stand below them, in their order.
    let mut asked: Vec<Named> = Vec::new();
    for line in text.lines() {
        let named = names(line);
        let told = line.rsplit([':', '=']).next().unwrap_or(line);
        let (name, codes) = match (named.as_slice(), codes(told), codes(line)) {
            ([name], Some(codes), _) => (*name, codes),
            ([], _, Some(codes)) if !asked.is_empty() => (asked.remove(0), codes),
            ([], ..) => continue,
            (names, ..) => {
                asked = names.to_vec();
                continue;
            }
        };
        let life = found.get_or_insert_default();
        match (name, codes.as_slice()) {
            (Named::Life, [a, b]) => (life.a, life.b) = (*a, *b),
            (Named::Reserve, [code]) => life.reserve = *code,
            _ => {}
        }
    }
    found.filter(|found| *found != LifeCodes::default())
}

/// The files that a line names, in its order.
fn names(line: &str) -> Vec<Named> {
    let mut found: Vec<(usize, Named)> =
        [("life_time", Named::Life), ("pre_eol_info", Named::Reserve)]
            .into_iter()
            .filter_map(|(name, kind)| Some((line.find(name)?, kind)))
            .collect();
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, kind)| kind).collect()
}

/// The codes that a line consists of: one or two in hex after `0x`.
fn codes(text: &str) -> Option<Vec<u8>> {
    let code = |word: &str| {
        let word = word.trim_matches(['"', '\'']);
        u8::from_str_radix(word.strip_prefix("0x")?, 16).ok()
    };
    let codes: Vec<u8> = text.split_whitespace().map(code).collect::<Option<_>>()?;
    (1..=2).contains(&codes.len()).then_some(codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn life_is_found_below_its_command_and_beside_its_name() {
        let expected = Some(LifeCodes { a: 0x0b, b: 5, reserve: 2 });
        for text in [
            "# cat /sys/block/mmcblk0/device/life_time\n0x0b 0x05\n# cat /sys/block/mmcblk0/device/pre_eol_info\n0x02\n",
            "/sys/block/mmcblk0/device/life_time:0x0b 0x05\n/sys/block/mmcblk0/device/pre_eol_info:0x02\n",
            "$ cat /sys/class/mmc_host/mmc0/mmc0:0001/{life_time,pre_eol_info}\n0x0b 0x05\n0x02\n",
            "pre_eol_info = 0x02\nlife_time = 0x0b 0x05\n",
            "ATTRS{life_time}==\"0x0b 0x05\"\nATTRS{pre_eol_info}==\"0x02\"\n",
        ] {
            assert_eq!(find_life(text), expected, "{text}");
        }
        for text in ["", "life_time", "0x0b 0x05", "life_time: long\n0x1 0x2 0x3"] {
            assert_eq!(find_life(text), None, "{text}");
        }
    }
}
