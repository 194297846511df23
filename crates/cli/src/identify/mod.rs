//! `cardproof identify`: who the storage is, what the host gives it, what holds it back.

mod document;
mod kernel;
mod layout;
mod of_bus;
mod of_card;
mod of_host;
mod raw;
mod words;

use std::path::Path;

use cardproof_device::Sysroot;
use cardproof_device::identify::{Identity, StorageChoice, StorageSummary, identify, storages};
use cardproof_rating::signs::Signs;
use cardproof_registers::Serials;
use cardproof_session::{simulated_card, simulated_name};
use cardproof_units::{shell_path, with_causes};

use crate::args::IdentifyArgs;
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::pasted::{self, Reader};
use crate::talk::{self, Talk};
use layout::{Page, Section};

/// Identifies what was asked for.
pub(crate) fn run(args: &IdentifyArgs) -> Result<Exit, Failure> {
    if let Some(sink) = args.json.as_ref().or(args.dump.as_ref()) {
        output::check(sink)?;
    }
    if let Some(registers) = &args.raw {
        return decode(registers, args);
    }
    let root = root(args)?;
    check_root(args)?;
    if let Some(sink) = &args.dump {
        return dump(&root.with_journal(), sink, args.quiet);
    }
    let others = storages(&root);
    let identities = with_signs(&root, identities(&root, args, &others)?);
    match &args.json {
        Some(sink) => {
            let text = document::json(&identities, &others, args.show_serial, args.all)?;
            output::write(sink, &text)?;
        }
        None if args.quiet => {}
        None => output::write(&Sink::Stdout, &text(&identities, &others, args))?,
    }
    let is_bad = identities.iter().any(|(_, signs)| signs.is_bad());
    Ok(if is_bad { Exit::NotMet } else { Exit::Done })
}

/// Each device with the signs of trouble that it shows.
fn with_signs(root: &Sysroot, identities: Vec<Identity>) -> Vec<(Identity, Signs)> {
    let with_signs = |identity: Identity| {
        let signs = crate::signs::of(root, &identity);
        (identity, signs)
    };
    identities.into_iter().map(with_signs).collect()
}

/// Shows the registers that were typed in.
fn decode(registers: &str, args: &IdentifyArgs) -> Result<Exit, Failure> {
    let serials = if args.show_serial { Serials::Shown } else { Serials::Masked };
    let text = raw::text_of(registers)?;
    let shown = match &args.json {
        Some(_) => raw::json(&text, serials),
        None => raw::show(&text, serials),
    };
    let shown = shown.or_else(|failure| {
        if let Some(page) = kernel::page(&text).filter(|_| args.json.is_none()) {
            return Ok(page);
        }
        Err(match pasted::other(&text, Reader::Identify, Path::new(registers)) {
            Some(advice) => Failure::usage(format!("--raw: no register in it: {advice}")),
            None => failure,
        })
    })?;
    match &args.json {
        Some(sink) => output::write(sink, &shown)?,
        None if args.quiet => {}
        None => output::write(&Sink::Stdout, &shown)?,
    }
    Ok(Exit::Done)
}

fn root(args: &IdentifyArgs) -> Result<Sysroot, Failure> {
    match &args.sysroot {
        None => Ok(Sysroot::default()),
        Some(path) => Sysroot::open(path).map_err(|error| {
            Failure::usage(format!("--sysroot {}: {}", path.display(), with_causes(&error)))
        }),
    }
}

/// Refuses a directory that is no copy of a computer's /sys.
fn check_root(args: &IdentifyArgs) -> Result<(), Failure> {
    match &args.sysroot {
        Some(path) => copy_of_sys(path),
        None => Ok(()),
    }
}

/// Whether the directory `path` has a copy of /sys; a file is a dump, and read as one.
pub(crate) fn copy_of_sys(path: &Path) -> Result<(), Failure> {
    if path.is_dir() && !path.join("sys").is_dir() {
        return Err(Failure::usage(format!(
            "--sysroot {}: this directory has no copy of /sys; name one that has, or a file of `cardproof \
             identify --dump`",
            path.display()
        )));
    }
    Ok(())
}

