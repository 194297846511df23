//! Replays through the program: simulated, in a directory, refused, and damaged.

use std::fs;

use cardproof_record::{PhaseState, State};

use crate::home::{Home, our_directories};
use crate::process::run;
use crate::records;

/// A job of 40 writes and 10 flushes over some 300 MiB.
fn small_job(home: &Home) -> String {
    let mut table = "t_s,rwbs,sector,nsect,comm\n".to_owned();
    for number in 0..50_u64 {
        let line = match number % 5 {
            4 => format!("0.0{number:02},FF,0,0,x\n"),
            _ => format!("0.0{number:02},WS,{},8,x\n", number * 104_729 % 600_000 / 8 * 8),
        };
        table.push_str(&line);
    }
    let path = home.place().join("job.csv");
    fs::write(&path, table).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_simulated_replay_is_the_same_from_run_to_run() {
    let home = Home::new();
    let words = ["replay", "run", "desktop-removal", "sim:sandisk-extreme-a1", "--seed", "1"];
    let json = |home: &Home| {
        run(home.cardproof(&[&words[..], &["--json", "-", "--quiet"]].concat())).expect(0).stdout
    };
    let first = json(&home);
    assert_eq!(first, json(&Home::new()));
    let record = records::parse(&first);
    assert_eq!(record.state, State::Complete);
    let replay = &record.replays[0];
    assert_eq!((replay.requests, replay.state.clone()), (36_657, PhaseState::Measured));
    assert_eq!(record.jobs[0].name, "replay-desktop-removal");
    let told = run(home.cardproof(&words)).expect(0).stdout;
    assert!(told.contains("desktop-removal: took"), "{told}");
}

#[test]
fn a_directory_is_left_as_it_was() {
    let home = Home::new();
    let job = small_job(&home);
    let place = home.place().to_str().unwrap().to_owned();
    let json = home.place().join("record.json");
    let words = [
        "replay",
        "run",
        &job,
        &place,
        "--pauses",
        "none",
        "--details",
        "--json",
        json.to_str().unwrap(),
    ];
    let ended = run(home.cardproof(&words)).expect(0);
    assert!(ended.stdout.contains("writes: 40"), "{}", ended.stdout);
    assert!(our_directories(home.place()).is_empty());
    let record = records::parse(&fs::read_to_string(&json).unwrap());
    let seen = record.replays[0].surroundings.as_ref().expect("somebody looked");
    // A replay of a moment: too short for the kernel's ticks of processor time.
    assert!(seen.activity.window_ns.get() > 0, "{seen:?}");
}

#[test]
fn a_replay_is_reported_beside_the_simulated_cards() {
    let home = Home::new();
    let (html, markdown) = (home.place().join("r.html"), home.place().join("r.md"));
    let outputs = ["--html", html.to_str().unwrap(), "--markdown", markdown.to_str().unwrap()];
    let words = ["replay", "run", "sqlite-wal", "sim:samsung-emmc", "--seed", "1"];
    let told = run(home.cardproof(&[&words[..], &outputs].concat())).expect(0).stdout;
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    for text in [told, fs::read_to_string(&html).unwrap(), fs::read_to_string(&markdown).unwrap()] {
        assert!(text.contains("sqlite-wal: took"), "{text}");
        assert!(
            text.contains("8 simulated cards did the same job: 1 in this time or less"),
            "{text}"
        );
        assert!(!text.contains("aily use"), "{text}");
    }
}

#[test]
fn a_file_is_not_written_to_without_leave() {
    let home = Home::new();
    let job = small_job(&home);
    let precious = home.place().join("precious");
    fs::write(&precious, vec![7; 1 << 20]).unwrap();
    let ended = run(home.cardproof(&["replay", "run", &job, precious.to_str().unwrap()])).expect(3);
    assert!(ended.stderr.contains("--destroy"), "{}", ended.stderr);
    assert_eq!(fs::read(&precious).unwrap(), vec![7; 1 << 20]);
}

#[test]
fn wrong_words_are_usage() {
    let home = Home::new();
    let target = "sim:sandisk-extreme-a1";
    for words in [
        ["replay", "run", "no-such-job", target].as_slice(),
        &["replay", "run", "desktop-removal", target, "--pauses", "harder"],
        &["replay", "run", "desktop-removal", target, "--pauses=-1"],
        &["replay", "run", "desktop-removal", "sim:no-such-card"],
    ] {
        run(home.cardproof(words)).expect(2);
    }
}
