//! The laboratories themselves.

mod labs;
