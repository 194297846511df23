//! `cardproof identify --raw`: registers typed in, pasted or in a file, as tables of their fields.
//!
//! Works on any machine, for the card is somebody else's. Where the registers of an SD card show signs of
//! a counterfeit, they are told below its tables, with how strong they are.

use std::fmt::Write;
use std::path::Path;

use cardproof_import::{clean, decode};
use cardproof_registers::suspicion::{Evidence, Grade, Suspicion, suspect};
use cardproof_registers::{Certainty, Field, Pasted, PastedCard, SdCsd, Serials, find_cards};
use cardproof_report::{DecodedCard, RegistersDocument};
use cardproof_units::Bytes;

use crate::exit::Failure;
use crate::input;

/// The widths of the columns before the meaning: place, name, value.
const WIDTHS: [usize; 3] = [14, 28, 12];

/// The width of a line.
const LINE_LENGTH: usize = 80;

/// The least room for a meaning beside a long value.
const MEANING_LENGTH_MIN: usize = 16;

/// All registers of a card, as any tool prints them, take a hundredth of it.
const LENGTH_MAX: Bytes = Bytes::mib(1);

/// The text that `--raw` was given: the content of a file of that name, or else itself.
///
/// # Errors
/// [`Failure`] where there is such a file and it cannot be read as text.
pub(crate) fn text_of(argument: &str) -> Result<String, Failure> {
    let path = Path::new(argument);
    let (is_input, is_file) = (argument == "-", path.is_file());
    if !is_input && !is_file {
        return Ok(clean(argument).text);
    }
    let name = if is_input { "standard input" } else { argument };
    let bytes = input::read(path, LENGTH_MAX)
        .map_err(Failure::because(format!("cannot read registers from {name}")))?;
    Ok(clean(&decode(&bytes)).text)
}

/// The registers in `text` as tables, card by card.
///
/// # Errors
/// [`Failure`] with what is wrong where `text` holds no register.
pub(crate) fn show(text: &str, serials: Serials) -> Result<String, Failure> {
    let cards = cards(text)?;
    let tables: Vec<String> = cards.iter().map(|card| tables(card, serials)).collect();
    if let [only] = tables.as_slice() {
        return Ok(only.clone());
    }
    let mut text =
        format!("The text holds registers of {} cards, shown one by one.\n", cards.len());
    for (index, (card, tables)) in cards.iter().zip(&tables).enumerate() {
        let name = card.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        // Writing to a string does not fail.
        let _ = write!(text, "\nCard {}{name}\n\n{tables}", index + 1);
    }
    Ok(text)
}

fn cards(text: &str) -> Result<Vec<PastedCard>, Failure> {
    find_cards(text).map_err(|error| Failure::usage(format!("--raw: {error}")))
}

fn tables(card: &PastedCard, serials: Serials) -> String {
    let mut tables: Vec<String> = card
        .registers
        .iter()
        .map(|register| table(register.title(), &register.fields(serials)))
        .collect();
    tables.extend(suspicion_of(card).map(|suspicion| suspicion_in_words(&suspicion)));
    let faults = card.faults.iter().map(|fault| format!("Not read: {fault}\n"));
    tables.extend(faults);
    tables.join("\n")
}

/// The signs of a counterfeit that an SD card's registers show; `None` without its CID, and where there
/// is no sign.
fn suspicion_of(card: &PastedCard) -> Option<Suspicion> {
    let cid = card.registers.iter().find_map(|register| match register {
        Pasted::SdCid(cid) => Some(cid),
        _ => None,
    })?;
    let csd = card.registers.iter().find_map(|register| match register {
        Pasted::SdCsd(csd) => Some(csd),
        _ => None,
    });
    let product = cid.name.text();
    let evidence = Evidence {
        manufacturer_id: Some(cid.manufacturer_id),
        oem_id: Some(cid.oem_id),
        product: Some(&product),
        serial: Some(cid.serial),
        register_capacity: csd.and_then(SdCsd::capacity),
        device_size: None,
    };
    Some(suspect(&evidence)).filter(|suspicion| suspicion.grade != Grade::None)
}

fn suspicion_in_words(suspicion: &Suspicion) -> String {
    let grade = if suspicion.grade == Grade::Strong { "a strong" } else { "a weak" };
    let mut text = format!("Signs of a counterfeit: {grade} suspicion\n");
    for sign in &suspicion.signs {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  - {sign}");
    }
    for innocent in &suspicion.innocent_explanations {
        let _ = writeln!(text, "  but {innocent}");
    }
    text + "Only a test of the whole capacity proves it: cardproof verify\n"
}

/// The registers in `text` as JSON, card by card.
///
/// # Errors
/// [`Failure`] with what is wrong where `text` holds no register.
pub(crate) fn json(text: &str, serials: Serials) -> Result<String, Failure> {
    let cards = cards(text)?.into_iter().map(|card| {
        let suspicion = suspicion_of(&card);
        DecodedCard::new(card, serials, suspicion)
    });
    let document = RegistersDocument::new(cards.collect());
    let text = serde_json::to_string_pretty(&document)
        .map_err(Failure::because("cannot write the registers as JSON"))?;
    Ok(text + "\n")
}

