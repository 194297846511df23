//! `cardproof compare-setups`: which file system, with which options, and which way of keeping a
//! database is fastest on the user's own storage, and what that costs in safety.
//!
//! In a directory all happens in an image of ours; on a device only with leave to destroy. What
//! needs root, a tool or a file system that is not here is listed as not tried, with what helps,
//! and the rest is compared.

mod advice;
mod args;
mod bench;
mod catalogue;
mod choice;
mod contest;
mod document;
mod ground;
mod loop_device;
mod modes;
mod systems;
mod text;

use std::fs;
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;

use cardproof_device::{Surroundings, Sysroot, look_at_path};
use cardproof_io::scratch::Scratch;
use cardproof_rating::doubts_of_place;
use cardproof_record::{Warning, WarningCode};
use cardproof_session::{Access, Existing, not_there, of_scratch, refuse_link, tell_of_leftovers};
use cardproof_units::{Bytes, Seed};

use crate::exit::{Exit, Failure};
use crate::measuring::random_bits;
use crate::output::{self, Sink};
use crate::signals::Signals;
use crate::talk::Talk;
use crate::terminal::Terminal;

use choice::Choice;
use contest::Contest;
use document::{Circumstances, Document, NotTried};
use ground::Ground;

pub(crate) use args::SetupsArgs;

/// The size of each file system, unless another is asked for: room for XFS, and little to write.
const SIZE: Bytes = Bytes::mib(320);

/// What the job that needs no image takes.
const LITTLE: Bytes = Bytes::mib(20);

/// What comes of comparing.
#[derive(Default)]
struct Found {
    contests: Vec<Contest>,
    not_tried: Vec<NotTried>,
    /// On what file systems were made, and how large it was.
    ground: Option<(&'static str, Bytes)>,
}

/// What all parts of a comparison share.
struct Common<'a> {
    args: &'a SetupsArgs,
    choice: Choice,
    /// What makes figures from the target doubtful, whatever is done there.
    place_doubts: Vec<Warning>,
    seed: Seed,
    talk: Talk,
    signals: &'a Signals,
}

/// Compares what `args` name.
pub(crate) fn run(args: &SetupsArgs, signals: &Signals) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet);
    check_outputs(args)?;
    let choice = Choice::new(&args.only, &args.jobs)?;
    let seed = match args.seed {
        Some(seed) => seed,
        None => Seed::from_bits(random_bits()?),
    };
    let metadata = fs::metadata(&args.target).map_err(|error| not_there(&args.target, &error))?;
    let surroundings = look_at_path(&Sysroot::default(), &args.target).unwrap_or_default();
    let place_doubts = doubts_of_place(&surroundings.device, surroundings.filesystem.as_ref());
    let common = Common { args, choice, place_doubts, seed, talk, signals };
    let found = if metadata.is_dir() {
        refuse_link(&args.target)?;
        in_directory(&common)?
    } else if metadata.file_type().is_block_device() {
        on_device(&common)?
    } else {
        return Err(Failure::usage(format!(
            "{} is neither a directory nor a block device; name one",
            args.target.display()
        )));
    };
    show(&common, &found, surroundings)?;
    Ok(exit_of(&found, signals))
}

fn check_outputs(args: &SetupsArgs) -> Result<(), Failure> {
    for sink in [&args.json, &args.markdown].into_iter().flatten() {
        output::check(sink)?;
    }
    if args.json == Some(Sink::Stdout) && args.markdown == Some(Sink::Stdout) {
        return Err(Failure::usage(
            "--json - and --markdown - cannot both go to standard output; name a file for one",
        ));
    }
    if args.size == Some(Bytes::ZERO) {
        return Err(Failure::usage("a size of 0 holds no file system; give --size such as 320M"));
    }
    Ok(())
}

/// Whether this process may mount.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Compares in an image in the user's directory, and journal modes on the file system there.
fn in_directory(common: &Common<'_>) -> Result<Found, Failure> {
    let Common { args, choice, talk, .. } = common;
    if args.destroy.is_some() {
        return Err(Failure::usage(format!(
            "--destroy is for block devices, and {} is a directory, of which nothing is touched; \
             leave --destroy out",
            args.target.display()
        )));
    }
    let makes_image = is_root() && !choice.setups.is_empty();
    let wanted = if makes_image { args.size.unwrap_or(SIZE) } else { LITTLE };
    let by_user = makes_image && args.size.is_some();
    let (scratch, allowance) = Scratch::create_for(&args.target, None, wanted, by_user)
        .map_err(|error| of_scratch(&error))?;
    tell_of_leftovers(&scratch, &mut Terminal::new(*talk));
    let mut found = Found::default();
    if makes_image {
        let size = allowance.size.round_down_to(Bytes::mib(1));
        systems::in_image(common, &scratch, size, &mut found)?;
    } else if !choice.setups.is_empty() {
        without_root(common, &mut found);
    }
    clean_up(scratch, *talk);
    if !choice.modes.is_empty() && !common.is_stopped() {
        let (scratch, _) = Scratch::create_for(&args.target, None, modes::room(), false)
            .map_err(|error| of_scratch(&error))?;
        talk.note(&format!(
            "Writes a database and into it about {} in all; it is removed afterwards.",
            modes::written(common)
        ));
        found.contests.push(modes::compare(common, &scratch, "the file system there is")?);
        clean_up(scratch, *talk);
    }
    Ok(found)
}

