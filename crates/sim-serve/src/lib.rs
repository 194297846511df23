//! A simulated card in real time: a file through FUSE and, as root, a block device over it.
//!
//! So fio, f3probe or a file system meet the very card that cardproof measures in virtual time.
//! The model's time becomes real waiting here, outside of the models, which stay pure.
//!
//! Requests wait for deadlines, not for durations: each reply is due at a moment that follows
//! from the moments before it, so that the cost of a request's way through the kernel and a
//! late wake-up do not add up. Started by root, its threads have their turn before others. On a
//! machine with no processor to spare, a reply can still be later than the card would be; figures in
//! real time want a quiet machine.

mod backing;
mod file;
mod keeper;
mod log_card;
mod loop_device;
mod pacer;
mod reply;
mod served;
mod server;
mod timeline;
mod urgent;

pub use backing::FileStore;
pub use served::{SERVED_SCHEMA, Served};
pub use server::{ServeError, ServeOptions, Server};
