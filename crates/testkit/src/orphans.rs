//! What processes have left that were killed: found by its name, which tells who made it.

use std::fs;
use std::path::{Path, PathBuf};

/// What the names of laboratories' files and groups begin with; the number of the process that made
/// it follows, and a hyphen.
const PREFIX: &str = "cardproof-lab-";

/// The beginning of a name for something that is to go with this process.
pub(crate) fn prefix() -> String {
    format!("{PREFIX}{}-", std::process::id())
}

/// What in `directory` was made by processes that are no more.
pub(crate) fn orphans(directory: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter(|entry| is_orphan(entry.file_name().to_str())).map(|entry| entry.path())
}

fn is_orphan(name: Option<&str>) -> bool {
    let maker = name.and_then(|name| name.strip_prefix(PREFIX)?.split_once('-'));
    maker.is_some_and(|(maker, _)| {
        maker.parse::<u32>().is_ok() && !Path::new("/proc").join(maker).exists()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_dead_process_has_made_is_an_orphan() {
        let ours = format!("{}x", prefix());
        // No process has a number as large as that (PID_MAX_LIMIT of Linux is 2^22).
        for (name, is_one) in [
            ("cardproof-lab-4194305-0", true),
            ("cardproof-lab-4194305", false),
            ("cardproof-lab-mount-AbCdEf", false),
            ("cardproof-lab-card-AbCdEf", false),
            ("somebody-4194305-0", false),
            (&ours, false),
        ] {
            assert_eq!(is_orphan(Some(name)), is_one, "{name}");
        }
        assert!(!is_orphan(None));
    }
}
