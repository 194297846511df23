//! What a first reader stumbled over: each case is a command with what it must say, or must not say.

use std::fs;

use crate::home::{Home, word};
use crate::process::{Ended, run};

/// What `words` print in 80 columns, where they end with `status`.
pub(crate) fn said(home: &Home, words: &[&str], status: i32) -> Ended {
    let mut command = home.cardproof(words);
    command.env("COLUMNS", "80");
    run(command).expect(status)
}

/// `text` without its line breaks.
pub(crate) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An error of the command line, and what it must say.
fn refuses(home: &Home, words: &[&str], expected: &str) {
    let ended = said(home, words, 2);
    let message = in_one_line(&ended.stderr);
    assert!(message.contains(expected), "{words:?}: {message}");
    assert_eq!(ended.stdout, "", "{words:?}");
}

#[test]
fn a_name_is_found_whatever_its_case_and_a_mistyped_one_is_suggested() {
    let home = Home::new();
    let short = ["--size", "16M", "--time-budget", "2s", "-q"];
    let run = |words: &[&str]| said(&home, &[words, &short].concat(), 0);
    run(&["run", "sim:SanDisk-Extreme-A1", "--profile", "Standard", "--seed", "1"]);
    refuses(&home, &["run", "sim:sandisk-extrem-a1"], "did you mean sim:sandisk-extreme-a1?");
    refuses(&home, &["run", "sim:v30-a2", "--profile", "standrd"], "did you mean standard?");
    refuses(&home, &["replay", "show", "desktop-instal"], "did you mean desktop-install?");
    said(&home, &["replay", "show", "BOOT"], 0);
    said(&home, &["profiles", "A1"], 0);
    said(&home, &["compare", "ref:FIO-pi5-2024", "--use", "HomeAssistant"], 0);
}

#[test]
fn no_old_name_of_a_command_stays() {
    let home = Home::new();
    for name in ["rate", "report", "summary", "capture", "traces"] {
        let ended = said(&home, &[name, "latest"], 2);
        assert!(!ended.stderr.is_empty(), "{name}");
    }
}

#[test]
fn a_word_for_a_markdown_file_is_a_mistyped_short() {
    let home = Home::new();
    said(&home, &["run", "sim:v30-a2", "--size", "16M", "--time-budget", "2s", "-q"], 0);
    refuses(&home, &["show", "latest", "--markdown", "lng"], "`short`");
    let path = home.place().join("result.md");
    let ended = said(&home, &["show", "latest", "--markdown", word(&path)], 0);
    assert!(in_one_line(&ended.stderr).contains("Markdown:"), "{}", ended.stderr);
}

#[test]
fn a_test_without_verdicts_has_its_result_in_short_markdown() {
    let home = Home::new();
    for (words, expected) in [
        (vec!["geometry", "sim:sandisk-ultra", "--seed", "1", "-q"], "Align partitions to"),
        (vec!["powercut", "sim:sandisk-ultra", "--cuts", "5", "--seed", "1", "-q"], "power cuts"),
        (
            vec!["endure", "sim:sandisk-ultra", "--size", "8M", "--cycles", "2", "-q"],
            "NO FAILURE in 2 cycles",
        ),
    ] {
        said(&home, &words, 0);
        let text = said(&home, &["show", "latest", "--markdown", "short"], 0).stdout;
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("none"), "{text}");
    }
}

#[test]
fn what_is_no_output_of_the_named_tool_is_told_so() {
    let home = Home::new();
    let path = home.place().join("text.txt");
    fs::write(&path, "hello world\n").unwrap();
    refuses(&home, &["import", word(&path), "--as", "fio"], "is not output of fio");
}

#[test]
fn a_directory_without_a_copy_of_sys_is_no_saved_computer() {
    let home = Home::new();
    let empty = home.place().join("no-sys");
    fs::create_dir(&empty).unwrap();
    for command in ["identify", "check"] {
        refuses(&home, &[command, "--sysroot", word(&empty)], "no copy of /sys");
    }
}

#[test]
fn a_file_is_no_storage_to_identify() {
    let home = Home::new();
    let path = home.place().join("text.txt");
    fs::write(&path, "hello world\n").unwrap();
    refuses(&home, &["identify", word(&path)], "is a file; name a device or a directory");
    refuses(&home, &["diagnose", "sim:v30-a2"], "cannot use a simulated card");
}

