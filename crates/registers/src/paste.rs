//! Registers in pasted text: from a forum, from `grep . /sys/block/mmcblk0/device/*`, typed in.
//!
//! A register is known by its label (`cid:`, `CSD =`, `CID (raw):`, `ext_csd`), else by its length;
//! CID and CSD, which are of one length, by their structure. Those of SD cards and MMC are told
//! apart for each card: by `type:`, by the registers beside them, by their structure. Lines that
//! are neither labelled as a register nor hex are passed over, unless nothing is left then.

use crate::hexdump::Dump;
use crate::mmc_utils::{self, Kind, Text};
use crate::paste_cards::group;
use crate::pasted::Pasted;
use crate::sentence::register_in;
use crate::{
    ExtCsd, HexError, MmcCid, MmcCsd, Ocr, Register, RegisterError, Scr, SdCid, SdCsd, SdStatus,
    parse_hex,
};

/// A card that a text tells of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastedCard {
    /// As the text names it, such as `mmc0:0007` or `mmcblk1`.
    pub name: Option<String>,
    /// Its registers, in the text's order.
    pub registers: Vec<Pasted>,
    /// What looks like a register and is none, beside those that are.
    pub faults: Vec<PasteError>,
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
    #[error("{label}: {error}")]
    Register {
        /// The label.
        label: &'static str,
        /// What is wrong with it.
        error: RegisterError,
    },
    /// The text is no hex.
    #[error(transparent)]
    Hex(#[from] HexError),
}

/// The name of the label that says whether a card is `SD` or `MMC`.
const TYPE: &str = "type";

/// Words that people write beside a register's name in its label.
const LABEL_WORDS: [&str; 9] =
    ["raw", "register", "hex", "value", "content", "card", "sd", "mmc", "emmc"];

/// The labels of registers as people and the kernel write them, and their names.
const LABELS: [(&str, &str); 10] = [
    ("type", TYPE),
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

/// A stretch of hex or a text of mmc-utils, the name of the register that its label says, and
/// the card that a path or a heading named last.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) card: Option<String>,
    label: Option<&'static str>,
    hex: String,
    text: Option<Text>,
    dump: Option<Dump>,
}

/// Which register a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieceKind {
    Type,
    Cid,
    Csd,
    Scr,
    Ssr,
    Ocr,
    ExtCsd,
    Unknown,
}

/// The registers in `text`, in its order, card by card.
///
/// # Errors
/// [`PasteError`] where a labelled register is wrong, hex is of no register's length, or there is
/// no hex at all.
pub fn find_registers(text: &str) -> Result<Vec<Pasted>, PasteError> {
    Ok(find_cards(text)?.into_iter().flat_map(|card| card.registers).collect())
}

/// The cards that `text` tells of, in its order, each with its registers. A register that is cut or
/// wrong does not take the others with it.
///
/// # Errors
/// [`PasteError`] where there is no register at all; the first reason.
pub fn find_cards(text: &str) -> Result<Vec<PastedCard>, PasteError> {
    let groups = group(pieces(text));
    if groups.is_empty() {
        parse_hex(text)?;
    }
    let mut cards: Vec<PastedCard> = Vec::new();
    // Faults before the first card's registers.
    let mut faults = Vec::new();
    for group in groups {
        let is_mmc = is_mmc(&group.pieces);
        let mut registers = Vec::new();
        for piece in group.pieces.iter().filter(|piece| piece.kind() != PieceKind::Type) {
            match decode(piece, is_mmc) {
                Ok(register) => registers.push(register),
                Err(fault) => faults.push(fault),
            }
        }
        if !registers.is_empty() {
            let faults = std::mem::take(&mut faults);
            cards.push(PastedCard { name: group.name, registers, faults });
        } else if let Some(last) = cards.last_mut() {
            last.faults.append(&mut faults);
        }
    }
    if cards.is_empty() && !faults.is_empty() {
        return Err(faults.swap_remove(0));
    }
    Ok(cards)
}

/// A stretch of bytes in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// The card that a path or a heading named last.
    pub card: Option<String>,
    /// The bytes, in the text's order.
    pub bytes: Vec<u8>,
}

/// The stretches of `length` bytes in `text` that have no label or that of EXT_CSD, in any form in which
/// programs dump bytes.
#[must_use]
pub fn find_blocks(text: &str, length: usize) -> Vec<Block> {
    let block = |piece: Piece| {
        let is_open = piece.text.is_none() && matches!(piece.label, None | Some("EXT_CSD"));
        let bytes = parse_hex(&piece.hex).ok().filter(|bytes| is_open && bytes.len() == length)?;
        Some(Block { card: piece.card, bytes })
    };
    pieces(text).into_iter().filter_map(block).collect()
}

