//! `cargo xtask fuzz`: runs the fuzz targets of `fuzz/`, without cargo-fuzz.
//!
//! Coverage feedback and the address sanitizer need flags that only a nightly compiler takes, or the
//! installed one when it is told to. That the targets compile is checked with the lints, by any compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::steps::{Outcome, shown_command};
use crate::workspace::{Metadata, cargo};

const TARGETS: &str = "fuzz/fuzz_targets";

/// Counts and compares what the code under test does, and finds its memory errors.
const FLAGS: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                     -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
                     -Cllvm-args=-sanitizer-coverage-pc-table \
                     -Cllvm-args=-sanitizer-coverage-trace-compares \
                     -Zsanitizer=address -Ccodegen-units=1 --cfg fuzzing";

/// Run the fuzz targets.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The target; all of them without a name
    target: Option<String>,
    /// For how long each target runs, in seconds
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u32,
}

impl Arguments {
    /// All targets, each for so many seconds.
    pub(crate) const fn all(seconds: u32) -> Self {
        Self { target: None, seconds }
    }
}

/// Runs one target or all of them; whether none failed.
pub(crate) fn run(arguments: &Arguments) -> Result<bool> {
    let all = targets()?;
    let wanted: Vec<&String> =
        all.iter().filter(|name| arguments.target.as_ref().is_none_or(|it| it == *name)).collect();
    if wanted.is_empty() {
        bail!("there is no such fuzz target; there is: {}", all.join(", "));
    }
    let compiler = Compiler::find()?;
    let directory = Metadata::read()?.target_directory.join("fuzz");
    build(&wanted, &compiler, &directory)?;
    let mut is_good = true;
    for name in wanted {
        let program = directory.join(&compiler.host).join("fuzz").join(name);
        is_good &= fuzz(name, &program, arguments.seconds)? == Outcome::Passed;
    }
    Ok(is_good)
}

/// The names of the targets: the files' names.
fn targets() -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(TARGETS).with_context(|| format!("cannot list {TARGETS}"))? {
        let path = entry?.path();
        names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
    }
    names.sort();
    Ok(names)
}

/// What builds the targets.
struct Compiler {
    is_nightly: bool,
    /// The platform for which it builds by itself.
    host: String,
}

impl Compiler {
    /// A nightly one where there is one, else the installed one.
    fn find() -> Result<Self> {
        let nightly = host_of(Command::new("rustup").args(["run", "nightly", "rustc"]));
        if let Some(host) = nightly {
            return Ok(Self { is_nightly: true, host });
        }
        let host =
            host_of(&mut Command::new("rustc")).context("there is no rustc; install Rust")?;
        Ok(Self { is_nightly: false, host })
    }

    /// Its cargo.
    fn cargo(&self) -> Command {
        if self.is_nightly {
            let mut command = Command::new("rustup");
            command.args(["run", "nightly", "cargo"]);
            // Set by the cargo that runs this, and would be taken in place of the nightly one.
            command.env_remove("RUSTC").env_remove("CARGO");
            return command;
        }
        let mut command = Command::new(cargo());
        // The flags of a nightly compiler, taken by a stable one.
        command.env("RUSTC_BOOTSTRAP", "1");
        command
    }
}

/// The platform that `rustc` builds for; `None` where it does not run.
fn host_of(rustc: &mut Command) -> Option<String> {
    let output = rustc.arg("-vV").stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.lines().find_map(|line| line.strip_prefix("host: ")).map(str::to_owned)
}

fn build(names: &[&String], compiler: &Compiler, directory: &Path) -> Result<()> {
    let mut command = compiler.cargo();
    command.args(["build", "--quiet", "--profile", "fuzz", "--locked"]);
    command.args(["--package", "cardproof-fuzz", "--features", "libfuzzer-sys/link_libfuzzer"]);
    for name in names {
        command.arg("--bin").arg(name);
    }
    command.args(["--target", &compiler.host, "--target-dir"]).arg(directory);
    match shown_command(command.env("RUSTFLAGS", FLAGS))? {
        Outcome::Passed => Ok(()),
        _ => bail!("the fuzz targets do not build; is a C++ compiler installed?"),
    }
}

/// The folders of outputs with which a target begins: one of each kind that its readers know, so that
/// each of them is reached.
const fn seeds(name: &str) -> &'static [&'static str] {
    match name.as_bytes() {
        b"import" | b"iostat" | b"pastes" | b"table" | b"kernel-log" | b"drive-report" => &[
            "crates/import/tests/import",
            "crates/import/tests/import/defects",
            "crates/import/tests/tables",
            "crates/cli/tests/questions",
        ],
        b"trace-import" => &["crates/trace/tests/import"],
        _ => &[],
    }
}

/// Runs the target with its growing corpus.
fn fuzz(name: &str, program: &Path, seconds: u32) -> Result<Outcome> {
    let corpus = PathBuf::from("fuzz/corpus").join(name);
    let artifacts = PathBuf::from("fuzz/artifacts").join(name);
    fs::create_dir_all(&corpus)?;
    fs::create_dir_all(&artifacts)?;
    shown_command(
        Command::new(program)
            .arg(&corpus)
            .args(seeds(name))
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .args(["-print_final_stats=1", "-timeout=10", "-max_len=4096"]),
    )
}
