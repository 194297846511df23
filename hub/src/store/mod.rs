//! Everything that is asked of the database, by subject.

pub mod admin;
mod counts;
pub mod draft;
pub mod find;
pub mod limits;
pub mod submissions;
