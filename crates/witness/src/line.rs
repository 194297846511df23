//! The published forms of power cuts for real: the lines of a witness, `cardproof.powercut-witness/1`, and the end of a
//! writer, `cardproof.powercut-write/1`.

use std::net::SocketAddr;

use serde::Serialize;

use crate::Event;

/// The name and version of the form of a line.
pub const WITNESS_SCHEMA: &str = "cardproof.powercut-witness/1";

/// The name and version of the form of a writer's end.
pub const WRITE_SCHEMA: &str = "cardproof.powercut-write/1";

/// A line of `powercut witness --json`: an event of a witness.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct WitnessLine<'a> {
    /// Name and version of this form.
    schema: &'static str,
    /// What happened.
    event: LineEvent,
    /// Where the witness listens; only of `listening`.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// Writes that the writer sent to the card; only of `gone`.
    #[serde(skip_serializing_if = "Option::is_none")]
    issued_writes: Option<u64>,
    /// Writes that the card confirmed as durable; only of `gone`.
    #[serde(skip_serializing_if = "Option::is_none")]
    durable_writes: Option<u64>,
    /// Why; only of `refused` and `failed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
}

/// What happened at a witness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LineEvent {
    /// The witness listens.
    Listening,
    /// A writer began.
    Began,
    /// The command has cut its power.
    Cut,
    /// The command that cuts its power failed.
    CutFailed,
    /// It writes on, although its power was to be cut.
    NotCut,
    /// It is gone.
    Gone,
    /// It ended in order.
    Ended,
    /// A cut was judged.
    Judged,
    /// A connection was refused.
    Refused,
    /// The journal failed.
    Failed,
}

impl<'a> WitnessLine<'a> {
    /// A line of `event` that has no figures.
    #[must_use]
    pub const fn new(event: LineEvent) -> Self {
        Self {
            schema: WITNESS_SCHEMA,
            event,
            address: None,
            issued_writes: None,
            durable_writes: None,
            reason: None,
        }
    }

    /// That the witness listens at `address`.
    #[must_use]
    pub fn listening(address: SocketAddr) -> Self {
        Self { address: Some(address.to_string()), ..Self::new(LineEvent::Listening) }
    }

    /// The line of `event`; `None` of a single write, of which there are too many.
    #[must_use]
    pub fn of_event(event: &'a Event) -> Option<Self> {
        Some(match event {
            Event::Durable(_) => return None,
            Event::Began(_) => Self::new(LineEvent::Began),
            Event::Gone { issued, durable } => Self {
                issued_writes: Some(*issued),
                durable_writes: Some(*durable),
                ..Self::new(LineEvent::Gone)
            },
            Event::Ended => Self::new(LineEvent::Ended),
            Event::Judged(_) => Self::new(LineEvent::Judged),
            Event::Refused(why) => Self { reason: Some(why), ..Self::new(LineEvent::Refused) },
            Event::Failed(why) => Self { reason: Some(why), ..Self::new(LineEvent::Failed) },
        })
    }
}

/// The answer of `powercut write --json`: the end of a writer. There is one only if the power was not cut.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct WriterEnd {
    /// Name and version of this form.
    schema: &'static str,
    /// Writes that the card confirmed as durable.
    durable_writes: u64,
}

impl WriterEnd {
    /// The end of a writer after so many durable writes.
    #[must_use]
    pub const fn new(durable_writes: u64) -> Self {
        Self { schema: WRITE_SCHEMA, durable_writes }
    }
}
