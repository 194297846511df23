//! Everything that is asked of the database, by subject.

pub mod admin;
pub mod catalogue;
pub mod counts;
pub mod draft;
pub mod find;
pub mod keep;
pub(crate) mod results;
pub mod rows;
pub mod submissions;
pub mod versions;
