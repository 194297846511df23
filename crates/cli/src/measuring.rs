//! What every measuring command does around its session: check the arguments, hold the session,
//! show and keep what came of it, and find the exit status.

use std::path::{Path, PathBuf};

use cardproof_record::{PhaseState, Record, State};
use cardproof_session::{Experiment, Identity, Options, Store, simulated_name};
use cardproof_units::{Bytes, Seed, shell_path};

use crate::args::{AccessArgs, OutputArgs};
use crate::exit::{Exit, Failure};
use crate::others;
use crate::result::{self, Requirement};
use crate::saved;
use crate::signals::Signals;
use crate::talk::Talk;
use crate::terminal::Terminal;

/// The part of a measuring command's line that is the same for all of them.
pub(crate) struct Request<'a> {
    pub(crate) target: &'a Path,
    /// What the user calls what is measured.
    pub(crate) label: Option<&'a String>,
    pub(crate) size: Option<Bytes>,
    /// Random where it is absent.
    pub(crate) seed: Option<Seed>,
    pub(crate) access: &'a AccessArgs,
    /// The device that a directory must be on.
    pub(crate) expect_device: Option<&'a PathBuf>,
    /// Classes that must be met.
    pub(crate) require: &'a [String],
    pub(crate) output: &'a OutputArgs,
    pub(crate) quiet: bool,
}

/// Measures `experiment` as `request` asks, shows the record and keeps it.
pub(crate) fn measure(
    experiment: impl Experiment,
    request: &Request<'_>,
    signals: &Signals,
) -> Result<Exit, Failure> {
    let talk = Talk::new(request.quiet);
    let requirements = Requirement::parse_all(request.require)?;
    result::check_outputs(request.output)?;
    let options = options(request)?;
    let mut terminal = Terminal::new(talk);
    if simulated_name(request.target).is_none() {
        others::tell(talk);
    }
    let measured = cardproof_session::measure(experiment, &options, &mut terminal, signals.stop())?;
    let record = &measured.record;
    if let Some(failure) = measured.unsaved {
        // What was measured is not lost with the record.
        result::show(record, &cardproof_rating::judge(record), request.output, talk)?;
        return Err(failure.into());
    }
    match &measured.store {
        Some(store) => result::publish(record, store, request.output, talk)?,
        None => result::show(record, &cardproof_rating::judge(record), request.output, talk)?,
    }
    if cardproof_rating::words::data::alarm(record).is_some() {
        talk.note(&format!(
            "Find out whether it is a fake or damaged: cardproof verify {}",
            shell_path(request.target)
        ));
    }
    saved::warn_of_label(record, talk);
    let exit = exit_of(record, signals, &requirements);
    if matches!(exit, Exit::NotMet) {
        let unmet = Requirement::unmet(&requirements, record, false).join(", ");
        talk.note(&format!("Required, but not passed: {unmet}."));
    }
    Ok(exit)
}

/// The session's options that `request` asks for.
pub(crate) fn options(request: &Request<'_>) -> Result<Options, Failure> {
    let seed = seed_or_drawn(request.seed)?;
    Ok(Options {
        target: request.target.to_owned(),
        size: request.size,
        seed,
        access: request.access.into(),
        expect_device: request.expect_device.cloned(),
        identity: fresh_identity(request.label.cloned())?,
        records: Store::of_user(),
        // The result is shown; a quiet run without an output would leave nothing of it.
        does_without_record: request.output.is_any() || !request.quiet,
    })
}

/// A name that no other record has, and the hour.
pub(crate) fn fresh_identity(label: Option<String>) -> Result<Identity, Failure> {
    let now = jiff::Timestamp::now();
    Ok(Identity {
        id: format!("{}-{:08x}", now.strftime("%Y%m%dT%H%M%SZ"), random_bits()? as u32),
        label,
        created: now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    })
}

/// 64 bits from the kernel's random source.
pub(crate) fn random_bits() -> Result<u64, Failure> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())
        .map_err(std::io::Error::from)
        .map_err(Failure::because("the kernel returned no random numbers"))?;
    Ok(u64::from_ne_bytes(bytes))
}

/// The seed that the user gives, else one that is drawn.
pub(crate) fn seed_or_drawn(given: Option<Seed>) -> Result<Seed, Failure> {
    given.map_or_else(|| Ok(Seed::from_bits(random_bits()?)), Ok)
}

/// 128 bits from there, in hex: a key that nobody guesses.
pub(crate) fn random_key() -> Result<String, Failure> {
    Ok(format!("{:016x}{:016x}", random_bits()?, random_bits()?))
}

/// How a session that has a record ends.
fn exit_of(record: &Record, signals: &Signals, requirements: &[Requirement]) -> Exit {
    match (&record.state, signals.exit()) {
        (State::Partial, Some(exit)) => exit,
        (State::Complete, _) if !has_gap(record) => {
            if Requirement::unmet(requirements, record, false).is_empty() {
                Exit::Done
            } else {
                Exit::NotMet
            }
        }
        _ => Exit::Incomplete,
    }
}

/// Whether a phase was not measured that should have been. A read-only target is not written to;
/// that is no failure, nor is a phase that was not needed any more.
fn has_gap(record: &Record) -> bool {
    record.phases.iter().any(|phase| {
        matches!(phase.state, PhaseState::NotMeasured { .. })
            && !phase.was_spared()
            && !(record.conditions.target.read_only && phase.read_percent < 100)
    })
}
