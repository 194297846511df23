//! What `cardproof log` hands to other programs: Prometheus, Home Assistant, Nagios.
//!
//! Every night those programs themselves read it.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cardproof_testkit::{LabError, lab_or_skip, run_command, skip, test_name};
use serde_json::Value;

use crate::home::Home;
use crate::process::{Ended, run, start};

/// A ledger of this computer's storage.
struct Ledger {
    home: Home,
    state: String,
    memory: String,
}

impl Ledger {
    /// A ledger with one look; without one where this computer has no storage to look at.
    fn new() -> Option<Self> {
        let ledger = Self::empty();
        let first = ledger.log(&["--quiet"]);
        if first.code() == 1 {
            skip(test_name!(), first.stderr.trim());
            return None;
        }
        first.expect(0);
        Some(ledger)
    }

    fn empty() -> Self {
        let home = Home::new();
        let path = |name: &str| home.place().join(name).to_str().unwrap().to_owned();
        Self { state: path("ledger"), memory: path("memory"), home }
    }

    fn command(&self, more: &[&str]) -> Command {
        let words = ["log", "--state", &self.state, "--memory", &self.memory];
        self.home.cardproof(&[&words[..], more].concat())
    }

    fn log(&self, more: &[&str]) -> Ended {
        run(self.command(more))
    }

    /// The file `name`, written by the option `option`.
    fn file(&self, option: &str, name: &str) -> PathBuf {
        let path = self.home.place().join(name);
        self.log(&["--quiet", option, path.to_str().unwrap()]).expect(0);
        path
    }
}

#[test]
fn files_for_other_programs_are_whole_and_open_to_everybody() {
    let Some(ledger) = Ledger::new() else { return };
    let closed = ledger.home.place().join("closed.prom");
    fs::write(&closed, "old").unwrap();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o600)).unwrap();
    for (option, name, first, last) in [
        ("--metrics", "closed.prom", "# HELP cardproof_build_info ", "\n"),
        ("--metrics", "cardproof.prom", "# HELP cardproof_build_info ", "\n"),
        ("--openmetrics", "cardproof.txt", "# TYPE cardproof_build info\n", "\n# EOF\n"),
        ("--home-assistant", "messages", "homeassistant/device/cardproof_", "}\n"),
    ] {
        let path = ledger.file(option, name);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(first) && text.ends_with(last), "{option} {text}");
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o644, "{option}");
    }
    let left = fs::read_dir(ledger.home.place()).unwrap();
    let left: Vec<_> = left.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(left.iter().all(|name| !name.ends_with(".tmp")), "{left:?}");
    let printed = ledger.log(&["--show", "--metrics", "-"]).expect(0).stdout;
    assert!(printed.lines().all(|line| line.starts_with(['#', 'c'])), "{printed}");
}

#[test]
fn a_plugin_says_one_line_whatever_happens() {
    let unknown = Ledger::empty().log(&["--show", "--nagios"]).expect(3);
    assert!(unknown.stdout.starts_with("STORAGE UNKNOWN - there is nothing in the ledger"));
    let Some(ledger) = Ledger::new() else { return };
    let ended = ledger.log(&["--show", "--nagios"]);
    let words = ["OK", "WARNING", "CRITICAL", "UNKNOWN"];
    let word = words[usize::try_from(ended.code()).unwrap()];
    assert!(ended.stdout.starts_with(&format!("STORAGE {word} - ")), "{ended:?}");
    assert_eq!(ended.stdout.lines().count(), 1, "{ended:?}");
    assert_eq!(ended.stderr, "");
}

/// Bytes without a unit wear nothing out.
#[test]
fn an_endurance_without_its_unit_is_asked_back() {
    let ended = Ledger::empty().log(&["--endurance", "40"]).expect(2);
    assert!(ended.stderr.contains("did you mean 40TB"), "{}", ended.stderr);
}

