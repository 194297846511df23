//! Work on all processors, for proofs in virtual time: what one card gives does not depend on another.

use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, anyhow};

/// How many lines of progress a long proof prints.
const NOTES: usize = 20;

/// What `work` gives for each number below `count`, in order; on the way it says on standard error how much is done.
///
/// # Errors
/// The first error of `work`, or that it panicked.
pub(super) fn for_each<T: Send>(
    count: usize,
    work: impl Fn(usize) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count.max(1));
    // Cards take unlike times, so a thread takes the next one when it is done.
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&number| number < count);
    let part = || -> Result<Vec<(usize, T)>> {
        std::iter::from_fn(take).map(|number| noted(number, count, work(number)?)).collect()
    };
    let parts = std::thread::scope(|scope| {
        let started: Vec<_> = (0..threads).map(|_| scope.spawn(part)).collect();
        let ended = started.into_iter().map(|thread| match thread.join() {
            Ok(part) => part,
            Err(_) => Err(anyhow!("a thread of the proof has panicked")),
        });
        ended.collect::<Result<Vec<_>>>()
    })?;
    let mut all: Vec<_> = parts.into_iter().flatten().collect();
    all.sort_by_key(|&(number, _)| number);
    Ok(all.into_iter().map(|(_, given)| given).collect())
}

/// `given` with its `number`, after a line of progress where one is due: about `number` of `count` are done.
fn noted<T>(number: usize, count: usize, given: T) -> Result<(usize, T)> {
    if count >= 100 * NOTES && number > 0 && number.is_multiple_of(count / NOTES) {
        eprintln!("  {number} of {count}");
    }
    Ok((number, given))
}

#[cfg(test)]
mod tests {
    use anyhow::ensure;

    use super::*;

    #[test]
    fn what_each_number_gives_is_in_order() -> Result<()> {
        assert_eq!(for_each(5, |number| Ok(number * number))?, [0, 1, 4, 9, 16]);
        assert_eq!(for_each(0, Ok)?, [0; 0]);
        Ok(())
    }

    #[test]
    fn an_error_is_handed_on() {
        let failed = for_each(5, |number| {
            ensure!(number != 3, "three");
            Ok(number)
        });
        assert_eq!(failed.map_err(|error| error.to_string()), Err("three".to_owned()));
    }
}
