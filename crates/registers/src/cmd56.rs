//! What SD cards answer to CMD56, by the layouts that their makers or users have published.
//!
//! No standard says what stands there. Four layouts begin with a signature; the fifth, that of Silicon
//! Motion's controllers (Apacer, ADATA, Transcend, Kingston Industrial), has none and is told by the
//! number of a flash maker in its first byte.

/// The length of an answer in bytes.
pub const CMD56_LEN: usize = 512;

/// A known layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cmd56Layout {
    /// SanDisk and Western Digital: signature `DS` or `DW`.
    SanDisk,
    /// Longsys: signature `pX`.
    Longsys,
    /// Micron: signature `ME`.
    Micron,
    /// Swissbit: signature `Sw`.
    Swissbit,
    /// Silicon Motion, without a signature.
    SiliconMotion,
}

/// The arguments of the readings to try, each with the layout that it gives. Silicon Motion's controllers want
/// to be told first ([`CMD56_TWO_STEP`]) and are not among them.
pub const CMD56_READS: [(u32, &[Cmd56Layout]); 3] = [
    (0x0000_0001, &[Cmd56Layout::SanDisk, Cmd56Layout::Longsys]),
    (0x1100_05fb, &[Cmd56Layout::Micron]),
    (0x5342_0001, &[Cmd56Layout::Swissbit]),
];

/// What Silicon Motion's controllers are told, a block of zeros, and a second later asked (sdmon, "2step").
pub const CMD56_TWO_STEP: (u32, u32) = (0x0000_0010, 0x0000_0021);

/// Makers of flash by the first byte of its number (JEDEC JEP106): Micron, SanDisk, Intel, Kioxia, YMTC,
/// SK hynix, Samsung.
const FLASH_MAKERS: [u8; 7] = [0x2c, 0x45, 0x89, 0x98, 0x9b, 0xad, 0xec];

/// Whether `byte` is the first of the numbers of a maker's flash.
#[must_use]
pub fn is_flash_maker(byte: u8) -> bool {
    FLASH_MAKERS.contains(&byte)
}

/// A value of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cmd56Value {
    /// Per cent of the life used.
    Used(f64),
    /// Per cent of the life left.
    Left(f64),
    /// Per cent of the blocks that are good.
    GoodBlocks(f64),
    /// Erases of the least, the average and the most worn block, and of all together.
    Erases {
        /// Of the least worn block.
        min: f64,
        /// Of the average block.
        average: f64,
        /// Of the most worn block.
        max: f64,
        /// Of all together.
        total: f64,
    },
    /// Spare blocks.
    Spares(f64),
}

/// Why an answer is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cmd56Error {
    /// It has another length.
    #[error("an answer to CMD56 has 512 bytes, and this has {0}")]
    Length(usize),
    /// All bytes are alike.
    #[error("every byte is {0:#04x}: the card has not filled the answer")]
    Blank(u8),
    /// No layout that is known.
    #[error("the layout is that of no known maker: it begins with {0:#04x} {1:#04x}")]
    Foreign(u8, u8),
}

/// The layout and the values of `answer`.
///
/// # Errors
/// It says nothing, or in a form that is not known.
pub fn cmd56(answer: &[u8]) -> Result<(Cmd56Layout, Vec<Cmd56Value>), Cmd56Error> {
    if answer.len() != CMD56_LEN {
        return Err(Cmd56Error::Length(answer.len()));
    }
    if let Some(&byte) = answer.first().filter(|first| answer.iter().all(|byte| byte == *first)) {
        return Err(Cmd56Error::Blank(byte));
    }
    let layout = layout(answer).ok_or(Cmd56Error::Foreign(answer[0], answer[1]))?;
    Ok((layout, values(layout, answer)))
}

