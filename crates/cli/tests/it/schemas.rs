//! Every JSON document against its published schema, by a validator that is not ours; and that every
//! command has `--json` and `--quiet`, told by the program's own list of commands.

use std::collections::BTreeSet;
use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};

use cardproof_testkit::{
    LabError, LoopDevice, few_or_all, lab_or_skip, require_root, schema_faults_of_pairs,
};
use cardproof_units::Bytes;
use rustix::process::Signal;
use serde_json::Value;

use crate::home::{Home, word};
use crate::process::{run, start};
use crate::submitting::hub;

fn schema(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(format!("{name}-v1.schema.json"))
}

/// The CID of a SanDisk card.
const CID: &str = "03534453553136478012345678012c00";

/// Forms whose documents do not name them: a list, and the figures of one phase.
const NAMELESS: [&str; 2] = ["catalogue", "engine"];

/// A short run on a simulated card. A seed of its own keeps it from the place of another record of that
/// card.
const SHORT: [&str; 5] = ["--size", "16M", "--time-budget", "5s", "--quiet"];

/// A run on a simulated card, kept and labelled.
fn measured(home: &Home, card: &str, label: &str) {
    let target = format!("sim:{card}");
    let words = ["run", &target, "--label", label, "--seed", "1"];
    run(home.cardproof(&[&words[..], &SHORT].concat())).expect(0);
}

/// The faults of `documents` by the published `form`, the name of the form included.
fn faults(home: &Home, form: &str, documents: &[Value]) -> Result<String, LabError> {
    let all: Vec<_> = documents.iter().map(|document| (form, document.clone())).collect();
    faults_of_forms(home, &all)
}

/// As [`faults`], of documents each with its own form.
fn faults_of_forms(home: &Home, documents: &[(&str, Value)]) -> Result<String, LabError> {
    let mut faults = String::new();
    let mut paths = Vec::new();
    for (number, (form, document)) in documents.iter().enumerate() {
        let path = home.place().join(format!("document-{number}-{form}.json"));
        fs::write(&path, document.to_string()).unwrap();
        paths.push((schema(form), path));
        let name = format!("cardproof.{form}/1");
        if !NAMELESS.contains(form) && document["schema"] != *name {
            faults += &format!("document-{number}-{form}.json is called {}", document["schema"]);
        }
    }
    let pairs: Vec<_> = paths.iter().map(|(schema, path)| (&**schema, &**path)).collect();
    Ok(schema_faults_of_pairs(&pairs)? + &faults)
}

/// How the documents of a command are to be read.
#[derive(Clone, Copy)]
enum Read {
    /// One.
    One,
    /// An array of them.
    Array,
    /// One on each line.
    Lines,
}

/// A command whose documents are of a form.
struct Example {
    form: &'static str,
    words: Vec<String>,
    status: i32,
    read: Read,
}

fn one(form: &'static str, words: &[&str]) -> Example {
    let words = words.iter().map(|word| (*word).to_owned()).collect();
    Example { form, words, status: 0, read: Read::One }
}

impl Example {
    fn status(self, status: i32) -> Self {
        Self { status, ..self }
    }

    fn read(self, read: Read) -> Self {
        Self { read, ..self }
    }

    fn documents(&self, stdout: &str) -> Vec<Value> {
        let parse = |text: &str| -> Value {
            serde_json::from_str(text)
                .unwrap_or_else(|error| panic!("{:?}: {error}: {text}", self.words))
        };
        match self.read {
            Read::One => vec![parse(stdout)],
            Read::Array => parse(stdout).as_array().expect("an array").clone(),
            Read::Lines => stdout.lines().map(parse).collect(),
        }
    }
}

