//! The steps of every session, in their order: open the target, draft the record, announce, save,
//! watch, run, count the cost, clean up, save.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_io::Usage;
use cardproof_record::{Conditions, ProfileInfo, Record, RunCost, State, Tool};
use cardproof_units::Seed;

use crate::announcement::Prepared;
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::file::is_plain;
use crate::frontend::{Event, Frontend};
use crate::monitor::SystemMonitor;
use crate::options::{Identity, Options};
use crate::place::Place;
use crate::recorder::Recorder;
use crate::store::Store;

/// When a simulated run begins: at the start of its own clock.
const SIMULATED_START: &str = "1970-01-01T00:00:00Z";

/// What an experiment works with while it runs.
pub struct Bench<'a, P> {
    /// On what it works.
    pub place: P,
    /// The record, to which it adds.
    pub record: Record,
    /// All addresses and data follow from it.
    pub seed: Seed,
    /// True once the user would have it end.
    pub stop: &'a AtomicBool,
    /// Saves the record and hands on what happens.
    pub recorder: Recorder<'a>,
}

impl<P> Bench<'_, P> {
    /// Saves the record as it stands.
    pub fn checkpoint(&mut self) {
        self.recorder.save(&self.record);
    }

    /// Whether the user would have it end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What came of a session.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The record, saved unless [`unsaved`](Self::unsaved) says why not.
    pub record: Record,
    /// Where it is kept; `None` where it was clear from the start that it cannot be kept, and the user
    /// has heard why.
    pub store: Option<Store>,
    /// Why the record could not be saved as it is; an earlier state of it may be in the store.
    pub unsaved: Option<Failure>,
}

/// Holds a session: measures `experiment` as `options` ask.
///
/// `frontend` hears of every step and answers questions. The session ends soon after `stop` turns
/// true, and what was measured until then is kept.
///
/// # Errors
/// Nothing was measured: the target cannot be used, records cannot be kept, or the experiment
/// cannot be done there. A failure while measuring is no error; it is in the record.
pub fn measure<E: Experiment>(
    mut experiment: E,
    options: &Options,
    frontend: &mut dyn Frontend,
    stop: &AtomicBool,
) -> Result<Measured, Failure> {
    let mut place = E::Place::open(&experiment.needs(options.seed), options, frontend)?;
    let store = open_store(options, frontend)?;
    let mut draft = draft(&place, options);
    let prepared = experiment.prepare(&mut place, &mut draft, frontend)?;
    name_if_simulated(&mut draft, &place, &prepared);
    announce(&place, &draft, &prepared, options, frontend);
    // The same simulated run may be kept already. Only another that reaches its end takes its place.
    let is_kept = store.as_ref().is_some_and(|store| store.holds_whole(&draft.id));
    let growing = store.as_ref().filter(|_| !is_kept);
    let mut recorder = recorder(&place, &draft, growing, frontend);
    // A killed session is found as a record that did not end.
    recorder.save(&draft);
    let cost_before = place.cost();
    let mut bench = Bench { place, record: draft, seed: options.seed, stop, recorder };
    experiment.run(&mut bench);
    let Bench { mut place, mut record, recorder, .. } = bench;
    let Recorder { frontend, monitor, .. } = recorder;
    drop(monitor);
    frontend.tell(Event::Ended);
    add_cost(&mut record.monitor, cost_before, place.cost());
    if let Some(left) = place.close() {
        frontend.note(&left);
    }
    let last = store.as_ref().filter(|_| !is_kept || record.state == State::Complete);
    let saved = last.map(|store| store.save(&record));
    if let Some(Ok(())) = saved {
        frontend.tell(Event::Saved(&record));
    }
    let unsaved = saved.and_then(Result::err);
    Ok(Measured { record, store, unsaved })
}

