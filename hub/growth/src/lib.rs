//! Fills a hub with records of simulated cards in any number, and measures it under load.
//!
//! A program of its own beside the hub: what is here is never in the hub's. Filling goes past the hub's HTTP side
//! but through its own code: a test compares each row with what the hub writes when the same documents are submitted.

pub mod client;
pub mod ingest;
pub mod load;
pub mod pages;
pub mod records;
pub mod tell;
pub mod variations;
