//! The newcomer's way in a real browser: measure a simulated card, submit, find, compare with two references,
//! delete; on a screen and a phone, by day and by night, without JavaScript, judged by axe.
//!
//! Debian's Chromium is driven by Playwright. What is missing is a skip with its reason.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::{On, TestData, skip};
use crate::moderation::act;

/// Chromium without windows, which computes half as long for a page; and the whole browser.
const BROWSERS: [&str; 2] = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

const SCRIPT: &str = include_str!("browser.js");

/// What the test needs beside the hub: the browser's packages, the browser, and the program `cardproof`.
fn needed() -> Result<[PathBuf; 3], String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let packages = root.join("target/browser");
    let browser = BROWSERS.map(PathBuf::from).into_iter().find(|path| path.exists());
    let built = ["debug", "release"].map(|kind| root.join("target").join(kind).join("cardproof"));
    let when = |path: &PathBuf| path.metadata().and_then(|it| it.modified()).ok();
    let newest = built.into_iter().max_by_key(when).filter(|path| path.is_file());
    let program =
        newest.ok_or("cardproof is not built; run `cargo build -p cardproof-cli` at the root")?;
    if !packages.join("driver/node").is_file() || !packages.join("axe").is_dir() {
        return Err("no Playwright and axe; `cargo xtask test` installs them".to_owned());
    }
    let browser = browser.ok_or("no Chromium; `cargo xtask test` as root installs it")?;
    Ok([packages, browser, program])
}

#[test]
fn a_newcomer_submits_finds_compares_and_deletes() {
    let [packages, browser, program] = match needed() {
        Ok(needed) => needed,
        Err(reason) => {
            return skip("browser::a_newcomer_submits_finds_compares_and_deletes", &reason);
        }
    };
    let place = TestData::new(On::Sqlite).unwrap();
    let hub = place.start(&[]);
    let home = tempfile::tempdir().unwrap();
    let cardproof = |words: &[&str]| {
        let mut command = Command::new(&program);
        command.args(words).env("XDG_DATA_HOME", home.path()).env("HOME", home.path());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    cardproof(&[
        "run",
        "sim:sandisk-extreme-plus",
        "--size",
        "64M",
        "--time-budget",
        "5s",
        "--seed",
        "1",
        "--quiet",
    ]);
    let to = format!("http://{}", hub.address);
    let submit = ["submit", "latest", "--to", &to, "--yes", "--quiet", "--json", "-"];
    let receipt: Value = serde_json::from_str(&cardproof(&submit)).unwrap();
    let again: Value = serde_json::from_str(&cardproof(&submit)).unwrap();
    assert_eq!(receipt, again, "a submission that is repeated is one");
    let shots = place.data.path().join("shots");
    std::fs::create_dir(&shots).unwrap();
    let (url, token) = (receipt["url"].as_str().unwrap(), receipt["token"].as_str().unwrap());
    let mut node = Command::new(packages.join("driver/node"));
    let administrator = place.administrator();
    let id = url.rsplit('/').next().unwrap();
    let ban =
        format!("id={id}&action=ban&reason=The+same+figures+in+every+record,+to+the+last+digit");
    assert_eq!(act(&hub, &administrator, &ban), 303);
    node.args(["-e", SCRIPT, "--"]).arg(packages).arg(browser).args([&to, url, token]);
    node.arg(administrator).arg(&shots);
    let output = node.output().unwrap();
    if let Some(kept) = std::env::var_os("CARDPROOF_HUB_SHOTS") {
        Command::new("cp").arg("-rT").arg(&shots).arg(kept).status().unwrap();
    }
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "faults of pages");
    assert_eq!(hub.get_json(url.rsplit_once(&hub.address).unwrap().1).status, 410);
}
