//! Waiting for something that happens elsewhere: another process, a thread, the kernel.

use std::thread;
use std::time::Duration;

/// Between two looks: long enough to leave a processor to what is waited for.
const BETWEEN_LOOKS: Duration = Duration::from_millis(1);

/// Returns when `happened` says so, however slow the machine is. What never happens is ended by the queue of
/// `cargo xtask test`, which kills a test that hangs; no test has a time of its own.
pub fn wait_until(happened: impl Fn() -> bool) {
    while !happened() {
        thread::sleep(BETWEEN_LOOKS);
    }
}
