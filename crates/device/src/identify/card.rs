//! A card's own word: its registers, as far as sysfs and debugfs show them.
//!
//! SD cards have all of theirs in sysfs, for everybody. An eMMC's EXT_CSD is in debugfs, for root;
//! reading it sends a command to the device, which ends command queueing for that moment, so it is
//! read once, before anything is measured. Without it sysfs still has the device's health and
//! revision. What a register does not say is taken from the kernel's own attributes where those
//! repeat it, and noted as unknown where nothing does.

use std::path::Path;

use cardproof_record::CardInfo;

use super::sources::Sources;
use cardproof_registers::{
    ExtCsd, MmcCid, MmcCsd, Month, Register, Scr, SdCid, SdCsd, SdStatus, Serial,
};
use cardproof_units::Bytes;

use crate::{MmcRegisters, SdRegisters};

/// What a card says of itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CardWord {
    /// Without the serial number.
    pub(crate) info: CardInfo,
    /// The serial number, where there is one in the register.
    pub(crate) serial: Option<Serial>,
    /// The CID's numbers, for lists that go by them.
    pub(crate) ids: Option<CardIds>,
    /// The month in which it was made.
    pub(crate) month: Option<Month>,
    /// An SD card's hardware and firmware revision.
    pub(crate) revision: Option<(u8, u8)>,
}

/// The numbers of a card's maker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CardIds {
    /// The manufacturer's.
    pub(crate) manufacturer: u8,
    /// The OEM's, as the kernel has it.
    pub(crate) oem: u16,
}

/// Reads the registers of the SD card in the directory `card`.
pub(crate) fn read_sd(sources: &Sources<'_>, card: &Path) -> CardWord {
    let registers = SdRegisters {
        cid: register::<SdCid>(sources, card, "cid"),
        csd: register::<SdCsd>(sources, card, "csd"),
        scr: register::<Scr>(sources, card, "scr"),
        ssr: register::<SdStatus>(sources, card, "ssr"),
    };
    let mut word = CardWord::default();
    registers.fill(&mut word.info);
    let status = registers.ssr.as_ref();
    if status.is_some_and(SdStatus::is_blank) {
        sources.unknown(
            "claimed classes, allocation unit and queue depth",
            "the card's SD Status register is empty",
            "nothing can be done: the card or its reader does not tell",
        );
    } else if status.is_some() && word.info.allocation_unit_bytes.is_none() {
        sources.unknown(
            "allocation unit",
            "the card's SD Status register does not give it",
            "a measurement of the card's geometry",
        );
    }
    word.serial = registers.cid.as_ref().map(|cid| cid.serial);
    word.ids = registers
        .cid
        .as_ref()
        .map(|cid| CardIds { manufacturer: cid.manufacturer_id, oem: cid.oem_id });
    word.month = registers.cid.as_ref().and_then(SdCid::manufactured);
    word.revision =
        registers.cid.as_ref().map(|cid| (cid.hardware_revision, cid.firmware_revision));
    finish(sources, card, word)
}

/// Reads the registers of the eMMC in the directory `card`, with the host `host`, of whose user area
/// the kernel says that it has `size`.
pub(crate) fn read_emmc(
    sources: &Sources<'_>,
    card: &Path,
    host: Option<&str>,
    size: Option<Bytes>,
) -> CardWord {
    let ext_csd = host.and_then(|host| extended(sources, card, host, size));
    let registers = MmcRegisters {
        cid: register::<MmcCid>(sources, card, "cid"),
        csd: register::<MmcCsd>(sources, card, "csd"),
        ext_csd,
    };
    let mut word = CardWord::default();
    registers.fill(&mut word.info);
    if registers.ext_csd.is_none() {
        // Above 2 GB the CSD holds a fixed value, and the capacity is in EXT_CSD alone.
        word.info.capacity_bytes = None;
    }
    fill_health(sources, card, &mut word.info);
    word.info.manufactured = emmc_month(sources, card, &registers);
    word.serial = registers.cid.as_ref().map(|cid| cid.serial);
    word.ids = registers
        .cid
        .as_ref()
        .map(|cid| CardIds { manufacturer: cid.manufacturer_id, oem: cid.kernel_oem_id() });
    finish(sources, card, word)
}

fn finish(sources: &Sources<'_>, card: &Path, mut word: CardWord) -> CardWord {
    fill_from_attributes(sources, card, &mut word.info);
    if sources.serials_are_removed() {
        word.serial = None;
    }
    word
}