fn identities(
    root: &Sysroot,
    args: &IdentifyArgs,
    others: &[StorageSummary],
) -> Result<Vec<Identity>, Failure> {
    if let Some(card) = args.place.as_deref().and_then(simulated_name) {
        simulated_card(card)?;
        return Err(Failure::usage(format!(
            "sim:{card} is a simulated card and has no registers; `cardproof run sim:{card}` \
             measures it"
        )));
    }
    let here = args.place.as_deref().filter(|_| root.is_running_system());
    if let Some(path) = here.filter(|path| path.is_file()) {
        return Err(Failure::usage(format!(
            "{path} is a file; name a device or a directory. For registers in a text: --raw {path}. For a file \
             of --dump: --sysroot {path}",
            path = path.display()
        )));
    }
    let places: Vec<StorageChoice> = if args.all && !others.is_empty() {
        others.iter().filter(|one| !one.is_empty_slot()).map(named).collect()
    } else {
        vec![asked(root, args)]
    };
    places
        .iter()
        .map(|place| identify(root, place).map_err(|error| Failure::usage(with_causes(&error))))
        .collect()
}

fn named(storage: &StorageSummary) -> StorageChoice {
    StorageChoice::Named(format!("/dev/{}", storage.name).into())
}

fn asked(root: &Sysroot, args: &IdentifyArgs) -> StorageChoice {
    match &args.place {
        Some(path) => StorageChoice::Named(path.clone()),
        None if root.is_running_system() => StorageChoice::Named(".".into()),
        None => StorageChoice::System,
    }
}

/// Reads all that any question would need, and writes down what was read.
fn dump(root: &Sysroot, sink: &Sink, is_quiet: bool) -> Result<Exit, Failure> {
    let places = storages(root).into_iter().map(|one| named(&one));
    for place in [StorageChoice::System].into_iter().chain(places) {
        // A device that has gone in the meantime is no reason to keep the rest back.
        if let Ok(identity) = identify(root, &place) {
            drop(crate::signs::seen(root, &identity));
        }
    }
    output::write(sink, &root.dump())?;
    if let Sink::File(path) = sink {
        Talk::new(is_quiet).note(&format!(
            "Written to {}, without serial numbers and names. It is text: read it before you send \
             it. cardproof identify --sysroot {} shows what it tells.",
            path.display(),
            shell_path(path)
        ));
    }
    Ok(Exit::Done)
}

fn text(
    identities: &[(Identity, Signs)],
    others: &[StorageSummary],
    args: &IdentifyArgs,
) -> String {
    let mut page = Page::new(talk::width(), talk::is_styled());
    for (identity, signs) in identities {
        for section in sections(identity, signs, args.show_serial) {
            page.add(&section);
        }
    }
    let shown: Vec<&str> =
        identities.iter().filter_map(|(identity, _)| identity.device.name.as_deref()).collect();
    page.add(&other_storage(others, &shown));
    page.into_text()
}

/// All sections, in the order in which they are read.
fn sections(identity: &Identity, signs: &Signs, show_serial: bool) -> Vec<Section> {
    vec![
        of_host::signs(signs),
        of_card::device(identity, show_serial),
        of_host::computer(identity),
        of_bus::bus(identity),
        of_bus::features(identity),
        of_host::settings(identity),
        of_host::errors(identity),
        of_host::health(identity),
        of_card::suspicions(identity),
        of_host::unknown(identity),
    ]
}

/// The storage that was not asked about, one line each.
fn other_storage(others: &[StorageSummary], shown: &[&str]) -> Section {
    let mut section = Section::new("Other storage");
    for other in others.iter().filter(|other| !shown.contains(&other.name.as_str())) {
        section.row(&other.name, words::summary(other));
    }
    section
}
