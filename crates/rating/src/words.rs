//! The words of this crate: sentences and other English, made from the values that the files beside it decide.
//!
//! A change of wording touches this folder alone. What is decided here is only how something is said: which
//! figure is named first, one or many, a comparison in a clause. No verdict, limit or grade comes from here.

mod defect;
pub mod findings;
mod kernel_log;
