//! What is read of a document of fio's JSON.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use crate::MEASUREMENTS_MAX;

#[derive(Debug, Deserialize)]
pub(in super::super) struct Document {
    #[serde(rename = "fio version")]
    pub(super) version: String,
    #[serde(default)]
    pub(super) time: Option<String>,
    /// When it was printed.
    #[serde(default)]
    pub(super) timestamp_ms: Option<u64>,
    #[serde(rename = "global options", default)]
    pub(super) global: Options,
    /// With clients each has its own, under another name.
    #[serde(alias = "client_stats")]
    pub(super) jobs: Jobs,
}

/// The options that are read.
pub(super) const OPTIONS: [&str; 22] = [
    "blocksize",
    "bs",
    "buffered",
    "direct",
    "end_fsync",
    "fdatasync",
    "filesize",
    "fsync",
    "fsync_on_close",
    "group_reporting",
    "iodepth",
    "ioengine",
    "numjobs",
    "rate",
    "rate_iops",
    "readwrite",
    "rw",
    "rwmixread",
    "rwmixwrite",
    "size",
    "sync",
    "thinktime",
];

/// Options as fio repeats them: all are text.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Options {
    /// Those of [`OPTIONS`].
    pub(super) read: BTreeMap<&'static str, String>,
    /// Whether there are others.
    has_others: bool,
    /// What tells the others apart from different ones.
    others: u64,
}

impl Options {
    pub(super) fn is_empty(&self) -> bool {
        self.read.is_empty() && !self.has_others
    }
}

impl<'de> Deserialize<'de> for Options {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(OptionsVisitor)
    }
}

struct OptionsVisitor;

impl<'de> Visitor<'de> for OptionsVisitor {
    type Value = Options;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Options, A::Error> {
        let (mut options, mut others) = (Options::default(), DefaultHasher::new());
        while let Some((Text(name), Text(value))) = map.next_entry()? {
            match OPTIONS.iter().find(|known| **known == name) {
                Some(name) => drop(options.read.insert(name, value.into_owned())),
                None => {
                    options.has_others = true;
                    (name, value).hash(&mut others);
                }
            }
        }
        options.others = others.finish();
        Ok(options)
    }
}

/// A text, which is no copy where it stands in the document as it is.
#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

/// The jobs of a document, and so many of a long one that it is refused for their number.
#[derive(Debug)]
pub(super) struct Jobs(pub(super) Vec<JobOutput>);

impl<'de> Deserialize<'de> for Jobs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(JobsVisitor)
    }
}

struct JobsVisitor;

impl<'de> Visitor<'de> for JobsVisitor {
    type Value = Jobs;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a sequence")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Jobs, A::Error> {
        let mut jobs = Vec::new();
        while jobs.len() <= MEASUREMENTS_MAX
            && let Some(job) = seq.next_element::<JobOutput>()?
        {
            if job.directions().is_none() {
                return Err(serde::de::Error::missing_field("read, write or mixed"));
            }
            jobs.push(job);
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Jobs(jobs))
    }
}

#[derive(Debug, Deserialize)]
#[serde(expecting = "struct Job")]
pub(super) struct JobOutput {
    #[serde(rename = "jobname", default)]
    pub(super) name: String,
    #[serde(default)]
    pub(super) error: i64,
    #[serde(rename = "job options", default)]
    pub(super) options: Options,
    /// When it was started, in milliseconds; newer versions tell.
    #[serde(default)]
    pub(super) job_start: Option<u64>,
    #[serde(default)]
    read: Option<Direction>,
    #[serde(default)]
    write: Option<Direction>,
    /// All operations together, which `unified_rw_reporting` has in the place of those before.
    #[serde(default)]
    mixed: Option<Direction>,
    /// How large a share of operations, in percent, found so many in flight.
    #[serde(rename = "iodepth_level", default)]
    pub(super) depths: BTreeMap<String, f64>,
}

/// What a job did, in the form in which fio tells it.
pub(super) enum Directions<'j> {
    /// Reads and writes.
    Apart(&'j Direction, &'j Direction),
    /// Both together.
    United(&'j Direction),
}

impl JobOutput {
    /// What it did; nothing where a part of that is missing.
    pub(super) fn directions(&self) -> Option<Directions<'_>> {
        match (&self.read, &self.write, &self.mixed) {
            (Some(read), Some(write), _) => Some(Directions::Apart(read, write)),
            (None, None, Some(mixed)) => Some(Directions::United(mixed)),
            _ => None,
        }
    }
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Direction {
    #[serde(default)]
    pub(super) io_bytes: f64,
    #[serde(default)]
    pub(super) bw: f64,
    #[serde(default)]
    pub(super) bw_bytes: Option<f64>,
    #[serde(default)]
    pub(super) iops: f64,
    #[serde(default)]
    pub(super) runtime: f64,
    #[serde(default)]
    pub(super) total_ios: u64,
    #[serde(default)]
    pub(super) clat_ns: Option<Spread>,
    #[serde(default)]
    pub(super) clat: Option<Spread>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct Spread {
    #[serde(default)]
    pub(super) min: f64,
    #[serde(default)]
    pub(super) max: f64,
    #[serde(default)]
    pub(super) mean: f64,
    #[serde(default)]
    pub(super) percentile: BTreeMap<String, f64>,
}
