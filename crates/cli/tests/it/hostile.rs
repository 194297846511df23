//! Strings that others chose, through every command that shows them and in every form: a stick's name
//! must not steer the terminal of who looks at it, nor break a document.

use std::fs;
use std::path::{Path, PathBuf};

use cardproof_report::steers;
use cardproof_testkit::records::{slow_class4, typical_a1_card};

use crate::home::{Home, SMALL, word};
use crate::process::{Ended, run};

/// ESC, OSC, a C1 control, bidirectional marks, a line end, HTML, Markdown.
const HOSTILE: &str =
    "x\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}1m\u{202e}\u{2066}\r\n<img src=q onerror=p>\"'&|[a](b)";

/// What a spreadsheet would compute.
const FORMULA: &str = "=HYPERLINK(\"http://example.org\")";

/// Nothing of `text` steers a terminal.
fn assert_harmless(what: &str, text: &str) {
    let steering = text.chars().find(|c| steers(*c) && !matches!(c, '\n' | '\t'));
    assert_eq!(steering, None, "{what}:\n{text}");
}

/// Both streams of a command that ended in any way of its own.
fn harmless(what: &str, ended: Ended) -> Ended {
    assert!((0..=4).contains(&ended.code()), "{what} ends with {}", ended.code());
    assert!(!ended.stderr.contains("panicked"), "{what}: {}", ended.stderr);
    assert_harmless(what, &ended.stderr);
    assert_harmless(what, &ended.stdout);
    ended
}

/// What the command has written is sound as what its name says it is.
fn assert_document(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let what = path.display().to_string();
    match path.extension().and_then(|ending| ending.to_str()).unwrap() {
        "json" => {
            serde_json::from_str::<serde_json::Value>(&text)
                .unwrap_or_else(|error| panic!("{what}: {error}\n{text}"));
        }
        "csv" => {
            assert_harmless(&what, &text);
            let cells = text.lines().flat_map(|line| line.split(','));
            let is_formula = |cell: &str| cell.trim_start_matches('"').starts_with('=');
            assert!(!cells.into_iter().any(is_formula), "{what}:\n{text}");
        }
        _ => {
            assert_harmless(&what, &text);
            assert!(!text.contains("<img"), "{what}:\n{text}");
        }
    }
}

/// Runs the command with `words`, in which OUT stands for a fresh directory, whose documents are then
/// looked at.
fn try_out(home: &Home, words: &[&str]) -> Ended {
    let out = tempfile::tempdir().unwrap();
    let words: Vec<String> = words.iter().map(|it| it.replace("OUT", word(out.path()))).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ended = harmless(&format!("{words:?}"), run(home.cardproof(&words)));
    for entry in fs::read_dir(out.path()).unwrap() {
        assert_document(&entry.unwrap().path());
    }
    ended
}

/// The machines that are recorded for tests.
fn machines() -> Vec<PathBuf> {
    let trees = Path::new(env!("CARGO_MANIFEST_DIR")).join("../device/tests/trees");
    fs::read_dir(trees).unwrap().map(|entry| entry.unwrap().path()).collect()
}

