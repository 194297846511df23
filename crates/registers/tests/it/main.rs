//! The decoders of card registers, by what is published of them: whole registers of known cards,
//! every field by itself, another decoder, pasted text, and bytes that mean nothing.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod codes;
mod ext_csd_order;
mod fields;
mod garbage;
mod oracle;
mod paste;
mod vectors;