/// The text's stretches of hex: a label starts one, and so does an unlabelled line after a
/// complete register or after another card's name.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut card: Option<String> = None;
    for line in lines(text) {
        let new_name = card_name(&line);
        let is_same_card = new_name.is_none() || new_name == card;
        card = new_name.or(card);
        let piece = |label, hex: &str, text| Piece {
            card: card.clone(),
            label,
            hex: hex.to_owned(),
            text,
            dump: None,
        };
        if let Some(text) = mmc_utils::heading(&line) {
            pieces.push(piece(None, "", Some(text)));
            continue;
        }
        let mut open = pieces.last_mut().filter(|_| is_same_card);
        if let Some(last) = open.as_mut()
            && let Some(dump) = &mut last.dump
            && dump.take(&line)
        {
            last.hex = dump.hex();
            continue;
        }
        if let Some(dump) = Dump::begun(&line) {
            match open.filter(|last| last.hex.is_empty() && last.text.is_none()) {
                Some(last) => (last.hex, last.dump) = (dump.hex(), Some(dump)),
                None => pieces
                    .push(Piece { dump: Some(dump.clone()), ..piece(None, &dump.hex(), None) }),
            }
            continue;
        }
        let is_taken =
            open.as_mut().and_then(|last| last.text.as_mut()).is_some_and(|text| text.take(&line));
        if is_taken {
            continue;
        }
        if let Some(text) = mmc_utils::without_heading(&line) {
            pieces.push(piece(None, "", Some(text)));
            continue;
        }
        if is_message(&line) {
            continue;
        }
        let (label, rest) = split_label(&line);
        let rest = without_offset(rest);
        let is_hex = parse_hex(rest).is_ok() || rest.trim().is_empty();
        if let Some((label, hex)) = register_in(&line).filter(|_| !is_hex) {
            pieces.push(piece(Some(label), &hex, None));
            continue;
        }
        match (label, open) {
            (Some(label), _) => pieces.push(piece(Some(label), rest, None)),
            (None, _) if !is_hex || rest.trim().is_empty() => {}
            (None, Some(last)) if !last.is_complete() => {
                last.hex.push(' ');
                last.hex.push_str(rest);
            }
            (None, _) => pieces.push(piece(None, rest, None)),
        }
    }
    pieces.retain(Piece::is_kept);
    if pieces.len() > 1 {
        pieces.retain(|piece| !piece.is_plain_number());
    }
    pieces
}

/// Whether a program says in a line that it could not read a file.
fn is_message(line: &str) -> bool {
    [": Permission denied", ": No such file or directory", ": Is a directory", ": Invalid argument"]
        .iter()
        .any(|end| line.ends_with(end))
}

/// The card that a line names: by the kernel's address on the bus, or by its block device.
pub(super) fn card_name(line: &str) -> Option<String> {
    let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == ':'));
    words.map(|word| word.trim_end_matches(':')).find_map(|word| {
        let rest = word.strip_prefix("mmc")?;
        if let Some((host, address)) = rest.split_once(':') {
            let address = address.get(..4)?;
            let is_host = !host.is_empty() && host.bytes().all(|byte| byte.is_ascii_digit());
            let is_address = address.bytes().all(|byte| byte.is_ascii_hexdigit());
            return (is_host && is_address).then(|| format!("mmc{host}:{address}"));
        }
        let digits = rest.strip_prefix("blk")?;
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        (length > 0).then(|| format!("mmcblk{}", &digits[..length]))
    })
}

