//! `cargo xtask prove who`: whose the bytes are that `watch --who` names, beside the kernel's own record of each
//! request.
//!
//! Six programs write at once in a Debian with systemd in a virtual machine, on ext4 and on F2FS. Which bytes are
//! whose is known from tracepoints, which have nothing in common with the counters that `watch --who` reads. A byte is
//! right where the service that wrote it is named, or swap, or the file system. Software emulation: the programs are
//! slow, and a share of bytes does not depend on that. What a minute of it costs is counted in instructions.

mod cost;
mod machine;
mod programs;
mod score;
mod truth;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::{Asked, DependsOn, Proof, Proved, Takes};
use crate::program::{self, Build};
use crate::virtual_machine::Kernel;
use cost::Cost;
use machine::{LAYOUT, Setting};
use score::{Said, Score};
use truth::{Recorded, Truth};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "who",
    shows: "whose the bytes are that watch --who names, on ext4 and on F2FS; --only takes ext4 or f2fs",
    document: "docs/design/watch.md",
    depends_on: DependsOn::Machine,
    needs_root: false,
    takes: &[Takes::Short, Takes::Only],
    run,
};

const FILESYSTEMS: [&str; 2] = ["ext4", "f2fs"];

/// The share of bytes that must have the right name.
const RIGHT_MIN: f64 = 0.95;

/// The share of bytes whose owner the truth may not know.
const UNKNOWN_MAX: f64 = 0.02;

/// The share of a slow core that watching may take.
const COST_MAX: f64 = 0.01;

/// How far the disk's counters may be from the sum of its requests.
const TOTAL_MAX: f64 = 0.01;

/// Before the watch: longer than a page may wait in memory to be written.
const WARM_S: u32 = 40;

/// How long is watched: the default of `watch --who`, and less in the short form.
const WATCH_S: u32 = 60;
const WATCH_SHORT_S: u32 = 30;

fn run(asked: &Asked) -> Result<Proved> {
    let is_wanted = |name: &str| asked.only.is_empty() || asked.only.iter().any(|it| it == name);
    let wanted: Vec<&str> = FILESYSTEMS.into_iter().filter(|name| is_wanted(name)).collect();
    ensure!(!wanted.is_empty(), "there are {}", FILESYSTEMS.join(", "));
    let cache = program::cache("lab")?;
    let program = program::build(Build::Quick)?;
    let kernel = Kernel::fetch(&cache)?;
    let root = machine::root(&cache)?;
    let watch_s = if asked.is_short { WATCH_SHORT_S } else { WATCH_S };
    let mut tables = String::new();
    let mut holds = true;
    for filesystem in wanted {
        // The short form takes each way of counting once, and the estimate where it is weakest.
        let is_ext4 = filesystem == FILESYSTEMS[0];
        for has_accounting in [true, false] {
            if asked.is_short && has_accounting != is_ext4 {
                continue;
            }
            let setting = Setting { filesystem, has_accounting, warm_s: WARM_S, watch_s };
            let (text, is_right) = watched(&kernel, &root, &program, setting)?;
            eprintln!("{text}");
            tables.push_str(&text);
            holds &= is_right;
        }
    }
    // What is counted is the program as users get it, whose building takes as long as all else.
    if asked.is_whole() {
        let cost = Cost::measure(&kernel, &program::build(Build::Dist)?)?;
        tables.push_str(&cost.sentence());
        holds &= cost.share() < COST_MAX;
    }
    Ok(Proved { tables, holds })
}

/// The table of one watch, and whether enough of it is right.
fn watched(
    kernel: &Kernel,
    root: &Path,
    program: &Path,
    setting: Setting,
) -> Result<(String, bool)> {
    let answer = machine::watch(kernel, root, program, setting)?;
    let lost = answer.statistics.lines().filter_map(|line| {
        let (name, count) = line.split_once(": ")?;
        (name.ends_with("overrun") || name == "dropped events").then_some(count.trim())
    });
    ensure!(lost.into_iter().all(|count| count == "0"), "events were lost:\n{}", answer.statistics);
    let recorded = Recorded { trace: &answer.trace, before: &answer.before, after: &answer.after };
    let truth = Truth::of(&recorded, LAYOUT)?;
    let said = Said::parse(&answer.who).with_context(|| answer.who.clone())?;
    for (known, bytes) in &truth.strangers {
        eprintln!("of nobody: {known}: {bytes}");
    }
    let score = Score::of(&truth, &said);
    Ok((table(setting, &truth, &said, &score)?, is_right(&truth, &said, &score)))
}

fn is_right(truth: &Truth, said: &Said, score: &Score) -> bool {
    let apart = (truth.total as f64 - said.total as f64).abs() / truth.total.max(1) as f64;
    score.share >= RIGHT_MIN && score.unknown <= UNKNOWN_MAX && apart <= TOTAL_MAX
}

fn table(setting: Setting, truth: &Truth, said: &Said, score: &Score) -> Result<String> {
    let mb = |bytes: u64| format!("{:.2}", bytes as f64 / 1e6);
    let accounting =
        if setting.has_accounting { "`DefaultIOAccounting=yes`" } else { "systemd as it comes" };
    let counted = if said.is_counted { "counted" } else { "estimated" };
    let mut text = format!(
        "**{}**, {accounting}, {counted}: {:.1} % of {} MB have their right owner, seen at {} looks in {} s. The disk's \
         counters say {} MB.\n\n\
         | owner | what | contents, MB | nodes, directories | said | right |\n\
         | --- | --- | ---: | ---: | ---: | ---: |\n",
        setting.filesystem,
        100.0 * score.share,
        mb(truth.total),
        truth.looks,
        setting.watch_s,
        mb(said.total),
    );
    for row in &score.rows {
        writeln!(
            text,
            "| {} | {} | {} | {} | {} | {} |",
            row.name,
            row.what,
            mb(row.contents),
            mb(row.tables),
            mb(row.said),
            mb(row.right)
        )?;
    }
    writeln!(text, "\nWithout a known owner: {:.2} %.\n", 100.0 * score.unknown)?;
    Ok(text)
}
