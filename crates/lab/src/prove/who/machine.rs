//! The machine: a Debian with systemd on a disk of its own, and the programs that write there.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use cardproof_testkit::{LabError, run};

use super::truth::Layout;
use crate::debian::Debian;
use crate::virtual_machine::{Image, Kernel, Machine};

/// The system in the machine.
pub(super) const DEBIAN: Debian = Debian { suite: "bookworm", architecture: "amd64" };

/// Debian packages that are installed in it; apt is always there.
const PACKAGES: &str = "passwd,rsyslog,sqlite3,systemd,systemd-sysv";

/// Drivers of the disks, and the file systems.
const MODULES: &[&str] = &["virtio_pci", "virtio_blk", "crc32c_generic", "ext4", "f2fs", "overlay"];

/// What makes file systems.
const MAKERS: [&str; 2] = ["/sbin/mke2fs", "/sbin/mkfs.f2fs"];

const INIT: &str = include_str!("init.sh");
const SERVICES: &str = include_str!("services.sh");
const PROGRAMS: &str = include_str!("programs.sh");

/// The disk under test and its two partitions, in sectors of 512 bytes.
const DISK_SECTORS: u32 = 2304 << 11;
const SWAP: [u32; 2] = [1 << 11, 256 << 11];
const FILESYSTEM: [u32; 2] = [SWAP[0] + SWAP[1], DISK_SECTORS - SWAP[0] - SWAP[1]];

/// Room for what is handed over.
const ANSWER_BYTES: u64 = 256 << 20;

/// How long a machine may take.
const TIME_MAX: Duration = Duration::from_secs(1800);

/// One watch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) filesystem: &'static str,
    /// Whether systemd is told to count what each service does to storage, which is not its default.
    pub(super) has_accounting: bool,
    /// How long the programs write before the watch, so that what was written first has reached the disk.
    pub(super) warm_s: u32,
    pub(super) watch_s: u32,
}

/// What was handed over.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) who: String,
    pub(super) trace: String,
    pub(super) before: String,
    pub(super) after: String,
    /// What the rings of events lost; nothing, else there is no truth.
    pub(super) statistics: String,
}

/// Where things are.
pub(super) const LAYOUT: Layout =
    Layout { swap_start: SWAP[0] as u64, filesystem_start: FILESYSTEM[0] as u64 };

/// Boots a machine with `program`, and returns what it handed over.
///
/// # Errors
/// [`LabError::Unavailable`] where a tool is missing; else what went wrong in the machine.
pub(super) fn watch(
    kernel: &Kernel,
    root: &Path,
    program: &Path,
    setting: Setting,
) -> Result<Answer> {
    let image = image(kernel, program, setting)?;
    let directory = tempfile::tempdir()?;
    let [disk, answer] = ["disk", "answer"].map(|name| directory.path().join(name));
    make_disk(&disk)?;
    File::create(&answer)?.set_len(ANSWER_BYTES)?;
    let drives = [(&*disk, "cache=unsafe"), (root, "readonly=on"), (&*answer, "cache=unsafe")];
    let devices = drives.into_iter().enumerate().flat_map(|(number, (file, more))| {
        let drive = format!("if=none,id=d{number},format=raw,{more},file={}", file.display());
        let device = format!("virtio-blk-pci,drive=d{number}");
        ["-drive".to_owned(), drive, "-device".to_owned(), device]
    });
    let devices = devices.collect();
    Machine { kernel, image: &image, memory_mib: 1024, devices, time_max: TIME_MAX }.run()?;
    Answer::read(&answer, directory.path())
}

/// The Debian as a tar file in `cache`; made first where there is none.
///
/// # Errors
/// As [`Debian::root_with`].
pub(super) fn root(cache: &Path) -> Result<std::path::PathBuf> {
    DEBIAN.root_with(cache, "systemd", PACKAGES)
}

fn image(kernel: &Kernel, program: &Path, setting: Setting) -> Result<Image> {
    let image = Image::starting(INIT)?;
    image.add_modules(&kernel.modules(MODULES)?)?;
    image.add_stripped(program)?;
    for maker in MAKERS.map(Path::new) {
        if !maker.is_file() {
            return Err(
                LabError::Unavailable(format!("{} is missing here", maker.display())).into()
            );
        }
        image.add_program(maker)?;
    }
    let Setting { filesystem, has_accounting, warm_s, watch_s } = setting;
    let accounting = if has_accounting { "yes" } else { "default" };
    let settings = format!(
        "FILESYSTEM={filesystem}\nACCOUNTING={accounting}\nWARM={warm_s}\nWATCH={watch_s}s\n"
    );
    for (name, text) in
        [("settings", &*settings), ("services.sh", SERVICES), ("programs.sh", PROGRAMS)]
    {
        image.write(&format!("who/{name}"), text)?;
    }
    Ok(image)
}

/// An empty disk with a table of its partitions, for swap and for Linux.
fn make_disk(file: &Path) -> Result<()> {
    let mut disk = File::create(file)?;
    disk.set_len(u64::from(DISK_SECTORS) * 512)?;
    let mut table = [0; 66];
    for (entry, ([start, sectors], kind)) in
        table.chunks_exact_mut(16).zip([(SWAP, 0x82), (FILESYSTEM, 0x83)])
    {
        entry[4] = kind;
        entry[8..12].copy_from_slice(&start.to_le_bytes());
        entry[12..16].copy_from_slice(&sectors.to_le_bytes());
    }
    table[64..].copy_from_slice(&[0x55, 0xaa]);
    disk.seek(SeekFrom::Start(446))?;
    Ok(disk.write_all(&table)?)
}

impl Answer {
    /// The files in the tar file `archive`, unpacked into `directory`.
    fn read(archive: &Path, directory: &Path) -> Result<Self> {
        let words = ["--extract", "--file"].map(AsRef::as_ref);
        run(
            "tar",
            words.into_iter().chain([
                archive.as_os_str(),
                "--directory".as_ref(),
                directory.as_os_str(),
            ]),
        )
        .context("the machine handed nothing over")?;
        let text = |name: &str| -> Result<String> {
            let bytes = fs::read(directory.join(name)).with_context(|| name.to_owned())?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok(Self {
            who: text("who.json").with_context(|| text("said").unwrap_or_default())?,
            trace: text("trace")?,
            before: text("before")?,
            after: text("after")?,
            statistics: text("stats")?,
        })
    }
}
