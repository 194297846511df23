//! Units of rates, as people write them.

/// A unit of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RateUnit {
    /// Operations a second.
    Iops,
    /// kB/s or KB/s.
    KiloBytes,
    /// KiB/s.
    Kibibytes,
    /// MB/s.
    MegaBytes,
    /// MiB/s.
    Mebibytes,
    /// GB/s.
    GigaBytes,
    /// GiB/s.
    Gibibytes,
}

impl RateUnit {
    /// One of it in bytes a second; nothing for operations. As of dd, kB, MB and GB are powers of 1000.
    pub(super) const fn bytes_per_s(self) -> Option<f64> {
        Some(match self {
            Self::Iops => return None,
            Self::KiloBytes => 1e3,
            Self::Kibibytes => 1024.0,
            Self::MegaBytes => 1e6,
            Self::Mebibytes => 1_048_576.0,
            Self::GigaBytes => 1e9,
            Self::Gibibytes => 1_073_741_824.0,
        })
    }

    /// As it is printed.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Iops => "IOPS",
            Self::KiloBytes => "kB/s",
            Self::Kibibytes => "KiB/s",
            Self::MegaBytes => "MB/s",
            Self::Mebibytes => "MiB/s",
            Self::GigaBytes => "GB/s",
            Self::Gibibytes => "GiB/s",
        }
    }
}

/// How people write the units, the longer before the shorter. `Mb/s` and `Mbps` are bits, or are meant as
/// bytes: they are no unit here.
const UNITS: [(&str, RateUnit); 30] = [
    ("MByte/s", RateUnit::MegaBytes),
    ("MBytes/s", RateUnit::MegaBytes),
    ("MiB/sec", RateUnit::Mebibytes),
    ("MB/sec", RateUnit::MegaBytes),
    ("mb/sec", RateUnit::MegaBytes),
    ("MiB/s", RateUnit::Mebibytes),
    ("MiBps", RateUnit::Mebibytes),
    ("MB/s", RateUnit::MegaBytes),
    ("mb/s", RateUnit::MegaBytes),
    ("MBps", RateUnit::MegaBytes),
    ("MBPS", RateUnit::MegaBytes),
    ("KiB/sec", RateUnit::Kibibytes),
    ("kB/sec", RateUnit::KiloBytes),
    ("KB/sec", RateUnit::KiloBytes),
    ("KiB/s", RateUnit::Kibibytes),
    ("KiBps", RateUnit::Kibibytes),
    ("kB/s", RateUnit::KiloBytes),
    ("KB/s", RateUnit::KiloBytes),
    ("kb/s", RateUnit::KiloBytes),
    ("KBps", RateUnit::KiloBytes),
    ("kBps", RateUnit::KiloBytes),
    ("GiB/s", RateUnit::Gibibytes),
    ("GB/s", RateUnit::GigaBytes),
    ("GBps", RateUnit::GigaBytes),
    ("IOPS", RateUnit::Iops),
    ("iops", RateUnit::Iops),
    ("IOPs", RateUnit::Iops),
    ("IOps", RateUnit::Iops),
    ("IO/s", RateUnit::Iops),
    ("ops/s", RateUnit::Iops),
];

/// The unit that `text` names and the rest; nothing where it names two.
pub(super) fn without_unit(text: &str) -> Option<(Option<RateUnit>, String)> {
    let mut rest = String::with_capacity(text.len());
    let mut unit = None;
    let mut at = 0;
    while at < text.len() {
        let is_start = !text[..at].ends_with(|c: char| c.is_ascii_alphabetic());
        match unit_at(&text[at..]).filter(|_| is_start) {
            Some((found, length)) => {
                if unit.is_some_and(|known| known != found) {
                    return None;
                }
                unit = Some(found);
                rest.push(' ');
                at += length;
            }
            None => {
                let c = text[at..].chars().next()?;
                rest.push(c);
                at += c.len_utf8();
            }
        }
    }
    Some((unit, rest))
}

/// The unit with which `text` begins, and how long its name is.
pub(super) fn unit_at(text: &str) -> Option<(RateUnit, usize)> {
    let first = text.as_bytes().first()?;
    if !b"MmKkGIio".contains(first) {
        return None;
    }
    UNITS.iter().find_map(|(name, unit)| {
        let rest = text.strip_prefix(name)?;
        let is_end = !rest.starts_with(|c: char| c.is_alphanumeric() || c == '/');
        is_end.then_some((*unit, name.len()))
    })
}

/// The unit that a sentence names for all figures: `in MB/s`, `(MB/s)`, `[IOPS]`.
pub(super) fn unit_in_sentence(text: &str) -> Option<RateUnit> {
    let marks = ["in ", "(", "[", "are "];
    let named = marks.iter().find_map(|mark| {
        text.match_indices(mark).find_map(|(at, _)| unit_at(&text[at + mark.len()..]))
    })?;
    let (unit, _) = without_unit(text)?;
    unit.filter(|unit| *unit == named.0)
}
