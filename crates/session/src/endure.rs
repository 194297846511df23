//! Wears a card out: the cycles of `cardproof_probe` on an open target, with a state that outlives the
//! process, and a record.
//!
//! The state of a run is a journal in the user's data directory. A run goes on where it stood if the
//! device has the same identity and carries the run's own marks. What vanishes is waited for.

mod buses;
mod coming_back;
mod device;
mod journal;
mod keeper;
mod outcome;
mod way;

use std::path::PathBuf;

use cardproof_io::NullTarget;
use cardproof_probe::endure::{End, Marks, Plan, State, Why, Wish, is_met, marks, run};
use cardproof_rating::words::life::cycles;
use cardproof_record::{DailyUse, ProfileInfo, Record, State as RecordState, Trial};
use cardproof_sim::Keeping;
use cardproof_units::{Bytes, Nanos, Seed, with_causes};

use crate::announcement::{Effect, Prepared};
use crate::capacity::SHORTHAND;
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::frontend::Frontend;
use crate::options::Options;
use crate::session::Bench;
use crate::target::{Span, Storage, StorageNeeds, Writing};
pub use buses::{CardOnBus, SharedBuses};
use coming_back::{RealSocket, Return, Socket};
use device::Device;
use journal::Journal;
use keeper::Keeper;

/// What the user asks of a run beside the session's options.
#[derive(Clone, Debug)]
pub struct EndureOptions {
    /// What is written, and how long.
    pub wish: Wish,
    /// Where the states of runs lie; `None` for a simulated card, whose run ends with the process.
    pub states: Option<PathBuf>,
    /// Whether a run that is under way on the card is given up.
    pub restart: bool,
    /// How long a device that vanished is waited for.
    pub patience: Nanos,
    /// A file that gets a line for each cycle.
    pub csv: Option<PathBuf>,
    /// The bytes that the card must bear without an error.
    pub budget: Option<Bytes>,
    /// The daily use for which a life in days is asked for.
    pub daily_use: Option<DailyUse>,
    /// Random bits, so that no two runs on devices have the same marks.
    pub random_bits: u64,
}

/// A run that wears a card out.
pub struct Endurance {
    asked: EndureOptions,
    options: Options,
    on_bus: Option<CardOnBus>,
    ready: Option<Ready>,
}

/// What `prepare` found.
struct Ready {
    plan: Plan,
    state: State,
    journal: Option<Journal>,
    /// Where the device is waited for; `None` for one that cannot come back.
    socket: Option<Box<dyn Socket>>,
}

impl Endurance {
    /// A run as `asked` on the target of `options`; `on_bus` is its place among several cards.
    #[must_use]
    pub const fn new(asked: EndureOptions, options: Options, on_bus: Option<CardOnBus>) -> Self {
        Self { asked, options, on_bus, ready: None }
    }

    fn plan(&self, span: Bytes, seed: Seed) -> Result<Plan, Failure> {
        Plan::new(span, self.asked.wish.clone(), seed)
            .map_err(|error| Failure::usage(error.to_string()))
    }

    /// A run from its beginning.
    fn begin(&self, place: &Storage, draft: &Record) -> Result<Ready, Failure> {
        let plan = self.plan(place.span, draft.seed)?;
        let state = State::new(&plan);
        Ok(Ready { plan, state, journal: None, socket: None })
    }

    /// A run on a device: the one that is under way there, or another.
    fn on_device(
        &self,
        states: &std::path::Path,
        place: &mut Storage,
        draft: &mut Record,
        frontend: &mut dyn Frontend,
    ) -> Result<Ready, Failure> {
        let device = Device::at(&self.options.target)?;
        journal::make_room(states)?;
        for path in journal::of_device(states, &device.key)? {
            if journal::is_in_use(&path) {
                continue;
            }
            if self.asked.restart {
                journal::remove(&path)?;
                continue;
            }
            if let Some(ready) = self.resumed(&path, &device, place)? {
                frontend.note(&going_on(&ready, &self.asked.wish));
                draft.seed = ready.plan_seed();
                return Ok(Ready { socket: Some(self.socket(device)), ..ready });
            }
        }
        let mut ready = self.begin(place, draft)?;
        ready.plan = ready.plan.salted(Seed::from_bits(self.asked.random_bits).derive("marks"));
        let header = journal::Header::new(&device, &ready.plan, &self.asked.wish, draft.seed);
        ready.journal = Some(Journal::create(states, &header)?);
        ready.socket = Some(self.socket(device));
        Ok(ready)
    }