/// The examples that need nothing but simulated cards and files. `home` has the records `card 1`,
/// `card 2` and `worn`.
fn examples(home: &Home) -> Vec<Example> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let file = |name: &str, text: &str| -> String {
        let path = home.place().join(name);
        fs::write(&path, text).unwrap();
        word(&path).to_owned()
    };
    let kept = |path: &str| word(&crates.join(path)).to_owned();
    let sdmon = file("sdmon.json", r#"{"signature": "0x44 0x53", "healthStatusPercentUsed": 27}"#);
    let genuine = format!("sim:{}", file("genuine.toml", "size = \"16MB\""));
    let queue = ["verify", &genuine, "--queue", "--exclude-share", "0.02", "--json", "-"];
    let registers = file("registers.txt", &format!("cid: {CID}\ncid: {CID}\n"));
    let mut trees = fs::read_dir(crates.join("device/tests/trees")).unwrap();
    let dump = trees.find_map(|entry| Some(entry.unwrap().path()).filter(|path| path.is_file()));
    let dump = word(&dump.expect("there is a recorded machine")).to_owned();
    let log = kept("import/tests/import/iozone-all-tests.txt");
    let other_log = file("two.txt", &fs::read_to_string(&log).unwrap().repeat(2));
    let iostat = kept("rating/tests/iostat/slow-card-install.txt");
    let place = word(home.place());
    let card = "sim:sandisk-ultra-a1";
    let all = |words: &[&str], more: &[&str]| -> Vec<String> {
        words.iter().chain(more).map(|word| (*word).to_owned()).collect()
    };
    let short = |words: &[&str]| Example { words: all(words, &SHORT), ..one("record", &[]) };
    let life = ["--size", "8M", "--cycles", "2", "--seed", "1"];
    vec![
        one("check", &[card, "--seed", "2", "--quiet", "--json", "-"]),
        short(&["run", card, "--seed", "3", "--json", "-"]),
        short(&["run", card, "--seed", "4", "--json", "-", "--repeat", "2"]),
        short(&["run", card, "--seed", "5", "--json", "-", "--profile", "a1"]),
        one(
            "record",
            &["run", card, "--profile", "agnostics", "--seed", "1", "--quiet", "--json", "-"],
        ),
        one("record", &["show", "card 1", "--json", "-"]),
        one("record", &["show", "card 1", "card 2", "--json", "-"]).read(Read::Array),
        one("record", &["import", &log, "--quiet", "--json", "-"]),
        one("import", &["import", &log, &other_log, "--quiet", "--json", "-"]),
        one(
            "record",
            &["replay", "run", "desktop-install", "sim:samsung-emmc", "--quiet", "--json", "-"],
        ),
        short(&["run", place, "--seed", "6", "--json", "-"]),
        one("record", &["geometry", card, "--quiet", "--json", "-"]),
        one("list", &["list", "--json", "-"]),
        one("comparison", &["compare", "card 1", "card 2", "--json", "-"]),
        one("comparison", &["compare", "ref:sd-card-bench-2018", "--use", "camera", "--json", "-"]),
        one("comparison", &["compare", "card 1", "card 2", "--price", "card 1=5", "--json", "-"]),
        one("comparison", &["compare", "ref:fio-pi5-2024", "ref:iozone-pi-ssd", "--json", "-"]),
        one("catalogue", &["compare", "--list", "--json", "-"]),
        one("identity", &["identify", "--sysroot", &dump, "--json", "-"]),
        one("identity", &["identify", place, "--json", "-"]),
        one("registers", &["identify", "--raw", &registers, "--json", "-"]),
        one("integrity", &queue).status(1),
        one("powercut", &["powercut", card, "--cuts", "5", "--json", "-"]),
        one("watch", &["watch", "--once", "--json"]).read(Read::Lines),
        one("explained", &["watch", "--explain", &iostat, "--json"]),
        one("catalogue", &["profiles", "--json", "-"]),
        one("catalogue", &["sim", "list", "--json", "-"]),
        one("catalogue", &["replay", "list", "--json", "-"]),
        one("catalogue", &["replay", "show", "desktop-install", "--json", "-"]),
        one("diagnosis", &["diagnose", place, "--time", "2s", "--json", "-"]),
        one("check", &["check", "sim:sandisk-extreme-a1", "--seed", "1", "--json", "-"]),
        one("check", &["check", "sim:fake-wrap", "--seed", "1", "--json", "-"]).status(4),
        one("check", &["check", place, "--only", "healthy,setup,power", "--json", "-"]),
        one("tuning", &["tune", card, "--json", "-"]),
        one("tuning", &["tune", card, "--geometry", "latest", "--json", "-"]),
        one("tuning", &["tune", card, "--prove", "--pairs", "4", "--json", "-"]),
        one("tuning", &["tune", place, "--json", "-"]),
        one("engine", &["engine", "--target", "null", "--ops", "1000", "--json", "-"]),
        Example {
            words: all(&["endure", "sim:sandisk-ultra", "--json", "-"], &life),
            ..one("endure", &[])
        },
        one("endure", &["endure", "--from", "worn", "--json", "-"]),
        one("endure-cards", &["endure", "--from", "worn", "worn", "--json", "-"]),
        one("health", &["health", "--raw", &sdmon, "--json", "-"]),
        one("verify", &["verify", &genuine, "--json", "-", "--quiet"]),
        one("verify", &["verify", "sim:fake-drop", "--json", "-", "--quiet"]).status(4),
        one("submission", &["submit", "card 1", "--dry-run", "--json", "-"]),
    ]
}