/// The dump of a machine in which `change` makes each line of a file another.
fn changed(machine: &Path, change: impl Fn(&str) -> Vec<u8>) -> String {
    let escaped =
        |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect() };
    let text = fs::read_to_string(machine).unwrap();
    let lines = text.lines().map(|line| match line.split_once(" = ") {
        Some((path, value)) if !line.starts_with('#') => {
            format!("{path} = {}", escaped(&change(value)))
        }
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn no_attribute_of_a_device_steers_a_terminal() {
    let home = Home::new();
    let dump = home.data().join("machine.txt");
    let is_word = |value: &str| value.contains(|c: char| c.is_ascii_alphabetic());
    let hostile = HOSTILE.replace('\n', "");
    let added = |value: &str| -> Vec<u8> {
        let more = if is_word(value) { &*hostile } else { "" };
        [value.as_bytes(), more.as_bytes()].concat()
    };
    let replaced = |_: &str| hostile.clone().into_bytes();
    let bytes = |value: &str| [b"\xff\xfe\x9b\x1b[2J", value.as_bytes()].concat();
    for machine in machines() {
        for text in
            [changed(&machine, added), changed(&machine, replaced), changed(&machine, bytes)]
        {
            fs::write(&dump, text).unwrap();
            let place = ["identify", "--sysroot", word(&dump)];
            for more in
                [&[][..], &["--details"], &["--details", "--show-serial", "--json", "OUT/i.json"]]
            {
                try_out(&home, &[&place[..], more].concat());
            }
            let again = home.data().join("again.txt");
            try_out(&home, &[&place[..], &["--dump", word(&again)]].concat());
            assert_harmless("dump", &fs::read_to_string(&again).unwrap_or_default());
        }
    }
}

#[test]
fn no_pasted_text_steers_a_terminal() {
    let home = Home::new();
    let cid = "1b534d45423151543000000000014100";
    let hostile = HOSTILE.replace('\n', "");
    for text in [
        format!("{hostile} cid: {cid}\n"),
        format!("/sys/block/mmc{hostile}/device/cid:{cid}\n"),
        format!("mmc0:{hostile} cid: {cid}\nname: {hostile}\ntype: SD\n"),
        format!("cid: {hostile}{cid}\n"),
        format!("{cid}{hostile}"),
    ] {
        let file = home.data().join("pasted.txt");
        fs::write(&file, text).unwrap();
        try_out(&home, &["identify", "--raw", word(&file)]);
        try_out(&home, &["identify", "--raw", word(&file), "--json", "OUT/r.json"]);
    }
}

#[test]
fn no_log_of_a_tool_steers_a_terminal() {
    let home = Home::new();
    let hostile = HOSTILE.replace('\n', "");
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/import");
    let names = [
        "fio-random-write.json",
        "fio-terse.txt",
        "pibenchmarks.txt",
        "sd-card-bench-report.txt",
        "flashbench-align.txt",
        "f3-probe.txt",
        "iostat-extended.txt",
        "dd-with-its-command.txt",
    ];
    for name in names {
        let text = fs::read_to_string(logs.join(name)).unwrap();
        // In JSON a control character is an escape.
        let foreign = match name.ends_with(".json") {
            true => serde_json::to_string(&hostile).unwrap().trim_matches('"').to_owned(),
            false => hostile.clone(),
        };
        // The names that people give: of cards, devices, jobs, files.
        let mut words: Vec<&str> = text
            .split(|c: char| !c.is_ascii_alphanumeric())
            .filter(|word| word.len() > 3 && word.contains(|c: char| c.is_ascii_alphabetic()))
            .collect();
        words.sort_unstable();
        words.dedup();
        for part in words.chunks(words.len().div_ceil(6)) {
            let mut log = text.clone();
            for word in part {
                log = log.replacen(word, &format!("{word}{foreign}"), 1);
            }
            let file = home.data().join(format!("a{hostile}b.txt").replace('/', ""));
            fs::write(&file, log).unwrap();
            try_out(&home, &["import", word(&file)]);
            try_out(&home, &["import", word(&file), "--label", &hostile]);
            try_out(&home, &["import", word(&file), "--json", "OUT/r.json"]);
            try_out(&home, &["watch", "--explain", word(&file)]);
            try_out(&home, &["watch", "--explain", word(&file), "--json"]);
        }
    }
}

#[test]
fn no_label_steers_a_list_a_summary_or_a_comparison() {
    let home = Home::new();
    let records = home.data().join("cardproof/records");
    fs::create_dir_all(&records).unwrap();
    for (id, label, record) in [
        ("20260101T000000Z-00000001", HOSTILE, typical_a1_card()),
        ("20260101T000000Z-00000002", FORMULA, slow_class4()),
    ] {
        let mut record = record;
        record.id = id.to_owned();
        record.label = Some(label.to_owned());
        record.conditions.device.model = Some(label.to_owned());
        fs::write(records.join(format!("{id}.json")), record.to_json().unwrap()).unwrap();
    }
    let pages = ["--html", "OUT/p.html", "--markdown", "OUT/p.md", "--json", "OUT/p.json"];
    let csv = ["--csv", "OUT/p.csv"];
    for words in [
        vec!["list"],
        vec!["list", "--json", "OUT/l.json"],
        vec!["list", HOSTILE],
        vec!["list"],
        [&["list"][..], &pages, &csv].concat(),
        vec!["show", "latest"],
        vec!["show", HOSTILE],
        [&["show", "latest"][..], &pages].concat(),
        vec!["compare", "20260101T000000Z-00000001", "20260101T000000Z-00000002"],
        [&["compare", "20260101T000000Z-00000001", "20260101T000000Z-00000002"][..], &pages, &csv]
            .concat(),
        vec!["diagnose", "--time", "2s", "--json", "OUT/d.json"],
    ] {
        try_out(&home, &words);
    }
}

#[test]
fn no_description_of_a_card_or_profile_steers_a_terminal() {
    let home = Home::new();
    let hostile = HOSTILE.replace(['/', '\n'], "");
    let text = serde_json::to_string(HOSTILE).unwrap().replace('\u{9b}', "\\u009b");
    let card = home.data().join(format!("card{hostile}.toml"));
    fs::write(&card, format!("base = \"sandisk-ultra\"\ntitle = {text}\nsize = \"64M\"\n"))
        .unwrap();
    let wrong = home.data().join(format!("wrong{hostile}.toml"));
    fs::write(&wrong, format!("{text} = {text}\nbase = {text}\n")).unwrap();
    let profile = home.data().join(format!("profile{hostile}.toml"));
    fs::write(
        &profile,
        format!(
            "name = {text}\npurpose = {text}\n[[phase]]\nname = {text}\npattern = {text}\n\
             block = \"4K\"\n"
        ),
    )
    .unwrap();
    let simulated = format!("sim:{}", word(&card));
    let all = ["--json", "OUT/r.json", "--html", "OUT/r.html", "--markdown", "OUT/r.md"];
    for words in [
        [&["run", &simulated][..], SMALL, &all].concat(),
        [&["run", &format!("sim:{}", word(&wrong))][..], SMALL].concat(),
        vec!["verify", &simulated, "--json", "OUT/v.json"],
        vec!["verify", &simulated, "--label", HOSTILE],
        vec!["geometry", &simulated],
        [&["geometry", &simulated][..], &all].concat(),
        vec!["tune", &simulated],
        vec!["tune", &simulated, "--json", "OUT/t.json"],
        vec!["profiles", word(&profile)],
        vec!["run", "sim:sandisk-ultra", "--profile", word(&profile)],
        vec!["run", "sim:sandisk-ultra", "--profile", HOSTILE],
        vec!["run", "sim:sandisk-ultra", "--require", HOSTILE],
        vec!["replay", "show", HOSTILE],
        vec!["replay", "run", HOSTILE, "sim:sandisk-ultra"],
        vec!["sim", "serve", HOSTILE],
        vec!["tune", HOSTILE],
        vec!["verify", HOSTILE],
        vec!["geometry", HOSTILE],
        vec!["watch", "--once", HOSTILE],
        vec!["identify", HOSTILE],
        vec!["diagnose", HOSTILE],
        vec!["run", "--size", HOSTILE],
    ] {
        try_out(&home, &words);
    }
}
