//! A simulated card described in a file: everything that the catalogue can say, in TOML.
//!
//! A card of the catalogue is the base; what the file says goes over it. The form is in
//! `docs/design/simulator.md`. This reads text and no file.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use cardproof_units::{Bytes, Nanos};
use serde::Deserialize;
use toml::{Table, Value};

use crate::catalogue::{Card, find};
use crate::check::{ModelError, check};
use crate::fault::{
    Beyond, CapacityFake, Damage, DamagedBlock, Forgets, Harm, HiddenStore, Keeps, Life, Power,
};
use crate::host::Host;
use crate::model::{LOGICAL_BLOCK, Model};
use life::LifeForm;
use silent::{DiscardForm, QueueForm};

mod life;
mod silent;

/// The base of a card that names none.
const BASE: &str = "sandisk-extreme-a1";

/// Why a text describes no card.
#[derive(Clone, Debug, thiserror::Error)]
pub enum DescriptionError {
    /// Not TOML, or a word or value that a description does not have.
    #[error("{0}")]
    Form(String),
    /// A value that no card can have.
    #[error("{0}")]
    Value(String),
    /// The parameters describe no possible card.
    #[error("the card cannot be built")]
    Impossible(#[from] ModelError),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Form {
    base: Option<String>,
    title: Option<String>,
    /// What it announces.
    size: Option<Bytes>,
    /// What it holds.
    real_size: Option<Bytes>,
    beyond: Option<BeyondForm>,
    round: Option<Bytes>,
    #[serde(default)]
    reads_as: u8,
    store: Option<StoreForm>,
    #[serde(default)]
    damage: DamageForm,
    life: Option<LifeForm>,
    power: Option<PowerForm>,
    queue: Option<QueueForm>,
    discard: Option<DiscardForm>,
    #[serde(default)]
    model: Table,
    #[serde(default)]
    host: Table,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum BeyondForm {
    Wrap,
    Chained,
    Drop,
    LastBlock,
    Limbo,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoreForm {
    #[serde(default)]
    size: Bytes,
    writes: Option<u32>,
    keeps: Option<KeepsForm>,
    forgets: Option<ForgetsForm>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum KeepsForm {
    Beyond,
    All,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ForgetsForm {
    OldestWrite,
    LeastUsed,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct DamageForm {
    #[serde(default)]
    share: f64,
    block: Option<Bytes>,
    gives: Option<GivesForm>,
    transient_read: Option<u64>,
    #[serde(default)]
    transient_share: f64,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum GivesForm {
    Error,
    FlippedBits,
    Zeros,
}

impl From<GivesForm> for DamagedBlock {
    fn from(form: GivesForm) -> Self {
        match form {
            GivesForm::Error => Self::Fails,
            GivesForm::FlippedBits => Self::FlipsBits,
            GivesForm::Zeros => Self::ReadsZero,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PowerForm {
    volatile: Option<Bytes>,
    flush: Option<FlushForm>,
    cut: Option<Harm>,
    share: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FlushForm {
    Honoured,
    Ignored,
}

/// The card that `text` describes, called `name`.
///
/// # Errors
/// The text describes no card; the message says what is wrong.
pub fn describe(name: &str, text: &str) -> Result<Card, DescriptionError> {
    let mut table: Table =
        text.parse().map_err(|error: toml::de::Error| DescriptionError::Form(error.to_string()))?;
    if table.is_empty() {
        let message = "it says nothing of a card; give at least a base, such as base = \"sandisk-extreme-a1\"";
        return Err(DescriptionError::Form(message.to_owned()));
    }
    table.iter_mut().for_each(|(_, value)| read_units(value));
    let form: Form = Value::Table(table).try_into().map_err(|error| form_error(&error))?;
    let base = find(form.base.as_deref().unwrap_or(BASE))
        .map_err(|error| DescriptionError::Value(error.to_string()))?;
    let mut model: Model = merged(&base.model, &form.model, "model")?;
    let (title, line) = (base.host.title, base.host.line);
    let host = Host { title, line, ..merged(&base.host, &form.host, "host")? };
    let announced = form.size.or(form.real_size).unwrap_or_else(|| base.announced_size());
    // A size without a lie is the size of the flash.
    let real = form.real_size.unwrap_or(if base.fake.is_some() && form.size.is_none() {
        base.model.capacity
    } else {
        announced
    });
    model.capacity = real;
    let fake = fake(&form, base, announced, real)?;
    let damage = damage(&form.damage)?;
    let life = form.life.map_or(Ok(Life::ENDLESS), LifeForm::read)?;
    if life.is_limited() {
        // The blocks' own lives decide, not the model's.
        model.endurance.cycles = u32::MAX;
    }
    let power = form.power.as_ref().map(power).transpose()?.or(base.power);
    let queue = form.queue.map(QueueForm::read).transpose()?.or(base.queue);
    let discard = form.discard.map(DiscardForm::read).transpose()?.or(base.discard);
    whole_blocks("size", announced)?;
    check(&Model { capacity: announced, ..model }, &host)?;
    check(&model, &host)?;
    Ok(Card {
        name: kept(name.to_owned()),
        title: kept(form.title.unwrap_or_else(|| format!("as described in {name}"))),
        model,
        host,
        fake,
        damage,
        life,
        power,
        queue,
        discard,
        ..*base
    })
}

/// `text` for as long as the process lives, each text once: a process describes few cards.
fn kept(text: String) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = all.get(text.as_str()) {
        return known;
    }
    let new = String::leak(text);
    all.insert(new);
    new
}

fn form_error(error: &toml::de::Error) -> DescriptionError {
    DescriptionError::Form(error.message().to_owned())
}

/// Sizes, times and rates written with their units become numbers.
fn read_units(value: &mut Value) {
    match value {
        Value::Table(table) => table.iter_mut().for_each(|(_, value)| read_units(value)),
        Value::String(text) => {
            if let Some(number) = number_in(text) {
                *value = number;
            }
        }
        _ => {}
    }
}

fn number_in(text: &str) -> Option<Value> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let integer = |number: u64| i64::try_from(number).ok().map(Value::Integer);
    if let Some(rate) = text.strip_suffix("MB/s") {
        return rate.trim().parse::<f64>().ok().map(|rate| Value::Float(rate * 1e6));
    }
    match text.parse::<Bytes>() {
        Ok(size) => integer(size.get()),
        Err(_) => integer(text.parse::<Nanos>().ok()?.get()),
    }
}

/// `base` with what `over` says in its place.
fn merged<T>(base: &T, over: &Table, what: &str) -> Result<T, DescriptionError>
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    let in_part = |error: String| DescriptionError::Form(format!("[{what}]: {error}"));
    let mut table = Table::try_from(base).map_err(|error| in_part(error.to_string()))?;
    lay_over(&mut table, over);
    table.try_into().map_err(|error: toml::de::Error| in_part(error.message().to_owned()))
}

fn lay_over(base: &mut Table, over: &Table) {
    for (key, value) in over {
        match (base.get_mut(key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => lay_over(below, above),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

fn fake(
    form: &Form,
    base: &Card,
    announced: Bytes,
    real: Bytes,
) -> Result<Option<CapacityFake>, DescriptionError> {
    let wrong = |message: String| Err(DescriptionError::Value(message));
    if real > announced {
        return wrong(format!("real_size is {real}, more than the size, {announced}"));
    }
    whole_blocks("real_size", real)?;
    let remembers = match &form.store {
        Some(form) => store(form)?,
        None => base.fake.map_or(HiddenStore::NONE, |fake| fake.remembers),
    };
    let reads_as = form.reads_as;
    let beyond = match form.beyond {
        _ if real == announced => {
            return if form.beyond.is_some() || form.store.is_some() {
                wrong("beyond and [store] describe a fake: give a real_size below the size".into())
            } else {
                Ok(None)
            };
        }
        Some(BeyondForm::Wrap) => Beyond::WrapAround,
        Some(BeyondForm::Chained) => {
            let Some(round) = form.round else {
                return wrong(
                    "beyond = \"chained\" needs a round, such as round = \"10GB\"".into(),
                );
            };
            whole_blocks("round", round)?;
            if round < real {
                return wrong(format!("round is {round}, less than real_size, {real}"));
            }
            Beyond::Chained { round, reads_as }
        }
        Some(BeyondForm::Drop) => Beyond::Drop { reads_as },
        Some(BeyondForm::LastBlock) => Beyond::LastBlock,
        Some(BeyondForm::Limbo) => Beyond::Limbo,
        None => match base.fake {
            Some(fake) => fake.beyond,
            None => {
                return wrong(
                    "a real_size below the size needs beyond = \"wrap\", \"chained\", \"drop\", \
                     \"last-block\" or \"limbo\""
                        .into(),
                );
            }
        },
    };
    Ok(Some(CapacityFake { announced, beyond, remembers }))
}

fn store(form: &StoreForm) -> Result<HiddenStore, DescriptionError> {
    whole_blocks("[store] size", form.size)?;
    Ok(HiddenStore {
        size: form.size,
        writes_max: form.writes,
        keeps: match form.keeps {
            None | Some(KeepsForm::Beyond) => Keeps::Beyond,
            Some(KeepsForm::All) => Keeps::All,
        },
        forgets: match form.forgets {
            None | Some(ForgetsForm::OldestWrite) => Forgets::OldestWrite,
            Some(ForgetsForm::LeastUsed) => Forgets::LeastUsed,
        },
    })
}

fn damage(form: &DamageForm) -> Result<Damage, DescriptionError> {
    if !(0.0..=1.0).contains(&form.share) {
        let message = format!("[damage] share is {}; it must lie between 0 and 1", form.share);
        return Err(DescriptionError::Value(message));
    }
    if !(0.0..=1.0).contains(&form.transient_share) {
        let message = format!(
            "[damage] transient_share is {}; it must lie between 0 and 1",
            form.transient_share
        );
        return Err(DescriptionError::Value(message));
    }
    let block = form.block.unwrap_or(Damage::NONE.block);
    if block == Bytes::ZERO {
        return Err(DescriptionError::Value("[damage] block must be above zero".to_owned()));
    }
    whole_blocks("[damage] block", block)?;
    Ok(Damage {
        share_ppm: (form.share * 1e6).round() as u32,
        block,
        gives: form.gives.map_or(DamagedBlock::Fails, Into::into),
        transient_read: form.transient_read,
        transient_ppm: (form.transient_share * 1e6).round() as u32,
    })
}

fn power(form: &PowerForm) -> Result<Power, DescriptionError> {
    let share = form.share.unwrap_or(1.0);
    if !(0.0..=1.0).contains(&share) {
        let message = format!("[power] share is {share}; it must lie between 0 and 1");
        return Err(DescriptionError::Value(message));
    }
    let volatile = form.volatile.unwrap_or(Power::HONEST.volatile);
    whole_blocks("[power] volatile", volatile)?;
    Ok(Power {
        volatile,
        ignores_flush: matches!(form.flush, Some(FlushForm::Ignored)),
        harm: form.cut.unwrap_or(Harm::Nothing),
        share_ppm: (share * 1e6).round() as u32,
    })
}

fn whole_blocks(what: &str, size: Bytes) -> Result<(), DescriptionError> {
    if size.is_multiple_of(LOGICAL_BLOCK) {
        return Ok(());
    }
    let message = format!("{what} is {} bytes; it must be a multiple of 512", size.get());
    Err(DescriptionError::Value(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_says_nothing_describes_no_card() {
        for text in ["", "# slow\n\n"] {
            let error = describe("slow.toml", text).unwrap_err().to_string();
            assert!(error.contains("it says nothing of a card"), "{error}");
        }
        assert!(describe("slow.toml", "base = \"intenso-class-4\"").is_ok());
    }

    #[test]
    fn a_file_says_everything_that_the_catalogue_can() {
        let text = r#"
            base = "sandisk-ultra-a1"
            title = "A chained fake"
            size = "64GB"
            real_size = "8GB"
            beyond = "chained"
            round = "10GB"
            reads_as = 255
            [store]
            size = "128MiB"
            keeps = "all"
            forgets = "least-used"
            writes = 1000
            [damage]
            share = 0.01
            gives = "flipped-bits"
            transient_read = 40
            [model]
            allocation_unit = "8MiB"
            read.rate = "30MB/s"
            read.latencies.page = "700us"
            [host]
            queue_depth = 2
        "#;
        let card = describe("x", text).unwrap();
        assert_eq!(card.announced_size(), Bytes(64_000_000_000));
        assert_eq!(card.model.capacity, Bytes(8_000_000_000));
        assert_eq!(card.model.allocation_unit, Bytes::mib(8));
        assert_eq!(card.model.read.rate.0, 30e6);
        assert_eq!(card.model.read.latencies.page, Nanos::from_micros(700));
        assert_eq!((card.host.queue_depth, card.damage.share_ppm), (2, 10_000));
        let fake = card.fake.unwrap();
        let round = Bytes(10_000_000_000);
        assert_eq!(fake.beyond, Beyond::Chained { round, reads_as: 255 });
        assert_eq!(fake.remembers.writes_max, Some(1000));
    }

    #[test]
    fn what_a_power_cut_does_can_be_described() {
        let text =
            "[power]\nvolatile = \"64KiB\"\nflush = \"ignored\"\ncut = \"torn\"\nshare = 0.25";
        let expected = Power {
            volatile: Bytes::kib(64),
            ignores_flush: true,
            harm: Harm::Torn,
            share_ppm: 250_000,
        };
        assert_eq!(describe("x", text).unwrap().power, Some(expected));
        assert_eq!(describe("x", "[power]").unwrap().power, Some(Power::HONEST));
        assert_eq!(describe("x", "size = \"32GB\"").unwrap().power, None);
    }

    #[test]
    fn every_card_of_the_catalogue_can_be_a_base() {
        for base in crate::catalogue() {
            let card = describe("x", &format!("base = \"{}\"", base.name)).unwrap();
            assert_eq!((card.model, card.fake, card.host), (base.model, base.fake, base.host));
        }
    }

    #[test]
    fn what_describes_no_card_is_a_clear_error() {
        for (text, expected) in [
            ("size = ", "expected"),
            ("sise = \"64GB\"", "sise"),
            ("base = \"none\"", "no simulated card 'none'"),
            ("size = \"64GB\"\nreal_size = \"8GB\"", "needs beyond"),
            ("size = \"8GB\"\nreal_size = \"64GB\"\nbeyond = \"wrap\"", "more than the size"),
            ("size = \"64GB\"\nbeyond = \"wrap\"", "real_size below"),
            ("size = \"64GB\"\nreal_size = \"8GB\"\nbeyond = \"chained\"", "needs a round"),
            ("size = \"1000\"", "multiple of 512"),
            ("size = \"64 parsecs\"", "64 parsecs"),
            ("[damage]\nshare = 2.0", "between 0 and 1"),
            ("[life]\nshape = 2.0", "cycles"),
            ("[life]\ncycles = 0", "at least 1"),
            ("[life]\ncycles = 50\nspares = 3", "between 0 and 1"),
            ("[life]\ncycles = 50\nend = \"explodes\"", "explodes"),
            ("[life]\ncycles = 50\nblock = 100", "multiple of 512"),
            ("[power]\nshare = -0.5", "between 0 and 1"),
            ("[power]\nvolatile = \"1000\"", "multiple of 512"),
            ("[power]\ncut = \"explodes\"", "explodes"),
            ("[power]\nflush = \"sometimes\"", "sometimes"),
            ("[model]\nspeed = 3", "speed"),
            ("[model]\nways = 99", "ways"),
        ] {
            let error = describe("x", text).unwrap_err();
            let mut said = error.to_string();
            if let Some(cause) = std::error::Error::source(&error) {
                said.push_str(&cause.to_string());
            }
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
