//! What goes where: data to standard output, talk to standard error, and the forms of both.

use std::fs;
use std::io::Read;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cardproof_record::State;
use cardproof_testkit::{LoopDevice, Tree, lab_or_skip, require_root};
use cardproof_units::Bytes;
use serde_json::Value;

use crate::home::{Home, SMALL, our_directories, word};
use crate::process::{Ended, run, start};
use crate::records;
use crate::refusals::as_nobody;

/// A small run of `home` with more `words`.
fn small_run(home: &Home, words: &[&str]) -> Ended {
    let place = word(home.place());
    run(home.cardproof(&[&["run", place], SMALL, words].concat()))
}

#[test]
fn json_on_stdout_is_one_valid_document_and_nothing_else() {
    let home = Home::new();
    let ended = small_run(&home, &["--json", "-"]).expect(0);
    let record = records::parse(&ended.stdout);
    assert_eq!(record.state, State::Complete);
    assert!(record.verdicts.is_some(), "verdicts are attached on output");
    let document = home.data().join("stdout.json");
    fs::write(&document, &ended.stdout).unwrap();
    lab_or_skip!(records::assert_valid(&[document]));
}

#[test]
fn a_record_is_saved_that_holds_facts_only() {
    let home = Home::new();
    small_run(&home, &["--quiet"]).expect(0);
    let saved = home.records();
    assert_eq!(saved.len(), 1);
    let record = records::read(&saved[0]);
    assert_eq!(record.state, State::Complete);
    assert!(record.verdicts.is_none(), "verdicts are derived, never stored");
    assert_eq!(record.seed.get(), 1);
    assert!(!record.phases.is_empty());
    lab_or_skip!(records::assert_valid(&saved));
}

/// No serial number, host name, user name or path leaves the machine. What a test can know is the
/// host's name and the places of the run.
#[test]
fn a_record_names_no_place_and_no_host() {
    let home = Home::new();
    let ended = small_run(&home, &["--json", "-", "--quiet"]).expect(0);
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    for secret in [word(home.place()), word(home.data())] {
        assert!(!ended.stdout.contains(secret), "{secret} is in the record");
    }
    // A host called `vm` or the like is in many a word; then this can show nothing.
    if host.trim().len() > 4 {
        assert!(!ended.stdout.contains(host.trim()), "the host's name is in the record");
    }
}

#[test]
fn a_run_leaves_the_place_as_it_was() {
    let home = Home::new();
    let before = Tree::of_user(home.place()).unwrap();
    small_run(&home, &["--quiet"]).expect(0);
    assert_eq!(our_directories(home.place()), [""; 0]);
    assert_eq!(before.changes(&Tree::of_user(home.place()).unwrap()), "");
}

#[test]
fn quiet_says_nothing() {
    let home = Home::new();
    let ended = small_run(&home, &["--quiet", "--json", "-"]).expect(0);
    assert_eq!(ended.stderr, "");
    let ended = small_run(&home, &["--quiet"]).expect(0);
    assert_eq!((&*ended.stdout, &*ended.stderr), ("", ""));
}

/// Without a terminal there is no colour, no cursor movement and no drawing over a line.
#[test]
fn a_pipe_gets_plain_lines() {
    let home = Home::new();
    let ended = small_run(&home, &[]).expect(0);
    for (name, text) in [("stdout", &ended.stdout), ("stderr", &ended.stderr)] {
        assert!(!text.contains('\u{1b}'), "escapes on {name}: {text:?}");
        assert!(!text.contains('\r'), "a line is drawn over on {name}: {text:?}");
    }
    assert!(ended.stderr.lines().count() >= 3, "no progress: {:?}", ended.stderr);
}

/// What will be written is said before the first write.
#[test]
fn what_will_be_written_is_said() {
    let home = Home::new();
    let ended = small_run(&home, &[]).expect(0);
    assert!(ended.stderr.contains("16 MiB"), "{}", ended.stderr);
}

