//! `cargo xtask prove boards`: the release's packages on emulated boards.
//!
//! Each board boots Debian's kernel from a card or disk of its own, installs the package, uses the
//! program, breaks a run off with Ctrl-C, and removes the package. Software emulation: the drivers and
//! the kernel are the real ones, the speed is not.

use anyhow::Result;

use super::{Asked, DependsOn, Proof, Proved, Rows, Takes};
use crate::virtual_machine::{Board, Seen, by_name, visit};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "boards",
    shows: "the release's packages installed, used and removed on emulated boards; --only BOARD",
    document: "docs/packages.md",
    depends_on: DependsOn::Machine,
    needs_root: true,
    takes: &[Takes::Only],
    run,
};

/// Visits the boards, and shows each row when it is known.
fn run(asked: &Asked) -> Result<Proved> {
    let mut table = Rows::below(
        "| board | kernel | one start | run | Ctrl-C | records kept | as it must be |\n\
         | --- | --- | ---: | --- | --- | ---: | --- |",
    )?;
    let mut holds = true;
    let mut identities = String::new();
    for board in by_name(&asked.only)? {
        let seen = visit(board)?;
        let faults = seen.faults(board);
        for fault in &faults {
            eprintln!("{}: {fault}", board.name);
        }
        holds &= faults.is_empty();
        table.add(&row(board, &seen, faults.is_empty()))?;
        identities.push_str(&format!(
            "\n`cardproof identify` on {}:\n\n```text\n{}\n```\n",
            board.what,
            seen.text("identify")
        ));
    }
    Ok(Proved { tables: format!("{}{identities}", table.into_text()), holds })
}

fn row(board: &Board, seen: &Seen, is_right: bool) -> String {
    let status = |name| seen.status(name).map_or("-".to_owned(), |status| status.to_string());
    format!(
        "| {} | {} | {} | status {} | status {} | {} | {} |",
        board.what,
        seen.text("machine"),
        seen.text("version-time"),
        status("run"),
        status("ctrl-c"),
        seen.text("records"),
        if is_right { "yes" } else { "**no**" }
    )
}
