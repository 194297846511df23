//! Who uses which manufacturer's and OEM's numbers: uncertain, and shown as such.
//!
//! The numbers belong to makers of controllers and to resellers, not to brands. The lists of the
//! SD Association and of JEDEC are not public; this one is gathered from public tables (those of
//! the Linux kernel's quirks, of mmc-utils and of collections of card dumps), which disagree with
//! one another. Nothing may be judged by a name from here.

/// A manufacturer's number, the OEM's number where it matters, and who uses them.
type Row = (u8, Option<u16>, &'static str);

/// SD cards. A row with an OEM's number comes before one without.
const SD: [Row; 14] = [
    (0x01, None, "Panasonic"),
    (0x02, Some(0x544d), "Toshiba (Kioxia)"),
    (0x03, Some(0x5344), "SanDisk (Western Digital)"),
    (0x03, Some(0x5744), "SanDisk (Western Digital)"),
    (0x1b, Some(0x534d), "Samsung"),
    (0x1d, Some(0x4144), "ADATA"),
    (0x27, Some(0x5048), "Phison, for many brands"),
    (0x28, Some(0x4245), "Lexar"),
    (0x31, Some(0x5350), "Silicon Power"),
    (0x41, Some(0x3432), "Kingston"),
    (0x74, Some(0x4a45), "Transcend"),
    (0x82, Some(0x4a54), "Sony"),
    (0x9f, Some(0x5449), "Kingston or others"),
    (0xad, Some(0x4c53), "Longsys (Raspberry Pi, Amazon Basics, Lexar)"),
];

/// eMMC, with the OEM's number as the kernel prints it.
const MMC: [Row; 10] = [
    (0x11, None, "Toshiba (Kioxia)"),
    (0x13, None, "Micron"),
    (0x15, Some(0x0100), "Samsung"),
    (0x45, Some(0x0100), "SanDisk (Western Digital)"),
    (0x70, Some(0x0100), "Kingston"),
    (0x88, Some(0x0103), "Foresee (Longsys)"),
    (0x90, Some(0x014a), "SK hynix"),
    (0x9b, Some(0x0100), "YMTC"),
    (0xd6, Some(0x0103), "Foresee (Longsys)"),
    (0xfe, None, "Micron"),
];

/// Who may have made an SD card with these numbers; a maker known for the manufacturer's number
/// alone is named where `oem_id` is not known.
#[must_use]
pub fn sd_maker(manufacturer_id: u8, oem_id: Option<u16>) -> Option<&'static str> {
    find(&SD, manufacturer_id, oem_id)
}

/// The manufacturer's number that goes with a maker's name and an OEM's number, where one alone does.
pub(super) fn sd_manufacturer(name: &str, oem_id: u16) -> Option<u8> {
    let is_it = |row: &&Row| row.1 == Some(oem_id) && row.2.starts_with(name);
    let mut rows = SD.iter().filter(is_it);
    rows.next().filter(|_| !name.is_empty() && rows.next().is_none()).map(|row| row.0)
}

/// Who may have made an eMMC with these numbers, the OEM's as the kernel prints it.
#[must_use]
pub fn mmc_maker(manufacturer_id: u8, oem_id: Option<u16>) -> Option<&'static str> {
    find(&MMC, manufacturer_id, oem_id)
}

fn find(rows: &[Row], manufacturer_id: u8, oem_id: Option<u16>) -> Option<&'static str> {
    let fits = |wanted: Option<u16>| wanted.is_none() || oem_id.is_none() || wanted == oem_id;
    let row = rows.iter().find(|(id, oem, _)| *id == manufacturer_id && fits(*oem));
    row.map(|&(_, _, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_maker_is_named_only_where_both_numbers_fit() {
        assert_eq!(sd_maker(0x03, Some(0x5344)), Some("SanDisk (Western Digital)"));
        assert_eq!(sd_maker(0x03, Some(0x3432)), None);
        assert_eq!(sd_maker(0x03, None), Some("SanDisk (Western Digital)"));
        assert_eq!(sd_maker(0xaa, Some(0x5859)), None);
    }

    #[test]
    fn a_number_means_another_maker_on_emmc() {
        assert_eq!(mmc_maker(0x15, Some(0x0100)), Some("Samsung"));
        assert_eq!(mmc_maker(0x13, Some(0x014e)), Some("Micron"));
        assert_eq!(sd_maker(0x15, None), None);
    }
}
