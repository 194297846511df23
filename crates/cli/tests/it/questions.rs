//! What people paste with a question, in `tests/questions`: a folder each, with the right answer.
//!
//! `right.json` has the command, its status, values of the JSON that it prints (by JSON pointers), and what
//! the page for people says and does not say, where blanks and line ends count alike. `also` holds the same
//! for other commands that are given the same text.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::home::Home;
use crate::process::run;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Right {
    command: Vec<String>,
    status: i32,
    #[serde(default)]
    equals: Map<String, Value>,
    #[serde(default)]
    says: Vec<String>,
    #[serde(default)]
    does_not_say: Vec<String>,
    #[serde(default)]
    also: Vec<Right>,
}

#[test]
fn every_question_has_its_right_answer() {
    let home = Home::new();
    let mut wrong = Vec::new();
    let folders = folders();
    assert!(folders.len() >= 56, "{} questions", folders.len());
    for folder in folders {
        let text = fs::read_to_string(folder.join("right.json")).unwrap();
        let right: Right = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let all = std::iter::once(&right).chain(&right.also);
        wrong.extend(
            all.flat_map(|right| faults(&home, &folder, right)).map(|it| format!("{name}: {it}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn folders() -> Vec<PathBuf> {
    let place = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/questions");
    let mut found: Vec<PathBuf> =
        fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

/// The texts of a folder, in order.
fn texts(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<String> = entries
        .filter(|path| !path.ends_with("right.json"))
        .map(|path| path.to_str().unwrap().to_owned())
        .collect();
    found.sort();
    found
}

/// What is not right of the answer.
fn faults(home: &Home, folder: &Path, right: &Right) -> Vec<String> {
    let files = texts(folder);
    let words: Vec<&str> = right.command.iter().chain(&files).map(String::as_str).collect();
    let ended = run(home.cardproof(&words));
    let mut faults = Vec::new();
    let status = ended.status.code();
    if status != Some(right.status) {
        faults.push(format!("{:?} ended with {status:?}, not {}", right.command, right.status));
    }
    let page = flat(&format!("{} {}", ended.stdout, ended.stderr));
    let says = |told: &&String| page.contains(&flat(told));
    let missing = right.says.iter().filter(|told| !says(told));
    faults.extend(missing.map(|told| format!("'{told}' is not in: {page}")));
    let unwanted = right.does_not_say.iter().filter(says);
    faults.extend(unwanted.map(|told| format!("'{told}' is in: {page}")));
    if !right.equals.is_empty() {
        faults.extend(different(home, &files, right));
    }
    faults
}

/// The values of the JSON that are not the right ones.
fn different(home: &Home, files: &[String], right: &Right) -> Vec<String> {
    let json: &[&str] = if right.command[0] == "watch" { &["--json"] } else { &["--json", "-"] };
    // An option that takes a text comes last.
    let names = right.command.iter().take_while(|word| !word.starts_with('-')).count();
    let (names, options) = right.command.split_at(names);
    let options = options.iter().chain(files).map(String::as_str);
    let names = names.iter().map(String::as_str);
    let words: Vec<&str> = names.chain(json.iter().copied()).chain(options).collect();
    let ended = run(home.cardproof(&words));
    let Ok(document) = serde_json::from_str::<Value>(&ended.stdout) else {
        return vec![format!("no JSON: {}{}", ended.stdout, ended.stderr)];
    };
    let differs = |(pointer, wanted): (&String, &Value)| {
        let found = document.pointer(pointer).unwrap_or(&Value::Null);
        (!is_same(found, wanted)).then(|| format!("{pointer} is {found}, not {wanted}"))
    };
    right.equals.iter().filter_map(differs).collect()
}

/// Whether both are the same, numbers to nine digits.
fn is_same(found: &Value, wanted: &Value) -> bool {
    match (found.as_f64(), wanted.as_f64()) {
        (Some(found), Some(wanted)) => (found - wanted).abs() <= 1e-9 * wanted.abs(),
        _ => found == wanted,
    }
}

/// `text` in one line, with single blanks.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
