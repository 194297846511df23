//! Attacks on whoever has the card in the reader when the card that is worn out has gone.
//!
//! `endure` has leave to destroy one card. That card vanishes at a random moment, often before its first
//! piece is written, and another one of equal name and size takes its place.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use cardproof_testkit::Noise;

use super::Lab;
use super::reader::{Card, Reader, memory, noise as noise_of};

const SIZE: usize = 8 << 20;

/// How long the program waits for its card, in seconds, and we for the program.
const PATIENCE: (u64, Duration) = (4, Duration::from_secs(120));

/// The card of an endurance test goes, and another one comes.
pub(super) fn another_card(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let memory = memory()?;
    let home = tempfile::tempdir()?;
    let own = Card::new(memory.path(), noise_of(SIZE, noise))?;
    let other = match noise.below(3) {
        0 => vec![0; SIZE],
        // A card on which cardproof's marks might be: a clone of what the first one holds by then.
        _ => noise_of(SIZE, noise),
    };
    let other = Card::new(memory.path(), other)?;
    let reader = Reader::new()?;
    // Few requests come before the first piece is done.
    let within = [3, 40, 400][noise.below(3) as usize];
    let when = 1 + noise.below(within);
    let calls = ["pread64", "pwrite64"][noise.below(2) as usize];
    let plugged = reader.plug(&own)?;
    let mut command = Command::new("strace");
    let calls_made = home.path().join("calls");
    command.args(["--follow-forks", "--quiet=all"]).arg("--output").arg(&calls_made);
    command.arg(format!("--inject={calls}:error=ENODEV:when={when}"));
    command.arg("--trace-path").arg(reader.node()).arg(&lab.program);
    command.arg("endure").arg(reader.node()).args(["--quiet", "--engine", "psync"]);
    command.arg(format!("--destroy={}", reader.identity(SIZE)));
    command.args(["--cycles", "6", "--patience", &format!("{}s", PATIENCE.0)]);
    command.env("XDG_DATA_HOME", home.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().context("cannot start strace")?;
    let start = Instant::now();
    // Until the card has vanished and the program has let go of it, or has ended. It looks at the card once before it
    // opens it for the test: a card that comes then is its own.
    while child.try_wait()?.is_none() {
        if has_vanished(&calls_made) && !is_open(child.id(), reader.node()) {
            break;
        }
        if start.elapsed() > PATIENCE.1 {
            let _ = child.kill();
            bail!("endure did not end in {:?}", PATIENCE.1);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    drop(plugged);
    let _other_plugged = reader.plug(&other)?;
    while child.try_wait()?.is_none() {
        if start.elapsed() > PATIENCE.1 {
            let _ = child.kill();
            bail!("endure did not end in {:?}", PATIENCE.1);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let changed = other.changed_sectors()?;
    Ok((changed > 0).then(|| {
        format!("{changed} sectors of the other card are overwritten; {calls} number {when} failed")
    }))
}

/// Whether a call has failed, by what strace notes of those that it makes fail.
fn has_vanished(calls: &Path) -> bool {
    std::fs::read_to_string(calls).is_ok_and(|calls| calls.contains("(INJECTED)"))
}

/// Whether a descendant of `process` has `node` open.
fn is_open(process: u32, node: &Path) -> bool {
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.unwrap_or_default();
    let children = children.split_whitespace().filter_map(|number| number.parse().ok());
    for process in children.chain([process]) {
        let Ok(descriptors) = std::fs::read_dir(format!("/proc/{process}/fd")) else { continue };
        let mut links = descriptors.flatten().filter_map(|it| std::fs::read_link(it.path()).ok());
        if links.any(|link| link == node) {
            return true;
        }
    }
    false
}
