//! Other runs of cardproof that measure at the same time: each disturbs the other.

use std::fs;
use std::path::Path;

use crate::talk::Talk;

/// Commands that read and write little. Whoever gives none of these measures.
const QUIET: [&str; 15] = [
    "compare",
    "completions",
    "diagnose",
    "health",
    "help",
    "identify",
    "import",
    "list",
    "log",
    "manual-pages",
    "profiles",
    "show",
    "sim",
    "submit",
    "watch",
];

/// Says that another cardproof measures, where one does.
pub(crate) fn tell(talk: Talk) {
    let own = std::process::id();
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let others = entries.filter_map(number).filter(|&process: &u32| process != own);
    if let Some(other) = others.filter(|&process| is_measuring(process)).min() {
        talk.note(&format!(
            "Another cardproof is at work (process {other}). On the same storage the two slow each other down; \
             better wait until it has ended."
        ));
    }
}

fn is_measuring(process: u32) -> bool {
    fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| measures(&line))
}

/// Whether `line`, words that each end in a zero byte, is a run of cardproof that measures.
fn measures(line: &[u8]) -> bool {
    let mut words = line.split(|&byte| byte == 0).map(String::from_utf8_lossy);
    let program = words.next().unwrap_or_default();
    let is_ours = Path::new(&*program).file_name().is_some_and(|name| name == "cardproof");
    let rest: Vec<_> = words.collect();
    let is_quiet = rest.first().is_some_and(|word| QUIET.contains(&&**word));
    // A simulated card disturbs nobody's storage, and help ends at once.
    let is_harmless = |word: &str| {
        word.starts_with("sim:") || matches!(word, "-h" | "--help" | "--version" | "-V")
    };
    is_ours && !is_quiet && !rest.iter().any(|word| is_harmless(word))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn each_quiet_command_is_one() {
        let known = crate::Cli::command();
        for name in QUIET.into_iter().filter(|name| *name != "help") {
            assert!(known.find_subcommand(name).is_some(), "{name}");
        }
    }

    #[test]
    fn only_runs_that_measure_are_told_of() {
        for line in [
            "/usr/bin/cardproof\0/media/pi/CARD\0",
            "cardproof\0",
            "./cardproof\0verify\0.\0--full\0",
            "cardproof\0replay\0run\0job\0/dev/sda\0",
        ] {
            assert!(measures(line.as_bytes()), "{line}");
        }
        for line in [
            "cardproof\0watch\0",
            "cardproof\0log\0--nagios\0",
            "cardproof\0run\0sim:intenso-class-4\0",
            "cardproof\0--help\0",
            "vim\0cardproof\0",
            "",
        ] {
            assert!(!measures(line.as_bytes()), "{line}");
        }
    }
}
