//! The program as its user has it: started as a process, judged by its status, by what it says,
//! and by what it leaves behind.
//!
//! Nothing here looks inside. What needs a real block device or a mounted file system is skipped,
//! with the reason, where the machine cannot give one.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod aliases;
mod answers;
mod checking;
mod collections;
mod comparing;
mod completions;
mod copied;
mod daemons;
mod databases;
mod defects;
mod dying;
mod endure;
mod exporting;
mod faults;
mod geometry;
mod graded;
mod health;
mod home;
mod hostile;
mod identify;
mod importing;
mod integrity_blind;
mod interruption;
mod jobs;
mod labels;
mod leaving;
mod lists;
mod mistyped;
mod naming;
mod old_systems;
mod one_answer;
mod other_tools;
mod output;
mod pages;
mod pasted;
mod plans;
mod powercut;
mod powercut_real;
mod process;
mod profiles;
mod questions;
mod recording;
mod records;
mod refusals;
mod replaying;
mod requirements;
mod said;
mod schemas;
mod served;
mod setups;
mod side_by_side;
mod simulated;
mod stated_figures;
mod submitting;
mod submitting_tls;
mod synced_writers;
mod texts_kept;
mod traces;
mod true_words;
mod unsuitable;
mod verify;
mod verify_directory;
mod verify_elsewhere;
mod verify_integrity;
mod verify_swapped;
mod verify_words;
mod watch;
mod watch_load;
mod wear;
