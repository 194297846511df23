//! A profile of the user's own, in a TOML file.
//!
//! Its words are those of `cardproof profiles`: a phase says what its operations do, where, how many
//! at a time, and what ends it. Nothing is guessed: a word that is not known is an error with its
//! line, and a phase without an end is refused.

use std::fmt::Display;
use std::str::FromStr;

use cardproof_io::{Arrangement, Caching, Calls, FileState};
use cardproof_units::{Bytes, Iops, Nanos};
use serde::{Deserialize, Deserializer, de};

use crate::bounds;
use crate::{
    Access, Aggregate, Ends, FigureSpec, Origin, PhaseSpec, Profile, Quantity, Repetition, Role,
    TimeLimit, Unit,
};

/// Why a file is no profile.
#[derive(Debug, thiserror::Error)]
pub enum OwnError {
    /// Not TOML, or not of this form; the message shows the line.
    #[error("{0}")]
    Malformed(String),
    /// A phase that cannot be run.
    #[error("the phase {phase}: {what}")]
    Phase {
        /// Its name.
        phase: String,
        /// What is wrong with it.
        what: String,
    },
    /// Something beyond its limit.
    #[error("{0}")]
    Limit(String),
    /// A figure of a phase that is not there.
    #[error("the figure {figure} is of the phase {phase}, and there is no such phase")]
    Figure {
        /// Its name.
        figure: String,
        /// The phase.
        phase: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    purpose: Option<String>,
    source: Option<String>,
    #[serde(deserialize_with = "parsed")]
    span: Bytes,
    #[serde(default, deserialize_with = "maybe_parsed")]
    time_budget: Option<Nanos>,
    phase: Vec<Phase>,
    #[serde(default)]
    figure: Vec<FigureEntry>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Op {
    Read,
    Write,
    Mixed,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Pattern {
    Sequential,
    /// With repetition.
    Random,
    /// Each block once.
    RandomOnce,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum State {
    #[default]
    AsIs,
    New,
    NewReserved,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Phase {
    name: String,
    op: Op,
    #[serde(default = "half")]
    read_percent: u8,
    pattern: Pattern,
    #[serde(deserialize_with = "parsed")]
    block_size: Bytes,
    #[serde(default = "one")]
    queue_depth: u16,
    #[serde(default, deserialize_with = "maybe_parsed")]
    span: Option<Bytes>,
    #[serde(default, deserialize_with = "maybe_parsed")]
    alignment_offset: Option<Bytes>,
    #[serde(default, deserialize_with = "maybe_parsed")]
    time: Option<Nanos>,
    share: Option<u32>,
    #[serde(default, deserialize_with = "maybe_parsed")]
    bytes: Option<Bytes>,
    ops: Option<u64>,
    fsync_every: Option<u32>,
    #[serde(default)]
    flush_at_end: bool,
    rate_limit: Option<f64>,
    #[serde(default)]
    lays_out: bool,
    #[serde(default)]
    cached: bool,
    #[serde(default)]
    file: State,
    #[serde(default = "single")]
    repeat: u32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FigureEntry {
    name: String,
    tool: Option<String>,
    unit: String,
    unit_bytes: Option<f64>,
    of: Of,
    phases: Vec<String>,
    #[serde(default)]
    best: bool,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Of {
    Bytes,
    Operations,
    Reads,
    Writes,
    BytesRead,
    BytesWritten,
}

/// The profile `name` that the TOML file `text` describes.
///
/// # Errors
/// The text is of another form, or a phase cannot be run.
pub fn from_toml(name: &str, text: &str) -> Result<Profile, OwnError> {
    let file: File =
        toml::from_str(text).map_err(|error| OwnError::Malformed(error.to_string()))?;
    let mut phases: Vec<PhaseSpec> = Vec::new();
    for phase in &file.phase {
        let failed = |what| OwnError::Phase { phase: phase.name.clone(), what };
        bounds::check_count(phases.len(), phase.repeat).map_err(failed)?;
        check(&one_phase(phase, file.span), file.span)?;
        phases.extend(self::phases(phase, file.span));
    }
    let figures: Result<Vec<FigureSpec>, OwnError> =
        file.figure.into_iter().map(|figure| spec(figure, &phases)).collect();
    let profile = Profile {
        name: name.to_owned(),
        version: 1,
        purpose: file.purpose.unwrap_or_else(|| "not stated by its author".to_owned()),
        source: file.source.unwrap_or_else(|| "a profile of the user's own".to_owned()),
        span: file.span,
        time_budget: file.time_budget.unwrap_or(Nanos::from_secs(60)),
        phases,
        figures: figures?,
        early_ends: Vec::new(),
        notes: Vec::new(),
    };
    bounds::check_whole(&profile).map_err(OwnError::Limit)?;
    Ok(profile)
}

/// One phase of the file, as often as it is to be run.
fn phases(phase: &Phase, run_span: Bytes) -> Vec<PhaseSpec> {
    let one = one_phase(phase, run_span);
    if phase.repeat <= 1 {
        return vec![one];
    }
    let named = |round| PhaseSpec { name: format!("{}-{round}", phase.name), ..one.clone() };
    (1..=phase.repeat).map(named).collect()
}

fn one_phase(phase: &Phase, run_span: Bytes) -> PhaseSpec {
    let is_sequential = matches!(phase.pattern, Pattern::Sequential);
    PhaseSpec {
        name: phase.name.clone(),
        role: if phase.lays_out { Role::LayOut } else { Role::Measure },
        access: match phase.pattern {
            Pattern::Sequential => Access::Sequential,
            Pattern::Random => Access::Random(Repetition::Allowed),
            Pattern::RandomOnce => Access::Random(Repetition::EachBlockOnce),
        },
        span: phase.span,
        arrangement: Arrangement {
            caching: if phase.cached {
                Caching::Through { random: !is_sequential }
            } else {
                Caching::Bypassed
            },
            calls: Calls::Queued,
            file: match phase.file {
                State::AsIs => FileState::AsIs,
                State::New => FileState::Growing,
                State::NewReserved => FileState::Reserved(phase.span.unwrap_or(run_span)),
            },
        },
        read_percent: match phase.op {
            Op::Read => 100,
            Op::Write => 0,
            Op::Mixed => phase.read_percent,
        },
        block_size: phase.block_size,
        alignment_offset: phase.alignment_offset.unwrap_or_default(),
        queue_depth: phase.queue_depth,
        fsync_every: phase.fsync_every,
        flush_at_end: phase.flush_at_end,
        rate_limit: phase.rate_limit.map(Iops),
        ends: Ends {
            time: match (phase.time, phase.share) {
                (Some(time), _) => TimeLimit::Fixed(time),
                (None, Some(share)) => TimeLimit::Share(share),
                (None, None) => TimeLimit::None,
            },
            bytes: phase.bytes,
            ops: phase.ops,
            precision: None,
            decision: None,
        },
    }
}

fn check(phase: &PhaseSpec, span: Bytes) -> Result<(), OwnError> {
    let failed = |what: String| OwnError::Phase { phase: phase.name.clone(), what };
    phase.blocks_in(phase.span_within(span)).map_err(|error| failed(error.to_string()))?;
    if phase.role == Role::LayOut && (phase.read_percent > 0 || phase.access != Access::Sequential)
    {
        return Err(failed("what lays the file out writes it in sequence".to_owned()));
    }
    bounds::check_phase(phase).map_err(failed)
}

fn spec(figure: FigureEntry, known: &[PhaseSpec]) -> Result<FigureSpec, OwnError> {
    let missing = figure.phases.iter().find(|name| known.iter().all(|phase| phase.name != **name));
    if let Some(phase) = missing {
        return Err(OwnError::Figure { figure: figure.name, phase: phase.clone() });
    }
    Ok(FigureSpec {
        name: figure.name,
        tool: figure.tool.unwrap_or_else(|| "own".to_owned()),
        unit: Unit { name: figure.unit, bytes_per_s: figure.unit_bytes },
        origin: Origin::Phases {
            phases: figure.phases,
            quantity: match figure.of {
                Of::Bytes => Quantity::Bytes,
                Of::Operations => Quantity::Operations,
                Of::Reads => Quantity::Reads,
                Of::Writes => Quantity::Writes,
                Of::BytesRead => Quantity::BytesRead,
                Of::BytesWritten => Quantity::BytesWritten,
            },
            aggregate: if figure.best { Aggregate::Best } else { Aggregate::Mean },
        },
    })
}

const fn half() -> u8 {
    50
}

const fn one() -> u16 {
    1
}

const fn single() -> u32 {
    1
}

/// A quantity with its unit, such as `"4k"` or `"10s"`.
fn parsed<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(from: D) -> Result<T, D::Error> {
    String::deserialize(from)?.parse().map_err(de::Error::custom)
}

fn maybe_parsed<'de, D: Deserializer<'de>, T: FromStr<Err: Display>>(
    from: D,
) -> Result<Option<T>, D::Error> {
    parsed(from).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"
purpose = "a database on a card"
span = "64M"
time-budget = "30s"

[[phase]]
name = "fill"
op = "write"
pattern = "sequential"
block-size = "1M"
bytes = "64M"
lays-out = true
file = "new-reserved"

[[phase]]
name = "log"
op = "write"
pattern = "random-once"
block-size = "16k"
span = "16M"
cached = true
fsync-every = 1
time = "5s"
repeat = 2

[[figure]]
name = "commits"
unit = "a second"
of = "operations"
phases = ["log-1", "log-2"]
"#;

    #[test]
    fn a_file_becomes_a_profile() {
        let profile = from_toml("mine", WHOLE).unwrap();
        let [fill, first, second] = profile.phases.as_slice() else { panic!("{profile:?}") };
        assert_eq!((profile.name.as_str(), profile.span), ("mine", Bytes::mib(64)));
        assert_eq!(fill.role, Role::LayOut);
        assert_eq!(fill.arrangement.file, FileState::Reserved(Bytes::mib(64)));
        assert_eq!(first.arrangement.caching, Caching::Through { random: true });
        assert_eq!((first.name.as_str(), second.name.as_str()), ("log-1", "log-2"));
        assert_eq!(second.ends.time, TimeLimit::Fixed(Nanos::from_secs(5)));
        assert_eq!(profile.figures.len(), 1);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let cases = [
            ("fsync-every = 1", "fsync-evry = 1", "line 22"),
            ("block-size = \"16k\"", "block-size = \"16q\"", "line 19"),
            (
                "op = \"write\"\npattern = \"random-once\"",
                "op = \"trim\"\npattern = \"random\"",
                "line 17",
            ),
            ("time = \"5s\"", "", "log: the phase has no end"),
            ("block-size = \"16k\"", "block-size = \"32M\"", "log: "),
            ("pattern = \"sequential\"", "pattern = \"random\"", "fill: "),
            ("\"log-2\"]", "\"log-3\"]", "log-3"),
        ];
        for (right, wrong, wanted) in cases {
            let text = WHOLE.replacen(right, wrong, 1);
            assert_ne!(text, WHOLE, "{right}");
            let said = from_toml("mine", &text).unwrap_err().to_string();
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
    }

    #[test]
    fn what_would_take_all_memory_is_refused_with_the_limit_before_it_is_made() {
        let cases = [
            ("repeat = 2", "repeat = 4294967295", "at most 1000 phases"),
            ("repeat = 2", "queue-depth = 65535", "the limit is 256 MiB"),
            ("fsync-every = 1", "rate-limit = 1e308", "at most 1e9"),
            ("fsync-every = 1", "rate-limit = inf", "at most 1e9"),
            ("fsync-every = 1", "rate-limit = nan", "at most 1e9"),
            ("unit = \"a second\"", "unit = \"x\"\nunit-bytes = 1e308", "unit-bytes"),
        ];
        for (right, wrong, wanted) in cases {
            let text = WHOLE.replacen(right, wrong, 1);
            assert_ne!(text, WHOLE, "{right}");
            let said = from_toml("mine", &text).map(|_| ()).unwrap_err().to_string();
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_damage_breaks_the_reader(at in 0..WHOLE.len(), with in "[ -~\\n]{0,3}") {
            let mut text = WHOLE.to_owned();
            text.replace_range(at..(at + 3).min(WHOLE.len()), &with);
            let _ = from_toml("mine", &text);
        }
    }
}
