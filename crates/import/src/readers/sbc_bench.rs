//! sbc-bench's lines about storage: what each device is, in its list of devices.
//!
//! Such a line describes a device and measures nothing. Which of several devices a table further on is
//! of, the list does not tell, so it is joined to none. Of the iostat in sbc-bench's logs, iostat's own
//! reader takes the loads.

use cardproof_record::{CardInfo, DeviceInfo, Transport};
use cardproof_units::Bytes;

use crate::draft::RecordDraft;
use crate::lines::{Line, last_number};
use crate::text::{between, kernel_name, number, whole, word_after};
use crate::view::{Needle, View};
use crate::{ForeignTool, ImportError};

const TOOL: ForeignTool = ForeignTool::SbcBench;

/// Whether a line describes a device, such as `* 59.5GB "SanDisk SR64G" UHS DDR50 SDXC card as
/// /dev/mmcblk0: date 08/2018, manfid/oemid: 0x000003/0x5344, hw/fw rev: 0x8/0x0`.
pub(crate) fn is_sign(view: &View) -> bool {
    const PATH: Needle = Needle::new(" as /dev/");
    view.holds(&PATH) && device(view.text).is_some()
}

/// The record of a device. A part of a text that this reader gets begins with one.
pub(super) fn read(lines: &[Line]) -> Result<RecordDraft, ImportError> {
    let mut draft = RecordDraft::new(TOOL);
    let found = lines.iter().find_map(|line| Some((line, device(&line.text)?)));
    let Some((line, device)) = found else {
        let expected = "'* N GB \"NAME\" … card as /dev/mmcblk0: …'".to_owned();
        return Err(ImportError::Ends { tool: TOOL, line: last_number(lines), expected });
    };
    line.claim();
    draft.conditions.device = device;
    Ok(draft)
}

fn device(line: &str) -> Option<DeviceInfo> {
    let text = line.trim_start().trim_start_matches(['*', '-', ' ']);
    let (size, rest) = text.split_once(" \"")?;
    let size = size.strip_suffix("GB").and_then(|size| number(size.trim()))?;
    let (name, rest) = rest.split_once('"')?;
    let (kind, rest) = rest.split_once(" as ")?;
    let device_name = kernel_name(rest.split([':', ' ', ',']).next()?);
    // The script prints powers of 1024 as GB.
    let size_bytes = Some(Bytes((size * 1_073_741_824.0) as u64));
    let is_emmc = kind.contains("eMMC");
    let is_card = is_emmc || kind.contains(" SD");
    if !is_card {
        let model = Some(name.to_owned());
        return Some(DeviceInfo { name: device_name, model, size_bytes, ..DeviceInfo::default() });
    }
    let (maker, product) = name.rsplit_once(' ').map_or((None, name), |(m, p)| (Some(m), p));
    let ids = word_after(rest, "manfid/oemid:").map(|ids| ids.trim_end_matches(','));
    let month = between(rest, "date ", ",").and_then(|date| {
        let (month, year) = date.split_once('/')?;
        Some(format!("{:04}-{:02}", whole(year)?, whole(month).filter(|month| *month <= 12)?))
    });
    let manufacturer = ids.and_then(|ids| {
        let id = ids.split_once('/')?.0.strip_prefix("0x")?;
        u8::from_str_radix(id.trim_start_matches('0'), 16).ok()
    });
    let card = CardInfo {
        product: Some(product.to_owned()),
        manufacturer_id: manufacturer.map(|id| format!("0x{id:02x}")),
        manufactured: month,
        ..CardInfo::default()
    };
    Some(DeviceInfo {
        name: device_name,
        vendor: maker.map(str::to_owned),
        transport: Some(if is_emmc { Transport::Mmc } else { Transport::Sd }),
        size_bytes,
        card: Some(card),
        ..DeviceInfo::default()
    })
}
