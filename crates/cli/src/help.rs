//! The help of the program: its commands by the question that they answer, one line each.
//!
//! The lines are the commands' own; this file has only the groups. A command in no group is hidden.

use clap::Command;

/// The commands by question, in the order in which an owner asks.
const GROUPS: [(&str, &[&str]); 8] = [
    ("Is it good?", &["check", "run", "verify", "profiles"]),
    ("What is it?", &["identify", "health", "log"]),
    ("Why is it slow?", &["diagnose", "watch"]),
    ("Which one?", &["compare", "list", "show", "import"]),
    ("How is it set up?", &["tune", "geometry", "compare-setups"]),
    ("Share it?", &["submit"]),
    ("What does it survive?", &["endure", "powercut"]),
    ("What else?", &["replay", "sim", "completions", "help"]),
];

/// `program` with its commands in groups.
pub(crate) fn grouped(program: Command) -> Command {
    let commands: String = GROUPS.iter().map(|group| lines(&program, group)).collect();
    let commands = commands.trim_end();
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\nCommands:\n{commands}{{after-help}}"
    ))
}

fn lines(program: &Command, (question, names): &(&str, &[&str])) -> String {
    let line = |name: &&str| {
        let about = match program.find_subcommand(name).and_then(Command::get_about) {
            Some(about) => about.to_string(),
            None => "Explain a command".to_owned(),
        };
        format!("    {name:<15} {about}\n")
    };
    format!("  {question}\n{}", names.iter().map(line).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Cli;
    use clap::CommandFactory;

    #[test]
    fn every_command_is_in_one_group() {
        let program = Cli::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        let mut known: Vec<&str> = program
            .get_subcommands()
            .filter(|command| !command.is_hide_set())
            .map(Command::get_name)
            .chain(["help"])
            .collect();
        grouped.sort_unstable();
        known.sort_unstable();
        assert_eq!(grouped, known);
    }

    #[test]
    fn the_help_is_one_screen_of_80_columns() {
        let help = grouped(Cli::command()).render_help().to_string();
        assert!(help.lines().count() <= 60, "{}", help.lines().count());
        let too_long: Vec<&str> = help.lines().filter(|line| line.chars().count() > 80).collect();
        assert!(too_long.is_empty(), "{too_long:#?}");
    }
}