#[test]
fn the_same_seed_writes_the_same_operations() {
    let home = Home::new();
    let read = |ended: &Ended| records::parse(&ended.stdout);
    let first = read(&small_run(&home, &["--json", "-", "--quiet"]).expect(0));
    let second = read(&small_run(&home, &["--json", "-", "--quiet"]).expect(0));
    assert_eq!(first.seed, second.seed);
    assert_ne!(first.id, second.id);
    let shape = |record: &cardproof_record::Record| -> Vec<String> {
        record
            .phases
            .iter()
            .map(|phase| format!("{} {:?} {}", phase.name, phase.pattern, phase.block_size_bytes))
            .collect()
    };
    assert_eq!(shape(&first), shape(&second));
}

#[test]
fn files_are_written_where_they_were_asked_for() {
    let home = Home::new();
    let file = |name: &str| home.data().join(name);
    let (json, html, markdown) = (file("a.json"), file("a.html"), file("a.md"));
    let words =
        ["--json", word(&json), "--html", word(&html), "--markdown", word(&markdown), "--quiet"];
    small_run(&home, &words).expect(0);
    records::read(&json);
    let html = fs::read_to_string(html).unwrap();
    assert!(html.starts_with("<!doctype html>") || html.starts_with("<!DOCTYPE html>"));
    assert!(html.len() < 600_000, "{} bytes", html.len());
    for reaching_out in ["src=\"http", "href=\"http://", "@import", "<script src"] {
        assert!(!html.contains(reaching_out), "the report needs the network: {reaching_out}");
    }
    assert!(fs::read_to_string(markdown).unwrap().contains('|'), "no table");
}

#[test]
fn markdown_on_stdout_is_markdown_alone() {
    let home = Home::new();
    let ended = small_run(&home, &["--markdown", "-"]).expect(0);
    assert!(ended.stdout.starts_with('#'), "{}", ended.stdout);
}

/// `cardproof run DIR --json - | head -1`: no panic, no talk of a broken pipe.
#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let home = Home::new();
    let mut command =
        home.cardproof(&[&["run", word(home.place()), "--json", "-", "--quiet"], SMALL].concat());
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let mut talk = String::new();
    child.stderr.take().unwrap().read_to_string(&mut talk).unwrap();
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}: {talk}");
    assert_eq!(talk, "");
    assert_eq!(our_directories(home.place()), [""; 0]);
}

/// Nobody listens on either stream; the run still ends and cleans up.
#[test]
fn nobody_listening_at_all_is_no_failure() {
    let home = Home::new();
    let mut command = home.cardproof(&[&["run", word(home.place())], SMALL].concat());
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    drop(child.stderr.take());
    let status = child.wait().unwrap();
    assert!(status.success(), "{status}");
    assert_eq!(our_directories(home.place()), [""; 0]);
    assert_eq!(records::read(&home.records()[0]).state, State::Complete);
}

#[test]
fn colour_is_asked_for_and_refused_by_the_usual_variables() {
    let home = Home::new();
    let words = [&["run", word(home.place())], SMALL].concat();
    let mut command = home.cardproof(&words);
    command.env("CLICOLOR_FORCE", "1");
    let ended = run(command).expect(0);
    assert!(ended.stdout.contains('\u{1b}'), "no colour where it was forced");
    let mut command = home.cardproof(&words);
    command.env("CLICOLOR_FORCE", "1").env("NO_COLOR", "1");
    let ended = run(command).expect(0);
    assert!(!ended.stdout.contains('\u{1b}'), "colour in spite of NO_COLOR");
}

#[test]
fn without_a_word_the_current_directory_is_checked() {
    let home = Home::new();
    let mut command = home.cardproof(&["--only", "setup", "--json", "-", "--quiet"]);
    command.current_dir(home.place());
    let answer: Value = serde_json::from_str(&run(command).expect(0).stdout).unwrap();
    assert_eq!(answer["schema"], "cardproof.check/1");
}

