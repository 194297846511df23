//! The cards that come with cardproof, by name.

use std::sync::LazyLock;

use cardproof_io::Target;
use cardproof_units::{Bytes, Seed, nearest};

use crate::check::ModelError;
use crate::contents::{Contents, ShortStore, Shorthand, Store};
use crate::fault::{
    CapacityFake, Damage, DamagedStore, DiscardFault, DiscardHarm, DiscardStore, FakeStore, Life,
    MortalStore, Power, QueueFault, VolatileStore,
};
use crate::host::Host;
use crate::model::Model;
use crate::target::{Keeping, PacedTarget, SimulatedTarget};

mod calibrated;
mod express;
mod fakes;
mod fitted;
mod fitted_pi5;
mod pi5;
mod typical;

/// What a simulated device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Kind {
    /// An SD card.
    Sd,
    /// A soldered eMMC.
    Emmc,
    /// A USB stick.
    Usb,
    /// A microSD Express card as an NVMe device.
    Nvme,
}

/// Where a card's parameters come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Origin {
    /// Fitted to a device's published figures; see [`crate::calibration`].
    Calibrated,
    /// Made to behave as its kind does; no particular product.
    Typical,
}

/// A card of the catalogue.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Card {
    /// Its name, as in `sim:NAME`.
    pub name: &'static str,
    /// What it is, in words.
    pub title: &'static str,
    /// What kind of device it is.
    pub kind: Kind,
    /// Where its parameters come from.
    pub origin: Origin,
    /// How it behaves.
    pub model: Model,
    /// What it is plugged into.
    pub host: Host,
    /// The lie about its size, if it tells one; `model` holds what it really has.
    pub fake: Option<CapacityFake>,
    /// What of its flash is damaged.
    pub damage: Damage,
    /// How long its flash lives, where the layer of faults decides that and not the model.
    pub life: Life,
    /// What a power cut does to it; `None` where whatever is written is durable at once.
    pub power: Option<Power>,
    /// What its queue breaks, if it breaks anything.
    pub queue: Option<QueueFault>,
    /// How it discards; `None` where it does as asked, and discarded places read as zeros.
    pub discard: Option<DiscardFault>,
    /// The parameters that no published figure tells.
    pub assumed: &'static [&'static str],
}

/// Every card that can be had by name.
#[must_use]
pub fn catalogue() -> &'static [Card] {
    static CARDS: LazyLock<Vec<Card>> = LazyLock::new(|| {
        calibrated::CARDS
            .into_iter()
            .chain(typical::CARDS)
            .chain([calibrated::EXTREME_PRO_A2_QUEUED])
            .chain(pi5::cards())
            .chain(express::CARDS)
            .chain(fakes::CARDS)
            .chain([fakes::LIAR])
            .collect()
    });
    &CARDS
}

/// The card called `name`, whatever the case.
///
/// # Errors
/// [`OpenError::NoSuchCard`] where the catalogue has none of that name.
pub fn find(name: &str) -> Result<&'static Card, OpenError> {
    catalogue()
        .iter()
        .find(|card| card.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| OpenError::NoSuchCard(name.to_owned()))
}

/// A new card called `name` that keeps its bytes; `seed` decides every random choice.
///
/// # Errors
/// [`OpenError::NoSuchCard`] where the catalogue has none of that name.
pub fn open(name: &str, seed: Seed) -> Result<Box<dyn Target + Send>, OpenError> {
    find(name)?.open(seed, Keeping::Bytes)
}

impl Card {
    /// A new card of this kind.
    ///
    /// # Errors
    /// [`OpenError::Impossible`] where the parameters describe no possible card, which no card
    /// of the catalogue does.
    pub fn open(&self, seed: Seed, keeping: Keeping) -> Result<Box<dyn Target + Send>, OpenError> {
        let card = match keeping {
            Keeping::Bytes => self.build_with(seed, self.plain_flash(), Shorthand::NONE)?,
            Keeping::Short(shorthand) => {
                self.build_with(seed, Box::new(ShortStore::new(shorthand)), shorthand)?
            }
            Keeping::Nothing => self.honouring_or_not(self.build(seed, keeping)?),
        };
        Ok(Box::new(card))
    }

