//! `cargo xtask prove free-space`: `verify DIR` on ext4, FAT32 and exFAT, on genuine cards and on fakes,
//! empty and nearly full; on F2FS, that it is refused.
//!
//! Simulated cards are served as block devices to a virtual machine that boots Debian's kernel: this machine's
//! may lack the file systems. Software emulation: the seconds say little, the file systems are the real ones.

mod seen;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use cardproof_testkit::LabError;
use cardproof_units::Bytes;

use super::served::Served;
use super::{Asked, DependsOn, Proof, Proved, Takes};
use crate::debian::Debian;
use crate::program::{self, Build};
use crate::virtual_machine::{Image, Kernel, Machine};
use seen::{Run, Seen};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "free-space",
    shows: "verify DIR on three file systems, on fakes and genuine cards, empty and 80 % full",
    document: "docs/design/verify.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Count, Takes::Only],
    run,
};

/// The file systems, in the words of `mount`.
const FILESYSTEMS: [&str; 4] = ["ext4", "vfat", "exfat", REFUSED];

/// The one on which the test is refused before it writes: data go elsewhere than what was reserved.
const REFUSED: &str = "f2fs";

/// How the test says so: the exit status of what is refused for safety.
const REFUSAL: &str = "3";

/// What the task says of a test that did not end.
const LATE: &str = "late";

/// The shares of them that are full, in percent.
const FULL: [u32; 2] = [0, 80];

/// The store that is to be excluded. Those of the fakes are smaller than what is excluded for them.
const STORE: &str = "96M";

/// What the cards announce.
const SIZE: Bytes = Bytes::gib(32);

/// What a fake has beside its base: the kinds in turn, with and without a store. A real size of 2 GiB lies
/// below all of the free space of a card that is nearly full, and a wrap-around within it.
const FAKES: [&str; 12] = [
    "real_size = \"2GiB\"\nbeyond = \"wrap\"",
    "real_size = \"2GiB\"\nbeyond = \"drop\"",
    "real_size = \"7GiB\"\nbeyond = \"limbo\"\n[store]\nsize = \"1MiB\"",
    "real_size = \"16GiB\"\nbeyond = \"drop\"\n[store]\nsize = \"2MiB\"\nkeeps = \"all\"",
    "real_size = \"3GiB\"\nbeyond = \"last-block\"",
    "real_size = \"2GiB\"\nbeyond = \"chained\"\nround = \"2560MiB\"",
    "real_size = \"1GiB\"\nbeyond = \"wrap\"\n[store]\nsize = \"2MiB\"",
    "real_size = \"24GiB\"\nbeyond = \"drop\"",
    "real_size = \"8GiB\"\nbeyond = \"limbo\"",
    "real_size = \"12GiB\"\nbeyond = \"last-block\"\n[store]\nsize = \"1MiB\"",
    "real_size = \"2GiB\"\nbeyond = \"wrap\"\n[store]\nsize = \"4MiB\"\nkeeps = \"all\"",
    "real_size = \"4GiB\"\nbeyond = \"drop\"\nreads_as = 255",
];

/// The genuine cards' bases in turn.
const BASES: [&str; 4] =
    ["sandisk-extreme-a1", "sandisk-ultra-a1", "samsung-emmc", "sandisk-industrial"];

const MODULES: &[&str] = &[
    "virtio_pci",
    "virtio_blk",
    "crc32c_generic",
    "crc32_generic",
    "ext4",
    "nls_cp437",
    "nls_ascii",
    "nls_utf8",
    "vfat",
    "exfat",
    "f2fs",
];

/// The programs that the task needs beside busybox.
const PROGRAMS: [&str; 9] = [
    "/sbin/mkfs.f2fs",
    "/sbin/fsck.f2fs",
    "/sbin/mkfs.vfat",
    "/sbin/mkfs.exfat",
    "/sbin/mke2fs",
    "/sbin/fsck.vfat",
    "/sbin/fsck.exfat",
    "/sbin/e2fsck",
    "/usr/bin/fallocate",
];

/// A test is killed while it reserves, and while it writes.
const KILLED_AFTER_S: [u32; 2] = [2, 8];

/// A test that takes longer has hung. The longest took 40 s.
const TIME_MAX_S: u32 = 300;

/// A check of the file system that takes longer is broken off. On genuine cards it takes some seconds.
const CHECK_MAX_S: u32 = 60;

const TASK: &str = include_str!("free_space/task.sh");

fn run(asked: &Asked) -> Result<Proved> {
    let count = asked.count_or(12, 1);
    let filesystems: Vec<&str> = if !asked.only.is_empty() {
        FILESYSTEMS.into_iter().filter(|name| asked.only.iter().any(|it| it == name)).collect()
    } else if asked.is_short {
        vec!["vfat", "exfat"]
    } else {
        FILESYSTEMS.to_vec()
    };
    ensure!(!filesystems.is_empty(), "there are {}", FILESYSTEMS.join(", "));
    let program = program::build(Build::Quick)?;
    let directory = tempfile::tempdir()?;
    let cards: Vec<Served> = (0..count * 2)
        .map(|number| serve(&program, directory.path(), number))
        .collect::<Result<_>>()?;
    let said = machine(&program, &cards, &filesystems)?;
    let seen = Seen::all(&said)?;
    for card in cards {
        card.stop()?;
    }
    let is_fake = |seen: &Seen| seen.card % 2 == 1;
    let runs: usize = filesystems.iter().map(|filesystem| runs(filesystem, count * 2)).sum();
    let holds =
        seen.iter().fold(seen.len() == runs, |holds, it| is_right(it, is_fake(it)) && holds);
    Ok(Proved { tables: table(&seen, &is_fake)?, holds })
}

