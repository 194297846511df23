//! `cargo xtask prove setups`: file systems that this machine's kernel may lack, compared by the
//! program in a virtual machine on two simulated cards, a slow one and a fast one.
//!
//! The cards are served in real time on the host and are the machine's disks past every cache, so
//! that what the guest's file systems ask for is what the card answers. The processor is emulated
//! and slow, which makes file systems that compute much look worse than they are; so what is
//! checked is a direction, and the ratios stand in the document with that said.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use cardproof_sim_serve::{ServeOptions, Server};
use cardproof_testkit::LabError;
use cardproof_units::Seed;
use serde_json::Value;

use super::stamp::Stamp;
use super::{Asked, DependsOn, Proof, Proved};
use crate::program::{self, Build};
use crate::virtual_machine::{Image, Kernel, Machine};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "setups",
    shows: "file systems compared on a slow and a fast simulated card, in a virtual machine",
    document: "docs/design/setups.md",
    depends_on: DependsOn::Machine,
    needs_root: false,
    takes: &[],
    run,
};

/// The cards, by their names in the catalogue, and what they are here.
const CARDS: [(&str, &str); 2] =
    [("sandisk-industrial", "slow card"), ("sandisk-extreme-a1", "fast card")];

/// How often each takes its turn: more would take the laboratory too long.
const ROUNDS: u32 = 3;

/// What is compared.
const SETUPS: &str = "ext4,f2fs,xfs,btrfs,vfat,exfat,nilfs2";

/// The file systems that have no journal and no log, said to take a write with fsync in less time.
const FAT: [&str; 2] = ["vfat", "exfat"];

/// The pairs of published figures (fsync-by-filesystem.csv): 4 KiB random writes with fsync, FAT32
/// beside ext4 on the same card, in KB/s.
const PUBLISHED: [(&str, f64, f64); 2] =
    [("SanDisk Ultra 32 GB", 2095.0, 220.0), ("Samsung Evo+ 32 GB", 4300.0, 1000.0)];

const MODULES: &[&str] = &[
    "virtio_pci",
    "virtio_blk",
    "loop",
    "crc32c_generic",
    "ext4",
    "f2fs",
    "xfs",
    "btrfs",
    "nls_cp437",
    "nls_ascii",
    "nls_iso8859-1",
    "nls_utf8",
    "vfat",
    "exfat",
    "nilfs2",
];

/// The programs that make file systems, and losetup, whose busybox form knows too little.
const PROGRAMS: &[&str] = &[
    "losetup",
    "mkfs.ext4",
    "mkfs.f2fs",
    "mkfs.xfs",
    "mkfs.btrfs",
    "mkfs.vfat",
    "mkfs.exfat",
    "mkfs.nilfs2",
];

/// Boots the machine with both cards and compares on each.
fn run(_: &Asked) -> Result<Proved> {
    let stamp = Stamp::take()?;
    let kernel = Kernel::fetch(&program::cache("lab")?)?;
    let image = Image::new()?;
    image.add_modules(&kernel.modules(MODULES)?)?;
    image.add_program(&program::build(Build::Dist)?)?;
    for program in PROGRAMS {
        image.add_program(&find(program)?)?;
    }
    image.set_task(&task())?;
    let places = tempfile::tempdir()?;
    let mut servers = Vec::new();
    let mut devices = Vec::new();
    for (name, _) in CARDS {
        let server = serve(name, places.path())?;
        let drive = format!(
            "id={name},if=none,format=raw,cache=none,aio=threads,file={}",
            server.file().display()
        );
        devices.extend(["-drive".to_owned(), drive, "-device".to_owned()]);
        devices.push(format!("virtio-blk-pci,drive={name}"));
        servers.push(server);
    }
    let machine = Machine {
        kernel: &kernel,
        image: &image,
        memory_mib: 768,
        devices,
        time_max: Duration::from_secs(540),
    };
    let answers = machine.run();
    for mut server in servers {
        server.stop()?;
    }
    let answers = split(&answers?)?;
    let (tables, is_good) = judge(&answers)?;
    Ok(Proved { tables: format!("{}\n\n{tables}", stamp.sentence()), holds: is_good })
}

/// Puts the card `name` up as a file in a fresh directory below `places`.
fn serve(name: &str, places: &Path) -> Result<Server> {
    let directory = places.join(name);
    fs::create_dir(&directory)?;
    let options = ServeOptions {
        is_temporary: false,
        directory,
        speed: 1.0,
        block_device: false,
        backing: None,
        log: None,
    };
    Ok(Server::start(cardproof_sim::find(name)?, Seed::from_bits(1), &options)?)
}

/// Compares on one disk after the other, so that each has the processor for itself.
fn task() -> String {
    // busybox has programs of the same names, which know less.
    let mut script = "export PATH=/usr/bin:$PATH\n".to_owned();
    // nilfs2's maker looks whether the device is mounted.
    script.push_str("mkdir -p /etc; ln -s /proc/mounts /etc/mtab\n");
    let disks = ["vda", "vdb"];
    for disk in disks {
        let _ = writeln!(
            script,
            "serial=$(cat /sys/block/{disk}/serial 2>/dev/null)\n\
             size=$(($(cat /sys/block/{disk}/size) * 512))\n\
             cardproof compare-setups /dev/{disk} --destroy={disk}:$size${{serial:+:$serial}} --only {SETUPS} --jobs fsync-4k \
             --rounds {ROUNDS} --size 304M --seed 1 --json /tmp/{disk}.json >&2"
        );
    }
    for disk in disks {
        let _ = writeln!(script, "echo '== {disk}'; cat /tmp/{disk}.json || echo null");
    }
    script
}

