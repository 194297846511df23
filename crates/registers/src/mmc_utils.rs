//! Registers as mmc-utils prints them: by the names of their fields, without the register's hex.
//!
//! `mmc extcsd read` prints `Card Type [CARD_TYPE: 0x57]`; `mmc cid read` and `mmc csd read` print
//! `MID: 0x15 (Samsung)` below a heading such as `======MMC/CID======`. The fields are put back to
//! their places, and only those that the text gives in full are shown. A number that the text
//! does not give in the register's own code is left out.

use crate::makers::sd_manufacturer;
use crate::position::{Position, bits};
use crate::{ByteOrder, ExtCsd, Field, MmcCid, MmcCsd, Pasted, Register, SdCid, SdCsd, Serials};

/// The register that a text of mmc-utils tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    SdCid,
    MmcCid,
    SdCsd,
    MmcCsd,
    ExtCsd,
}

/// The headings of CID and CSD.
const HEADINGS: [(&str, Kind); 4] = [
    ("=SD/CID=", Kind::SdCid),
    ("=MMC/CID=", Kind::MmcCid),
    ("=SD/CSD=", Kind::SdCsd),
    ("=MMC/CSD=", Kind::MmcCsd),
];

/// The words before the revision of EXT_CSD.
const EXT_CSD_HEADING: &str = "Extended CSD rev 1.";

/// Names that differ from those of the specification.
const OTHER_NAMES: [(&str, &str); 2] =
    [("CARD_TYPE", "DEVICE_TYPE"), ("BOOT_SIZE_MULTI", "BOOT_SIZE_MULT")];

/// A field that mmc-utils prints in another unit.
const CACHE_SIZE: &str = "CACHE_SIZE";

/// Fields that need others for their meaning.
const C_SIZE: &str = "C_SIZE";

/// A register as its text tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Text {
    pub(super) kind: Kind,
    values: Vec<(String, String)>,
}

/// A register of which a part is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partial {
    register: Pasted,
    known: Vec<u8>,
}

impl Partial {
    /// The register, in which all that the text does not tell is zero.
    #[must_use]
    pub const fn register(&self) -> &Pasted {
        &self.register
    }

    /// The fields that the text tells in full.
    #[must_use]
    pub fn fields(&self, serials: Serials) -> Vec<Field> {
        let mut fields = self.register.fields(serials);
        fields.retain(|field| is_known(field.position, &self.known));
        let has = |name| fields.iter().any(|field: &Field| field.name == name);
        let has_size = has("CSD_STRUCTURE")
            && has("READ_BL_LEN")
            && (has("C_SIZE_MULT") || has("C_SIZE (v2)") || has("C_SIZE (v3)"));
        let has_group = has("ERASE_GRP_SIZE") && has("ERASE_GRP_MULT");
        fields.retain(|field| has_size || !field.name.starts_with(C_SIZE));
        fields.retain(|field| has_group || field.name != "ERASE_GRP_MULT");
        fields
    }
}

/// The first lines of `mmc cid read` without `-v`.
const PLAIN_HEADINGS: [(&str, Kind); 2] =
    [("type: 'SD'", Kind::SdCid), ("type: 'MMC'", Kind::MmcCid)];

/// The register that begins at `line`, if one does.
pub(super) fn heading(line: &str) -> Option<Text> {
    if let Some((_, kind)) = PLAIN_HEADINGS.iter().find(|(heading, _)| line.trim() == *heading) {
        return Some(Text { kind: *kind, values: Vec::new() });
    }
    if let Some((_, rest)) = line.split_once(EXT_CSD_HEADING) {
        let revision = rest.split(' ').next().unwrap_or_default();
        let values = vec![("EXT_CSD_REV".to_owned(), revision.to_owned())];
        return Some(Text { kind: Kind::ExtCsd, values });
    }
    let (_, kind) = HEADINGS.iter().find(|(heading, _)| line.contains(heading))?;
    Some(Text { kind: *kind, values: Vec::new() })
}

/// A text of which only `line` is there so far, if it is one of EXT_CSD's.
pub(super) fn without_heading(line: &str) -> Option<Text> {
    let value = bracketed(line)?;
    let is_field = places(Kind::ExtCsd).iter().any(|(name, _)| *name == value.0);
    is_field.then(|| Text { kind: Kind::ExtCsd, values: vec![value] })
}