#[test]
fn help_and_version_are_data() {
    let home = Home::new();
    let version = run(home.cardproof(&["--version"])).expect(0);
    assert!(version.stdout.starts_with("cardproof "), "{}", version.stdout);
    let help = run(home.cardproof(&["--help"])).expect(0);
    for word in ["check", "run", "profiles", "Is it good?", "Exit status"] {
        assert!(help.stdout.contains(word), "no {word} in the help:\n{}", help.stdout);
    }
    assert_eq!(help.stderr, "");
    for words in [&["help", "--help"][..], &["help", "run", "-h"]] {
        let help = run(home.cardproof(words)).expect(0);
        assert!(help.stdout.contains("Usage: cardproof"), "{words:?}: {}", help.stdout);
    }
}

#[test]
fn profiles_are_listed_with_what_they_run() {
    let home = Home::new();
    let ended = run(home.cardproof(&["profiles"])).expect(0);
    assert!(ended.stdout.contains("standard"), "{}", ended.stdout);
}

/// A card named where a file was meant keeps what is on it.
#[test]
fn no_output_goes_to_a_block_device() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(1), 7));
    let before = fs::read(device.image()).unwrap();
    let home = Home::new();
    small_run(&home, &["--quiet"]).expect(0);
    let record = home.records().remove(0);
    for option in ["--json", "--markdown", "--html"] {
        let words = ["show", word(&record), option, word(device.path())];
        let ended = run(home.cardproof(&words)).expect(2);
        assert!(ended.stderr.contains("it is a block device"), "{}", ended.stderr);
    }
    let words = ["watch", "--once", "--log", word(device.path())];
    run(home.cardproof(&words)).expect(2);
    let shipped = run(home.cardproof(&["replay", "list"])).expect(0).stdout;
    let trace = shipped.split_whitespace().next().unwrap();
    run(home.cardproof(&["replay", "show", trace, "--save", word(device.path())])).expect(1);
    assert!(fs::read(device.image()).unwrap() == before, "something was written");
}

/// As `cardproof … --json /dev/stdout > file` does, also by root, who could replace the link by a file.
#[test]
fn a_descriptor_is_written_to_and_its_name_stays_a_link() {
    let home = Home::new();
    let file = home.data().join("out.json");
    for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"] {
        fs::write(&file, "before\n").unwrap();
        let mut command = home.cardproof(&["replay", "list", "--json", name]);
        let appended = fs::File::options().append(true).open(&file).unwrap();
        let status = command.stdout(appended).stderr(Stdio::null()).status().unwrap();
        assert!(status.success(), "{name}");
        let text = fs::read_to_string(&file).unwrap();
        let document = text.strip_prefix("before\n").unwrap();
        serde_json::from_str::<Value>(document).unwrap();
    }
    for name in ["/dev/stdout", "/dev/stderr", "/dev/fd"] {
        assert!(fs::symlink_metadata(name).unwrap().is_symlink(), "{name} is a link no more");
    }
}

#[test]
fn everybody_may_write_to_the_null_device_and_to_standard_output() {
    let home = Home::for_others();
    for (option, name) in
        [("--json", "/dev/null"), ("--json", "/dev/stdout"), ("--html", "/dev/stdout")]
    {
        let place = word(home.place());
        let words = [&["run", "sim:sandisk-ultra", "--quiet", option, name][..]].concat();
        let (mut command, _program) = as_nobody(&home, &words);
        command.current_dir(place);
        let ended = run(command).expect(0);
        assert_eq!(ended.stdout.is_empty(), name == "/dev/null", "{option} {name}");
    }
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}

/// A record, a page and a log: none of them makes or replaces anything but an ordinary file.
#[test]
fn no_output_replaces_a_link_or_what_the_system_shows() {
    let home = Home::new();
    small_run(&home, &["--quiet"]).expect(0);
    let record = home.records().remove(0);
    let at = |name: &str| home.data().join(name);
    std::os::unix::fs::symlink("nowhere", at("dangling")).unwrap();
    fs::write(at("kept"), "kept").unwrap();
    std::os::unix::fs::symlink("kept", at("link")).unwrap();
    let refused = [
        "/dev/zero",
        "/dev/full",
        "/dev/cardproof.json",
        "/proc/self/comm",
        "/proc/1/cmdline",
        "/sys/kernel/cardproof.json",
    ];
    let dangling = at("dangling");
    for path in refused.into_iter().chain([word(&dangling)]) {
        for option in ["--json", "--markdown", "--html"] {
            let ended = run(home.cardproof(&["show", word(&record), option, path]));
            assert!(matches!(ended.code(), 1 | 2), "{option} {path}: {}", ended.stderr);
            assert!(ended.stderr.contains("cannot write"), "{option} {path}: {}", ended.stderr);
        }
        let ended = run(home.cardproof(&["watch", "--once", "--log", path]));
        assert!(matches!(ended.code(), 1 | 2), "{path}: {}", ended.stderr);
    }
    assert!(!Path::new("/dev/cardproof.json").exists());
    assert!(!at("nowhere").exists());
    run(home.cardproof(&["show", word(&record), "--json", word(&at("link"))])).expect(0);
    assert!(fs::symlink_metadata(at("link")).unwrap().is_symlink());
    records::read(&at("kept"));
}

