//! A simulated card that `cardproof sim serve` serves as a block device, for tools that know only those.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

/// The card while it is served. It is taken down when dropped.
#[derive(Debug)]
pub(super) struct Served {
    server: Child,
    device: PathBuf,
}

impl Served {
    /// Serves `card`, a name or a file, by `program`, `speed` times as fast as the card; `seed` decides
    /// its random behaviour.
    pub(super) fn start(program: &Path, card: &Path, speed: &str, seed: &str) -> Result<Self> {
        Self::with(program, card, &["--speed", speed, "--seed", seed])
    }

    /// Serves `card` with these `options`.
    pub(super) fn with(program: &Path, card: &Path, options: &[&str]) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["sim", "serve"]).arg(card).args(options);
        command.stdout(Stdio::piped()).stderr(Stdio::null());
        let server = command.spawn().context("cannot start cardproof sim serve")?;
        let mut served = Self { server, device: PathBuf::new() };
        let lines = BufReader::new(served.server.stdout.take().context("no output")?).lines();
        // The first names the file.
        let device = lines.take(2).last().context("cardproof sim serve says nothing")??;
        ensure!(device.starts_with("/dev/"), "cardproof sim serve gives no block device");
        served.device = PathBuf::from(device);
        Ok(served)
    }

    /// The block device.
    pub(super) fn device(&self) -> &Path {
        &self.device
    }

    /// Takes the card down.
    pub(super) fn stop(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        if self.server.try_wait()?.is_some() {
            return Ok(());
        }
        let id = self.server.id().to_string();
        Command::new("kill").args(["-INT", &id]).status().context("cannot start kill")?;
        self.server.wait()?;
        Ok(())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended already is no fault.
        let _ = self.end();
    }
}