/// Commands with `--json` that have a test of their own in this file or need a laboratory.
const ELSEWHERE: [(&str, &str, &str); 6] = [
    (
        "replay-record",
        "recording",
        "recording.rs: what_a_job_asks_of_its_files_is_recorded_without_names",
    ),
    ("compare-setups", "record", "a_comparison_of_setups_is_a_record"),
    ("log", "ledger-outlook", "a_ledger_grows_and_is_told_in_its_published_form"),
    ("powercut-check", "powercut", "witness_writer_and_check_print_their_published_forms"),
    ("powercut-witness", "powercut-witness", "the same"),
    ("powercut-write", "powercut-write", "the same"),
];

/// As [`ELSEWHERE`], of commands that have examples too.
const MORE: [(&str, &str); 3] = [("sim-serve", "served"), ("submit", "shared"), ("watch", "who")];

/// Commands without `--json` and `--quiet`, and why.
const WITHOUT: [(&str, &str); 3] = [
    ("completions", "prints a script for a shell, and nothing else"),
    ("replay", "has only commands, which have both"),
    ("sim", "has only commands, which have both"),
];

/// The names of the manual pages, which follow from the definition of the commands, without the
/// program's own; with the text of each.
fn commands(home: &Home) -> Vec<(String, String)> {
    let pages = home.place().join("pages");
    fs::create_dir_all(&pages).unwrap();
    run(home.cardproof(&["manual-pages", word(&pages)])).expect(0);
    let mut commands: Vec<(String, String)> = fs::read_dir(&pages)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter_map(|path| {
            let name = path.file_stem()?.to_str()?.strip_prefix("cardproof-")?.to_owned();
            Some((name, fs::read_to_string(&path).unwrap()))
        })
        .collect();
    commands.sort();
    assert!(commands.len() > 25, "{commands:?}");
    commands
}

/// Whether the manual page `text` has the option `name`.
fn has(text: &str, name: &str) -> bool {
    text.contains(&format!("\\-\\-{name}"))
}

#[test]
fn every_command_has_json_and_quiet() {
    for (name, page) in commands(&Home::new()) {
        let is_expected = WITHOUT.iter().all(|(without, _)| *without != name);
        for option in ["json", "quiet"] {
            assert_eq!(has(&page, option), is_expected, "{name}: --{option}");
        }
    }
}

