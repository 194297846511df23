//! `cargo xtask bench sim`: the simulator's own speed, and the same cards under other tools.

mod serve;
mod speed;

use anyhow::{Result, bail};

/// Runs the sections named, or all of them; `false` where one misses its limits.
pub(crate) fn run(sections: &[&str]) -> Result<bool> {
    let all = ["speed", "serve"];
    let mut good = true;
    for section in if sections.is_empty() { &all } else { sections } {
        good &= match *section {
            "speed" => speed::run()?,
            "serve" => serve::run()?,
            other => bail!("there is no section '{other}'; there are speed and serve"),
        };
    }
    Ok(good)
}
