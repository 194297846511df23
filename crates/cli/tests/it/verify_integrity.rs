//! `cardproof verify --queue` and `--discard` through the program: verdicts, statuses, bounds and refusals.

use std::fs;

use std::path::Path;

use cardproof_testkit::{LoopDevice, Mount, lab_or_skip, some_of};
use cardproof_units::Bytes;
use serde_json::Value;

use crate::home::{Home, word};
use crate::process::run;

/// A card of today with a queue of its own, small enough to be kept in memory.
const QUEUED: &str = "base = \"v30-a2-queued\"\nsize = \"96MiB\"\n";

/// What the answer says of `card` with `options`, and the status.
fn answer(card: &str, options: &[&str], status: i32) -> Value {
    let home = Home::new();
    let file = home.place().join("card.toml");
    fs::write(&file, format!("{QUEUED}{card}")).unwrap();
    let target = format!("sim:{}", file.display());
    let words = ["verify", &target, "--quiet", "--json", "-", "--seed", "1"];
    let words = [&words[..], options].concat();
    serde_json::from_str(&run(home.cardproof(&words)).expect(status).stdout).unwrap()
}

#[test]
fn a_queue_that_corrupts_is_told_from_a_sound_one() {
    let queue = ["--queue", "--exclude-share", "0.001"];
    for (card, verdict, kind, status) in [
        ("", "sound", None, 0),
        ("[queue]\nharm = \"lost-write\"\nshare = 0.01", "corrupts", Some("older"), 4),
        ("[queue]\nharm = \"torn-write\"\nshare = 0.01\ndepth = 16", "corrupts", Some("torn"), 4),
        ("[queue]\nharm = \"swapped-reads\"\nshare = 0.01", "corrupts", Some("foreign"), 4),
        ("[damage]\nshare = 0.05\ngives = \"flipped-bits\"", "corrupts_without_queue", None, 4),
    ] {
        let answer = answer(card, &queue, status);
        let found = &answer["queue"];
        assert_eq!(found["verdict"], verdict, "{card}: {answer:#}");
        if let Some(kind) = kind {
            assert!(found["kinds"][kind].as_u64() > Some(0), "{card}: {answer:#}");
        }
        assert!(answer.get("discard").is_none());
    }
}

/// A queue that is off and discards that the device lacks were asked for, and not tested.
#[test]
fn what_could_not_be_tested_is_no_success() {
    let home = Home::new();
    let cases = [
        ("v30-a2", vec!["--queue", "--exclude-share", "0.001"], "no queue of the card is in use"),
        ("intenso-class-4", vec!["--discard", "--exclude-share", "0.02"], "cannot discard"),
    ];
    for (base, options, told) in cases {
        let file = home.place().join(format!("{base}.toml"));
        fs::write(&file, format!("base = \"{base}\"\nsize = \"96MiB\"\n")).unwrap();
        let target = format!("sim:{}", file.display());
        let words = [&["verify", &target, "--seed", "1"][..], &options].concat();
        let ended = run(home.cardproof(&words)).expect(1);
        assert!(ended.stdout.contains(told), "{}", ended.stdout);
        let quiet = run(home.cardproof(&[&words[..], &["--quiet"]].concat())).expect(1);
        assert_eq!(quiet.stdout, "");
        assert!(quiet.stderr.contains(told), "a quiet run tells errors: {}", quiet.stderr);
    }
}

#[test]
fn a_sound_answer_has_its_bounds_and_says_what_it_did() {
    let answer = answer("", &["--queue", "--exclude-share", "0.001"], 0);
    let queue = &answer["queue"];
    let number = |field: &str| queue[field].as_f64().unwrap();
    assert!((0.0009..0.00101).contains(&number("write_bound")), "{answer:#}");
    assert!(number("read_bound") <= number("write_bound"), "{answer:#}");
    assert!((0.01..0.1).contains(&number("flush_bound")), "{answer:#}");
    assert_eq!((&answer["is_sound"], &answer["confidence"]), (&true.into(), &0.95.into()));
    assert_eq!(queue["is_card_queue_on"], true);
    assert!(queue["queued"]["writes"].as_u64() >= Some(2995), "{answer:#}");
}

#[test]
fn discards_that_harm_return_or_do_nothing_are_told_apart() {
    let discard = ["--discard", "--exclude-share", "0.02"];
    let cards = [
        ("", "sound", "zeros", 0),
        ("[discard]\nreads = \"old\"", "sound", "old_data", 0),
        ("[discard]\nreads = \"ones\"", "sound", "ones", 0),
        ("[discard]\nharm = \"neighbours\"\nshare = 0.1", "harms_data", "zeros", 4),
        ("[discard]\nharm = \"late\"\nshare = 0.2", "harms_data", "zeros", 4),
        ("[discard]\nharm = \"revives\"\nshare = 0.2", "returns_old_data", "zeros", 4),
        ("[discard]\nharm = \"ignored\"", "no_effect", "old_data", 4),
    ];
    for (card, verdict, reads, status) in some_of(cards, 3) {
        let answer = answer(card, &discard, status);
        let found = &answer["discard"];
        assert_eq!(found["verdict"], verdict, "{card}: {answer:#}");
        if status == 0 {
            assert_eq!(found["reads"], reads, "{card}: {answer:#}");
            let speed = &found["speed"];
            assert!(speed["low"].as_f64() > Some(1.0), "{card}: {answer:#}");
            assert!((0.01..0.02).contains(&found["bound"].as_f64().unwrap()), "{answer:#}");
        }
    }
}

