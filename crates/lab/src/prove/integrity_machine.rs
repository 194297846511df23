//! `cargo xtask prove integrity-machine`: verdicts on queues and discards of an SD card that QEMU emulates, behind
//! Linux's own MMC stack.
//!
//! The card is emulated by authors who know nothing of these tests. What it does wrong is done by QEMU's block layer
//! below it. The answers that are right were written down before the first run. Software emulation: the seconds say
//! little.

mod cards;
mod seen;

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use cardproof_testkit::LabError;
use cardproof_units::Bytes;

use super::{Asked, DependsOn, Proof, Proved, Takes};
use crate::program::{self, Build};
use crate::virtual_machine::{Image, Kernel, Machine};
use cards::{Backend, CARDS, Card};
use seen::Seen;

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "integrity-machine",
    shows: "verify --queue and --discard on an emulated SD card, sound and with faults; --only takes their names",
    document: "docs/design/verify.md",
    depends_on: DependsOn::Machine,
    needs_root: false,
    takes: &[Takes::Short, Takes::Only],
    run,
};

/// Drivers of the card and of its file system.
const MODULES: &[&str] = &["sdhci-pci", "mmc_block", "crc32c_generic", "ext4"];

/// What makes the file system.
const MKFS: &str = "/sbin/mke2fs";

const TASK: &str = include_str!("integrity_machine/task.sh");

/// How long a machine may take.
const TIME_MAX: Duration = Duration::from_secs(5400);

fn run(asked: &Asked) -> Result<Proved> {
    let is_wanted = |card: &Card| match asked.only.is_empty() {
        true => card.is_short || !asked.is_short,
        false => asked.only.iter().any(|name| name == card.name),
    };
    let cards: Vec<&Card> = CARDS.iter().filter(|card| is_wanted(card)).collect();
    ensure!(!cards.is_empty(), "there are {}", CARDS.map(|card| card.name).join(", "));
    if !Path::new(MKFS).is_file() {
        return Err(LabError::Unavailable(format!("{MKFS} is missing here")).into());
    }
    let program = program::build(Build::Quick)?;
    let kernel = Kernel::fetch(&program::cache("lab")?)?;
    let mut holds = true;
    let mut rows = Vec::new();
    for card in cards {
        let said = boot(&kernel, &program, card)?;
        let seen = Seen::all(&said)?;
        let faults = card.faults(&seen);
        for fault in &faults {
            println!("{}: {fault}", card.name);
        }
        eprintln!("{}\n{said}", card.name);
        holds &= faults.is_empty();
        rows.push((card, seen, faults.is_empty()));
    }
    Ok(Proved { tables: table(&rows), holds })
}

/// Boots a machine with `card`, and returns what it said of all tests.
fn boot(kernel: &Kernel, program: &Path, card: &Card) -> Result<String> {
    let image = Image::new()?;
    image.add_modules(&kernel.modules(MODULES)?)?;
    image.add_stripped(program)?;
    image.add_program(Path::new(MKFS))?;
    let size = card.size.get();
    let mut task = format!("DESTROY=--destroy=mmcblk0:{size}:0xdeadbeef\n{TASK}");
    for expected in card.tests {
        let _ = writeln!(task, "{}", expected.test);
    }
    image.set_task(&task)?;
    let directory = tempfile::tempdir()?;
    let devices = devices(card, directory.path())?;
    Machine { kernel, image: &image, memory_mib: 512, devices, time_max: TIME_MAX }.run()
}

/// The host controller and `card`, in QEMU's words. Its files are made in `directory`.
fn devices(card: &Card, directory: &Path) -> Result<Vec<String>> {
    let file = directory.join("card");
    File::create(&file)?.set_len(card.size.get())?;
    let discard = if card.backend == Backend::IgnoresDiscards { "ignore" } else { "unmap" };
    let image =
        format!("driver=file,node-name=image,discard={discard},filename={}", file.display());
    let size = card.size.get();
    let nodes = match card.backend.rules(card.size) {
        _ if card.backend == Backend::KeepsNothing => {
            vec![format!("driver=null-co,node-name=card,size={size},read-zeroes=on")]
        }
        None => vec![image, format!("driver=raw,node-name=card,discard={discard},file=image")],
        Some(rules) => {
            let config = directory.join("rules");
            fs::write(&config, rules)?;
            let config = config.display();
            vec![
                image,
                format!("driver=blkdebug,node-name=card,discard=unmap,config={config},image=image"),
            ]
        }
    };
    let nodes = nodes.into_iter().flat_map(|node| ["-blockdev".to_owned(), node]);
    let card = ["-device", "sdhci-pci", "-device", "sd-card,drive=card"].map(str::to_owned);
    Ok(nodes.chain(card).collect())
}

fn table(rows: &[(&Card, Vec<Seen>, bool)]) -> String {
    let mut text = String::from(
        "| card | size | below it | test | right | said | status | found | seconds | as promised |\n\
         | --- | ---: | --- | --- | --- | --- | ---: | --- | ---: | --- |\n",
    );
    for (card, seen, is_right) in rows {
        for (expected, seen) in card.tests.iter().zip(seen) {
            // Writing to a string does not fail.
            let _ = writeln!(
                text,
                "| {} | {} | {} | `{}` | {} | {} | {} | {} | {:.0} | {} |",
                card.name,
                Bytes(card.size.get()),
                card.words,
                expected.test,
                expected.right.join(", "),
                seen.verdict(),
                seen.status,
                seen.details(),
                seen.seconds,
                if *is_right { "yes" } else { "**no**" },
            );
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn every_card_has_its_own_name_and_a_size_that_the_emulator_takes() {
        let names: std::collections::BTreeSet<&str> = CARDS.iter().map(|card| card.name).collect();
        assert_eq!(names.len(), CARDS.len());
        assert!(CARDS.iter().all(|card| card.size.get().is_power_of_two()));
        assert!(CARDS.iter().any(|card| card.is_short));
    }

    #[test]
    fn a_card_of_rules_lies_above_its_image() {
        let directory = tempfile::tempdir().unwrap();
        for card in &CARDS {
            let words = devices(card, directory.path()).unwrap();
            let has_rules = words.iter().any(|word| word.starts_with("driver=blkdebug"));
            assert_eq!(has_rules, card.backend.rules(card.size).is_some(), "{}", card.name);
        }
    }
}