impl Text {
    /// Takes the field that `line` tells; `false` where it tells none of this register's, or one
    /// for the second time.
    pub(super) fn take(&mut self, line: &str) -> bool {
        if matches!(self.kind, Kind::SdCid | Kind::MmcCid)
            && let Some(values) = plain(line, self.kind)
        {
            let is_repeated = values.iter().any(|(name, _)| self.has(name));
            if !is_repeated {
                self.values.extend(values);
            }
            return !is_repeated;
        }
        let value = if self.kind == Kind::ExtCsd { bracketed(line) } else { named(line) };
        let Some(value) = value else { return false };
        if self.has(&value.0) || self.place(&value.0).is_none() {
            return false;
        }
        self.values.push(value);
        true
    }

    fn has(&self, name: &str) -> bool {
        self.values.iter().any(|(known, _)| known == name)
    }

    /// The register with the fields at their places; `None` where the text tells no field.
    pub(super) fn decode(&self) -> Option<Pasted> {
        let length = if self.kind == Kind::ExtCsd { 512 } else { 16 };
        let (mut bytes, mut known) = (vec![0; length], vec![0; length]);
        for (name, value) in &self.values {
            let Some(position) = self.place(name) else { continue };
            let Some(number) = self.number(name, value, position) else { continue };
            write(position, number, &mut bytes);
            write(position, u64::MAX, &mut known);
        }
        let register = match self.kind {
            Kind::SdCid => SdCid::from_slice(&bytes).map(Pasted::SdCid),
            Kind::MmcCid => MmcCid::from_slice(&bytes).map(Pasted::MmcCid),
            Kind::SdCsd => SdCsd::from_slice(&bytes).map(Pasted::SdCsd),
            Kind::MmcCsd => MmcCsd::from_slice(&bytes).map(Pasted::MmcCsd),
            Kind::ExtCsd => ExtCsd::from_slice(&bytes)
                .map(|register| Pasted::ExtCsd(Box::new(register), ByteOrder::FirstFirst)),
        };
        let partial = Partial { register: register.ok()?, known };
        let tells = !partial.fields(Serials::Masked).is_empty();
        tells.then(|| Pasted::Partial(Box::new(partial)))
    }

    fn place(&self, name: &str) -> Option<Position> {
        match (self.kind, name) {
            (Kind::SdCid, "PRV") => Some(bits(63, 56)),
            (Kind::SdCid, "MDT") => Some(bits(19, 8)),
            (Kind::MmcCid, "MDT") => Some(bits(15, 8)),
            (Kind::SdCsd, C_SIZE) => {
                let structure = self.values.iter().find(|(name, _)| name == "CSD_STRUCTURE")?;
                match number(&structure.1)? {
                    0 => Some(bits(73, 62)),
                    1 => Some(bits(69, 48)),
                    _ => None,
                }
            }
            _ => places(self.kind).into_iter().find(|(known, _)| *known == name).map(|(_, at)| at),
        }
    }

    /// The value as the number that stands in the register; `None` where it does not fit.
    fn number(&self, name: &str, value: &str, position: Position) -> Option<u64> {
        let width = width(position);
        let number = match (self.kind, name) {
            (Kind::SdCid | Kind::MmcCid, "PNM") | (Kind::SdCid, "OID") => {
                let letters = value.trim_matches('\'').as_bytes();
                if letters.len() > width / 8 {
                    return None;
                }
                let filled = letters.iter().chain(std::iter::repeat(&0)).take(width / 8);
                filled.fold(0, |number, &byte| number << 8 | u64::from(byte))
            }
            _ => number(value)?,
        };
        (width >= 64 || number >> width == 0).then_some(number)
    }
}

/// The name and the value of `[NAME: 0x12]`.
fn bracketed(line: &str) -> Option<(String, String)> {
    let (_, rest) = line.split_once('[')?;
    let (inside, after) = rest.split_once(']')?;
    if let (CACHE_SIZE, Some(kib)) = (inside, kibibytes(after)) {
        // The register counts kilobits.
        return Some((CACHE_SIZE.to_owned(), format!("{:#x}", kib.checked_mul(8)?)));
    }
    let (name, value) =
        inside.split_once(':').or_else(|| Some((inside, after.split_once(':')?.1)))?;
    let value = value.trim();
    // Some versions put the register's name before those of its fields.
    let is_own = name == "EXT_CSD_REV";
    let name = name.strip_prefix("EXT_CSD_").filter(|_| !is_own).unwrap_or(name);
    let name = OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(name, |names| names.1);
    value.starts_with("0x").then(|| (name.to_owned(), value.to_owned()))
}

/// The number in `is 65536 KiB`.
fn kibibytes(text: &str) -> Option<u64> {
    text.trim().strip_prefix("is ")?.strip_suffix(" KiB")?.trim().parse().ok()
}

