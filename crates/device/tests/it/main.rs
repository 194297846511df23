//! Who a device is and whether it may be written to, on machines laid out in directories and on real ones.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod card_info;
mod common;
mod first_look;
mod first_look_real;
mod guard_aliases;
mod guard_content;
mod guard_in_use;
mod guard_real;
mod identify;
mod kernel_errors;
mod live;
mod mounted_on;
mod reconnect;
mod sd_queue;
mod ufs;
mod writers;