fn layout(answer: &[u8]) -> Option<Cmd56Layout> {
    // A date of manufacture of six digits stands behind SanDisk's signature.
    let has_date = answer[2..8].iter().all(u8::is_ascii_digit);
    match [answer[0], answer[1]] {
        [b'D', b'S' | b'W'] if has_date => Some(Cmd56Layout::SanDisk),
        [b'p', b'X'] => Some(Cmd56Layout::Longsys),
        [b'M', b'E'] => Some(Cmd56Layout::Micron),
        [b'S', b'w'] => Some(Cmd56Layout::Swissbit),
        [maker, _] if FLASH_MAKERS.contains(&maker) => Some(Cmd56Layout::SiliconMotion),
        _ => None,
    }
}

fn values(layout: Cmd56Layout, answer: &[u8]) -> Vec<Cmd56Value> {
    let of_bytes = |places: &[usize]| {
        places.iter().fold(0_u64, |number, &place| number << 8 | u64::from(answer[place])) as f64
    };
    match layout {
        Cmd56Layout::SanDisk => vec![Cmd56Value::Used(of_bytes(&[8]))],
        Cmd56Layout::Longsys => vec![
            Cmd56Value::Left(of_bytes(&[47, 46, 45, 44])),
            Cmd56Value::Spares(of_bytes(&[35, 34, 33, 32])),
        ],
        Cmd56Layout::Micron => vec![Cmd56Value::Used(of_bytes(&[7]))],
        Cmd56Layout::Swissbit => vec![Cmd56Value::Left(of_bytes(&[80]))],
        Cmd56Layout::SiliconMotion => vec![
            Cmd56Value::Left(of_bytes(&[96, 97]) / 100.0),
            Cmd56Value::GoodBlocks(of_bytes(&[64, 65]) / 100.0),
            Cmd56Value::Erases {
                min: of_bytes(&[106, 107, 100, 101]),
                average: of_bytes(&[104, 105, 98, 99]),
                max: of_bytes(&[108, 109, 102, 103]),
                total: of_bytes(&[80, 81, 82, 83]),
            },
            Cmd56Value::Spares(of_bytes(&[16, 17])),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(bytes: &[(usize, &[u8])]) -> [u8; CMD56_LEN] {
        let mut answer = [0; CMD56_LEN];
        for (place, part) in bytes {
            answer[*place..place + part.len()].copy_from_slice(part);
        }
        answer
    }

    #[test]
    fn sandisk_tells_what_is_used() {
        let answer = answer(&[(0, b"DS211122"), (8, &[27])]);
        assert_eq!(cmd56(&answer), Ok((Cmd56Layout::SanDisk, vec![Cmd56Value::Used(27.0)])));
    }

    /// The figures of an Apacer card in the manual of sdmon.
    #[test]
    fn silicon_motion_tells_hundredths_and_erases() {
        let answer = answer(&[
            (0, &[0x98, 0x3c, 0x98, 0xb3]),
            (16, &[0, 46]),
            (64, &9756_u16.to_be_bytes()),
            (80, &1380_u32.to_be_bytes()),
            (96, &9997_u16.to_be_bytes()),
            (98, &[0, 1, 0, 1, 0, 5]),
        ]);
        let (layout, values) = cmd56(&answer).unwrap();
        assert_eq!(layout, Cmd56Layout::SiliconMotion);
        assert_eq!(values[0], Cmd56Value::Left(99.97));
        let erases = Cmd56Value::Erases { min: 1.0, average: 1.0, max: 5.0, total: 1380.0 };
        assert_eq!(values[2], erases);
        assert_eq!(values[3], Cmd56Value::Spares(46.0));
    }

    #[test]
    fn what_is_no_answer_is_an_error() {
        assert_eq!(cmd56(&[0xff; CMD56_LEN]), Err(Cmd56Error::Blank(0xff)));
        assert_eq!(cmd56(&[0; CMD56_LEN]), Err(Cmd56Error::Blank(0)));
        assert_eq!(cmd56(&[1; 100]), Err(Cmd56Error::Length(100)));
        let foreign = answer(&[(0, b"QQ"), (8, &[27])]);
        assert_eq!(cmd56(&foreign), Err(Cmd56Error::Foreign(b'Q', b'Q')));
        let no_date = answer(&[(0, b"DS"), (8, &[27])]);
        assert!(cmd56(&no_date).is_err(), "a signature alone is none");
    }
}
