//! From the settings of fio jobs to phases that do the same.
//!
//! Jobs that name the same file, or none and have the same name, share it. As in fio, a file is
//! laid out when its first job reads, and its space is reserved when that job only writes.

use cardproof_io::{Arrangement, Caching, FileState};
use cardproof_units::{Bytes, Nanos};

use super::options::{Allocation, Settings};
use super::{FileJob, JobError};
use crate::bounds;
use crate::{
    Access, Aggregate, Ends, FigureSpec, Origin, PhaseSpec, Profile, Quantity, Repetition, Role,
    TimeLimit, Unit,
};

/// fio's default block size.
const BLOCK: Bytes = Bytes::kib(4);

/// What the jobs so far have left behind.
#[derive(Default)]
struct File {
    name: String,
    written: Bytes,
}

/// The profile `name` of `jobs`.
pub(super) fn profile(name: &str, jobs: &[(FileJob, Settings)]) -> Result<Profile, JobError> {
    let mut phases = Vec::new();
    let mut figures = Vec::new();
    let mut file = File::default();
    for (at, (job, settings)) in jobs.iter().enumerate() {
        let failed = |what: String| JobError::new(job.line, &job.name, what);
        if at > 0 && !settings.waits {
            return Err(failed(
                "fio would run it beside the one before; add stonewall to run one after the other"
                    .to_owned(),
            ));
        }
        if jobs[..at].iter().any(|(before, _)| before.name == job.name) {
            return Err(failed("another job has the same name".to_owned()));
        }
        bounds::check_count(phases.len(), settings.loops.unwrap_or(1)).map_err(failed)?;
        let of_job = of_job(job, settings, &mut file);
        for phase in &of_job {
            let span = phase.span.unwrap_or_default();
            phase.blocks_in(span).map_err(|error| failed(error.to_string()))?;
            bounds::check_phase(phase).map_err(failed)?;
        }
        let measuring = of_job.iter().filter(|phase| phase.role == Role::Measure);
        let names: Vec<String> = measuring.map(|phase| phase.name.clone()).collect();
        figures.extend(figures_of(job, settings, &names));
        phases.extend(of_job);
    }
    let runtimes = jobs.iter().filter_map(|(_, settings)| settings.runtime);
    let time = runtimes.fold(Nanos::ZERO, Nanos::saturating_add);
    Ok(Profile {
        name: name.to_owned(),
        version: 1,
        purpose: "what a fio job file does".to_owned(),
        source: "a fio job file of the user's".to_owned(),
        span: phases.iter().filter_map(|phase| phase.span).max().unwrap_or_default(),
        time_budget: time.max(Nanos::from_secs(60)),
        phases,
        figures,
        early_ends: Vec::new(),
        notes: Vec::new(),
    })
}

/// The phases of one job: the laying out that it needs, then its loops.
fn of_job(job: &FileJob, settings: &Settings, file: &mut File) -> Vec<PhaseSpec> {
    let size = settings.size.unwrap_or_default();
    let name = settings.file.as_ref().unwrap_or(&job.name);
    let is_fresh = file.name != *name;
    if is_fresh {
        *file = File { name: name.clone(), written: Bytes::ZERO };
    }
    let measure = phase(job, settings, size);
    let mut phases = Vec::new();
    let needs_file = measure.reads() || settings.allocation == Allocation::LaidOut;
    let mut state = FileState::AsIs;
    if needs_file && file.written < size {
        phases.push(lay_out(&format!("{}-lay-out", job.name), size));
        file.written = size;
    } else if is_fresh {
        state = match settings.allocation {
            Allocation::None => FileState::Growing,
            Allocation::Reserved | Allocation::LaidOut => FileState::Reserved(size),
        };
    }
    let covers = settings.runtime.is_none() && settings.ops.is_none() && !settings.repeats;
    if covers && measure.read_percent == 0 && settings.bytes() >= Some(size) {
        file.written = file.written.max(size);
    }
    let loops = settings.loops.unwrap_or(1);
    phases.extend((1..=loops).map(|round| PhaseSpec {
        name: loop_name(&job.name, round, loops),
        arrangement: Arrangement {
            file: if round == 1 { state } else { FileState::AsIs },
            ..measure.arrangement
        },
        ..measure.clone()
    }));
    phases
}

