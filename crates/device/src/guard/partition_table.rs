//! Partition tables, known by what they write.

use std::io::{Read, Seek};

use super::content::{Content, le32};

/// The partition tables that `content` bears.
pub(super) fn find<R: Read + Seek>(content: &mut Content<'_, R>) -> Vec<&'static str> {
    let mut found = Vec::new();
    if has_gpt(content) {
        found.push("GPT");
    }
    if has_gpt_backup(content) {
        found.push("GPT, the backup at the end");
    }
    found.extend(mbr(content));
    if has_apple_map(content) {
        found.push("Apple partition map");
    }
    if has_bsd_label(content) {
        found.push("BSD disklabel");
    }
    if has_sun_label(content) {
        found.push("Sun disklabel");
    }
    found
}

/// UEFI specification, "GPT Header": the signature at LBA 1, for blocks of 512 and 4096 bytes.
fn has_gpt<R: Read + Seek>(content: &mut Content<'_, R>) -> bool {
    content.has(512, b"EFI PART") || content.has(4096, b"EFI PART")
}

/// UEFI specification: the backup header in the last LBA.
fn has_gpt_backup<R: Read + Seek>(content: &mut Content<'_, R>) -> bool {
    [512, 4096].into_iter().any(|block| {
        let offset = content.before_end(block);
        offset.is_some_and(|offset| content.has(offset, b"EFI PART"))
    })
}

/// UEFI specification, "Legacy Master Boot Record": 55 AA at 510, four entries of 16 bytes from
/// 446. FAT and NTFS boot sectors end in the same two bytes, but have program code there.
fn mbr<R: Read + Seek>(content: &mut Content<'_, R>) -> Option<&'static str> {
    const PROTECTIVE: u8 = 0xee;
    let sector = content.bytes(0, 512);
    let entries: Vec<_> = sector.get(446..510)?.chunks_exact(16).collect();
    let ends_right = sector.get(510..) == Some(&[0x55, 0xaa]);
    let flags_fit = entries.iter().all(|entry| matches!(entry.first(), Some(0x00 | 0x80)));
    let kinds: Vec<u8> = entries.iter().filter_map(|entry| partition_kind(entry)).collect();
    if !ends_right || !flags_fit || kinds.is_empty() {
        return None;
    }
    let is_protective = kinds.iter().all(|&kind| kind == PROTECTIVE);
    Some(if is_protective { "GPT, the MBR that protects it" } else { "MBR" })
}

/// The type in an MBR entry that has a type, a start and a length. A partition that ends beyond
/// the device is still one: the card may be smaller than it was sold, or a copy of a larger one.
fn partition_kind(entry: &[u8]) -> Option<u8> {
    let &kind = entry.get(4)?;
    (kind != 0 && le32(entry, 8)? != 0 && le32(entry, 12)? != 0).then_some(kind)
}

/// Inside Macintosh: Devices, "SCSI Manager": `ER` in block 0, `PM` in block 1.
fn has_apple_map<R: Read + Seek>(content: &mut Content<'_, R>) -> bool {
    content.has(0, b"ER") && (content.has(512, b"PM") || content.has(2048, b"PM"))
}

/// FreeBSD, disklabel(5): DISKMAGIC 0x82564557 at both ends of the label, in sector 1 or at 64.
fn has_bsd_label<R: Read + Seek>(content: &mut Content<'_, R>) -> bool {
    const MAGIC: [u8; 4] = 0x8256_4557_u32.to_le_bytes();
    [512, 64]
        .into_iter()
        .any(|label| content.has(label, &MAGIC) && content.has(label + 132, &MAGIC))
}

/// Linux, block/partitions/sun.c: magic DA BE at 508, and all words of the sector XOR to zero.
fn has_sun_label<R: Read + Seek>(content: &mut Content<'_, R>) -> bool {
    let sector = content.bytes(0, 512);
    let words = sector.chunks_exact(2);
    let checksum = words.fold([0, 0], |sum, word| match word {
        [high, low] => [sum[0] ^ high, sum[1] ^ low],
        _ => sum,
    });
    sector.get(508..510) == Some(&[0xda, 0xbe]) && checksum == [0, 0]
}
