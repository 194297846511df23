//! Power cuts for real, as far as a computer can be cut off from itself: the server of a simulated
//! card and the writer are killed together, so what was volatile in the card is lost. Writer and
//! witness live in two network namespaces.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use cardproof_testkit::{LabError, lab_or_skip, require_root, run as run_tool};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::home::Home;
use crate::process::{Running, run, start};

/// A witness in a network namespace of its own, on the other end of a cable.
struct Lab {
    home: Home,
    here: String,
    there: String,
    witness: Killed,
    address: String,
}

/// How long something is waited for in one step.
const STEP: Duration = Duration::from_millis(20);

impl Lab {
    fn new(name: &str) -> Result<Self, LabError> {
        require_root()?;
        let home = Home::new();
        let (here, there) = (format!("cp-{name}-a"), format!("cp-{name}-b"));
        let (a, b) = (format!("cp{name}a"), format!("cp{name}b"));
        let unavailable = |error: LabError| LabError::Unavailable(error.to_string());
        for words in [
            format!("netns add {here}"),
            format!("netns add {there}"),
            format!("link add {a} netns {here} type veth peer name {b} netns {there}"),
            format!("-n {here} addr add 10.99.0.1/24 dev {a}"),
            format!("-n {there} addr add 10.99.0.2/24 dev {b}"),
            format!("-n {here} link set {a} up"),
            format!("-n {there} link set {b} up"),
        ] {
            run_tool("ip", words.split(' ')).map_err(unavailable)?;
        }
        fs::write(home.place().join("secret"), "a secret of more than 16 bytes\n").unwrap();
        let mut lab = Self {
            witness: Killed(Command::new("true").spawn().unwrap()),
            address: "10.99.0.2:7777".to_owned(),
            home,
            here,
            there,
        };
        let journal = lab.path("journal");
        let words = ["powercut", "witness", "--listen", "10.99.0.2:7777", "--journal", &journal];
        let mut command = lab.command(&lab.there.clone(), &words);
        command.stderr(Stdio::null());
        let (witness, lines) = lines_of(command, 1);
        lab.witness = witness;
        assert_eq!(lines, ["10.99.0.2:7777"]);
        Ok(lab)
    }

    fn path(&self, name: &str) -> String {
        self.home.place().join(name).to_str().unwrap().to_owned()
    }

    /// `cardproof` with `words` and the secret, in the namespace `place`.
    fn command(&self, place: &str, words: &[&str]) -> Command {
        let mut command = Command::new("ip");
        self.home.surround(&mut command);
        command.args(["netns", "exec", place, env!("CARGO_BIN_EXE_cardproof")]).args(words);
        command.args(["--secret-file", &self.path("secret")]);
        command
    }

    fn writer(&self, target: &str, words: &[&str]) -> Running {
        let common = ["powercut", "write", target, "--witness", &self.address, "--size", "1M"];
        start(self.command(&self.here, &[&common[..], words].concat()))
    }

    /// What a check finds.
    fn found(&self, target: &str, status: i32) -> Value {
        let words = ["powercut", "check", target, "--witness", &self.address, "--json", "-"];
        let said = run(self.command(&self.here, &words)).expect(status);
        serde_json::from_str(&said.stdout).unwrap()
    }

    /// Waits until the witness has heard of so many durable writes since the last check.
    fn wait_for(&self, writer: &mut Running, durable: u64) {
        for _ in 0..5000 {
            let has_ended = writer.ends_within(STEP);
            assert!(!has_ended, "the writer ended: {}; {:?}", writer.complaint(), self.journal());
            let journal = self.journal();
            // Since the last check; what an earlier writer said does not count.
            let since = journal.rsplit("result ").next().unwrap_or_default();
            let since = since.split_once("write ").map_or("", |(_, since)| since);
            let heard = since.lines().filter_map(|line| line.strip_prefix("durable "));
            if heard.filter_map(|number| number.parse::<u64>().ok()).any(|n| n >= durable) {
                return;
            }
        }
        panic!("the witness hears nothing: {}", self.journal());
    }