#[test]
fn an_output_of_another_tool_that_is_named_to_be_measured_leads_to_import() {
    let home = Home::new();
    let pasted = home.place().join("pasted.txt");
    let dd = "$ dd if=/dev/zero of=test bs=1M count=512 conv=fsync\n512+0 records in\n512+0 records out\n\
              536870912 bytes (537 MB, 512 MiB) copied, 28.4 s, 18.9 MB/s\n";
    fs::write(&pasted, dd).unwrap();
    for words in [&["verify", word(&pasted)][..], &["run", word(&pasted)], &["run", "-"]] {
        refuses(&home, words, "cardproof import");
    }
    let read = said(&home, &["import", word(&pasted)], 0);
    // What was measured is judged, and what was not is left out.
    assert!(read.stdout.contains("V10: probably passed"), "{}", read.stdout);
    assert!(!read.stdout.contains("C4 "), "of one kind the best: {}", read.stdout);
    assert!(!read.stdout.contains("not measured"), "{}", read.stdout);
    assert!(read.stderr.contains("cardproof show latest"), "{}", read.stderr);
    assert!(said(&home, &["show", "latest"], 0).stdout.contains("Next: 1."));
}

#[test]
fn who_names_too_little_is_told_what_there_is_to_name() {
    let home = Home::new();
    said(&home, &["run", "sim:sandisk-ultra", "--profile", "a1", "--seed", "1", "-q"], 0);
    refuses(&home, &["compare"], "name at least two cards; `cardproof list`");
    refuses(&home, &["submit", "latest"], "for a forum: cardproof show latest --markdown short");
}

#[test]
fn the_answer_of_verify_holds_no_statistic() {
    let home = Home::new();
    for (card, status) in [("sim:sandisk-ultra", 0), ("sim:fake-wrap", 4)] {
        let words = ["verify", card, "--exclude-store", "64M", "--seed", "1"];
        let answer = said(&home, &words, status).stdout;
        assert!(!answer.contains("confidence") && !answer.contains("at byte"), "{answer}");
        // One level down it stands.
        let details = said(&home, &["show", "latest", "--details"], 0).stdout;
        assert!(details.contains("How sure this verdict is"), "{details}");
    }
}

#[test]
fn amounts_side_by_side_have_one_format() {
    let home = Home::new();
    // It reads a little less than 7 MiB, which alone is printed as `7.0 MiB`.
    let words = ["verify", "sim:usb-stick", "--exclude-store", "64M", "--seed", "1"];
    let ended = said(&home, &words, 0);
    let line = ended.stdout.lines().find(|line| line.starts_with("Written")).unwrap();
    assert!(line.contains("read 7 MiB") && !line.contains(".0 "), "{line}");
}

#[test]
fn a_small_file_is_not_measured_and_no_command_to_overwrite_a_file_is_printed() {
    let home = Home::new();
    let small = home.place().join("small");
    fs::write(&small, b"somebody's").unwrap();
    refuses(&home, &["run", word(&small)], "too small to measure");
    let large = home.place().join("large");
    fs::write(&large, vec![7; 4 << 20]).unwrap();
    let mut command = home.cardproof(&["run", word(&large), "--time-budget", "2s"]);
    command.env("COLUMNS", "80");
    let ended = run(command);
    assert!(!ended.stderr.contains("--destroy"), "{}", ended.stderr);
}

#[test]
fn what_is_no_storage_is_refused_before_anything_is_measured() {
    let home = Home::new();
    refuses(&home, &["run", "/proc"], "no storage to test");
    refuses(&home, &["check", "/proc"], "no storage to test");
}

#[test]
fn one_card_is_not_compared() {
    let home = Home::new();
    said(&home, &["run", "sim:v30-a2", "--size", "16M", "--time-budget", "2s", "-q"], 0);
    refuses(&home, &["compare", "latest"], "name at least two cards");
}

