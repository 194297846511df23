//! Where the tools and the profiles run: a fresh ext4 on a device of known rates.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use cardproof_sim_serve::{ServeOptions, Server};
use cardproof_testkit::{Filesystem, Limits, LoopDevice, Mount, Throttle, run};
use cardproof_units::{Bytes, Seed};

use super::commands::Tools;

/// Large enough for a file of 1 GiB beside the file system's own needs.
const DEVICE: Bytes = Bytes::gib(2);

/// The simulated card: fast enough that a set ends in minutes.
const CARD: &str = "samsung-emmc";

/// The same card in every run.
const SEED: Seed = Seed::from_bits(5);

/// A kind of device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Lab {
    /// A loop device in memory that the kernel limits.
    Loop,
    /// A simulated card in real time.
    Card,
}

/// Where one run takes place.
pub(super) struct ToolTarget<'a> {
    /// A directory on a fresh file system.
    pub(super) directory: &'a Path,
    /// The device below it.
    pub(super) device: &'a Path,
    throttle: Option<&'a Throttle>,
}

impl ToolTarget<'_> {
    /// A command for `program` that meets the laboratory's limits.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        match self.throttle {
            Some(throttle) => throttle.command(program),
            None => Command::new(program),
        }
    }
}

impl Lab {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Loop => "loop",
            Self::Card => "card",
        }
    }

    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Loop => "Tools and profiles on a loop device limited by the kernel",
            Self::Card => "Tools and profiles on a simulated card (samsung-emmc) in real time",
        }
    }

    /// Does `job` in a fresh place of this kind.
    pub(super) fn with<T>(
        self,
        tools: &Tools,
        job: impl FnOnce(&ToolTarget<'_>) -> Result<T>,
    ) -> Result<T> {
        match self {
            Self::Loop => on_loop(tools, job),
            Self::Card => on_card(job),
        }
    }
}

fn on_loop<T>(tools: &Tools, job: impl FnOnce(&ToolTarget<'_>) -> Result<T>) -> Result<T> {
    let device = LoopDevice::new(DEVICE)?;
    Filesystem::Ext4.make(&device)?;
    let mount = Mount::new(&device, Filesystem::Ext4, "")?;
    let throttle = Throttle::new(&device, &limits(tools.reads_per_s))?;
    job(&ToolTarget { directory: mount.path(), device: device.path(), throttle: Some(&throttle) })
}

/// A card that reads 80 MB/s and writes half of that, as it does half as many writes as reads.
fn limits(reads_per_s: u32) -> Limits {
    Limits {
        read_iops: Some(reads_per_s),
        write_iops: Some(reads_per_s / 2),
        read_bytes: Some(Bytes(80_000_000)),
        write_bytes: Some(Bytes(40_000_000)),
    }
}

fn on_card<T>(job: impl FnOnce(&ToolTarget<'_>) -> Result<T>) -> Result<T> {
    let card = cardproof_sim::find(CARD)?;
    let directory = tempfile::tempdir()?;
    let options = ServeOptions {
        is_temporary: false,
        directory: directory.path().to_owned(),
        speed: 1.0,
        block_device: true,
        backing: None,
        log: None,
    };
    let mut server = Server::start(card, SEED, &options)?;
    let device = server.device().context("a device was asked for")?.to_owned();
    // Without what a new file system writes in its own time, and as small as serves the tools.
    let options = ["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"];
    let blocks = (DEVICE.get() >> 10).to_string() + "k";
    let words = options.iter().map(AsRef::as_ref);
    run("mkfs.ext4", words.chain([device.as_os_str(), blocks.as_ref()]))?;
    let mount = Mount::node(&device, Filesystem::Ext4, "")?;
    let result = job(&ToolTarget { directory: mount.path(), device: &device, throttle: None });
    drop(mount);
    server.stop()?;
    result
}
