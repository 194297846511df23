//! The plan of `tune` for people: in short what, why and the command; in full also gain, risk and undo.

use cardproof_rating::tuning::{AppliedBy, BOOT_PARTITION, Gain, TuningStep, USUAL_UNIT};
use cardproof_report::{wrap_into, wrapped};
use cardproof_units::Bytes;

/// Steps that stand for another one, or for who has set the card up already.
const ALTERNATIVES: [&str; 3] = ["filesystem_f2fs", "filesystem_fat", "journal"];

/// The columns of a step's number and title.
const TITLE: usize = 20;

/// Where the rest is.
const DETAILS: &str = "Risks, other file systems and how to undo: --details\n";

/// How many steps there are: what can be better on this card, as `check` counts it, and what spares any card.
fn heading(target: &str, steps: &[TuningStep]) -> String {
    let mut own = steps.iter().filter(|it| !it.is_habit && !ALTERNATIVES.contains(&it.name));
    let counted = |count: usize, one: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {one}s"),
    };
    let own = match own.by_ref().count() {
        0 => "no setting to change".to_owned(),
        count => counted(count, "step"),
    };
    let habits = match steps.iter().filter(|step| step.is_habit).count() {
        0 => String::new(),
        count => format!(", and {} that spare any card", counted(count, "habit")),
    };
    format!("Plan for {target}: {own}{habits}\n\n")
}

/// The plan on one screen: a step in two or three lines. A command is never broken, since it is copied.
pub(super) fn in_short(target: &str, steps: &[TuningStep], width: u16) -> String {
    let is_shown = |step: &&TuningStep| !ALTERNATIVES.contains(&step.name);
    let shown: Vec<&TuningStep> = steps.iter().filter(is_shown).collect();
    let mut text = heading(target, steps);
    let indent = " ".repeat(TITLE);
    for (number, step) in shown.iter().enumerate() {
        let (title, why) = in_words(step);
        let title = format!("{:>2}. {title}", number + 1);
        wrap_into(&mut text, &format!("{title:<TITLE$}"), why, &indent, usize::from(width));
        for command in commands(step) {
            text.push_str(&format!("{indent}{command}\n"));
        }
        if matches!(step.gain, Gain::Measured { .. }) {
            wrap_into(&mut text, &indent, &gain(&step.gain), &indent, usize::from(width));
        }
    }
    let has = |by: AppliedBy| shown.iter().any(|step| step.applied_by == by);
    text.push('\n');
    if has(AppliedBy::Destroy) {
        text.push_str(&wrapped(&format!("{BOOT_PARTITION}.\n"), width));
    }
    if target.starts_with("sim:") {
        text.push_str(
            "A simulated card cannot be set up: these are the commands for a real one.\n",
        );
        text.push_str(DETAILS);
        return text;
    }
    if has(AppliedBy::Apply) {
        text.push_str("To do the settings now: --apply (and --undo to take them back).\n");
    }
    if has(AppliedBy::Destroy) {
        text.push_str(
            "To make partition and file system, WHICH DELETES ALL DATA: --apply --destroy.\n",
        );
    }
    text.push_str(DETAILS);
    text
}

/// The commands of `step`, as a shell takes them; a remark stands before those that delete data, for a command is
/// often copied without what is said of it.
fn commands(step: &TuningStep) -> impl Iterator<Item = &str> {
    let warning = step.deletes_data.then_some("# DELETES ALL DATA THERE:");
    warning.into_iter().chain(step.commands.iter().map(String::as_str))
}

/// Whether a partition that begins at `start` suits a card whose allocation unit is `unit`. `target` is the word
/// of a shell that names the card.
pub(super) fn alignment(start: Bytes, unit: Option<Bytes>, target: &str) -> String {
    let suits = match unit {
        Some(unit) if start.is_multiple_of(unit) => {
            return format!(
                "The partition begins at {start}: aligned to the card's blocks of {unit}."
            );
        }
        Some(unit) => {
            return format!(
                "The partition begins at {start}: NOT aligned to the card's blocks of {unit}, so some writes \
                 touch two of them."
            );
        }
        None if start.is_multiple_of(USUAL_UNIT) => "which suits most cards",
        None => "which does not suit every card",
    };
    format!(
        "The partition begins at {start}, {suits}; the blocks of this one are not known. To find them: cardproof \
         geometry {target}"
    )
}

