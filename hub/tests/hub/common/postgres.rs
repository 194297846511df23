//! A PostgreSQL server for the tests of one process: started when first asked for, gone with the process.
//!
//! PostgreSQL refuses to run as root, so it runs as the system's user for it. A shell waits for the end of this
//! process and stops the server then, also after a kill.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

struct Server {
    socket: PathBuf,
    programs: PathBuf,
    _shell: Child,
}

static SERVER: OnceLock<Result<Server, String>> = OnceLock::new();

static DATABASES: AtomicU32 = AtomicU32::new(0);

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

fn start() -> Result<Server, String> {
    let programs = programs()?;
    if !rustix::process::geteuid().is_root() {
        return Err("PostgreSQL is started as its own user, which takes root".to_owned());
    }
    let place = tempfile::Builder::new().prefix("cardproof-pg-").tempdir().unwrap().keep();
    let script = r#"
        chown postgres "$1"
        run() { setpriv --reuid postgres --regid postgres --clear-groups "$@"; }
        run "$2/initdb" -D "$1/data" -A trust -U postgres --no-sync -E UTF8 --locale C >/dev/null || exit 1
        run "$2/postgres" -D "$1/data" -k "$1" -c listen_addresses= -c fsync=on -c max_connections=200 \
            >"$1/log" 2>&1 &
        echo started
        read -r _
        run "$2/pg_ctl" -D "$1/data" -m immediate stop >/dev/null
        rm -rf "$1"
    "#;
    let mut shell = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(&place)
        .arg(&programs)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(shell.stdout.take().unwrap()),
        &mut line,
    )
    .unwrap();
    if line.trim() != "started" {
        return Err("initdb failed".to_owned());
    }
    let server = Server { socket: place, programs, _shell: shell };
    for _ in 0..300 {
        if psql(&server, "postgres", "SELECT 1").is_ok() {
            return Ok(server);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Err("PostgreSQL did not start within 30 s".to_owned())
}

fn server() -> Result<&'static Server, String> {
    SERVER.get_or_init(start).as_ref().map_err(Clone::clone)
}

fn psql(server: &Server, database: &str, text: &str) -> Result<String, String> {
    let output = Command::new(server.programs.join("psql"))
        .args(["-X", "-q", "-A", "-t", "-U", "postgres", "-d", database, "-c", text, "-h"])
        .arg(&server.socket)
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// The address of a fresh, empty database.
pub(crate) fn fresh_database() -> Result<String, String> {
    let server = server()?;
    let name = format!("hub{}", DATABASES.fetch_add(1, Ordering::Relaxed));
    psql(server, "postgres", &format!("CREATE DATABASE {name}"))?;
    Ok(format!("postgres://postgres@localhost/{name}?host={}", server.socket.display()))
}

/// The name of the database at `url`.
fn name(url: &str) -> &str {
    url.split("localhost/").nth(1).unwrap().split('?').next().unwrap()
}

/// What `text` returns in the database at `url`.
pub(crate) fn ask(url: &str, text: &str) -> String {
    psql(server().unwrap(), name(url), text).unwrap()
}

/// Everything in the database at `url`, as text; documents as they were before they were packed are not in it.
pub(crate) fn dump(url: &str) -> Vec<u8> {
    let server = server().unwrap();
    let output = Command::new(server.programs.join("pg_dump"))
        .args(["-U", "postgres", "-d", name(url), "-h"])
        .arg(&server.socket)
        .output()
        .unwrap();
    assert!(output.status.success());
    output.stdout
}
