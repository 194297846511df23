//! The published form of decoded registers: `cardproof.registers/1`, what `identify --raw --json` decodes.

use cardproof_registers::suspicion::{Grade, Suspicion};
use cardproof_registers::{Certainty, Field, Pasted, PastedCard, Serials};
use serde::Serialize;

/// The name and version of the form.
pub const REGISTERS_SCHEMA: &str = "cardproof.registers/1";

/// What `identify --raw --json` decodes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct RegistersDocument {
    /// Name and version of this form.
    schema: &'static str,
    /// The cards of the text, in its order.
    cards: Vec<DecodedCard>,
}

/// One card.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
pub struct DecodedCard {
    /// The card's name in the text, if it has one.
    name: Option<String>,
    /// Its registers.
    registers: Vec<DecodedRegister>,
    /// Signs of a counterfeit in an SD card's registers; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    suspicion: Option<DecodedSuspicion>,
    /// What looks like a register and is none, in words; absent if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<String>,
}

/// Signs of a counterfeit in an SD card's registers.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct DecodedSuspicion {
    /// Whether the suspicion is strong.
    is_strong: bool,
    /// Each sign, in words.
    signs: Vec<String>,
    /// Genuine cards that show such signs, in words.
    innocent_explanations: Vec<&'static str>,
}

/// One register.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct DecodedRegister {
    /// The register's name.
    title: &'static str,
    /// Its fields.
    fields: Vec<DecodedField>,
}

/// One field of a register.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(deny_unknown_fields))]
struct DecodedField {
    /// The field's name in the specification.
    name: &'static str,
    /// Its bits or bytes.
    position: String,
    /// Its raw value; masked where it is a serial number and --show-serial is not given.
    value: String,
    /// Its meaning in words.
    meaning: String,
    /// False where the meaning is not from a public specification.
    is_documented: bool,
}

impl RegistersDocument {
    /// The document of `cards`.
    #[must_use]
    pub const fn new(cards: Vec<DecodedCard>) -> Self {
        Self { schema: REGISTERS_SCHEMA, cards }
    }
}

impl DecodedCard {
    /// The registers of `card`, which show such a `suspicion`.
    #[must_use]
    pub fn new(card: PastedCard, serials: Serials, suspicion: Option<Suspicion>) -> Self {
        let registers = card.registers.iter().map(|it| DecodedRegister::new(it, serials));
        Self {
            registers: registers.collect(),
            name: card.name,
            suspicion: suspicion.map(DecodedSuspicion::from),
            faults: card.faults.iter().map(ToString::to_string).collect(),
        }
    }
}

impl DecodedRegister {
    fn new(register: &Pasted, serials: Serials) -> Self {
        let fields = register.fields(serials).into_iter().map(DecodedField::from).collect();
        Self { title: register.title(), fields }
    }
}

impl From<Suspicion> for DecodedSuspicion {
    fn from(suspicion: Suspicion) -> Self {
        Self {
            is_strong: suspicion.grade == Grade::Strong,
            signs: suspicion.signs,
            innocent_explanations: suspicion.innocent_explanations,
        }
    }
}

impl From<Field> for DecodedField {
    fn from(field: Field) -> Self {
        Self {
            name: field.name,
            position: field.position.to_string(),
            value: field.value,
            meaning: field.meaning,
            is_documented: field.certainty == Certainty::Documented,
        }
    }
}
