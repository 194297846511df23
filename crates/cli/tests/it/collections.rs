//! Many records at once: labels, lists, summaries, and how a record is named.

use std::fs;

use crate::home::Home;
use crate::process::run;

fn measured(home: &Home, card: &str, label: &str, seed: &str) {
    let target = format!("sim:{card}");
    let words = ["run", &target, "--size", "16M", "--time-budget", "5s", "--seed", seed, "--quiet"];
    run(home.cardproof(&[&words[..], &["--label", label]].concat())).expect(0);
}

/// Two cards of one model and one of another.
fn three_cards() -> Home {
    let home = Home::new();
    measured(&home, "sandisk-ultra-a1", "card-001", "1");
    measured(&home, "sandisk-ultra-a1", "card-002", "2");
    measured(&home, "intenso-class-4", "card-003", "3");
    home
}

#[test]
fn cards_of_one_model_are_told_apart_by_their_labels() {
    let home = three_cards();
    let list = run(home.cardproof(&["list"])).expect(0).stdout;
    // Ids are drawn at random.
    let without_id = |line: &str| line.get(8..).unwrap_or_default().trim_start().to_owned();
    let rows: Vec<String> = list.lines().map(without_id).collect();
    insta::assert_snapshot!(rows.join("\n"));
    let compared = run(home.cardproof(&["compare", "card-001", "card-002"])).expect(0).stdout;
    assert!(compared.contains("card-001") && compared.contains("card-002"), "{compared}");
    let shown = run(home.cardproof(&["show", "card-001"])).expect(0).stdout;
    assert!(shown.contains("card-001: SanDisk Ultra A1"), "{shown}");
}

#[test]
fn a_list_shows_what_was_asked_for() {
    let home = three_cards();
    for (words, count) in [
        (vec!["list"], 3),
        (vec!["list", "ultra"], 2),
        (vec!["list", "--label", "card-003"], 1),
        (vec!["list", "--label", "card-00"], 0),
        (vec!["list", "--passed", "C2"], 3),
        (vec!["list", "--passed", "V30"], 0),
        // A simulated run has no date of its own: it is not left out silently.
        (vec!["list", "--since", "2020-01-01"], 3),
        (vec!["list", "--since", "2999-01-01"], 0),
    ] {
        let text = run(home.cardproof(&words)).expect(0).stdout;
        assert_eq!(text.matches("card-00").count(), count, "{words:?}\n{text}");
    }
    let unknown = run(home.cardproof(&["list", "--passed", "A9"])).expect(2);
    assert!(unknown.stderr.contains("the classes are: C2"), "{}", unknown.stderr);
}

#[test]
fn an_id_in_a_list_can_be_given_to_another_command() {
    let home = Home::new();
    for seed in ["1", "2"] {
        let words = ["run", "sim:sandisk-ultra-a1", "--profile", "a1", "--seed", seed, "--quiet"];
        run(home.cardproof(&words)).expect(0);
    }
    let list = run(home.cardproof(&["list", "--passed", "C4"])).expect(0);
    let ids: Vec<&str> = list
        .stdout
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(ids.len(), 2, "{}", list.stdout);
    for id in &ids {
        run(home.cardproof(&["show", id])).expect(0);
    }
    assert!(list.stdout.contains("(latest)"), "{}", list.stdout);
    assert!(list.stderr.contains("A higher class includes C4"), "{}", list.stderr);
}

