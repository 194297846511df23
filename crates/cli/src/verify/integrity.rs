//! `verify --queue` and `verify --discard`: do a command queue and discards leave data as they are?

use cardproof_rating::integrity::{Outcome, integrity};
use cardproof_rating::wording;
use cardproof_record::{Record, State};
use cardproof_report::integrity_in_words;
use cardproof_session::{IntegrityCheck, IntegrityWish, Options, simulated_name};

use super::VerifyArgs;
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::signals::Signals;
use crate::talk::{self, Talk};
use crate::terminal::Terminal;

/// Whether `args` ask for these tests.
pub(super) const fn is_asked(args: &VerifyArgs) -> bool {
    args.queue || args.discard
}

/// Refuses options of the capacity test, before anything is opened.
pub(super) fn check(args: &VerifyArgs) -> Result<(), Failure> {
    let others = [
        (args.restore.is_some(), "--restore"),
        (args.full, "--full"),
        (args.surface, "--surface"),
        (args.reconnect, "--reconnect"),
        (args.fix, "--fix"),
        (args.keep, "--keep"),
    ];
    if let Some((_, name)) = others.iter().find(|(is_given, _)| *is_given) {
        return Err(Failure::usage(format!(
            "{name} belongs to the capacity test; run that test without --queue and --discard"
        )));
    }
    let is_directory = simulated_name(&args.target).is_none() && args.target.is_dir();
    if args.discard && is_directory {
        return Err(Failure::usage(
            "--discard needs a device: what a file system does with a hole in a file says nothing of the \
             card; name the device with --destroy",
        ));
    }
    if is_directory {
        return super::refuse_options_for_devices(args);
    }
    Ok(())
}

/// Runs the tests, shows what they found and keeps the record.
pub(super) fn run(
    args: &VerifyArgs,
    options: &Options,
    signals: &Signals,
) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet);
    let share = args.exclude_share;
    let check =
        IntegrityCheck::new(IntegrityWish { queue: args.queue, discard: args.discard, share });
    let check = match simulated_name(&args.target) {
        Some(_) => check,
        None => check.with_witness(&args.target),
    };
    let mut terminal = Terminal::new(talk);
    let measured = cardproof_session::measure(check, options, &mut terminal, signals.stop())?;
    let record = &measured.record;
    publish(args, record, talk)?;
    if let Some(failure) = measured.unsaved {
        return Err(failure.into());
    }
    if let Some(store) = &measured.store {
        super::tell_kept(store, record, talk)?;
    }
    if let (State::Partial, Some(exit)) = (&record.state, signals.exit()) {
        return Ok(exit);
    }
    let exit = exit_of(record);
    if exit == Exit::Incomplete && args.quiet {
        tell_untested(record);
    }
    Ok(exit)
}

/// Says what was not tested where a quiet run shows nothing: errors are told in any case.
fn tell_untested(record: &Record) {
    for test in integrity_in_words(record) {
        Talk::new(false).note(&format!("Not tested as asked. {}.", test.headline));
    }
}

/// Harm that was found comes before what could not be tested.
fn exit_of(record: &Record) -> Exit {
    match integrity(record).map(|found| found.outcome()) {
        Some(Outcome::Sound) if record.state == State::Complete => Exit::Done,
        Some(Outcome::Bad) => Exit::NotMet,
        _ => Exit::Incomplete,
    }
}

/// Shows what was found as JSON where that is asked for, and on the terminal unless JSON goes there.
fn publish(args: &VerifyArgs, record: &Record, talk: Talk) -> Result<(), Failure> {
    if let (Some(sink), Some(found)) = (&args.json, integrity(record)) {
        let text = serde_json::to_string_pretty(&found)
            .map_err(Failure::because("the answer cannot be put into JSON"))?;
        output::write(sink, &(text + "\n"))?;
    }
    if args.json == Some(Sink::Stdout) || args.quiet {
        return Ok(());
    }
    let mut text = String::from("\n");
    for test in integrity_in_words(record) {
        text.push_str(&format!("{}.\n", test.headline));
        for line in &test.details {
            text.push_str(&format!("  - {}.\n", wording::sentence(line)));
        }
    }
    for step in cardproof_rating::next_steps(record, &[]) {
        text.push_str(&format!("Next: {step}\n"));
    }
    output::write(&Sink::Stdout, &talk::paged(&text))?;
    talk.note(&format!("Written {}, read {}.", record.bytes_written, record.bytes_read));
    Ok(())
}
