//! What messages call a device: its own name, that of a layer made of others, or the place where it is attached.

/// The whole device of a kernel's name with or without a partition: `mmcblk0` of `mmcblk0p2` and of
/// `mmcblk0boot0`, `sda` of `sda1`; nothing for what is no block device's name.
#[must_use]
pub fn whole_device(name: &str) -> Option<&str> {
    for (prefix, has_namespace) in [("mmcblk", false), ("nvme", true), ("loop", false)] {
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        let mut end = prefix.len() + digits(rest);
        if end == prefix.len() {
            return None;
        }
        if has_namespace {
            // `nvme0` alone is a controller.
            let count = name[end..].strip_prefix('n').map_or(0, digits);
            if count == 0 {
                return None;
            }
            end += 1 + count;
        }
        let tail = &name[end..];
        let is_part = tail.strip_prefix('p').is_some_and(|part| digits(part) == part.len());
        let is_area = tail.starts_with("boot") || tail.starts_with("gp") || tail == "rpmb";
        return (tail.is_empty() || is_part || is_area).then_some(&name[..end]);
    }
    for prefix in ["sd", "hd", "vd"] {
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        let letters = rest.bytes().take_while(u8::is_ascii_lowercase).count();
        let end = prefix.len() + letters;
        let is_device = (1..=2).contains(&letters) && digits(&name[end..]) == name.len() - end;
        return is_device.then_some(&name[..end]);
    }
    None
}

/// The whole device of the name of a device that the kernel makes of others: `dm-0` of device mapper (dm-crypt, LVM),
/// `md0` of an array; nothing for other names.
fn layer(name: &str) -> Option<&str> {
    for prefix in ["dm-", "md"] {
        let Some(rest) = name.strip_prefix(prefix) else { continue };
        let count = digits(rest);
        let end = prefix.len() + count;
        let tail = &name[end..];
        let is_part = tail.strip_prefix('p').is_some_and(|part| digits(part) == part.len());
        return (count > 0 && (tail.is_empty() || is_part)).then_some(&name[..end]);
    }
    None
}

/// The whole device of a block device's name, or of a layer's.
pub(crate) fn block(name: &str) -> Option<&str> {
    whole_device(name).or_else(|| layer(name))
}

/// Whether the block device called `name` is made of others or of a file on one.
#[must_use]
pub fn is_layer(name: &str) -> bool {
    is_file(name) || layer(name).is_some()
}

/// Whether the block device called `name` is a file on another.
#[must_use]
pub fn is_file(name: &str) -> bool {
    name.starts_with("loop") && whole_device(name).is_some()
}

/// Whether `name` is no device's name but a place, where the kernel tells only that: the number of a block device
/// (`179:2`), a USB port (`1-1.3`), a SATA port (`ata1`), or an address of SCSI (`0:0:0:0`).
#[must_use]
pub fn is_place(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && digits(text) == text.len();
    if let Some(port) = name.strip_prefix("ata") {
        return is_number(port);
    }
    if let Some((bus, ports)) = name.split_once('-') {
        return is_number(bus) && ports.split('.').all(is_number);
    }
    matches!(name.split(':').count(), 2 | 4) && name.split(':').all(is_number)
}

/// Whether what is at `place` may be the block device called `name`, by the kinds of both. The numbers are those of
/// Linux (Documentation/admin-guide/devices.txt).
pub(crate) fn may_be_at(place: &str, name: &str) -> bool {
    let prefix = match place.split_once(':') {
        Some(("179", _)) => "mmcblk",
        Some(("8" | "65", rest)) if !rest.contains(':') => "sd",
        Some((_, rest)) if rest.contains(':') => "sd",
        Some(_) => return !name.starts_with("mmcblk") && !name.starts_with("sd"),
        None => "sd",
    };
    name.starts_with(prefix)
}

/// The name of the host that has the number of a card's block device, and the other way round.
pub(crate) fn mmc_twin(name: &str) -> Option<String> {
    match (name.strip_prefix("mmcblk"), name.strip_prefix("mmc")) {
        (Some(number), _) => Some(format!("mmc{number}")),
        (None, Some(number)) => Some(format!("mmcblk{number}")),
        (None, None) => None,
    }
}

/// The name of an NVMe device's controller, and the other way round.
pub(crate) fn nvme_twin(name: &str) -> Option<String> {
    let rest = name.strip_prefix("nvme")?;
    Some(match rest.split_once('n') {
        Some((controller, _)) => format!("nvme{controller}"),
        None => format!("nvme{rest}n1"),
    })
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}
