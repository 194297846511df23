//! Which command reads a pasted text, for a command that cannot.
//!
//! A text is never only refused where another command reads it: the message names what was recognised and
//! the command to give it to.

mod strangers;

use std::path::Path;

use cardproof_import::{clean, drive_report, iostat, monitors, recognise};
use cardproof_kernel_log as kernel_log;
use cardproof_registers::{find_cards, find_life};
use cardproof_trace::is_blkparse;
use cardproof_units::shell_path;

/// No paste is longer, in bytes.
const LENGTH_MAX: usize = 4 << 20;

/// The commands that read pasted texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// `health --raw`.
    Health,
    /// `identify --raw`.
    Identify,
    /// `import`.
    Import,
    /// `traces`.
    Traces,
    /// `watch --explain`.
    Watch,
    /// `show` and `compare`, which read records and no pasted text.
    Show,
}

impl Reader {
    const ALL: [Self; 5] = [Self::Watch, Self::Traces, Self::Health, Self::Identify, Self::Import];

    const fn words(self) -> &'static str {
        match self {
            Self::Health => "health --raw",
            Self::Identify => "identify --raw",
            Self::Import => "import",
            Self::Traces => "traces",
            Self::Watch => "watch --explain",
            Self::Show => "show",
        }
    }

    /// What of `text` it reads, in words; `cleaned` is the same without quotes and prompts.
    fn recognises(self, text: &str, cleaned: &str) -> Option<String> {
        match self {
            Self::Watch if iostat::iostat(cleaned).is_ok() => Some("a log of iostat".to_owned()),
            Self::Watch => {
                monitors::monitor(cleaned).map(|it| format!("the output of {}", it.name()))
            }
            Self::Traces => is_blkparse(cleaned).then(|| "lines of blkparse".to_owned()),
            Self::Health => {
                tells_wear(cleaned).then(|| "a device's report of its health".to_owned())
            }
            Self::Identify if find_cards(cleaned).is_ok() => {
                Some("the registers of a card".to_owned())
            }
            Self::Identify => {
                let log = kernel_log::read((1..).zip(cleaned.lines()));
                let names_card = log.devices.iter().any(|device| device.card.name.is_some());
                let is_sound = log.devices.iter().all(|device| device.troubles.is_empty());
                let without = if is_sound { ", without a fault" } else { "" };
                names_card.then(|| format!("the kernel's messages about a card{without}"))
            }
            Self::Show => None,
            Self::Import => recognise(text).ok().map(|tools| {
                let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
                format!("the output of {}", names.join(", "))
            }),
        }
    }
}

/// What `text`, which `asked` cannot read, is, and the command that reads it; `None` where none does. The
/// text came from the file at `path`, or from standard input as `-`.
pub(crate) fn other(text: &str, asked: Reader, path: &Path) -> Option<String> {
    if text.len() > LENGTH_MAX {
        return None;
    }
    let cleaned = clean(text).text;
    let by_reader = Reader::ALL.into_iter().filter(|reader| *reader != asked).find_map(|reader| {
        let what = reader.recognises(text, &cleaned)?;
        Some(format!("it is {what}; run `cardproof {} {}`", reader.words(), shell_path(path)))
    });
    by_reader.or_else(|| strangers::Stranger::from_text(&cleaned).map(|it| it.words()))
}

/// Whether a text has lines of smartctl, nvme, sdmon, or of an eMMC's life.
fn tells_wear(cleaned: &str) -> bool {
    // Names in the JSON of smartctl, of nvme and of sdmon, which names the card in each of its forms.
    const NAMES: [&str; 5] = [
        "\"smartctl\"",
        "\"critical_warning\"",
        "\"healthStatusPercentUsed\"",
        "\"enduranceRemainLifePercent\"",
        "\"device\":\"/dev/",
    ];
    cleaned.lines().any(drive_report::is_sign)
        || NAMES.iter().any(|name| cleaned.contains(name))
        || !find_life(cleaned).is_empty()
}
