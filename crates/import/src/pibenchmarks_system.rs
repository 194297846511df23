//! What the log of Storage.sh tells of host and card, without what identifies them.
//!
//! Board and system are in a line of the script's own; kernel, memory and the drive in the talk of
//! inxi; the card's registers in lines that the script decoded. Serial numbers, host name and
//! network addresses stand beside them and are passed over: only what is named here is read.

use cardproof_units::Bytes;

use super::text::{Line, between, kernel_name, quantities, whole, word_after};
use cardproof_record::{BusInfo, CardInfo, Claims, Conditions, FilesystemInfo};

/// Reads what `lines` tell into `conditions`.
pub(super) fn read(lines: &[Line], conditions: &mut Conditions) {
    for line in lines {
        let text = line.text.trim();
        if let Some(board) = text.strip_prefix("Board information:") {
            read_board(board, conditions);
        } else if text.contains("Kernel:") {
            let kernel = word_after(text, "Kernel:").filter(|word| is_version(word));
            conditions.host.kernel = kernel.map(|release| format!("Linux {release}"));
        } else if let Some(drive) =
            text.strip_prefix("System rootfs drive (/) has been detected as")
        {
            conditions.device.name = drive.split_whitespace().next().and_then(kernel_name);
        } else if text.starts_with("ID-1: /dev/") && text.contains("vendor:") {
            conditions.device.vendor = between(text, "vendor:", "model:").map(str::to_owned);
            conditions.device.model = between(text, "model:", "size:").map(str::to_owned);
            conditions.device.size_bytes = size_after(text, "size:");
        } else if text.starts_with("ID-1: /") && text.contains("fs:") {
            conditions.filesystem = word_after(text, "fs:")
                .map(|kind| FilesystemInfo { kind: kind.to_owned(), ..FilesystemInfo::default() });
        } else if text.contains("Memory:") && text.contains("used:") {
            conditions.host.memory_bytes = size_after(text, "Memory:");
        } else if let Some(register) = text.strip_prefix("Card CSD status register:") {
            read_identity(register, conditions);
        } else if let Some(card) = text.strip_prefix("MicroSD information:") {
            read_card(card, conditions);
        }
    }
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
    conditions.device.transport = Some("sd".to_owned());
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
