//! Settings as they were before `--apply`, kept until `--undo` has restored them.
//!
//! The kernel gives a name such as `sda` to whatever is plugged in next, with settings of its own. So a state
//! says of which device it is, and of another one nothing is restored.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use cardproof_units::in_words;

use crate::failure::Failure;
use crate::file::replace;
use crate::owner::make_directories;
use crate::store::Store;

/// A setting that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangedSetting {
    /// Its file below `/sys/block/NAME/queue`.
    pub file: String,
    /// Its value before the first change.
    pub before: String,
}

/// What tells a device from the next one of its name: it changes when the device is plugged in again or the
/// computer starts again, and then the settings are the kernel's own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Mark {
    /// The number of this start of the computer (`/proc/sys/kernel/random/boot_id`).
    boot: Option<String>,
    /// The number that the kernel gives to each disk that appears, from Linux 5.15 on
    /// (`/sys/block/NAME/diskseq`, Documentation/ABI/stable/sysfs-block).
    sequence: Option<String>,
    /// Where it is attached, and what it says of itself.
    place: Option<PathBuf>,
    size: Option<String>,
    model: Option<String>,
    serial: Option<String>,
}

impl Mark {
    /// The mark of the device that is called `name` now, below the root directory `root`.
    fn new(root: &Path, name: &str) -> Self {
        let read = |path: &Path| {
            fs::read_to_string(path)
                .ok()
                .map(|text| text.trim().to_owned())
                .filter(|it| !it.is_empty())
        };
        let device = root.join("sys/block").join(name.replace('/', "!"));
        let model = ["device/model", "device/name"].iter().find_map(|it| read(&device.join(it)));
        let serial = ["device/serial", "serial"].iter().find_map(|it| read(&device.join(it)));
        Self {
            boot: read(&root.join("proc/sys/kernel/random/boot_id")),
            sequence: read(&device.join("diskseq")),
            place: fs::canonicalize(&device).ok(),
            size: read(&device.join("size")),
            model,
            serial,
        }
    }
}

/// What `--apply` has changed of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct State {
    device: Mark,
    changed: Vec<ChangedSetting>,
}

impl State {
    /// Of a state, what is of the device with the mark `device`; nothing where it is of an earlier one.
    fn of_device(self, device: Mark) -> Self {
        if self.device == device { self } else { Self { device, changed: Vec::new() } }
    }
}

/// Where the state of the device `name` is kept.
fn place(name: &str) -> Result<PathBuf, Failure> {
    Ok(Store::beside("tuning")?.join(format!("{}.json", name.replace('/', "!"))))
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

fn read_state(path: &Path) -> Result<State, Failure> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map_err(Failure::because(format!(
            "{} is no state of --apply; remove it",
            path.display()
        ))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(State::default()),
        Err(error) => Err(Failure::incomplete(format!(
            "cannot read {}: {error}",
            path.display(),
            error = in_words(&error)
        ))),
    }
}

/// Sets `file` of the device `name` to `value`, after its value before is kept safe.
///
/// # Errors
/// The setting cannot be read, kept or set, or is not as it was set.
pub fn change_setting(name: &str, file: &str, value: &str) -> Result<ChangedSetting, Failure> {
    let path = setting_path(name, file)?;
    let read = || fs::read_to_string(&path).map(|text| in_force(&text));
    let before = read().map_err(|error| {
        Failure::incomplete(format!(
            "cannot read {}: {error}",
            path.display(),
            error = in_words(&error)
        ))
    })?;
    let state_path = place(name)?;
    let mut state = read_state(&state_path)?.of_device(Mark::new(Path::new("/"), name));
    let changed = ChangedSetting { file: file.to_owned(), before };
    if !state.changed.iter().any(|changed| changed.file == file) {
        state.changed.push(changed.clone());
        keep(&state_path, &state)?;
    }
    write(&path, value)?;
    let after = read().unwrap_or_default();
    if after != value {
        return Err(Failure::incomplete(format!(
            "{} is {after} and not {value} after it was set; --undo restores {}",
            path.display(),
            changed.before
        )));
    }
    Ok(changed)
}

fn keep(path: &Path, state: &State) -> Result<(), Failure> {
    if let Some(directory) = path.parent() {
        make_directories(directory).map_err(|error| {
            Failure::incomplete(format!(
                "cannot make {}: {error}",
                directory.display(),
                error = in_words(&error)
            ))
        })?;
    }
    let text = serde_json::to_string_pretty(state)
        .map_err(Failure::because("the state cannot be put into JSON"))?;
    replace(path, &text).map_err(|error| {
        Failure::incomplete(format!(
            "cannot keep the state in {}: {error}; nothing was changed",
            path.display(),
            error = in_words(&error)
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
        Failure::incomplete(format!(
            "cannot set {} to {value}: {error}{hint}",
            path.display(),
            error = in_words(&error)
        ))
    })
}

/// Restores every setting of the device `name` that was changed, and says which.
///
/// # Errors
/// None was, the device is another one by now, or a setting cannot be set.
pub fn restore_settings(name: &str) -> Result<Vec<ChangedSetting>, Failure> {
    let path = place(name)?;
    let kept = read_state(&path)?;
    if kept.changed.is_empty() {
        return Err(Failure::usage(format!("no setting of {name} was changed by --apply")));
    }
    let state = kept.of_device(Mark::new(Path::new("/"), name));
    if state.changed.is_empty() {
        // What it holds is of no use any more: that device has lost its settings.
        let _ = fs::remove_file(&path);
        return Err(Failure::refused(format!(
            "{name} was plugged in again or the computer was started again since --apply, so its settings \
             are those of the kernel; nothing was changed, and nothing is to be undone"
        )));
    }
    for changed in &state.changed {
        write(&setting_path(name, &changed.file)?, &changed.before)?;
    }
    fs::remove_file(&path).map_err(|error| {
        Failure::incomplete(format!(
            "cannot remove {}: {error}",
            path.display(),
            error = in_words(&error)
        ))
    })?;
    Ok(state.changed)
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
    fn settings_of_a_device_that_was_unplugged_are_not_given_to_the_next_of_its_name() {
        let root = tempfile::tempdir().unwrap();
        let put = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let mark = || Mark::new(root.path(), "sda");
        let all = [
            ("proc/sys/kernel/random/boot_id", "1b4e\n", "77aa\n"),
            ("sys/block/sda/diskseq", "9\n", "10\n"),
            ("sys/block/sda/size", "62333952\n", "30000000\n"),
            ("sys/block/sda/device/model", "Ultra\n", "Extreme\n"),
        ];
        all.iter().for_each(|(path, before, _)| put(path, before));
        let changed = ChangedSetting { file: "scheduler".to_owned(), before: "none".to_owned() };
        let state = State { device: mark(), changed: vec![changed] };
        assert_eq!(state.clone().of_device(mark()), state, "the same device");
        for (path, before, after) in all {
            put(path, after);
            assert!(state.clone().of_device(mark()).changed.is_empty(), "{path}");
            put(path, before);
        }
    }

    #[test]
    fn a_state_file_cannot_lead_to_another_file() {
        assert!(setting_path("sda", "../../../../etc/passwd").is_err());
        assert!(setting_path("../..", "scheduler").is_err());
        let path = setting_path("mmcblk0", "read_ahead_kb").unwrap();
        assert_eq!(path, Path::new("/sys/block/mmcblk0/queue/read_ahead_kb"));
    }
}
