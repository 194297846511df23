//! x
mod op;
mod target;
pub use op::{Completion, Fault, Op, OpKind, Slot, Submission};
pub use target::{Abilities, Directness, Engine, SubmitError, Target, TargetError, Wait};
