//! What tests of the hub share: the real program on a real database, and a client that can misbehave.

pub(crate) mod client;
pub(crate) mod disk;
pub(crate) mod postgres;
pub(crate) mod variations;

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use cardproof_hub::db::{Db, Opening};
use cardproof_hub::place::sqlite_file;
use client::{Answer, request};
use serde_json::{Value, json};
use tempfile::TempDir;

/// The number that the environment variable `name` asks for.
pub(crate) fn wished(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// On which database a test runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum On {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

/// Runs each function as two tests, one on each database; marks such as `ignore` are those of both.
#[macro_export]
macro_rules! on_both {
    ($($(#[$mark:meta])* $name:ident),* $(,)?) => {
        $(mod $name {
            #[test]
            $(#[$mark])*
            fn on_sqlite() {
                super::$name(&$crate::common::TestData::new($crate::common::On::Sqlite).unwrap());
            }

            #[test]
            $(#[$mark])*
            fn on_postgres() {
                match $crate::common::TestData::new($crate::common::On::Postgres) {
                    Ok(place) => super::$name(&place),
                    Err(reason) => $crate::common::skip(concat!(stringify!($name), "::on_postgres"), &reason),
                }
            }
        })*
    };
}

/// Notes that a test was not run, where `cargo xtask test` reads it.
pub(crate) fn skip(name: &str, reason: &str) {
    use std::io::Write;
    println!("skipped: {name}: {reason}");
    if let Some(log) = std::env::var_os("CARDPROOF_SKIP_LOG") {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(log).unwrap();
        writeln!(file, "skipped: {name}: {reason}").unwrap();
    }
}

/// Says what was shown, in a line that `cargo xtask prove hub` puts into its table.
pub(crate) fn prove(row: &str) {
    println!("shown: {row}");
}

/// A data directory and a database for one test.
pub(crate) struct TestData {
    pub(crate) on: On,
    pub(crate) data: TempDir,
    pub(crate) url: Option<String>,
}

impl TestData {
    /// A fresh one; an error says why there is no PostgreSQL.
    pub(crate) fn new(on: On) -> Result<Self, String> {
        let url = match on {
            On::Sqlite => None,
            On::Postgres => Some(postgres::fresh_database()?),
        };
        Ok(Self { on, data: tempfile::tempdir().unwrap(), url })
    }

    /// A fresh one with a database of `server`.
    pub(crate) fn on_server(server: &postgres::Server) -> Self {
        let url = Some(server.fresh_database().unwrap());
        Self { on: On::Postgres, data: tempfile::tempdir().unwrap(), url }
    }

    /// The database, beside the hub, before it or after it.
    pub(crate) async fn open(&self) -> Db {
        match &self.url {
            Some(url) => Db::postgres(url, Opening::Make).await.unwrap(),
            None => Db::sqlite(&sqlite_file(self.data.path()), Opening::Make).await.unwrap(),
        }
    }

    /// A command of the hub's on this place.
    pub(crate) fn command(&self, name: &str) -> Command {
        self.command_in(self.data.path(), name)
    }

    /// The same in the data directory `data`.
    pub(crate) fn command_in(&self, data: &Path, name: &str) -> Command {
        let built = env!("CARGO_BIN_EXE_cardproof-hub").into();
        let mut command = Command::new(std::env::var_os("CARDPROOF_HUB_PROGRAM").unwrap_or(built));
        command.arg(name).arg("--data").arg(data).env_remove("CARDPROOF_HUB_DATABASE");
        if let Some(url) = &self.url {
            command.arg("--database").arg(url);
        }
        command
    }

    /// A hub that answers, on somebody's desk: without a wish one submitter is enough for a board and a name.
    pub(crate) fn start(&self, more: &[&str]) -> Hub {
        self.start_in(self.data.path(), more)
    }

    /// The same in the data directory `data`.
    pub(crate) fn start_in(&self, data: &Path, more: &[&str]) -> Hub {
        let mut command = self.command_in(data, "serve");
        command.args(["--listen", "127.0.0.1:0"]).args(more);
        if !more.contains(&"--submitters-min") {
            command.args(["--submitters-min", "1"]);
        }
        Hub::start(command, self.command_in(data, "dump"))
    }

    /// The token of an administrator of this place's hub, which was started before.
    pub(crate) fn administrator(&self) -> String {
        let output = self.command("add-administrator").arg("anna").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Everything that the database holds, as bytes in which a text can be looked for.
    pub(crate) fn database_bytes(&self) -> Vec<u8> {
        match &self.url {
            Some(url) => postgres::dump(url),
            None => {
                let files =
                    fs::read_dir(self.data.path()).unwrap().map(|entry| entry.unwrap().path());
                let of_sqlite = files.filter(|path| path.to_string_lossy().contains("hub.sqlite"));
                of_sqlite.flat_map(|path| fs::read(path).unwrap()).collect()
            }
        }
    }
}

/// A running hub, killed at the end of its test.
pub(crate) struct Hub {
    pub(crate) address: String,
    pub(crate) process: Child,
    pub(crate) log: Arc<Mutex<String>>,
    /// What makes the dump.
    dump: Mutex<Command>,
}

impl Hub {
    /// A hub that `command` starts; `dump` makes its raw data.
    pub(crate) fn start(mut command: Command, dump: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (kept, mut stderr) = (Arc::clone(&log), BufReader::new(process.stderr.take().unwrap()));
        std::thread::spawn(move || {
            let mut line = String::new();
            while stderr.read_line(&mut line).is_ok_and(|count| count > 0) {
                kept.lock().unwrap().push_str(&std::mem::take(&mut line));
            }
        });
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit("http://").next().unwrap().to_owned();
        assert!(address.contains(':'), "the hub did not start: {}", log.lock().unwrap());
        Self { address, process, log, dump: Mutex::new(dump) }
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        request(&self.address, "GET", path, &[("Accept", "text/html")], b"")
    }

    pub(crate) fn get_json(&self, path: &str) -> Answer {
        request(&self.address, "GET", path, &[("Accept", "application/json")], b"")
    }

    pub(crate) fn submit(&self, document: &Value, headers: &[(&str, &str)]) -> Answer {
        let headers = [&[("Content-Type", "application/json")], headers].concat();
        request(
            &self.address,
            "POST",
            "/api/v1/submissions",
            &headers,
            document.to_string().as_bytes(),
        )
    }

    /// The name and the token of `document`, submitted.
    pub(crate) fn submitted(&self, document: &Value) -> (String, String) {
        let answer = self.submit(document, &[]);
        assert_eq!(answer.status, 201, "{}", answer.text());
        let receipt = answer.json();
        (receipt["id"].as_str().unwrap().to_owned(), receipt["token"].as_str().unwrap().to_owned())
    }

    pub(crate) fn delete(&self, id: &str, token: &str) -> Answer {
        let bearer = format!("Bearer {token}");
        request(&self.address, "DELETE", &format!("/r/{id}"), &[("Authorization", &bearer)], b"")
    }

    /// The manifest, after the dump was brought up to date.
    pub(crate) fn manifest(&self) -> Value {
        let output = self.dump.lock().unwrap().output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        self.get_json("/data/manifest.json").json()
    }

    /// The dump's files of `table`, as the manifest has them, with what is in them.
    pub(crate) fn files(&self, table: &str) -> Vec<(Value, Vec<u8>)> {
        let manifest = self.manifest();
        let files = manifest["files"].as_array().unwrap().iter();
        let of_table = files.filter(|file| file["table"] == table);
        let with_content = of_table.map(|file| {
            let bytes = self.get(&format!("/data/{}", file["path"].as_str().unwrap())).body;
            assert_eq!(bytes.len() as u64, file["bytes"].as_u64().unwrap());
            assert_eq!(cardproof_hub::secret::hash_bytes(&bytes), file["sha256"].as_str().unwrap());
            (file.clone(), bytes)
        });
        with_content.collect()
    }

    /// The lines of the whole dump.
    pub(crate) fn dumped(&self) -> Vec<Value> {
        let files = self.files("documents");
        let lines = files.iter().flat_map(|(file, bytes)| {
            let mut text = String::new();
            flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
            assert_eq!(text.lines().count() as u64, file["rows"].as_u64().unwrap());
            text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
        });
        lines.collect()
    }

    pub(crate) fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// The log as soon as it has `word`, or all of it where nothing more can come.
    pub(crate) fn log_with(&self, word: &str) -> String {
        loop {
            let is_whole = Arc::strong_count(&self.log) == 1;
            let log = self.log();
            if is_whole || log.contains(word) {
                return log;
            }
            std::thread::yield_now();
        }
    }

    /// Asks the hub to stop, and waits until it has.
    pub(crate) fn stop(&mut self) -> std::process::ExitStatus {
        let pid = rustix::process::Pid::from_child(&self.process);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        self.process.wait().unwrap()
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// `number` as a hub keeps it, without a fraction where it is whole.
fn number(number: f64) -> Value {
    serde_json::from_str(&number.to_string()).unwrap()
}

/// A document of a card called `model`, with `iops` random writes a second.
pub(crate) fn document(model: &str, iops: f64) -> Value {
    let estimate = |rate: f64, error: [f64; 2]| {
        let [low, high] = error.map(|part| number(rate * part));
        json!({"estimate": number(rate), "low": low, "high": high, "confidence": 0.99})
    };
    let phase = |name: &str, op: &str, read_percent: u8, iops: f64| {
        json!({
            "name": name, "op": op, "pattern": "random", "read_percent": read_percent,
            "block_size_bytes": 4096, "span_offset_bytes": 0, "span_bytes": 1_073_741_824, "queue_depth": 1,
            "sync": "none", "state": "measured", "ops": 1000, "bytes": 4_096_000,
            "duration_ns": 1_000_000_000_u64,
            "iops": estimate(iops, [0.98, 1.02]),
            "throughput_bytes_per_s": estimate(iops * 4096.0, [0.98, 1.02]),
            "latency_ns": {"min": 1000, "mean": 2000, "p50": 2000, "p90": 3000, "p99": 4000, "p999": 5000,
                "max": 6000},
            "histogram": [{"up_to_ns": 2000, "ops": 500}, {"up_to_ns": 6000, "ops": 500}],
            "intervals": [], "warnings": [],
        })
    };
    json!({
        "schema": "cardproof.submission/1", "licence": "CC0-1.0",
        "record": {
            "schema": "cardproof.record/1", "id": "shared", "created": "2026-11-22T00:00:00Z",
            "tool": {"name": "cardproof", "version": "0.1.0"}, "seed": 0, "state": "complete",
            "conditions": {
                "target": {"kind": "block_device", "size_bytes": 32_000_000_000_u64, "logical_block_bytes": 512,
                    "engine": "io_uring", "direct": true, "read_only": false},
                "device": {"name": "mmcblk0", "model": model, "transport": "sd",
                    "size_bytes": 32_000_000_000_u64},
                "host": {"board": "Raspberry Pi 4 Model B Rev 1.4", "kernel": "6.6.31", "architecture": "aarch64"},
                "settings": {},
            },
            "profile": {"name": "standard", "version": 1, "time_budget_ns": 60_000_000_000_u64},
            "phases": [
                phase("random-write-4k-qd1", "write", 0, iops),
                phase("random-read-4k-qd1", "read", 100, 4.0 * iops),
            ],
            "bytes_written": 4_096_000, "bytes_read": 4_096_000,
        },
    })
}
