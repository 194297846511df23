//! The facts as JSON. The form is versioned: `cardproof.identity/1`; fields may come, none goes.

use cardproof_device::identify::{Identity, StorageSummary};
use cardproof_registers::Serial;
use serde::Serialize;

use crate::exit::Failure;

/// The name and version of the form.
const SCHEMA: &str = "cardproof.identity/1";

/// One device's document.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    cardproof: &'static str,
    #[serde(flatten)]
    identity: &'a Identity,
    /// Only where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    serial: Option<String>,
    /// All storage of the machine.
    storage: &'a [StorageSummary],
}

/// One document, or with `is_list` a list of them.
pub(super) fn json(
    identities: &[Identity],
    storage: &[StorageSummary],
    show_serial: bool,
    is_list: bool,
) -> Result<String, Failure> {
    let documents: Vec<Document<'_>> = identities
        .iter()
        .map(|identity| Document {
            schema: SCHEMA,
            cardproof: env!("CARGO_PKG_VERSION"),
            identity,
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
