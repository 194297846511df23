//! Is the announced capacity real? From what was written and what came back to the kind of card.
//!
//! [`infer`] weighs every kind of card that is known to be sold against the [`Evidence`] and returns
//! a [`Finding`]: the posterior probability of each kind, the real size with bounds, and what the
//! evidence excludes. The method, its priors and their sources are in `docs/design/verify.md`.
//!
//! Nothing here decides what to write or to read next; that is the work of the crate `probe`.

mod bounds;
mod elsewhere;
mod exclusion;
mod family;
mod files;
mod finding;
mod infer;
mod kind;
mod likelihood;
mod lost;
mod modulus;
mod observation;
mod period;
mod phases;
mod prior;
mod reasons;
pub mod stamp;
mod thinned;
mod weighed;

pub use bounds::{CONFIDENCE, excluded_share, places_for_share};
pub use elsewhere::{places_to_read, repeats_after};
pub use exclusion::{Exclusion, MissingPart};
pub use files::genuine_after_files;
pub use finding::{Finding, Store, Verdict};
pub use infer::infer;
pub use kind::{Kind, Size};
pub use modulus::{Alias, common_distance, divisors_to_try, guess_modulus, second_round};
pub use observation::{Evidence, Examined, Found, Observation, Retried, Spread, Writes, examine};
pub use period::guess_period;
pub use reasons::exclusions_in_words;
