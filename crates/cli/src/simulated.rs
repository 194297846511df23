//! `cardproof sim`: the simulated cards, and one of them as a device for any tool.

use std::fmt::Write;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::Duration;

use cardproof_sim::{Card, Kind, Origin, catalogue, find};
use cardproof_sim_serve::{ServeError, ServeOptions, Server};

use crate::args::{ServeArgs, SimCommand};
use crate::exit::{Exit, Failure, with_causes};
use crate::output::{self, Sink};
use crate::signals::Signals;
use crate::talk::{self, Talk};

/// How long a wish to stop may go unnoticed.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Lists the cards or serves one.
pub(crate) fn run(command: &SimCommand, signals: &Signals) -> Result<Exit, Failure> {
    match command {
        SimCommand::List => list(),
        SimCommand::Serve(args) => serve(args, signals),
    }
}

fn list() -> Result<Exit, Failure> {
    let mut text = String::new();
    for card in catalogue() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}\n    {}; {}", card.name, card.title, describe(card));
    }
    text.push_str("\nMeasure one: cardproof run sim:NAME\nServe one: cardproof sim serve NAME\n");
    output::write(&Sink::Stdout, &talk::paged(&text))?;
    Ok(Exit::Done)
}

fn describe(card: &Card) -> String {
    let kind = match card.kind {
        Kind::Sd => "SD",
        Kind::Emmc => "eMMC",
        Kind::Usb => "USB",
    };
    let origin = match (card.fake.is_some(), card.origin) {
        (true, _) => "a fake",
        (false, Origin::Calibrated) => "fitted to published figures",
        (false, Origin::Typical) => "typical of its kind",
    };
    format!("{kind}, {}, {origin}", card.announced_size())
}

/// Puts a card up until a signal comes.
fn serve(args: &ServeArgs, signals: &Signals) -> Result<Exit, Failure> {
    let card = find(&args.name).map_err(|error| Failure::usage(with_causes(&error)))?;
    let place = Place::new(args)?;
    let options = ServeOptions {
        directory: place.path.clone(),
        speed: args.speed,
        block_device: !args.no_block_device && rustix::process::geteuid().is_root(),
        backing: args.backing.clone(),
    };
    let mut server =
        Server::start(card, args.seed, &options).map_err(|error| of_serving(&error))?;
    let talk = Talk::new(false);
    let paths = [Some(server.file()), server.device()];
    let lines: String =
        paths.into_iter().flatten().map(|path| format!("{}\n", path.display())).collect();
    output::write(&Sink::Stdout, &lines)?;
    talk.note(&format!(
        "{} is up: the file{} above. Ctrl-C takes it down.",
        card.name,
        if options.block_device { " and the block device" } else { "" }
    ));
    while !signals.stop().load(Ordering::Relaxed) {
        std::thread::sleep(LOOK_EVERY);
    }
    match server.stop() {
        Ok(()) => Ok(Exit::Done),
        Err(error) => Err(of_serving(&error)),
    }
}

fn of_serving(error: &ServeError) -> Failure {
    let message = with_causes(error);
    match error {
        ServeError::Speed(_) | ServeError::Card(_) => Failure::usage(message),
        _ => Failure::incomplete(message),
    }
}

/// The directory in which the card's file appears; a temporary one goes when this goes.
struct Place {
    path: PathBuf,
    is_temporary: bool,
}

impl Place {
    fn new(args: &ServeArgs) -> Result<Self, Failure> {
        if let Some(path) = &args.directory {
            return Ok(Self { path: path.clone(), is_temporary: false });
        }
        let name = format!("cardproof-{}-{}", args.name, std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path)
            .map_err(Failure::because(format!("cannot make the directory {}", path.display())))?;
        Ok(Self { path, is_temporary: true })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_temporary {
            // It is empty, or still a mount that somebody uses and that is not ours to take away.
            let _ = fs::remove_dir(&self.path);
        }
    }
}
