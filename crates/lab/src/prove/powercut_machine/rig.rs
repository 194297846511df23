//! A served card, its file system, and a witness, around the machine that is killed.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use cardproof_testkit::{Filesystem, LabError, Mount, run};
use serde_json::Value;
use tempfile::TempDir;

use super::CARD_SIZE;

/// What machine and witness share.
pub(super) const SECRET: &str = "a secret of more than 16 bytes";

/// How long a thawed machine may take until it has written enough.
const WRITES_WITHIN: Duration = Duration::from_secs(120);

/// What all cuts so far have done.
#[derive(Clone, Debug, Default)]
pub(super) struct Verdict {
    pub(super) cuts: u64,
    pub(super) effective_cuts: u64,
    pub(super) harmful_cuts: u64,
    pub(super) findings: String,
    pub(super) bound: f64,
}

/// A process that is killed when this goes.
struct Process(Child);

impl Process {
    fn kill(&mut self) {
        // What has ended cannot be killed.
        let _ = self.0.kill();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        let _ = self.0.wait();
    }
}

/// The rig.
pub(super) struct Rig {
    program: PathBuf,
    directory: TempDir,
    witness: (Process, String),
    server: Option<(Process, PathBuf)>,
    /// There is a file system on the card.
    has_filesystem: bool,
}

impl Rig {
    /// A card whose table `[power]` holds `power`, and a witness.
    pub(super) fn new(program: &Path, power: &str) -> Result<Self> {
        let directory = tempfile::tempdir()?;
        let path = |name: &str| directory.path().join(name);
        fs::write(
            path("card.toml"),
            format!("size = \"{}\"\n[power]\n{power}\n", CARD_SIZE.get()),
        )?;
        fs::write(path("secret"), format!("{SECRET}\n"))?;
        let mut command = Command::new(program);
        command.args(["powercut", "witness", "--listen", "127.0.0.1:0"]);
        command.arg("--secret-file").arg(path("secret")).arg("--journal").arg(path("journal"));
        let (witness, lines) = lines_of(&mut command, 1)?;
        let address = lines.into_iter().next().context("the witness does not listen")?;
        Ok(Self {
            program: program.to_owned(),
            directory,
            witness: (witness, address),
            server: None,
            has_filesystem: false,
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// The served card's block device.
    pub(super) fn device(&self) -> Result<&Path> {
        self.server.as_ref().map(|(_, device)| &**device).context("no card is served")
    }

    /// Serves the card, and makes a file system on it where there is none.
    pub(super) fn prepare(&mut self, application: &str, seed: u64) -> Result<()> {
        self.serve()?;
        if !self.has_filesystem {
            run("mkfs.ext4", ["-q", "-F", &self.device()?.display().to_string()])?;
            self.has_filesystem = true;
        }
        let port = self.witness.1.rsplit(':').next().unwrap_or_default();
        let wish = format!("app={application} seed={seed} witness=10.0.2.2:{port}\n");
        fs::write(self.mount()?.path().join("wish"), wish)?;
        // The file system itself is kept also by a card that ignores flushes: it ends in order.
        self.end_in_order()?;
        self.serve()
    }

    fn end_in_order(&mut self) -> Result<()> {
        let (mut server, _) = self.server.take().context("no card is served")?;
        run("kill", ["-INT", &server.0.id().to_string()])?;
        ensure!(server.0.wait()?.success(), "the server of the card did not end in order");
        Ok(())
    }

    fn serve(&mut self) -> Result<()> {
        if self.server.is_some() {
            return Ok(());
        }
        let mut command = Command::new(&self.program);
        command.args(["sim", "serve"]).arg(self.path("card.toml"));
        command.arg("--backing").arg(self.path("backing")).args(["--speed", "100", "--quiet"]);
        let (server, lines) = lines_of(&mut command, 2)?;
        let [_, device] = &lines[..] else {
            return Err(LabError::Unavailable("no block device can be served".to_owned()).into());
        };
        self.server = Some((server, PathBuf::from(device)));
        Ok(())
    }

    /// Kills the card and `machine` together, `pause` after so many records were acknowledged.
    pub(super) fn kill_after(
        &mut self,
        records: u64,
        pause: Duration,
        machine: Child,
        said: impl Fn() -> String,
    ) -> Result<()> {
        let mut machine = Process(machine);
        let begun = Instant::now();
        while self.acknowledged() < records {
            ensure!(begun.elapsed() < WRITES_WITHIN, "the machine writes nothing: {}", said());
            if machine.0.try_wait()?.is_some() {
                bail!("the machine has ended: {}", said());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        std::thread::sleep(pause);
        let (mut server, _) = self.server.take().context("no card is served")?;
        server.kill();
        machine.kill();
        Ok(())
    }

    /// The last record that was acknowledged since the last cut was judged.
    fn acknowledged(&self) -> u64 {
        let journal = fs::read_to_string(self.path("journal")).unwrap_or_default();
        let since = journal.rsplit("result ").next().unwrap_or_default();
        let numbers = since.lines().filter_map(|line| line.strip_prefix("durable ")?.parse().ok());
        numbers.max().unwrap_or(0)
    }

    /// Serves the card again, mounts what is on it, and judges the records.
    pub(super) fn judge(&mut self) -> Result<Verdict> {
        self.serve()?;
        let Ok(mount) = self.mount() else {
            // The file system did not survive.
            self.has_filesystem = false;
            return self.check(&self.path("no file system"), true);
        };
        let is_gone = !mount.path().join("cardproof-powercut.app").exists();
        self.check(mount.path(), is_gone)
    }

    /// The card's file system.
    fn mount(&self) -> Result<Mount> {
        Ok(Mount::node(self.device()?, Filesystem::Ext4, "")?)
    }

    fn check(&self, target: &Path, is_gone: bool) -> Result<Verdict> {
        let mut command = Command::new(&self.program);
        command.args(["powercut", "check"]).arg(target).args(["--witness", &self.witness.1]);
        command.arg("--secret-file").arg(self.path("secret")).args(["--json", "-"]);
        command.args(is_gone.then_some("--gone")).env("XDG_DATA_HOME", self.path("data"));
        let output = command.output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        let found: Value = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("the check says: {said}"))?;
        let number = |key: &str| found[key].as_u64().unwrap_or(0);
        let kinds = found["findings"].as_object().into_iter().flatten();
        let kinds = kinds.filter(|(_, count)| count.as_u64() != Some(0));
        let kinds: Vec<String> = kinds.map(|(kind, count)| format!("{kind}: {count}")).collect();
        Ok(Verdict {
            cuts: number("cuts"),
            effective_cuts: number("effective_cuts"),
            harmful_cuts: number("harmful_cuts"),
            findings: kinds.join(", "),
            bound: found["bound"].as_f64().unwrap_or(1.0),
        })
    }
}

/// Starts `command` and waits for its first lines.
fn lines_of(command: &mut Command, count: usize) -> Result<(Process, Vec<String>)> {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut process = Process(child.context("cannot start cardproof")?);
    let output = process.0.stdout.take().context("no output")?;
    let lines = BufReader::new(output).lines().take(count).collect::<std::io::Result<_>>()?;
    Ok((process, lines))
}
