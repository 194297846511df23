//! `cargo xtask bench import`: how fast other tools' texts and traces are read, and that twice the text
//! takes twice the time.
//!
//! Each output kept for the tests is read at a quarter of the length and at all of it: repeated again and
//! again, and once among prose. Texts that no tool prints follow, each made to be slow where a reader is
//! careless. Of a text with more measurements than a record may hold, what counts is the time until that
//! is said. Time is the processor's. Each text has a line; the document holds the slowest of each kind.

mod hostile;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use cardproof_import::{Origin, decode, import, recognise};
use cardproof_trace::{BlktraceReader, PipeReader, read_csv, read_iolog};
use cardproof_units::Bytes;

use crate::document;
use crate::prove::Stamp;

/// How long the texts are.
const LENGTH: usize = 32 << 20;

/// The shorter texts, of which the longer ones take as many times the time.
const PART: usize = 4;

/// What the longer ones may take.
const TIME_MAX: Duration = Duration::from_secs(2);

/// What of the time may come from elsewhere than the length.
const RATIO_MAX: f64 = 1.5;

/// Below this a ratio of times says nothing.
const TIME_MIN: Duration = Duration::from_millis(50);

/// A sentence as it stands between outputs.
const PROSE: &str =
    "The next card was bought last year, and this is how it did in the same reader.\n";

/// A text and what reads it.
struct Case {
    /// The tools whose outputs it holds, or what else it is one of.
    kind: String,
    name: String,
    /// Written once before what is repeated.
    head: Vec<u8>,
    repeated: Vec<u8>,
    read: fn(&[u8]) -> String,
}

/// What reading a text has shown.
struct Row {
    kind: String,
    name: String,
    time: Duration,
    /// The time for all of the text beside that for a part of it, at the same rate 1.
    ratio: f64,
    /// How the reading ended.
    outcome: String,
}

impl Row {
    fn holds(&self) -> bool {
        self.time <= TIME_MAX && (self.ratio <= RATIO_MAX || self.time < TIME_MIN)
    }
}

/// Reads all texts and writes the table; whether each is read in time.
pub(crate) fn run() -> Result<bool> {
    let stamp = Stamp::take()?;
    let mut rows = Vec::new();
    for case in cases()? {
        let row = measured(&case)?;
        println!("{}", line(&row));
        rows.push(row);
    }
    let missed: Vec<&str> =
        rows.iter().filter(|row| !row.holds()).map(|row| row.name.as_str()).collect();
    println!(
        "{} texts; over {} s or not linear: {}",
        rows.len(),
        TIME_MAX.as_secs(),
        listed(&missed)
    );
    document::write("docs/design/importing.md", "bench import", &table(&stamp.sentence(), &rows))?;
    Ok(missed.is_empty())
}

fn listed(names: &[&str]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join("; ") }
}

/// The slowest text of each kind, below a sentence that says where and when.
fn table(stamp: &str, rows: &[Row]) -> String {
    let mut kinds: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in rows {
        match kinds.iter_mut().find(|(kind, _)| *kind == row.kind) {
            Some((_, of_kind)) => of_kind.push(row),
            None => kinds.push((&row.kind, vec![row])),
        }
    }
    let mut text = format!(
        "{stamp}\n\n| kind | texts | slowest | ms | MB/s | time at equal rates | outcome |\n\
         | --- | ---: | --- | ---: | ---: | ---: | --- |\n"
    );
    for (kind, of_kind) in kinds {
        if let Some(slowest) = of_kind.iter().max_by_key(|row| row.time) {
            // Writing to a string does not fail.
            let _ = writeln!(text, "| {kind} | {} {}", of_kind.len(), line(slowest));
        }
    }
    text
}

fn line(row: &Row) -> String {
    let rate = LENGTH as f64 / 1e6 / row.time.as_secs_f64();
    let missed = if row.holds() { "" } else { " MISSED" };
    format!(
        "| {} | {:.0}{missed} | {rate:.0} | {:.2} | {} |",
        row.name,
        row.time.as_secs_f64() * 1e3,
        row.ratio,
        row.outcome
    )
}

fn measured(case: &Case) -> Result<Row> {
    let (part, _) = timed(case, LENGTH / PART)?;
    let (time, outcome) = timed(case, LENGTH)?;
    let ratio = time.as_secs_f64() / part.as_secs_f64() / PART as f64;
    Ok(Row { kind: case.kind.clone(), name: case.name.clone(), time, ratio, outcome })
}

/// The shorter of two times for a text of `length`, and how the reading ended.
fn timed(case: &Case, length: usize) -> Result<(Duration, String)> {
    let mut text = case.head.clone();
    while text.len() < length {
        text.extend_from_slice(&case.repeated);
    }
    let once = || -> Result<(Duration, String)> {
        let start = processor_time()?;
        let outcome = (case.read)(&text);
        Ok((processor_time()?.saturating_sub(start), outcome))
    };
    let (first, outcome) = once()?;
    Ok(if first > TIME_MAX { (first, outcome) } else { (first.min(once()?.0), outcome) })
}

/// The time that this process has had on a processor: what else the machine does is not in it.
fn processor_time() -> Result<Duration> {
    let path = "/proc/self/schedstat";
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {path}"))?;
    let ns = text.split(' ').next().and_then(|word| word.parse().ok());
    Ok(Duration::from_nanos(ns.with_context(|| format!("{path} holds no time"))?))
}

