//! Nothing is lost, and nothing of ours stays: what ends, what goes on, and what the next command takes
//! away.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cardproof_testkit::{run as tool, skip, test_name, wait_until};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::process::Signal;

use crate::home::{Home, SMALL, word};
use crate::process::{Running, run, start};
use crate::refusals::as_nobody;

const CARD: &str = "sandisk-ultra-a1";

/// A served card, far faster than in real time, whose file appears in `directory`.
struct Served {
    running: Running,
    file: PathBuf,
}

/// Serves a card in `directory`, or says why this machine cannot.
fn serve(home: &Home, directory: &Path, more: &[&str]) -> Result<Served, String> {
    let words = ["sim", "serve", CARD, "--directory", word(directory), "--no-block-device"];
    let mut running = start(home.cardproof(&[&words[..], &["--speed", "100"], more].concat()));
    let file = directory.join(format!("{CARD}.img"));
    if running.until(|| file.exists()) {
        return Ok(Served { running, file });
    }
    let ended = running.end();
    if ended.stderr.contains("FUSE") { Err(ended.stderr) } else { panic!("{}", ended.stderr) }
}

/// The same where no such machine may fail the test.
macro_rules! served_or_skip {
    ($serving:expr) => {
        match $serving {
            Ok(served) => served,
            Err(reason) => return skip(test_name!(), &reason),
        }
    };
}

/// Long enough for a card that would go down to be down.
const A_WHILE: Duration = Duration::from_secs(3);

#[test]
fn two_servers_do_not_write_to_one_backing_file() {
    let home = Home::new();
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let backing = home.data().join("card");
    let more = ["--backing", word(&backing)];
    let first = served_or_skip!(serve(&home, one.path(), &more));
    let words = ["sim", "serve", CARD, "--directory", word(other.path()), "--no-block-device"];
    let refused = run(home.cardproof(&[&words[..], &more].concat())).expect(3);
    assert!(refused.stderr.contains("another program"), "{}", refused.stderr);
    first.running.signal(Signal::INT);
    first.running.end().expect(0);
}

/// The block device of a served card goes to a file of FUSE, and the kernel does not say what is below it.
#[test]
fn a_card_is_served_again_beside_another_of_its_size() {
    let home = Home::new();
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let words = ["sim", "serve", CARD, "--directory", word(other.path()), "--json"];
    let mut beside = start(home.cardproof(&words));
    if !beside.until(|| other.path().join(format!("{CARD}.img")).exists()) {
        return skip(test_name!(), &beside.end().stderr);
    }
    let backing = home.data().join("card");
    for _ in 0..2 {
        let served =
            served_or_skip!(serve(&home, one.path(), &["--backing", word(&backing), "--quiet"]));
        let card = File::options().write(true).open(&served.file).unwrap();
        card.write_all_at(&[7; 4096], 0).unwrap();
        drop(card);
        served.running.signal(Signal::INT);
        assert_eq!(served.running.end().expect(0).stderr, "");
    }
    beside.signal(Signal::INT);
    beside.end().expect(0);
}

#[test]
fn a_script_reads_where_a_served_card_is() {
    let home = Home::new();
    let directory = tempfile::tempdir().unwrap();
    let served = served_or_skip!(serve(&home, directory.path(), &["--json", "--quiet"]));
    served.running.signal(Signal::INT);
    let ended = served.running.end().expect(0);
    let document: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(document["schema"], "cardproof.served/1");
    assert_eq!(document["file"], word(&served.file));
    assert!(document["block_device"].is_null());
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_card_in_use_stays_up_after_one_ctrl_c_and_goes_when_it_is_free() {
    let home = Home::new();
    let directory = tempfile::tempdir().unwrap();
    let mut served = served_or_skip!(serve(&home, directory.path(), &[]));
    let user = File::open(&served.file).unwrap();
    served.running.signal(Signal::INT);
    assert!(!served.running.ends_within(A_WHILE), "it went down under its user");
    drop(user);
    let ended = served.running.end().expect(0);
    assert!(ended.stderr.contains("stays up"), "{}", ended.stderr);
}

#[test]
fn a_second_ctrl_c_ends_a_card_in_use_with_a_warning() {
    let home = Home::new();
    let directory = tempfile::tempdir().unwrap();
    let mut served = served_or_skip!(serve(&home, directory.path(), &[]));
    let _user = File::open(&served.file).unwrap();
    served.running.signal(Signal::INT);
    assert!(!served.running.ends_within(A_WHILE));
    served.running.signal(Signal::INT);
    let ended = served.running.end().expect(130);
    assert!(ended.stderr.contains("not synced is lost"), "{}", ended.stderr);
}

/// The directories of served cards in `place`.
fn card_directories(place: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().unwrap().to_string_lossy().contains(CARD)).collect()
}

