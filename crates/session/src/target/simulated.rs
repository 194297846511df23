//! Simulated cards as targets.

use std::io;
use std::path::Path;

use cardproof_device::Surroundings;
use cardproof_record::{BusInfo, CardInfo, DeviceInfo, Feature, TargetKind, Transport};
use cardproof_sim::Card;
use cardproof_units::{Bytes, with_causes};

use super::{Storage, StorageNeeds, span_in};
use crate::failure::Failure;
use crate::file::{is_plain, open_regular};
use crate::options::Options;

/// The name of the card in `sim:NAME`.
pub fn simulated_name(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix("sim:")
}

/// No description of a card is longer.
const DESCRIPTION_MAX: u64 = 1 << 20;

/// The simulated card called `name`: one of the catalogue, or as the file `name`, which ends in
/// `.toml`, describes it.
///
/// # Errors
/// There is no such card, or the file describes none.
pub fn simulated_card(name: &str) -> Result<Card, Failure> {
    if !name.ends_with(".toml") {
        let card =
            cardproof_sim::find(name).map_err(|error| Failure::usage(with_causes(&error)))?;
        return Ok(*card);
    }
    let unread = |error: &dyn std::fmt::Display| {
        Failure::usage(format!("cannot read the description of a card in {name}: {error}"))
    };
    let file = open_regular(Path::new(name)).map_err(|error| unread(&error))?;
    let mut text = String::new();
    let mut limited = io::Read::take(file, DESCRIPTION_MAX + 1);
    let length =
        io::Read::read_to_string(&mut limited, &mut text).map_err(|error| unread(&error))?;
    if length as u64 > DESCRIPTION_MAX {
        return Err(unread(&format!("it is longer than {}", Bytes(DESCRIPTION_MAX))));
    }
    let short = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
    // It becomes a part of file names.
    let short: String = short.chars().filter(is_plain).take(80).collect();
    cardproof_sim::describe(&short, &text)
        .map_err(|error| Failure::usage(format!("{name}: {}", with_causes(&error))))
}

/// A simulated card, fresh; there is nothing on it to lose.
pub(super) fn open_simulated(
    name: &str,
    args: &Options,
    needs: &StorageNeeds,
) -> Result<Storage, Failure> {
    let no_card = |error| Failure::usage(with_causes(&error));
    let mut card = simulated_card(name)?;
    if needs.power_cuts {
        card.power.get_or_insert(cardproof_sim::fault::Power::HONEST);
    }
    let card = &card;
    let name = card.name;
    let target = card.open(args.seed, needs.keeping).map_err(no_card)?;
    let span = span_in(target.abilities().size, args, needs.span.existing)?;
    let transport = match card.kind {
        cardproof_sim::Kind::Sd => Transport::Sd,
        cardproof_sim::Kind::Emmc => Transport::Mmc,
        cardproof_sim::Kind::Usb => Transport::Usb,
        cardproof_sim::Kind::Nvme => Transport::Nvme,
    };
    let device = DeviceInfo {
        name: Some(format!("sim:{name}")),
        model: Some(card.title.to_owned()),
        transport: Some(transport),
        size_bytes: Some(card.announced_size()),
        card: card_info(card),
        bus: simulated_bus(card),
        link: Some(card.host.line.words.to_owned()),
        link_ceiling_bytes_per_s: Some(card.host.line.ceiling.0 as u64),
        ..DeviceInfo::default()
    };
    Ok(Storage {
        target,
        kind: TargetKind::Simulated,
        simulated_card: Some(name.to_owned()),
        simulated_model: serde_json::to_string(card).ok(),
        surroundings: Surroundings { device, ..Surroundings::default() },
        span,
        scratch: None,
    })
}

/// What a simulated card would say of itself; a USB stick shows nothing of what is in it.
fn card_info(card: &Card) -> Option<CardInfo> {
    let feature = |card: bool, host: bool| Feature {
        card: Some(card),
        host: Some(host),
        enabled: Some(card && host),
        evidence: vec!["the simulated card and its host".to_owned()],
        ..Feature::default()
    };
    let (model, host) = (&card.model, &card.host);
    // Published figures do not tell a cache from what else made them.
    let cache = match (model.cache, model.service) {
        (None, Some(_)) => Feature::default(),
        (cache, _) => feature(cache.is_some(), host.uses_cache),
    };
    let is_sd_or_mmc = matches!(card.kind, cardproof_sim::Kind::Sd | cardproof_sim::Kind::Emmc);
    is_sd_or_mmc.then(|| CardInfo {
        command_queue: feature(model.ways > 1 || model.service.is_some(), host.queue_depth > 1),
        cache,
        ..CardInfo::default()
    })
}

/// The bus between a simulated card and its host; a USB stick has none of its own to show.
fn simulated_bus(card: &Card) -> Option<BusInfo> {
    let line = card.host.line;
    line.mode.map(|mode| BusInfo {
        mode: Some(mode.to_owned()),
        clock_hz: line.clock_hz,
        width_bits: line.width_bits,
        source: Some("the simulated card's host".to_owned()),
        ..BusInfo::default()
    })
}
