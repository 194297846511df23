//! `cardproof endure` through the program: its contract for scripts on simulated cards, its safety and its
//! resuming on files and loop devices.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use cardproof_testkit::{Filesystem, LoopDevice, Mount, lab_or_skip};
use cardproof_units::Bytes;
use rustix::process::Signal;
use serde_json::Value;

use crate::home::Home;
use crate::process::{run, start};
use crate::said::in_one_line;

const SIZE: u64 = 16 << 20;

/// A card of 64 MiB that lives about 50 cycles and ends as `end` says.
fn card(home: &Home, end: &str) -> String {
    let file = home.place().join(format!("{end}.toml"));
    let text = format!(
        "size = \"64MiB\"\n[life]\ncycles = 50\nblock = \"64KiB\"\nend = \"{end}\"\nend_share = 0.005\n"
    );
    fs::write(&file, text).unwrap();
    format!("sim:{}", file.display())
}

fn answer(home: &Home, words: &[&str], status: i32) -> Value {
    let words = [&["endure", "--quiet", "--json", "-", "--seed", "1"], words].concat();
    serde_json::from_str(&run(home.cardproof(&words)).expect(status).stdout).unwrap()
}

/// A card as a file of zeros, with its identity.
fn image(home: &Home, name: &str) -> (PathBuf, String) {
    let path = home.place().join(name);
    fs::File::create(&path).unwrap().set_len(SIZE).unwrap();
    (path, format!("--destroy={name}:{SIZE}"))
}

#[test]
fn the_contract_for_scripts_holds_for_every_end() {
    let home = Home::new();
    for (end, name) in [
        ("read-only", "read_only"),
        ("silently-wrong", "silently_wrong"),
        ("ignores-writes", "ignores_writes"),
        ("times-out", "times_out"),
        ("shrinks", "shrinks"),
        ("gone", "gone"),
        ("unreadable", "unreadable"),
    ] {
        let answer = answer(&home, &[&card(&home, end)], 0);
        assert_eq!(answer["end"], name, "{answer}");
        assert!((20..60).contains(&answer["cycles"].as_u64().unwrap()), "{answer}");
        for milestone in ["first_error", "0.1%", "1%", "10%", "25%", "50%"] {
            assert!(answer["milestones"][milestone].is_u64(), "{end}: {milestone}");
        }
        let life = &answer["life_cycles"];
        assert_eq!((&life["milestone"], &life["confidence"]), (&"0.1%".into(), &0.95.into()));
        assert_eq!(life["estimate"], life["high"], "the life was seen");
    }
}

#[test]
fn a_card_stopped_without_an_error_has_a_lower_bound_only() {
    let home = Home::new();
    let answer = answer(&home, &[&card(&home, "read-only"), "--cycles", "10"], 0);
    assert_eq!((&answer["cycles"], &answer["end"]), (&10.into(), &Value::Null));
    let life = &answer["life_cycles"];
    assert_eq!((&life["estimate"], &life["high"]), (&Value::Null, &Value::Null));
    assert_eq!(life["low"], 10.0);
    assert!(answer["milestones"].as_object().unwrap().values().all(Value::is_null));
}

#[test]
fn a_budget_is_passed_with_0_and_failed_with_4() {
    let home = Home::new();
    let target = card(&home, "read-only");
    let passed = answer(&home, &[&target, "--budget", "500MB"], 0);
    assert_eq!(passed["budget"]["passed"], true);
    assert!(passed["bytes_written"].as_u64().unwrap() >= 500_000_000);
    let failed = answer(&home, &[&target, "--budget", "10GB"], 4);
    assert_eq!(failed["budget"]["passed"], false);
    assert!(failed["budget"]["life_cycles_above"].as_u64().unwrap() > 10);
}

#[test]
fn a_fake_is_not_reported_as_worn_out() {
    let home = Home::new();
    let said = run(home.cardproof(&["endure", "sim:fake-drop", "--cycles", "1"])).expect(4);
    assert!(said.stdout.contains("FAILED IN CYCLE 1"), "{}", said.stdout);
    assert!(said.stdout.contains("cardproof verify"), "{}", said.stdout);
    for wrong in ["0 cycles", "Life until", "WORN OUT"] {
        assert!(!said.stdout.contains(wrong), "{wrong}: {}", said.stdout);
    }
    let shown = in_one_line(&run(home.cardproof(&["show", "latest"])).stdout);
    assert!(shown.contains("failed in the first cycle of a test, as a fake does"), "{shown}");
    assert!(!shown.contains("worn it out"), "{shown}");
    let answer = answer(&home, &["sim:fake-drop", "--cycles", "1"], 4);
    assert_eq!(answer["life_cycles"]["basis"], "first_cycle");
    assert_eq!(answer["life_cycles"]["estimate"], Value::Null);
}

