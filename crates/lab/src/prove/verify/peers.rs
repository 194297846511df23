//! `cargo xtask prove verify-peers`: f3probe and `cardproof verify` on the same simulated cards, each
//! served as a block device.
//!
//! What is written is what the kernel counts for the device. The cards are served as fast as the
//! machine can, so the times are those of the machine and not of cards. f3probe is the one that
//! `CARDPROOF_F3PROBE` names, or the one in the path (Debian's package f3).

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use cardproof_units::Bytes;

use crate::program::{Build, build};
use crate::prove::{Asked, DependsOn, Proof, Proved, Rows, Takes, served};

/// The claim.
pub(in crate::prove) const PROOF: Proof = Proof {
    name: "verify-peers",
    shows: "f3probe and cardproof verify on the same cards: who is right, and at what cost",
    document: "docs/design/verify.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Short, Takes::Count],
    run,
};

/// How much faster than the card everything goes.
const SPEED: &str = "100000";

/// The seed of the cards and of the tests.
const SEED: &str = "1";

/// A card and its truth.
struct Served {
    /// Announced and real size in sectors of 512 bytes.
    announced: u64,
    real: u64,
    /// As in a card's description; empty for a genuine card.
    beyond: &'static str,
    round: u64,
    store: &'static str,
    damage: &'static str,
}

/// Forty cards: four that are genuine, and each kind of fake with each store.
fn cards() -> Vec<Served> {
    let plain = Served { announced: 0, real: 0, beyond: "", round: 0, store: "", damage: "" };
    // f3probe fills 1 GiB at the end of the addresses. On a wrap-around that holds no more than that
    // it would overwrite its own marks, which says little of it; fakes on sale hold several GiB.
    let announced = 62_500_000;
    let mut cards = Vec::new();
    for (announced, damage) in [
        (15_523_840, ""),
        (31_116_288, ""),
        (15_523_840, "transient_read = 300"),
        (15_523_840, "share = 0.01\ngives = \"flipped-bits\""),
    ] {
        cards.push(Served { announced, real: announced, damage, ..plain });
    }
    for (number, store) in ["", "8KiB", "3MiB", "63MiB", "1GiB", "4GiB"].into_iter().enumerate() {
        let number = number as u64;
        // A size of chips, and one of any number of sectors.
        let (power, odd) = (1 << 23, 9_600_001 + 537_777 * number);
        for (beyond, real) in [
            ("drop", power),
            ("limbo", odd),
            ("wrap", power),
            ("wrap", odd),
            ("last-block", odd),
            ("chained", odd),
        ] {
            let round = odd + 300_003;
            cards.push(Served { announced, real, beyond, round, store, ..plain });
        }
    }
    cards
}

impl Served {
    fn description(&self) -> String {
        let mut text = format!("size = \"{}\"\n", self.announced * 512);
        if !self.beyond.is_empty() {
            text += &format!("real_size = \"{}\"\nbeyond = \"{}\"\n", self.real * 512, self.beyond);
        }
        if self.beyond == "chained" {
            text += &format!("round = \"{}\"\n", self.round * 512);
        }
        if !self.store.is_empty() {
            text += &format!("[store]\nsize = \"{}\"\n", self.store);
        }
        if !self.damage.is_empty() {
            text += &format!("[damage]\n{}\n", self.damage);
        }
        text
    }

    fn kind(&self) -> &'static str {
        match (self.beyond, self.damage.split(' ').next()) {
            ("", Some("share")) => "genuine, 1 % damaged",
            ("", Some("transient_read")) => "genuine, one read error",
            ("", _) => "genuine",
            (beyond, _) => beyond,
        }
    }

    fn truth(&self) -> &'static str {
        match (self.beyond.is_empty(), self.damage.starts_with("share")) {
            (false, _) => "fake",
            (true, true) => "damaged",
            (true, false) => "genuine",
        }
    }
}

/// What one tool said of one card.
struct ToolVerdict {
    verdict: String,
    size: (u64, u64),
    written: Bytes,
    took: Duration,
}

impl ToolVerdict {
    /// Whether the verdict is right, and the size of a fake too.
    fn judgement(&self, card: &Served) -> &'static str {
        let real = card.real * 512;
        let is_size_right = self.size.0 <= real && real <= self.size.1;
        match (self.verdict == card.truth(), is_size_right || card.truth() != "fake") {
            (true, true) => "right",
            (true, false) => "right, wrong size",
            (false, _) => "WRONG",
        }
    }
}

