//! What a record means: verdicts, plausibility, daily use, advice.
//!
//! Everything here is a pure function of a record, so that old records can be judged again by
//! better rules. This crate measures nothing, reads no file and prints nothing, and it never
//! calls a card certified: it says whether limits were met as measured on one host. What was
//! not measured is named as such, with its cause; it never counts as zero and never as passed.

mod advice;
pub mod answer;
mod bus;
mod capacity;
mod ceilings;
mod claims;
pub mod compare;
pub mod data;
mod defect;
mod defect_kind;
pub mod diagnosis;
pub mod disturbance;
mod doubts;
mod filesystems;
pub mod findings;
mod flushes;
mod geometry;
mod indications;
pub mod integrity;
mod jobs;
mod judge;
pub mod ledger;
pub mod life;
pub mod limits;
mod log_gain;
mod meaning;
mod pauses;
mod pick;
pub mod powercut;
mod precision;
pub mod prediction;
mod published;
mod quantity;
mod queue_and_cache;
mod reason;
mod recording;
mod reference;
mod replayed;
mod ruling;
mod scope;
mod sd_queue;
mod setups;
mod shown;
pub mod signs;
mod slowdown;
mod sound;
mod stated;
mod stretch;
mod transports;
pub mod tuning;
mod wear;
pub mod who;
pub mod words;

pub use advice::speed_tells_no_fake;
pub use capacity::{Capacity, CapacityReason, capacity, capacity_place};
pub use cardproof_facts::{
    CLASSES, CONFIDENCE, Class, Family, PUBLISHED_CARDS, PUBLISHED_SOURCE, PublishedCard,
    RANDOM_QUEUE_DEPTH,
};
pub use defect::{Defect, Found, defect, defect_in};
pub use defect_kind::DefectKind;
pub use disturbance::{disturbances, is_part_disturbed};
pub use doubts::{Doubt, doubts, doubts_of_place, with_doubts};
pub use flushes::{Burst, Flushes, flushes};
pub use geometry::{geometry, quantities};
pub use jobs::whole_job_time;
pub use judge::judge;
pub use log_gain::{LogGain, log_gain};
pub use meaning::{Grade, Purpose};
pub use pauses::{FELT_PAUSE, Pause, Stalls, longest_wait, pauses_in, stalls};
pub use pick::{BoundedRate, Finding, NoFigure, OtherSequential};
pub use powercut::power_cuts;
pub use quantity::{ClassLimit, Quantity, Rate, limits_of, rate_for_verdicts};
pub use queue_and_cache::{FeatureUse, QueueState, idle_queue_or_cache};
pub use recording::is_recording;
pub use reference::{
    EXPRESS_TESTS, ExpressRun, PublishedRates, ReferenceCard, express_runs, find_reference,
    published_rates, references,
};
pub use replayed::{SimulatedReplay, simulated_replays};
pub use shown::{is_told_in_iops, shown_rate, stated_rate};
pub use transports::{has_card_class, may_be_sd_card};
pub use wear::Wear;
pub use words::wording;
pub use words::{
    Meaning, SPEED_TELLS_NO_FAKE, claims, comparison_only, geometry_in_short, geometry_in_words,
    indications, limiting_bus, meaning, next_steps, plausibility, range_too_small, ratio_in_words,
    recording_classes, scope, setup_advice, standing, telling_indications,
};
