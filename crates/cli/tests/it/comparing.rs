//! `compare` and `run --repeat`: what people and scripts get of records side by side.

use std::fs;

use cardproof_record::{Phase, State};

use cardproof_testkit::some_of;

use crate::home::{Home, SMALL};
use crate::process::run;
use crate::records;

/// Saves a run on the simulated `card` in the data directory; its record's file name.
fn measured(home: &Home, card: &str, seed: &str, more: &[&str]) -> String {
    let target = format!("sim:{card}");
    let words =
        ["run", &target, "--size", "32M", "--time-budget", "15s", "--seed", seed, "--quiet"];
    run(home.cardproof(&[&words, more].concat())).expect(0);
    let is_new = |path: &std::path::PathBuf| path.to_string_lossy().contains(&format!("-{seed}-"));
    let path = home.records().into_iter().find(is_new).expect("the record was saved");
    path.to_str().expect("the test's own paths are text").to_owned()
}

/// Figures without intervals prove no order: each card has its number in it, marked as uncertain, in the details as
/// above.
#[test]
fn cards_of_which_no_difference_is_proven_do_not_all_have_the_first_place() {
    let words = ["compare", "ref:iozone-rpi3-2018", "--details"];
    let text = run(Home::new().cardproof(&words)).expect(0).stdout;
    let details = text.rsplit_once("System card").unwrap().1;
    let places: Vec<&str> = details
        .lines()
        .filter(|line| line.contains(" pi3-"))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    let expected: Vec<String> = (1..=places.len()).map(|place| format!("~{place}")).collect();
    assert_eq!(places, expected, "{text}");
    assert!(places.len() >= 12, "{text}");
}

#[test]
fn published_cards_fit_a_terminal_of_80_columns() {
    let words = [
        "compare",
        "ref:sandisk-extreme-pro-a2",
        "ref:sandisk-extreme-a1",
        "ref:pi4-samsung-evo-plus-32gb",
        "--price",
        "sandisk-extreme-a1=12.50",
        "--use",
        "system",
    ];
    let text = run(Home::new().cardproof(&words)).expect(0).stdout;
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    insta::assert_snapshot!(text);
}

/// The eight fitted cards and four that are typical of their kind.
const TWELVE: [&str; 12] = [
    "intenso-class-4",
    "sandisk-ultra",
    "sandisk-industrial",
    "sandisk-extreme-plus",
    "sandisk-ultra-a1",
    "sandisk-extreme-a1",
    "sandisk-extreme-pro-a2",
    "samsung-emmc",
    "v30-a2",
    "v30-a2-queued",
    "usb-stick",
    "high-endurance",
];

#[test]
fn the_answer_of_twelve_records_is_on_the_first_screen() {
    let home = Home::new();
    let mut words = vec!["compare".to_owned()];
    for card in TWELVE {
        let file = home.place().join(format!("{card}.json")).to_str().unwrap().to_owned();
        let target = format!("sim:{card}");
        let run_words =
            ["run", &target, "--size", "32M", "--time-budget", "15s", "--seed", "5", "--quiet"];
        run(home.cardproof(&[&run_words[..], &["--json", &file]].concat())).expect(0);
        words.push(file);
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let text = run(home.cardproof(&words)).expect(0).stdout;
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.iter().all(|line| line.chars().count() <= 80), "{text}");
    let first_screen = lines.iter().take(24).copied().collect::<Vec<_>>().join("\n");
    for card in TWELVE {
        assert!(first_screen.contains(card), "{card} is below the first screen:\n{text}");
    }
    insta::assert_snapshot!(text);
}

#[test]
fn records_of_other_hosts_and_methods_share_no_order() {
    let words = ["compare", "ref:sandisk-extreme-a1", "ref:sandisk-ultra-a1"];
    let more = ["ref:pi3-samsung-fit-muf-32bb", "ref:pi3-samsung-evo-plus-mb-mc32da"];
    let text = run(Home::new().cardproof(&[&words[..], &more].concat())).expect(0).stdout;
    insta::assert_snapshot!(text);
}

#[test]
fn records_that_share_nothing_are_named_as_such_with_the_way_out() {
    let words = ["compare", "ref:pi3-samsung-fit-muf-32bb", "ref:fsync-by-filesystem"];
    let text = run(Home::new().cardproof(&words)).expect(0).stdout;
    assert!(text.contains("Not ranked") && text.contains("cardproof run"), "{text}");
}

