//! Every JSON document against its published schema, by a validator that is not ours.

use std::fs;
use std::path::{Path, PathBuf};

use cardproof_testkit::{lab_or_skip, schema_faults};

use crate::home::Home;
use crate::process::run;

fn schema(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(format!("{name}-v1.schema.json"))
}

/// The CID of a SanDisk card.
const CID: &str = "03534453553136478012345678012c00";

/// Forms whose documents do not name them: a list, and the figures of one phase.
const NAMELESS: [&str; 2] = ["catalogue", "engine"];

/// A short run on a simulated card.
const RUN: [&str; 9] =
    ["run", "sim:usb-stick", "--size", "16M", "--time-budget", "5s", "--seed", "1", "--quiet"];

/// A run on a simulated card, kept and labelled.
fn measured(home: &Home, card: &str, label: &str) {
    let target = format!("sim:{card}");
    let words = ["run", &target, "--size", "16M", "--time-budget", "5s", "--seed", "1", "--quiet"];
    run(home.cardproof(&[&words[..], &["--label", label]].concat())).expect(0);
}

#[test]
fn every_document_is_of_its_published_form() {
    let home = Home::new();
    measured(&home, "sandisk-ultra-a1", "card 1");
    measured(&home, "sandisk-extreme-a1", "card 2");
    let worn =
        ["endure", "sim:sandisk-ultra", "--size", "8M", "--cycles", "3", "--seed", "1", "--quiet"];
    run(home.cardproof(&[&worn[..], &["--label", "worn"]].concat())).expect(0);
    let sdmon = home.place().join("sdmon.json");
    fs::write(&sdmon, r#"{"signature": "0x44 0x53", "healthStatusPercentUsed": 27}"#).unwrap();
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("../device/tests/trees");
    let mut trees = fs::read_dir(&tree).unwrap().map(|entry| entry.unwrap().path());
    let dump = trees.find(|path| path.is_file()).expect("there is a recorded machine");
    let dump = dump.to_str().unwrap().to_owned();
    let log =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../import/tests/import/iozone-all-tests.txt");
    let log = log.to_str().unwrap();
    let genuine = format!("sim:{}", home.place().join("genuine.toml").display());
    fs::write(home.place().join("genuine.toml"), "size = \"16MB\"").unwrap();
    for (form, words) in [
        ("record", vec!["rate", "card 1", "--json", "-"]),
        ("record", vec!["report", "card 2", "--json", "-"]),
        ("record", [&RUN[..], &["--json", "-"]].concat()),
        ("record", vec!["import", log, "--quiet", "--json", "-"]),
        ("record", vec!["replay", "desktop-install", "sim:samsung-emmc", "--quiet", "--json", "-"]),
        ("record", vec!["geometry", "sim:sandisk-ultra-a1", "--quiet", "--json", "-"]),
        ("list", vec!["list", "--json", "-"]),
        ("list", vec!["summary", "--json", "-"]),
        ("comparison", vec!["compare", "card 1", "card 2", "--json", "-"]),
        ("comparison", vec!["compare", "ref:sd-card-bench-2018", "--use", "camera", "--json", "-"]),
        ("comparison", vec!["compare", "card 1", "--price", "card 1=5", "--json", "-"]),
        ("comparison", vec!["compare", "ref:fio-pi5-2024", "ref:iozone-pi-ssd", "--json", "-"]),
        ("catalogue", vec!["compare", "--list", "--json", "-"]),
        ("identity", vec!["identify", "--sysroot", &dump, "--json", "-"]),
        ("powercut", vec!["powercut", "sim:sandisk-ultra-a1", "--cuts", "5", "--json", "-"]),
        ("watch", vec!["watch", "--once", "--json"]),
        ("catalogue", vec!["profiles", "--json", "-"]),
        ("catalogue", vec!["sim", "list", "--json", "-"]),
        ("catalogue", vec!["traces", "--json", "-"]),
        ("catalogue", vec!["traces", "desktop-install", "--json", "-"]),
        ("diagnosis", vec!["diagnose", "--time", "2s", "--json", "-"]),
        ("registers", vec!["identify", "--raw", CID, "--json", "-"]),
        ("tuning", vec!["tune", "sim:sandisk-ultra-a1", "--json", "-"]),
        ("engine", vec!["engine", "--target", "null", "--ops", "1000", "--json", "-"]),
        (
            "endure",
            vec!["endure", "sim:sandisk-ultra", "--size", "8M", "--cycles", "2", "--json", "-"],
        ),
        ("endure-cards", vec!["endure", "--from", "worn", "worn", "--json", "-"]),
        ("health", vec!["health", "--raw", sdmon.to_str().unwrap(), "--json", "-"]),
        ("verify", vec!["verify", &genuine, "--json", "-", "--quiet"]),
    ] {
        let text = run(home.cardproof(&words)).expect(0).stdout;
        let path = home.place().join("document.json");
        fs::write(&path, &text).unwrap();
        let faults = lab_or_skip!(schema_faults(&schema(form), &[&path]));
        assert_eq!(faults, "", "{words:?}");
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        if !NAMELESS.contains(&form) {
            assert_eq!(document["schema"], format!("cardproof.{form}/1"), "{words:?}");
        }
    }
}

/// The judge itself: a document that lacks a field, or has one of another type, is refused.
#[test]
fn a_document_of_another_form_is_refused() {
    let home = Home::new();
    for (form, text) in [
        ("list", r#"{"schema": "cardproof.list/1"}"#),
        ("list", r#"{"schema": "cardproof.list/2", "records": []}"#),
        ("comparison", r#"{"schema": "cardproof.comparison/1", "use": "system"}"#),
        ("watch", r#"{"schema": "cardproof.watch/1", "time": 3}"#),
        ("identity", r#"{"schema": "cardproof.identity/1"}"#),
        ("catalogue", r#"[{"name": "standard"}]"#),
        ("diagnosis", r#"{"schema": "cardproof.diagnosis/1", "culprit": "moon"}"#),
        ("registers", r#"{"schema": "cardproof.registers/1"}"#),
        ("tuning", r#"{"schema": "cardproof.tuning/1", "steps": [{}], "applied": []}"#),
        ("engine", r#"{"engine": "null"}"#),
        ("served", r#"{"schema": "cardproof.served/1", "file": null}"#),
        ("capture", r#"{"schema": "cardproof.capture/1", "trace": "t"}"#),
    ] {
        let path = home.place().join("document.json");
        fs::write(&path, text).unwrap();
        let faults = lab_or_skip!(schema_faults(&schema(form), &[&path]));
        assert!(!faults.is_empty(), "{form} takes {text}");
    }
}
