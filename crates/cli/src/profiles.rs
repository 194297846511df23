//! `cardproof profiles`: which profiles there are, what each runs and where it comes from.

use std::fmt::Write;

use cardproof_io::{Caching, FileState};
use cardproof_jobs::{self as jobs, Job};
use cardproof_report::CatalogueEntry;
use cardproof_session::sqlite;
use cardproof_units::{Seed, Throughput};
use cardproof_workload::{Access, FigureSpec, PhaseSpec, Profile, Role, TimeLimit, names};

use crate::args::ProfilesArgs;
use crate::catalogue;
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::profile_choice::{canonical, named};
use crate::talk;

/// Lists the profiles or explains one of them.
pub(crate) fn run(args: &ProfilesArgs) -> Result<Exit, Failure> {
    if let Some(sink) = &args.json {
        catalogue::write(sink, &entries()?)?;
    }
    if args.quiet || args.json == Some(Sink::Stdout) {
        return Ok(Exit::Done);
    }
    let text = match &args.name {
        None => list()?,
        Some(name) => explained(name)?,
    };
    output::write(&Sink::Stdout, &talk::paged(&text))?;
    Ok(Exit::Done)
}

fn entry(name: &str, purpose: String) -> CatalogueEntry {
    CatalogueEntry { name: name.to_owned(), purpose, ..CatalogueEntry::default() }
}

fn entries() -> Result<Vec<CatalogueEntry>, Failure> {
    let profiles = names().into_iter().map(|name| Ok(entry(name, named(name)?.purpose)));
    let jobs = jobs::names()
        .into_iter()
        .filter_map(jobs::find)
        .map(|job| Ok(entry(job.name, format!("{}: {}", job.purpose, job.deed))));
    let databases = entry(sqlite::NAME, sqlite::PURPOSE.to_owned());
    profiles.chain(jobs).chain([Ok(databases)]).collect()
}

/// Each profile with what it is for.
fn list() -> Result<String, Failure> {
    let mut text = String::new();
    for CatalogueEntry { name, purpose, .. } in entries()? {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name:<23}  {purpose}");
    }
    text.push_str(
        "\nRun one: cardproof run --profile NAME\nDetails: cardproof profiles NAME\nJobs and databases need a \
         directory; a simulated card has no file system.\n",
    );
    Ok(text)
}

/// All that is known of the profile called `name`.
fn explained(name: &str) -> Result<String, Failure> {
    let name = canonical(name);
    let mut text = String::new();
    match jobs::find(name) {
        Some(job) => explain_job(&mut text, &job),
        None if name == sqlite::NAME => text.push_str(&sqlite::explained()),
        None => explain(&mut text, &named(name)?),
    }
    Ok(text)
}

fn explain(text: &mut String, profile: &Profile) {
    let Profile { name, version, purpose, source, span, time_budget, phases, .. } = profile;
    let written = profile
        .bytes_written_max()
        .map_or_else(String::new, |most| format!(", writes at most {most}"));
    // Writing to a string does not fail.
    let _ = writeln!(text, "{name} (version {version})\n  For: {purpose}\n  From: {source}");
    let time = if profile.is_bounded_by_time() {
        format!("in at most {}", time_budget.in_whole_seconds())
    } else {
        "without a time limit".to_owned()
    };
    let _ = writeln!(text, "  Over {span}, {time}{written}\n");
    let shares = phases.iter().filter_map(share).sum();
    for phase in phases {
        let _ = writeln!(text, "  {:<27}  {}", phase.name, describe(phase, shares));
    }
    explain_figures(text, profile);
}

/// What a job does, counted for some seed: others differ by little.
fn explain_job(text: &mut String, job: &Job) {
    let totals = job.totals(Seed::default());
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "{} (version {})\n  For: {}\n  From: {}\n  The job: {} ({} files of {} in all). Writes about {} \
         with {} syncs. No time limit.\n",
        job.name,
        job.version,
        job.purpose,
        job.source,
        job.deed,
        totals.files,
        totals.space_peak,
        totals.bytes_written_in_all,
        totals.syncs,
    );
    for step in job.steps {
        let _ = writeln!(text, "  {:<27}  {}", step.name, step.what);
    }
    if !job.notes.is_empty() {
        let _ = writeln!(text, "\n  Notes:");
    }
    for note in job.notes {
        let _ = writeln!(text, "  - {note}");
    }
    let _ = writeln!(text);
}

/// What is made of the phases, and what is to be known of it.
fn explain_figures(text: &mut String, profile: &Profile) {
    if !profile.figures.is_empty() {
        let _ = writeln!(text, "\n  Figures, in the tools' own units:");
    }
    for FigureSpec { name, tool, unit, .. } in &profile.figures {
        let size = unit.bytes_per_s.map_or_else(String::new, |bytes| format!(" of {bytes} bytes"));
        let _ = writeln!(text, "  {name} ({tool}), {}{size}", unit.name);
    }
    if !profile.notes.is_empty() {
        let _ = writeln!(text, "\n  Notes:");
    }
    for note in &profile.notes {
        let _ = writeln!(text, "  - {note}");
    }
}

/// The phase's share of the time, in proportion to those of the others.
fn share(phase: &PhaseSpec) -> Option<u32> {
    match phase.ends.time {
        TimeLimit::Share(share) => Some(share),
        TimeLimit::Fixed(_) | TimeLimit::None => None,
    }
}

/// What `phase` does, of phases whose shares of the time are `shares` together.
fn describe(phase: &PhaseSpec, shares: u32) -> String {
    let order = match phase.access {
        Access::Sequential => "sequential",
        Access::Random(_) => "random",
    };
    let operation = match phase.read_percent {
        100 => "reads".to_owned(),
        0 => "writes".to_owned(),
        percent => format!("mix, {percent} % reads"),
    };
    let extra = match (phase.role, phase.fsync_every) {
        (Role::LayOut, _) => ", writes the test file",
        (Role::MeasureAndVerify, _) => ", compares all data that it reads",
        (Role::Measure, Some(1)) => ", fsync after each",
        (Role::Measure, Some(_)) => ", fsync after some",
        (Role::Measure, None) => "",
    };
    let span = phase.span.map_or_else(String::new, |span| format!(" over {span}"));
    let way = match phase.arrangement.caching {
        Caching::Bypassed => "",
        Caching::Through { .. } => ", through the page cache",
    };
    let file = match phase.arrangement.file {
        FileState::AsIs => "",
        FileState::Growing => ", on a new file",
        FileState::Reserved(_) => ", on a new file whose space is reserved",
    };
    let end = if phase.flush_at_end { ", flush at the end" } else { "" };
    let time = match phase.ends.time {
        TimeLimit::Share(share) => format!(", {} % of the time", 100 * share / shares.max(1)),
        TimeLimit::Fixed(time) => format!(", {time}"),
        TimeLimit::None => String::new(),
    };
    let decision = match phase.ends.decision {
        Some(decision) if phase.access == Access::Sequential => {
            let limit = Throughput(decision.limit.0 * phase.block_size.as_f64());
            format!(", ends early if the rate is certainly below {limit}")
        }
        Some(decision) => format!(", until {} is decided", decision.limit),
        None => String::new(),
    };
    let (block_size, depth) = (phase.block_size, phase.queue_depth);
    format!(
        "{order} {operation} of {block_size}{span}, depth {depth}{file}{way}{extra}{end}{time}\
         {decision}"
    )
}