#[test]
fn every_command_with_json_has_an_example_and_every_schema_a_document() {
    let home = Home::new();
    let commands = commands(&home);
    let examples = examples(&home);
    let is_command = |name: &str| commands.iter().any(|(known, _)| known == name);
    // Of the words of an example the longest beginning that is a command; without one it runs.
    let command = |words: &[String]| -> String {
        let beginnings = (1..=words.len().min(2)).rev().map(|count| words[..count].join("-"));
        beginnings.into_iter().find(|name| is_command(name)).unwrap_or_else(|| "run".to_owned())
    };
    let mut covered: BTreeSet<String> = examples.iter().map(|it| command(&it.words)).collect();
    covered.extend(ELSEWHERE.iter().map(|(name, ..)| (*name).to_owned()));
    covered.extend(MORE.iter().map(|(name, _)| (*name).to_owned()));
    let with_json: BTreeSet<String> = commands
        .iter()
        .filter(|(_, page)| has(page, "json"))
        .map(|(name, _)| name.clone())
        .collect();
    assert_eq!(covered, with_json);

    let mut forms: BTreeSet<String> = examples.iter().map(|it| it.form.to_owned()).collect();
    forms.extend(ELSEWHERE.iter().map(|(_, form, _)| (*form).to_owned()));
    forms.extend(MORE.iter().map(|(_, form)| (*form).to_owned()));
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let published: BTreeSet<String> = fs::read_dir(docs)
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().ok()?;
            Some(name.strip_suffix("-v1.schema.json")?.to_owned())
        })
        .collect();
    assert_eq!(forms, published);
}

#[test]
fn every_document_is_of_its_published_form() {
    let home = Home::new();
    measured(&home, "sandisk-ultra-a1", "card 1");
    measured(&home, "sandisk-extreme-a1", "card 2");
    let worn =
        ["endure", "sim:sandisk-ultra", "--size", "8M", "--cycles", "3", "--seed", "1", "--quiet"];
    run(home.cardproof(&[&worn[..], &["--label", "worn"]].concat())).expect(0);
    let mut all = Vec::new();
    let mut forms = BTreeSet::new();
    let all_of_a_form = few_or_all(false, true);
    for example in examples(&home).into_iter().filter(|it| forms.insert(it.form) || all_of_a_form) {
        let words: Vec<&str> = example.words.iter().map(String::as_str).collect();
        let text = run(home.cardproof(&words)).expect(example.status).stdout;
        let documents = example.documents(&text);
        assert!(!documents.is_empty(), "{words:?}");
        all.extend(documents.into_iter().map(|document| (example.form, document)));
    }
    assert_eq!(lab_or_skip!(faults_of_forms(&home, &all)), "");
}

#[test]
fn the_settings_of_a_device_are_changed_and_restored_in_their_published_form() {
    lab_or_skip!(require_root());
    let home = Home::new();
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(16)));
    let path = word(device.path()).to_owned();
    // Less than tuning wants, so that there is something to do.
    fs::write(format!("/sys/block/{}/queue/read_ahead_kb", device.name()), "16").unwrap();
    for action in ["--apply", "--undo"] {
        let ended = run(home.cardproof(&["tune", &path, action, "--json", "-"])).expect(0);
        let document: Value = serde_json::from_str(&ended.stdout).unwrap();
        let said = if action == "--apply" { &document["applied"] } else { &document["restored"] };
        assert!(said.as_array().is_some_and(|said| !said.is_empty()), "{action}: {document}");
        assert_eq!(lab_or_skip!(faults(&home, "tuning", &[document])), "", "{action}");
    }
}

#[test]
fn a_comparison_of_setups_is_a_record() {
    lab_or_skip!(require_root());
    let home = Home::new();
    let words = ["compare-setups", word(home.place()), "--jobs", "fsync-4k", "--rounds", "2"];
    let more = ["--only", "sqlite-wal-full", "--size", "96M", "--seed", "1", "--json", "-"];
    let ended = run(home.cardproof(&[&words[..], &more].concat())).expect(0);
    let document: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(lab_or_skip!(faults(&home, "record", &[document])), "");
}

#[test]
fn a_served_card_is_told_in_its_published_form() {
    lab_or_skip!(require_root());
    let home = Home::new();
    let place = home.place().join("served");
    fs::create_dir(&place).unwrap();
    let words = ["sim", "serve", "sandisk-ultra-a1", "--directory", word(&place)];
    let more = ["--no-block-device", "--json", "--quiet"];
    let mut server = start(home.cardproof(&[&words[..], &more].concat()));
    assert!(server.until(|| fs::read_dir(&place).is_ok_and(|it| it.count() > 0)), "it ended");
    server.signal(Signal::INT);
    let document: Value = serde_json::from_str(&server.end().stdout).unwrap();
    assert_eq!(lab_or_skip!(faults(&home, "served", &[document])), "");
}

