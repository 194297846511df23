//! A hub for records of storage: submit, find, compare, download.
//!
//! A library, so that its tests drive the same code as the program `cardproof-hub`.

pub mod clock;
pub mod columns;
pub mod copy;
pub mod db;
pub mod dump;
pub mod error;
mod held;
pub mod index;
pub mod log;
pub mod network;
mod owner;
mod pack;
pub mod pages;
pub mod place;
pub mod queries;
pub mod ranking;
mod room;
pub mod secret;
pub mod seed;
pub mod settings;
pub mod step;
pub mod store;
pub mod summary;
pub mod tally;
pub mod verdicts;
pub mod web;
