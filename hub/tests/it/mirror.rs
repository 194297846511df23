//! The script that mirrors the tables, and engines that read them from the hub by HTTP.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use cardproof_hub::queries::queries;
use tempfile::TempDir;

use crate::common::variations::Variations;
use crate::common::{Hub, On, TestData, document, skip};
use crate::engines::{are_same, ask, python};

/// A directory, and the script that the hub has for it.
struct Mirror {
    place: TempDir,
    hub: String,
}

impl Mirror {
    /// The script as the hub hands it out; none where a program is missing that it needs.
    fn new(hub: &Hub, test: &str) -> Option<Self> {
        for program in ["curl", "jq", "sha256sum"] {
            if Command::new(program).arg("--version").output().is_err() {
                skip(&format!("mirror::{test}"), &format!("{program} is not installed"));
                return None;
            }
        }
        let place = tempfile::tempdir().unwrap();
        fs::write(place.path().join("mirror.sh"), hub.get("/data/mirror.sh").body).unwrap();
        Some(Self { place, hub: format!("http://{}", hub.address) })
    }

    fn run(&self) -> Output {
        self.run_with(&[])
    }

    fn run_with(&self, words: &[&str]) -> Output {
        let mut script = Command::new("sh");
        script.args(["mirror.sh", &self.hub]).args(words).current_dir(self.place.path());
        script.output().unwrap()
    }

    fn succeeds(&self) {
        let output = self.run();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.place.path().join(name)
    }

    /// The content of every file below the tables' directories.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for table in ["runs", "phases"] {
            for entry in fs::read_dir(self.path(table)).unwrap() {
                let entry = entry.unwrap();
                let name = format!("{table}/{}", entry.file_name().display());
                files.insert(name, fs::read(entry.path()).unwrap());
            }
        }
        files
    }
}

/// The hub's files of both tables.
fn files_of(hub: &Hub) -> BTreeMap<String, Vec<u8>> {
    let of_table = ["runs", "phases"].into_iter().flat_map(|table| hub.files(table));
    of_table.map(|(file, bytes)| (file["path"].as_str().unwrap().to_owned(), bytes)).collect()
}

#[test]
fn the_mirror_has_the_files_of_the_manifest_and_no_others() {
    let place = TestData::new(On::Sqlite).unwrap();
    let hub = place.start(&["--no-seed"]);
    let test = "the_mirror_has_the_files_of_the_manifest_and_no_others";
    let Some(mirror) = Mirror::new(&hub, test) else { return };
    let (id, token) = hub.submitted(&document("First card", 100.0));
    hub.submitted(&document("Second card", 200.0));
    hub.manifest();
    mirror.succeeds();
    assert_eq!(mirror.files(), files_of(&hub));
    assert!(mirror.path("manifest.json").is_file() && mirror.path("schema.json").is_file());
    let before: BTreeSet<String> = mirror.files().into_keys().collect();
    assert_eq!(hub.delete(&id, &token).status, 204);
    hub.manifest();
    mirror.succeeds();
    assert_eq!(mirror.files(), files_of(&hub));
    assert!(before.iter().all(|name| !mirror.path(name).exists()), "superseded files go");
}

