//! Everything that is asked of the database, by subject.

pub mod admin;
pub mod draft;
pub mod find;
pub mod keep;
pub mod pseudonyms;
pub(crate) mod results;
pub mod review;
pub mod rows;
pub mod state;
pub mod submissions;
pub mod versions;