#[test]
fn the_page_says_the_verdict_first_and_what_to_do_last() {
    let home = Home::new();
    let file = home.place().join("card.toml");
    fs::write(&file, format!("{QUEUED}[queue]\nharm = \"lost-write\"\nshare = 0.05")).unwrap();
    let target = format!("sim:{}", file.display());
    let words = ["verify", &target, "--queue", "--exclude-share", "0.01", "--seed", "1"];
    let shown = run(home.cardproof(&words)).expect(4);
    assert!(shown.stderr.contains("That writes up to "), "said before: {}", shown.stderr);
    let page = shown.stdout;
    let (first, last) = (page.find("CORRUPTS DATA").unwrap(), page.find("Next:").unwrap());
    assert!(first < last, "{page}");
    for words in [vec!["show", "latest"], vec!["show", "latest", "--markdown", "-"], vec!["list"]] {
        let kept = run(home.cardproof(&words)).expect(0).stdout;
        assert!(kept.to_uppercase().contains("CORRUPTS DATA"), "{words:?}: {kept}");
    }
}

#[test]
fn a_directory_has_a_queue_and_no_discards() {
    let home = Home::new();
    let place = word(home.place()).to_owned();
    let refused = run(home.cardproof(&["verify", &place, "--discard"])).expect(2);
    assert!(refused.stderr.contains("needs a device"), "{}", refused.stderr);
    for option in ["--full", "--surface", "--keep"] {
        run(home.cardproof(&["verify", &place, "--queue", option])).expect(2);
    }
}

/// The answer of both tests on `device`, which are refused before it is named.
fn tested(home: &Home, device: &LoopDevice) -> Value {
    let path = word(device.path()).to_owned();
    let tests = ["--queue", "--discard", "--exclude-share", "0.02", "--quiet", "--json", "-"];
    let refused = run(home.cardproof(&[&["verify", &path][..], &tests].concat())).expect(3);
    let destroy = refused.stderr.split_whitespace().find(|word| word.starts_with("--destroy="));
    let destroy = destroy.unwrap().trim_end_matches(['.', ',', ';']);
    let ended = run(home.cardproof(&[&["verify", &path, destroy][..], &tests].concat()));
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn a_device_is_tested_with_leave_to_destroy_alone() {
    let home = Home::new();
    let device = lab_or_skip!(LoopDevice::sparse_in(home.place(), Bytes::mib(64)));
    let answer = tested(&home, &device);
    assert_eq!(answer["queue"]["verdict"], "sound", "{answer:#}");
    assert_eq!(answer["queue"].get("memory_doubt"), None);
    // A hole in a file reads as zeros, and no device is asked.
    let discard = &answer["discard"];
    assert_eq!((&discard["verdict"], &discard["reads"]), (&"undecided".into(), &"zeros".into()));
    assert!(word_of(discard, "memory_doubt").contains("makes holes in its file"), "{answer:#}");
}

fn word_of<'a>(answer: &'a Value, field: &str) -> &'a str {
    answer[field].as_str().unwrap_or_default()
}

/// What the test of a queue says in the directory at `place`, and why it is undecided.
fn queue_in(home: &Home, place: &Path) -> (String, String) {
    let words =
        ["verify", word(place), "--queue", "--exclude-share", "0.02", "--quiet", "--json", "-"];
    let answer: Value = serde_json::from_str(&run(home.cardproof(&words)).stdout).unwrap();
    let queue = &answer["queue"];
    (word_of(queue, "verdict").to_owned(), word_of(queue, "memory_doubt").to_owned())
}

/// The file system says which device it is on, or nothing is said of one.
#[test]
fn a_file_system_that_hides_its_device_is_not_believed() {
    let home = Home::new();
    let memory = lab_or_skip!(Mount::tmpfs("size=400M"));
    let [lower, upper, work] = ["lower", "upper", "work"].map(|name| home.place().join(name));
    for place in [&lower, &upper, &work] {
        fs::create_dir(place).unwrap();
    }
    let overlay = lab_or_skip!(Mount::overlay(&lower, &upper, &work));
    let (verdict, why) = queue_in(&home, memory.path());
    assert!(verdict == "undecided" && why.contains("memory"), "{verdict}: {why}");
    let (verdict, why) = queue_in(&home, overlay.path());
    assert!(verdict == "undecided" && why.contains("which device it is on"), "{verdict}: {why}");
}

#[test]
fn a_device_in_memory_proves_nothing_of_a_card() {
    let home = Home::new();
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(64)));
    if !device.image().starts_with("/dev/shm") {
        let name = cardproof_testkit::test_name!();
        cardproof_testkit::skip(name, "this machine has no place for an image in memory");
        return;
    }
    let answer = tested(&home, &device);
    assert_eq!(answer["queue"]["verdict"], "undecided", "{answer:#}");
    assert_eq!(answer["discard"]["verdict"], "undecided");
    assert_eq!(
        (&answer["queue"]["queued"]["wrong"], &answer["is_sound"]),
        (&0.into(), &false.into())
    );
}