#[test]
fn the_script_asks_nothing_that_is_no_hub() {
    let place = TestData::new(On::Sqlite).unwrap();
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let Some(mirror) = Mirror::new(&hub, "the_script_asks_nothing_that_is_no_hub") else { return };
    let run = |words: &[&str]| {
        let mut script = Command::new("sh");
        let output = script.arg("mirror.sh").args(words).current_dir(mirror.place.path()).output();
        let output = output.unwrap();
        let [told, errors] =
            [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        (output.status.code(), told, errors)
    };
    for asked in ["-h", "--help"] {
        let (code, told, errors) = run(&[asked]);
        assert!(code == Some(0) && errors.is_empty(), "{errors}");
        assert!(told.contains("sh mirror.sh https://HUB") && !told.contains("set -eu"), "{told}");
    }
    for wrong in [&[][..], &["--version"], &["-o"], &["hub.example.org"], &["file:///etc"]] {
        let (code, told, errors) = run(wrong);
        assert_eq!((code, &*told), (Some(2), ""), "{wrong:?}");
        assert!(errors.starts_with("mirror.sh: ") && errors.contains("https://HUB"), "{errors}");
    }
    let (code, _, errors) = run(&["https://localhost:1"]);
    assert!(code == Some(1) && errors.contains("as curl says above"), "{errors}");
    let names = fs::read_dir(mirror.place.path()).unwrap().count();
    assert_eq!(names, 1, "the script alone");
}

#[test]
fn a_mirror_has_the_documents_where_they_are_asked_for() {
    let place = TestData::new(On::Sqlite).unwrap();
    let hub = place.start(&["--no-seed"]);
    let test = "a_mirror_has_the_documents_where_they_are_asked_for";
    let Some(mirror) = Mirror::new(&hub, test) else { return };
    let (id, token) = hub.submitted(&document("First card", 100.0));
    hub.submitted(&document("Second card", 200.0));
    hub.manifest();
    // A directory of the user's may be called so.
    let own = mirror.path("documents/letter.txt");
    fs::create_dir(mirror.path("documents")).unwrap();
    fs::write(&own, "mine").unwrap();
    mirror.succeeds();
    assert_eq!(fs::read_dir(mirror.path("documents")).unwrap().count(), 1);
    assert_eq!(mirror.run_with(&["document"]).status.code(), Some(2));
    let is_same = || {
        let of_hub = hub.files("documents");
        let names = fs::read_dir(mirror.path("documents")).unwrap().count();
        names == of_hub.len() + 1
            && fs::read_to_string(&own).unwrap() == "mine"
            && of_hub.iter().all(|(file, bytes)| {
                fs::read(mirror.path(file["path"].as_str().unwrap())).unwrap() == *bytes
            })
    };
    assert!(mirror.run_with(&["documents"]).status.success() && is_same());
    // What is deleted goes from every later mirror too.
    assert_eq!(hub.delete(&id, &token).status, 204);
    hub.manifest();
    mirror.succeeds();
    assert!(is_same());
}

#[test]
fn an_interrupted_mirror_goes_on() {
    let place = TestData::new(On::Sqlite).unwrap();
    let hub = place.start(&[]);
    let Some(mirror) = Mirror::new(&hub, "an_interrupted_mirror_goes_on") else { return };
    hub.manifest();
    mirror.succeeds();
    let whole = mirror.files();
    let (name, bytes) = whole.iter().max_by_key(|(_, bytes)| bytes.len()).unwrap();
    let part = mirror.path(&format!("{name}.part"));
    for begun in [&[][..], &bytes[..bytes.len() / 2], &bytes[..]] {
        fs::remove_file(mirror.path(name)).unwrap();
        fs::write(&part, begun).unwrap();
        mirror.succeeds();
        assert_eq!(mirror.files(), whole, "after {} bytes", begun.len());
    }
    // A part of something else is found by its sum and loaded again.
    fs::remove_file(mirror.path(name)).unwrap();
    fs::write(&part, vec![7; bytes.len()]).unwrap();
    let output = mirror.run();
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains(name) && told.contains("run it again"), "{told}");
    assert!(!mirror.path(name).exists());
    mirror.succeeds();
    assert_eq!(mirror.files(), whole);
}

#[test]
fn a_mirror_of_a_hub_that_does_not_answer_keeps_its_files() {
    let place = TestData::new(On::Sqlite).unwrap();
    let mut hub = place.start(&[]);
    let test = "a_mirror_of_a_hub_that_does_not_answer_keeps_its_files";
    let Some(mirror) = Mirror::new(&hub, test) else { return };
    hub.manifest();
    mirror.succeeds();
    let whole = mirror.files();
    assert!(hub.stop().success());
    let output = mirror.run();
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && told.contains("has made no raw data yet"), "{told}");
    assert_eq!(mirror.files(), whole);
}

/// Not DuckDB: it needs an extension for HTTP that does not come with it.
#[test]
#[ignore = "needs the engines; nightly"]
fn engines_read_the_files_from_the_hub() {
    let place = TestData::new(On::Sqlite).unwrap();
    let hub = place.start(&["--submissions-per-hour", "0"]);
    let variations = Variations::new(7);
    for number in 0..20 {
        hub.submitted(&variations.document(number));
    }
    let local = tempfile::tempdir().unwrap();
    for (name, bytes) in files_of(&hub) {
        let path = local.path().join(name);
        fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let texts = queries("-").into_iter().map(|query| (query.name, query.text));
    let texts = texts.filter(|(name, _)| *name != "random-writes-by-host").collect();
    let address = format!("http://{}/data", hub.address);
    for (engine, module) in [("clickhouse", "chdb"), ("polars", "polars")] {
        let python = match python(module) {
            Ok(python) => python,
            Err(reason) => {
                skip("mirror::engines_read_the_files_from_the_hub", &reason);
                continue;
            }
        };
        let here = ask(&python, engine, local.path(), &texts);
        for (name, answer) in ask(&python, engine, &address, &texts) {
            let expected: Vec<serde_json::Value> =
                here[&name].rows.iter().cloned().map(Into::into).collect();
            assert!(!expected.is_empty(), "{name}");
            are_same(&format!("{engine}, {name}"), &answer.rows, &expected);
        }
    }
}
