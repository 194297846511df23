//! Simulated cards through the program: the same from run to run, marked as what they are, and
//! never taken for real.

use std::fs;

use cardproof_record::{Outcome, State, TargetKind};
use cardproof_testkit::some_of;

use crate::home::Home;
use crate::process::run;
use crate::records;
use crate::said::in_one_line;

/// The record of a run on `card` with `words`, as text.
fn record_of(home: &Home, card: &str, words: &[&str]) -> String {
    let target = format!("sim:{card}");
    let common = ["run", &target, "--seed", "1", "--quiet", "--json", "-"];
    run(home.cardproof(&[&common, words].concat())).expect(0).stdout
}

/// FNV-1a (Fowler, Noll and Vo), 64 bits: short enough to be kept here.
fn fingerprint(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn the_same_seed_gives_the_same_record_to_the_last_byte() {
    let (home, other_home) = (Home::new(), Home::new());
    let first = record_of(&home, "sandisk-extreme-a1", &[]);
    assert_eq!(first, record_of(&other_home, "sandisk-extreme-a1", &[]));
    let name = |home: &Home| home.records()[0].file_name().unwrap().to_owned();
    assert!(name(&home).to_string_lossy().starts_with("sim-sandisk-extreme-a1-standard-1-"));
    assert_eq!(name(&home), name(&other_home));
    let saved = fs::read_to_string(&home.records()[0]).unwrap();
    // The name changes with every part of a profile or a model; here the figures count.
    let id = records::parse(&first).id;
    let named = |text: &str| text.replace(&id, "sim-sandisk-extreme-a1-standard-1");
    let prints =
        format!("{:016x} {:016x}", fingerprint(&named(&first)), fingerprint(&named(&saved)));
    insta::assert_snapshot!(prints, @"b22cc5c01c9a8175 b0934c998f86ba1e");
}

#[test]
fn a_simulated_record_says_that_it_is_one() {
    let record = records::parse(&record_of(&Home::new(), "sandisk-ultra-a1", &[]));
    assert_eq!(record.conditions.target.kind, TargetKind::Simulated);
    assert_eq!(record.state, State::Complete);
    assert_eq!(record.conditions.host, Default::default(), "the host has nothing to do with it");
    assert_eq!(record.monitor, Default::default());
}

/// Its published figures tell nothing of its cache, so a miss may be the host's.
#[test]
fn every_command_that_tells_times_of_a_simulated_card_says_whose_clock_they_are_of() {
    let home = Home::new();
    for words in [
        &["check", "sim:intenso-class-4"][..],
        &["run", "sim:intenso-class-4", "--profile", "a1"],
        &["verify", "sim:intenso-class-4", "--exclude-store", "64M"],
        &["geometry", "sim:intenso-class-4"],
        &["powercut", "sim:intenso-class-4", "--cuts", "2"],
        &["endure", "sim:intenso-class-4", "--budget", "8G"],
    ] {
        let said = run(home.cardproof(words)).stderr;
        assert_eq!(said.matches("in simulated time").count(), 1, "{words:?}: {said}");
    }
    // What is measured by the computer's clock has no such note.
    let place = home.place().to_str().unwrap().to_owned();
    let said = run(home.cardproof(&["run", &place, "--size", "16M", "--profile", "a1"]));
    assert!(!said.stderr.contains("simulated"), "{}", said.stderr);
}

#[test]
fn a_fitted_card_is_not_accused_for_a_queue_that_is_off() {
    let card = "pi5-samsung-pro-plus-128gb-queue-off";
    let record = records::parse(&record_of(&Home::new(), card, &["--profile", "a2"]));
    let verdict = record.verdicts.iter().flatten().find(|verdict| verdict.rule == "A2").unwrap();
    assert_eq!(verdict.outcome, Outcome::NotTestable, "{verdict:?}");
}

#[test]
fn a_card_is_not_accused_for_the_bus_of_its_host() {
    let home = Home::new();
    let record = records::parse(&record_of(&home, "v30-a2-pi3", &[]));
    assert_eq!(record.conditions.device.link_ceiling_bytes_per_s, Some(25_000_000));
    assert!(record.conditions.device.bus.is_some());
    for class in ["U3", "V30"] {
        let verdict = record.verdicts.iter().flatten().find(|verdict| verdict.rule == class);
        let verdict = verdict.unwrap();
        assert_eq!(verdict.outcome, Outcome::NotTestable, "{verdict:?}");
        assert!(verdict.reasons[0].text.contains("carries at most 25 MB/s"), "{verdict:?}");
    }
    let words = ["run", "sim:v30-a2-pi3", "--seed", "1", "--details"];
    let text = run(home.cardproof(&words)).expect(0).stdout;
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let bus = "C10, U1 and V10 passed. U3, V30, V60 and V90 cannot be tested: the bus";
    assert!(text.contains(bus), "{text}");
    // A phase has one figure, that of its verdicts, and the text says why it is wider than others.
    assert!(text.contains("Measured. Data check (first 255.9 MiB): all "), "{text}");
    assert!(in_one_line(&text).contains("Intervals hold with at least 99 % confidence"), "{text}");
    assert!(text.contains("leave out the start"), "{text}");
    assert_eq!(text.matches("17.3 to 29").count(), 2, "{text}");
}

#[test]
fn old_cards_miss_a1_and_the_best_published_one_meets_it() {
    let outcome = |card| {
        let record = records::parse(&record_of(&Home::new(), card, &[]));
        let verdicts = record.verdicts.unwrap();
        verdicts.iter().find(|verdict| verdict.rule == "A1").unwrap().outcome
    };
    assert_eq!(outcome("intenso-class-4"), Outcome::Misses);
    assert_eq!(outcome("sandisk-ultra"), Outcome::Misses);
    assert_eq!(outcome("sandisk-extreme-a1"), Outcome::Meets);
}

#[test]
fn the_list_names_cards_that_can_be_run() {
    let home = Home::new();
    let list = run(home.cardproof(&["sim", "list"])).expect(0).stdout;
    let names: Vec<&str> =
        list.lines().filter(|line| !line.starts_with(' ') && !line.contains(' ')).collect();
    assert!(names.len() >= 13, "{list}");
    for name in some_of(names.into_iter().filter(|name| !name.is_empty()), 8) {
        record_of(&home, name, &["--size", "16M", "--time-budget", "2s"]);
    }
}

#[test]
fn an_unknown_card_is_named_with_the_remedy() {
    let home = Home::new();
    for words in [&["run", "sim:no-such-card"][..], &["sim", "serve", "no-such-card"]] {
        let ended = run(home.cardproof(words)).expect(2);
        assert!(ended.stderr.contains("no-such-card"), "{}", ended.stderr);
        assert!(ended.stderr.contains("sim list"), "{}", ended.stderr);
    }
}

/// A card without a fan is as fast as ever until it is hot: its first five runs are as steady as the
/// industry's test asks for, and not what it does for long.
#[test]
fn a_cold_card_that_will_throttle_is_not_called_steady() {
    let home = Home::new();
    fs::create_dir_all(home.data()).unwrap();
    let (card, profile) = (home.data().join("hot.toml"), home.data().join("reads.toml"));
    // Hot after minutes, as the real one, but fewer; and slow, so that a minute is few requests.
    let described = "base = \"express-lexar-play-pro-1tb-no-fan\"\n\
                     [model]\nheat.capacity_mj_per_k = 3900\nread.rate = \"5MB/s\"\n";
    fs::write(&card, described).unwrap();
    let phase = "span = \"16M\"\ntime-budget = \"60s\"\n[[phase]]\nname = \"reads\"\nop = \"read\"\n\
                 pattern = \"random\"\nblock-size = \"4k\"\ntime = \"20s\"\n";
    fs::write(&profile, phase).unwrap();
    let words = ["--until-steady", "--profile", profile.to_str().unwrap()];
    let record = records::parse(&record_of(&home, card.to_str().unwrap(), &words));
    assert_eq!((record.state, &record.warnings[..]), (State::Complete, &[][..]));
    let phase = &record.phases[0];
    let rates: Vec<f64> = phase.runs.iter().map(|run| run.iops.unwrap().estimate.0).collect();
    let cold = rates[0];
    assert!(rates[..5].iter().all(|rate| (rate / cold - 1.0).abs() < 0.02), "{rates:?}");
    let counted = phase.runs.iter().filter(|run| run.counts).count();
    assert_eq!(counted, 5, "{rates:?}");
    let hot = phase.iops.unwrap().estimate.0 / cold;
    assert!((0.6..0.8).contains(&hot), "{hot} of the cold rate: {rates:?}");
}

/// What a run of `profile` on `card` says of A1 and A2, and why of A2.
fn application_classes(card: &str, profile: &str) -> ([Outcome; 2], String) {
    let record = records::parse(&record_of(&Home::new(), card, &["--profile", profile]));
    let verdicts = record.verdicts.unwrap();
    let of = |rule: &str| verdicts.iter().find(|verdict| verdict.rule == rule).unwrap();
    (
        [of("A1").outcome, of("A2").outcome],
        of("A2").reasons.iter().map(|it| it.text.clone()).collect::<Vec<_>>().join("\n"),
    )
}

#[test]
fn an_a2_card_is_not_to_blame_for_a_host_without_queue_and_cache() {
    for profile in ["standard", "a1", "a2"] {
        let (outcomes, why) = application_classes("sandisk-extreme-pro-a2", profile);
        assert_eq!(outcomes, [Outcome::Meets, Outcome::NotTestable], "{profile}: {why}");
        assert!(
            why.contains("A2 assumes that the host uses the card's command queue and cache"),
            "{why}"
        );
        assert!(why.contains("the host controller uses neither"), "{why}");
    }
}

#[test]
fn with_queue_and_cache_in_use_it_meets_a2() {
    for profile in ["standard", "a2"] {
        let (outcomes, why) = application_classes("sandisk-extreme-pro-a2-queued", profile);
        assert_eq!(outcomes, [Outcome::Meets, Outcome::Meets], "{profile}: {why}");
    }
}

#[test]
fn a_card_without_a_queue_has_itself_to_blame() {
    let (outcomes, why) = application_classes("sandisk-ultra-a1", "a2");
    assert_eq!(outcomes[1], Outcome::Misses, "{why}");
    assert!(why.contains("the card has no command queue and no cache"), "{why}");
}

#[test]
fn a_verdict_takes_seconds_and_little_wear() {
    let home = Home::new();
    let words = ["--profile", "a1", "--confidence", "0.999", "--require", "A1"];
    let record = records::parse(&record_of(&home, "sandisk-extreme-a1", &words));
    let written = record.bytes_written;
    assert!(written <= cardproof_units::Bytes::mib(256 + 64), "{written}");
    let phases = || record.phases.iter().skip(1);
    assert!(phases().all(|phase| phase.duration_ns < cardproof_units::Nanos::from_secs(7)));
    let confidences: Vec<f64> =
        record.phases.iter().map(|phase| phase.anytime_iops.unwrap().confidence).collect();
    assert!(confidences.iter().all(|each| (each - 0.999_333).abs() < 1e-5), "{confidences:?}");
    run(home.cardproof(&["run", "sim:sandisk-ultra", "--profile", "a1", "--require", "A1", "-q"]))
        .expect(4);
}

/// What decides the result decides the record's place: another wish, another record; the same wish, the same one.
#[test]
fn another_wish_for_a_proof_takes_no_record_s_place() {
    let home = Home::new();
    let queue = ["verify", "sim:v30-a2-queued", "--queue", "--exclude-share"];
    let store = ["verify", "sim:sandisk-ultra", "--exclude-store"];
    let prove = |words: &[&str], share: &str| {
        run(home.cardproof(&[words, &[share, "--seed", "1", "--quiet"]].concat())).expect(0);
    };
    let count = || {
        let list = run(home.cardproof(&["list", "--json", "-"])).expect(0).stdout;
        let list: serde_json::Value = serde_json::from_str(&list).unwrap();
        list["records"].as_array().unwrap().len()
    };
    for (words, shares) in [(&queue[..], ["0.05", "0.02"]), (&store, ["64M", "128M"])] {
        let before = count();
        shares.iter().for_each(|share| prove(words, share));
        prove(words, shares[0]);
        assert_eq!(count() - before, 2, "{words:?}");
    }
}
