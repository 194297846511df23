//! `cargo xtask prove packages-install`: the release's packages installed, used, upgraded and removed on
//! Debian roots, and installed from the signed repository.
//!
//! A root for another processor runs under QEMU's user mode emulation. The version before the release is
//! the same package with a lower number.

mod repository;
mod steps;

use anyhow::{Result, ensure};

use super::{Asked, DependsOn, Proof, Proved, Rows, Takes};
use crate::debian::{self, Debian};
use crate::program;
use steps::Guest;

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "packages-install",
    shows: "the release's packages on Debian roots: installed, used, upgraded, removed; --only \
            SUITE-ARCHITECTURE",
    document: "docs/packages.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Only],
    run,
};

/// Debian's releases and our packages. Debian 12 has no riscv64; `forky` is the one after Debian 13.
const ROOTS: &[Debian] = &[
    Debian { suite: "bookworm", architecture: "amd64" },
    Debian { suite: "trixie", architecture: "amd64" },
    Debian { suite: "bookworm", architecture: "arm64" },
    Debian { suite: "trixie", architecture: "arm64" },
    Debian { suite: "bookworm", architecture: "armhf" },
    Debian { suite: "trixie", architecture: "armhf" },
    Debian { suite: "trixie", architecture: "riscv64" },
    Debian { suite: "forky", architecture: "armhf" },
    Debian { suite: "forky", architecture: "riscv64" },
];

/// Goes through all roots, and shows each row when it is known.
fn run(asked: &Asked) -> Result<Proved> {
    let roots: Vec<&Debian> = ROOTS
        .iter()
        .filter(|root| asked.only.is_empty() || asked.only.contains(&name(root)))
        .collect();
    ensure!(
        !roots.is_empty(),
        "--only takes {}",
        ROOTS.iter().map(name).collect::<Vec<_>>().join(", ")
    );
    // A package that was not made is known before a root is fetched, which takes minutes.
    for root in &roots {
        debian::package(root.architecture)?;
    }
    let mut table = Rows::below(
        "| Debian | package | installed | run | upgraded | removed | files left | records kept | \
         from the repository |\n| --- | --- | --- | --- | --- | --- | ---: | ---: | --- |",
    )?;
    let mut transcript = String::new();
    let mut holds = true;
    for root in roots {
        let archive = match root.root(&program::cache("debian")?) {
            Ok(archive) => archive,
            Err(error) => {
                // A mirror may lack a release, or be in the middle of a change.
                eprintln!("{}: {error:#}", name(root));
                table.add(&format!(
                    "| {} | {} | no root to be had {}|",
                    root.suite,
                    root.architecture,
                    "| ".repeat(6)
                ))?;
                holds = false;
                continue;
            }
        };
        let directory = tempfile::tempdir()?;
        debian::unpack(&archive, directory.path())?;
        let guest = Guest::enter(directory.path(), root.architecture)?;
        table.add(&format!("| {} | {} | {} |", root.suite, root.architecture, guest.steps()?))?;
        if transcript.is_empty() {
            transcript = format!(
                "\nWhat dpkg and the program print on {} {}:\n\n```text\n{}```\n",
                root.suite,
                root.architecture,
                guest.transcript()
            );
        }
    }
    Ok(Proved { tables: format!("{}{transcript}", table.into_text()), holds })
}

fn name(root: &Debian) -> String {
    format!("{}-{}", root.suite, root.architecture)
}
