//! `cargo xtask same-figures --base REV`: whether this source gives the same figures as an earlier
//! state of it, for the same seeds.
//!
//! A change of structure must change no figure. So both states are built, every profile and every
//! recorded job is run on every simulated card by both, and each number of the two records is
//! compared. Texts, names of fields that one state lacks, and what the program says of itself are
//! not: they may change without any figure doing so.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::workspace::{Metadata, cargo};

/// The time of the card's own clock that a run is given where time ends it. The phases are shorter
/// then, and pass through the same code.
const TIME: &str = "5s";

/// The most differences shown of one run.
const SHOWN_MAX: usize = 3;

/// What to compare with.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The state to compare with: anything that git knows
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    base: String,
    /// Seed for addresses and data
    #[arg(long, value_name = "NUMBER", default_value_t = 7)]
    seed: u64,
    /// Only cards with this in their names
    #[arg(long, value_name = "TEXT", default_value = "")]
    card: String,
    /// Give every run its whole time
    #[arg(long)]
    whole: bool,
}

/// Every number of a record that is a figure, by its place in the record.
type Figures = BTreeMap<String, String>;

/// Builds both states and compares all figures; whether they are equal.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let place = Metadata::read()?.target_directory.join("same-figures");
    fs::create_dir_all(&place)?;
    let base = build_base(&arguments.base, &place)?;
    let own = build(Path::new("."), &place.join("cardproof"))?;
    let mut tally = Tally::default();
    for words in runs(&own, arguments)? {
        let [before, after] = [&base, &own].map(|program| figures_of(program, &words, &place));
        tally.add(&words.join(" "), before?, after?);
    }
    let Tally { runs, figures, unequal, one_sided } = tally;
    println!(
        "{figures} figures of {runs} runs compared; {unequal} runs differ, {one_sided} are possible \
         in one state alone"
    );
    Ok(unequal == 0 && runs > 0)
}

/// What was compared.
#[derive(Debug, Default)]
struct Tally {
    runs: usize,
    figures: usize,
    unequal: usize,
    one_sided: usize,
}

impl Tally {
    /// Compares what the run called `name` gave in both states.
    fn add(&mut self, name: &str, before: Option<Figures>, after: Option<Figures>) {
        let (before, after) = match (before, after) {
            (Some(before), Some(after)) => (before, after),
            // No profile of files runs on a simulated card.
            (None, None) => return,
            _ => {
                self.one_sided += 1;
                return println!("{name}: possible in one state alone");
            }
        };
        self.runs += 1;
        self.figures += before.keys().filter(|field| after.contains_key(*field)).count();
        let differences = differences(&before, &after);
        self.unequal += usize::from(!differences.is_empty());
        for difference in differences.iter().take(SHOWN_MAX) {
            println!("{name}: {difference}");
        }
    }
}

/// Builds the program at the state `base`, once for each commit, and says where it is.
fn build_base(base: &str, place: &Path) -> Result<PathBuf> {
    let commit = Command::new("git").args(["rev-parse", "--short", base]).output()?;
    ensure!(commit.status.success(), "git knows no {base}");
    let commit = String::from_utf8(commit.stdout)?;
    let program = place.join(format!("cardproof-{}", commit.trim()));
    if program.exists() {
        return Ok(program);
    }
    let source = place.join("source");
    remove_worktree(&source)?;
    let path = source.to_str().context("the target directory is not text")?;
    git(&["worktree", "add", "--quiet", "--detach", path, base])?;
    let built = build(&source, &program);
    remove_worktree(&source)?;
    built
}

fn remove_worktree(source: &Path) -> Result<()> {
    if source.exists() {
        let path = source.to_str().context("the target directory is not text")?;
        git(&["worktree", "remove", "--force", path])?;
    }
    Ok(())
}

fn git(words: &[&str]) -> Result<()> {
    let status = Command::new("git").args(words).status().context("cannot start git")?;
    ensure!(status.success(), "git {} failed", words.join(" "));
    Ok(())
}

/// Builds the program of `source` and copies it to `program`. What both states depend on is built
/// once, in the target directory of this workspace.
fn build(source: &Path, program: &Path) -> Result<PathBuf> {
    let target = Metadata::read()?.target_directory;
    let status = Command::new(cargo())
        .args(["build", "--quiet", "--package", "cardproof-cli", "--target-dir"])
        .arg(&target)
        .current_dir(source)
        .status()
        .context("cannot start cargo")?;
    ensure!(status.success(), "the program does not build in {}", source.display());
    fs::copy(target.join("debug/cardproof"), program)?;
    Ok(program.to_owned())
}

