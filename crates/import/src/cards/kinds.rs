//! What a line between figures is: a banner, a command, a part of an output, the kernel's message of a card.

use cardproof_record::{CardInfo, DeviceInfo};
use cardproof_units::Bytes;

use crate::labels;
use crate::readers::{
    agnostics, as_ssd, crystaldiskmark, dd, f3, fio, h2testw, ioping, iozone, kdiskmark,
    pibenchmarks_table, sd_bench,
};
use crate::text::number;
use crate::view::View;

/// Whether a line is the banner of a tool that prints one for each report and needs no command to tell
/// what it did.
pub(super) fn is_banner(view: &View) -> bool {
    f3::is_start(view)
        || crystaldiskmark::is_start(view)
        || kdiskmark::is_sign(view)
        || pibenchmarks_table::is_start(view)
}

/// Whether a line is a command that tells of the output below it.
pub(super) fn is_command(view: &View) -> bool {
    fio::is_command(view) || dd::is_command(view) || iozone::is_command(view)
}

/// Whether a line without a sign is of a tool's output all the same, and no sentence about a card.
pub(super) fn is_of_output(view: &View) -> bool {
    const PARTS: [fn(&View) -> bool; 4] =
        [fio::is_part, ioping::is_part, kdiskmark::is_part, sd_bench::is_talk];
    const TALK: [fn(&str) -> bool; 7] = [
        as_ssd::is_part,
        iozone::is_of_banner,
        f3::is_talk,
        h2testw::is_finding,
        agnostics::is_talk,
        crystaldiskmark::is_part,
        pibenchmarks_table::is_part,
    ];
    PARTS.iter().any(|is_part| is_part(view)) || TALK.iter().any(|is_talk| is_talk(view.text))
}

/// The device in a message of the kernel.
pub(super) fn device_of_kernel(view: &View) -> Option<DeviceInfo> {
    let (device, product, size, unit) = labels::card_of_kernel(view)?;
    let unit = match unit {
        "MiB" => 1_048_576.0,
        "TiB" => 1_099_511_627_776.0,
        "GiB" => 1_073_741_824.0,
        // Kernels before 4.5 print powers of 1024 under these names.
        "MB" => 1_048_576.0,
        _ => 1_073_741_824.0,
    };
    let size = number(size).map(|size| Bytes((size * unit) as u64));
    let card = CardInfo { product: Some(product.to_owned()), ..CardInfo::default() };
    Some(DeviceInfo {
        name: Some(device.to_owned()),
        size_bytes: size,
        card: Some(card),
        ..DeviceInfo::default()
    })
}

/// A block device's name without its partition: `mmcblk0` of `mmcblk0p2`, `sda` of `sda1`.
pub(super) fn whole_name(name: &str) -> &str {
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let has_number =
        name.starts_with("mmcblk") || name.starts_with("nvme") || name.starts_with("loop");
    match digits.strip_suffix('p') {
        Some(device) if has_number && digits.len() < name.len() => device,
        _ if has_number => name,
        _ => digits,
    }
}
