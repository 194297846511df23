//! A simulated card that the program serves as a block device.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use cardproof_testkit::{LabError, require_root};

use crate::home::Home;

/// A card that is served until it is dropped.
pub(crate) struct Served {
    pub(crate) device: PathBuf,
    server: Child,
    _home: Home,
}

impl Served {
    /// The card called `card`, or that the file `card` describes, in a `home` of its own and with further `options`.
    pub(crate) fn new(home: Home, card: &str, options: &[&str]) -> Result<Self, LabError> {
        require_root()?;
        let mut command = home.cardproof(&["sim", "serve", card, "--quiet"]);
        command.args(options).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut server = command.spawn().unwrap();
        let lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let device = lines.map_while(Result::ok).find(|line| line.starts_with("/dev/loop"));
        let Some(device) = device else {
            let _ = server.wait();
            return Err(LabError::Unavailable("no card can be served here".to_owned()));
        };
        Ok(Self { device: device.into(), server, _home: home })
    }

    /// What the kernel calls the device.
    pub(crate) fn name(&self) -> &str {
        self.device.file_name().unwrap().to_str().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // Two signals end it even while the card is in use; it may have ended by itself.
        let pid = rustix::process::Pid::from_child(&self.server);
        for _ in 0..2 {
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::INT);
        }
        let _ = self.server.wait();
    }
}
