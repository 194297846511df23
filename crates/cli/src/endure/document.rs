//! The result as JSON, and the requests of a trace.

use cardproof_record::{ENDURE_CARDS_SCHEMA, EndureCardsDocument, EndureDocument, ModelDocument};

use cardproof_trace::{RequestKind, TraceReader};

use crate::exit::Failure;
use crate::replay::loading;

/// One card's document, or that of several, which ends in a newline.
pub(super) fn json(
    documents: &[EndureDocument],
    models: &[ModelDocument],
) -> Result<String, Failure> {
    let text = match documents {
        [document] => serde_json::to_string_pretty(document),
        _ => serde_json::to_string_pretty(&EndureCardsDocument {
            schema: ENDURE_CARDS_SCHEMA,
            cards: documents.to_vec(),
            models: models.to_vec(),
        }),
    };
    let text = text.map_err(Failure::because("the result cannot be put into JSON"))?;
    Ok(text + "\n")
}

/// The writes of the trace called `name`, or in the file `name`, as (offset, length) in bytes.
pub(super) fn requests_of_trace(name: &str) -> Result<Vec<(u64, u64)>, Failure> {
    let bytes = loading::load(name)?;
    let reader = TraceReader::new(&bytes).map_err(|error| loading::broken(name, &error))?;
    let mut writes = Vec::new();
    for request in reader {
        let request = request.map_err(|error| loading::broken(name, &error))?;
        if request.kind == RequestKind::Write {
            writes.push((request.offset.get(), request.length.get()));
        }
    }
    Ok(writes)
}