#[test]
fn the_published_table_prints_its_rank_correlations() {
    let text = run(Home::new().cardproof(&["compare", "ref:sd-card-bench-2018", "--details"]))
        .expect(0)
        .stdout;
    let line = |with: &str| {
        let wanted = format!("desktop-install: {with}");
        text.lines().find(|line| line.contains(&wanted)).expect("the line is there").to_owned()
    };
    assert!(line("4 KiB random write, depth 1").contains("-0.83"), "{text}");
    assert!(line("16 MiB sequential write, depth 1").contains("-0.67"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_figure_without_a_ratio_says_so() {
    let home = Home::new();
    let words = ["run", "sim:sandisk-extreme-a1", "--seed", "5", "--label", "mine", "--quiet"];
    run(home.cardproof(&words)).expect(0);
    let words = ["compare", "mine", "ref:sandisk-extreme-a1", "--details"];
    let text = run(home.cardproof(&words)).expect(0).stdout;
    let rows = text.lines().filter(|line| line.trim_start().starts_with("sandisk-extreme-a1 "));
    assert_eq!(rows.filter(|row| row.ends_with("no ratio")).count(), 4, "{text}");
    assert!(!text.contains("  1. "), "there is no order: {text}");
}

#[test]
fn the_list_names_every_table_with_its_source() {
    let text = |words: &[&str]| run(Home::new().cardproof(words)).expect(0).stdout;
    let in_full = text(&["compare", "--list", "--details"]);
    for wanted in ["ref:sd-card-bench-2018", "T. Kaiser", "ref:pi3-samsung-evo-plus-mb-mc32ga"] {
        assert!(in_full.contains(wanted), "no {wanted} in {in_full}");
    }
    let in_short = text(&["compare", "--list"]);
    let card = in_short.lines().find(|line| line.starts_with("ref:sandisk-ultra ")).unwrap();
    assert!(card.ends_with("2139     133"), "{card}");
    assert!(!in_short.contains("T. Kaiser") && in_short.contains("--list --details"));
}

#[test]
fn a_record_without_rates_is_named_and_not_compared() {
    let home = Home::new();
    run(home.cardproof(&["verify", "sim:fake-drop", "--seed", "1", "--quiet"])).expect(4);
    let ended = run(home.cardproof(&["compare", "latest", "ref:sandisk-extreme-a1"])).expect(2);
    for text in ["latest is a record of 'verify'", "`cardproof run`", "`cardproof list`"] {
        assert!(ended.stderr.contains(text), "no '{text}' in: {}", ended.stderr);
    }
}

/// The cells of the lines of `text` that are rows of a table in Markdown, without the line below the
/// headings.
fn cells(text: &str) -> Vec<Vec<String>> {
    let rows = text.lines().filter(|line| line.starts_with('|') && !line.starts_with("| ---"));
    rows.map(|row| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect())
        .collect()
}

/// A rate has one figure and one interval, whichever command shows it: of verdicts or not, with levels,
/// of repeated runs.
#[test]
fn a_comparison_shows_the_rates_and_intervals_of_the_report() {
    let runs = [
        ("v30-a2", &["--repeat", "3"][..]),
        ("usb-stick", &["--size", "512M", "--time-budget", "60s"]),
        ("sandisk-ultra-a1", &[]),
        ("sandisk-extreme-a1", &["--profile", "a1"]),
    ];
    for (card, more) in some_of(runs, 3) {
        let home = Home::new();
        let target = format!("sim:{card}");
        for (label, seed) in [("mine", "21"), ("other", "22")] {
            let words = ["run", &target, "--seed", seed, "--label", label, "--quiet"];
            run(home.cardproof(&[&words[..], more].concat())).expect(0);
        }
        let of = |words: &[&str]| run(home.cardproof(words)).expect(0).stdout;
        let report = of(&["show", "mine", "--markdown", "-"]);
        let (_, measured) = report.split_once("## Measured").expect("a table of the phases");
        let shown: Vec<[String; 2]> = cells(measured.split("\n## ").next().unwrap())
            .into_iter()
            .skip(1)
            .filter(|row| !row[0].starts_with("&nbsp;") && !row[1].starts_with("not measured"))
            .map(|row| [row[1].clone(), row[2].clone()])
            .collect();
        let all = of(&["compare", "mine", "other", "--details", "--markdown", "-"]);
        let sections = all.split("\n## ").filter(|text| text.contains("| card | rate |"));
        let compared: Vec<[String; 2]> = sections
            .map(|text| cells(text).into_iter().find(|row| row[0].contains("mine")).expect("a row"))
            .map(|row| [row[1].clone(), row[2].clone()])
            .collect();
        assert_eq!(compared, shown, "{card}");

        let json = |words: &[&str]| -> serde_json::Value {
            serde_json::from_str(&of(words)).expect("it is JSON")
        };
        let figures =
            json(&["compare", "mine", "other", "--json", "-"])["figures"][0]["figures"].clone();
        let list = json(&["list", "--json", "-"]);
        let mut records = list["records"].as_array().unwrap().iter();
        let entry = records.find(|record| record["label"] == "mine").unwrap().clone();
        for (column, field) in [
            ("random_read", "random_read_iops"),
            ("random_write", "random_write_iops"),
            ("sequential_read", "sequential_read_bytes_per_s"),
            ("sequential_write", "sequential_write_bytes_per_s"),
        ] {
            let figures = figures.as_array().unwrap();
            let figure = figures.iter().find(|figure| figure["column"] == column);
            assert_eq!(figure.map_or(&serde_json::Value::Null, |it| &it["rate"]), &entry[field]);
        }
    }
}

#[test]
fn records_are_found_by_file_by_id_and_as_the_latest() {
    let home = Home::new();
    let first = measured(&home, "sandisk-ultra-a1", "11", &[]);
    measured(&home, "sandisk-extreme-a1", "12", &[]);
    let id = std::path::Path::new(&first).file_stem().unwrap().to_str().unwrap();
    let json = |words: &[&str]| -> serde_json::Value {
        let text = run(home.cardproof(&[words, &["--json", "-"]].concat())).expect(0).stdout;
        serde_json::from_str(&text).expect("it is JSON")
    };
    let by_file = json(&["compare", &first, "latest"]);
    let by_id = json(&["compare", id, "latest"]);
    assert_eq!(by_file, by_id);
    let rows = by_file["rows"].as_array().expect("there are rows");
    let write = rows.iter().find(|row| row["what"] == "4 KiB random write, depth 1").unwrap();
    let ratio = write["cells"][1]["ratio"]["estimate"].as_f64().expect("there is a ratio");
    assert!((1.6..2.2).contains(&ratio), "{ratio}");
    assert!(write["cells"][1]["ratio"]["between"][0].as_f64().unwrap() > 1.0);
    assert_eq!(by_file["places"].as_array().map(Vec::len), Some(2));
}

#[test]
fn every_form_says_the_same_and_needs_nothing_else() {
    let home = Home::new();
    let file = |name: &str| home.place().join(name).to_str().unwrap().to_owned();
    let (csv, html, markdown) = (file("a.csv"), file("a.html"), file("a.md"));
    let words = ["compare", "ref:sandisk-ultra", "ref:sandisk-ultra-a1", "--csv", &csv, "--html"];
    run(home.cardproof(&[&words[..], &[&html, "--markdown", &markdown, "--details"]].concat()))
        .expect(0);
    let read = |path: &str| fs::read_to_string(path).unwrap();
    assert!(read(&csv).lines().any(|line| {
        line.starts_with("\"4 KiB random write, depth 1\",sandisk-ultra-a1,IOPS,787.00,,,1,5.9173,")
    }));
    for text in [read(&html), read(&markdown)] {
        assert!(text.contains("5.92") && text.contains("787 IOPS"), "{text}");
        assert!(
            !text.contains("http:") && !text.contains("https:"),
            "it needs nothing from elsewhere"
        );
    }
}

#[test]
fn what_is_not_there_or_does_not_fit_is_said() {
    let home = Home::new();
    for (words, said) in [
        (vec!["compare", "ref:no-such-card"], "compare --list"),
        (vec!["compare", "no-such-record"], "there is no file and no record"),
        (vec!["compare", "../secret"], "there is no file and no record"),
        (vec!["compare"], "there is no record yet"),
        (vec!["compare", "ref:sandisk-ultra"], "name at least two cards"),
        (
            vec!["compare", "ref:sandisk-ultra", "ref:sandisk-ultra-a1", "--price", "other=3"],
            "--price names 'other'",
        ),
        (vec!["compare", "ref:sandisk-ultra", "--json", "-", "--csv", "-"], "only one of"),
        (vec!["compare", "ref:sandisk-ultra", "ref:sandisk-ultra"], "are the same record"),
        (vec!["compare", "/", "/"], "check each card first, such as `cardproof / --label red`"),
    ] {
        let result = run(home.cardproof(&words)).expect(2);
        assert!(result.stderr.contains(said), "{words:?}: {}", result.stderr);
    }
    assert!(home.records().is_empty(), "looking for records makes none");
}

#[test]
fn repeated_runs_are_one_record_and_announced_as_what_they_write() {
    let home = Home::new();
    let place = home.place().to_str().unwrap().to_owned();
    let words = [&["run", &place, "--repeat", "2", "--json", "-"], SMALL].concat();
    let result = run(home.cardproof(&words)).expect(0);
    let record = records::parse(&result.stdout);
    assert_eq!(record.state, State::Complete);
    assert!(record.phases.iter().filter(|it| it.is_measured()).all(|it| it.runs.len() == 2));
    // Twice 16 MiB for the file and five times 128 MiB at most.
    assert!(result.stderr.contains("Writes at most 1.3 GiB in all"), "{}", result.stderr);
    let written: u64 = record.phases.iter().filter(|it| it.read_percent == 0).map(moved).sum();
    assert!(record.bytes_written.get() >= written);
}

fn moved(phase: &Phase) -> u64 {
    phase.bytes.get()
}

#[test]
fn of_two_files_of_one_name_each_has_its_own_price() {
    let home = Home::new();
    let mut paths = Vec::new();
    for (day, seed) in [("day1", "11"), ("day2", "12")] {
        let saved = measured(&home, "sandisk-ultra-a1", seed, &[]);
        let place = home.place().join(day);
        fs::create_dir(&place).unwrap();
        let path = place.join("card.json");
        fs::copy(saved, &path).unwrap();
        paths.push(path.to_str().unwrap().to_owned());
    }
    let compared = |prices: &[&str]| -> serde_json::Value {
        let words = [&["compare", &paths[0], &paths[1]], prices, &["--json", "-"]].concat();
        serde_json::from_str(&run(home.cardproof(&words)).expect(0).stdout).unwrap()
    };
    let plain = compared(&[]);
    let cards = plain["comparison"]["cards"].as_array().or(plain["cards"].as_array()).unwrap();
    let [first, second] = [0, 1].map(|card| cards[card].as_str().unwrap().to_owned());
    assert_ne!(first, second);
    let (one, other) = (format!("{first}=10"), format!("{second}=20"));
    let priced = compared(&["--price", &one, "--price", &other]);
    let figures = priced.pointer("/comparison/figures").or(priced.get("figures")).unwrap();
    assert_eq!([&figures[0]["price"], &figures[1]["price"]], [10.0, 20.0]);
}

#[test]
fn a_card_without_a_distribution_has_no_place_in_the_legend_of_distributions() {
    let home = Home::new();
    let path = measured(&home, "sandisk-ultra-a1", "13", &["--label", "MINE"]);
    let page = home.place().join("page.html");
    let words =
        ["compare", "ref:sandisk-ultra-a1", &path, "--html", page.to_str().unwrap(), "--quiet"];
    run(home.cardproof(&words)).expect(0);
    let text = fs::read_to_string(&page).unwrap();
    let chart = text.split("id=\"overlaid\"").nth(1).expect("a chart of both cards");
    let legend =
        chart.split("<ul class=\"legend\">").nth(1).unwrap().split("</ul>").next().unwrap();
    assert_eq!(legend.matches("<li>").count(), 1, "{legend}");
    assert!(legend.contains("MINE"), "{legend}");
}

#[test]
fn records_of_one_label_are_told_apart_by_their_ids() {
    let home = Home::new();
    let first = measured(&home, "sandisk-ultra-a1", "11", &["--label", "red"]);
    let second = measured(&home, "sandisk-ultra-a1", "12", &["--label", "red"]);
    let text = run(home.cardproof(&["compare", &first, &second])).expect(0).stdout;
    for path in [&first, &second] {
        let id = path.trim_end_matches(".json").rsplit('-').next().unwrap();
        assert!(text.contains(&format!("red ({id})")), "{text}");
    }
    assert!(!text.contains('\''), "{text}");
    assert!(text.contains("The same card, measured twice."), "{text}");
    let mut narrow = home.cardproof(&["compare", &first, &second]);
    narrow.env("COLUMNS", "48");
    let narrow = run(narrow).expect(0).stdout;
    assert!(narrow.contains("No room for: "), "{narrow}");
}
