//! Other tools' outputs, read into types of our own.
//!
//! Text comes in; nothing is opened and no clock is read here. What identifies a person or a card
//! (serial numbers, host names, paths) is never taken over.

pub mod iostat;
