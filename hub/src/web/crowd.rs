//! How many things of one kind each client has at once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::network::Block;

/// The counts; clients that have none are not in it.
#[derive(Debug, Default)]
pub struct Crowd(Mutex<HashMap<Block, usize>>);

/// One in the count of its client, until it is dropped.
#[derive(Debug)]
pub(super) struct Counted {
    crowd: Arc<Crowd>,
    client: Block,
}

impl Crowd {
    /// Counts one more of `client`; `None` where it has `most` already.
    pub(super) fn enter(self: &Arc<Self>, client: Block, most: usize) -> Option<Counted> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(client).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Counted { crowd: Arc::clone(self), client })
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let mut counts = self.crowd.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = counts.get_mut(&self.client) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_client_has_so_many_and_takes_none_of_others() {
        let crowd = Arc::new(Crowd::default());
        let [one, other] = [Block::V4([192, 0, 2, 1]), Block::V4([192, 0, 2, 2])];
        let held: Vec<Counted> = (0..3).filter_map(|_| crowd.enter(one, 2)).collect();
        assert_eq!(held.len(), 2);
        assert!(crowd.enter(other, 2).is_some());
        drop(held);
        assert!(crowd.enter(one, 2).is_some());
        assert!(crowd.0.lock().unwrap().is_empty(), "who has none is not kept");
    }
}
