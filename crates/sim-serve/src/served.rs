//! The published form of a served card: `cardproof.served/1`.

use std::path::Path;

use serde::Serialize;

use crate::Server;

/// The name and version of the form.
pub const SERVED_SCHEMA: &str = "cardproof.served/1";

/// Where `sim serve --json` put the card.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct Served<'s> {
    /// Name and version of this form.
    schema: &'static str,
    /// Path of the card as a file.
    file: &'s Path,
    /// Path of the block device; null without root or with --no-block-device.
    block_device: Option<&'s Path>,
}

impl<'s> Served<'s> {
    /// Where `server` put its card.
    #[must_use]
    pub fn new(server: &'s Server) -> Self {
        Self { schema: SERVED_SCHEMA, file: server.file(), block_device: server.device() }
    }
}
