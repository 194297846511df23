//! The tools with the words of the scripts that our profiles follow.
//!
//! Each figure bears the name that our profile gives it. Where a script's own report rounds, its
//! source figures are compared.

use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use cardproof_testkit::{LabError, run_command};

use super::Figures;
use super::labs::ToolTarget;
use super::outputs::{self, Terse};
use crate::needs::{FIO, HDPARM, IOZONE, Tool};

/// A profile of ours and what it follows.
#[derive(Debug, PartialEq)]
pub(super) struct Tools {
    /// Our profile.
    pub(super) profile: &'static str,
    /// Reads a second that the loop device allows, twice the writes: slow enough that neither a busy
    /// machine nor the kernel's slices of 100 ms show, fast enough that the set ends in minutes.
    pub(super) reads_per_s: u32,
    job: ToolJob,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolJob {
    SdCardBench,
    MicrosdBenchmarks,
    Sd6,
    FioMix,
    FioFsync,
    Agnostics,
    PiBenchmarks,
    KDiskMark,
}

/// All of them, the quick ones first.
pub(super) const ALL: &[Tools] = &[
    Tools { profile: "fio-randrw75", reads_per_s: 2000, job: ToolJob::FioMix },
    Tools { profile: "fio-fsync", reads_per_s: 2000, job: ToolJob::FioFsync },
    Tools { profile: "microsd-benchmarks", reads_per_s: 4000, job: ToolJob::MicrosdBenchmarks },
    Tools { profile: "pibenchmarks", reads_per_s: 4000, job: ToolJob::PiBenchmarks },
    Tools { profile: "agnostics", reads_per_s: 4000, job: ToolJob::Agnostics },
    Tools { profile: "sd6-256m", reads_per_s: 4000, job: ToolJob::Sd6 },
    Tools { profile: "sd-card-bench", reads_per_s: 8000, job: ToolJob::SdCardBench },
    Tools { profile: "crystaldiskmark", reads_per_s: 4000, job: ToolJob::KDiskMark },
];

impl Tools {
    /// What must be installed.
    pub(super) const fn needs(&self) -> &'static [Tool] {
        match self.job {
            ToolJob::SdCardBench | ToolJob::Sd6 => &[IOZONE],
            ToolJob::MicrosdBenchmarks => &[HDPARM, IOZONE],
            ToolJob::PiBenchmarks => &[HDPARM, FIO, IOZONE],
            ToolJob::FioMix | ToolJob::FioFsync | ToolJob::Agnostics | ToolJob::KDiskMark => &[FIO],
        }
    }
}

/// Runs the tools in `place`.
pub(super) fn run(tools: &Tools, place: &ToolTarget<'_>) -> Result<Figures> {
    match tools.job {
        ToolJob::SdCardBench => sd_card_bench(place),
        ToolJob::MicrosdBenchmarks => microsd_benchmarks(place),
        ToolJob::Sd6 => iozone(place, "256M", &[4], false),
        ToolJob::FioMix => fio_mix(place),
        ToolJob::FioFsync => fio_fsync(place),
        ToolJob::Agnostics => agnostics(place),
        ToolJob::PiBenchmarks => pibenchmarks(place),
        ToolJob::KDiskMark => kdiskmark(place),
    }
}

/// `program` with `words`, in the place's directory.
fn command(place: &ToolTarget<'_>, program: &str, words: &[&str]) -> Command {
    let mut command = place.command(program);
    command.args(words).current_dir(place.directory).env("LC_ALL", "C");
    command
}

fn said(place: &ToolTarget<'_>, program: &str, words: &[&str]) -> Result<String> {
    Ok(run_command(command(place, program, words))?)
}

/// iozone's names of the columns that it prints with and without `-i 1`.
const COLUMNS: [&str; 6] = ["write", "rewrite", "read", "reread", "random read", "random write"];

fn iozone(place: &ToolTarget<'_>, size: &str, records: &[u64], reads: bool) -> Result<Figures> {
    let mut words = vec!["-e", "-I", "-a", "-s", size];
    let sizes: Vec<String> = records.iter().map(|record| format!("{record}k")).collect();
    words.extend(sizes.iter().flat_map(|size| ["-r", size]));
    words.extend(if reads {
        &["-i", "0", "-i", "1", "-i", "2"][..]
    } else {
        &["-i", "0", "-i", "2"]
    });
    let text = said(place, "iozone", &words)?;
    let columns = COLUMNS.iter().filter(|name| reads || !["read", "reread"].contains(*name));
    let columns: Vec<&&str> = columns.collect();
    let mut figures = Vec::new();
    for &record in records {
        let row = outputs::iozone(&text, record)?;
        let named = |(name, rate): (&&&str, f64)| (format!("{name} {record}k"), rate);
        figures.extend(columns.iter().zip(row).map(named));
    }
    Ok(figures)
}

