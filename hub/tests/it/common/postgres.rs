//! PostgreSQL servers for tests: one that all tests share, and servers of their own for tests that kill, stop or
//! fill one. All are gone with the process that started them.
//!
//! `cargo xtask test` runs each test in a process of its own. It starts [`serves_the_queue`] beside them, so that
//! they share one server all the same.
//!
//! PostgreSQL refuses to run as root, so it runs as the system's user for it. A shell waits for the end of this
//! process and stops the server then, also after a kill.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// Makes a server's files, starts it whenever it is told to, and takes all away at the end.
const SCRIPT: &str = r#"
    end() { umount -l "$1" 2>/dev/null; rm -rf "$1"; }
    [ -z "$3" ] || mount -t tmpfs -o "size=$3" tmpfs "$1" || { end "$1"; exit 1; }
    chown postgres "$1"
    run() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
    run "$2/initdb" -D "$1/data" -A trust -U postgres --no-sync -E UTF8 --locale C >/dev/null || { end "$1"; exit 1; }
    echo made
    while read -r _; do
        wait
        run "$2/postgres" -D "$1/data" -k "$1" -c listen_addresses= -c fsync=on -c max_connections=200 \
            -c max_wal_size=64MB -c min_wal_size=32MB >>"$1/log" 2>&1 &
    done
    run "$2/pg_ctl" -D "$1/data" -m immediate stop >/dev/null 2>&1
    wait
    end "$1"
"#;

/// A server.
#[derive(Debug)]
pub(crate) struct Server {
    place: PathBuf,
    programs: PathBuf,
    databases: AtomicU32,
    orders: Mutex<Option<ChildStdin>>,
    /// None where another process started it.
    shell: Mutex<Option<Child>>,
}

/// Where the queue's server has its files, or `serve` for the test that is to be it.
const OF_THE_QUEUE: &str = "CARDPROOF_TEST_SERVER";

static SHARED: OnceLock<Result<Server, String>> = OnceLock::new();

/// The directory of PostgreSQL's programs, the newest.
fn programs() -> Result<PathBuf, String> {
    let missing =
        || "no PostgreSQL; `cargo xtask test` as root installs it (Debian: postgresql)".to_owned();
    let entries = std::fs::read_dir("/usr/lib/postgresql").map_err(|_| missing())?;
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path().join("bin")).collect();
    found.retain(|path| path.join("initdb").is_file());
    found.sort();
    found.pop().ok_or_else(missing)
}

