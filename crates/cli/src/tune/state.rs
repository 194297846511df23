//! Settings as they were before `--apply`, kept until `--undo` has restored them.

use std::fs;
use std::path::{Path, PathBuf};

use cardproof_session::{Store, replace};
use serde::{Deserialize, Serialize};

use crate::exit::Failure;

/// A setting that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Changed {
    /// Its file below `/sys/block/NAME/queue`.
    pub(super) file: String,
    /// Its value before the first change.
    pub(super) before: String,
}

/// Where the state of the device `name` is kept.
fn place(name: &str) -> Result<PathBuf, Failure> {
    let records = Store::of_user()?;
    let data = records.parent().unwrap_or(&records);
    Ok(data.join("tuning").join(format!("{}.json", name.replace('/', "!"))))
}

/// The file of a setting. Its name comes from a state file too, so it must be a plain one.
fn setting_path(name: &str, file: &str) -> Result<PathBuf, Failure> {
    let is_plain = |word: &str| {
        !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || "_-!".contains(c))
    };
    if !is_plain(file) || !is_plain(&name.replace('/', "!")) {
        return Err(Failure::refused(format!("'{file}' of '{name}' is no setting of a device")));
    }
    Ok(Path::new("/sys/block").join(name.replace('/', "!")).join("queue").join(file))
}

/// The value in force: of several, the one in brackets.
fn in_force(text: &str) -> String {
    let chosen = text
        .split_whitespace()
        .find_map(|word| word.strip_prefix('[').and_then(|word| word.strip_suffix(']')));
    chosen.unwrap_or(text.trim()).to_owned()
}

fn read_state(path: &Path) -> Result<Vec<Changed>, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(Failure::because(format!(
            "{} is no state of --apply; remove it",
            path.display()
        ))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(Failure::incomplete(format!("cannot read {}: {error}", path.display()))),
    }
}

/// Sets `file` of the device `name` to `value`, after its value before is kept safe.
pub(super) fn set(name: &str, file: &str, value: &str) -> Result<String, Failure> {
    let path = setting_path(name, file)?;
    let read = || fs::read_to_string(&path).map(|text| in_force(&text));
    let before = read()
        .map_err(|error| Failure::incomplete(format!("cannot read {}: {error}", path.display())))?;
    let state_path = place(name)?;
    let mut state = read_state(&state_path)?;
    if !state.iter().any(|changed| changed.file == file) {
        state.push(Changed { file: file.to_owned(), before: before.clone() });
        keep(&state_path, &state)?;
    }
    write(&path, value)?;
    let after = read().unwrap_or_default();
    if after != value {
        return Err(Failure::incomplete(format!(
            "{} is {after} and not {value} after it was set; --undo restores {before}",
            path.display()
        )));
    }
    Ok(format!("{file}: {before} -> {value}"))
}

fn keep(path: &Path, state: &[Changed]) -> Result<(), Failure> {
    if let Some(directory) = path.parent() {
        fs::create_dir_all(directory).map_err(|error| {
            Failure::incomplete(format!("cannot make {}: {error}", directory.display()))
        })?;
    }
    let text = serde_json::to_string_pretty(state)
        .map_err(Failure::because("the state cannot be put into JSON"))?;
    replace(path, &text).map_err(|error| {
        Failure::incomplete(format!(
            "cannot keep the state in {}: {error}; nothing was changed",
            path.display()
        ))
    })
}

fn write(path: &Path, value: &str) -> Result<(), Failure> {
    fs::write(path, value).map_err(|error| {
        let hint = if error.kind() == std::io::ErrorKind::PermissionDenied {
            "; settings of a device need root: use sudo"
        } else {
            ""
        };
        Failure::incomplete(format!("cannot set {} to {value}: {error}{hint}", path.display()))
    })
}

/// Restores every setting of the device `name` that `--apply` changed.
pub(super) fn undo(name: &str) -> Result<Vec<String>, Failure> {
    let path = place(name)?;
    let state = read_state(&path)?;
    if state.is_empty() {
        return Err(Failure::usage(format!("no setting of {name} was changed by --apply")));
    }
    let mut lines = Vec::new();
    for changed in &state {
        write(&setting_path(name, &changed.file)?, &changed.before)?;
        lines.push(format!("{}: restored {}", changed.file, changed.before));
    }
    fs::remove_file(&path).map_err(|error| {
        Failure::incomplete(format!("cannot remove {}: {error}", path.display()))
    })?;
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_values_the_one_in_brackets_is_in_force() {
        assert_eq!(in_force("none [mq-deadline] kyber\n"), "mq-deadline");
        assert_eq!(in_force("128\n"), "128");
    }

    #[test]
    fn a_state_file_cannot_lead_to_another_file() {
        assert!(setting_path("sda", "../../../../etc/passwd").is_err());
        assert!(setting_path("../..", "scheduler").is_err());
        let path = setting_path("mmcblk0", "read_ahead_kb").unwrap();
        assert_eq!(path, Path::new("/sys/block/mmcblk0/queue/read_ahead_kb"));
    }
}
