//! Every HTML page in a real browser: a screen and a phone, by day and by night, without JavaScript,
//! and printed.

use std::fs;
use std::path::Path;

use cardproof_testkit::{lab_or_skip, page_faults, some_of};

use crate::home::Home;
use crate::process::run;

fn measured(home: &Home, card: &str) {
    let target = format!("sim:{card}");
    let words = ["run", &target, "--size", "16M", "--time-budget", "5s", "--seed", "1", "--quiet"];
    run(home.cardproof(&[&words[..], &["--label", card]].concat())).expect(0);
}

#[test]
fn every_page_fits_every_screen_and_axe_finds_nothing() {
    let home = Home::new();
    let cards = ["sandisk-ultra-a1", "v30-a2", "samsung-emmc", "intenso-class-4"];
    cards.iter().for_each(|card| measured(&home, card));
    // Its result is a sentence, in the list too.
    let cuts = ["powercut", "sim:sandisk-ultra-a1", "--cuts", "20", "--seed", "1", "--quiet"];
    run(home.cardproof(&cuts)).expect(0);
    let pages = [
        (
            "few",
            vec![
                "compare",
                cards[0],
                cards[1],
                cards[2],
                "--price",
                "v30-a2=9",
                "--price",
                "samsung-emmc=20",
            ],
        ),
        ("show", vec!["show", "v30-a2"]),
        ("many", vec!["compare", "ref:sd-card-bench-2018", cards[0], cards[1], cards[2], cards[3]]),
        ("list", vec!["list"]),
    ];
    for (name, words) in some_of(pages, 4) {
        let page = home.place().join(format!("{name}.html"));
        let html = ["--quiet", "--html", page.to_str().unwrap()];
        run(home.cardproof(&[&words[..], &html].concat())).expect(0);
        let shots = home.place().join(name);
        fs::create_dir(&shots).unwrap();
        let faults = lab_or_skip!(page_faults(&page, &shots));
        assert_eq!(faults, "", "{name}");
        assert!(shots.join("390-dark.png").exists() && shots.join("print.pdf").exists());
    }
}

/// The height of a PNG in pixels.
fn height(picture: &Path) -> u32 {
    let bytes = fs::read(picture).unwrap();
    u32::from_be_bytes(bytes[20..24].try_into().unwrap())
}

/// A reader who unfolds nothing sees a report whole: on three screens of 900 pixels, on a phone on six.
#[test]
fn a_report_of_a_card_is_three_screens_long_before_anything_is_unfolded() {
    let home = Home::new();
    let reports =
        [("check", "sandisk-extreme-a1"), ("check", "fake-wrap"), ("run", "intenso-class-4")];
    for (command, card) in some_of(reports, 3) {
        let page = home.place().join(format!("{card}.html"));
        let target = format!("sim:{card}");
        let words = [command, &target, "--seed", "1", "-q", "--html", page.to_str().unwrap()];
        run(home.cardproof(&words));
        let shots = home.place().join(card);
        fs::create_dir(&shots).unwrap();
        let faults = lab_or_skip!(page_faults(&page, &shots));
        assert_eq!(faults, "", "{card}");
        for (width, height_max) in [(1280, 3 * 900), (390, 6 * 900)] {
            let height = height(&shots.join(format!("{width}-light.png")));
            assert!(height <= height_max, "{card}: {height} px at {width}");
        }
    }
}

/// The judge itself: a page that is too wide, has an unnamed image and the same colours by day and by
/// night is faulted for each.
#[test]
fn a_bad_page_is_faulted() {
    let home = Home::new();
    let page = home.place().join("bad.html");
    let text = "<!DOCTYPE html><html lang=\"en\"><title>bad</title><main><h1>bad</h1>\
                <div style=\"width: 2000px\">wide</div><img src=\"data:,\"></main></html>";
    fs::write(&page, text).unwrap();
    let faults = lab_or_skip!(page_faults(&page, home.place()));
    for fault in ["2008 px wide", "axe: image-alt", "dark is as light", "printed:"] {
        assert!(faults.contains(fault), "no {fault} in {faults}");
    }
}