impl Server {
    /// A server of its own; with a `size` such as `200m` all that it has lies in so much memory.
    pub(crate) fn start(size: Option<&str>) -> Result<Self, String> {
        let programs = programs()?;
        if !rustix::process::geteuid().is_root() {
            return Err("PostgreSQL is started as its own user, which takes root".to_owned());
        }
        let place = tempfile::Builder::new().prefix("cardproof-pg-").tempdir().unwrap().keep();
        let mut shell = Command::new("sh")
            .args(["-c", SCRIPT, "sh"])
            .arg(&place)
            .arg(&programs)
            .arg(size.unwrap_or_default())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut line = String::new();
        let stdout = shell.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stdout), &mut line).unwrap();
        if line.trim() != "made" {
            return Err("no database cluster can be made here".to_owned());
        }
        let orders = Mutex::new(shell.stdin.take());
        let databases = AtomicU32::new(0);
        let server = Self { place, programs, databases, orders, shell: Mutex::new(Some(shell)) };
        server.run();
        Ok(server)
    }

    /// The one that another process keeps in `place`.
    fn at(place: PathBuf) -> Result<Self, String> {
        let databases = AtomicU32::new(0);
        let (orders, shell) = (Mutex::new(None), Mutex::new(None));
        Ok(Self { place, programs: programs()?, databases, orders, shell })
    }

    /// Starts the server, or starts it again; returns when it answers.
    pub(crate) fn run(&self) {
        writeln!(self.orders.lock().unwrap().as_mut().unwrap(), "run").unwrap();
        for _ in 0..600 {
            if self.psql("postgres", "SELECT 1").is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let log = std::fs::read_to_string(self.place.join("log")).unwrap_or_default();
        panic!("PostgreSQL did not start within 30 s: {log}");
    }

    /// Sends `signal` to every process of the server, the first of them first.
    pub(crate) fn signal(&self, signal: Signal) {
        for pid in self.processes() {
            // One that has ended by itself needs no signal.
            let _ = kill_process(Pid::from_raw(pid).unwrap(), signal);
        }
    }

    /// Kills every process of the server and waits until none is left.
    pub(crate) fn kill(&self) {
        let all = self.processes();
        self.signal(Signal::KILL);
        let is_there = |pid: &i32| {
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !matches!(
                state.rsplit(") ").next().and_then(|rest| rest.chars().next()),
                None | Some('Z')
            )
        };
        while all.iter().any(is_there) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// The server's processes, its first one first; none where it does not run.
    fn processes(&self) -> Vec<i32> {
        let file = std::fs::read_to_string(self.place.join("data/postmaster.pid"));
        let first = file.ok().and_then(|text| text.lines().next()?.trim().parse::<i32>().ok());
        let Some(first) = first else { return Vec::new() };
        let children = std::fs::read_to_string(format!("/proc/{first}/task/{first}/children"));
        let of_first = children.unwrap_or_default();
        std::iter::once(first)
            .chain(of_first.split_whitespace().filter_map(|pid| pid.parse().ok()))
            .collect()
    }

    /// The directory of everything that the server has.
    pub(crate) fn place(&self) -> &Path {
        &self.place
    }

    fn psql(&self, database: &str, text: &str) -> Result<String, String> {
        let output = Command::new(self.programs.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-U", "postgres", "-d", database, "-c", text, "-h"])
            .arg(&self.place)
            .output()
            .map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            Err(String::from_utf8_lossy(&output.stderr).into_owned())
        }
    }

    /// The address of a fresh, empty database.
    pub(crate) fn fresh_database(&self) -> Result<String, String> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("hub{}_{number}", std::process::id());
        self.psql("postgres", &format!("CREATE DATABASE {name}"))?;
        // As README has it for a socket.
        let directory = self.place.display().to_string().replace('/', "%2F");
        Ok(format!("postgres://postgres@{directory}/{name}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(mut shell) = self.shell.lock().unwrap().take() else { return };
        // A stopped process cannot end.
        self.signal(Signal::CONT);
        drop(self.orders.lock().unwrap().take());
        let _ = shell.wait();
    }
}

/// Waits until `happened`, which takes a minute at most.
pub(crate) fn wait_until(happened: impl Fn() -> bool) {
    for _ in 0..6000 {
        if happened() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("nothing happened within a minute");
}

/// The server that tests share.
fn shared() -> Result<&'static Server, String> {
    SHARED
        .get_or_init(|| match std::env::var_os(OF_THE_QUEUE) {
            Some(place) => Server::at(place.into()),
            None => Server::start(None),
        })
        .as_ref()
        .map_err(Clone::clone)
}

/// The server of the queue; a test of its own has nothing to do.
#[test]
fn serves_the_queue() {
    if std::env::var(OF_THE_QUEUE).as_deref() != Ok("serve") {
        return;
    }
    let Ok(server) = Server::start(None) else { return };
    println!("\nready: {}", server.place.display());
    // It ends when the queue does.
    let _ = std::io::stdin().read(&mut [0]);
}

/// The address of a fresh, empty database on the shared server; an error only where there can be no server. One
/// that has gone fails the test, which would otherwise be left out.
pub(crate) fn fresh_database() -> Result<String, String> {
    let server = shared()?;
    let made = server.fresh_database();
    Ok(made.unwrap_or_else(|error| {
        panic!("the server at {} is gone: {error}", server.place.display())
    }))
}

/// The name of the database at `url`.
fn name(url: &str) -> &str {
    url.rsplit('/').next().unwrap()
}

/// What `text` returns in the database at `url` of the shared server.
pub(crate) fn ask(url: &str, text: &str) -> String {
    shared().unwrap().psql(name(url), text).unwrap()
}

/// Everything in the database at `url` of the shared server, as text; documents as they were before they were
/// packed are not in it.
pub(crate) fn dump(url: &str) -> Vec<u8> {
    let server = shared().unwrap();
    let output = Command::new(server.programs.join("pg_dump"))
        .args(["-U", "postgres", "-d", name(url), "-h"])
        .arg(&server.place)
        .output()
        .unwrap();
    assert!(output.status.success());
    output.stdout
}