#[test]
fn a_shared_and_a_queued_record_are_told_in_their_published_form() {
    let home = Home::new();
    measured(&home, "sandisk-ultra-a1", "card 1");
    let (address, _sent) = hub(&[201]);
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for to in [address, format!("http://{closed}")] {
        let words = ["submit", "card 1", "--to", &to, "--yes", "--queue", "--json", "-", "--quiet"];
        let ended = run(home.cardproof(&words)).expect(0);
        let document: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(lab_or_skip!(faults(&home, "shared", &[document])), "", "{to}");
    }
}

#[test]
fn a_ledger_grows_and_is_told_in_its_published_form() {
    let home = Home::new();
    let (state, memory) = (home.place().join("ledger"), home.place().join("memory"));
    let words = ["log", "--state", word(&state), "--memory", word(&memory), "--json", "-"];
    let first = run(home.cardproof(&words));
    if first.code() == 1 {
        cardproof_testkit::skip(cardproof_testkit::test_name!(), first.stderr.trim());
        return;
    }
    let second = run(home.cardproof(&words)).expect(0);
    let shown = run(home.cardproof(&[&words[..], &["--show"]].concat())).expect(0);
    let documents: Vec<Value> = [&first.expect(0).stdout, &second.stdout, &shown.stdout]
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    let seconds = |document: &Value| document["cards"][0]["seconds"].as_u64().unwrap();
    assert!(seconds(&documents[0]) <= seconds(&documents[1]), "a look takes nothing away");
    assert_eq!(documents[1]["cards"][0]["key"], documents[2]["cards"][0]["key"]);
    assert_eq!(lab_or_skip!(faults(&home, "ledger-outlook", &documents)), "", "{documents:#?}");
    use std::os::unix::fs::PermissionsExt;
    let key = fs::metadata(state.join("key")).unwrap();
    assert_eq!(key.permissions().mode() & 0o777, 0o600, "the key is its owner's");
    assert!(fs::metadata(state.join("state")).unwrap().len() < 4096);
}

#[test]
fn who_writes_is_told_in_its_published_form_and_compared() {
    let home = Home::new();
    let words = ["watch", word(home.place()), "--who", "--time", "1s"];
    let ended = run(home.cardproof(&[&words[..], &["--json"]].concat()));
    if ended.code() == 2 {
        cardproof_testkit::skip(cardproof_testkit::test_name!(), ended.stderr.trim());
        return;
    }
    let text = ended.expect(0).stdout;
    let document: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(lab_or_skip!(faults(&home, "who", &[document])), "", "{text}");
    let before = home.place().join("before.json");
    fs::write(&before, &text).unwrap();
    let compared = run(home.cardproof(&[&words[..], &["--against", word(&before)]].concat()));
    let page = compared.expect(0).stdout;
    assert!(page.starts_with("Who writes to "), "{page}");
    let wrong = home.place().join("wrong.json");
    fs::write(&wrong, "{}").unwrap();
    let refused = run(home.cardproof(&[&words[..], &["--against", word(&wrong)]].concat()));
    assert!(refused.expect(2).stderr.contains("--against"));
}

