//! Whether the host uses the card's command queue and cache, which A2 is stated for.
//!
//! Both work only where the card, the kernel and the host controller have them and they are
//! switched on. Where a record cannot tell, neither blame nor excuse is given for certain.

use cardproof_record::{DeviceInfo, Feature, Record};

/// Whether a feature is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureUse {
    /// It is in use.
    Working,
    /// The card has none.
    NoneInCard,
    /// The kernel cannot use it.
    NoneInKernel,
    /// The host controller cannot use it.
    NoneInHost,
    /// It could be used and is not.
    SwitchedOff,
    /// It cannot be told.
    Unknown,
}

/// How much of a card's command queue and of its cache is at work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueState {
    /// Of the queue.
    pub queue: FeatureUse,
    /// Of the cache.
    pub cache: FeatureUse,
}

/// What queue and cache mean for a class that needs both.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QueueAndCache {
    /// Both are in use: a miss is a miss.
    InUse,
    /// The card lacks one: a miss is the card's own.
    MissingInCard(QueueState),
    /// The host does not use both: a miss may be the host's.
    NotUsed(QueueState),
    /// It cannot be told.
    Unknown(QueueState),
}

/// Why A2 cannot be tested on this host, where `device` tells that its card's command queue or
/// cache lies idle there.
#[must_use]
pub fn idle_queue_or_cache(device: &DeviceInfo) -> Option<QueueState> {
    match QueueAndCache::of_device(device) {
        QueueAndCache::NotUsed(state) => Some(state),
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
        let of = |feature: Option<&Feature>| feature.map_or(FeatureUse::Unknown, use_of);
        let queue = of(card.map(|card| &card.command_queue));
        let cache = of(card.map(|card| &card.cache));
        let state = QueueState { queue, cache };
        let either = |wanted: &[FeatureUse]| wanted.contains(&queue) || wanted.contains(&cache);
        if either(&[FeatureUse::NoneInCard]) {
            Self::MissingInCard(state)
        } else if either(&[
            FeatureUse::NoneInKernel,
            FeatureUse::NoneInHost,
            FeatureUse::SwitchedOff,
        ]) {
            Self::NotUsed(state)
        } else if either(&[FeatureUse::Unknown]) {
            Self::Unknown(state)
        } else {
            Self::InUse
        }
    }
}

fn use_of(feature: &Feature) -> FeatureUse {
    match feature {
        Feature { enabled: Some(true), .. } => FeatureUse::Working,
        Feature { card: Some(false), .. } => FeatureUse::NoneInCard,
        Feature { kernel: Some(false), .. } => FeatureUse::NoneInKernel,
        Feature { host: Some(false), .. } => FeatureUse::NoneInHost,
        Feature { enabled: Some(false), .. } => FeatureUse::SwitchedOff,
        Feature { enabled: None, .. } => FeatureUse::Unknown,
    }
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
            (feature(None, None, yes), FeatureUse::Working),
            (feature(no, None, no), FeatureUse::NoneInCard),
            (feature(yes, no, no), FeatureUse::NoneInKernel),
            (feature(yes, yes, no), FeatureUse::SwitchedOff),
            (feature(yes, yes, None), FeatureUse::Unknown),
            (Feature { host: no, ..feature(yes, yes, None) }, FeatureUse::NoneInHost),
            (Feature::default(), FeatureUse::Unknown),
        ];
        for (feature, expected) in cases {
            assert_eq!(use_of(&feature), expected, "{feature:?}");
        }
    }
}