/// When an eMMC was made. The kernel's `date` and the register's own differ where the kernel knows
/// fewer spans of years than the device's revision, or more exceptions of makers: either is 16 years
/// too early then, so the later one is right.
fn emmc_month(sources: &Sources<'_>, card: &Path, registers: &MmcRegisters) -> Option<String> {
    let text = |name: &str| sources.root().text(card.join(name));
    let revision = registers.ext_csd.as_ref().map(|csd| csd.revision);
    let revision = revision.or_else(|| text("rev").as_deref().and_then(hex_u8));
    let own = registers.cid.as_ref().zip(revision).and_then(|(cid, rev)| cid.manufactured(rev));
    own.map(|month| month.to_string()).max(text("date").and_then(|date| month(&date)))
}

/// The register in the file `name`.
fn register<R: Register>(sources: &Sources<'_>, card: &Path, name: &str) -> Option<R> {
    let text = sources.root().text(card.join(name));
    let register = text.as_deref().and_then(|text| R::from_hex(text).ok());
    if register.is_none() {
        let reason = match text {
            Some(_) => "what sysfs has for it is no register",
            None => "sysfs does not have it",
        };
        sources.unknown(
            &format!("the card's {} register", name.to_uppercase()),
            reason,
            "a kernel and a reader that hand it on",
        );
    }
    register
}

/// The EXT_CSD register from debugfs.
fn extended(sources: &Sources<'_>, card: &Path, host: &str, size: Option<Bytes>) -> Option<ExtCsd> {
    let address = card.file_name()?.to_str()?;
    let path = format!("sys/kernel/debug/{host}/{address}/ext_csd");
    let bytes = sources.root().bytes(path);
    let text = bytes.as_ref().ok().and_then(|bytes| std::str::from_utf8(bytes).ok());
    let register = text.and_then(|text| ExtCsd::from_dump(text.trim(), size).ok());
    let register = register.map(|(register, _)| register);
    if register.is_none() {
        let reason = match &bytes {
            Ok(_) => "what debugfs has for it is no register",
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                "debugfs is open to root only"
            }
            Err(_) => "debugfs does not have it, or is not mounted",
        };
        sources.unknown("the eMMC's EXT_CSD register", reason, sources.as_root());
    }
    register
}

/// What sysfs tells of an eMMC's health and revision, where EXT_CSD did not.
fn fill_health(sources: &Sources<'_>, card: &Path, info: &mut CardInfo) {
    let root = sources.root();
    let text = |name: &str| root.text(card.join(name));
    if info.life_used_percent_max.is_none() {
        let codes = text("life_time").unwrap_or_default();
        let worst = codes
            .split_whitespace()
            .filter_map(hex_u8)
            .filter(|code| (1..=0xb).contains(code))
            .max();
        info.life_used_percent_max = worst.map(|code| code * 10);
    }
    if info.spare_blocks.is_none() {
        let word = match text("pre_eol_info").as_deref().and_then(hex_u8) {
            Some(1) => Some("normal"),
            Some(2) => Some("warning"),
            Some(3) => Some("urgent"),
            _ => None,
        };
        info.spare_blocks = word.map(str::to_owned);
    }
    if info.firmware_revision.is_none() {
        info.firmware_revision = text("fwrev").filter(|revision| revision != "0x0");
    }
}

/// What the kernel's own attributes repeat of the registers, where those could not be read.
fn fill_from_attributes(sources: &Sources<'_>, card: &Path, info: &mut CardInfo) {
    let root = sources.root();
    let text = |name: &str| root.text(card.join(name));
    if info.product.is_none() {
        info.product = text("name");
    }
    if info.manufacturer_id.is_none() {
        info.manufacturer_id =
            text("manfid").as_deref().and_then(hex_u8).map(|id| format!("{id:#04x}"));
    }
    if info.oem_id.is_none() {
        info.oem_id = text("oemid").as_deref().and_then(hex_u16).map(|id| format!("{id:#06x}"));
    }
    if info.manufactured.is_none() {
        info.manufactured = text("date").and_then(|date| month(&date));
    }
}

/// `08/2019` as `2019-08`.
fn month(date: &str) -> Option<String> {
    let (month, year) = date.split_once('/')?;
    let (month, year): (u8, u16) = (month.parse().ok()?, year.parse().ok()?);
    ((1..=12).contains(&month) && (1997..=2255).contains(&year))
        .then(|| format!("{year}-{month:02}"))
}

fn hex_u8(text: &str) -> Option<u8> {
    u8::try_from(hex_u32(text)?).ok()
}

fn hex_u16(text: &str) -> Option<u16> {
    u16::try_from(hex_u32(text)?).ok()
}

fn hex_u32(text: &str) -> Option<u32> {
    u32::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_words_are_read() {
        assert_eq!(month("08/2019").as_deref(), Some("2019-08"));
        assert_eq!(month("13/2019"), None);
        assert_eq!((hex_u8("0x000003"), hex_u8("0x05"), hex_u8("0x100")), (Some(3), Some(5), None));
        assert_eq!((hex_u16("0x5344"), hex_u16("x")), (Some(0x5344), None));
    }
}