fn run(asked: &Asked) -> Result<Proved> {
    let program = build(Build::Quick)?;
    let mut rows = Rows::below(
        "| card | announced | real | hidden store | f3probe | writes | time | cardproof verify | writes | time |\n\
         | --- | --- | --- | --- | --- | ---: | ---: | --- | ---: | ---: |",
    )?;
    let (mut ours, mut theirs, mut shares) = (0, 0, Vec::new());
    let all = cards();
    let count = asked.count_or(all.len(), 6);
    let step = all.len().div_ceil(count.clamp(1, all.len()));
    let asked_for: Vec<&Served> = all.iter().step_by(step).collect();
    for card in &asked_for {
        let f3probe = on_fresh_card(&program, card, f3probe)?;
        let verify = on_fresh_card(&program, card, |device| verify(&program, device))?;
        let (left, right) = (f3probe.judgement(card), verify.judgement(card));
        theirs += u32::from(left == "right");
        ours += u32::from(right == "right");
        if card.truth() == "genuine" {
            shares.push(verify.written.as_f64() / f3probe.written.as_f64().max(1.0));
        }
        rows.add(&format!(
            "| {} | {} | {} | {} | {left}: {} | {} | {:.0} s | {right}: {} | {} | {:.0} s |",
            card.kind(),
            Bytes(card.announced * 512),
            Bytes(card.real * 512),
            if card.store.is_empty() { "-" } else { card.store },
            f3probe.verdict,
            f3probe.written,
            f3probe.took.as_secs_f64(),
            verify.verdict,
            verify.written,
            verify.took.as_secs_f64(),
        ))?;
    }
    let most = shares.iter().copied().fold(0.0, f64::max);
    let total = asked_for.len();
    let text = format!(
        "{}\nRight of {total}: f3probe {theirs}, cardproof verify {ours}. On the genuine cards \
         cardproof verify writes at most {:.2} % of what f3probe writes.\n",
        rows.into_text(),
        most * 100.0
    );
    Ok(Proved { tables: text, holds: ours >= theirs && most <= 0.5 })
}

/// Serves `card` afresh and asks `tool` for its opinion.
fn on_fresh_card(
    program: &Path,
    card: &Served,
    tool: impl Fn(&Path) -> Result<(String, (u64, u64))>,
) -> Result<ToolVerdict> {
    let place = tempfile::tempdir()?;
    let file = place.path().join("card.toml");
    fs::write(&file, card.description())?;
    let server = served::Served::start(program, &file, SPEED, SEED)?;
    let device = server.device();
    let before = written(device)?;
    let begun = Instant::now();
    let (verdict, size) = tool(device)?;
    let took = begun.elapsed();
    let written = Bytes(written(device)? - before);
    server.stop()?;
    Ok(ToolVerdict { verdict, size, written, took })
}

/// The bytes that the kernel has counted as written to `device`.
fn written(device: &Path) -> Result<u64> {
    let name = device.file_name().context("no device")?;
    let stat = fs::read_to_string(Path::new("/sys/block").join(name).join("stat"))?;
    let sectors = stat.split_whitespace().nth(6).context("no counter")?;
    Ok(sectors.parse::<u64>()? * 512)
}

fn f3probe(device: &Path) -> Result<(String, (u64, u64))> {
    let program = std::env::var_os("CARDPROOF_F3PROBE").unwrap_or_else(|| "f3probe".into());
    let said = Command::new(program).arg("--destructive").arg(device).output();
    let said = said.context("cannot start f3probe; install Debian's package f3")?;
    let text = String::from_utf8_lossy(&said.stdout);
    let verdict = ["genuine", "fake", "damaged"].into_iter().find(|word| {
        let told = |line: &str| line.starts_with("Good news") && *word == "genuine";
        let bad = |line: &str| line.starts_with("Bad news") && line.contains(word);
        text.lines().any(|line| told(line) || bad(line))
    });
    let verdict = match verdict {
        Some(verdict) => verdict.to_owned(),
        None if text.contains("counterfeit") => "fake".to_owned(),
        None => {
            return Err(anyhow!(
                "f3probe said nothing that is understood: {text}{}",
                String::from_utf8_lossy(&said.stderr)
            ));
        }
    };
    let usable = text.lines().find(|line| line.contains("*Usable* size"));
    let blocks = usable.and_then(|line| {
        let (_, rest) = line.split_once('(')?;
        rest.split_whitespace().next()?.parse::<u64>().ok()
    });
    let block =
        text.lines().find(|line| line.contains("Physical block size")).map_or(512, |line| {
            let power = line.split("2^").nth(1).and_then(|rest| rest.split_whitespace().next());
            power.and_then(|power| power.parse::<u32>().ok()).map_or(512, |power| 1_u64 << power)
        });
    let size = blocks.unwrap_or(0) * block;
    Ok((verdict, (size, size)))
}

fn verify(program: &Path, device: &Path) -> Result<(String, (u64, u64))> {
    let place = tempfile::tempdir()?;
    let identity = cardproof_testkit::identity(device)?;
    let said = Command::new(program)
        .args(["verify", "--quiet", "--json", "-", "--seed", SEED])
        .arg(device)
        .arg(format!("--destroy={identity}"))
        .env("XDG_DATA_HOME", place.path())
        .output()?;
    ensure!(
        matches!(said.status.code(), Some(0 | 4)),
        "cardproof verify: {}",
        String::from_utf8_lossy(&said.stderr)
    );
    let answer: serde_json::Value = serde_json::from_slice(&said.stdout)?;
    let bound = |name: &str| answer["real_size_bytes"][name].as_u64().unwrap_or(0);
    let verdict = answer["verdict"].as_str().unwrap_or_default().to_owned();
    Ok((verdict, (bound("low"), bound("high"))))
}
