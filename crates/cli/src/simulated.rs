//! `cardproof sim`: the simulated cards, and one of them as a device for any tool.

#[cfg(feature = "serve")]
mod serving;

use std::fmt::Write;

use cardproof_sim::{Card, Kind, Origin, catalogue};

use crate::args::{ServeArgs, SimCommand, SimListArgs};
use crate::catalogue::{self, Entry};
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::signals::Signals;
use crate::talk;

/// Lists the cards or serves one.
pub(crate) fn run(command: &SimCommand, signals: &Signals) -> Result<Exit, Failure> {
    match command {
        SimCommand::List(args) => list(args),
        SimCommand::Serve(args) => serve(args, signals),
    }
}

fn list(args: &SimListArgs) -> Result<Exit, Failure> {
    if let Some(sink) = &args.json {
        let entries: Vec<Entry> = catalogue().iter().map(entry).collect();
        catalogue::write(sink, &entries)?;
    }
    if args.quiet || args.json == Some(Sink::Stdout) {
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for card in catalogue() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}\n    {}; {}", card.name, card.title, describe(card));
    }
    text.push_str("\nA fit holds for the tests that were published: others, or a smaller test range, give other rates. No \
         simulated card reports its wear.\n");
    text.push_str("\nUse one in the place of a card, as sim:NAME, with check, run, verify, geometry, tune, powercut and endure:\n  \
         cardproof check sim:NAME\n  cardproof verify sim:NAME\nAs a file or device for other programs:\n  \
         cardproof sim serve NAME\n");
    output::write(&Sink::Stdout, &talk::paged(&text))?;
    Ok(Exit::Done)
}

fn entry(card: &Card) -> Entry {
    Entry {
        name: card.name.to_string(),
        purpose: card.title.to_string(),
        kind: Some(kind(card)),
        size_bytes: Some(card.announced_size()),
        is_fake: Some(card.fake.is_some()),
        ..Entry::default()
    }
}

const fn kind(card: &Card) -> &'static str {
    match card.kind {
        Kind::Sd => "SD",
        Kind::Emmc => "eMMC",
        Kind::Usb => "USB",
        Kind::Nvme => "NVMe",
    }
}

fn describe(card: &Card) -> String {
    let origin = match (card.fake.is_some(), card.origin) {
        (true, _) => "a fake",
        (false, Origin::Calibrated) => "fitted to published figures of its kind of test",
        (false, Origin::Typical) => "typical of its kind",
    };
    format!("{}, {}, {origin}", kind(card), card.announced_size())
}

#[cfg(feature = "serve")]
fn serve(args: &ServeArgs, signals: &Signals) -> Result<Exit, Failure> {
    serving::serve(args, signals)
}

#[cfg(not(feature = "serve"))]
fn serve(_args: &ServeArgs, _signals: &Signals) -> Result<Exit, Failure> {
    Err(Failure::built_without("serve"))
}