/// What a step sets, and why, in a few words.
fn in_words(step: &TuningStep) -> (&str, &str) {
    match step.name {
        "partition" => ("Partition", step.brief.as_deref().unwrap_or(&step.why)),
        "filesystem" => ("File system", "ext4 keeps saved data after a power cut"),
        "scheduler" => ("I/O scheduler", "the one in use suits hard disks"),
        "read_ahead" => ("Read-ahead", "larger reads are faster"),
        "mount_options" => ("noatime", "reading a file then writes nothing"),
        "swap" => ("Swap", "swapping to a card is slow and wears it"),
        "logs" => ("Logs", "many small log writes wear the card"),
        "sqlite" => ("SQLite", "databases are faster in WAL mode"),
        "bus" => ("Bus", &step.why),
        "queue_and_cache" => ("Queue and cache", &step.why),
        other => (other, &step.why),
    }
}

/// The plan with everything that is known of each step.
pub(super) fn in_full(target: &str, steps: &[TuningStep], width: u16) -> String {
    let mut text = heading(target, steps);
    for step in steps {
        text.push_str(&in_detail(step, width));
    }
    text
}

fn in_detail(step: &TuningStep, width: u16) -> String {
    let by = match step.applied_by {
        AppliedBy::Apply => "apply with --apply",
        AppliedBy::Destroy => "apply with --apply --destroy=IDENTITY",
        AppliedBy::Hand => "do it by hand",
    };
    let commands: String = commands(step).map(|line| format!("    {line}\n")).collect();
    let line = |label: &str, text: &str| wrapped(&format!("  {label}: {text}\n"), width);
    // What was measured is no longer expected.
    let expected = match (&step.gain, step.sure) {
        (Gain::Measured { .. }, _) => String::new(),
        (Gain::NotMeasured { .. }, sure) if sure <= 0.5 => "; may help".to_owned(),
        (Gain::NotMeasured { .. }, sure) => format!("; {:.0} % sure that it helps", sure * 100.0),
    };
    let heading = format!("{} ({by}{expected})", title(step.name));
    format!(
        "{}\n{}{commands}{}{}{}\n",
        wrapped(&heading, width),
        line("Why", &step.why),
        line("Gain", &gain(&step.gain)),
        line("Risk", &step.risk),
        line("Undo", &step.undo.join("; ")),
    )
}

fn gain(gain: &Gain) -> String {
    match gain {
        Gain::NotMeasured { not_measured } => format!("not measured ({not_measured})"),
        Gain::Measured {
            ratio,
            low,
            high,
            confidence,
            is_gain,
            before_start_bytes,
            after_start_bytes,
        } => {
            let word = if *is_gain { "measured gain" } else { "no gain is shown" };
            format!(
                "{word}: {ratio:.2} times as fast ({low:.2} to {high:.2} at {:.0} %) with the partition at \
                 {after_start_bytes} instead of {before_start_bytes}",
                confidence * 100.0
            )
        }
    }
}

/// The heading of the step `name`.
fn title(name: &str) -> &str {
    match name {
        "filesystem" => "file system: ext4, or one of the two alternatives below",
        "mount_options" => "mount options",
        "filesystem_f2fs" => "alternative file system: F2FS",
        "filesystem_fat" => {
            "alternative file system: FAT or exFAT, to share the card with other computers"
        }
        "journal" => "journal of an existing ext4",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use cardproof_rating::tuning::{Ground, TuningPlace, tuning_plan};
    use cardproof_record::Conditions;

    use super::*;

    #[test]
    fn a_command_that_deletes_data_says_so_where_it_is_copied() {
        let ground = Some(Ground::of_device(Path::new("/dev/sda")));
        let place = TuningPlace { ground, name: Some("sda"), ..TuningPlace::default() };
        let mut conditions = Conditions::default();
        conditions.device.size_bytes = Some(Bytes::gib(8));
        let steps = tuning_plan(&place, &conditions, None);
        for text in [in_short("sda", &steps, 80), in_full("sda", &steps, 80)] {
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            for (at, line) in lines.iter().enumerate() {
                if line.contains("sfdisk") || line.contains("mkfs.") {
                    assert!(lines[at - 1].contains("DELETES ALL DATA"), "{line} in {text}");
                }
            }
        }
    }

    #[test]
    fn it_is_told_whether_the_partition_is_aligned_now() {
        let told = |start, unit| alignment(start, unit, "'my card'");
        assert!(told(Bytes::mib(4), Some(Bytes::mib(4))).contains(": aligned"));
        assert!(told(Bytes::mib(1), Some(Bytes::mib(4))).contains("NOT aligned"));
        let unknown = told(Bytes::mib(8), None);
        assert!(unknown.contains("suits most cards"), "{unknown}");
        assert!(unknown.ends_with("cardproof geometry 'my card'"), "{unknown}");
    }
}
