//! Decoders of the registers in which SD cards and eMMC say who they are: from bytes to fields.
//!
//! Each register is declared once, as a list of fields with their names in the specifications and
//! their places; decoding and showing both follow that list, so that a table shown to a person
//! cannot disagree with what the program took. Every decoder is total: any bytes of the right
//! length decode, and what means nothing says so in its meaning. A field keeps its raw code;
//! methods say what the code stands for.
//!
//! The places and codes are those of the SD Physical Layer Simplified Specification (chapter 5,
//! and 4.10.2 for the SD Status) and of JEDEC JESD84-B51 (chapter 7). Where public text does not
//! settle a field it is marked [`Certainty::Unverified`]; nothing is judged by those.
//!
//! Nothing here reads a file, and no serial number is printed unless it is asked for.

mod cid;
mod cmd56;
mod csd;
mod declare;
mod ext_csd;
mod ext_csd_order;
mod ext_csd_words;
mod field;
mod hex;
mod hexdump;
mod life_text;
pub mod makers;
mod mmc_csd;
mod mmc_utils;
pub mod names;
mod ocr;
mod paste;
mod paste_cards;
mod pasted;
mod position;
pub mod quirks;
mod rate;
mod scr;
mod sentence;
mod ssr;
pub mod suspicion;
mod value;

pub use cid::{MmcCid, SdCid};
pub use cmd56::{
    CMD56_LEN, CMD56_READS, CMD56_TWO_STEP, Cmd56Error, Cmd56Layout, Cmd56Value, cmd56,
    is_flash_maker,
};
pub use csd::SdCsd;
pub use ext_csd::ExtCsd;
pub use ext_csd_order::ByteOrder;
pub use field::{Certainty, Field, Register, RegisterError, Serials};
pub use hex::{HexError, parse as parse_hex};
pub use life_text::{LifeCodes, LifeFile, find_life, life_file};
pub use mmc_csd::MmcCsd;
pub use mmc_utils::Partial;
pub use ocr::Ocr;
pub use paste::{Block, PasteError, PastedCard, find_blocks, find_cards, find_registers};
pub use pasted::Pasted;
pub use position::Position;
pub use scr::Scr;
pub use ssr::SdStatus;
pub use value::{Month, ProductName, Serial};