/// The arguments of every run: each profile and each recorded job on each card.
fn runs(program: &Path, arguments: &Arguments) -> Result<Vec<Vec<String>>> {
    let seed = arguments.seed.to_string();
    let (profiles, traces) = (names(program, &["profiles"])?, names(program, &["replay", "list"])?);
    let time: &[&str] = if arguments.whole { &[] } else { &["--time-budget", TIME] };
    let mut runs = Vec::new();
    for card in names(program, &["sim", "list"])? {
        if !card.contains(&arguments.card) {
            continue;
        }
        let card = format!("sim:{card}");
        let of_profiles = profiles.iter().map(|profile| {
            [&["run", &card, "--profile", profile, "--seed", &seed][..], time].concat()
        });
        let of_traces =
            traces.iter().map(|trace| vec!["replay", "run", trace, &card, "--seed", &seed]);
        let words = of_profiles.chain(of_traces);
        runs.extend(words.map(|words| words.into_iter().map(str::to_owned).collect()));
    }
    ensure!(!runs.is_empty(), "no simulated card has '{}' in its name", arguments.card);
    Ok(runs)
}

/// The names that a listing of the program begins its lines with.
fn names(program: &Path, words: &[&str]) -> Result<Vec<String>> {
    let output = Command::new(program).args(words).output()?;
    ensure!(output.status.success(), "cardproof {} failed", words.join(" "));
    Ok(listed(&String::from_utf8_lossy(&output.stdout)))
}

/// The names at the beginning of the lines of `listing`, up to the first empty line.
fn listed(listing: &str) -> Vec<String> {
    let lines = listing.lines().take_while(|line| !line.is_empty());
    let lines = lines.filter(|line| !line.starts_with(' '));
    lines.filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect()
}

/// The figures of the run `words`; `None` where the program says that there is no such run. What
/// time does not end is run without a limit of time.
fn figures_of(program: &Path, words: &[String], place: &Path) -> Result<Option<Figures>> {
    let in_time = words.iter().position(|word| word == "--time-budget");
    let record = match record_of(program, words, place)? {
        None if in_time.is_some() => record_of(program, &words[..in_time.unwrap_or(0)], place)?,
        record => record,
    };
    Ok(record.map(|record| figures(&record)))
}

/// The record of the run `words`; `None` for the exit status of a mistake in the command line.
fn record_of(program: &Path, words: &[String], place: &Path) -> Result<Option<Value>> {
    let output = Command::new(program)
        .args(words)
        .args(["--quiet", "--json", "-"])
        .env("XDG_DATA_HOME", place.join("data"))
        .stdin(Stdio::null())
        .output()?;
    match output.status.code() {
        Some(2) => Ok(None),
        // A card that fails is a result as well.
        Some(0 | 1 | 4) if !output.stdout.is_empty() => {
            Ok(Some(serde_json::from_slice(&output.stdout)?))
        }
        _ => bail!("{} failed: {}", words.join(" "), String::from_utf8_lossy(&output.stderr)),
    }
}

/// Every number in `record`, and whether each of its parts was measured.
fn figures(record: &Value) -> Figures {
    let mut figures = Figures::new();
    collect(record, &mut String::new(), &mut figures);
    figures
}

/// Adds the figures in `value`, which is at `place` of the record.
fn collect(value: &Value, place: &mut String, figures: &mut Figures) {
    let length = place.len();
    match value {
        Value::Number(number) => drop(figures.insert(place.clone(), number.to_string())),
        Value::String(text) if place.ends_with(".state") || place.ends_with(".outcome") => {
            figures.insert(place.clone(), text.clone());
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                place.push_str(&format!("[{index}]"));
                collect(item, place, figures);
                place.truncate(length);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                place.push_str(&format!(".{name}"));
                collect(field, place, figures);
                place.truncate(length);
            }
        }
        Value::String(_) | Value::Bool(_) | Value::Null => {}
    }
}

/// Where both have a figure and not the same.
fn differences(before: &Figures, after: &Figures) -> Vec<String> {
    let both = before.iter().filter_map(|(field, old)| Some((field, old, after.get(field)?)));
    both.filter(|(_, old, new)| old != new)
        .map(|(field, old, new)| format!("{field} was {old} and is {new}"))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_figure_that_changes_is_found_and_words_that_change_are_not() {
        let before = json!({"id": "a", "phases": [{"ops": 3, "state": "measured"}], "old": 1});
        let after = json!({"id": "b", "phases": [{"ops": 4, "state": "partial"}], "new": 2});
        let found = differences(&figures(&before), &figures(&after));
        assert_eq!(
            found,
            [".phases[0].ops was 3 and is 4", ".phases[0].state was measured and is partial"]
        );
        assert!(differences(&figures(&before), &figures(&before)).is_empty());
    }

    #[test]
    fn a_listing_is_names_with_words_behind_and_below_them() {
        let listing = "card-a\n    a card; 8 GB\ncard-b   another\n\nMeasure one: cardproof run\n";
        assert_eq!(listed(listing), ["card-a", "card-b"]);
    }
}
