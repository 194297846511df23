//! `cardproof sim`: the simulated cards, and one of them as a device for any tool.

#[cfg(feature = "serve")]
mod serving;

use std::fmt::Write;

use cardproof_report::{CardKind, CatalogueEntry};
use cardproof_sim::{Card, Kind, Origin, catalogue};

use crate::args::{ServeArgs, SimCommand, SimListArgs};
use crate::catalogue;
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
        let entries: Vec<CatalogueEntry> = catalogue().iter().map(entry).collect();
        catalogue::write(sink, &entries)?;
    }
    if args.quiet || args.json == Some(Sink::Stdout) {
        return Ok(Exit::Done);
    }
    let mut text = String::new();
    for group in Group::ALL {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}:\n", group.heading());
        for card in catalogue().iter().filter(|card| Group::of(card) == group) {
            let _ = writeln!(text, "{}\n    {}", card.name, describe(card));
        }
        text.push('\n');
    }
    text.push_str(REMARK);
    text.push_str("\nUse one in the place of a card, as sim:NAME, with check, run, verify, geometry, tune, powercut and endure:\n  \
         cardproof check sim:NAME\n  cardproof verify sim:NAME\nAs a file or device for other programs:\n  \
         cardproof sim serve NAME\n");
    output::write(&Sink::Stdout, &talk::paged(&text))?;
    Ok(Exit::Done)
}

fn entry(card: &Card) -> CatalogueEntry {
    CatalogueEntry {
        name: card.name.to_string(),
        purpose: card.title.to_string(),
        kind: Some(kind(card)),
        size_bytes: Some(card.announced_size()),
        is_fake: Some(card.fake.is_some()),
        ..CatalogueEntry::default()
    }
}

/// What holds for all cards of the list.
const REMARK: &str = "\
The speeds of a card are fitted to published figures of that card, unless the list says typical. A fit holds for
the tests that were published. Other tests, or a smaller test range, give other rates. No simulated card
reports its wear.
";

/// Cards that are listed under one heading.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Group {
    Sd,
    Fake,
    Faulty,
    Emmc,
    Usb,
    Express,
}

impl Group {
    /// In the order of the list.
    const ALL: [Self; 6] =
        [Self::Sd, Self::Fake, Self::Faulty, Self::Emmc, Self::Usb, Self::Express];

    const fn of(card: &Card) -> Self {
        match card.kind {
            _ if card.fake.is_some() => Self::Fake,
            _ if card.power.is_some() => Self::Faulty,
            Kind::Sd => Self::Sd,
            Kind::Emmc => Self::Emmc,
            Kind::Usb => Self::Usb,
            Kind::Nvme => Self::Express,
        }
    }

    const fn heading(self) -> &'static str {
        match self {
            Self::Sd => "SD cards",
            Self::Fake => "Fake SD cards, which hold less than they announce",
            Self::Faulty => "SD cards with a fault",
            Self::Emmc => "eMMC devices",
            Self::Usb => "USB sticks",
            Self::Express => "microSD Express cards, used as NVMe devices",
        }
    }
}

const fn kind(card: &Card) -> CardKind {
    match card.kind {
        Kind::Sd => CardKind::Sd,
        Kind::Emmc => CardKind::Emmc,
        Kind::Usb => CardKind::Usb,
        Kind::Nvme => CardKind::Nvme,
    }
}

fn describe(card: &Card) -> String {
    let typical = match (card.fake, card.origin) {
        (None, Origin::Typical) => "; typical of its kind",
        _ => "",
    };
    format!("{}; {}{typical}", card.title, card.announced_size())
}

#[cfg(feature = "serve")]
fn serve(args: &ServeArgs, signals: &Signals) -> Result<Exit, Failure> {
    serving::serve(args, signals)
}

#[cfg(not(feature = "serve"))]
fn serve(_args: &ServeArgs, _signals: &Signals) -> Result<Exit, Failure> {
    Err(Failure::built_without("serve"))
}
