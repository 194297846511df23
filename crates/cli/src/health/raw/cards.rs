//! What cards tell of their wear: answers to CMD56, EXT_CSD in any form in which it is printed.

use cardproof_evidence::health::{Precision, Reading, Unit, Value};
use cardproof_registers::{
    Block, ByteOrder, CMD56_LEN, Cmd56Layout, Cmd56Value, ExtCsd, LifeCodes, cmd56, find_blocks,
    find_life,
};

use crate::health::Sourced;
use crate::health::values::{hundredths, value, with_values};

/// The readings in the registers and answers that `text` holds in hex, and in the lines of sysfs and
/// mmc-utils that tell an eMMC's life.
pub(super) fn in_text(text: &str) -> Vec<Sourced> {
    let mut found: Vec<Sourced> = find_blocks(text, CMD56_LEN).into_iter().map(of_block).collect();
    let is_told = |codes: &LifeCodes| {
        let sourced = of_codes(codes);
        found.iter().any(|known| known.reading == sourced.reading)
    };
    let lives: Vec<LifeCodes> = find_life(text).into_iter().filter(|it| !is_told(it)).collect();
    found.extend(lives.iter().map(of_codes));
    found
}

fn of_codes(codes: &LifeCodes) -> Sourced {
    let is_reserve_alone = codes.a == 0 && codes.b == 0 && codes.reserve > 0;
    let sourced = if is_reserve_alone {
        with_values(reserve_used(codes.reserve).into_iter().collect())
    } else {
        of_life_codes(codes.a, codes.b, codes.reserve)
    };
    Sourced { card: codes.card.clone(), ..sourced }
}

fn of_block(block: Block) -> Sourced {
    let sourced =
        ext_csd(&block.bytes).map_or_else(|| of_cmd56(&block.bytes), |csd| of_ext_csd(&csd));
    Sourced { card: block.card, ..sourced }
}

/// EXT_CSD, where `bytes` are one: its revision and its structure have few values, and so has life. With
/// byte 511 first it is one only where no card answers so to CMD56.
fn ext_csd(bytes: &[u8]) -> Option<ExtCsd> {
    let (csd, order) = ExtCsd::from_dump_bytes(bytes, None).ok()?;
    let has_values = (1..=9).contains(&csd.revision)
        && csd.csd_structure <= 3
        && [csd.pre_eol_code, csd.life_a_code, csd.life_b_code].iter().all(|code| *code <= 0x0b)
        && csd.sectors != 0;
    (has_values && (order == ByteOrder::FirstFirst || cmd56(bytes).is_err())).then_some(csd)
}

/// An answer to CMD56.
pub(in crate::health) fn of_cmd56(answer: &[u8]) -> Sourced {
    match cmd56(answer) {
        Err(error) => rejected(error.to_string()),
        Ok((layout, values)) => {
            let values: Vec<Value> =
                values.into_iter().flat_map(|found| of_cmd56_value(layout, found)).collect();
            with_values(values)
        }
    }
}

/// A reading that says nothing, for `reason`.
fn rejected(reason: String) -> Sourced {
    let values = vec![value("life_used", 0.0, Unit::PercentUsed)];
    Sourced {
        reading: Reading { values, time_s: None, rejected: Some(reason) },
        ..Sourced::default()
    }
}

fn of_cmd56_value(layout: Cmd56Layout, found: Cmd56Value) -> Vec<Value> {
    match found {
        Cmd56Value::Left(percent) if layout == Cmd56Layout::SiliconMotion => {
            vec![hundredths("life_left", percent, Unit::PercentLeft)]
        }
        Cmd56Value::Used(percent) => vec![value("life_used", percent, Unit::PercentUsed)],
        Cmd56Value::Left(percent) => vec![value("life_left", percent, Unit::PercentLeft)],
        Cmd56Value::GoodBlocks(percent) => {
            vec![hundredths("good_blocks", percent, Unit::PercentLeft)]
        }
        Cmd56Value::Spares(count) => vec![value("spare_blocks", count, Unit::Level)],
        Cmd56Value::Erases { min, average, max, total } => vec![
            value("erases_min", min, Unit::Count),
            value("erases_average", average, Unit::Count),
            value("erases_max", max, Unit::Count),
            value("erases_total", total, Unit::Count),
        ],
    }
}

/// EXT_CSD of an eMMC: used life in bands of 10 %, spare blocks in three levels.
fn of_ext_csd(csd: &ExtCsd) -> Sourced {
    of_life_codes(csd.life_a_code, csd.life_b_code, csd.pre_eol_code)
}

/// The codes of used life of both kinds of memory, and of the spare blocks.
pub(in crate::health) fn of_life_codes(a: u8, b: u8, reserve: u8) -> Sourced {
    let codes = [("life_used_a", a), ("life_used_b", b)];
    if codes.iter().all(|(_, code)| *code == 0) {
        return rejected(
            "both life estimates are 0, not defined: the eMMC does not tell".to_owned(),
        );
    }
    if let Some((name, code)) = codes.iter().find(|(_, code)| *code > 0x0b) {
        return rejected(format!("{name} is {code:#04x}, which the standard does not define"));
    }
    let mut values: Vec<Value> = codes
        .iter()
        .filter(|(_, code)| *code > 0)
        .map(|(name, code)| Value::band(name, *code))
        .collect();
    values.extend(reserve_used(reserve));
    with_values(values)
}

/// The share of the spare blocks that are used, by the code of `PRE_EOL_INFO` (JESD84-B51): normal, warning from
/// 80 % on, urgent from 90 % on.
fn reserve_used(code: u8) -> Option<Value> {
    let (low, high) = match code {
        1 => (0.0, 80.0),
        2 => (80.0, 90.0),
        3 => (90.0, 100.0),
        _ => return None,
    };
    let precision = Precision::Between(low, high);
    Some(Value { name: "reserve_used", value: low, unit: Unit::PercentUsed, precision })
}
