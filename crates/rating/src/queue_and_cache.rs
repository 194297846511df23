//! Whether the host uses the card's command queue and cache, which A2 is stated for.
//!
//! Both work only where the card, the kernel and the host controller have them and they are
//! switched on. Where a record cannot tell, neither blame nor excuse is given for certain.

use cardproof_record::{DeviceInfo, Feature, Record};

/// Whether a feature is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Working,
    /// The card has none.
    NoneInCard,
    /// The kernel cannot use it.
    NoneInKernel,
    /// The host controller cannot use it.
    NoneInHost,
    /// It could be used and is not.
    SwitchedOff,
    Unknown,
}

/// What queue and cache mean for a class that needs both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QueueAndCache {
    /// Both are in use: a miss is a miss.
    InUse,
    /// The card lacks one: a miss is the card's own. In words.
    MissingInCard(String),
    /// The host does not use both: a miss may be the host's. In words.
    NotUsed(String),
    /// It cannot be told. In words.
    Unknown(String),
}

/// Why A2 cannot be tested on this host, where `device` tells that its card's command queue or
/// cache lies idle there; in words.
#[must_use]
pub fn idle_queue_or_cache(device: &DeviceInfo) -> Option<String> {
    match QueueAndCache::of_device(device) {
        QueueAndCache::NotUsed(words) => Some(words),
        QueueAndCache::InUse | QueueAndCache::MissingInCard(_) | QueueAndCache::Unknown(_) => None,
    }
}

/// Whether the card of `device` claims A2.
pub(crate) fn is_a2(device: &DeviceInfo) -> bool {
    device.card.as_ref().is_some_and(|card| card.claims.application_class == Some(2))
}

impl QueueAndCache {
    /// What `record` tells of them.
    pub(crate) fn from_record(record: &Record) -> Self {
        Self::of_device(&record.conditions.device)
    }

    fn of_device(device: &DeviceInfo) -> Self {
        let card = device.card.as_ref();
        let of = |feature: Option<&Feature>| feature.map_or(Use::Unknown, use_of);
        let queue = of(card.map(|card| &card.command_queue));
        let cache = of(card.map(|card| &card.cache));
        let words = in_words(queue, cache);
        let either = |wanted: &[Use]| wanted.contains(&queue) || wanted.contains(&cache);
        if either(&[Use::NoneInCard]) {
            Self::MissingInCard(words)
        } else if either(&[Use::NoneInKernel, Use::NoneInHost, Use::SwitchedOff]) {
            Self::NotUsed(words)
        } else if either(&[Use::Unknown]) {
            Self::Unknown(words)
        } else {
            Self::InUse
        }
    }
}

fn use_of(feature: &Feature) -> Use {
    match feature {
        Feature { enabled: Some(true), .. } => Use::Working,
        Feature { card: Some(false), .. } => Use::NoneInCard,
        Feature { kernel: Some(false), .. } => Use::NoneInKernel,
        Feature { host: Some(false), .. } => Use::NoneInHost,
        Feature { enabled: Some(false), .. } => Use::SwitchedOff,
        Feature { enabled: None, .. } => Use::Unknown,
    }
}

fn in_words(queue: Use, cache: Use) -> String {
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

    fn feature(card: Option<bool>, kernel: Option<bool>, enabled: Option<bool>) -> Feature {
        Feature { card, kernel, enabled, ..Feature::default() }
    }

    #[test]
    fn a_feature_is_in_use_or_has_the_cause_why_not() {
        let (yes, no) = (Some(true), Some(false));
        let cases = [
            (feature(None, None, yes), Use::Working),
            (feature(no, None, no), Use::NoneInCard),
            (feature(yes, no, no), Use::NoneInKernel),
            (feature(yes, yes, no), Use::SwitchedOff),
            (feature(yes, yes, None), Use::Unknown),
            (Feature { host: no, ..feature(yes, yes, None) }, Use::NoneInHost),
            (Feature::default(), Use::Unknown),
        ];
        for (feature, expected) in cases {
            assert_eq!(use_of(&feature), expected, "{feature:?}");
        }
    }

    #[test]
    fn the_same_state_of_both_is_shown_once() {
        assert_eq!(
            in_words(Use::NoneInKernel, Use::NoneInKernel),
            "this kernel uses neither the card's command queue nor its cache"
        );
        assert_eq!(
            in_words(Use::NoneInKernel, Use::Working),
            "this kernel does not use the card's command queue, and the cache is in use"
        );
    }
}
