//! `cargo xtask prove powercut-machine`: a served card with a volatile cache is the disk of a virtual
//! machine, in which an application writes. The card and the machine are killed together; then the
//! card is served again, its file system is mounted, and the application's records are judged.

mod rig;

use std::fmt::Write;
use std::fs::File;
use std::time::Duration;

use anyhow::{Context, Result};
use cardproof_testkit::run as run_tool;
use cardproof_units::Bytes;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Asked, DependsOn, Proof, Proved, Takes};
use crate::program::{self, Build};
use crate::virtual_machine::{Frozen, Image, Kernel};
use rig::{Rig, SECRET, Verdict};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "powercut-machine",
    shows: "a served card and a virtual machine on it killed together",
    document: "docs/design/powercut.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Count],
    run,
};

/// Kills for each card and application; 50 for each card.
const KILLS: usize = 25;
const KILLS_SHORT: usize = 3;

/// The number of acknowledged records after which a kill comes: the least and the most.
const RECORDS: (u64, u64) = (5, 120);

/// How long after that the kill comes at most.
const PAUSE_MAX_US: u64 = 50_000;

const APPLICATIONS: [&str; 2] = ["ext4-fsync", "sqlite-wal"];

/// The cards, what the table `[power]` says of each, and whether it must be found.
const CARDS: [(&str, &str, bool); 2] = [
    ("honest", "volatile = \"8MiB\"", false),
    ("acknowledges flushes without doing them", "volatile = \"8MiB\"\nflush = \"ignored\"", true),
];

pub(super) const CARD_SIZE: Bytes = Bytes::mib(64);

/// Drivers of what the machine has, and the file system.
const MODULES: &[&str] = &["virtio_pci", "virtio_blk", "virtio_net", "ext4"];

fn run(asked: &Asked) -> Result<Proved> {
    let kills = asked.count_or(KILLS, KILLS_SHORT);
    let program = program::build(Build::Quick)?;
    let frozen = boot(&program)?;
    let mut holds = true;
    let mut tables = String::from(
        "| card | application | kills | with writes in flight | did harm | findings | bound |\n\
         | --- | --- | ---: | ---: | ---: | --- | ---: |\n",
    );
    for (card, power, must_be_found) in CARDS {
        for application in APPLICATIONS {
            let verdict = killed(&frozen, &program, power, application, kills)?;
            let Verdict { cuts, effective_cuts, harmful_cuts, findings, bound } = &verdict;
            holds &= *cuts == kills as u64 && (*harmful_cuts > 0) == must_be_found;
            writeln!(
                tables,
                "| {card} | `{application}` | {cuts} | {effective_cuts} | {harmful_cuts} | {findings} \
                 | {bound:.3} |"
            )?;
        }
    }
    Ok(Proved { tables, holds })
}

/// A machine that mounts its disk, and writes there as files on it say.
fn boot(program: &std::path::Path) -> Result<Frozen> {
    let kernel = Kernel::fetch(&program::cache("lab")?)?;
    let image = Image::new()?;
    image.add_modules(&kernel.modules(MODULES)?)?;
    let directory = tempfile::tempdir()?;
    let slim = directory.path().join("cardproof");
    run_tool("strip", ["-o".as_ref(), slim.as_os_str(), program.as_os_str()])?;
    image.add_program(&slim)?;
    image.set_task(&format!(
        "ip link set eth0 up; ip addr add 10.0.2.15/24 dev eth0\n\
         mkdir -p /card; echo '{SECRET}' > /tmp/secret\n\
         echo {}\n\
         until mount -t ext4 /dev/vda /card 2> /dev/null; do sleep 0.2; done\n\
         . /card/wish\n\
         cardproof powercut write /card --app $app --seed $seed --witness $witness \
         --secret-file /tmp/secret 2>&1\n",
        crate::virtual_machine::READY,
    ))?;
    let disk = directory.path().join("disk");
    File::create(&disk)?.set_len(CARD_SIZE.get())?;
    Frozen::boot(&kernel, &image, &disk)
}

/// Kills the card and the machine `kills` times while `application` writes.
fn killed(
    frozen: &Frozen,
    program: &std::path::Path,
    power: &str,
    application: &str,
    kills: usize,
) -> Result<Verdict> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(22);
    let mut rig = Rig::new(program, power)?;
    let mut verdict = None;
    for kill in 0..kills {
        rig.prepare(application, random.next_u64() >> 11)?;
        let machine = frozen.thaw(rig.device()?)?;
        let records = RECORDS.0 + random.next_u64() % (RECORDS.1 - RECORDS.0);
        // Most moments lie between the issue of a record and its acknowledgement.
        let pause = Duration::from_micros(random.next_u64() % PAUSE_MAX_US);
        rig.kill_after(records, pause, machine, || frozen.said())?;
        let judged = rig.judge()?;
        eprintln!("{application}: kill {} of {kills}: {judged:?}", kill + 1);
        verdict = Some(judged);
    }
    verdict.context("no kill was asked for")
}
