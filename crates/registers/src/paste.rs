//! Registers in pasted text: from a forum, from `grep . /sys/block/mmcblk0/device/*`, typed in.
//!
//! A register is known by its label (`cid:`, `CSD =`, `ext_csd`), else by its length; CID and
//! CSD, which are of one length, and those of SD cards and MMC by their structure. Lines that
//! are neither labelled as a register nor hex are passed over, unless nothing is left then.

use crate::{
    ByteOrder, ExtCsd, Field, HexError, MmcCid, MmcCsd, Ocr, Register, RegisterError, Scr, SdCid,
    SdCsd, SdStatus, Serials, parse_hex,
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
}

impl Pasted {
    /// What it is, in words.
    #[must_use]
    pub const fn title(&self) -> &'static str {
        match self {
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
        }
    }
}

/// Why a text holds no register.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PasteError {
    /// No register has this length.
    #[error(
        "no register has {digits} hex digits: OCR has 8, SCR 16, CID and CSD 32, SSR 128, \
         EXT_CSD 1024; copy the whole register"
    )]
    Length {
        /// How many digits there are.
        digits: usize,
    },
    /// A labelled register is not one.
    #[error("{label}: {source}")]
    Register {
        /// The label.
        label: &'static str,
        /// What is wrong with it.
        source: RegisterError,
    },
    /// The text is no hex.
    #[error(transparent)]
    Hex(#[from] HexError),
}

/// The labels of registers as people and the kernel write them, and their names.
const LABELS: [(&str, &str); 9] = [
    ("cid", "CID"),
    ("csd", "CSD"),
    ("scr", "SCR"),
    ("ssr", "SSR"),
    ("sd_status", "SSR"),
    ("ocr", "OCR"),
    ("ext_csd", "EXT_CSD"),
    ("extcsd", "EXT_CSD"),
    ("ext-csd", "EXT_CSD"),
];

/// A stretch of hex, and the name of the register that its label says.
struct Piece {
    label: Option<&'static str>,
    hex: String,
}

/// The registers in `text`, in its order.
///
/// # Errors
/// [`PasteError`] where a labelled register is wrong, hex is of no register's length, or there is
/// no hex at all.
pub fn find_registers(text: &str) -> Result<Vec<Pasted>, PasteError> {
    let pieces = pieces(text);
    if pieces.is_empty() {
        parse_hex(text)?;
    }
    let is_mmc = is_mmc(&pieces);
    pieces.iter().map(|piece| decode(piece, is_mmc)).collect()
}

/// The text's stretches of hex: a label starts one, and so does an unlabelled line after a
/// complete register.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for line in lines(text) {
        let (label, rest) = split_label(&line);
        let rest = without_offset(rest);
        let is_hex = parse_hex(rest).is_ok() || rest.trim().is_empty();
        match (label, pieces.last_mut()) {
            (Some(label), _) => pieces.push(Piece { label: Some(label), hex: rest.to_owned() }),
            (None, _) if !is_hex || rest.trim().is_empty() => {}
            (None, Some(last)) if !last.is_complete() => {
                last.hex.push(' ');
                last.hex.push_str(rest);
            }
            (None, _) => pieces.push(Piece { label: None, hex: rest.to_owned() }),
        }
    }
    pieces.retain(|piece| !piece.hex.trim().is_empty());
    pieces
}

impl Piece {
    /// Whether it already holds as many digits as some register has, or as its label says.
    fn is_complete(&self) -> bool {
        let Ok(bytes) = parse_hex(&self.hex) else { return false };
        match self.label {
            Some("OCR") => bytes.len() >= 4,
            Some("SCR") => bytes.len() >= 8,
            Some("CID" | "CSD") => bytes.len() >= 16,
            Some("SSR") => bytes.len() >= 64,
            Some(_) => bytes.len() >= 512,
            None => !self.hex.contains(' ') && matches!(bytes.len(), 4 | 8 | 16 | 64 | 512),
        }
    }
}

/// The lines of `text`, with one more break before each label in the middle of a line.
fn lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut current = String::new();
        for word in line.split_whitespace() {
            if !current.is_empty() && is_marked_label(word) {
                lines.push(std::mem::take(&mut current));
            }
            if !current.is_empty() {
                current.push(' ');
            }
            current.push_str(word);
        }
        lines.push(current);
    }
    lines
}

/// Whether `word` is or begins with a label and its colon or equals sign.
fn is_marked_label(word: &str) -> bool {
    word.contains([':', '=']) && split_label(word).0.is_some()
}

