//! The facts for other programs: gathered from the ledger and the computer, and handed out in the forms that were
//! asked for.

use std::path::Path;

use cardproof_device::Sysroot;
use cardproof_device::identify::{Identity, StorageChoice, identify};
use cardproof_rating::ledger::{Day, Outlook, outlook, totals};
use cardproof_rating::signs::Signs;
use cardproof_report::metrics::{
    CardFacts, Facts, MachineFacts, PluginState, home_assistant_lines, nagios, open_metrics,
    prometheus,
};
use cardproof_session::let_everybody_read;
use cardproof_units::{Bytes, with_causes};

use super::LedgerArgs;
use super::look::Named;
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};

/// What is known of the storage that is in the computer now.
#[derive(Debug)]
pub(super) struct Gathered {
    time_s: u64,
    cards: Vec<Card>,
}

/// One storage device.
#[derive(Debug)]
struct Card {
    name: String,
    identity: Identity,
    transport: Option<String>,
    signs: Signs,
    totals: Day,
    outlook: Outlook,
}

impl Gathered {
    /// What the ledger's `days` and the computer tell of the storage that has `names`.
    ///
    /// # Errors
    /// The names are not known, or one of the devices has gone.
    pub(super) fn from_days(
        days: &[Day],
        names: &[Named],
        endurance: Option<Bytes>,
    ) -> Result<Self, Failure> {
        if names.is_empty() {
            return Err(Failure::incomplete(
                "which storage the ledger tells of is known to root only: sudo cardproof log",
            ));
        }
        let root = Sysroot::default();
        let mut cards = Vec::new();
        for (name, key) in names {
            let (Some(totals), Some(outlook)) =
                (totals(days, *key), outlook(days, *key, endurance))
            else {
                continue;
            };
            let place = StorageChoice::Named(Path::new("/dev").join(name));
            let identity = identify(&root, &place)
                .map_err(|error| Failure::incomplete(with_causes(&error)))?;
            let transport = identity.device.lowest().transport.as_ref().map(ToString::to_string);
            let signs = crate::signs::of(&root, &identity);
            cards.push(Card { name: name.clone(), identity, transport, signs, totals, outlook });
        }
        let time_s = jiff::Timestamp::now().as_second().try_into().unwrap_or(0);
        Ok(Self { time_s, cards })
    }

    /// The same as the facts that every form is made from.
    pub(super) fn facts(&self) -> Facts<'_> {
        let power = self.cards.first().map(|card| &card.identity.power);
        let machine = power.map_or_else(MachineFacts::default, |power| MachineFacts {
            throttled_flags: power.throttled_flags,
            is_under_voltage: power.is_under_voltage,
            temperatures: power
                .temperatures
                .iter()
                .map(|it| (it.sensor.as_str(), it.millidegrees_celsius))
                .collect(),
        });
        let version = env!("CARGO_PKG_VERSION");
        Facts {
            version,
            time_s: self.time_s,
            machine,
            cards: self.cards.iter().map(Card::facts).collect(),
        }
    }
}

impl Card {
    fn facts(&self) -> CardFacts<'_> {
        let info = self.identity.device.lowest();
        CardFacts {
            device: &self.name,
            product: info.model.as_deref(),
            transport: self.transport.as_deref(),
            size: info.size_bytes,
            totals: &self.totals,
            outlook: &self.outlook,
            signs: &self.signs,
        }
    }
}

/// Whether `args` ask for any of the forms.
pub(super) const fn are_wanted(args: &LedgerArgs) -> bool {
    args.nagios
        || args.metrics.is_some()
        || args.openmetrics.is_some()
        || args.home_assistant.is_some()
}

/// Hands out `gathered` in the forms that `args` ask for; the state where Nagios asks.
pub(super) fn hand_out(
    gathered: &Gathered,
    args: &LedgerArgs,
) -> Result<Option<PluginState>, Failure> {
    let facts = gathered.facts();
    for (sink, text) in [
        (&args.metrics, prometheus as fn(&Facts<'_>) -> String),
        (&args.openmetrics, open_metrics),
        (&args.home_assistant, home_assistant_lines),
    ] {
        if let Some(sink) = sink {
            output::write(sink, &text(&facts))?;
            if let Sink::File(path) = sink {
                let_everybody_read(path)?;
            }
        }
    }
    if !args.nagios {
        return Ok(None);
    }
    let (line, state) = nagios(&facts);
    output::write(&Sink::Stdout, &line)?;
    Ok(Some(state))
}

/// The status of a plugin: 0 to 3 mean to Nagios what they do not mean to a shell.
pub(super) const fn exit_of(state: PluginState) -> Exit {
    match state {
        PluginState::Ok => Exit::Done,
        PluginState::Warning => Exit::Incomplete,
        PluginState::Critical => Exit::Usage,
        PluginState::Unknown => Exit::Refused,
    }
}

/// What a plugin says that could not look.
pub(super) fn not_looked(failure: &Failure) -> Result<Exit, Failure> {
    let why: String = failure.message.chars().filter(|c| *c != '|').collect();
    output::write(
        &Sink::Stdout,
        &format!("STORAGE UNKNOWN - {}\n", cardproof_report::one_line(&why)),
    )?;
    Ok(exit_of(PluginState::Unknown))
}
