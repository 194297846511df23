//! What has gone wrong with the storage since the computer started, by the kernel: its log, and the counters of the
//! card's host.
//!
//! Messages are decoded, not kept: what the kernel prints of a file system can name programs. `mmcN/err_stats` of debugfs is of Linux 6.0
//! and later, for hosts of the SDHCI kind (drivers/mmc/core/debugfs.c); `mmcN:ADDRESS/quirks` has the bits of what the
//! running kernel works around for this card.

use cardproof_kernel_log::DeviceLog;
use cardproof_record::Finding;
use serde::Serialize;

use super::kernel_log::KernelLog;
use super::mmc_host::MmcHost;
use super::sources::Sources;
use crate::Sysroot;
use crate::messages;

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
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Errors {
    /// Whether the log was read, without which no error in it says nothing.
    #[serde(skip)]
    pub log_access: LogAccess,
    /// By the kernel's log: what, how often, since when.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub log: Vec<Finding>,
    /// By the counters of the card's host.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub host: Vec<HostErrors>,
    /// The bits of what the running kernel works around for this card, as it prints them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quirk_bits: Option<String>,
}

impl Errors {
    /// Those of the block device `name`, such as `mmcblk0`, whose card is in `host` at `address`.
    pub(crate) fn read(
        sources: &Sources<'_>,
        name: &str,
        host: Option<&MmcHost>,
        address: Option<&str>,
    ) -> Self {
        let root = sources.root();
        let counters = host.and_then(|host| host_errors(root, &host.name));
        let bits = host
            .map(|host| format!("sys/kernel/debug/{}", host.name))
            .zip(address)
            .and_then(|(path, address)| root.text(format!("{path}/{address}/quirks")));
        Self {
            log_access: LogAccess::from(sources.log()),
            log: in_log(sources, name, host),
            host: counters.unwrap_or_default(),
            quirk_bits: bits.filter(|bits| bits.trim_start_matches("0x").contains(|c| c != '0')),
        }
    }

    /// Whether nothing has gone wrong, as far as it was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self { log_access: self.log_access, ..Self::default() }
    }
}

/// What the log tells of the device. The numbers of its lines are of no use, for only some are kept.
fn in_log(sources: &Sources<'_>, name: &str, host: Option<&MmcHost>) -> Vec<Finding> {
    let host = host.map(|host| &*host.name);
    let device = messages::of_device(sources.root(), sources.messages(), name, host);
    let findings = device.iter().flat_map(DeviceLog::findings);
    findings.map(|found| Finding { line: None, ..found }).collect()
}

/// The counters of the card's host called `host`, such as `mmc0`, that are not zero; `None` where they cannot be read.
pub(crate) fn host_errors(root: &Sysroot, host: &str) -> Option<Vec<HostErrors>> {
    let bytes = root.bytes(format!("sys/kernel/debug/{host}/err_stats")).ok()?;
    Some(counted(&String::from_utf8_lossy(&bytes)))
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
    fn counters_that_are_zero_are_left_out() {
        let text = "# Command Timeout Occurred:\t 0\n# Command CRC Errors Occurred:\t 345\nerr_state: 1\n\
                    # Data CRC Errors Occurred:\t 2\n# broken: x\n";
        let found: Vec<_> = counted(text).into_iter().map(|it| (it.counter, it.count)).collect();
        let expected = [("Command CRC Errors Occurred", 345), ("Data CRC Errors Occurred", 2)];
        assert_eq!(found, expected.map(|(name, count)| (name.to_owned(), count)));
    }
}
