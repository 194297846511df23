//! Whether the host uses the card's command queue and cache, in words.

use std::fmt;

use crate::queue_and_cache::{FeatureUse, QueueState};

impl fmt::Display for QueueState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&in_words(*self))
    }
}

fn in_words(QueueState { queue, cache }: QueueState) -> String {
    if queue != cache {
        let [queue, cache] =
            [("command queue", queue), ("cache", cache)].map(|(name, state)| match state {
                FeatureUse::Working => format!("the {name} is in use"),
                FeatureUse::NoneInCard => format!("the card has no {name}"),
                FeatureUse::NoneInKernel => format!("this kernel does not use the card's {name}"),
                FeatureUse::NoneInHost => {
                    format!("the host controller does not use the card's {name}")
                }
                FeatureUse::SwitchedOff => format!("the {name} is switched off"),
                FeatureUse::Unknown => format!("it is unknown whether the {name} is in use"),
            });
        return format!("{queue}, and {cache}");
    }
    let both = match queue {
        FeatureUse::Working => "the card's command queue and its cache are in use",
        FeatureUse::NoneInCard => "the card has no command queue and no cache",
        FeatureUse::NoneInKernel => {
            "this kernel uses neither the card's command queue nor its cache"
        }
        FeatureUse::NoneInHost => {
            "the host controller uses neither the card's command queue nor its cache"
        }
        FeatureUse::SwitchedOff => "the card's command queue and its cache are switched off",
        FeatureUse::Unknown => {
            "it is unknown whether the host uses the card's command queue and cache"
        }
    };
    both.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_state_of_both_is_shown_once() {
        assert_eq!(
            in_words(QueueState {
                queue: FeatureUse::NoneInKernel,
                cache: FeatureUse::NoneInKernel
            }),
            "this kernel uses neither the card's command queue nor its cache"
        );
        assert_eq!(
            in_words(QueueState { queue: FeatureUse::NoneInKernel, cache: FeatureUse::Working }),
            "this kernel does not use the card's command queue, and the cache is in use"
        );
    }
}
