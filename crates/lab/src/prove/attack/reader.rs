//! A card reader: one block device in which cards are plugged one after the other.
//!
//! A card is a file in memory. All cards come up under the same name and, where they are of one size,
//! with the same identity, as in a real reader.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use cardproof_testkit::{Noise, run};
use tempfile::{NamedTempFile, TempDir};

/// A card: its bytes, and what they were.
#[derive(Debug)]
pub(super) struct Card {
    image: NamedTempFile,
    before: Vec<u8>,
}

impl Card {
    /// A card in `directory` that holds `bytes`.
    pub(super) fn new(directory: &Path, bytes: Vec<u8>) -> Result<Self> {
        let image = NamedTempFile::new_in(directory)?;
        image.as_file().write_all_at(&bytes, 0)?;
        Ok(Self { image, before: bytes })
    }

    pub(super) fn path(&self) -> &Path {
        self.image.path()
    }

    /// How many of its sectors are not as they were.
    pub(super) fn changed_sectors(&self) -> Result<usize> {
        let now = fs::read(self.path())?;
        if now.len() != self.before.len() {
            return Ok(usize::MAX);
        }
        Ok(now.chunks(512).zip(self.before.chunks(512)).filter(|(now, old)| now != old).count())
    }
}

/// A directory in memory for cards.
pub(super) fn memory() -> Result<TempDir> {
    let shared = Path::new("/dev/shm");
    Ok(if shared.is_dir() { tempfile::tempdir_in(shared)? } else { tempfile::tempdir()? })
}

/// Noise as the data of a card.
pub(super) fn noise(bytes: usize, noise: &mut Noise) -> Vec<u8> {
    let mut data = vec![0; bytes];
    noise.fill(&mut data);
    data
}

/// The most attempts to plug a card in, at ten a second.
const ATTACH_TRIES: u32 = 100;

/// The reader: a loop device by its name.
#[derive(Debug)]
pub(super) struct Reader {
    node: PathBuf,
}

/// A card that is plugged in, until this is dropped.
#[derive(Debug)]
pub(super) struct Plugged<'reader> {
    reader: &'reader Reader,
    /// What keeps the card in: detaching waits until nobody has the device open, so that the card goes
    /// with this process too.
    held: Option<File>,
}

impl Reader {
    /// A reader that nobody else uses.
    pub(super) fn new() -> Result<Self> {
        // A node of a high number is not found by those who look for a free one, and another run of the
        // attacks begins at another number.
        let start = 200 + std::process::id() % 1000;
        for number in start..start + 50 {
            let node = PathBuf::from(format!("/dev/loop{number}"));
            if !node.exists() {
                run("mknod", [&node.to_string_lossy(), "b", "7", &number.to_string()])?;
            }
            if !Path::new(&format!("/sys/block/loop{number}/loop/backing_file")).exists() {
                return Ok(Self { node });
            }
        }
        anyhow::bail!("no free loop device from {start} on")
    }

    pub(super) fn node(&self) -> &Path {
        &self.node
    }

    /// The identity of a card of so many bytes in this reader.
    pub(super) fn identity(&self, bytes: usize) -> String {
        let name = self.node.file_name().unwrap_or_default().to_string_lossy();
        format!("{name}:{bytes}")
    }

    /// How many sectors have been written to cards in this reader.
    pub(super) fn written_sectors(&self) -> Result<u64> {
        let name = self.node.file_name().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(format!("/sys/block/{name}/stat"))?;
        let field = text.split_whitespace().nth(6).context("no such counter")?;
        Ok(field.parse()?)
    }

    /// Plugs `card` in.
    pub(super) fn plug(&self, card: &Card) -> Result<Plugged<'_>> {
        self.attach(card).context("a card cannot be plugged in")?;
        let held = File::open(&self.node)?;
        run("losetup", ["--detach".as_ref(), self.node.as_os_str()])?;
        Ok(Plugged { reader: self, held: Some(held) })
    }

    /// Attaches `card`. The kernel still calls the device busy for a moment after the card before has gone.
    fn attach(&self, card: &Card) -> Result<()> {
        let words = ["--direct-io=on".as_ref(), self.node.as_os_str(), card.path().as_os_str()];
        let mut tries_left = ATTACH_TRIES;
        loop {
            tries_left -= 1;
            match run("losetup", words) {
                Err(_) if tries_left > 0 => std::thread::sleep(Duration::from_millis(100)),
                attached => return Ok(attached.map(drop)?),
            }
        }
    }
}

impl Drop for Plugged<'_> {
    fn drop(&mut self) {
        // What is still on its way to the card gets there, as with a card that is taken out with care.
        if let Ok(node) = OpenOptions::new().write(true).open(self.reader.node()) {
            let _ = node.sync_all();
        }
        self.held = None;
        for _ in 0..500 {
            let name = self.reader.node.file_name().unwrap_or_default().to_string_lossy();
            if !Path::new(&format!("/sys/block/{name}/loop/backing_file")).exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
