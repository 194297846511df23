//! `cardproof sim serve`: a simulated card as a device for any tool, until a signal comes and nobody uses it.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cardproof_device::Sysroot;
use cardproof_device::guard::{self, GuardError, Objection};
use cardproof_session::leftovers;
use cardproof_sim::Card;
use cardproof_sim_serve::{ServeError, ServeOptions, Served, Server};
use cardproof_units::with_causes;

use crate::args::ServeArgs;
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::signals::Signals;
use crate::talk::Talk;

/// How often a wish to stop is looked for before a card in use is tried again: every second.
const LOOKS_BETWEEN_TRIES: u32 = 10;

/// How often a block device that may be leaving is looked for: ten seconds in all.
const LOOKS_AT_LEAVING: u32 = 100;

/// How long a wish to stop may go unnoticed.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Puts a card up until a signal comes.
pub(super) fn serve(args: &ServeArgs, signals: &Signals) -> Result<Exit, Failure> {
    let name = args.name.strip_prefix("sim:").unwrap_or(&args.name);
    let card = &cardproof_session::simulated_card(name)?;
    // The place comes first: making it takes away what a killed server left over this file.
    let place = CardDirectory::new(args, card)?;
    args.backing.as_deref().map_or(Ok(()), check_backing)?;
    let options = ServeOptions {
        directory: place.path.clone(),
        is_temporary: place.temporary.is_some(),
        speed: args.speed,
        block_device: !args.no_block_device && rustix::process::geteuid().is_root(),
        backing: args.backing.clone(),
        log: args.layout(),
    };
    let mut server =
        Server::start(card, args.seed, &options).map_err(|error| of_serving(&error))?;
    let talk = Talk::new(args.quiet);
    output::write(&Sink::Stdout, &places(&server, args.json)?)?;
    talk.note(&format!(
        "{} is served as the file{} above. Ctrl-C ends it.",
        card.name,
        if options.block_device { " and the block device" } else { "" }
    ));
    until_signal(signals);
    match server.stop() {
        Ok(()) => Ok(Exit::Done),
        Err(error @ ServeError::InUse { .. }) => until_free(&mut server, &error, signals, talk),
        Err(error) => Err(of_serving(&error)),
    }
}

/// The places where the card is: a line each, or one JSON document.
fn places(server: &Server, is_json: bool) -> Result<String, Failure> {
    if is_json {
        let text = serde_json::to_string(&Served::new(server))
            .map_err(Failure::because("the paths cannot be put into JSON"))?;
        return Ok(text + "\n");
    }
    let paths = [Some(server.file()), server.device()].into_iter().flatten();
    Ok(paths.map(|path| format!("{}\n", path.display())).collect())
}

/// Waits for a wish to stop. From then on the next one is a wish of its own.
fn until_signal(signals: &Signals) {
    while !signals.take() {
        std::thread::sleep(LOOK_EVERY);
    }
}

/// Keeps a card up that is in use, since what was written to a file system on it and not yet synced
/// would be lost: until it is free, or until the user insists.
fn until_free(
    server: &mut Server,
    in_use: &ServeError,
    signals: &Signals,
    talk: Talk,
) -> Result<Exit, Failure> {
    talk.note(&format!(
        "The card stays up: {in_use}. It ends by itself then. Ctrl-C a second time ends it at once, \
         and what is not synced is LOST."
    ));
    loop {
        for _ in 0..LOOKS_BETWEEN_TRIES {
            if signals.take() {
                return Err(Failure {
                    exit: signals.exit().unwrap_or(Exit::Interrupted),
                    message: format!("ended while {in_use}; what was not synced is lost"),
                });
            }
            std::thread::sleep(LOOK_EVERY);
        }
        match server.stop() {
            Ok(()) => return Ok(Exit::Done),
            Err(ServeError::InUse { .. }) => {}
            Err(error) => return Err(of_serving(&error)),
        }
    }
}

/// What the user has named to keep the card's bytes is checked as what is to be overwritten.
///
/// The block device of a server that was killed goes when its last user has heard of it. Until then
/// the kernel cannot tell that it does not go to this file. A loaded computer takes seconds for it.
fn check_backing(path: &Path) -> Result<(), Failure> {
    let mut checked = guard::check_file_free(&Sysroot::default(), path);
    for _ in 0..LOOKS_AT_LEAVING {
        if !matches!(&checked, Err(error) if may_be_leaving(error)) {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
        checked = guard::check_file_free(&Sysroot::default(), path);
    }
    match checked {
        Ok(()) => Ok(()),
        Err(error) if error.is_refusal() => Err(Failure::refused(with_causes(&error))),
        Err(error) => Err(Failure::incomplete(with_causes(&error))),
    }
}

/// Whether the only objections are loop devices of which it is not known where they go. Without root
/// that is not known of any, and no waiting helps.
fn may_be_leaving(error: &GuardError) -> bool {
    let GuardError::Refused(refusal) = error else { return false };
    if !rustix::process::geteuid().is_root() {
        return false;
    }
    refusal.objections.iter().all(|objection| {
        matches!(objection, Objection::MayBeHeld { .. } | Objection::UnknownLoops { .. })
    })
}

fn of_serving(error: &ServeError) -> Failure {
    let message = with_causes(error);
    match error {
        ServeError::Speed(_) | ServeError::Card(_) => Failure::usage(message),
        error if error.is_refusal() => Failure::refused(message),
        _ => Failure::incomplete(message),
    }
}

/// The directory in which the card's file appears; a temporary one goes when this goes.
struct CardDirectory {
    path: PathBuf,
    temporary: Option<leftovers::Held>,
}

/// How a temporary one is called, before the card's name and the number of its process.
const PLACE: &str = "cardproof-sim-";

impl CardDirectory {
    fn new(args: &ServeArgs, card: &Card) -> Result<Self, Failure> {
        if let Some(path) = &args.directory {
            return Ok(Self { path: path.clone(), temporary: None });
        }
        leftovers::sweep(PLACE, |place| {
            if leftovers::is_dead_mount(place) {
                Server::take_down_killed(place);
            }
            leftovers::remove_empty(place);
        });
        let held = leftovers::make(&format!("{PLACE}{}-", card.name))
            .map_err(Failure::because("cannot make a temporary directory"))?;
        Ok(Self { path: held.path.clone(), temporary: Some(held) })
    }
}

impl Drop for CardDirectory {
    fn drop(&mut self) {
        if self.temporary.is_some() {
            // It is empty, or still a mount that somebody uses and that is not ours to take away.
            let _ = fs::remove_dir(&self.path);
        }
    }
}