    fn journal(&self) -> String {
        fs::read_to_string(self.path("journal")).unwrap_or_default()
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        self.witness.kill();
        for name in [&self.here, &self.there] {
            let _ = run_tool("ip", ["netns", "delete", name]);
        }
    }
}

/// A process that is killed when this is dropped, by a test that fails as well.
pub(crate) struct Killed(Child);

impl Killed {
    fn kill(&mut self) {
        // It may have ended, which is no fault.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Ends `running` as a power cut would.
fn kill(running: Running) {
    running.signal(Signal::KILL);
    running.end();
}

/// Starts `command` and waits for its first lines.
pub(crate) fn lines_of(mut command: Command, count: usize) -> (Killed, Vec<String>) {
    // What goes wrong is shown.
    let mut child = Killed(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap());
    let lines = BufReader::new(child.0.stdout.take().unwrap()).lines();
    let lines = lines.take(count).map(|line| line.unwrap()).collect();
    (child, lines)
}

#[test]
fn a_killed_writer_in_a_directory_has_lost_nothing() {
    let lab = lab_or_skip!(Lab::new("dir"));
    let place = PathBuf::from(lab.path("place"));
    fs::create_dir(&place).unwrap();
    let target = place.to_str().unwrap();
    for mode in ["fsync", "fua"] {
        let mut writer = lab.writer(target, &["--mode", mode]);
        lab.wait_for(&mut writer, 32);
        let second = lab.writer(target, &[]).end().expect(3);
        assert!(second.stderr.contains("is there from an earlier test"), "{}", second.stderr);
        kill(writer);
        let found = lab.found(target, 0);
        assert_eq!(found["mode"], mode);
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "our file is removed");
    }
}

/// A wait on a socket with a time limit ends early when the process was stopped (signal(7)), and when
/// the kernel closes a ring of io_uring in the process.
#[test]
fn a_writer_that_was_stopped_while_it_waited_goes_on() {
    let lab = lab_or_skip!(Lab::new("stop"));
    let place = lab.path("place");
    fs::create_dir(&place).unwrap();
    let mut writer = lab.writer(&place, &[]);
    lab.wait_for(&mut writer, 8);
    let witness = Pid::from_child(&lab.witness.0);
    kill_process(witness, Signal::STOP).unwrap();
    // Until then the writer is far enough ahead to wait for an answer.
    assert!(!writer.ends_within(STEP * 10));
    for signal in [Signal::STOP, Signal::CONT] {
        writer.signal(signal);
        assert!(!writer.ends_within(STEP), "the writer ended: {:?}", writer.end());
    }
    kill_process(witness, Signal::CONT).unwrap();
    let heard = lab.journal().lines().filter(|line| line.starts_with("durable ")).count() as u64;
    lab.wait_for(&mut writer, heard + 64);
    kill(writer);
    lab.found(&place, 0);
}

#[test]
fn a_check_touches_only_what_its_own_test_wrote() {
    let lab = lab_or_skip!(Lab::new("own"));
    let place = PathBuf::from(lab.path("place"));
    let foreign = place.join("foreign");
    fs::create_dir_all(&foreign).unwrap();
    fs::write(foreign.join("records"), "mine").unwrap();
    let target = place.to_str().unwrap();
    let ours = place.join("cardproof-powercut.app");
    // The records of an application are no part of a test of the storage.
    fs::create_dir(&ours).unwrap();
    fs::write(ours.join("records"), "not judged yet").unwrap();
    let mut writer = lab.writer(target, &[]);
    lab.wait_for(&mut writer, 8);
    kill(writer);
    lab.found(target, 0);
    assert_eq!(fs::read_to_string(ours.join("records")).unwrap(), "not judged yet");
    fs::remove_dir_all(&ours).unwrap();
    // A link in the place of our directory leads to somebody's files.
    let words = ["powercut", "write", target, "--witness", &lab.address, "--app", "ext4-fsync"];
    let mut writer = start(lab.command(&lab.here, &words));
    lab.wait_for(&mut writer, 8);
    kill(writer);
    fs::remove_dir_all(&ours).unwrap();
    std::os::unix::fs::symlink(&foreign, &ours).unwrap();
    let words = ["powercut", "check", target, "--witness", &lab.address];
    let refused = run(lab.command(&lab.here, &words)).expect(3);
    assert!(refused.stderr.contains("symbolic link"), "{}", refused.stderr);
    assert_eq!(fs::read_to_string(foreign.join("records")).unwrap(), "mine");
}

#[test]
fn an_applications_promise_holds_and_is_judged_again_later() {
    let lab = lab_or_skip!(Lab::new("app"));
    for (turn, app) in (1..).zip(["ext4-fsync", "sqlite-delete", "sqlite-wal"]) {
        let place = PathBuf::from(lab.path(app));
        fs::create_dir(&place).unwrap();
        let target = place.to_str().unwrap();
        let common = ["powercut", "write", target, "--witness", &lab.address, "--app", app];
        let mut writer = start(lab.command(&lab.here, &common));
        lab.wait_for(&mut writer, 20);
        kill(writer);
        let check = |status| {
            let words = ["powercut", "check", target, "--witness", &lab.address, "--keep"];
            let words = [&words[..], &["--json", "-"]].concat();
            let said = run(lab.command(&lab.here, &words)).expect(status);
            serde_json::from_str::<Value>(&said.stdout).unwrap()
        };
        // The status is that of all cuts in the journal.
        let found = check(if turn == 1 { 0 } else { 4 });
        assert_eq!((&found["mode"], &found["cuts"]), (&app.into(), &turn.into()), "{found}");
        assert_eq!(found["harmful_cuts"], turn - 1, "{found}");
        // The storage forgets later.
        let ours = place.join("cardproof-powercut.app");
        for file in fs::read_dir(&ours).unwrap().map(|entry| entry.unwrap().path()) {
            fs::write(file, b"").unwrap();
        }
        let found = check(4);
        assert_eq!(
            (&found["cuts"], &found["harmful_cuts"]),
            (&turn.into(), &turn.into()),
            "{found}"
        );
    }
}

/// Kills the server of a card of `mebibytes` and its writer together `kills` times; what the last check found. While the
/// server of one card has been killed, the guard takes every device of its size for what it may be.
fn killed(
    name: &str,
    mebibytes: u64,
    power: &str,
    kills: usize,
    status: i32,
) -> Result<Value, LabError> {
    let lab = Lab::new(name)?;
    let card = lab.path("card.toml");
    let size = format!("size = \"{mebibytes}MiB\"");
    fs::write(&card, format!("{size}\n[power]\nvolatile = \"8MiB\"\n{power}")).unwrap();
    let backing = lab.path("backing");
    let serve = || {
        let words = ["sim", "serve", &card, "--backing", &backing, "--speed", "100", "--quiet"];
        let (server, lines) = lines_of(lab.home.cardproof(&words), 2);
        (server, lines.get(1).cloned().unwrap_or_default())
    };
    let mut found = Value::Null;
    for _ in 0..kills {
        let (mut server, device) = serve();
        let identity =
            format!("--destroy={}:{}", device.trim_start_matches("/dev/"), mebibytes << 20);
        let mut writer = lab.writer(&device, &[&identity]);
        lab.wait_for(&mut writer, 64);
        server.kill();
        kill(writer);
        let (mut server, device) = serve();
        found = lab.found(&device, status);
        server.kill();
    }
    Ok(found)
}

#[test]
fn a_served_card_that_is_honest_keeps_what_it_acknowledged() {
    let found = lab_or_skip!(killed("good", 65, "", 3, 0));
    assert_eq!((&found["cuts"], &found["harmful_cuts"]), (&3.into(), &0.into()), "{found}");
}

#[test]
fn a_served_card_that_ignores_flushes_is_found() {
    let found = lab_or_skip!(killed("liar", 66, "flush = \"ignored\"", 2, 4));
    assert_eq!(found["harmful_cuts"], 2, "{found}");
}