#[test]
fn several_cards_of_one_model_are_joined() {
    let home = Home::new();
    let target = card(&home, "read-only");
    let several = answer(&home, &[&target, &target, &target], 0);
    assert_eq!(several["schema"], "cardproof.endure-cards/1");
    assert_eq!(several["cards"].as_array().unwrap().len(), 3);
    assert_eq!(
        (&several["models"][0]["cards"], &several["models"][0]["ended"]),
        (&3.into(), &3.into())
    );
    assert_eq!(home.records().len(), 3, "each card is another one and has its own record");
}

#[test]
fn saved_records_are_judged_again() {
    let home = Home::new();
    let target = card(&home, "read-only");
    let first = answer(&home, &[&target, "--label", "a card"], 0);
    let words = ["endure", "--from", "a card", "--json", "-", "--quiet", "--bytes-per-day", "1GB"];
    let again = run(home.cardproof(&words)).expect(0);
    let again: Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(again["life_cycles"], first["life_cycles"]);
    assert_eq!(again["life_days"]["write_amplification_is"], "assumed");
}

#[test]
fn rows_and_charts_go_where_they_are_wanted() {
    let home = Home::new();
    let (csv, html) = (home.place().join("cycles.csv"), home.place().join("report.html"));
    let words = ["--csv", csv.to_str().unwrap(), "--html", html.to_str().unwrap()];
    let answer = answer(&home, &[&[card(&home, "read-only").as_str()], &words[..]].concat(), 0);
    let rows = fs::read_to_string(csv).unwrap();
    assert_eq!(rows.lines().count() as u64, answer["cycles"].as_u64().unwrap() + 1);
    let page = fs::read_to_string(html).unwrap();
    assert!(page.contains("id=\"endurance\"") && page.matches("<svg").count() >= 2);
}

