//! One measuring session: from opening the target to the saved record.
//!
//! Every measuring command takes the same steps; [`measure`] is the only copy of them. An
//! [`Experiment`] says what it needs, measures, and adds to the record. A [`Frontend`] hears what
//! happens and answers questions; it may be a terminal, a web page or a service.
//!
//! This crate knows no terminal, no command line and no exit status. The time of day, the seed and
//! the record's name come in as arguments. It judges nothing.

mod announcement;
mod asking;
mod capacity;
mod destination;
mod endure;
mod experiment;
mod failure;
mod file;
mod frontend;
mod geometry;
mod integrity;
mod jobs;
mod keyed_hash;
pub mod known_cards;
mod ledger_files;
pub mod leftovers;
mod monitor;
mod options;
mod owner;
mod paths;
mod phases;
mod place;
mod powercut;
mod recorder;
mod replay;
mod session;
mod setups;
pub mod sqlite;
mod store;
pub mod submissions;
mod target;
mod tracing;
mod tuning;
mod whole_device;

pub use announcement::{Effect, Prepared, Writes};
pub use asking::{AskingLeave, CardAnswer, NoDriveReport, Unanswered, ask_card, ask_drive};
pub use capacity::{
    CapacityCheck, CapacityMode, FilesWish, FreeSpaceCheck, Journals, has_test_files, test_files,
};
pub use destination::{Unwritable, check_output, note_descriptors};
pub use endure::{CardOnBus, Endurance, EndureOptions, SharedBuses};
pub use experiment::Experiment;
pub use failure::{Failure, FailureKind};
pub use file::{
    BLOCK_DEVICE, is_block_device, let_everybody_read, open_regular, replace, replace_all,
};
pub use frontend::{Event, Frontend, Question, Silent};
pub use geometry::GeometryProbe;
pub use integrity::{IntegrityCheck, IntegrityWish};
pub use jobs::JobOnFiles;
pub use keyed_hash::keyed_hash;
pub use ledger_files::{LedgerFiles, LockedLedger};
pub use monitor::SystemMonitor;
pub use options::{Access, Identity, Options};
pub use owner::{make_directories, make_private_directories};
pub use paths::directory_of;
pub use phases::Phases;
pub use place::Place;
pub use powercut::apps::{AppWriting, write_app_until_cut};
pub use powercut::real::{
    CutCheck, CutChecked, CutWriting, check_after_cut, of_witness, write_until_cut,
};
pub use powercut::{CutMode, PowerCuts, cut_harm};
pub use recorder::Recorder;
pub use replay::{LogWish, TraceReplay};
pub use session::{Bench, Measured, blank, digest, measure};
pub use setups::{Choice, Setups, SetupsNeeds, SetupsPlace, Task};
pub use store::{LATEST, Store, has_form_of_id};
pub use target::{
    Existing, FilesNeeds, FreeSpace, NoStorage, OpenedTree, Reserved, Span, Storage, StorageNeeds,
    Writing, has_holes, not_there, of_scratch, open_storage, open_tree, refuse_link,
    simulated_card, simulated_name, tell_of_leftovers,
};
pub use tracing::{Recording, traced_disk};
pub use tuning::{
    ChangedSetting, GainWish, LaidOut, SetUp, Starts, change_setting, has_swap, is_on_whole_disk,
    logical_block_of, make_partition, mount_point_of, mounted_on, partitions_of, refuse_no_image,
    restore_settings,
};
pub use whole_device::refuse_partition;
