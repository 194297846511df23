//! What the log of Storage.sh tells of host and card, without what identifies them.
//!
//! Board and system are in a line of the script's own; kernel, memory and the drive in the talk of
//! inxi; the card's registers in lines that the script decoded. Serial numbers, host name and
//! network addresses stand beside them and are passed over: only what is named here is read.

use cardproof_units::Bytes;

use crate::lines::Line;
use crate::text::{between, kernel_name, quantities, whole, word_after};
use cardproof_record::{BusInfo, CardInfo, Claims, Conditions, FilesystemInfo, Transport};

/// Reads what `lines` tell into `conditions`.
pub(super) fn read(lines: &[Line], conditions: &mut Conditions) {
    read_tested(lines, conditions);
    for line in lines {
        let text = line.shown();
        if let Some(board) = text.strip_prefix("Board information:") {
            read_board(board, conditions);
        } else if text.contains("Kernel:") {
            let kernel = word_after(text, "Kernel:").filter(|word| is_version(word));
            conditions.host.kernel = kernel.map(|release| format!("Linux {release}"));
        } else if text.contains("Memory:") && text.contains("used:") {
            conditions.host.memory_bytes = size_after(text, "Memory:");
        } else if let Some(register) = text.strip_prefix("Card CSD status register:") {
            read_identity(register, conditions);
        } else if let Some(card) = text.strip_prefix("MicroSD information:") {
            read_card(card, conditions);
        }
    }
}

/// What was tested: the drive and file system that the script names, described by inxi's list of drives
/// and partitions. A drive that inxi does not list, such as a logical volume, has no description.
fn read_tested(lines: &[Line], conditions: &mut Conditions) {
    let tested = lines.iter().find_map(|line| {
        let (place, drive) = line.shown().split_once(" has been detected as")?;
        let is_it =
            place.starts_with("System rootfs drive") || place.starts_with("Chosen partition");
        let mount = between(place, "(", ")").unwrap_or("/");
        is_it.then(|| (mount.to_owned(), drive.split_whitespace().next().unwrap_or_default()))
    });
    let Some((mount, path)) = tested else { return };
    conditions.device.name = kernel_name(path);
    for entry in inxi_entries(lines) {
        let words: Vec<&str> = entry.split_whitespace().take(2).collect();
        let [_, subject] = words[..] else { continue };
        if is_drive_of(subject, path) {
            let device = &mut conditions.device;
            device.vendor = inxi_field(&entry, "vendor:");
            device.model = inxi_field(&entry, "model:");
            device.size_bytes = size_after(&entry, "size:");
        } else if subject == mount && entry.contains("fs:") {
            conditions.filesystem = word_after(&entry, "fs:")
                .map(|kind| FilesystemInfo { kind: kind.to_owned(), ..FilesystemInfo::default() });
        }
    }
}

/// Whether `path` is the drive `drive` or a partition of it.
fn is_drive_of(drive: &str, path: &str) -> bool {
    let Some(rest) = path.strip_prefix(drive).filter(|_| drive.starts_with("/dev/")) else {
        return false;
    };
    let number = rest.strip_prefix('p').unwrap_or(rest);
    rest.is_empty() || whole(number).is_some()
}

/// inxi's entries `ID-1: …`, each with the lines that it was wrapped to.
fn inxi_entries(lines: &[Line]) -> Vec<String> {
    let mut entries: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in lines {
        let text = line.shown();
        let first = text.split_whitespace().next().unwrap_or_default();
        if first.starts_with("ID-") && first.ends_with(':') {
            entries.push(text.to_owned());
            is_open = true;
        } else if is_open && line.text.starts_with("  ") && !first.starts_with("Message") {
            if let Some(entry) = entries.last_mut() {
                entry.push(' ');
                entry.push_str(text);
            }
        } else {
            is_open = false;
        }
    }
    entries
}

/// The words after `name` up to the next name of a field.
fn inxi_field(entry: &str, name: &str) -> Option<String> {
    let (_, rest) = entry.split_once(name)?;
    let words: Vec<&str> =
        rest.split_whitespace().take_while(|word| !word.ends_with(':')).collect();
    (!words.is_empty()).then(|| words.join(" "))
}

fn is_version(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

/// A field of a line such as `Manufacturer: X - Model: Y - Architecture: Z`.
fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(name)?;
    let value = rest.split_once(" - ").map_or(rest, |(value, _)| value).trim();
    Some(value).filter(|value| !value.is_empty() && *value != "N/A")
}

fn read_board(text: &str, conditions: &mut Conditions) {
    conditions.host.board = field(text, "Model:").map(str::to_owned);
    conditions.host.architecture = field(text, "Architecture:").map(str::to_owned);
}

fn size_after(text: &str, name: &str) -> Option<Bytes> {
    let numbers = quantities(text.split_once(name)?.1);
    let size = numbers.first()?;
    let unit = match size.unit {
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        "TiB" => 1_099_511_627_776.0,
        _ => return None,
    };
    Some(Bytes((size.value * unit) as u64))
}

fn card(conditions: &mut Conditions) -> &mut CardInfo {
    conditions.device.transport = Some(Transport::Sd);
    conditions.device.card.get_or_insert_with(CardInfo::default)
}

/// The CID's fields in `MID: 3 OID: SD PNM: SD32G PRV: 8.5 MDATE: 1/2021`.
fn read_identity(text: &str, conditions: &mut Conditions) {
    let month = word_after(text, "MDATE:").and_then(|date| {
        let (month, year) = date.split_once('/')?;
        Some(format!("{:04}-{:02}", whole(year)?, whole(month).filter(|month| *month <= 12)?))
    });
    let (hardware, firmware) =
        word_after(text, "PRV:").and_then(|revision| revision.split_once('.')).unwrap_or_default();
    let card = card(conditions);
    card.product = word_after(text, "PNM:").map(str::to_owned);
    card.manufacturer_id = word_after(text, "MID:")
        .and_then(|number| number.parse::<u8>().ok())
        .map(|number| format!("0x{number:02x}"));
    card.hardware_revision = hardware.parse().ok();
    card.firmware_revision = Some(firmware.to_owned()).filter(|revision| !revision.is_empty());
    card.manufactured = month;
}

/// The clock and the printed classes in the script's summary of the card.
fn read_card(text: &str, conditions: &mut Conditions) {
    let clock = field(text, "Clock Speed:").and_then(|clock| clock.parse::<f64>().ok());
    let clock = clock.filter(|mhz| (0.1..1000.0).contains(mhz));
    conditions.device.bus = clock.map(|mhz| BusInfo {
        clock_hz: Some((mhz * 1e6) as u64),
        source: Some("log".to_owned()),
        ..BusInfo::default()
    });
    let classes = field(text, " Class:").unwrap_or_default();
    card(conditions).claims = claims(classes);
}

/// The classes in `A1 Class 10 U1`.
fn claims(text: &str) -> Claims {
    let words: Vec<&str> = text.split_whitespace().collect();
    let after = |letter: char| {
        let mut numbers = words.iter().filter_map(|word| word.strip_prefix(letter)?.parse().ok());
        numbers.next_back()
    };
    Claims {
        speed_class: word_after(text, "Class ").and_then(|class| class.parse().ok()),
        uhs_grade: after('U'),
        video_class: after('V'),
        application_class: after('A'),
    }
}