fn table(title: &str, fields: &[Field]) -> String {
    let mut text = format!("{title}\n");
    for field in fields {
        let place = field.position.to_string();
        let [place_width, name_width, value_width] = WIDTHS;
        let start = format!(
            "  {place:<place_width$}{:<name_width$}{:<value_width$}",
            field.name, field.value
        );
        // Writing to a string does not fail.
        let _ = writeln!(text, "{}", with_meaning(&start, &meaning(field)));
    }
    text
}

fn meaning(field: &Field) -> String {
    match field.certainty {
        Certainty::Documented => field.meaning.clone(),
        Certainty::Unverified => format!("unverified; {}", field.meaning),
    }
}

/// A line with its meaning, wrapped at words below its own column; after a value that leaves no
/// room for it, on the next line.
fn with_meaning(start: &str, meaning: &str) -> String {
    let indent = 2 + WIDTHS.iter().sum::<usize>();
    let length = start.trim_end().chars().count() + 1;
    let has_room = length <= LINE_LENGTH - MEANING_LENGTH_MIN;
    let column = if has_room { indent.max(length) } else { indent };
    let mut lines = vec![format!("{:<column$}", start.trim_end())];
    if !has_room {
        lines.push(" ".repeat(indent));
    }
    let mut is_fresh = true;
    for word in meaning.split_whitespace() {
        let last = lines.last().map_or(0, |line| line.chars().count());
        if !is_fresh && last + 1 + word.chars().count() > LINE_LENGTH {
            lines.push(" ".repeat(indent));
            is_fresh = true;
        }
        if let Some(line) = lines.last_mut() {
            if !is_fresh {
                line.push(' ');
            }
            line.push_str(word);
        }
        is_fresh = false;
    }
    let lines: Vec<&str> =
        lines.iter().map(|line| line.trim_end()).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use cardproof_report::REGISTERS_SCHEMA;

    use super::*;

    const CARD: &str = "cid: 035344534E363447867E650771016B8D\n\
                        csd: 400E0032DB790001DBD37F800A4040F9\n\
                        scr: 0245848700000000\n";

    #[test]
    fn a_cards_registers_are_shown_in_full_and_without_its_serial_number() {
        insta::assert_snapshot!(show(CARD, Serials::Masked).unwrap());
    }

    /// An SD card and an eMMC in one text.
    const TWO_CARDS: &str = "### mmc0:0007 info:\n cid: 2750485344313647301234567800fb61\n type: SD\n\
                             ### mmc1:0001 info:\n cid: 1501004d384731474303123456785000\n type: MMC\n";

    #[test]
    fn two_cards_are_shown_one_after_the_other() {
        let shown = show(TWO_CARDS, Serials::Masked).unwrap();
        assert!(shown.starts_with("The text holds registers of 2 cards"), "{shown}");
        let (first, second) = shown.split_once("Card 2 (mmc1:0001)").unwrap();
        assert!(first.contains("Card 1 (mmc0:0007)") && first.contains("SD16G"), "{shown}");
        assert!(second.contains("CID of an eMMC or MMC") && second.contains("M8G1GC"), "{shown}");
    }

    #[test]
    fn the_json_holds_every_card_and_no_serial_number() {
        let text = json(TWO_CARDS, Serials::Masked).unwrap();
        assert!(!text.contains("12345678"), "{text}");
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let title = |card: usize| &document["cards"][card]["registers"][0]["title"];
        assert_eq!(document["schema"], REGISTERS_SCHEMA);
        assert_eq!(title(0), "CID of an SD card");
        assert_eq!(title(1), "CID of an eMMC or MMC");
        assert_eq!(document["cards"][2], serde_json::Value::Null);
    }

    #[test]
    fn the_serial_number_is_shown_when_asked_for() {
        assert!(!show(CARD, Serials::Masked).unwrap().contains("7e650771"));
        assert!(show(CARD, Serials::Shown).unwrap().contains("0x7e650771"));
    }

    #[test]
    fn an_sd_status_and_an_emmcs_register_keep_to_80_columns() {
        let mut ssr = "ff".repeat(64);
        ssr.replace_range(16..20, "04ff");
        for text in [ssr, "ff".repeat(512), "00".repeat(512), "ff".repeat(16)] {
            let shown = show(&text, Serials::Shown).unwrap();
            for line in shown.lines() {
                assert!(line.chars().count() <= LINE_LENGTH, "{line}");
            }
        }
    }

    #[test]
    fn a_text_without_a_register_is_a_wrong_command_line() {
        let failure = show("hello", Serials::Masked).unwrap_err();
        assert_eq!(failure.exit, crate::exit::Exit::Usage);
        assert!(failure.message.contains("character 1"), "{}", failure.message);
    }
}
