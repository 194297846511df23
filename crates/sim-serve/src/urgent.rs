//! Threads that have their turn before others, since a card does not wait for a busy computer.

use rustix::process::{getpriority_process, setpriority_process};

/// Before nearly everybody, but not before what root has put in front on purpose.
const URGENT: i32 = -19;

/// What `begin` does, with the calling thread's priority raised: a thread starts with the priority of
/// the one that starts it. Without the right to raise it (root's, or `CAP_SYS_NICE`) it stays as it is,
/// and on a busy computer replies come later.
pub(crate) fn urgently<T>(begin: impl FnOnce() -> T) -> T {
    let before = getpriority_process(None).ok();
    let is_raised = before.is_some() && setpriority_process(None, URGENT).is_ok();
    let begun = begin();
    if let Some(before) = before.filter(|_| is_raised) {
        // Lowering it again needs no right.
        let _ = setpriority_process(None, before);
    }
    begun
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_calling_thread_is_afterwards_as_it_was() {
        let before = getpriority_process(None).unwrap();
        let within = urgently(|| getpriority_process(None).unwrap());
        assert_eq!(getpriority_process(None).unwrap(), before);
        assert!(within == URGENT || within == before, "{within}");
    }
}
