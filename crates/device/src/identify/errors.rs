//! What has gone wrong with the storage since the computer started, by the kernel: its log, and the counters of the
//! card's host.
//!
//! Counts only: what the kernel prints of a file system can name programs. `mmcN/err_stats` of debugfs is of Linux 6.0
//! and later, for hosts of the SDHCI kind (drivers/mmc/core/debugfs.c); `mmcN:ADDRESS/quirks` has the bits of what the
//! running kernel works around for this card.

use serde::Serialize;

use super::kernel_log::KernelLog;
use super::log_error::{LogError, is_error};
use super::mmc_host::MmcHost;
use super::sources::Sources;

/// How often something was counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LogErrors {
    /// What.
    pub error: LogError,
    /// How often.
    pub count: u64,
}

/// A counter of the card's host that is not zero.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostErrors {
    /// Its name, as the kernel has it, such as `Command CRC Errors`.
    pub counter: String,
    /// How often, since the start or since it was cleared.
    pub count: u64,
}

/// Whether the kernel's log was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogAccess {
    /// It was.
    Read,
    /// This user may not read it.
    NotPermitted,
    /// There is none.
    #[default]
    Absent,
}

impl From<&KernelLog> for LogAccess {
    fn from(log: &KernelLog) -> Self {
        match log {
            KernelLog::Lines(_) => Self::Read,
            KernelLog::NotPermitted => Self::NotPermitted,
            KernelLog::Absent => Self::Absent,
        }
    }
}

/// What has gone wrong.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Errors {
    /// Whether the log was read, without which no error in it says nothing.
    #[serde(skip)]
    pub log_access: LogAccess,
    /// By the kernel's log.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<LogErrors>,
    /// By the counters of the card's host.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<HostErrors>,
    /// The bits of what the running kernel works around for this card, as it prints them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quirk_bits: Option<String>,
}

impl Errors {
    /// Those of the block device `name`, such as `mmcblk0`, whose card is in `host` at `address`.
    pub(crate) fn of(
        sources: &Sources<'_>,
        name: &str,
        host: Option<&MmcHost>,
        address: Option<&str>,
    ) -> Self {
        let root = sources.root();
        let debugfs = host.map(|host| format!("sys/kernel/debug/{}", host.name));
        let counters = debugfs.as_ref().and_then(|path| root.text(format!("{path}/err_stats")));
        let bits = debugfs
            .zip(address)
            .and_then(|(path, address)| root.text(format!("{path}/{address}/quirks")));
        Self {
            log_access: LogAccess::from(sources.log()),
            log: in_log(sources, name, host),
            host: counters.map_or_else(Vec::new, |text| counted(&text)),
            quirk_bits: bits.filter(|bits| bits.trim_start_matches("0x").contains(|c| c != '0')),
        }
    }

    /// Whether nothing has gone wrong, as far as it was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self { log_access: self.log_access, ..Self::default() }
    }
}

fn in_log(sources: &Sources<'_>, name: &str, host: Option<&MmcHost>) -> Vec<LogErrors> {
    let mut found: Vec<LogErrors> = Vec::new();
    let lines = sources.log().lines().unwrap_or_default();
    for line in lines.iter().filter(|line| is_error(line)) {
        let of_host = host.is_some_and(|host| names(line, &host.name));
        let Some(error) = LogError::of(line).filter(|_| of_host || names(line, name)) else {
            continue;
        };
        match found.iter_mut().find(|known| known.error == error) {
            Some(known) => known.count += 1,
            None => found.push(LogErrors { error, count: 1 }),
        }
    }
    found
}

/// Whether `line` names the device `name` or one of its partitions, and no other whose name begins alike.
fn names(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let rest = &line[at + name.len()..];
        // A partition is `mmcblk0p2` or `sda2`.
        let ends_in_digit = name.ends_with(|c: char| c.is_ascii_digit());
        let partition = if ends_in_digit { rest.strip_prefix('p') } else { Some(rest) };
        let rest = partition.map_or(rest, |it| it.trim_start_matches(|c: char| c.is_ascii_digit()));
        !before.is_some_and(char::is_alphanumeric)
            && !rest.chars().next().is_some_and(char::is_alphanumeric)
    })
}

/// The counters of `err_stats` that are not zero: lines such as `# Command Timeout Occurred:  3`.
fn counted(text: &str) -> Vec<HostErrors> {
    let counter = |line: &str| {
        let (name, count) = line.strip_prefix('#')?.split_once(':')?;
        let count = count.trim().parse().ok().filter(|count| *count > 0)?;
        Some(HostErrors { counter: name.trim().to_owned(), count })
    };
    text.lines().filter_map(counter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_its_device_and_not_one_with_a_longer_name() {
        for (line, name, expected) in [
            ("I/O error, dev mmcblk0, sector 1", "mmcblk0", true),
            ("Buffer I/O error on dev mmcblk0p2, logical block 1", "mmcblk0", true),
            ("EXT4-fs error (device sda1): x", "sda", true),
            ("I/O error, dev mmcblk01, sector 1", "mmcblk0", false),
            ("I/O error, dev sdaa, sector 1", "sda", false),
            ("mmc0: error -110", "mmc0", true),
            ("mmc01: error -110", "mmc0", false),
        ] {
            assert_eq!(names(line, name), expected, "{line} {name}");
        }
    }

    #[test]
    fn counters_that_are_zero_are_left_out() {
        let text = "# Command Timeout Occurred:\t 0\n# Command CRC Errors Occurred:\t 345\nerr_state: 1\n\
                    # Data CRC Errors Occurred:\t 2\n# broken: x\n";
        let found: Vec<_> = counted(text).into_iter().map(|it| (it.counter, it.count)).collect();
        let expected = [("Command CRC Errors Occurred", 345), ("Data CRC Errors Occurred", 2)];
        assert_eq!(found, expected.map(|(name, count)| (name.to_owned(), count)));
    }
}