#[test]
fn an_endurance_test_keeps_the_users_unit_and_needs_a_whole_cycle() {
    let home = Home::new();
    refuses(&home, &["endure", "sim:sandisk-ultra", "--budget", "1"], "less than one cycle");
    let words = ["endure", "sim:sandisk-ultra", "--budget", "3GB", "--size", "64M", "--seed", "1"];
    let ended = said(&home, &words, 0);
    assert!(
        in_one_line(&ended.stderr).contains("after the cycle in which 3 GB are written"),
        "{}",
        ended.stderr
    );
    assert!(ended.stdout.contains("PASSED: 3 GB written"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("95 %"), "{}", ended.stdout);
}

#[test]
fn a_count_starts_at_one() {
    let home = Home::new();
    for words in [["watch", "--count", "0"].as_slice(), &["endure", "sim:v30-a2", "--cycles", "0"]]
    {
        refuses(&home, words, "give a number from 1");
    }
}

#[test]
fn a_file_system_needs_room() {
    let home = Home::new();
    let words = ["compare-setups", word(home.place()), "--size", "1M"];
    refuses(&home, &words, "too small for a file system");
}

#[test]
fn wear_over_time_needs_two_records() {
    let home = Home::new();
    refuses(&home, &["health", "--over", "latest"], "two records");
}

#[test]
fn diagnose_cannot_watch_a_simulated_card() {
    refuses(&Home::new(), &["diagnose", "sim:v30-a2"], "cannot use a simulated card");
}

#[test]
fn the_plan_uses_the_geometry_of_the_same_card() {
    let home = Home::new();
    let unit = |home: &Home| {
        let text = said(home, &["tune", "sim:sandisk-ultra"], 0).stdout;
        assert!(text.lines().count() <= 24, "{text}");
        text.contains("start=8192")
    };
    assert!(!unit(&home), "nothing is known");
    said(&home, &["geometry", "sim:sandisk-ultra", "--seed", "1", "-q"], 0);
    assert!(unit(&home), "an allocation unit of 4 MiB was measured");
}

/// An image whose DOS table has partitions of 1 GiB that begin at these sectors.
fn image(home: &Home, starts: &[u32]) -> String {
    let mut sector = [0; 512];
    for (entry, start) in sector[446..510].chunks_exact_mut(16).zip(starts) {
        entry[4] = 0x83;
        entry[8..12].copy_from_slice(&start.to_le_bytes());
        entry[12..16].copy_from_slice(&(2_u32 << 20).to_le_bytes());
    }
    if !starts.is_empty() {
        sector[510..].copy_from_slice(&[0x55, 0xaa]);
    }
    let path = home.place().join("card.img");
    fs::write(&path, sector).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(4 << 30).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_plan_for_an_image_begins_with_the_partitions_that_it_has() {
    let home = Home::new();
    let plan = |starts: &[u32]| said(&home, &["tune", &image(&home, starts)], 0).stdout;
    let aligned = plan(&[16_384, 2_113_536]);
    assert!(
        aligned.contains("\n\nPartition 1 begins at 8 MiB, which suits most cards.\n"),
        "{aligned}"
    );
    assert!(aligned.contains("\nPartition 2 begins at 1"), "{aligned}");
    for word in ["DELETES", "sfdisk", "mkfs", "Step 1"] {
        assert!(!aligned.contains(word), "{word} in {aligned}");
    }
    let unclear = plan(&[8192]);
    assert!(
        unclear.contains("needed only if the card's blocks are larger\nthan 4 MiB"),
        "{unclear}"
    );
    let inside = plan(&[63]);
    assert!(inside.contains("\n\nThe partition begins at 31.5 KiB: NOT aligned"), "{inside}");
    assert!(inside.contains("Step 1 deletes what is there: copy it first.\n"), "{inside}");
    assert!(inside.contains("sfdisk"), "{inside}");
    let blank = plan(&[]);
    assert!(!blank.contains("begins at 31") && blank.contains("sfdisk"), "{blank}");
}

#[test]
fn a_list_has_one_line_for_each_record() {
    let home = Home::new();
    let short = ["--size", "16M", "--time-budget", "2s", "-q"];
    for card in ["sim:v30-a2", "sim:intenso-class-4"] {
        said(&home, &[&["run", card, "--seed", "1"][..], &short].concat(), 0);
    }
    let text = said(&home, &["list"], 0).stdout;
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    for line in text.lines() {
        let name = line.split_whitespace().next().unwrap();
        said(&home, &["show", name], 0);
    }
}

#[test]
fn a_test_of_a_directory_says_what_it_can_show_and_where_its_record_is() {
    let home = Home::new();
    let directory = home.place().join("card");
    fs::create_dir(&directory).unwrap();
    let ended = said(&home, &["verify", word(&directory), "--keep", "--exclude-store", "8M"], 4);
    let notes = in_one_line(&ended.stderr);
    for told in ["but not that it is genuine; --full tests all of it", "Record: ", "Report: "] {
        assert!(notes.contains(told), "{told}: {notes}");
    }
}

#[test]
fn two_targets_and_unknown_commands_are_told_in_plain_words() {
    let home = Home::new();
    refuses(&home, &["/", "work"], "name only one target; 'work' is one too many");
    refuses(&home, &["work", "work"], "there is no command and no file 'work'");
    refuses(&home, &["work", "verify"], "the command comes first");
    refuses(&home, &["help", "verfy"], "did you mean `cardproof verify`?");
    refuses(&home, &["help", "foo"], "`cardproof --help` lists the commands");
}

#[test]
fn a_label_that_could_not_name_a_record_is_refused() {
    let home = Home::new();
    for label in ["latest", " Latest ", "-x"] {
        let option = format!("--label={label}");
        refuses(
            &home,
            &["run", "sim:intenso-class-4", &option],
            "a record could not be named by it",
        );
    }
}
