//! A register of any kind, as it was found in a text: its title and its fields.

use crate::mmc_utils::Partial;
use crate::{
    ByteOrder, ExtCsd, Field, MmcCid, MmcCsd, Ocr, Register, Scr, SdCid, SdCsd, SdStatus, Serials,
};

/// A register that was found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pasted {
    /// An SD card's CID.
    SdCid(SdCid),
    /// An MMC's CID.
    MmcCid(MmcCid),
    /// An SD card's CSD.
    SdCsd(SdCsd),
    /// An MMC's CSD.
    MmcCsd(MmcCsd),
    /// SCR.
    Scr(Scr),
    /// The SD Status.
    SdStatus(Box<SdStatus>),
    /// OCR.
    Ocr(Ocr),
    /// EXT_CSD, and the order in which its bytes stood.
    ExtCsd(Box<ExtCsd>, ByteOrder),
    /// The fields of a register that mmc-utils prints in words.
    Partial(Box<Partial>),
}

impl Pasted {
    /// What it is, in words.
    #[must_use]
    pub fn title(&self) -> &'static str {
        match self {
            Self::Partial(partial) => match partial.register() {
                Self::SdCid(_) => "CID of an SD card, as mmc-utils prints it",
                Self::MmcCid(_) => "CID of an eMMC or MMC, as mmc-utils prints it",
                Self::SdCsd(_) => "CSD of an SD card, as mmc-utils prints it",
                Self::MmcCsd(_) => "CSD of an eMMC or MMC, as mmc-utils prints it",
                _ => "EXT_CSD of an eMMC, as mmc-utils prints it",
            },
            Self::SdCid(_) => "CID of an SD card",
            Self::MmcCid(_) => "CID of an eMMC or MMC",
            Self::SdCsd(_) => "CSD of an SD card",
            Self::MmcCsd(_) => "CSD of an eMMC or MMC",
            Self::Scr(_) => "SCR of an SD card",
            Self::SdStatus(_) => "SD Status (SSR)",
            Self::Ocr(_) => "OCR, or the kernel's choice of a voltage",
            Self::ExtCsd(_, ByteOrder::LastFirst) => "EXT_CSD of an eMMC, read from byte 511 down",
            Self::ExtCsd(_, ByteOrder::FirstFirst) => "EXT_CSD of an eMMC, read from byte 0 up",
        }
    }

    /// Its fields.
    #[must_use]
    pub fn fields(&self, serials: Serials) -> Vec<Field> {
        match self {
            Self::SdCid(register) => register.fields(serials),
            Self::MmcCid(register) => register.fields(serials),
            Self::SdCsd(register) => register.fields(serials),
            Self::MmcCsd(register) => register.fields(serials),
            Self::Scr(register) => register.fields(serials),
            Self::SdStatus(register) => register.fields(serials),
            Self::Ocr(register) => register.fields(serials),
            Self::ExtCsd(register, _) => register.fields(serials),
            Self::Partial(partial) => partial.fields(serials),
        }
    }
}