impl Piece {
    /// Whether it already holds as many digits as some register has, or as its label says.
    fn is_complete(&self) -> bool {
        if self.text.is_some() || self.label == Some(TYPE) {
            return true;
        }
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

impl Piece {
    /// Whether it tells something: a type other than `SD` and `MMC` does not.
    fn is_kept(&self) -> bool {
        match (&self.text, self.label) {
            (Some(text), _) => text.decode().is_some(),
            (None, Some(TYPE)) => self.type_is_mmc().is_some(),
            (None, _) => !self.hex.trim().is_empty(),
        }
    }

    /// Whether eight digits without a label are those of a count, such as of sectors, and of no OCR, in which
    /// the bits below the voltages are zero but for that of low voltage.
    fn is_plain_number(&self) -> bool {
        let is_open = self.label.is_none() && self.text.is_none();
        let bytes = parse_hex(&self.hex).ok().filter(|_| is_open);
        matches!(bytes.as_deref(), Some([_, _, high, low]) if high & 0x7f != 0 || low & 0x7f != 0)
    }

    /// Whether a type is that of an MMC; `None` where it is neither.
    fn type_is_mmc(&self) -> Option<bool> {
        match self.hex.trim().to_ascii_uppercase().as_str() {
            "MMC" => Some(true),
            "SD" => Some(false),
            _ => None,
        }
    }

    /// Which register it is.
    pub(super) fn kind(&self) -> PieceKind {
        if let Some(text) = &self.text {
            return match text.kind {
                Kind::SdCid | Kind::MmcCid => PieceKind::Cid,
                Kind::SdCsd | Kind::MmcCsd => PieceKind::Csd,
                Kind::ExtCsd => PieceKind::ExtCsd,
            };
        }
        let bytes = || parse_hex(&self.hex).unwrap_or_default();
        match self.label {
            Some(TYPE) => PieceKind::Type,
            Some("CID") => PieceKind::Cid,
            Some("CSD") => PieceKind::Csd,
            Some("SCR") => PieceKind::Scr,
            Some("SSR") => PieceKind::Ssr,
            Some("OCR") => PieceKind::Ocr,
            Some(_) => PieceKind::ExtCsd,
            None => match bytes().as_slice() {
                [_, _, _, _] => PieceKind::Ocr,
                bytes if bytes.len() == 8 => PieceKind::Scr,
                bytes if bytes.len() == 64 => PieceKind::Ssr,
                bytes if bytes.len() == 512 => PieceKind::ExtCsd,
                bytes => match <&[u8; 16]>::try_from(bytes) {
                    Ok(bytes) if is_csd(bytes) => PieceKind::Csd,
                    Ok(_) => PieceKind::Cid,
                    Err(_) => PieceKind::Unknown,
                },
            },
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
/// label does not matter, nor do colons in it. After a blank alone, and after a label of several
/// words, only hex makes it a label: people write sentences about registers, too.
fn split_label(line: &str) -> (Option<&'static str>, &str) {
    let marks = [':', '=', ' ', '"'];
    for (end, mark) in line.match_indices([':', '=']) {
        let Some(name) = label(&line[..end]) else { continue };
        let rest = line[end + mark.len()..].trim_start_matches(marks).trim_end_matches('"');
        let is_one_word = !line[..end].trim().contains(' ');
        if is_one_word || parse_hex(rest).is_ok() {
            return (Some(name), rest);
        }
    }
    let end = line.find(' ').unwrap_or(line.len());
    let Some(name) = label(&line[..end]) else { return (None, line) };
    let rest = line[end..].trim_start_matches(marks);
    let is_marked = line[end..].trim_start().starts_with([':', '=']);
    let is_label = is_marked || rest.is_empty() || parse_hex(rest).is_ok();
    if is_label { (Some(name), rest) } else { (None, line) }
}

/// The register that `text` names, alone or among [`LABEL_WORDS`].
fn label(text: &str) -> Option<&'static str> {
    // A path before the name, and the braces of `udevadm info`.
    let text = text.rsplit(['/', '{']).next().unwrap_or(text).to_ascii_lowercase();
    let mut found = None;
    for word in text.split_whitespace() {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        match LABELS.iter().find(|(label, _)| *label == word) {
            Some(&(_, name)) if found.is_none() => found = Some(name),
            None if LABEL_WORDS.contains(&word) => {}
            _ => return None,
        }
    }
    found
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

/// Whether a card's type or the registers beside its CID show that it is an MMC: `None` where
/// they do not tell. They do not contradict each other within a card.
fn is_mmc(pieces: &[Piece]) -> Option<bool> {
    pieces.iter().find_map(belongs_to_mmc)
}

/// Whether only an MMC, or only an SD card, can have this register: `None` where both can.
pub(super) fn belongs_to_mmc(piece: &Piece) -> Option<bool> {
    if let Some(text) = &piece.text {
        return Some(!matches!(text.kind, Kind::SdCid | Kind::SdCsd));
    }
    match piece.kind() {
        PieceKind::Type => piece.type_is_mmc(),
        PieceKind::ExtCsd => Some(true),
        PieceKind::Scr | PieceKind::Ssr => Some(false),
        PieceKind::Csd => {
            let bytes: [u8; 16] = parse_hex(&piece.hex).ok()?.try_into().ok()?;
            Some(is_mmc_csd(&bytes))
        }
        PieceKind::Cid | PieceKind::Ocr | PieceKind::Unknown => None,
    }
}

fn decode(piece: &Piece, is_mmc: Option<bool>) -> Result<Pasted, PasteError> {
    if let Some(partial) = piece.text.as_ref().and_then(Text::decode) {
        return Ok(partial);
    }
    let label = piece.label.unwrap_or("register");
    let bytes = parse_hex(&piece.hex)
        .map_err(|error| PasteError::Register { label, error: error.into() })?;
    let wrong = |error| PasteError::Register { label, error };
    match (piece.label, bytes.len()) {
        (Some("OCR"), _) | (None, 4) => Ocr::from_slice(&bytes).map(Pasted::Ocr).map_err(wrong),
        (Some("SCR"), _) | (None, 8) => Scr::from_slice(&bytes).map(Pasted::Scr).map_err(wrong),
        (Some("SSR"), _) | (None, 64) => SdStatus::from_slice(&bytes)
            .map(|register| Pasted::SdStatus(Box::new(register)))
            .map_err(wrong),
        (Some("EXT_CSD"), _) | (None, 512) => ExtCsd::from_dump(&piece.hex, None)
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
