//! The hub as clients see it: the real program on SQLite and on PostgreSQL, each test on both.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "tests"
)]

#[macro_use]
mod common;

mod attack;
mod browser;
mod columns;
mod crashes;
mod dump;
mod engines;
mod hardship;
mod hostile;
mod limits;
mod lists;
mod mirror;
mod moderation;
mod moving;
mod names;
mod operating;
mod paths;
mod privacy;
mod ranking;
mod running;
mod speed;
mod story;
mod unreadable;
mod verdicts;
mod web;