/// The answer to a request of which `lines` are the head.
fn asked(address: &str, lines: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(lines.replace('\n', "\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn a_listener_answers_in_the_form_that_is_asked_for_and_adds_nothing() {
    let Some(ledger) = Ledger::new() else { return };
    // A port that was free a moment ago.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let state = fs::read(Path::new(&ledger.state).join("state")).unwrap();
    let port = address.rsplit_once(':').unwrap().1;
    let mut listener = start(ledger.command(&["--listen", port]));
    assert!(listener.until(|| TcpStream::connect(&address).is_ok()), "{:?}", listener.end());
    let plain = asked(&address, "GET /metrics HTTP/1.1\nHost: localhost\n\n");
    assert!(plain.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"));
    assert!(plain.contains("\ncardproof_written_bytes_total{device="), "{plain}");
    let open = asked(
        &address,
        "GET /metrics HTTP/1.1\nAccept: application/openmetrics-text; version=1.0.0\n\n",
    );
    assert!(open.contains("application/openmetrics-text") && open.ends_with("# EOF\n"), "{open}");
    for (request, status) in
        [("GET / HTTP/1.1\n\n", "404"), ("POST /metrics HTTP/1.1\n\n", "405"), ("\n\n", "405")]
    {
        let answer = asked(&address, request);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{request:.40} {answer:.80}");
    }
    // Who sends without an end, or goes away, is left alone, and the next one is answered.
    let mut endless = TcpStream::connect(&address).unwrap();
    let _ = endless.write_all(&[b'x'; 100_000]);
    drop(TcpStream::connect(&address).unwrap());
    assert!(asked(&address, "GET /metrics HTTP/1.1\n\n").starts_with("HTTP/1.1 200 "));
    assert_eq!(fs::read(Path::new(&ledger.state).join("state")).unwrap(), state);
}

/// What `program` prints that is given `words`.
fn told(program: &str, words: &[&str]) -> Result<String, LabError> {
    let mut command = Command::new(program);
    command.args(words);
    run_command(command)
}

fn word(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// The directory of the shipped units, rules and dashboards.
fn packaging() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging")
}

#[test]
#[ignore = "needs Debian's prometheus; nightly"]
fn promtool_finds_no_fault() {
    let Some(ledger) = Ledger::new() else { return };
    let metrics = ledger.file("--metrics", "cardproof.prom");
    let rules = packaging().join("prometheus/cardproof.rules.yml");
    lab_or_skip!(told("promtool", &["--version"]));
    let lint = "promtool check metrics < \"$1\" 2>&1";
    assert_eq!(told("sh", &["-c", lint, "sh", word(&metrics)]).unwrap(), "");
    let checked = told("promtool", &["check", "rules", word(&rules)]).unwrap();
    assert!(checked.contains("SUCCESS"), "{checked}");
}

/// The alerts fire where they should, by Prometheus' own reckoning.
#[test]
#[ignore = "needs Debian's prometheus; nightly"]
fn alerts_fire_on_made_series() {
    let place = tempfile::tempdir().unwrap();
    fs::copy(packaging().join("prometheus/cardproof.rules.yml"), place.path().join("rules.yml"))
        .unwrap();
    let test = place.path().join("test.yml");
    fs::write(&test, include_str!("alerts.yml")).unwrap();
    let judged = lab_or_skip!(told("promtool", &["test", "rules", word(&test)]));
    assert!(judged.contains("SUCCESS"), "{judged}");
}

#[test]
#[ignore = "needs Debian's python3-prometheus-client; nightly"]
fn a_strict_reader_of_openmetrics_takes_the_text() {
    let Some(ledger) = Ledger::new() else { return };
    let text = ledger.file("--openmetrics", "cardproof.txt");
    let program = "import sys; from prometheus_client.openmetrics.parser import \
                   text_string_to_metric_families as read; \
                   print(len(list(read(open(sys.argv[1]).read()))))";
    let python = "/usr/bin/python3";
    if told(python, &["-c", "import prometheus_client"]).is_err() {
        return skip(test_name!(), "no prometheus_client (Debian: python3-prometheus-client)");
    }
    let count = told(python, &["-c", program, word(&text)]).unwrap();
    assert!(count.trim().parse::<u32>().unwrap() > 15, "{count}");
}

/// A broker of this test, which ends with it.
struct Broker {
    port: u16,
    _running: crate::process::Running,
}

impl Broker {
    fn start(place: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = place.join("mosquitto.conf");
        fs::write(&settings, format!("listener {port} 127.0.0.1\nallow_anonymous true\n")).unwrap();
        let mut command = Command::new("/usr/sbin/mosquitto");
        command.arg("-c").arg(settings);
        let mut running = start(command);
        let is_up = running.until(|| TcpStream::connect(("127.0.0.1", port)).is_ok());
        assert!(is_up, "{:?}", running.end());
        Self { port, _running: running }
    }
}

/// The shell line of the shipped unit publishes each message, and who subscribes later gets all of them.
#[test]
#[ignore = "needs Debian's mosquitto; nightly"]
fn a_subscriber_gets_what_the_shipped_unit_publishes() {
    let Some(ledger) = Ledger::new() else { return };
    for program in ["/usr/sbin/mosquitto", "/usr/bin/mosquitto_sub", "/usr/bin/mosquitto_pub"] {
        if !Path::new(program).exists() {
            return skip(
                test_name!(),
                &format!("no {program} (Debian: mosquitto, mosquitto-clients)"),
            );
        }
    }
    let place = tempfile::tempdir().unwrap();
    let messages = ledger.file("--home-assistant", "messages");
    let broker = Broker::start(place.path());
    let port = broker.port.to_string();
    fs::write(place.path().join("mosquitto_pub"), format!("--host 127.0.0.1\n--port {port}\n"))
        .unwrap();
    let unit = fs::read_to_string(packaging().join("systemd/cardproof-mqtt.service")).unwrap();
    let line = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/bin/sh -c '")).unwrap();
    let script = line.strip_suffix('\'').unwrap().replace("$$", "$");
    let script = script.replace("/run/cardproof/home-assistant", messages.to_str().unwrap());
    let mut publish = Command::new("/bin/sh");
    publish.args(["-c", &script]).env("CREDENTIALS_DIRECTORY", place.path());
    assert_eq!(run_command(publish).unwrap(), "");
    let text = fs::read_to_string(&messages).unwrap();
    let count = text.lines().count();
    let to = ["--host", "127.0.0.1", "--port", &port, "--topic", "#", "-v"];
    let until = ["-C", &count.to_string(), "-W", "20"];
    let heard = told("mosquitto_sub", &[&to[..], &until].concat()).unwrap();
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&heard), sorted(&text));
    for line in heard.lines() {
        let (_, payload) = line.split_once(' ').unwrap();
        assert!(serde_json::from_str::<Value>(payload).unwrap().is_object(), "{line}");
    }
}

/// systemd's own measure of what a unit may do, from 0 (nothing) to 10 (everything).
#[test]
#[ignore = "needs systemd-analyze; nightly"]
fn the_shipped_units_may_do_little() {
    let place = tempfile::tempdir().unwrap();
    let entries = fs::read_dir(packaging().join("systemd")).unwrap();
    let units: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    for unit in &units {
        // The program need not be installed here.
        let text = fs::read_to_string(unit).unwrap().replace("/usr/bin/cardproof", "/bin/true");
        fs::write(place.path().join(unit.file_name().unwrap()), text).unwrap();
    }
    let mut checked = 0;
    for unit in &units {
        let unit = place.path().join(unit.file_name().unwrap());
        let said = lab_or_skip!(told("systemd-analyze", &["verify", "--man=no", word(&unit)]));
        assert_eq!(said, "", "{}", unit.display());
        if unit.extension().is_some_and(|it| it == "service") {
            // In tenths of the measure: 2.0.
            let words = ["security", "--offline=true", "--threshold=20", "--no-pager", word(&unit)];
            told("systemd-analyze", &words).unwrap();
            checked += 1;
        }
    }
    assert_eq!(checked, 3);
}
