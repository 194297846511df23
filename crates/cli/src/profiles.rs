//! `cardproof profiles`: what each profile runs and where it comes from.

use std::fmt::Write;

use cardproof_workload::{Access, PhaseSpec, Profile, Role, TimeLimit, find, names};

use crate::args::ProfilesArgs;
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};

/// Explains one profile or all of them.
pub(crate) fn run(args: &ProfilesArgs) -> Result<Exit, Failure> {
    let wanted: Vec<&str> = match &args.name {
        Some(name) => vec![name],
        None => names().to_vec(),
    };
    let mut text = String::new();
    for name in wanted {
        let Some(profile) = find(name) else {
            return Err(Failure::usage(format!(
                "there is no profile '{name}'; there is: {}",
                names().join(", ")
            )));
        };
        explain(&mut text, &profile);
    }
    output::write(&Sink::Stdout, &text)?;
    Ok(Exit::Done)
}

fn explain(text: &mut String, profile: &Profile) {
    let Profile { name, version, purpose, source, span, time_budget, phases } = profile;
    let written = profile
        .bytes_written_max()
        .map_or_else(String::new, |most| format!(", writes at most {most}"));
    // Writing to a string does not fail.
    let _ = writeln!(text, "{name} (version {version})\n  For: {purpose}\n  From: {source}");
    let _ = writeln!(text, "  Over {span}, in at most {time_budget}{written}\n");
    for phase in phases {
        let _ = writeln!(text, "  {:<28} {}", phase.name, describe(phase));
    }
}

fn describe(phase: &PhaseSpec) -> String {
    let order = match phase.access {
        Access::Sequential => "sequential",
        Access::Random(_) => "random",
    };
    let operation = match phase.read_percent {
        100 => "reads".to_owned(),
        0 => "writes".to_owned(),
        percent => format!("mix, {percent} % reads"),
    };
    let extra = match (phase.role, phase.fsync_every) {
        (Role::LayOut, _) => ", lays the test file out",
        (Role::MeasureAndVerify, _) => ", compares all it reads",
        (Role::Measure, Some(1)) => ", fsync after each",
        (Role::Measure, Some(_)) => ", fsync now and then",
        (Role::Measure, None) => "",
    };
    let time = match phase.ends.time {
        TimeLimit::Share(percent) => format!(", up to {percent} % of the time"),
        TimeLimit::Fixed(time) => format!(", {time}"),
        TimeLimit::None => String::new(),
    };
    format!("{order} {operation} of {}, depth {}{extra}{time}", phase.block_size, phase.queue_depth)
}
