//! A device of this computer: an eMMC by its registers, an SSD by smartctl, an SD card by CMD56 on
//! consent.

use std::path::{Path, PathBuf};

use cardproof_device::identify::{StorageChoice, identify};
use cardproof_device::{LookError, Sysroot, WearFacts, wear_facts};
use cardproof_rating::Wear;
use cardproof_rating::signs::Signs;
use cardproof_report::signs::wear_in_words;
use cardproof_session::{
    AskingLeave, NoDriveReport, Unanswered, ask_card, ask_drive, simulated_card, simulated_name,
};
use cardproof_units::{in_words, shell_path, with_causes};
use jiff::Timestamp;

use super::smartctl::of_smartctl;
use super::{Found, HealthArgs, Sourced, drives, raw, told};
use crate::exit::Failure;
use crate::talk::Talk;
use crate::target::refuse_no_storage;
use crate::terminal::Terminal;

/// The health of the device at `place`, or of the default one.
pub(super) fn device(place: Option<&Path>, args: &HealthArgs) -> Result<Found, Failure> {
    let root = root(args)?;
    if let Some(found) = place.and_then(|place| unusable(&root, place)) {
        return Ok(found);
    }
    let choice = match place {
        Some(place) if root.is_running_system() => StorageChoice::Named(real(place)?),
        Some(place) => StorageChoice::Named(place.to_owned()),
        None if root.is_running_system() => StorageChoice::Named(".".into()),
        None => StorageChoice::System,
    };
    if root.is_running_system() {
        refuse_no_storage(place.unwrap_or(Path::new(".")))?;
    }
    let identity = identify(&root, &choice).map_err(|error| Failure::usage(with_causes(&error)))?;
    let name = identity.device.lowest().name.clone().unwrap_or_default();
    let node = Path::new("/dev").join(&name);
    let mut found = Found { device: name.clone(), ..Found::default() };
    let mut seen = crate::signs::seen_with_journal(&root, &identity);
    let facts = wear_facts(&root, &name);
    found.bytes_per_day = facts.bytes_per_day;
    match facts.card_type.as_deref().unwrap_or_default() {
        "MMC" => emmc(&mut found, &facts),
        "SD" if args.ask_card => card(&mut found, &node, args)?,
        "SD" => found.unknown.push(format!(
            "{}; --ask-card asks this one by its maker's command",
            wear_in_words(Wear::NoStandard)
        )),
        _ if args.ask_card => {
            return Err(Failure::usage(format!(
                "{} is no SD card in a slot of its own; only such a card can be asked by CMD56",
                node.display()
            )));
        }
        _ => match Wear::of(&identity.device, false) {
            // No program can read what is not there.
            wear @ (Wear::Virtual | Wear::NoDevice) => {
                found.unknown.push(wear_in_words(wear).to_owned());
            }
            _ if root.is_running_system() => ssd(&mut found, &node),
            _ => found
                .unknown
                .push("a saved copy of a computer holds no health report of drives".to_owned()),
        },
    }
    seen.has_report = found.readings.iter().any(|it| !it.reading.values.is_empty());
    seen.life_used_percent = seen.life_used_percent.or_else(|| told::life(&found.readings));
    seen.report = found.readings.iter().flat_map(|it| it.faults.iter().cloned()).collect();
    found.signs = Some(Signs::new(&seen));
    Ok(found)
}

/// What is known of a card in a slot that the kernel could not put to use, which has no device: by the name that it
/// would have (`/dev/mmcblk0`), or by that of its slot (`mmc0`).
fn unusable(root: &Sysroot, place: &Path) -> Option<Found> {
    let name = place.file_name()?.to_str()?;
    let slot = name.strip_prefix("mmcblk").or_else(|| name.strip_prefix("mmc"))?;
    let device = format!("mmcblk{slot}");
    let signs = crate::signs::of_unusable(root, &device)?;
    Some(Found { device, signs: Some(signs), ..Found::default() })
}

fn root(args: &HealthArgs) -> Result<Sysroot, Failure> {
    let Some(path) = &args.sysroot else { return Ok(Sysroot::default()) };
    Sysroot::open(path).map_err(|error| {
        Failure::usage(format!("--sysroot {}: {}", path.display(), with_causes(&error)))
    })
}

/// The device or directory that the user means by `path`.
fn real(path: &Path) -> Result<PathBuf, Failure> {
    if let Some(card) = simulated_name(path) {
        simulated_card(card)?;
        return Err(Failure::usage(format!(
            "{} is a simulated card, which reports no wear; name a block device, such as \
             /dev/mmcblk0; `cardproof endure {}` wears it out",
            path.display(),
            shell_path(path)
        )));
    }
    let real = std::fs::canonicalize(path).map_err(|error| {
        let name = path.display();
        let message = match error.kind() {
            std::io::ErrorKind::NotFound => {
                LookError::Missing { path: path.to_owned() }.to_string()
            }
            _ => {
                format!(
                    "cannot look at {name}: {error}; name a block device, such as /dev/mmcblk0",
                    error = in_words(&error)
                )
            }
        };
        Failure::of_opening(&error, message)
    })?;
    if !crate::output::is_block_device(&real) && !real.is_dir() {
        return Err(Failure::usage(format!(
            "{} is not a block device; name one, such as /dev/mmcblk0, or use --raw for a saved output",
            path.display()
        )));
    }
    Ok(real)
}

fn emmc(found: &mut Found, facts: &WearFacts) {
    match facts.life_codes {
        Some([a, b]) => {
            let sourced = raw::of_life_codes(a, b, facts.reserve_code);
            found.readings.push(stamped("life_time and pre_eol_info in sysfs", sourced));
        }
        None => found.unknown.push(wear_in_words(Wear::Untold).to_owned()),
    }
}

fn stamped(source: &str, mut sourced: Sourced) -> Sourced {
    let now = Timestamp::now();
    source.clone_into(&mut sourced.source);
    sourced.time = Some(now);
    sourced.reading.time_s = Some(now.as_second() as f64);
    sourced
}

/// Asks an SD card for each layout that is read without writing, and with `--two-step` for the one that is not.
fn card(found: &mut Found, path: &Path, args: &HealthArgs) -> Result<(), Failure> {
    let leave = AskingLeave { in_use: args.force, two_steps: args.two_step };
    let told = ask_card(path, leave, &mut Terminal::new(Talk::new(args.quiet)))?;
    found.unknown.extend(told.unknown.iter().map(Unanswered::to_string));
    if let Some((argument, answer)) = told.answer {
        let source = format!("CMD56 with {argument:#010x}");
        found.readings.push(stamped(&source, raw::of_cmd56(&answer)));
    }
    Ok(())
}

fn ssd(found: &mut Found, path: &Path) {
    match ask_drive(path) {
        Err(NoDriveReport::NoProgram) => found.unknown.push(format!(
            "{}, because smartctl is not installed: sudo apt install smartmontools, then sudo cardproof health {}",
            wear_in_words(Wear::NotLookedAt),
            shell_path(path)
        )),
        Err(NoDriveReport::NoJson) => found.unknown.push("smartctl returned no JSON".to_owned()),
        Ok(object) => {
            let known = drives::of_json(&object);
            let sourced = known.unwrap_or_else(|| of_smartctl(&object));
            if sourced.reading.values.is_empty() && sourced.findings.is_empty() {
                found.unknown.push("smartctl found no value that tells wear".to_owned());
            } else {
                found.readings.push(stamped("smartctl --json", sourced));
            }
        }
    }
}
