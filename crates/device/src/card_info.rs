//! From a card's registers, as many of them as could be read, to what a record holds of it.
//!
//! The serial number is left behind here. What no register says stays absent.

use cardproof_record::{CardInfo, Claims, Feature};
use cardproof_registers::makers::{mmc_maker, sd_maker};
use cardproof_registers::names::sd_products;
use cardproof_registers::{ExtCsd, MmcCid, MmcCsd, Scr, SdCid, SdCsd, SdStatus};

/// An SD card's registers, as many as could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SdRegisters {
    /// Who it is.
    pub cid: Option<SdCid>,
    /// How large it is.
    pub csd: Option<SdCsd>,
    /// Which specification it follows.
    pub scr: Option<Scr>,
    /// What it claims.
    pub ssr: Option<SdStatus>,
}

impl SdRegisters {
    /// Writes what the registers say into `info`, and leaves alone what they do not say.
    pub fn fill(&self, info: &mut CardInfo) {
        if let Some(cid) = &self.cid {
            info.manufacturer_id = Some(format!("{:#04x}", cid.manufacturer_id));
            info.oem_id = Some(format!("{:#06x}", cid.oem_id));
            info.maker_maybe = sd_maker(cid.manufacturer_id, Some(cid.oem_id)).map(str::to_owned);
            info.product = Some(cid.name.text());
            info.hardware_revision = Some(cid.hardware_revision);
            info.firmware_revision = Some(format!("{:#x}", cid.firmware_revision));
            info.manufactured = cid.manufactured().map(|month| month.to_string());
        }
        if let Some(csd) = &self.csd {
            info.capacity_bytes = csd.capacity();
        }
        if let Some(cid) = &self.cid {
            let (name, size) = (cid.name.text(), info.capacity_bytes);
            let products = sd_products(cid.manufacturer_id, cid.oem_id, &name, size);
            info.products_maybe = products.iter().map(|card| card.words()).collect();
        }
        if let Some(csd) = &self.csd {
            info.write_protected = Some(csd.is_write_protected());
        }
        if let Some(scr) = &self.scr {
            info.specification = scr.specification();
        }
        if let Some(ssr) = self.ssr.as_ref().filter(|ssr| !ssr.is_blank()) {
            fill_status(ssr, info);
        }
    }
}

fn fill_status(ssr: &SdStatus, info: &mut CardInfo) {
    info.claims = Claims {
        speed_class: ssr.speed_class(),
        uhs_grade: ssr.uhs_grade(),
        video_class: ssr.video_class(),
        application_class: ssr.application_class(),
    };
    info.allocation_unit_bytes = ssr.au_size().or_else(|| ssr.uhs_au_size());
    info.command_queue_depth = ssr.command_queue_depth();
    let depth = ssr.command_queue_depth();
    say(
        &mut info.command_queue,
        depth.is_some(),
        match depth {
            Some(depth) => format!("SD Status: the card queues {depth} commands"),
            None => "SD Status: the card has no command queue".to_owned(),
        },
    );
    let cache = if ssr.has_cache { "a cache" } else { "no cache" };
    say(&mut info.cache, ssr.has_cache, format!("SD Status: the card has {cache}"));
}

/// An MMC's registers, as many as could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MmcRegisters {
    /// Who it is.
    pub cid: Option<MmcCid>,
    /// How large it is, up to 2 GB.
    pub csd: Option<MmcCsd>,
    /// All else.
    pub ext_csd: Option<ExtCsd>,
}

impl MmcRegisters {
    /// Writes what the registers say into `info`, and leaves alone what they do not say. The
    /// month of making needs EXT_CSD's revision.
    pub fn fill(&self, info: &mut CardInfo) {
        if let Some(cid) = &self.cid {
            info.manufacturer_id = Some(format!("{:#04x}", cid.manufacturer_id));
            info.oem_id = Some(format!("{:#06x}", cid.kernel_oem_id()));
            info.maker_maybe =
                mmc_maker(cid.manufacturer_id, Some(cid.kernel_oem_id())).map(str::to_owned);
            info.product = Some(cid.name.text());
            info.product_revision = Some(cid.product_revision_words());
        }
        if let Some(csd) = &self.csd {
            info.capacity_bytes = csd.capacity();
            info.write_protected = Some(csd.is_write_protected());
        }
        if let Some(ext_csd) = &self.ext_csd {
            let month = self.cid.as_ref().and_then(|cid| cid.manufactured(ext_csd.revision));
            info.manufactured = month.map(|month| month.to_string());
            fill_extended(ext_csd, info);
        }
    }
}

fn fill_extended(ext_csd: &ExtCsd, info: &mut CardInfo) {
    info.firmware_revision = ext_csd.firmware_words();
    info.specification = ext_csd.specification().map(str::to_owned);
    info.capacity_bytes = ext_csd.capacity().or(info.capacity_bytes);
    info.allocation_unit_bytes = ext_csd.erase_group();
    info.life_used_percent_max = ext_csd.life_used_percent_max();
    info.spare_blocks = ext_csd.spare_blocks().map(str::to_owned);
    info.command_queue_depth = ext_csd.command_queue_depth();
    say(
        &mut info.command_queue,
        ext_csd.has_queue(),
        match ext_csd.command_queue_depth() {
            Some(depth) => format!("EXT_CSD: the device queues {depth} commands"),
            None => "EXT_CSD: the device has no command queue".to_owned(),
        },
    );
    switched(&mut info.command_queue, ext_csd.is_queue_on(), "CMDQ_MODE_EN");
    let cache = ext_csd.cache_size();
    say(
        &mut info.cache,
        cache.is_some(),
        match cache {
            Some(size) => format!("EXT_CSD: the device has a cache of {} KiB", size.get() >> 10),
            None => "EXT_CSD: the device has no cache".to_owned(),
        },
    );
    switched(&mut info.cache, ext_csd.is_cache_on(), "CACHE_CTRL");
}

/// Notes whether the card has a feature.
fn say(feature: &mut Feature, has_it: bool, evidence: String) {
    feature.card = Some(has_it);
    feature.evidence.push(evidence);
}

/// Notes whether a feature is in use, by the EXT_CSD field called `field`.
fn switched(feature: &mut Feature, is_on: bool, field: &str) {
    feature.enabled = Some(is_on);
    let state = if is_on { "on" } else { "off" };
    feature.evidence.push(format!("EXT_CSD: {field} is {state}"));
}
