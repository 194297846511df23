//! The facts of a computer's storage for other programs: Prometheus, Home Assistant, Nagios.
//!
//! All of them are made from one [`Facts`], so that they never say different things. A fact that is not known has
//! its reason ([`Missing`]); it is never a zero, and never left out without a word. No serial number, register or
//! host name is in any of them: a card is known by the local hash of the ledger and by its product name.

mod facts;
mod filled;
mod home_assistant;
mod nagios;
mod prometheus;
mod table;

pub use facts::{CardFacts, Facts, MachineFacts, Missing};
pub use home_assistant::{Message, home_assistant_lines, home_assistant_messages};
pub use nagios::{PluginState, nagios};
pub use prometheus::{OPEN_METRICS_TYPE, PROMETHEUS_TYPE, open_metrics, prometheus};
pub use table::{Metric, metrics};