#[test]
fn witness_writer_and_check_print_their_published_forms() {
    let home = Home::new();
    let secret = home.place().join("secret");
    fs::write(&secret, "a secret of more than 16 bytes\n").unwrap();
    let (journal, place) = (home.place().join("journal"), home.place().join("card"));
    fs::create_dir(&place).unwrap();
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let secret = ["--secret-file", word(&secret)];
    let words = ["powercut", "witness", "--listen", &address, "--journal", word(&journal)];
    let more = ["--silence", "1s", "--json"];
    let mut witness = start(home.cardproof(&[&words[..], &secret, &more].concat()));
    assert!(witness.until(|| journal.exists()), "{:?}", witness.end());
    let heard = |wanted: usize| {
        let journal = fs::read_to_string(&journal).unwrap_or_default();
        journal.lines().filter(|line| line.starts_with("durable ")).count() >= wanted
    };
    let write = ["powercut", "write", word(&place), "--witness", &address, "--size", "1M"];
    let written = ["--json", "-", "--quiet"];
    let mut forms = Vec::new();
    let mut writer = start(home.cardproof(&[&write[..], &secret, &written].concat()));
    assert!(writer.until(|| heard(4)), "{:?}", writer.end());
    writer.signal(Signal::INT);
    let ended = writer.end().expect(130);
    assert_eq!(ended.stderr, "");
    forms.push(("powercut-write", ended.stdout));
    for entry in fs::read_dir(&place).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let before = fs::read_to_string(&journal).unwrap().lines().count();
    let mut writer = start(home.cardproof(&[&write[..], &secret].concat()));
    assert!(writer.until(|| heard(before)), "{:?}", writer.end());
    writer.signal(Signal::KILL);
    writer.end();
    let check = ["powercut", "check", word(&place), "--witness", &address, "--json", "-"];
    let checked = run(home.cardproof(&[&check[..], &secret].concat())).expect(0);
    forms.push(("powercut", checked.stdout));
    witness.signal(Signal::INT);
    let lines = witness.end().stdout;
    forms.extend(lines.lines().map(|line| ("powercut-witness", line.to_owned())));
    for (form, text) in forms {
        let document: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(lab_or_skip!(faults(&home, form, &[document])), "", "{text}");
    }
    for event in ["listening", "began", "ended", "gone"] {
        assert!(lines.contains(&format!("\"event\":\"{event}\"")), "no {event} in {lines}");
    }
}

/// The judge itself: a document that lacks a field, or has one of another type, is refused.
#[test]
fn a_document_of_another_form_is_refused() {
    let home = Home::new();
    let wrong = [
        ("list", r#"{"schema": "cardproof.list/1"}"#),
        ("list", r#"{"schema": "cardproof.list/2", "records": []}"#),
        ("comparison", r#"{"schema": "cardproof.comparison/1", "use": "system"}"#),
        ("watch", r#"{"schema": "cardproof.watch/1", "time": 3}"#),
        ("identity", r#"{"schema": "cardproof.identity/1"}"#),
        ("catalogue", r#"[{"name": "standard"}]"#),
        ("diagnosis", r#"{"schema": "cardproof.diagnosis/1", "culprit": "moon"}"#),
        ("registers", r#"{"schema": "cardproof.registers/1"}"#),
        ("check", r#"{"schema": "cardproof.check/1", "next": [{}], "records": []}"#),
        ("tuning", r#"{"schema": "cardproof.tuning/1", "steps": [{}], "applied": []}"#),
        ("engine", r#"{"engine": "null"}"#),
        ("served", r#"{"schema": "cardproof.served/1", "file": null}"#),
        ("recording", r#"{"schema": "cardproof.recording/1", "trace": "t"}"#),
        ("shared", r#"{"schema": "cardproof.shared/1", "url": "u"}"#),
        ("explained", r#"{"schema": "cardproof.explained/1", "devices": [{}]}"#),
        ("import", r#"{"schema": "cardproof.import/1", "records": []}"#),
        ("powercut-write", r#"{"schema": "cardproof.powercut-write/1"}"#),
        ("powercut-witness", r#"{"schema": "cardproof.powercut-witness/1", "event": "tea"}"#),
    ];
    let mut paths = Vec::new();
    for (number, (form, text)) in wrong.iter().enumerate() {
        let path = home.place().join(format!("wrong-{number}.json"));
        fs::write(&path, text).unwrap();
        paths.push((schema(form), path));
    }
    let pairs: Vec<_> = paths.iter().map(|(schema, path)| (&**schema, &**path)).collect();
    let faults = lab_or_skip!(schema_faults_of_pairs(&pairs));
    for (number, (form, text)) in wrong.iter().enumerate() {
        assert!(faults.contains(&format!("/wrong-{number}.json: ")), "{form} takes {text}");
    }
}
