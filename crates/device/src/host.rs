//! The computer: board, kernel, processors, memory.
//!
//! The host's name, its serial number and its users are never read.

use cardproof_record::HostInfo;
use cardproof_units::Bytes;

use crate::Sysroot;

/// More processors than Linux can be built for: a count above this is garbage.
const CPUS_MAX: u32 = 1 << 16;

/// What firmware makers leave in fields that they did not fill in.
const PLACEHOLDERS: [&str; 9] = [
    "to be filled by o.e.m.",
    "system manufacturer",
    "system product name",
    "default string",
    "not applicable",
    "not specified",
    "o.e.m.",
    "unknown",
    "none",
];

/// What there is to say about the computer.
#[must_use]
pub fn look_at_host(root: &Sysroot) -> HostInfo {
    HostInfo {
        board: board(root),
        kernel: kernel(root),
        architecture: architecture(root),
        cpus: root
            .text("sys/devices/system/cpu/online")
            .and_then(|list| count(&list))
            .or_else(|| counted(root)),
        memory_bytes: memory(root),
        soc: soc(root),
        ..HostInfo::default()
    }
}

/// The model in the device tree, or else the machine's vendor and product, or its mainboard's.
fn board(root: &Sysroot) -> Option<String> {
    root.text("proc/device-tree/model")
        .or_else(|| root.text("sys/firmware/devicetree/base/model"))
        .or_else(|| dmi(root, "sys_vendor", "product_name"))
        .or_else(|| dmi(root, "board_vendor", "board_name"))
}

/// The last of the device tree's names for the machine, which is the system on the chip's, such as
/// `brcm,bcm2711`.
fn soc(root: &Sysroot) -> Option<String> {
    let names = root.bytes("proc/device-tree/compatible").ok()?;
    let text = String::from_utf8(names).ok()?;
    let last = text.split('\0').map(str::trim).rfind(|name| !name.is_empty())?;
    let is_name =
        last.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ',' | '-' | '.' | '_'));
    (is_name && last.len() <= 64).then(|| last.to_owned())
}

fn dmi(root: &Sysroot, vendor: &str, product: &str) -> Option<String> {
    let field = |name: &str| {
        let text = root.text(format!("sys/class/dmi/id/{name}"))?;
        (!PLACEHOLDERS.contains(&text.to_ascii_lowercase().as_str())).then_some(text)
    };
    let product = field(product)?;
    match field(vendor) {
        Some(vendor) if !product.starts_with(&vendor) => Some(format!("{vendor} {product}")),
        _ => Some(product),
    }
}

fn kernel(root: &Sysroot) -> Option<String> {
    let release = root.text("proc/sys/kernel/osrelease")?;
    let name = root.text("proc/sys/kernel/ostype")?;
    Some(format!("{name} {release}"))
}

/// The kernel's architecture, which may be wider than the program's. Kernels before 6.1 show it
/// in no file; then uname(2) tells, which speaks of the running system only.
fn architecture(root: &Sysroot) -> Option<String> {
    root.text("proc/sys/kernel/arch").or_else(|| {
        let uname = root.is_running_system().then(rustix::system::uname)?;
        uname.machine().to_str().ok().map(str::to_owned)
    })
}

/// How many processors the kernel's statistics have a line for, where there is no sysfs.
fn counted(root: &Sysroot) -> Option<u32> {
    let text = String::from_utf8(root.bytes("proc/stat").ok()?).ok()?;
    let is_processor = |line: &&str| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    let total = u32::try_from(text.lines().filter(is_processor).count()).ok()?;
    (1..=CPUS_MAX).contains(&total).then_some(total)
}

/// How many numbers a list such as `0-3,6` holds.
fn count(list: &str) -> Option<u32> {
    let mut total = 0_u32;
    for range in list.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        total = last.checked_sub(first)?.checked_add(1)?.checked_add(total)?;
    }
    (1..=CPUS_MAX).contains(&total).then_some(total)
}

fn memory(root: &Sysroot) -> Option<Bytes> {
    let table = String::from_utf8(root.bytes("proc/meminfo").ok()?).ok()?;
    let line = table.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024).filter(|&bytes| bytes > 0).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_are_counted_from_a_list_of_ranges() {
        assert_eq!(count("0"), Some(1));
        assert_eq!(count("0-3"), Some(4));
        assert_eq!(count("0-1,4,6-7"), Some(5));
        for garbage in ["", "-", "3-0", "a", "0-4294967295", "0-4294967294", "0,,1", "0-99999"] {
            assert_eq!(count(garbage), None, "{garbage}");
        }
    }
}