    /// A card of this kind, for somebody with a real clock, whose bytes lie in `store` or, without
    /// one, in memory.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn open_paced(
        &self,
        seed: Seed,
        store: Option<Box<dyn Store>>,
    ) -> Result<Box<dyn PacedTarget>, OpenError> {
        let flash = store.unwrap_or_else(|| self.plain_flash());
        Ok(Box::new(self.build_with(seed, flash, Shorthand::NONE)?))
    }

    /// A new card of this kind as it really is, without its lie and its damage.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn build(&self, seed: Seed, keeping: Keeping) -> Result<SimulatedTarget, OpenError> {
        let model = self.announcing_model(keeping);
        SimulatedTarget::new(&model, &self.host, seed, keeping)
            .map_err(|source| self.impossible(source))
    }

    fn plain_flash(&self) -> Box<dyn Store> {
        Box::new(Contents::new(self.model.capacity.get()))
    }

    /// The card with its lie and its damage over `flash`.
    fn build_with(
        &self,
        seed: Seed,
        mut flash: Box<dyn Store>,
        shorthand: Shorthand,
    ) -> Result<SimulatedTarget, OpenError> {
        if self.life.is_limited() {
            flash = Box::new(MortalStore::new(flash, self.model.capacity, &self.life, seed));
        }
        if self.damage != Damage::NONE {
            flash = Box::new(DamagedStore::new(flash, self.damage, seed));
        }
        if let Some(fake) = &self.fake {
            let real = self.model.capacity;
            flash = Box::new(FakeStore::new(flash, real, fake, seed, shorthand));
        }
        if let Some(power) = self.power {
            flash = Box::new(VolatileStore::new(flash, self.announced_size(), power, seed));
        }
        if let Some(discard) = self.discard {
            flash = Box::new(DiscardStore::new(flash, self.announced_size(), discard, seed));
        }
        let model = Model { capacity: self.announced_size(), ..self.model };
        let card = SimulatedTarget::with_store(&model, &self.host, seed, flash)
            .map_err(|source| self.impossible(source))?;
        let card = match self.queue {
            Some(fault) => card.with_queue_fault(fault, self.host.queue_depth, seed),
            None => card,
        };
        Ok(self.honouring_or_not(card))
    }

    /// `card`, which answers flushes and discards as this one does.
    fn honouring_or_not(&self, card: SimulatedTarget) -> SimulatedTarget {
        let ignores_flush = self.power.is_some_and(|power| power.ignores_flush);
        let card = if ignores_flush { card.ignoring_flushes() } else { card };
        let ignored = self.discard.is_some_and(|discard| discard.harm == DiscardHarm::Ignored);
        if ignored { card.ignoring_discards() } else { card }
    }

    /// The model of what keeps nothing announces the false size; what keeps bytes is as it is.
    fn announcing_model(&self, keeping: Keeping) -> Model {
        match keeping {
            Keeping::Bytes | Keeping::Short(_) => self.model,
            Keeping::Nothing => Model { capacity: self.announced_size(), ..self.model },
        }
    }

    fn impossible(&self, source: ModelError) -> OpenError {
        OpenError::Impossible { name: self.name.to_owned(), source }
    }

    /// How many bytes the card says it holds.
    #[must_use]
    pub fn announced_size(&self) -> Bytes {
        self.fake.map_or(self.model.capacity, |fake| fake.announced.max(self.model.capacity))
    }
}

/// The card that the user may have meant; empty where none is like it.
fn did_you_mean(name: &str) -> String {
    let near = nearest(name, catalogue().iter().map(|card| card.name));
    near.map_or_else(String::new, |near| format!("did you mean sim:{near}? "))
}

/// Why a simulated card cannot be had.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OpenError {
    /// The catalogue has no such card.
    #[error("there is no simulated card '{0}'; {hint}'cardproof sim list' shows all", hint = did_you_mean(.0))]
    NoSuchCard(String),
    /// Its parameters are impossible.
    #[error("the simulated card '{name}' cannot be built")]
    Impossible {
        /// Which card.
        name: String,
        /// What is wrong with it.
        #[source]
        source: ModelError,
    },
}
