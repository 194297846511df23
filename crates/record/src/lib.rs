//! The record: what was measured, and under which conditions, and nothing that is an opinion.
//!
//! A record is written by one version of cardproof and read by others and by other programs,
//! so its form is versioned and published as a JSON schema, and fields that a reader does not
//! know are kept. Verdicts are derived from a record and attached only on output. A record
//! holds no serial number, host name, user name or path.

mod activity;
mod capacity;
mod capacity_answer;
mod capacity_place;
mod card;
mod conditions;
mod disturbance;
mod endurance;
mod endurance_document;
mod engine_document;
mod estimate;
mod figure;
mod finding;
mod flash_timing;
mod form;
mod geometry_timing;
mod head;
mod health_document;
mod import_document;
mod indication;
mod integrity;
mod iostat;
mod job_run;
mod json_form;
mod limit;
mod log_trial;
mod phase;
mod phase_words;
mod power_cut;
mod ranges;
mod read_origin;
mod reading;
mod repeated;
mod replay;
#[cfg(feature = "schema")]
mod schema;
mod setups;
mod trial;
mod verdict;
mod warning;
mod warning_cause;
mod words;

pub use activity::{
    Activity, Climate, CpuActivity, DeviceActivity, MemoryActivity, Pressure, Requests,
};
pub use capacity::{
    CapacityCover, CapacityElsewhere, CapacityFiles, CapacityMethod, CapacityRegion, CapacityTest,
};
pub use capacity_answer::{
    CapacityAnswer, CapacityBounds, CapacityExclusion, CapacityVerdict, VERIFY_SCHEMA,
};
pub use capacity_place::{CapacityFound, CapacityPlace};
pub use card::{BusInfo, CardInfo, Claims, Feature, QueueSetting, Unknown};
pub use conditions::{
    Conditions, DeviceInfo, FilesystemInfo, HostInfo, SettingsInfo, TargetInfo, TargetKind,
};
pub use disturbance::{Disturbance, DisturbanceFigures, DisturbanceKind};
pub use endurance::{DailyUse, EnduranceCycle, EnduranceFailures, EnduranceRun, StoppedBy};
pub use endurance_document::{
    BudgetVerdict, ENDURE_CARDS_SCHEMA, ENDURE_SCHEMA, EndureCardsDocument, EndureDocument,
    LifeDays, LifeInterval, ModelDocument,
};
pub use engine_document::EngineDocument;
pub use estimate::{Estimate, Latency, Stated};
pub use figure::Figure;
pub use finding::{ErrorCause, Finding, FindingKind, KernelFault};
pub use flash_timing::{
    BlockRates, BoundaryRun, BoundaryTiming, FirstAreaRun, FlashTimings, OpenUnitsRun,
};
pub use form::{CHECK_SCHEMA, ProfileInfo, ReadError, Record, RunCost, SCHEMA, State, Tool};
pub use geometry_timing::{
    CacheRecovery, FrontTimes, ProbeTimings, QuantityFound, QuantityValue, RateFall, SpreadTimes,
    SweepRun, TimeAt, TimesRun,
};
pub use head::RecordHead;
pub use health_document::{
    DaysLeftInterval, HEALTH_SCHEMA, HealthDocument, HealthReading, HealthValue, WearOutlook,
};
pub use import_document::{IMPORT_SCHEMA, ImportDocument};
pub use indication::{Indication, Likelihood};
pub use integrity::{
    CheckedRequests, DiscardHarm, DiscardSpeed, DiscardTest, HarmedPlace, IntegrityTest, QueueTest,
    WrongData, WrongPiece,
};
pub use iostat::{IostatCpu, IostatLog, IostatReport, IostatRow};
pub use job_run::{JobPart, JobPartStep, JobRun, JobStep, JobSyncs, JobTransactions};
pub use limit::{
    ClimateExtremes, Limit, LimitedBy, Moment, MonitorSummary, OwnActivity, PhaseSurroundings,
};
pub use log_trial::{LogTrial, TimeRatio};
pub use phase::{
    Bucket, DataCheck, Direction, EndedBy, Interval, Phase, Undisturbed, Verification,
};
pub use phase_words::{OpName, PatternName, PhaseState};
pub use power_cut::{CutHarm, PowerCutTest};
pub use ranges::RangeError;
pub use read_origin::{OriginDoubt, ReadOrigin};
pub use repeated::{JobTime, LatencyIntervals, Level, PercentileInterval, PhaseRun};
pub use replay::{Replay, ReplayLayout, ReplayedRequests, Waiting};
#[cfg(feature = "schema")]
pub use schema::json_schema;
pub use setups::{
    ComparedSetups, SetupComparison, SetupGround, SetupNotTried, SetupRatio, SetupResult, SetupUse,
};
pub use trial::Trial;
pub use verdict::{LimitedRate, Outcome, Reason, ReasonCode, Verdict};
pub use warning::{Warning, WarningCode};
pub use warning_cause::WarningCause;
pub use words::{EngineName, SyncMode, Transport};