    fn socket(&self, device: Device) -> Box<dyn Socket> {
        let Options { target, access, .. } = &self.options;
        Box::new(RealSocket::new(target, access, device, self.asked.patience))
    }

    /// The run whose state is at `path`, if it was begun on this very card.
    fn resumed(
        &self,
        path: &std::path::Path,
        device: &Device,
        place: &mut Storage,
    ) -> Result<Option<Ready>, Failure> {
        let saved = journal::read(path)?;
        let seed = saved.header.seed;
        let span = Bytes(saved.header.span_bytes);
        let plan = self.plan(place.span, seed)?;
        let plan = saved.header.salt.map_or_else(|| plan.clone(), |salt| plan.clone().salted(salt));
        let state = saved.state(&plan, path)?;
        let found = marks(&mut *place.target, &plan, &state)
            .map_err(|error| Failure::incomplete(with_causes(&error)))?;
        match found {
            Marks::Own => {}
            // It has not got as far as its first piece, on this card or on another.
            Marks::NotExpected => return journal::remove(path).map(|()| None),
            Marks::Unreadable if device.has_serial => {}
            Marks::Foreign if !device.has_serial => return Ok(None),
            Marks::Foreign => return Err(device.other_data()),
            Marks::Unreadable => return Err(device.unreadable()),
        }
        if span.get() != plan.span_bytes()
            || saved.header.wish != journal::wish_text(&self.asked.wish)
        {
            return Err(device.other_wish(&saved.header));
        }
        let journal = saved.continued(path, &state)?;
        let mut state = state;
        state.reopen();
        Ok(Some(Ready { plan, state, journal: Some(journal), socket: None }))
    }
}

impl Ready {
    fn plan_seed(&self) -> Seed {
        self.journal.as_ref().map_or(Seed::from_bits(0), |journal| journal.seed)
    }
}

/// All that decides what a run of `plan` comes to.
fn decided_by(plan: &Plan, wish: &Wish) -> String {
    let (pattern, budget) = (journal::wish_text(wish), wish.bytes_max);
    serde_json::json!([plan.span_bytes(), pattern, wish.cycles_max, budget]).to_string()
}

fn going_on(ready: &Ready, wish: &Wish) -> String {
    let state = &ready.state;
    match state.end {
        Some(end) => format!(
            "The test of this card has ended in cycle {}: {}. Its result follows. To start again, use \
             --restart.",
            state.position.cycle,
            end.words()
        ),
        None if is_met(&ready.plan, state) => {
            let (done, option) = match wish.bytes_max {
                Some(_) => (Bytes(state.position.written_bytes).to_string(), "--budget"),
                None => (cycles(state.cycles.len() as u64), "--cycles"),
            };
            format!(
                "This test is complete ({done}), so nothing is written. To go on, give a larger {option}; to begin \
                 again, use --restart."
            )
        }
        None => format!(
            "The test of this card continues with cycle {}. To start again, use --restart.",
            state.position.cycle
        ),
    }
}

impl Experiment for Endurance {
    type Place = Storage;

    fn needs(&mut self, _seed: Seed) -> StorageNeeds {
        StorageNeeds::new(Span::new(Bytes(u64::MAX)), Writing::Always, Keeping::Short(SHORTHAND))
    }

    fn prepare(
        &mut self,
        place: &mut Storage,
        draft: &mut Record,
        frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        draft.profile = ProfileInfo::untimed("endure", 1);
        let ready = match &self.asked.states {
            Some(states) if place.simulated_card.is_none() => {
                self.on_device(&states.clone(), place, draft, frontend)?
            }
            _ => self.begin(place, draft)?,
        };
        let cycle = Bytes(ready.plan.cycle_bytes());
        if self.asked.wish.bytes_max.is_some_and(|budget| budget < cycle) {
            return Err(Failure::usage(format!(
                "--budget is less than one cycle writes ({cycle}); give more, or a smaller --size"
            )));
        }
        let is_over = ready.state.end.is_some() || is_met(&ready.plan, &ready.state);
        let begins = (!is_over).then(|| announcement(&ready.plan, &self.asked.wish));
        let notes = begins.into_iter().collect();
        let decided_by = decided_by(&ready.plan, &self.asked.wish);
        self.ready = Some(ready);
        let name = format!("endure-{}", self.asked.wish.pattern.name());
        Ok(Prepared { name, decided_by, effect: Effect::default(), notes })
    }