/// Where `program` is on this machine.
fn find(program: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
        .ok_or_else(|| LabError::Unavailable(format!("no {program} here; install it")).into())
}

/// The answers, one for each disk.
fn split(answers: &str) -> Result<Vec<Value>> {
    let parts: Vec<_> = answers.split("== ").skip(1).collect();
    ensure!(
        parts.len() == CARDS.len(),
        "the machine answered for {} disks:\n{answers}",
        parts.len()
    );
    parts
        .into_iter()
        .map(|part| {
            let (name, answer) = part.split_once('\n').context("an answer without a name")?;
            serde_json::from_str(answer).with_context(|| format!("{name} gave no JSON:\n{answer}"))
        })
        .collect()
}

/// The tables, and whether the published claim holds in direction on every card.
fn judge(answers: &[Value]) -> Result<(String, bool)> {
    let mut out = String::new();
    let mut is_good = true;
    for ((name, kind), answer) in CARDS.iter().zip(answers) {
        let comparison = answer
            .pointer("/setups/comparisons/0")
            .with_context(|| format!("nothing was compared: {}", answer["setups"]["not_tried"]))?;
        let results = comparison["results"].as_array().context("no results")?;
        writeln!(out, "On the {kind} (`{name}`), with intervals of 95 %:\n")?;
        writeln!(out, "| file system | 4 KiB writes with fsync: times ext4 | a second |")?;
        writeln!(out, "| --- | --- | ---: |")?;
        for setup in SETUPS.split(',') {
            writeln!(out, "| {setup} | {} |", cells(results, setup))?;
        }
        for result in answer["setups"]["not_tried"].as_array().into_iter().flatten() {
            let word = |name: &str| result[name].as_str().unwrap_or_default();
            writeln!(out, "\nNot tried: {}: {}", word("setup"), word("reason"))?;
            is_good = false;
        }
        let ratio = |fat| field(results, fat, "estimate").unwrap_or(0.0);
        let holds = FAT.iter().all(|fat| ratio(fat) > 1.0);
        let verdict = if holds { "holds" } else { "**does not hold**" };
        let said = FAT.map(|fat| {
            let is_sure = field(results, fat, "low").is_some_and(|low| low > 1.0);
            let doubt = if is_sure { "" } else { ", which may be chance" };
            format!("{fat} is {:.2} times as fast{doubt}", ratio(fat))
        });
        writeln!(
            out,
            "\nThat FAT takes a 4 KiB write with fsync in less time than ext4 {verdict} here: {}.\n",
            said.join("; ")
        )?;
        is_good &= holds;
    }
    let published =
        PUBLISHED.map(|(card, fat, ext4)| format!("{:.1} times on a {card}", fat / ext4));
    writeln!(out, "Published, on other hosts and kernels: {}.", published.join(", "))?;
    Ok((out, is_good))
}

fn result<'a>(results: &'a [Value], setup: &str) -> Option<&'a Value> {
    results.iter().find(|result| result["setup"] == setup)
}

/// A part of the ratio to ext4: `estimate`, `low` or `high`.
fn field(results: &[Value], setup: &str, name: &str) -> Option<f64> {
    result(results, setup)?.pointer(&format!("/ratio/{name}"))?.as_f64()
}

/// A ratio to ext4 and the rate behind it, or why there is none.
fn cells(results: &[Value], setup: &str) -> String {
    let Some(result) = result(results, setup) else { return "not tried | ".to_owned() };
    let cause = result["not_measured"].as_str().unwrap_or_default();
    let Some(mean) = result["mean"].as_f64() else { return format!("not measured: {cause} | ") };
    let number = |name| field(results, setup, name);
    let ratio = match (number("estimate"), number("low"), number("high")) {
        (Some(estimate), Some(low), Some(high)) => format!("{estimate:.2} ({low:.2} to {high:.2})"),
        _ if setup == "ext4" => "1".to_owned(),
        _ => "too few rounds".to_owned(),
    };
    let cause = if cause.is_empty() { String::new() } else { format!("; a round failed: {cause}") };
    format!("{ratio}{cause} | {mean:.0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An answer in which vfat is so many times as fast as ext4.
    fn answer(times: f64) -> Value {
        let result = |setup: &str, ratio: Option<f64>| {
            let ratio = ratio
                .map(|ratio| serde_json::json!({"estimate": ratio, "low": ratio, "high": ratio}));
            serde_json::json!({"setup": setup, "job": "fsync-4k", "mean": 10.0, "ratio": ratio})
        };
        let results =
            [result("ext4", None), result("vfat", Some(times)), result("exfat", Some(2.0))];
        serde_json::json!({"setups": {"comparisons": [{"results": results}], "not_tried": []}})
    }

    #[test]
    fn the_claim_is_checked_on_every_card() {
        assert!(judge(&[answer(3.0), answer(1.5)]).unwrap().1);
        let (text, is_good) = judge(&[answer(3.0), answer(0.9)]).unwrap();
        assert!(!is_good);
        assert!(text.contains("**does not hold**"), "{text}");
        assert!(text.contains("| vfat | 0.90 (0.90 to 0.90) | 10 |"), "{text}");
    }

    #[test]
    fn an_answer_missing_is_an_error() {
        assert!(split("== vda\n{}\n").is_err());
        assert_eq!(split("== vda\n{}\n== vdb\nnull\n").unwrap().len(), 2);
    }
}