/// The fields in a line of `mmc cid read` without `-v`, such as `product: 'SD128' 8.5`, as the names and
/// values that it prints with `-v`.
fn plain(line: &str, kind: Kind) -> Option<Vec<(String, String)>> {
    let field = |name: &str, value: String| (name.to_owned(), value);
    let (name, rest) = line.trim().split_once(": ")?;
    let quoted: Vec<&str> = rest.split('\'').skip(1).step_by(2).collect();
    match name {
        "manufacturer" if kind == Kind::SdCid => {
            let oem = *quoted.last()?;
            let letters = *<&[u8; 2]>::try_from(oem.as_bytes()).ok()?;
            let code = rest.strip_prefix("0x").and_then(|rest| rest.split(' ').next());
            let known = code.and_then(|code| u8::from_str_radix(code, 16).ok());
            let by_name = || sd_manufacturer(quoted.first()?, u16::from_be_bytes(letters));
            let id = known.or_else(by_name).map(|id| field("MID", format!("{id:#04x}")));
            Some(id.into_iter().chain([field("OID", format!("'{oem}'"))]).collect())
        }
        "manufacturer" => Some(Vec::new()),
        "product" => {
            let product = field("PNM", format!("'{}'", quoted.first()?));
            let revision = rest.rsplit(' ').next().and_then(|it| it.split_once('.'));
            let nibbles = revision
                .and_then(|(high, low)| Some((high.parse::<u8>().ok()?, low.parse::<u8>().ok()?)))
                .filter(|(high, low)| *high < 16 && *low < 16);
            let revision =
                nibbles.map(|(high, low)| field("PRV", format!("{:#04x}", high << 4 | low)));
            Some([product].into_iter().chain(revision).collect())
        }
        "serial" => Some(vec![field("PSN", rest.trim().to_owned())]),
        "manufacturing date" => {
            let (year, month) = rest.trim().split_once(' ')?;
            let month = MONTHS.iter().position(|known| *known == month)? as u16 + 1;
            let year: u16 = year.parse().ok()?;
            let code = match kind {
                Kind::SdCid => (year.checked_sub(2000).filter(|year| *year < 256)? << 4) | month,
                _ => (month << 4) | (year.checked_sub(1997)? % 16),
            };
            Some(vec![field("MDT", format!("{code:#x}"))])
        }
        _ => None,
    }
}

/// The months as mmc-utils prints them.
const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The name and the value of `NAME: 0x12 (words)`.
fn named(line: &str) -> Option<(String, String)> {
    let (name, value) = line.trim().split_once(": ")?;
    let is_name =
        name.bytes().all(|byte| byte.is_ascii_uppercase() || b"_0123456789".contains(&byte));
    (is_name && !name.is_empty()).then(|| (name.to_owned(), value.trim().to_owned()))
}

/// The number at the start of `value`, in hex after `0x`.
fn number(value: &str) -> Option<u64> {
    let word = value.split(' ').next()?;
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}

/// The names and places of a register's fields.
fn places(kind: Kind) -> Vec<(&'static str, Position)> {
    fn of<R: Register>(length: usize) -> Vec<Field> {
        R::from_slice(&vec![0; length])
            .map_or_else(|_| Vec::new(), |register| register.fields(Serials::Masked))
    }
    let fields = match kind {
        Kind::SdCid => of::<SdCid>(SdCid::LENGTH_BYTES),
        Kind::MmcCid => of::<MmcCid>(MmcCid::LENGTH_BYTES),
        Kind::SdCsd => of::<SdCsd>(SdCsd::LENGTH_BYTES),
        Kind::MmcCsd => of::<MmcCsd>(MmcCsd::LENGTH_BYTES),
        Kind::ExtCsd => of::<ExtCsd>(ExtCsd::LENGTH_BYTES),
    };
    fields.into_iter().map(|field| (field.name, field.position)).collect()
}

/// How many bits a place has.
const fn width(position: Position) -> usize {
    match position {
        Position::Bits { high, low } => high - low + 1,
        Position::Bytes { first, last } => (last - first + 1) * 8,
    }
}

/// Puts the lowest bits of `number` to `position`.
fn write(position: Position, number: u64, register: &mut [u8]) {
    for index in 0..width(position) {
        let (byte, bit) = match position {
            Position::Bits { low, .. } => {
                (register.len().checked_sub(1 + (low + index) / 8), (low + index) % 8)
            }
            Position::Bytes { first, .. } => (Some(first + index / 8), index % 8),
        };
        if let Some(byte) = byte.and_then(|byte| register.get_mut(byte)) {
            *byte |= ((number >> index & 1) as u8) << bit;
        }
    }
}

/// Whether all bits at `position` are set in `known`.
fn is_known(position: Position, known: &[u8]) -> bool {
    position.read(known) == u64::MAX >> (64 - width(position))
}