#[test]
fn a_summary_has_a_row_for_each_record_and_names_what_is_none() {
    let home = three_cards();
    let directory = home.data().join("cardproof/records");
    fs::write(directory.join("notes.json"), "{}").unwrap();
    let place = directory.to_str().unwrap();
    let ended = run(home.cardproof(&["list", "--from", place, "--csv", "-"])).expect(0);
    assert_eq!(ended.stdout.lines().count(), 4, "{}", ended.stdout);
    assert!(ended.stdout.contains(",card-002,"), "{}", ended.stdout);
    assert!(ended.stderr.contains("Left out") && ended.stderr.contains("notes.json"));
    let page = home.place().join("summary.html");
    let words = ["list", "--from", place, "--html", page.to_str().unwrap(), "--markdown", "-"];
    let markdown = run(home.cardproof(&words)).expect(0).stdout;
    for text in [markdown, fs::read_to_string(&page).unwrap()] {
        assert!(text.contains("card-001") && text.contains("card-003"), "{text}");
    }
    let empty = home.place().join("no-records");
    fs::create_dir(&empty).unwrap();
    let ended = run(home.cardproof(&["list", "--from", empty.to_str().unwrap()])).expect(2);
    assert!(ended.stderr.contains("there is no record in"), "{}", ended.stderr);
}

#[test]
fn a_record_is_found_by_a_beginning_that_only_it_has() {
    let home = three_cards();
    run(home.cardproof(&["show", "sim-intenso"])).expect(0);
    let several = run(home.cardproof(&["show", "sim-sandisk"])).expect(2);
    assert!(
        several.stderr.contains("2 records have ids that begin or end with"),
        "{}",
        several.stderr
    );
    let none = run(home.cardproof(&["show", "no-such"])).expect(2);
    assert!(none.stderr.contains("cardproof list"), "{}", none.stderr);
}

#[test]
fn a_label_that_two_cards_have_is_not_guessed() {
    let home = three_cards();
    measured(&home, "intenso-class-4", "card-001", "9");
    let ended = run(home.cardproof(&["show", "card-001"])).expect(2);
    assert!(
        ended.stderr.contains("2 records of different cards have the label"),
        "{}",
        ended.stderr
    );
    let bad = run(home.cardproof(&["run", "sim:intenso-class-4", "--label", "a\u{1b}b"])).expect(2);
    assert!(bad.stderr.contains("control characters"), "{}", bad.stderr);
}

