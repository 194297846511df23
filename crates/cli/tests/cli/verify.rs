//! `cardproof verify` through the program: its contract for scripts, on simulated cards, loop devices
//! and directories.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use cardproof_testkit::{LoopDevice, lab_or_skip};
use cardproof_units::Bytes;
use serde_json::Value;

use crate::home::Home;
use crate::process::run;

fn answer(home: &Home, words: &[&str], status: i32) -> Value {
    let words = [&["verify", "--quiet", "--json", "-", "--seed", "1"], words].concat();
    serde_json::from_str(&run(home.cardproof(&words)).expect(status).stdout).unwrap()
}

#[test]
fn the_status_is_0_for_genuine_alone_and_the_fields_are_there() {
    let home = Home::new();
    for (card, verdict, kind, status) in [
        ("size = \"200MB\"", "genuine", "honest", 0),
        ("size = \"64GB\"\nreal_size = \"7GB\"\nbeyond = \"wrap\"", "fake", "wrap", 4),
        (
            "size = \"64GB\"\nreal_size = \"7GB\"\nbeyond = \"drop\"\n[store]\nsize = \"3MiB\"",
            "fake",
            "drop",
            4,
        ),
        ("size = \"200MB\"\n[damage]\nshare = 0.01", "damaged", "damaged", 4),
        ("size = \"200MB\"\n[damage]\ntransient_read = 300", "genuine", "honest", 0),
    ] {
        let file = home.place().join("card.toml");
        fs::write(&file, card).unwrap();
        let target = format!("sim:{}", file.display());
        let answer = answer(&home, &[&target, "--exclude-store", "64M"], status);
        assert_eq!(
            (&answer["verdict"], &answer["kind"]),
            (&verdict.into(), &kind.into()),
            "{card}"
        );
        let size = &answer["real_size_bytes"];
        let (low, high) = (size["low"].as_u64().unwrap(), size["high"].as_u64().unwrap());
        let real = if verdict == "fake" { 7_000_000_000 } else { 200_000_000 };
        assert!(low <= real && real <= high, "{card}: {answer}");
        for number in
            ["excluded_hidden_store_bytes", "excluded_bad_share", "bytes_written", "bytes_read"]
        {
            assert!(answer[number].is_number(), "{card}: {number}");
        }
        assert!((0.9..=1.0).contains(&answer["probability"].as_f64().unwrap()), "{answer}");
        assert!(!answer["reasons"].as_array().unwrap().is_empty(), "{answer}");
    }
    assert!(!home.records().is_empty(), "a record is saved");
}

#[test]
fn the_last_line_says_what_to_do() {
    let home = Home::new();
    let said =
        run(home.cardproof(&["verify", "sim:fake-wrap", "--exclude-store", "64M"])).expect(4);
    assert!(said.stdout.starts_with("\nFAKE: announces 64 GiB"), "{}", said.stdout);
    let last = said.stdout.lines().last().unwrap();
    assert!(last.starts_with("What to do: return it"), "{last}");
}

#[test]
fn a_wrong_description_is_one_clear_error() {
    let home = Home::new();
    let file = home.place().join("card.toml");
    fs::write(&file, "size = \"64GB\"\nreal_size = \"8GB\"\n").unwrap();
    let target = format!("sim:{}", file.display());
    for command in ["verify", "run"] {
        let said = run(home.cardproof(&[command, &target])).expect(2);
        assert!(said.stderr.contains("needs beyond"), "{}", said.stderr);
    }
}

#[test]
fn a_device_is_only_read_without_leave() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(16)));
    let home = Home::new();
    let path = device.path().to_str().unwrap();
    let answer = answer(&home, &[path], 4);
    assert_eq!((&answer["verdict"], &answer["bytes_written"]), (&"undecided".into(), &0.into()));
    let refused = run(home.cardproof(&["verify", path, "--restore=nobody"])).expect(3);
    assert!(refused.stderr.contains("--restore="), "{}", refused.stderr);
}

#[test]
fn a_kill_at_any_moment_loses_nothing_of_what_was_there() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(12)));
    let home = Home::new();
    let path = device.path().to_str().unwrap();
    let before: Vec<u8> =
        (0..12_u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(device.path(), &before).unwrap();
    let name = device.path().file_name().unwrap().to_str().unwrap();
    let restore = format!("--restore={name}:{}", 12 << 20);
    for wait in [20, 150, 400, 900] {
        let mut command = home.cardproof(&["verify", path, &restore, "--quiet"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let is_over = (0..wait / 10).any(|_| {
            std::thread::park_timeout(Duration::from_millis(10));
            child.try_wait().unwrap().is_some()
        });
        if !is_over {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
    let answer = answer(&home, &[path, &restore], 0);
    assert_eq!(answer["verdict"], "genuine");
    assert!(fs::read(device.path()).unwrap() == before, "data were lost");
    let journals = fs::read_dir(home.data().join("cardproof/journals")).unwrap();
    assert_eq!(journals.count(), 0, "no journal is left");
}

#[test]
fn files_of_a_set_are_read_and_a_wrong_sector_is_damage() {
    let home = Home::new();
    let directory = home.place().join("set");
    fs::create_dir(&directory).unwrap();
    let sector = |offset: u64| {
        let next = |word: &u64| Some(word.wrapping_mul(4_294_967_311).wrapping_add(17));
        std::iter::successors(Some(offset), next)
            .take(64)
            .flat_map(u64::to_le_bytes)
            .collect::<Vec<u8>>()
    };
    let mut set: Vec<u8> = (0..4096_u64).flat_map(|n| sector(n * 512)).collect();
    fs::write(directory.join("1.h2w"), &set).unwrap();
    let path = directory.to_str().unwrap();
    let right = answer(&home, &[path], 4);
    assert_eq!((&right["verdict"], &right["bytes_written"]), (&"undecided".into(), &0.into()));
    set[700_000] ^= 1;
    fs::write(directory.join("1.h2w"), &set).unwrap();
    let damaged = answer(&home, &[path], 4);
    assert_eq!(damaged["verdict"], "damaged", "{damaged}");
    assert!(directory.join("1.h2w").exists(), "a set of others is not removed");
    fs::remove_file(directory.join("1.h2w")).unwrap();
    answer(&home, &[path, "--exclude-store", "4M"], 4);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0, "ours is removed");
}