fn sd_card_bench(place: &ToolTarget<'_>) -> Result<Figures> {
    iozone(place, "100M", &[1, 2, 4, 16, 128, 512, 1024, 16_384], true)
}

/// `dd if=/dev/zero of=test bs=BS count=COUNT conv=fsync`.
fn dd(place: &ToolTarget<'_>, block: &str, count: &str) -> Result<(String, f64)> {
    let words = ["if=/dev/zero", "of=test", block, count, "conv=fsync"];
    let mut command = command(place, "dd", &words);
    let output = command.stdin(Stdio::null()).output().context("dd cannot be started")?;
    let rate = outputs::dd(&String::from_utf8_lossy(&output.stderr))?;
    fs::remove_file(place.directory.join("test"))?;
    Ok(("dd write".to_owned(), rate))
}

fn hdparm(place: &ToolTarget<'_>, words: &[&str]) -> Result<String> {
    let device = place.device.to_string_lossy();
    let words: Vec<&str> = words.iter().copied().chain([&*device]).collect();
    said(place, "hdparm", &words)
}

fn microsd_benchmarks(place: &ToolTarget<'_>) -> Result<Figures> {
    let text = hdparm(place, &["-t"])?;
    let reads = ("buffered disk reads".to_owned(), outputs::hdparm(&text, "disk reads")?);
    let mut figures = vec![reads, dd(place, "bs=8k", "count=50k")?];
    figures.extend(iozone(place, "100M", &[4], true)?);
    Ok(figures)
}

/// What PiBenchmarks and the article have in common of fio's words.
const MINIMAL: [&str; 9] = [
    "--minimal",
    "--randrepeat=1",
    "--ioengine=libaio",
    "--direct=1",
    "--gtod_reduce=1",
    "--name=test",
    "--filename=test",
    "--bs=4k",
    "--iodepth=64",
];

/// fio with `words`, one job; the file goes.
fn fio(place: &ToolTarget<'_>, words: &[&str]) -> Result<Terse> {
    let text = said(place, "fio", words)?;
    fs::remove_file(place.directory.join("test"))?;
    let jobs = outputs::fio(&text)?;
    Ok(*jobs.first().context("fio gave no job")?)
}

fn fio_mix(place: &ToolTarget<'_>) -> Result<Figures> {
    let words = [&MINIMAL[..], &["--size=100M", "--readwrite=randrw", "--rwmixread=75"]].concat();
    let job = fio(place, &words)?;
    Ok(vec![
        ("read".to_owned(), job.read_iops),
        ("write".to_owned(), job.write_iops),
        ("read rate".to_owned(), job.read_kib_per_s),
        ("write rate".to_owned(), job.write_kib_per_s),
    ])
}

fn fio_fsync(place: &ToolTarget<'_>) -> Result<Figures> {
    let common = ["--minimal", "--name=test", "--filename=test", "--bs=4k"];
    let write =
        fio(place, &[&common[..], &["--fsync=1", "--size=32m", "--rw=randwrite"]].concat())?;
    let read = fio(place, &[&common[..], &["--size=128m", "--rw=randread"]].concat())?;
    Ok(vec![
        ("fsync write".to_owned(), write.write_kib_per_s),
        ("random read".to_owned(), read.read_kib_per_s),
    ])
}

/// The job file of the test, as far as one run of it goes.
const AGNOSTICS: &str = "[global]\nioengine=libaio\niodepth=32\nsize=256m\ndirect=1\nend_fsync=1\n\
    filename=test\n\n[prepare-file]\nrw=write\nbs=512k\nstonewall\n\n[seq-write]\nrw=write\nbs=4m\n\
    stonewall\n\n[seq-read]\nrw=read\nbs=4m\nstonewall\n\n[rand-4k-write]\nrw=randwrite\nbs=4k\n\
    runtime=10\nstonewall\n\n[rand-4k-read]\nrw=randread\nbs=4k\nruntime=10\nstonewall\n";

