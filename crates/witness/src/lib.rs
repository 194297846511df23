//! The witness of a power cut: another computer that keeps what a device has acknowledged.
//!
//! The writer on the board tells the [`Witness`] which writes were issued and which the device has
//! promised to keep. Both know a shared [`Secret`]; every line is numbered and carries an HMAC, so
//! that nobody else can acknowledge anything. After the cut the verifier asks the witness what was
//! promised. The form of the lines is in `docs/design/powercut.md`.

mod client;
mod journal;
mod line;
mod secret;
mod server;
mod wire;

pub use client::{Client, LastWriter};
pub use journal::{Journal, Setup};
pub use line::{LineEvent, WITNESS_SCHEMA, WRITE_SCHEMA, WitnessLine, WriterEnd};
pub use secret::{Secret, SecretError};
pub use server::{Event, Witness};
pub use wire::WitnessError;