/// A kill loses no cycle and counts none twice; the next run goes on.
#[test]
fn a_kill_loses_no_cycle() {
    let home = Home::new();
    let (path, destroy) = image(&home, "card.img");
    let path = path.to_str().unwrap();
    for wait in [30, 120, 300] {
        let mut command = home.cardproof(&["endure", path, &destroy, "--quiet"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::park_timeout(Duration::from_millis(wait));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let numbers = cycles_in_journal(&home);
    let wanted = (numbers.len() as u64 + 2).to_string();
    let answer = answer(&home, &[path, &destroy, "--cycles", &wanted], 0);
    assert_eq!(answer["cycles"].to_string(), wanted);
    assert_eq!(answer["bad_share"], 0.0);
    let numbers = cycles_in_journal(&home);
    assert!(numbers.iter().copied().eq(1..=numbers.len() as u64), "{numbers:?}");
    assert_eq!(numbers.len().to_string(), wanted);
}

/// Who stops a test learns how it goes on, below the answer.
#[test]
fn a_stopped_run_says_how_it_goes_on() {
    let home = Home::new();
    let (path, destroy) = image(&home, "card.img");
    let mut running = start(home.cardproof(&["endure", path.to_str().unwrap(), &destroy]));
    assert!(running.until(|| !cycles_in_journal(&home).is_empty()), "it has not begun");
    running.signal(Signal::INT);
    let stopped = running.end();
    assert_eq!(stopped.code(), 130, "{}", stopped.stderr);
    let last = "Stopped. The same command continues the test.\n";
    assert!(stopped.stderr.ends_with(last), "{}", stopped.stderr);
}

/// The cycles of every state that is kept; a run that was killed before it had marked its card leaves a
/// state of its own without any.
fn cycles_in_journal(home: &Home) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(home.data().join("cardproof/endure")) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let states = paths.filter(|path| path.extension().is_some_and(|ending| ending == "endure"));
    let text: String = states.map(|path| fs::read_to_string(path).unwrap()).collect();
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter_map(|line| line["cycle"]["cycle"].as_u64()).collect()
}

#[test]
fn the_beginning_of_a_state_that_a_killed_run_left_is_removed() {
    let home = Home::new();
    let (path, destroy) = image(&home, "card.img");
    let states = home.data().join("cardproof/endure");
    fs::create_dir_all(&states).unwrap();
    let mut ended = std::process::Command::new("true").spawn().unwrap();
    let process = ended.id();
    ended.wait().unwrap();
    let begun = states.join(format!(".card-1.endure.{process}.tmp"));
    fs::write(&begun, "half of a li").unwrap();
    answer(&home, &[path.to_str().unwrap(), &destroy, "--cycles", "1"], 0);
    assert!(!begun.exists());
}

/// A card on which somebody wrote since is not the one of the run.
#[test]
fn another_card_is_not_gone_on_with() {
    let home = Home::new();
    let (path, destroy) = image(&home, "card.img");
    let word = path.to_str().unwrap();
    answer(&home, &[word, &destroy, "--cycles", "2"], 0);
    fs::write(&path, vec![7; SIZE as usize]).unwrap();
    let words = ["endure", word, &destroy, "--cycles", "3", "--quiet"];
    let refused = run(home.cardproof(&words)).expect(3);
    assert!(refused.stderr.contains("--restart"), "{}", refused.stderr);
    let untouched = fs::read(&path).unwrap();
    assert!(untouched.iter().all(|&byte| byte == 7), "the card was written to");
    let again = answer(&home, &[word, &destroy, "--cycles", "1", "--restart"], 0);
    assert_eq!(again["cycles"], 1);
}

#[test]
fn bad_input_is_one_clear_error_and_nothing_is_lost() {
    let home = Home::new();
    let (path, destroy) = image(&home, "card.img");
    let word = path.to_str().unwrap();
    let place = home.place().to_str().unwrap();
    for (words, status, said) in [
        (vec!["/dev/cardproof-none"], 2, "does not exist"),
        (vec![place], 2, "is a directory"),
        (vec![word], 3, "--destroy=card.img:16777216"),
        (vec![word, "--destroy=other.img:5"], 3, "card.img:16777216"),
        (vec![word, word, &destroy, &destroy], 2, "named twice"),
        (vec![word, &destroy, &destroy], 2, "one --destroy for each device"),
        (vec!["sim:none"], 2, "no simulated card"),
        (vec!["sim:sandisk-ultra", "--pattern", "zigzag"], 2, "no pattern 'zigzag'"),
        (vec!["sim:sandisk-ultra", "--pattern", "trace:/none"], 2, "cannot read the trace"),
        (vec!["sim:sandisk-ultra", "--size", "1M"], 2, "at least 4 MiB"),
        (vec!["sim:sandisk-ultra", "--write-amplification", "0"], 2, "from 1 to 1000"),
    ] {
        let ended =
            run(home.cardproof(&[&["endure", "--quiet"], &words[..]].concat())).expect(status);
        assert!(ended.stderr.contains(said), "{words:?}: {}", ended.stderr);
        assert_eq!(ended.stderr.matches("error:").count(), 1, "{words:?}: {}", ended.stderr);
        // It wears out a device, so a directory is no way out.
        let message = in_one_line(&ended.stderr);
        assert!(!message.contains("name a directory"), "{words:?}: {message}");
    }
    assert!(fs::read(&path).unwrap().iter().all(|&byte| byte == 0));
}

#[test]
fn a_second_run_on_a_card_is_refused() {
    let home = Home::new();
    let (path, destroy) = image(&home, "card.img");
    let word = path.to_str().unwrap();
    let mut first = home.cardproof(&["endure", word, &destroy, "--quiet"]);
    let mut first = first.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let has_begun = (0..600).any(|_| {
        std::thread::park_timeout(Duration::from_millis(20));
        !cycles_in_journal(&home).is_empty()
    });
    let second = run(home.cardproof(&["endure", word, &destroy, "--quiet"]));
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(has_begun, "the first run has not begun");
    assert_eq!(second.expect(3).stderr.matches("error:").count(), 1);
}

#[test]
fn no_room_for_the_state_is_refused_before_the_first_write() {
    let small = lab_or_skip!(Mount::tmpfs("size=4M"));
    let home = Home::new();
    let (path, destroy) = image(&home, "card.img");
    let mut command = home.cardproof(&["endure", path.to_str().unwrap(), &destroy, "--quiet"]);
    command.env("XDG_DATA_HOME", small.path());
    let refused = run(command).expect(3);
    assert!(refused.stderr.contains("make room"), "{}", refused.stderr);
    assert!(fs::read(&path).unwrap().iter().all(|&byte| byte == 0), "nothing was written");
}

#[test]
fn a_mounted_device_is_refused() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(64)));
    lab_or_skip!(Filesystem::Vfat.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Vfat, ""));
    let home = Home::new();
    let path = device.path().to_str().unwrap();
    let name = device.path().file_name().unwrap().to_str().unwrap();
    let destroy = format!("--destroy={name}:{}", 64 << 20);
    let refused = run(home.cardproof(&["endure", path, &destroy, "--quiet"])).expect(3);
    assert!(refused.stderr.contains("mounted"), "{}", refused.stderr);
    drop(mount);
}
