//! Follows a run: keeps its state, shows where it is, and lets the other cards have their turn.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use cardproof_probe::endure::{Cycle, Pass, Position, Progress, State, Watch, Wish};
use cardproof_units::{Bytes, Nanos, Throughput, in_words};

use super::buses::CardOnBus;
use super::journal::Journal;
use super::way::Way;
use crate::frontend::Event;
use crate::recorder::Recorder;

/// How often the file of cycles is written, and the screen told, at most.
const CSV_EVERY: Duration = Duration::from_secs(30);
const TELL_EVERY: Duration = Duration::from_millis(200);

/// The heading of the file of cycles.
const CSV_HEADING: &str = "cycle,written_bytes,read_bytes,bad_pages,new_bad_pages,write_errors,\
read_errors,stale_pages,wrong_pages,transient,host_errors,write_bytes_per_s,read_bytes_per_s,\
duration_s\n";

/// The keeper of one card's run.
pub(super) struct Keeper {
    journal: Option<Journal>,
    on_bus: Option<CardOnBus>,
    csv: Option<PathBuf>,
    csv_failure: Option<String>,
    rows: String,
    csv_written: Instant,
    told: Option<Instant>,
    /// The rates of the last whole cycle, for the screen.
    rates: Option<(f64, f64)>,
    /// Whether the run was begun in this session, so that its time and its bytes belong together.
    is_fresh: bool,
    way: Way,
}

/// A keeper while a run is under way.
pub(super) struct Attached<'a, 'r> {
    keeper: &'a mut Keeper,
    recorder: &'a mut Recorder<'r>,
    stop: &'a AtomicBool,
}

impl Keeper {
    pub(super) fn new(
        journal: Option<Journal>,
        on_bus: Option<CardOnBus>,
        csv: Option<PathBuf>,
    ) -> Self {
        Self {
            journal,
            on_bus,
            csv,
            csv_failure: None,
            rows: String::new(),
            csv_written: Instant::now(),
            told: None,
            rates: None,
            is_fresh: true,
            way: Way::default(),
        }
    }

    /// Takes the cycles of earlier sessions over.
    pub(super) fn take_over(&mut self, state: &State, wish: &Wish) {
        self.way = Way::to(wish);
        self.is_fresh = state.position.written_bytes == 0;
        self.rows = state.cycles.iter().map(row).collect();
    }

    pub(super) fn attached<'a, 'r>(
        &'a mut self,
        recorder: &'a mut Recorder<'r>,
        stop: &'a AtomicBool,
    ) -> Attached<'a, 'r> {
        Attached { keeper: self, recorder, stop }
    }

    /// Keeps how the run has ended; a sentence where something could not be kept.
    pub(super) fn close(mut self, state: &State) -> Option<String> {
        self.write_csv();
        let ended = match (&mut self.journal, state.end) {
            (Some(journal), Some(end)) => journal.add_end(end).err().map(|failure| failure.message),
            _ => None,
        };
        ended.or(self.csv_failure)
    }

    fn write_csv(&mut self) {
        let Some(path) = &self.csv else { return };
        let text = format!("{CSV_HEADING}{}", self.rows);
        if let Err(error) = crate::file::replace(path, &text) {
            self.csv_failure = Some(format!(
                "The cycles cannot be written to {}: {error}.",
                path.display(),
                error = in_words(&error)
            ));
        }
        self.csv_written = Instant::now();
    }
}

fn row(cycle: &Cycle) -> String {
    let Cycle { number, written_bytes, read_bytes, bad_pages, tally, .. } = cycle;
    let new_bad: u64 = cycle.new_bad.iter().map(|(_, count)| count).sum();
    format!(
        "{number},{written_bytes},{read_bytes},{bad_pages},{new_bad},{},{},{},{},{},{},{:.0},{:.0},{:.3}\n",
        tally.write_errors,
        tally.read_errors,
        tally.stale_pages,
        tally.wrong_pages,
        tally.transient,
        tally.host_errors,
        cycle.write_rate,
        cycle.read_rate,
        Nanos(cycle.duration_ns).as_secs_f64(),
    )
}