/// Runs on a file system with so many cards.
fn runs(filesystem: &str, cards: usize) -> usize {
    if filesystem == REFUSED { 1 } else { FULL.len() * cards + KILLED_AFTER_S.len() }
}

/// Whether a run is as it should be. Says what was seen, and what is wrong.
fn is_right(seen: &Seen, is_fake: bool) -> bool {
    let Some(run) = &seen.run else { return is_fake };
    let verdict = run.verdict();
    let faults = if is_fake { Vec::new() } else { run.faults(SIZE, seen.full) };
    eprintln!("{seen:?} {faults:?}");
    faults.is_empty()
        && match (seen.filesystem.as_str(), is_fake) {
            (REFUSED, _) => verdict == REFUSAL,
            (_, true) => ![LATE, "genuine"].contains(&verdict),
            (_, false) => ["genuine", "killed"].contains(&verdict),
        }
}

/// Serves the card with this number: genuine ones are even.
fn serve(program: &Path, directory: &Path, number: usize) -> Result<Served> {
    let is_fake = number % 2 == 1;
    let base = BASES[number / 2 % BASES.len()];
    let mut text = format!("base = \"{base}\"\nsize = \"{}\"\n", SIZE.get());
    if is_fake {
        text.push_str(FAKES[number / 2 % FAKES.len()]);
    }
    let file = directory.join(format!("card{number}.toml"));
    fs::write(&file, text + "\n")?;
    let backing = directory.join(format!("card{number}.data")).display().to_string();
    let seed = number.to_string();
    let options = ["--speed", "1000", "--seed", &seed, "--quiet", "--backing", &backing];
    Served::with(program, &file, &options)
}

/// Boots the machine and returns what it said of all runs.
fn machine(program: &Path, cards: &[Served], filesystems: &[&str]) -> Result<String> {
    let system = Debian { suite: "trixie", architecture: "amd64" };
    let tree =
        system.tree(&program::cache("debian")?, "linux-image-amd64", "trixie-amd64-kernel")?;
    let kernel = Kernel::unpacked_in(&tree)?;
    let image = Image::new()?;
    image.add_modules(&kernel.modules(MODULES)?)?;
    image.add_stripped(program)?;
    for tool in PROGRAMS {
        if !Path::new(tool).is_file() {
            return Err(LabError::Unavailable(format!("{tool} is missing here")).into());
        }
        image.add_program(Path::new(tool))?;
    }
    let disk = |number: usize| format!("vd{}", char::from(b'a' + number as u8));
    let mut task = format!(
        "LAST={}\nSTORE={STORE}\nTIME_MAX_S={TIME_MAX_S}\nCHECK_MAX_S={CHECK_MAX_S}\n{TASK}",
        disk(cards.len() - 1)
    );
    for filesystem in filesystems {
        if *filesystem == REFUSED {
            writeln!(task, "one {REFUSED} vda 0 0")?;
            continue;
        }
        for full in FULL {
            for number in 0..cards.len() {
                writeln!(task, "one {filesystem} {} {number} {full}", disk(number))?;
            }
        }
        for pause in KILLED_AFTER_S {
            writeln!(task, "one {filesystem} vda 0 0 kill {pause}")?;
        }
    }
    image.set_task(&task)?;
    let mut devices = Vec::new();
    for (number, card) in cards.iter().enumerate() {
        let device = card.device().display();
        devices.push("-drive".to_owned());
        devices.push(format!("file={device},format=raw,cache=none,if=none,id=card{number}"));
        devices.extend(["-device".to_owned(), format!("virtio-blk-pci,drive=card{number}")]);
    }
    let runs: usize = filesystems.iter().map(|filesystem| runs(filesystem, cards.len())).sum();
    let runs = runs as u32;
    let time_max = Duration::from_secs(240) + Duration::from_secs(120) * runs;
    Machine { kernel: &kernel, image: &image, memory_mib: 1024, devices, time_max }.run()
}

/// A row for each file system, fill and kind of card.
fn table(seen: &[Seen], is_fake: &dyn Fn(&Seen) -> bool) -> Result<String> {
    let mut text =
        "| file system | full | cards | verdicts | seconds, mean | written, mean | least space \
                    left to others |\n| --- | ---: | --- | --- | ---: | ---: | ---: |\n"
            .to_owned();
    let mut groups: BTreeMap<(&str, u32, bool), Vec<&Seen>> = BTreeMap::new();
    for seen in seen {
        groups.entry((&seen.filesystem, seen.full, is_fake(seen))).or_default().push(seen);
    }
    for ((filesystem, full, is_fake), seen) in groups {
        let mut verdicts: BTreeMap<&str, usize> = BTreeMap::new();
        for seen in &seen {
            *verdicts
                .entry(match seen.run.as_ref().map(Run::verdict) {
                    None => "no file system",
                    Some(REFUSAL) => "refused",
                    Some(verdict) => verdict,
                })
                .or_default() += 1;
        }
        let verdicts: Vec<String> =
            verdicts.into_iter().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        let tests: Vec<_> = seen
            .iter()
            .filter_map(|seen| seen.run.as_ref())
            .filter(|run| run.status != "killed")
            .collect();
        let mean = |sum: f64| sum / tests.len().max(1) as f64;
        let seconds = mean(tests.iter().map(|run| run.seconds).sum());
        let written = mean(tests.iter().map(|run| run.written().as_f64()).sum());
        let least = tests.iter().map(|run| run.free[1]).min().unwrap_or_default();
        writeln!(
            text,
            "| {filesystem} | {full} % | {} | {} | {seconds:.0} | {} | {least} |",
            if is_fake { "fake" } else { "genuine" },
            verdicts.join(", "),
            Bytes(written as u64),
        )?;
    }
    Ok(text)
}