    fn run(&mut self, bench: &mut Bench<'_, Storage>) {
        let Some(ready) = self.ready.take() else { return };
        let Ready { plan, mut state, journal, mut socket } = ready;
        let before = state.position.clone();
        let mut keeper = Keeper::new(journal, self.on_bus.take(), self.asked.csv.clone());
        keeper.take_over(&state, &self.asked.wish);
        let why = loop {
            let Bench { place, recorder, stop, .. } = bench;
            let mut attached = keeper.attached(recorder, stop);
            let why = run(&mut *place.target, &plan, &mut state, &mut attached);
            if why.as_ref().ok() != Some(&Why::Vanished) {
                break why;
            }
            if let Some(why) = self.comes_back(bench, &plan, &mut state, socket.as_deref_mut()) {
                break Ok(why);
            }
        };
        let why = why.unwrap_or_else(|error| {
            bench.recorder.note(&format!("The run has stopped: {}.", with_causes(&error)));
            Why::HostFails
        });
        if why == Why::Vanished {
            state.finish(End::Gone);
        }
        if let Some(sentence) = keeper.close(&state) {
            bench.recorder.note(&sentence);
        }
        let record = &mut bench.record;
        record.bytes_written += Bytes(state.position.written_bytes - before.written_bytes);
        record.bytes_read += Bytes(state.position.read_bytes.saturating_sub(before.read_bytes));
        record.state = match why {
            Why::Ended | Why::WishMet | Why::Vanished => RecordState::Complete,
            Why::Stopped => RecordState::Partial,
            Why::HostFails | Why::OtherCard | Why::Unsaved(_) => RecordState::Failed,
        };
        record.trial = Some(Trial::Endurance(outcome::stored(&plan, &state, &why, &self.asked)));
        if let Why::Unsaved(why) = why {
            bench.recorder.note(&format!("The run has stopped: {why}."));
        }
    }
}

impl Endurance {
    /// Waits for the device that has vanished, and takes it up again where it is the same.
    fn comes_back(
        &self,
        bench: &mut Bench<'_, Storage>,
        plan: &Plan,
        state: &mut State,
        socket: Option<&mut (dyn Socket + 'static)>,
    ) -> Option<Why> {
        let Some(socket) = socket else { return Some(Why::Vanished) };
        let Ok(nothing) = NullTarget::new(Bytes(bench.place.span.get().max(512))) else {
            return Some(Why::Vanished);
        };
        // What is held open keeps its name from the device that comes back.
        bench.place.target = Box::new(nothing);
        let name = self.options.target.display();
        bench.recorder.note(&format!(
            "{name} was disconnected. cardproof waits up to {} for it. Connect it again, or press Ctrl-C: the \
             same command continues the test later.",
            self.asked.patience
        ));
        let (stop, recorder) = (bench.stop, &mut bench.recorder);
        let other_came = || {
            recorder.note(&format!(
                "What is at {name} now is another card, or was written to since; nothing is written to it."
            ));
        };
        match coming_back::wait(socket, plan, state, stop, other_came) {
            Return::Own(target) => {
                bench.place.target = target;
                bench.recorder.note("The device is back; the test continues.");
                state.position.tally.host_errors += 1;
                None
            }
            Return::Other => Some(Why::OtherCard),
            Return::Nothing if bench.is_stopped() => Some(Why::Stopped),
            Return::Nothing => Some(Why::Vanished),
        }
    }
}

fn announcement(plan: &Plan, wish: &Wish) -> String {
    let until = match (wish.cycles_max, wish.bytes_max) {
        (Some(most), _) => format!("after {}", cycles(most)),
        (None, Some(bytes)) => {
            format!("after the cycle in which {} are written", bytes.as_typed())
        }
        (None, None) => "when half of the area is bad, or the card fails".to_owned(),
    };
    let wears = match (wish.cycles_max, wish.bytes_max) {
        (None, None) => "WEARS THE CARD OUT",
        _ => "uses up life of the card",
    };
    format!(
        "This test {wears}. Each cycle writes {} ({}) and reads it back. The test ends {until}.",
        Bytes(plan.cycle_bytes()),
        wish.pattern.name(),
    )
}

#[cfg(test)]
#[path = "endure/swapped_tests.rs"]
mod tests;