impl Attached<'_, '_> {
    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn show(&mut self, progress: &Progress) {
        let is_due = self.keeper.told.is_none_or(|told| told.elapsed() >= TELL_EVERY);
        if !is_due {
            return;
        }
        self.keeper.told = Some(Instant::now());
        let rate = |rate: f64| Throughput(rate).as_mb_per_s();
        let doing = match progress.pass {
            _ if progress.is_waiting => "waits for the device",
            Pass::Write => "writes",
            Pass::Read => "reads back",
        };
        let rates = match self.keeper.rates {
            Some((write, read)) => {
                format!("; last cycle: write {:.0}, read {:.0} MB/s", rate(write), rate(read))
            }
            // Before the first cycle is over there is only the rate so far.
            None if self.keeper.is_fresh
                && progress.pass == Pass::Write
                && progress.written > Bytes::ZERO =>
            {
                let so_far =
                    Throughput::from_bytes(progress.written, progress.elapsed).unwrap_or_default();
                format!("; write {:.0} MB/s", so_far.as_mb_per_s())
            }
            None => String::new(),
        };
        let of_cycle = (progress.done + f64::from(progress.pass == Pass::Read)) / 2.0;
        let done = self.keeper.way.done(progress.cycle, of_cycle, progress.written);
        let left = self.keeper.way.time_left(done, progress.elapsed);
        let left =
            left.map_or_else(String::new, |left| format!(", {} left", left.in_whole_seconds()));
        let deed = format!(
            "cycle {} {doing} {:.0} %{left}, {:.3} % bad, {} written{rates}",
            progress.cycle,
            progress.done * 100.0,
            progress.bad_share * 100.0,
            progress.written,
        );
        let elapsed = progress.elapsed;
        self.recorder.tell(Event::Step { name: "endure", deed: &deed, done, elapsed });
    }
}

impl Watch for Attached<'_, '_> {
    fn progress(&mut self, progress: &Progress) -> bool {
        self.show(progress);
        if let Some(card) = &self.keeper.on_bus {
            let stop = self.stop;
            card.take_turn(&|| stop.load(Ordering::Relaxed));
        }
        !self.is_stopped()
    }

    fn keep_cycle(&mut self, cycle: &Cycle) -> Result<(), String> {
        if let Some(journal) = &mut self.keeper.journal {
            journal.add_cycle(cycle).map_err(|failure| failure.message)?;
        }
        self.keeper.rates = Some((cycle.write_rate, cycle.read_rate));
        if self.keeper.csv.is_some() {
            self.keeper.rows.push_str(&row(cycle));
            if self.keeper.csv_written.elapsed() >= CSV_EVERY {
                self.keeper.write_csv();
            }
        }
        Ok(())
    }

    fn keep_position(&mut self, position: &Position) -> Result<(), String> {
        match &mut self.keeper.journal {
            Some(journal) => journal.add_position(position).map_err(|failure| failure.message),
            None => Ok(()),
        }
    }

    fn wants_positions(&self) -> bool {
        self.keeper.journal.is_some()
    }

    fn timing_begins(&mut self) {
        if let Some(card) = &self.keeper.on_bus {
            let stop = self.stop;
            card.begin_timing(&|| stop.load(Ordering::Relaxed));
        }
    }

    fn timing_ended(&mut self) {
        if let Some(card) = &self.keeper.on_bus {
            card.end_timing();
        }
    }

    fn fails(&mut self, is_failing: bool) {
        if let Some(card) = &self.keeper.on_bus {
            card.fails(is_failing);
        }
    }

    fn others_fail(&mut self) -> bool {
        self.keeper.on_bus.as_ref().is_some_and(CardOnBus::others_fail)
    }
}
