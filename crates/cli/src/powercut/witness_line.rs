//! What a witness prints for scripts: one JSON document for each event, one on each line.

use std::net::SocketAddr;

use cardproof_witness::Event;
use serde::Serialize;

use crate::output::{self, Sink};

/// One event.
#[derive(Debug, Serialize)]
pub(super) struct WitnessLine<'a> {
    schema: &'static str,
    event: &'static str,
    /// Where the witness listens.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    issued_writes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    durable_writes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

impl<'a> WitnessLine<'a> {
    /// A line of `event` that has no figures.
    pub(super) const fn new(event: &'static str) -> Self {
        Self {
            schema: "cardproof.powercut-witness/1",
            event,
            address: None,
            issued_writes: None,
            durable_writes: None,
            reason: None,
        }
    }

    /// That the witness listens at `address`.
    pub(super) fn listening(address: SocketAddr) -> Self {
        Self { address: Some(address.to_string()), ..Self::new("listening") }
    }

    /// The line of `event`; `None` of a single write, of which there are too many.
    pub(super) fn of_event(event: &'a Event) -> Option<Self> {
        Some(match event {
            Event::Durable(_) => return None,
            Event::Began(_) => Self::new("began"),
            Event::Gone { issued, durable } => Self {
                issued_writes: Some(*issued),
                durable_writes: Some(*durable),
                ..Self::new("gone")
            },
            Event::Ended => Self::new("ended"),
            Event::Judged(_) => Self::new("judged"),
            Event::Refused(why) => Self { reason: Some(why), ..Self::new("refused") },
            Event::Failed(why) => Self { reason: Some(why), ..Self::new("failed") },
        })
    }
}

/// Prints `line`. A reader that has gone does not keep the witness from its work.
pub(super) fn print(line: &WitnessLine<'_>) {
    if let Ok(text) = serde_json::to_string(line) {
        let _ = output::write(&Sink::Stdout, &(text + "\n"));
    }
}
