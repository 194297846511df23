//! The facts as JSON.

use cardproof_device::identify::{Document, IDENTITY_SCHEMA, Identity, StorageSummary};
use cardproof_rating::signs::Signs;
use cardproof_registers::Serial;

use crate::exit::Failure;

/// One document, or with `is_list` a list of them.
pub(super) fn json(
    identities: &[(Identity, Signs)],
    storage: &[StorageSummary],
    show_serial: bool,
    is_list: bool,
) -> Result<String, Failure> {
    let documents: Vec<Document<'_, &Signs>> = identities
        .iter()
        .map(|(identity, health)| Document {
            schema: IDENTITY_SCHEMA,
            cardproof: env!("CARGO_PKG_VERSION"),
            identity,
            health,
            serial: identity.serial.filter(|_| show_serial).map(Serial::shown),
            storage,
        })
        .collect();
    let text = match documents.as_slice() {
        [only] if !is_list => serde_json::to_string_pretty(only),
        all => serde_json::to_string_pretty(all),
    };
    let text = text.map_err(Failure::because("cannot write the facts as JSON"))?;
    Ok(text + "\n")
}