fn agnostics(place: &ToolTarget<'_>) -> Result<Figures> {
    fs::write(place.directory.join("sd_bench.fio"), AGNOSTICS)?;
    let text = said(place, "fio", &["--output-format=terse", "sd_bench.fio"])?;
    let jobs = outputs::fio(&text)?;
    let [prepare, write, read, random_write, random_read] = jobs.as_slice() else {
        anyhow::bail!("fio ran {} jobs instead of five", jobs.len());
    };
    Ok(vec![
        ("prepare-file, run 1".to_owned(), prepare.write_kib_per_s),
        ("seq-write, run 1".to_owned(), write.write_kib_per_s),
        ("seq-read, run 1".to_owned(), read.read_kib_per_s),
        ("rand-4k-write IOPS, run 1".to_owned(), random_write.write_iops),
        ("rand-4k-read IOPS, run 1".to_owned(), random_read.read_iops),
    ])
}

fn pibenchmarks(place: &ToolTarget<'_>) -> Result<Figures> {
    let text = hdparm(place, &["-Tt", "--direct"])?;
    let mut figures = vec![
        ("cached reads".to_owned(), outputs::hdparm(&text, "cached reads")?),
        ("disk reads".to_owned(), outputs::hdparm(&text, "disk reads")?),
        dd(place, "bs=4k", "count=130k")?,
    ];
    let random = |kind| fio(place, &[&MINIMAL[..], &["--size=80M", kind]].concat());
    let (write, read) = (random("--readwrite=randwrite")?, random("--readwrite=randread")?);
    figures.push(("4k random write".to_owned(), write.write_iops));
    figures.push(("4k random read".to_owned(), read.read_iops));
    figures.extend(iozone(place, "80M", &[4], true)?);
    figures.push(("score".to_owned(), score(&figures)?));
    Ok(figures)
}

/// The script's own sum.
fn score(figures: &Figures) -> Result<f64> {
    let terms = [
        ("dd write", 1024.0),
        ("4k random read", 4.0),
        ("4k random write", 10.0),
        ("read 4k", 1.0),
        ("write 4k", 1.0),
        ("random read 4k", 4.0),
        ("random write 4k", 10.0),
    ];
    let sum: Option<f64> = terms
        .iter()
        .map(|(name, weight)| {
            let figure = figures.iter().find(|(known, _)| known == name);
            figure.map(|(_, value)| value * weight)
        })
        .sum();
    Ok(sum.context("a figure of the score is missing")? / 100.0)
}

/// Tests of KDiskMark's default profile: our name, block size, depth, order of addresses.
const DISKMARK: [(&str, &str, &str, &str); 4] = [
    ("SEQ1M Q8T1", "1024k", "8", ""),
    ("SEQ1M Q1T1", "1024k", "1", ""),
    ("RND4K Q32T1", "4k", "32", "rand"),
    ("RND4K Q1T1", "4k", "1", "rand"),
];

/// KDiskMark's loops of a test.
const LOOPS: u32 = 5;

/// What KDiskMark has fio do; its figure is the mean of KiB/s divided by 1000.
fn kdiskmark(place: &ToolTarget<'_>) -> Result<Figures> {
    let prepare = ["--create_only=1", "--filename=test", "--size=1024m", "--name=prepare"];
    said(place, "fio", &prepare)?;
    let mut figures = Vec::new();
    for kind in ["read", "write"] {
        for (name, block, depth, order) in DISKMARK {
            let mut sum = 0.0;
            for _ in 0..LOOPS {
                let job = kdiskmark_loop(place, block, depth, &format!("{order}{kind}"))?;
                sum += job.read_kib_per_s + job.write_kib_per_s;
            }
            figures.push((format!("{name} {kind}, mean"), sum / f64::from(LOOPS) / 1000.0));
        }
    }
    Ok(figures)
}

fn kdiskmark_loop(place: &ToolTarget<'_>, block: &str, depth: &str, rw: &str) -> Result<Terse> {
    let words = [
        "--output-format=terse",
        "--ioengine=libaio",
        "--direct=1",
        "--randrepeat=0",
        "--refill_buffers",
        "--end_fsync=1",
        "--filename=test",
        "--size=1024m",
        "--runtime=5",
        "--numjobs=1",
    ];
    let chosen = [
        format!("--name={rw}"),
        format!("--bs={block}"),
        format!("--rw={rw}"),
        format!("--iodepth={depth}"),
    ];
    let words: Vec<&str> = words.into_iter().chain(chosen.iter().map(String::as_str)).collect();
    let jobs = outputs::fio(&said(place, "fio", &words)?)?;
    jobs.first()
        .copied()
        .ok_or_else(|| LabError::Answer { tool: "fio", what: "no job".to_owned() }.into())
}
