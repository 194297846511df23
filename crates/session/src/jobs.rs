//! A job on files: what a real program does, done in a directory, and how long it took.
//!
//! Everything happens in a fresh directory of our own. Where there is no room for the whole job, its
//! short form is done.

use cardproof_jobs::{Form, Job, Totals};
use cardproof_record::{EngineName, JobRun, JobTime, PhaseState, ProfileInfo, Record, State};
use cardproof_units::{Bytes, Seed};

use crate::announcement::{Effect, Prepared, Writes};
use crate::experiment::Experiment;
use crate::failure::Failure;
use crate::frontend::{Event, Frontend};
use crate::session::Bench;
use crate::target::{FilesNeeds, OpenedTree};

/// A job on files.
#[derive(Debug)]
pub struct JobOnFiles {
    whole: Job,
    /// What is done, once that is settled.
    chosen: Option<Chosen>,
}

impl JobOnFiles {
    /// The job `whole`, or its short form where there is no room for all of it.
    #[must_use]
    pub const fn new(whole: Job) -> Self {
        Self { whole, chosen: None }
    }
}

/// A job and what it will do.
#[derive(Debug)]
struct Chosen {
    job: Job,
    totals: Totals,
}

impl Chosen {
    fn new(job: Job, seed: Seed) -> Self {
        let totals = job.totals(seed);
        Self { job, totals }
    }

    /// The room that its files need: an eighth more, for what the file system needs itself.
    fn room(&self) -> Bytes {
        let peak = self.totals.space_peak.get();
        Bytes(peak.saturating_add(peak / 8)).max(Bytes::mib(1))
    }
}

impl Experiment for JobOnFiles {
    type Place = OpenedTree;

    fn needs(&mut self, seed: Seed) -> FilesNeeds {
        let room = Chosen::new(self.whole.clone(), seed).room();
        let short = self.whole.shorter().map(|job| Chosen::new(job, seed));
        FilesNeeds { room, room_min: short.map_or(room, |short| short.room()) }
    }

    fn prepare(
        &mut self,
        place: &mut OpenedTree,
        draft: &mut Record,
        frontend: &mut dyn Frontend,
    ) -> Result<Prepared, Failure> {
        let chosen = choose(&self.whole, place.room, draft.seed, frontend);
        let Chosen { job, totals } = &chosen;
        draft.conditions.target.size_bytes = totals.space_peak;
        draft.conditions.target.engine = EngineName::Files;
        draft.profile = ProfileInfo::untimed(job.name, job.version);
        let prepared = prepared(job, totals);
        self.chosen = Some(chosen);
        Ok(prepared)
    }

    fn run(&mut self, bench: &mut Bench<'_, OpenedTree>) {
        let Some(Chosen { job, totals }) = &self.chosen else { return };
        let (watcher, frontend) = bench.recorder.watcher();
        let run = cardproof_runner::run_job(
            &mut bench.place.tree,
            job,
            totals,
            bench.seed,
            &mut |progress| {
                let Some(step) = job.steps.get(progress.step) else { return };
                frontend.tell(Event::Step {
                    name: step.name,
                    deed: step.what,
                    done: progress.ops as f64 / progress.ops_of.max(1) as f64,
                    elapsed: progress.elapsed,
                });
            },
            bench.stop,
            watcher,
        );
        fill(&mut bench.record, run);
    }
}

/// The job `whole`, or its short form where `room` is too little for all of it.
fn choose(whole: &Job, room: Bytes, seed: Seed, frontend: &mut dyn Frontend) -> Chosen {
    let short = whole.shorter();
    let whole = Chosen::new(whole.clone(), seed);
    let Some(short) = short.filter(|_| room < whole.room()) else { return whole };
    frontend.note(&format!(
        "All of {} needs room for {}, and {room} may be taken: doing its short form, {}. --size \
         allows more.",
        whole.job.name,
        whole.room(),
        short.name
    ));
    Chosen::new(short, seed)
}

fn prepared(job: &Job, totals: &Totals) -> Prepared {
    let whole = job.whole().filter(|_| job.form == Form::Short);
    let part = whole.map_or(String::new(), |whole| format!(" (a part of {})", whole.name));
    let deed = format!("The job: {}{part}.", job.deed);
    let notes = job.notes.iter().map(|note| (*note).to_owned());
    Prepared {
        name: job.name.to_owned(),
        decided_by: String::new(),
        effect: Effect {
            writes: Writes::About(totals.bytes_written_in_all),
            span: totals.space_peak,
            files: Some(totals.files),
            ..Effect::default()
        },
        notes: [deed].into_iter().chain(notes).collect(),
    }
}

/// Puts `run` into its record. Only a whole run is a job's time.
fn fill(record: &mut Record, run: JobRun) {
    record.bytes_written = run.bytes_written_in_all;
    record.bytes_read = run.bytes_read;
    record.state = match run.state {
        PhaseState::Measured => State::Complete,
        PhaseState::Partial => State::Partial,
        PhaseState::NotMeasured { .. } => State::Failed,
        PhaseState::Unknown => State::Unknown,
    };
    if run.state == PhaseState::Measured {
        // Published times are of real systems' jobs, and ours are of what they do to the storage.
        let name = format!("job-{}", run.name);
        record.jobs.push(JobTime { name, duration_ns: run.duration_ns });
    }
    record.job_runs.push(run);
}