/// What can be compared without loop devices and mounts.
fn without_root(common: &Common<'_>, found: &mut Found) {
    found.not_tried.push(NotTried {
        setup: "file systems".to_owned(),
        reason: "loop devices and mounts need root; run it again with sudo".to_owned(),
    });
    found.contests.extend(systems::as_it_is(common));
}

/// Compares on a device whose data may be destroyed.
fn on_device(common: &Common<'_>) -> Result<Found, Failure> {
    let Common { args, choice, talk, .. } = common;
    let access = Access { destroy: args.destroy.clone(), ..Access::default() };
    let existing = Existing { path: &args.target, direct: true };
    let mut file = existing.for_writing(&access, &mut Terminal::new(*talk))?;
    if !is_root() {
        return Err(Failure::incomplete(
            "comparing file systems on a device needs root, to mount them; run it with sudo",
        ));
    }
    let whole = file.seek(SeekFrom::End(0)).map_err(Failure::because("cannot tell its size"))?;
    let size = args.size.unwrap_or(SIZE).min(Bytes(whole)).round_down_to(Bytes::mib(1));
    let scratch =
        Scratch::create(&std::env::temp_dir(), None).map_err(|error| of_scratch(&error))?;
    let written = systems::written(common) + modes::written(common);
    talk.note(&format!(
        "OVERWRITES the first {size} of {} with about {written} in all, as much wear as filling {:.1} % \
         of it once; it is left without a file system.",
        args.target.display(),
        100.0 * written.as_f64() / (whole as f64).max(1.0)
    ));
    let ground = Ground::prepare(file, size, &scratch)?;
    let mut found = Found { ground: Some(("device", size)), ..Found::default() };
    if !choice.setups.is_empty() {
        systems::compare(common, &ground, &mut found);
    }
    if !choice.modes.is_empty() && !common.is_stopped() {
        systems::modes_on_baseline(common, &ground, &mut found);
    }
    ground.clear_signatures().map_err(Failure::because("cannot clear the device"))?;
    clean_up(scratch, *talk);
    Ok(found)
}

impl Common<'_> {
    /// What makes figures of the target's own file system doubtful: that it is in memory, for what
    /// else it does is what the user lives with.
    fn own_doubts(&self) -> impl Iterator<Item = Warning> {
        let doubts = self.place_doubts.iter();
        doubts.filter(|doubt| doubt.code == WarningCode::Memory).cloned()
    }

    /// Whether a signal has come.
    fn is_stopped(&self) -> bool {
        self.signals.stop().load(std::sync::atomic::Ordering::Relaxed)
    }
}

fn clean_up(scratch: Scratch, talk: Talk) {
    if let Err(left) = scratch.remove() {
        talk.note(&left.to_string());
    }
}

fn show(common: &Common<'_>, found: &Found, surroundings: Surroundings) -> Result<(), Failure> {
    let Common { args, seed, talk, .. } = common;
    let Surroundings { device, host, .. } = surroundings;
    let created = jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let circumstances = Circumstances { created, seed: *seed, rounds: args.rounds, device, host };
    let mut document = Document::new(circumstances, &found.contests);
    document.is_complete = !common.is_stopped();
    document.ground = found.ground.map(|(ground, _)| ground);
    document.ground_bytes = found.ground.map(|(_, size)| size);
    document.not_tried.clone_from(&found.not_tried);
    if let Some(sink) = &args.json {
        let mut text = serde_json::to_string_pretty(&document)
            .map_err(Failure::because("the figures cannot be put into JSON"))?;
        text.push('\n');
        output::write(sink, &text)?;
    }
    if let Some(sink) = &args.markdown {
        output::write(sink, &text::markdown(&found.contests, &found.not_tried))?;
    }
    let is_stdout_taken =
        [&args.json, &args.markdown].into_iter().flatten().any(|sink| *sink == Sink::Stdout);
    if is_stdout_taken || talk.is_quiet() {
        return Ok(());
    }
    output::write(&Sink::Stdout, &format!("\n{}", text::plain(&found.contests, &found.not_tried)))
}

/// How it ends: without a single figure it was not completed.
fn exit_of(found: &Found, signals: &Signals) -> Exit {
    match signals.exit() {
        Some(exit) => exit,
        None if found.contests.iter().any(Contest::has_figures) => Exit::Done,
        None => Exit::Incomplete,
    }
}