/// As with `sudo`, which keeps the user's home directory on many systems.
#[test]
fn root_leaves_nothing_of_its_own_in_a_users_home() {
    lab_or_skip!(require_root());
    let home = Home::new();
    let user = home.place().join("user");
    fs::create_dir(&user).unwrap();
    std::os::unix::fs::chown(&user, Some(1000), Some(1000)).unwrap();
    let output = user.join("report.html");
    let runs: [&[&str]; 4] = [
        &["run", "sim:sandisk-ultra", "--quiet", "--html", word(&output)],
        &["verify", "sim:fake-drop", "--quiet", "--exclude-store", "64M"],
        &["submit", "latest", "--to", "http://127.0.0.1:9", "--yes", "--queue"],
        &["show", "latest", "--charts", "charts"],
    ];
    for words in runs {
        let mut command = home.cardproof(words);
        command.env_remove("XDG_DATA_HOME").env("HOME", &user).current_dir(&user);
        run(command);
    }
    let mut found = 0;
    let mut directories = vec![user.clone()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let metadata = fs::symlink_metadata(&path).unwrap();
            assert_eq!((metadata.uid(), metadata.gid()), (1000, 1000), "{}", path.display());
            found += 1;
            if metadata.is_dir() {
                directories.push(path);
            }
        }
    }
    assert!(found > 12, "only {found} files and directories were made");
}

/// A stack that no shell has by default, but a service or a container may have.
#[test]
fn a_small_stack_is_enough() {
    let home = Home::new();
    for words in ["--help", "run sim:sandisk-ultra --quiet", "verify sim:fake-drop --quiet"] {
        let mut command = Command::new("sh");
        home.surround(&mut command);
        let line = format!("ulimit -s 64 && exec {} {words}", env!("CARGO_BIN_EXE_cardproof"));
        let ended = run({
            command.args(["-c", &line]);
            command
        });
        assert!(matches!(ended.code(), 0 | 4), "{words}: {}", ended.stderr);
    }
}

/// The kernel's log passes for a regular file, and a read of it waits for the next line.
#[test]
fn the_kernels_log_is_not_waited_for() {
    lab_or_skip!(require_root());
    let home = Home::new();
    for words in [
        &["show", "/proc/kmsg"][..],
        &["import", "/proc/kmsg"],
        &["replay", "show", "/proc/kmsg"],
        &["watch", "--explain", "/proc/kmsg"],
        &["identify", "--sysroot", "/proc/kmsg"],
        &["verify", "/proc/kmsg"],
    ] {
        // What is in the log already may be text that some reader takes.
        let mut running = start(home.cardproof(words));
        assert!(running.ends_within(Duration::from_secs(20)), "{words:?} waits");
    }
}

/// Whatever is named, it is read up to a length and no further.
#[test]
fn what_has_no_end_is_refused() {
    let home = Home::new();
    for words in [
        &["show", "/dev/zero"][..],
        &["show", "/dev/zero", "--html", "x.html"],
        &["import", "/dev/zero"],
        &["compare", "/dev/zero", "/dev/zero"],
        &["identify", "--sysroot", "/dev/zero"],
        &["replay", "show", "/dev/zero"],
        &["watch", "--explain", "/dev/zero"],
    ] {
        run(home.cardproof(words)).expect(2);
    }
}
