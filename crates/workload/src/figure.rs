//! What a tool would print of a run: figures in the tool's own units.
//!
//! A figure is named here and computed from the record's phases by the runner, so that the same
//! words explain it before the run and after.

/// The unit of a figure.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Unit {
    /// As the tool writes it, such as `kB/s`.
    pub name: String,
    /// What one of it is in bytes a second, where it is a rate of bytes: iozone's `kB/s` is 1024.
    pub bytes_per_s: Option<f64>,
}

impl Unit {
    /// A rate of bytes of which one is `bytes_per_s` bytes a second.
    #[must_use]
    pub fn of_bytes(name: &str, bytes_per_s: f64) -> Self {
        Self { name: name.to_owned(), bytes_per_s: Some(bytes_per_s) }
    }

    /// Anything that is no rate of bytes.
    #[must_use]
    pub fn plain(name: &str) -> Self {
        Self { name: name.to_owned(), bytes_per_s: None }
    }
}

/// What is taken from a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Quantity {
    /// Bytes moved a second, in the figure's unit, from the first submission to the end of the last
    /// flush.
    Bytes,
    /// Operations a second over the same time.
    Operations,
    /// Reads a second of a mix.
    Reads,
    /// Writes a second of a mix.
    Writes,
    /// Bytes read a second of a mix.
    BytesRead,
    /// Bytes written a second of a mix.
    BytesWritten,
}

/// How several phases become one figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub enum Aggregate {
    /// The arithmetic mean.
    Mean,
    /// The highest.
    Best,
}

/// A figure must be at least so much.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Minimum {
    /// The name of the figure.
    pub figure: String,
    /// In the figure's own unit.
    pub at_least: f64,
}

/// Where a figure comes from.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub enum Origin {
    /// From phases.
    Phases {
        /// Their names.
        phases: Vec<String>,
        /// What is taken from each.
        quantity: Quantity,
        /// How they become one.
        aggregate: Aggregate,
    },
    /// A weighted sum of figures that come before it.
    Sum {
        /// Weights, and the names of what they weigh.
        terms: Vec<(f64, String)>,
    },
    /// How many of these sets of limits are met by figures that come before it.
    SetsMet {
        /// The sets.
        sets: Vec<Vec<Minimum>>,
    },
}

/// One figure.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct FigureSpec {
    /// What it is, in the tool's words.
    pub name: String,
    /// The tool whose figure it is.
    pub tool: String,
    /// Its unit.
    pub unit: Unit,
    /// Where it comes from.
    pub origin: Origin,
}

/// A point at which a run is over if it has shown enough.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct EarlyEnd {
    /// The phase after which this is looked at.
    pub after: String,
    /// All of these must be met.
    pub limits: Vec<Minimum>,
}