#[test]
fn several_records_are_judged_at_once() {
    let home = three_cards();
    let words = ["show", "card-001", "card-003", "--require", "C2,C2"];
    let text = run(home.cardproof(&words)).expect(0).stdout;
    assert_eq!(text.matches("card-00").count(), 2, "{text}");
    run(home.cardproof(&["show", "card-001", "card-003", "--require", "C2,C10"])).expect(4);
    let json = run(home.cardproof(&["show", "card-001", "card-003", "--json", "-"])).expect(0);
    let documents: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(documents.as_array().map(Vec::len), Some(2));
    let quiet = run(home.cardproof(&["show", "card-001", "--quiet"])).expect(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
}

#[test]
fn a_mistyped_command_is_suggested_and_nothing_is_measured() {
    let home = Home::new();
    for words in [&["lsit"][..], &["lsit", "."], &["lsit", "--quiet", "x", "y"]] {
        let ended = run(home.cardproof(words)).expect(2);
        assert!(ended.stderr.contains("did you mean `cardproof list`?"), "{}", ended.stderr);
    }
    assert!(home.records().is_empty());
}

#[test]
fn a_forum_gets_ten_lines() {
    let home = three_cards();
    let text = run(home.cardproof(&["show", "card-001", "--markdown", "short"])).expect(0).stdout;
    assert!(text.lines().count() <= 10, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn every_chart_of_a_page_becomes_a_drawing_a_picture_and_a_table() {
    let home = three_cards();
    let place = |name: &str| home.place().join(name).to_str().unwrap().to_owned();
    for (name, words) in
        [("report", &["show", "card-001"][..]), ("compare", &["compare", "card-001", "card-003"])]
    {
        let (directory, page) = (place(name), place(&format!("{name}.html")));
        let more = ["--charts", &directory, "--html", &page, "--quiet"];
        run(home.cardproof(&[words, &more].concat())).expect(0);
        let page = fs::read_to_string(&page).unwrap();
        let drawings = page.matches("<svg role=\"img\"").count()
            + page.matches("<svg xmlns=\"http&#58;").count();
        let mut files: Vec<(String, String)> = fs::read_dir(&directory)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .map(|file| file.rsplit_once('.').map(|(name, end)| (name.into(), end.into())).unwrap())
            .collect();
        files.sort();
        assert_eq!(files.len(), 3 * drawings, "{name}: {files:?}");
        for (chart, ending) in files {
            let bytes =
                fs::read(home.place().join(name).join(format!("{chart}.{ending}"))).unwrap();
            let is_whole = match ending.as_str() {
                "png" => {
                    bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.ends_with(b"IEND\xaeB`\x82")
                }
                "svg" => bytes.starts_with(b"<svg xmlns=") && bytes.ends_with(b"</svg>"),
                _ => bytes.iter().filter(|byte| **byte == b'\n').count() > 1,
            };
            assert!(is_whole, "{chart}.{ending}");
        }
    }
}

/// Charts that do not fit leave nothing, and a directory that will not do is told before a page is written.
#[test]
fn charts_come_whole_or_not_at_all() {
    let home = three_cards();
    let place = |name: &str| home.place().join(name).to_str().unwrap().to_owned();
    let report = |directory: &str, page: &str| {
        let words = ["show", "card-003", "--quiet", "--charts"];
        run(home.cardproof(&[&words[..], &[directory, "--html", page]].concat()))
    };
    let (file, page) = (place("file"), place("page.html"));
    fs::write(&file, "mine").unwrap();
    for directory in [file.clone(), format!("{file}/charts")] {
        let ended = report(&directory, &page).expect(2);
        let fault = format!("{file} is a file; name another directory");
        assert!(ended.stderr.contains(&fault), "{}", ended.stderr);
    }
    assert!(!fs::exists(&page).unwrap());
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");

    let charts = place("charts");
    report(&charts, &page).expect(0);
    let first = fs::read_dir(&charts).unwrap().next().unwrap().unwrap().path();
    let count = fs::read_dir(&charts).unwrap().count();
    fs::write(&first, "old").unwrap();
    report(&charts, &page).expect(0);
    assert_ne!(fs::read(&first).unwrap(), b"old", "as other files, they are replaced");
    assert_eq!(fs::read_dir(&charts).unwrap().count(), count);
}

#[test]
fn the_result_fits_in_one_picture() {
    let home = three_cards();
    let place = |name: &str| home.place().join(name).to_str().unwrap().to_owned();
    let (png, svg) = (place("result.png"), place("result.svg"));
    for file in [&png, &svg] {
        run(home.cardproof(&["show", "card-003", "--picture", file, "--quiet"])).expect(0);
    }
    assert!(fs::read(&png).unwrap().starts_with(b"\x89PNG"));
    let svg = fs::read_to_string(&svg).unwrap();
    assert!(svg.contains("card-003: Intenso Class 4") && svg.contains("Fast?"), "{svg}");
    let ended = run(home.cardproof(&["show", "card-003", "--picture", "result.gif"])).expect(2);
    assert!(ended.stderr.contains("FILE.png or FILE.svg"), "{}", ended.stderr);
}

#[test]
fn a_diagnosis_has_one_answer_and_something_to_do() {
    let home = Home::new();
    let place = home.place().to_str().unwrap().to_owned();
    let words = ["diagnose", &place, "--time", "2s", "--json", "-"];
    let text = run(home.cardproof(&words)).expect(0).stdout;
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["schema"], "cardproof.diagnosis/1");
    assert!(answer["answer"].as_str().is_some_and(|answer| answer.ends_with('.')), "{text}");
    assert!(answer["steps"].as_array().is_some_and(|steps| !steps.is_empty()), "{text}");
    assert!(home.records().is_empty(), "it measures nothing");
}