fn loop_name(job: &str, round: u32, loops: u32) -> String {
    if loops == 1 { job.to_owned() } else { format!("{job}-loop-{round}") }
}

/// One loop of a job on the file as it is.
fn phase(job: &FileJob, settings: &Settings, size: Bytes) -> PhaseSpec {
    let access = match (settings.is_random, settings.repeats) {
        (false, _) => Access::Sequential,
        (true, true) => Access::Random(Repetition::Allowed),
        (true, false) => Access::Random(Repetition::EachBlockOnce),
    };
    let caching = if settings.direct {
        Caching::Bypassed
    } else {
        Caching::Through { random: settings.is_random }
    };
    PhaseSpec {
        name: job.name.clone(),
        role: Role::Measure,
        access,
        span: Some(size),
        arrangement: Arrangement { caching, file: FileState::AsIs, calls: settings.calls() },
        read_percent: settings.reads(),
        block_size: settings.block_size.unwrap_or(BLOCK),
        alignment_offset: Bytes::ZERO,
        queue_depth: settings.queue_depth(),
        fsync_every: settings.fsync_every,
        // With an fsync after every write, the last one has its own too.
        flush_at_end: settings.end_fsync || settings.fsync_every == Some(1),
        rate_limit: settings.rate_limit,
        ends: Ends {
            time: settings.runtime.map_or(TimeLimit::None, TimeLimit::Fixed),
            bytes: settings.bytes(),
            ops: settings.ops,
            precision: None,
            decision: None,
        },
    }
}

/// The laying out of a file that a job reads.
fn lay_out(name: &str, size: Bytes) -> PhaseSpec {
    let block_size = Bytes::mib(1).min(size);
    PhaseSpec {
        name: name.to_owned(),
        role: Role::LayOut,
        access: Access::Sequential,
        span: Some(size),
        arrangement: Arrangement { file: FileState::Reserved(size), ..Arrangement::default() },
        read_percent: 0,
        block_size,
        alignment_offset: Bytes::ZERO,
        queue_depth: 2,
        fsync_every: None,
        flush_at_end: true,
        rate_limit: None,
        ends: Ends {
            time: TimeLimit::None,
            bytes: Some(size),
            ops: None,
            precision: None,
            decision: None,
        },
    }
}

/// fio's rates of a job: bandwidth in KiB/s and operations a second, for each direction.
fn figures_of(job: &FileJob, settings: &Settings, phases: &[String]) -> Vec<FigureSpec> {
    let directions = match settings.reads() {
        100 => vec![("", Quantity::Bytes, Quantity::Operations)],
        0 => vec![("", Quantity::Bytes, Quantity::Operations)],
        _ => vec![
            (" read", Quantity::BytesRead, Quantity::Reads),
            (" write", Quantity::BytesWritten, Quantity::Writes),
        ],
    };
    let figure = |name: String, unit, quantity| FigureSpec {
        name,
        tool: "fio".to_owned(),
        unit,
        origin: Origin::Phases { phases: phases.to_vec(), quantity, aggregate: Aggregate::Mean },
    };
    let of_direction = |(word, bytes, operations): (&str, Quantity, Quantity)| {
        let job = &job.name;
        [
            figure(format!("{job}{word} BW"), Unit::of_bytes("KiB/s", 1024.0), bytes),
            figure(format!("{job}{word} IOPS"), Unit::plain("IOPS"), operations),
        ]
    };
    directions.into_iter().flat_map(of_direction).collect()
}
