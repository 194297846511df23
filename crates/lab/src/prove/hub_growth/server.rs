//! A PostgreSQL cluster of its own, run by the system's user for it, that ends with this process.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use cardproof_testkit::run;

use super::text_of;

/// Stops the server when its standard input ends, also when this process is killed.
const GUARD: &str = r#"read -r _; setpriv --reuid postgres --regid postgres --clear-groups \
    "$1/pg_ctl" -D "$2/data" -m fast -w -t 300 stop >/dev/null"#;

/// What a hub's operator is told to set; durability is as PostgreSQL has it by itself.
const RECOMMENDED: &str = include_str!("../../../../../hub/deploy/postgresql.conf");

/// What a server is started for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settings {
    /// To be filled: nothing that is lost with the power matters.
    Fill,
    /// To be measured: as [`RECOMMENDED`].
    Serve,
}

impl Settings {
    fn options(self) -> String {
        match self {
            Self::Fill => {
                "-c fsync=off -c wal_level=minimal -c max_wal_senders=0 -c shared_buffers=1GB \
                           -c max_wal_size=4GB -c autovacuum=off"
                    .to_owned()
            }
            Self::Serve => {
                let lines = RECOMMENDED.lines().filter(|line| line.contains(" = "));
                let settings = lines.filter(|line| !line.starts_with('#'));
                settings.map(|line| format!("-c {} ", line.replace(' ', ""))).collect()
            }
        }
    }
}

/// A cluster that does not run.
#[derive(Debug)]
pub(super) struct Server {
    place: PathBuf,
    programs: PathBuf,
}

/// A cluster that runs.
#[derive(Debug)]
pub(super) struct Running<'s> {
    server: &'s Server,
    guard: Child,
}

impl Server {
    /// The cluster in `place`, which is made where there is none.
    pub(super) fn new(place: &Path) -> Result<Self> {
        let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
            .context("no PostgreSQL; `cargo xtask test` as root installs it")?
            .flatten()
            .map(|entry| entry.path().join("bin"))
            .filter(|path| path.join("initdb").is_file())
            .collect();
        found.sort();
        let programs = found.pop().context("no PostgreSQL (Debian: postgresql)")?;
        let server = Self { place: place.to_owned(), programs };
        run("chown", ["postgres", text_of(place)?])?;
        run("chmod", ["755", text_of(place)?])?;
        if !place.join("data").is_dir() {
            server
                .own("initdb", &["-A", "trust", "-U", "postgres", "-E", "UTF8", "--locale", "C"])?;
        }
        Ok(server)
    }

    /// Runs a program of PostgreSQL's on the cluster.
    fn own(&self, program: &str, arguments: &[&str]) -> Result<()> {
        let status = Command::new("setpriv")
            .args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups"])
            .arg(self.programs.join(program))
            .arg("-D")
            .arg(self.place.join("data"))
            .args(arguments)
            .stdout(Stdio::null())
            .status()?;
        ensure!(status.success(), "{program} failed; see {}", self.place.join("log").display());
        Ok(())
    }

    /// Starts it; it stops when the value is dropped.
    pub(super) fn start(&self, settings: Settings) -> Result<Running<'_>> {
        let place = text_of(&self.place)?;
        let options = format!("-k {place} -c listen_addresses= {}", settings.options());
        let log = format!("{place}/log");
        self.own("pg_ctl", &["-l", &log, "-w", "-t", "300", "-o", &options, "start"])?;
        let guard = Command::new("sh")
            .args(["-c", GUARD, "sh"])
            .arg(&self.programs)
            .arg(&self.place)
            .stdin(Stdio::piped())
            .spawn()?;
        Ok(Running { server: self, guard })
    }
}

impl Running<'_> {
    /// The address of the database `name`.
    pub(super) fn url(&self, name: &str) -> String {
        format!("postgres://postgres@localhost/{name}?host={}", self.server.place.display())
    }

    /// Makes the database `name` afresh.
    pub(super) fn fresh_database(&self, name: &str) -> Result<()> {
        self.ask("postgres", &format!("DROP DATABASE IF EXISTS {name}"))?;
        self.ask("postgres", &format!("CREATE DATABASE {name}"))?;
        Ok(())
    }

    /// Whether there is a database `name`.
    pub(super) fn has(&self, name: &str) -> Result<bool> {
        let text = format!("SELECT COUNT(*) FROM pg_database WHERE datname = '{name}'");
        Ok(self.ask("postgres", &text)?.trim() == "1")
    }

    /// What `text` answers in the database `name`.
    pub(super) fn ask(&self, name: &str, text: &str) -> Result<String> {
        let psql = text_of(&self.server.programs)?.to_owned() + "/psql";
        let url = self.url(name);
        let options = ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"];
        let told = ["-d", &url, "-c", text];
        Ok(run(&psql, options.iter().chain(&told))?)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}