/// The register that a line's label names, and what comes after the label. A path before the
/// label does not matter. After a blank alone only hex makes a word a label: people write
/// sentences about registers, too.
fn split_label(line: &str) -> (Option<&'static str>, &str) {
    let end = line.find([':', '=', ' ']).unwrap_or(line.len());
    let Some(name) = label(&line[..end]) else { return (None, line) };
    let rest = line[end..].trim_start();
    let unmarked = rest.trim_start_matches([':', '=', ' ']);
    let is_marked = unmarked.len() < rest.len();
    let is_label = is_marked || rest.is_empty() || parse_hex(rest).is_ok();
    if is_label { (Some(name), unmarked) } else { (None, line) }
}

fn label(word: &str) -> Option<&'static str> {
    let word = word.rsplit('/').next().unwrap_or(word).to_ascii_lowercase();
    LABELS.iter().find(|(label, _)| *label == word).map(|&(_, name)| name)
}

/// The line without the offset of a hex dump: up to eight digits, at least three, and a colon.
fn without_offset(line: &str) -> &str {
    match line.split_once(':') {
        Some((offset, rest)) if is_offset(offset.trim()) => rest,
        _ => line,
    }
}

fn is_offset(text: &str) -> bool {
    (3..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether the registers beside a CID show that it is an MMC's: `None` where they do not tell.
fn is_mmc(pieces: &[Piece]) -> Option<bool> {
    pieces.iter().find_map(|piece| {
        let bytes = parse_hex(&piece.hex).ok()?;
        match (piece.label, bytes.len()) {
            (Some("EXT_CSD"), _) | (None, 512) => Some(true),
            (Some("SCR" | "SSR"), _) | (None, 8 | 64) => Some(false),
            (Some("CSD") | None, 16) => {
                let bytes: [u8; 16] = bytes.try_into().ok()?;
                (piece.label.is_some() || is_csd(&bytes)).then(|| is_mmc_csd(&bytes))
            }
            _ => None,
        }
    })
}

fn decode(piece: &Piece, is_mmc: Option<bool>) -> Result<Pasted, PasteError> {
    let label = piece.label.unwrap_or("register");
    let bytes = parse_hex(&piece.hex)
        .map_err(|error| PasteError::Register { label, source: error.into() })?;
    let wrong = |source| PasteError::Register { label, source };
    match (piece.label, bytes.len()) {
        (Some("OCR"), _) | (None, 4) => Ocr::from_slice(&bytes).map(Pasted::Ocr).map_err(wrong),
        (Some("SCR"), _) | (None, 8) => Scr::from_slice(&bytes).map(Pasted::Scr).map_err(wrong),
        (Some("SSR"), _) | (None, 64) => SdStatus::from_slice(&bytes)
            .map(|register| Pasted::SdStatus(Box::new(register)))
            .map_err(wrong),
        (Some("EXT_CSD"), _) | (None, 512) => ExtCsd::from_hex_guessing(&piece.hex)
            .map(|(register, order)| Pasted::ExtCsd(Box::new(register), order))
            .map_err(wrong),
        (Some("CID" | "CSD"), _) | (None, 16) => {
            let bytes: [u8; 16] = *crate::field::exactly(label, &bytes).map_err(wrong)?;
            let is_csd = piece.label.map_or_else(|| is_csd(&bytes), |label| label == "CSD");
            Ok(if is_csd { csd(&bytes) } else { cid(&bytes, is_mmc) })
        }
        (_, length) => Err(PasteError::Length { digits: 2 * length }),
    }
}

fn csd(bytes: &[u8; 16]) -> Pasted {
    if is_mmc_csd(bytes) {
        Pasted::MmcCsd(MmcCsd::decode(bytes))
    } else {
        Pasted::SdCsd(SdCsd::decode(bytes))
    }
}

fn cid(bytes: &[u8; 16], is_mmc: Option<bool>) -> Pasted {
    if is_mmc.unwrap_or_else(|| is_mmc_cid(bytes)) {
        Pasted::MmcCid(MmcCid::decode(bytes))
    } else {
        Pasted::SdCid(SdCid::decode(bytes))
    }
}

/// Whether 16 bytes are a CSD: its rate, block length and the two command classes that every
/// card has are there, where a CID has its OEM's letters and its name.
fn is_csd(bytes: &[u8; 16]) -> bool {
    let csd = SdCsd::decode(bytes);
    csd.transfer_rate_bits_per_s().is_some_and(|rate| rate >= 10_000_000)
        && (9..=11).contains(&csd.read_block_length_code)
        && csd.supports_class(0)
        && csd.supports_class(2)
}

/// Whether a CSD is an MMC's: bits that an SD card keeps zero hold the version of the MMC
/// specification.
fn is_mmc_csd(bytes: &[u8; 16]) -> bool {
    MmcCsd::decode(bytes).specification != 0
}

/// Whether a CID alone is rather an MMC's: six reserved zero bits where an SD card has the first
/// of two letters, and a sixth letter in the name.
fn is_mmc_cid(bytes: &[u8; 16]) -> bool {
    bytes[1] <= 3 && bytes[8].is_ascii_graphic()
}
