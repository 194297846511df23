//! Whether the host uses the card's command queue and cache, in words.

use std::fmt;

use crate::queue_and_cache::{QueueState, Use};

impl fmt::Display for QueueState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_words(*self))
    }
}

fn in_words(QueueState { queue, cache }: QueueState) -> String {
    if queue != cache {
        let [queue, cache] =
            [("command queue", queue), ("cache", cache)].map(|(name, state)| match state {
                Use::Working => format!("the {name} is in use"),
                Use::NoneInCard => format!("the card has no {name}"),
                Use::NoneInKernel => format!("this kernel does not use the card's {name}"),
                Use::NoneInHost => format!("the host controller does not use the card's {name}"),
                Use::SwitchedOff => format!("the {name} is switched off"),
                Use::Unknown => format!("it is unknown whether the {name} is in use"),
            });
        return format!("{queue}, and {cache}");
    }
    let both = match queue {
        Use::Working => "the card's command queue and its cache are in use",
        Use::NoneInCard => "the card has no command queue and no cache",
        Use::NoneInKernel => "this kernel uses neither the card's command queue nor its cache",
        Use::NoneInHost => {
            "the host controller uses neither the card's command queue nor its cache"
        }
        Use::SwitchedOff => "the card's command queue and its cache are switched off",
        Use::Unknown => "it is unknown whether the host uses the card's command queue and cache",
    };
    both.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_state_of_both_is_shown_once() {
        assert_eq!(
            in_words(QueueState { queue: Use::NoneInKernel, cache: Use::NoneInKernel }),
            "this kernel uses neither the card's command queue nor its cache"
        );
        assert_eq!(
            in_words(QueueState { queue: Use::NoneInKernel, cache: Use::Working }),
            "this kernel does not use the card's command queue, and the cache is in use"
        );
    }
}
