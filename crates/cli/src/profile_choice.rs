//! Which profile is run: one of ours by name, a file of the user's own, or a
//! fio job file.
//!
//! What ends in `.toml` or `.fio` is a file; everything else is a name.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs;
use std::io;
use std::path::Path;

use cardproof_facts::CONFIDENCE;
use cardproof_jobs as jobs;
use cardproof_session::sqlite;
use cardproof_units::{Bytes, Nanos, in_words};
use cardproof_workload::{Profile, find, job, names, user_profile};

use crate::args::RunArgs;
use crate::exit::Failure;
use crate::input;
use crate::suggestion::did_you_mean;

/// A file larger than this is no profile.
const FILE_SIZE_MAX: u64 = 1 << 20;

/// Less time than this measures nothing.
const TIME_BUDGET_MIN: Nanos = Nanos::from_secs(1);

/// The profile that `args` name, if it can be run as they would have it.
pub(crate) fn profile(args: &RunArgs) -> Result<Profile, Failure> {
    let profile = chosen(&args.profile, args.keep_names)?;
    check_time(args, &profile)?;
    check_size(args, &profile)?;
    check_confidence(args, &profile)?;
    Ok(profile.with_confidence(args.confidence))
}

/// Whether a confidence that was asked for has an effect: some phase must end by a decision at it.
fn check_confidence(args: &RunArgs, profile: &Profile) -> Result<(), Failure> {
    let is_default = (args.confidence - CONFIDENCE).abs() < f64::EPSILON;
    if is_default || profile.phases.iter().any(|phase| phase.ends.decision.is_some()) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--confidence has no effect on the profile {}: none of its phases ends when a class is decided; leave \
         it out, or use --profile a1 or --profile a2",
        profile.name
    )))
}

/// The profile called `name`, or in the file `name`.
pub(crate) fn named(name: &str) -> Result<Profile, Failure> {
    chosen(name, true)
}

/// The same; of a file, the names that its author has chosen are kept, or replaced by plain ones.
fn chosen(name: &str, keeps_names: bool) -> Result<Profile, Failure> {
    let path = Path::new(name);
    let (kind, text) = match path.extension().and_then(OsStr::to_str) {
        Some("fio") => ("fio", text_of(path)?),
        Some("toml") => ("own", text_of(path)?),
        _ => return ours(name),
    };
    let profile = match kind {
        "fio" => job::from_fio(&stem(path), &text).map_err(|error| wrong(path, &error)),
        _ => user_profile::from_toml(&stem(path), &text).map_err(|error| wrong(path, &error)),
    }?;
    Ok(if keeps_names { profile } else { profile.with_plain_names(kind, &text) })
}

/// That the file at `path` is no profile.
fn wrong(path: &Path, error: &dyn Display) -> Failure {
    Failure::usage(format!("{}: {error}", path.display()))
}

/// The text of the file at `path`.
fn text_of(path: &Path) -> Result<String, Failure> {
    let missing = |error: io::Error| {
        let text = format!(
            "{}: {error}; `cardproof profiles` lists all",
            path.display(),
            error = in_words(&error)
        );
        Failure::of_opening(&error, text)
    };
    let metadata = fs::metadata(path).map_err(missing)?;
    if metadata.len() > FILE_SIZE_MAX {
        return Err(wrong(path, &"larger than any profile; is it the right file?"));
    }
    input::read_text(path, Bytes(FILE_SIZE_MAX)).map_err(|error| {
        Failure::of_opening(
            &error,
            format!("{}: {error}", path.display(), error = in_words(&error)),
        )
    })
}

/// The name of the profile: the file's name without its extension. Paths are never recorded.
fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The names of all profiles, jobs among them.
fn all_names() -> Vec<&'static str> {
    names().into_iter().chain(jobs::names()).chain([sqlite::NAME]).collect()
}

/// `name` as the list has it, whatever the case; as it is where the list has none such.
pub(crate) fn canonical(name: &str) -> &str {
    all_names().into_iter().find(|known| known.eq_ignore_ascii_case(name)).unwrap_or(name)
}

/// One of ours.
fn ours(name: &str) -> Result<Profile, Failure> {
    find(canonical(name)).ok_or_else(|| {
        let hint = did_you_mean(name, all_names());
        Failure::usage(format!(
            "there is no profile '{name}'; {hint}`cardproof profiles` lists all"
        ))
    })
}

fn check_time(args: &RunArgs, profile: &Profile) -> Result<(), Failure> {
    let Some(time) = args.time_budget else { return Ok(()) };
    if time < TIME_BUDGET_MIN {
        return Err(Failure::usage(format!(
            "a time of {time} measures nothing; give --time-budget at least {TIME_BUDGET_MIN}"
        )));
    }
    if !profile.is_bounded_by_time() {
        return Err(Failure::usage(format!(
            "the profile {} does a fixed amount of work, however long it takes; leave \
             --time-budget out",
            profile.name
        )));
    }
    Ok(())
}

fn check_size(args: &RunArgs, profile: &Profile) -> Result<(), Failure> {
    if args.size == Some(Bytes::ZERO) {
        return Err(Failure::usage(
            "a size of 0 leaves nothing to measure; give --size a size such as 256M",
        ));
    }
    let span = args.size.unwrap_or(profile.span);
    for phase in &profile.phases {
        phase.blocks_in(phase.span_within(span)).map_err(|error| {
            Failure::usage(format!(
                "--size is too small for the phase {}: {error}; give --size at least {}",
                phase.name,
                phase.block_size.as_argument(),
            ))
        })?;
    }
    Ok(())
}