#[test]
fn the_directory_of_a_killed_server_goes_with_it_or_with_the_next() {
    let home = Home::new();
    let place = home.data().join("tmp");
    fs::create_dir(&place).unwrap();
    let command = || {
        let mut command =
            home.cardproof(&["sim", "serve", CARD, "--no-block-device", "--speed", "100"]);
        command.env("TMPDIR", &place);
        command
    };
    let file = || card_directories(&place).pop().map(|path| path.join(format!("{CARD}.img")));
    let mut killed = start(command());
    if !killed.until(|| file().is_some_and(|file| file.exists())) {
        return skip(test_name!(), &killed.end().stderr);
    }
    killed.signal(Signal::KILL);
    killed.end().expect(128 + Signal::KILL.as_raw());
    // A shell takes it away, which outlives the server.
    wait_until(|| card_directories(&place).is_empty());
    // Where that shell was killed too, the next server takes its place.
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let old = place.join(format!("cardproof-sim-{CARD}-{}", child.id()));
    fs::create_dir(&old).unwrap();
    let mut next = start(command());
    assert!(next.until(|| file().is_some_and(|file| file.exists())));
    assert!(!old.exists());
    next.signal(Signal::INT);
    next.end().expect(0);
    let left = card_directories(&place);
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_record_that_a_killed_process_began_goes_with_the_next_run() {
    let home = Home::new();
    let records = home.data().join("cardproof/records");
    fs::create_dir_all(&records).unwrap();
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let begun = records.join(format!(".sim.json.{}.tmp", child.id()));
    fs::write(&begun, "{").unwrap();
    run(home.cardproof(&[&["run", "sim:sandisk-ultra", "--quiet"], SMALL].concat())).expect(0);
    assert!(!begun.exists());
    assert_eq!(home.records().len(), 1);
}

#[test]
fn simulated_runs_that_differ_in_anything_keep_records_of_their_own() {
    let home = Home::new();
    let card = ["run", "sim:sandisk-ultra", "--quiet", "--seed", "1"];
    let others: [&[&str]; 6] = [
        &["--size", "16M", "--time-budget", "2s"],
        &["--size", "32M", "--time-budget", "2s"],
        &["--size", "16M", "--time-budget", "3s"],
        &["--size", "16M", "--time-budget", "2s", "--repeat", "2"],
        &["--size", "16M", "--profile", "a1"],
        &["--size", "16M", "--profile", "a1", "--confidence", "0.999"],
    ];
    let mut known = BTreeSet::new();
    let mut kept: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for words in others {
        run(home.cardproof(&[&card[..], words].concat())).expect(0);
        let fresh: Vec<_> =
            home.records().into_iter().filter(|path| known.insert(path.clone())).collect();
        assert_eq!(fresh.len(), 1, "{words:?} took the place of another record");
        for (path, bytes) in &kept {
            assert_eq!(fs::read(path).unwrap(), *bytes, "{words:?} changed {}", path.display());
        }
        kept.push((fresh[0].clone(), fs::read(&fresh[0]).unwrap()));
    }
    run(home.cardproof(&[&card[..], others[0]].concat())).expect(0);
    assert_eq!(home.records().len(), others.len(), "the same run has another name");
    for think in ["1", "0"] {
        let words =
            ["replay", "run", "sqlite-wal", "sim:sandisk-ultra", "--seed", "1", "-q", "--pauses"];
        run(home.cardproof(&[&words[..], &[think]].concat())).expect(0);
    }
    assert_eq!(home.records().len(), others.len() + 2);
}

/// The same run once more, stopped: what the first has found stays.
#[test]
fn a_whole_record_of_a_simulated_run_is_not_replaced_by_a_part_of_it() {
    let home = Home::new();
    let words = ["run", "sim:sandisk-ultra", "--quiet", "--seed", "1"];
    run(home.cardproof(&words)).expect(0);
    let path = home.records().remove(0);
    let whole = fs::read(&path).unwrap();
    for signal in [Signal::KILL, Signal::INT] {
        for wait in [10, 30, 60, 120] {
            let mut again = start(home.cardproof(&words));
            again.ends_within(Duration::from_millis(wait));
            again.signal(signal);
            again.end();
            assert_eq!(fs::read(&path).unwrap(), whole, "{signal:?} after {wait} ms");
        }
    }
    assert_eq!(home.records(), [path]);
}

#[test]
fn a_simulated_run_shows_no_date() {
    let home = Home::new();
    let page = home.data().join("page.html");
    let words = ["run", "sim:sandisk-ultra", "--html", word(&page), "--markdown", "-"];
    let ended = run(home.cardproof(&[&words[..], SMALL].concat())).expect(0);
    let report = run(home.cardproof(&["show", "latest"])).expect(0).stdout;
    for text in [ended.stdout, report, fs::read_to_string(page).unwrap()] {
        assert!(!text.contains("1970"), "{text}");
    }
}

/// The window is closed or the connection broken: the other end of the terminal is gone.
#[test]
fn a_watch_ends_with_its_terminal() {
    if tool("script", ["--version"]).is_err() {
        return skip(test_name!(), "there is no script(1), which gives a terminal");
    }
    let home = Home::new();
    let number = home.data().join("number");
    // Without SIGHUP, so that nothing but the terminal's end tells.
    let line = format!(
        "trap '' HUP; echo $$ > {}; exec {} watch",
        word(&number),
        env!("CARGO_BIN_EXE_cardproof")
    );
    let mut command = Command::new("script");
    home.surround(&mut command);
    command.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
    let mut terminal = start(command);
    let process = || fs::read_to_string(&number).ok()?.trim().parse::<u32>().ok();
    let is_watching = || {
        let status = |process| fs::read_to_string(format!("/proc/{process}/comm")).ok();
        process().and_then(status).is_some_and(|name| name.trim() == "cardproof")
    };
    assert!(terminal.until(is_watching), "{}", terminal.end().stderr);
    terminal.signal(Signal::KILL);
    terminal.end();
    let mut looker = start({
        let mut command = Command::new("sleep");
        command.arg("60");
        command
    });
    let is_gone = !is_watching() || looker.until(|| !is_watching());
    looker.signal(Signal::KILL);
    if let (false, Some(process)) = (is_gone, process()) {
        let _ = tool("kill", ["-9", &process.to_string()]);
    }
    assert!(is_gone, "it watches on");
}

#[test]
fn a_pipe_to_which_nobody_writes_is_refused_and_not_waited_for() {
    let home = Home::new();
    let records = home.data().join("cardproof/records");
    fs::create_dir_all(&records).unwrap();
    let pipes = ["pipe", "pipe.toml", "pipe.fio"].map(|name| home.data().join(name));
    let kept = records.join("20260101T000000Z-00000000.json");
    for pipe in pipes.iter().chain([&kept]) {
        mknodat(CWD, pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }
    let [pipe, toml, fio] = pipes.each_ref().map(|path| word(path));
    let card = format!("sim:{toml}");
    for words in [
        &["run", pipe][..],
        &["run", pipe, "--destroy"],
        &["run", &card],
        &["sim", "serve", &card],
        &["run", "sim:sandisk-ultra", "--profile", toml],
        &["run", "sim:sandisk-ultra", "--profile", fio],
        &["run", "sim:sandisk-ultra", "--json", pipe, "--size", "16M", "--time-budget", "2s"],
        &["show", pipe],
        &["show", pipe],
        &["import", pipe],
        &["compare", pipe, pipe],
        &["replay", "show", pipe],
        &["replay", "run", pipe, "sim:sandisk-ultra"],
        &["identify", "--sysroot", pipe],
        &["watch", "--once", "--log", pipe],
        &["watch", "--explain", pipe],
        &["show", "20260101T000000Z-00000000"],
        &["sim", "serve", CARD, "--backing", pipe],
    ] {
        let ended = run(home.cardproof(words));
        assert!([1, 2].contains(&ended.code()), "{words:?}: {} {}", ended.code(), ended.stderr);
    }
}

#[test]
fn a_pipe_among_the_records_is_not_the_latest() {
    let home = Home::new();
    run(home.cardproof(&[&["run", "sim:sandisk-ultra", "--quiet"], SMALL].concat())).expect(0);
    let pipe = home.records()[0].with_file_name("zzz.json");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    run(home.cardproof(&["show", "latest"])).expect(0);
}

#[test]
fn a_file_that_may_grow_no_further_is_a_full_disk() {
    let home = Home::new();
    let place = word(home.place()).to_owned();
    for (blocks, words) in [
        ("100", vec!["run", &place, "--size", "16M", "--time-budget", "2s", "--quiet"]),
        ("0", vec!["run", "sim:sandisk-ultra", "--size", "16M", "--time-budget", "2s"]),
    ] {
        let mut command = Command::new("sh");
        home.surround(&mut command);
        command.args(["-c", &format!("ulimit -f {blocks}; exec \"$0\" \"$@\"")]);
        command.arg(env!("CARGO_BIN_EXE_cardproof")).args(words);
        let ended = run(command);
        assert!([1, 3].contains(&ended.code()), "{} {}", ended.code(), ended.stderr);
        assert!(!ended.stderr.is_empty());
    }
    assert_eq!(crate::home::our_directories(home.place()), [""; 0]);
}

#[test]
fn without_a_place_for_records_everything_is_measured_all_the_same() {
    let home = Home::new();
    let words = ["run", "sim:sandisk-ultra", "--json", "-", "--size", "16M", "--seed", "1"];
    let mut homeless = home.cardproof(&words);
    homeless.env_remove("HOME").env_remove("XDG_DATA_HOME");
    let mut read_only = home.cardproof(&words);
    read_only.env("XDG_DATA_HOME", "/proc/read-only");
    let records = [homeless, read_only].map(|command| {
        let ended = run(command).expect(0);
        assert_eq!(ended.stderr.matches("Not saved:").count(), 1, "{}", ended.stderr);
        crate::records::parse(&ended.stdout).id
    });
    assert_eq!(records[0], records[1]);
    for words in [
        &["run", "sim:sandisk-ultra", "--size", "16M", "--seed", "1"][..],
        &["check", "sim:sandisk-ultra-a1", "--seed", "1"],
        &["verify", "sim:sandisk-ultra-a1", "--seed", "1"],
    ] {
        let mut kept_nowhere = home.cardproof(words);
        kept_nowhere.env_remove("HOME").env_remove("XDG_DATA_HOME");
        let ended = run(kept_nowhere).expect(0);
        assert_eq!(ended.stderr.matches("Not saved:").count(), 1, "{words:?}: {}", ended.stderr);
        assert!(!ended.stdout.contains("Unknown storage"), "{}", ended.stdout);
    }
    // Nothing would remain of a quiet one.
    let mut nothing = home.cardproof(&["check", "sim:sandisk-ultra-a1", "--quiet"]);
    nothing.env_remove("HOME").env_remove("XDG_DATA_HOME");
    let ended = run(nothing).expect(1);
    assert!(ended.stderr.contains("HOME"), "{}", ended.stderr);
}

#[test]
fn missing_permission_is_one_status_everywhere() {
    let home = Home::for_others();
    let closed = home.place().join("closed");
    fs::create_dir(&closed).unwrap();
    let files = ["record.json", "profile.toml", "device"].map(|name| closed.join(name));
    for file in &files {
        fs::write(file, "x").unwrap();
    }
    // Files first: in a closed directory nobody but root reaches them.
    for path in files.iter().chain([&closed]) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
    }
    let [record, profile, device] = files.each_ref().map(|path| word(path));
    for words in [
        &["run", word(&closed)][..],
        &["run", device],
        &["run", device, "--destroy"],
        &["run", "sim:sandisk-ultra", "--profile", profile],
        &["run", "sim:sandisk-ultra", "--json", record],
        &["show", record],
        &["import", record],
        &["replay", "show", record],
        &["watch", "--once", "--log", record],
    ] {
        let (command, _program) = as_nobody(&home, words);
        let ended = run(command);
        assert_eq!(ended.code(), 1, "{words:?}: {}", ended.stderr);
    }
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
}