/// Where the record is kept; `None` where it cannot be and need not be.
pub(crate) fn open_store(
    options: &Options,
    frontend: &mut dyn Frontend,
) -> Result<Option<Store>, Failure> {
    match options.records.clone().and_then(|directory| Store::open(&directory)) {
        Ok(store) => Ok(Some(store)),
        Err(failure) if options.does_without_record => {
            frontend.tell(Event::Unkept(&failure));
            Ok(None)
        }
        Err(failure) => Err(failure),
    }
}

/// Everything of the record that is known before the experiment says what it does.
fn draft(place: &impl Place, options: &Options) -> Record {
    let surroundings = place.surroundings().clone();
    let conditions = Conditions {
        target: place.target_info(),
        device: surroundings.device,
        host: surroundings.host,
        filesystem: surroundings.filesystem,
        settings: surroundings.settings,
        unknown: surroundings.unknown,
        extra: Default::default(),
    };
    blank(ProfileInfo::untimed("", 1), options.seed, conditions, options.identity.clone())
}

/// A record in which nothing was run yet.
#[must_use]
pub fn blank(
    profile: ProfileInfo,
    seed: Seed,
    conditions: Conditions,
    identity: Identity,
) -> Record {
    let Identity { id, label, created } = identity;
    let version = env!("CARGO_PKG_VERSION").to_owned();
    let tool = Tool { name: "cardproof".to_owned(), version };
    Record { label, seed, conditions, ..Record::begun(id, created, tool, profile) }
}

/// A simulated run begins at the start of its own clock and is called after all that decides its
/// result, so that the same run gives the same record to the last byte, and no other run its place.
fn name_if_simulated(draft: &mut Record, place: &impl Place, prepared: &Prepared) {
    if let Some(card) = place.simulated_card() {
        let name: String = prepared.name.chars().filter(is_plain).take(80).collect();
        let model = place.simulated_model().unwrap_or_default();
        // All of the name is in its end, by which a record is found as well.
        let decided = format!(
            "{} {card} {model} {name} {} {}",
            draft.tool.version, draft.seed, prepared.decided_by
        );
        let digest = digest(decided.as_bytes()) as u32;
        draft.id = format!("sim-{card}-{name}-{}-{digest:08x}", draft.seed);
        draft.created = SIMULATED_START.to_owned();
    }
}

/// A number that other bytes hardly share, the same on every machine (FNV-1a of 64 bits, by Fowler, Noll
/// and Vo).
pub fn digest(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Says what is measured and what will be written before the first write.
fn announce(
    place: &impl Place,
    draft: &Record,
    prepared: &Prepared,
    options: &Options,
    frontend: &mut dyn Frontend,
) {
    let effect = place.announcement(&prepared.effect);
    let on_time = draft.conditions.target.kind.note_on_time();
    let notes = prepared.notes.iter().cloned();
    let announcement: Vec<String> = effect.into_iter().chain(notes).chain(on_time).collect();
    let target: &PathBuf = &options.target;
    let announcement = &announcement;
    frontend.tell(Event::Ready { target, draft, prepared, announcement });
}

fn recorder<'a>(
    place: &impl Place,
    draft: &Record,
    store: Option<&'a Store>,
    frontend: &'a mut dyn Frontend,
) -> Recorder<'a> {
    let device = draft.conditions.device.name.as_deref();
    let is_simulated = place.simulated_card().is_some();
    let monitor = if is_simulated { None } else { SystemMonitor::start(device) };
    let filesystem = draft.conditions.filesystem.as_ref().map(|known| known.kind.clone());
    Recorder { frontend, store, monitor, filesystem, unsaved: None }
}

/// Adds what the session has cost between `before` and `now`; nothing of a simulated one.
fn add_cost(monitor: &mut RunCost, before: Option<Usage>, now: Option<Usage>) {
    let (Some(before), Some(now)) = (before, now) else { return };
    monitor.cpu_user_ns = Some(now.cpu_user.saturating_sub(before.cpu_user));
    monitor.cpu_system_ns = Some(now.cpu_system.saturating_sub(before.cpu_system));
    monitor.memory_peak_bytes = Some(now.memory_peak);
}
