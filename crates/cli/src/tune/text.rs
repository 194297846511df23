//! The plan of `tune` for people: in short what, why and the command; in full also gain, risk and undo.

use std::path::Path;

use cardproof_rating::tuning::{AppliedBy, Gain};
use cardproof_rating::words::tuning::TuningStep;
use cardproof_report::{wrap_into, wrapped};
use cardproof_session::simulated_name;
use cardproof_units::{rounded_down, rounded_up};

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

/// That a Raspberry Pi's system is not made by the plan, but takes its other steps, which are called `others`; empty
/// where the plan makes no partition.
fn of_a_pi(steps: &[TuningStep], others: &str) -> String {
    let makes = steps.iter().any(|step| step.applied_by == AppliedBy::Destroy);
    if !makes {
        return String::new();
    }
    format!("For a Raspberry Pi system use Raspberry Pi Imager, then {others}.\n")
}

/// The steps of `shown` that delete nothing, by their numbers.
fn others(shown: &[&TuningStep]) -> String {
    let numbers =
        || (1..).zip(shown).filter(|(_, step)| !step.deletes_data).map(|(number, _)| number);
    match (numbers().min(), numbers().max()) {
        (Some(first), Some(last)) if first < last => format!("steps {first} to {last}"),
        (Some(only), _) => format!("step {only}"),
        (None, _) => "it is set up".to_owned(),
    }
}

/// What stands before the steps: what is `there`, and how a Raspberry Pi's system is made.
fn before(there: &str, of_a_pi: &str, width: u16) -> String {
    let text = wrapped(&format!("{there}{of_a_pi}"), width);
    if text.is_empty() { text } else { text + "\n" }
}

/// The plan on one screen: a step in two or three lines, after what is said of the partitions that are `there`. A command
/// is never broken, since it is copied.
pub(super) fn in_short(target: &str, steps: &[TuningStep], there: &str, width: u16) -> String {
    let is_shown = |step: &&TuningStep| !ALTERNATIVES.contains(&step.name);
    let shown: Vec<&TuningStep> = steps.iter().filter(is_shown).collect();
    let mut text = heading(target, steps);
    text.push_str(&before(there, &of_a_pi(steps, &others(&shown)), width));
    let indent = " ".repeat(TITLE);
    for (number, step) in shown.iter().enumerate() {
        let (title, why) = in_words(step);
        let habit = if step.is_habit { " (habit)" } else { "" };
        let title = format!("{:>2}. {title}{habit}", number + 1);
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
    if is_simulated(target) {
        text.push_str(SIMULATED);
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

/// What a step sets, and why, in a few words.
fn in_words(step: &TuningStep) -> (&str, &str) {
    match step.name {
        "partition" => ("Partition", step.brief.as_deref().unwrap_or(&step.why)),
        "filesystem" => ("File system", "ext4 keeps saved data after a power cut"),
        "scheduler" => ("I/O scheduler", "the one in use suits hard disks"),
        "read_ahead" => ("Read-ahead", "larger reads are faster"),
        "mount_options" => ("noatime", "without it, reading a file may write its access time"),
        "swap" => ("Swap", "swapping to a card is slow and wears it"),
        "logs" => ("Logs", "log writes wear the card; restarts will delete the logs"),
        "sqlite" => ("SQLite", "databases are faster in WAL mode"),
        "bus" => ("Bus", &step.why),
        "queue_and_cache" => ("Queue and cache", &step.why),
        other => (other, &step.why),
    }
}

/// The plan with everything that is known of each step.
pub(super) fn in_full(target: &str, steps: &[TuningStep], there: &str, width: u16) -> String {
    let mut text = heading(target, steps);
    text.push_str(&before(there, &of_a_pi(steps, "the steps that delete nothing"), width));
    if is_simulated(target) {
        text.push_str(&format!("{SIMULATED}\n"));
    }
    for step in steps {
        text.push_str(&in_detail(step, is_simulated(target), width));
    }
    text
}

const SIMULATED: &str =
    "A simulated card cannot be set up: these are the commands for a real one.\n";

fn is_simulated(target: &str) -> bool {
    simulated_name(Path::new(target)).is_some()
}

fn in_detail(step: &TuningStep, is_simulated: bool, width: u16) -> String {
    let by = match step.applied_by {
        _ if is_simulated => "for a real card",
        AppliedBy::Apply => "apply with --apply",
        AppliedBy::Destroy => "apply with --apply --destroy",
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
                "{word}: {ratio:.2} times as fast ({} to {} at {:.0} %) with the partition at \
                 {after_start_bytes} instead of {before_start_bytes}",
                rounded_down(*low, 2),
                rounded_up(*high, 2),
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
    use cardproof_rating::tuning::{Ground, TuningPlace};
    use cardproof_rating::words::tuning::tuning_plan;
    use cardproof_record::Conditions;
    use cardproof_units::Bytes;

    use super::*;

    #[test]
    fn a_command_that_deletes_data_says_so_where_it_is_copied() {
        let ground = Some(Ground::of_device(Path::new("/dev/sda")));
        let place = TuningPlace { ground, name: Some("sda"), ..TuningPlace::default() };
        let mut conditions = Conditions::default();
        conditions.device.size_bytes = Some(Bytes::gib(8));
        let steps = tuning_plan(&place, &conditions, None);
        for text in [in_short("sda", &steps, "", 80), in_full("sda", &steps, "", 80)] {
            let lines: Vec<&str> = text.lines().map(str::trim).collect();
            for (at, line) in lines.iter().enumerate() {
                if line.contains("sfdisk") || line.contains("mkfs.") {
                    assert!(lines[at - 1].contains("DELETES ALL DATA"), "{line} in {text}");
                }
            }
        }
    }

    #[test]
    fn a_simulated_card_is_not_to_be_set_up() {
        let mut conditions = Conditions::default();
        conditions.device.size_bytes = Some(Bytes::gib(8));
        let steps = tuning_plan(&TuningPlace::default(), &conditions, None);
        let target = "sim:sandisk-ultra";
        for text in [in_short(target, &steps, "", 80), in_full(target, &steps, "", 80)] {
            assert!(text.contains("cannot be set up") && !text.contains("--apply"), "{text}");
        }
    }

    #[test]
    fn what_is_there_and_how_a_pi_is_set_up_come_before_all_steps() {
        let ground = Some(Ground::of_device(Path::new("/dev/sda")));
        let place = TuningPlace { ground, name: Some("sda"), ..TuningPlace::default() };
        let mut conditions = Conditions::default();
        conditions.device.size_bytes = Some(Bytes::gib(8));
        let mut steps = tuning_plan(&place, &conditions, None);
        let text = in_short("sda", &steps, "The partition is there.\n", 200);
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("no {what} in {text}"));
        let last = steps.iter().filter(|step| !ALTERNATIVES.contains(&step.name)).count();
        let of_a_pi = at(&format!("use Raspberry Pi Imager, then steps 3 to {last}."));
        assert!(at("The partition is there.") < of_a_pi && of_a_pi < at(" 1. Partition"), "{text}");
        steps.retain(|step| !step.deletes_data);
        assert!(!in_short("sda", &steps, "", 80).contains("Imager"));
    }
}
