//! The published form of what `watch` sees in a window: `cardproof.watch/1`.

use cardproof_record::{Activity, LimitedBy};
use serde::Serialize;

/// The name and version of the form.
pub const WATCH_SCHEMA: &str = "cardproof.watch/1";

/// One window.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchDocument<'sample> {
    /// The form: `cardproof.watch/1`.
    pub schema: &'static str,
    /// When the window ended.
    pub time: &'sample str,
    /// What limited in it.
    pub limited_by: &'sample LimitedBy,
    /// The same in words.
    pub words: String,
    /// What was seen.
    #[serde(flatten)]
    pub activity: &'sample Activity,
}