/// The texts of all tools, texts that no tool prints, and traces.
fn cases() -> Result<Vec<Case>> {
    let mut cases = outputs()?;
    cases.extend(hostile_forms(&fs::read(Path::new(LOGS).join("fio-random-write.json"))?));
    cases.extend(traces()?);
    Ok(cases)
}

/// Where outputs of all tools are kept.
const LOGS: &str = "crates/import/tests/import";

/// The outputs that are kept for the tests, and all of them together among prose.
fn outputs() -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    let mut all = Vec::new();
    for path in [files(Path::new(LOGS))?, files(&Path::new(LOGS).join("defects"))?].concat() {
        let name = path.file_name().context("no name")?.to_string_lossy().into_owned();
        if name == "README.md" {
            continue;
        }
        let mut repeated = fs::read(&path)?;
        repeated.push(b'\n');
        let tools = recognise(&decode(&repeated)).with_context(|| name.clone())?;
        let kind = tools.iter().map(|tool| tool.name()).collect::<Vec<_>>().join("+");
        all.extend_from_slice(&repeated);
        let among = Case {
            kind: kind.clone(),
            name: format!("{name}, once, among prose"),
            head: repeated.clone(),
            repeated: PROSE.as_bytes().to_vec(),
            read: read_log,
        };
        cases.extend([Case { kind, name, head: Vec::new(), repeated, read: read_log }, among]);
    }
    cases.push(Case {
        kind: "all tools".to_owned(),
        name: "all outputs, once, among prose".to_owned(),
        head: all,
        repeated: PROSE.as_bytes().to_vec(),
        read: read_log,
    });
    Ok(cases)
}

/// Texts that no tool prints, and what is printed in another encoding.
fn hostile_forms(json: &[u8]) -> Vec<Case> {
    let kinds = [
        ("characters", hostile::CHARACTERS),
        ("surroundings", hostile::SURROUNDINGS),
        ("outputs without measure", hostile::OUTPUTS),
    ];
    let case = |kind: &str, form: &hostile::Form| Case {
        kind: kind.to_owned(),
        name: form.name.to_owned(),
        head: form.head.to_vec(),
        repeated: form.repeated.to_vec(),
        read: read_log,
    };
    let mut cases: Vec<Case> = kinds
        .into_iter()
        .flat_map(|(kind, forms)| forms.iter().map(move |form| case(kind, form)))
        .collect();
    for (name, text) in [("prose in UTF-16", PROSE.as_bytes()), ("fio's JSON in UTF-16", json)] {
        let wide = text.iter().flat_map(|byte| [*byte, 0]).collect();
        let head = vec![0xff, 0xfe];
        let kind = "encodings".to_owned();
        cases.push(Case { kind, name: name.to_owned(), head, repeated: wide, read: read_log });
    }
    cases
}

/// Traces of other tools.
fn traces() -> Result<Vec<Case>> {
    let traces = Path::new("crates/trace/tests/import");
    let file = |name: &str| fs::read(traces.join(name)).with_context(|| format!("no {name}"));
    let trace = |name: &str, head: &[u8], repeated: Vec<u8>, read: fn(&[u8]) -> String| Case {
        kind: "traces".to_owned(),
        name: format!("{name}, a trace"),
        head: head.to_vec(),
        repeated,
        read,
    };
    let iolog = file("job.iolog")?;
    let end = 1 + iolog.iter().position(|byte| *byte == b'\n').context("no line")?;
    Ok(vec![
        trace("iolog of fio", &iolog[..end], iolog[end..].to_vec(), |bytes| {
            read_iolog(&text(bytes), "", "").map_or_else(said, |trace| length(&trace))
        }),
        trace("table", TABLE.0.as_bytes(), TABLE.1.into(), |bytes| {
            read_csv(&text(bytes), "", "").map_or_else(said, |trace| length(&trace))
        }),
        trace("blktrace", b"", file("job.blktrace.0")?, |bytes| {
            let mut reader = BlktraceReader::default();
            let added = reader.add(bytes).map_or_else(said, |()| "read".to_owned());
            reader.finish("", "").map_or(added, |trace| length(&trace))
        }),
        trace("kernel's events", b"", EVENTS.into(), |bytes| {
            let mut reader = PipeReader::default();
            text(bytes).lines().for_each(|line| reader.add(line));
            length(&reader.finish("", "", Bytes::ZERO))
        }),
    ])
}

/// The head of a table of requests, and rows of it.
const TABLE: (&str, &str) =
    ("t_s,rwbs,sector,nsect,comm\n", "0.5,W,8,8,dd\n0.5,R,4096,8,dd\n0.5,FF,0,0,dd\n");

/// Lines of the kernel's tracepoints: a request and its end.
const EVENTS: &str = "  dd-1 [000] .... 1.000000: block_rq_issue: 7,0 W 4096 () 8 + 8 none,0,0 [dd]\n  \
                      dd-1 [000] .... 1.000100: block_rq_complete: 7,0 W () 8 + 8 none,0,0 [0]\n";

/// The files of `directory`, by name.
fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read_log(bytes: &[u8]) -> String {
    let origin = Origin { id: "bench".to_owned(), read_at: "1970-01-01T00:00:00Z".to_owned() };
    import(&decode(bytes), None, &origin).map_or_else(said, |read| {
        let (records, skipped) = (read.records.len(), read.skipped.len());
        format!("{records} records, {skipped} gaps")
    })
}

fn said(error: impl std::fmt::Display) -> String {
    format!("refused: {error}").replace('|', "/")
}

fn length(trace: &[u8]) -> String {
    format!("a trace of {}", Bytes(trace.len() as u64))
}
