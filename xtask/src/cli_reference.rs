//! docs/cli.md: what every command says of itself, so that it can be read without the program.
//!
//! The text is the program's own `--help`, one definition for both.

use std::path::Path;
use std::process::Command;

use anyhow::Result;
use cardproof_testkit::run_command;

/// What stands before the commands.
const OPENING: &str = "\
# The command line

This page is generated from the program's own help by `cargo xtask generate`.

Data goes to standard output; messages and progress go to standard error. The exit status is 0 when done,
1 when it could not be completed, 2 for a mistake in the command line, 3 when refused for safety,
4 when a `--require` was not met, or the result is bad or (of `verify`) undecided, 130 and 143 when stopped by Ctrl-C or
SIGTERM.
";

/// The program that the page is about.
pub(crate) const PROGRAM: &str = "cardproof";

/// The page, from `program` as this workspace has built it.
pub(crate) fn page(program: &Path) -> Result<String> {
    let mut text = OPENING.to_owned();
    add_command(&mut text, program, &[])?;
    Ok(text)
}

/// Adds the help of the command at `path` and of those below it.
fn add_command(text: &mut String, program: &Path, path: &[&str]) -> Result<()> {
    let mut command = Command::new(program);
    // Without a terminal the help is as wide as this says.
    command.args(path).arg("--help").env("COLUMNS", "100");
    let help = run_command(command)?;
    *text += &section(path, &help);
    for name in subcommands(&help) {
        add_command(text, program, &[path, &[name]].concat())?;
    }
    Ok(())
}

/// The section of one command.
fn section(path: &[&str], help: &str) -> String {
    let title = ["cardproof"].iter().chain(path).copied().collect::<Vec<_>>().join(" ");
    let body: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    format!("\n## `{title}`\n\n```text\n{}\n```\n", body.join("\n"))
}

/// The commands that a help lists, without the help's own. Where they stand in groups, each group's question
/// stands where a command would, and the commands are indented below it.
fn subcommands(help: &str) -> impl Iterator<Item = &str> {
    let listed = || {
        let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
        lines.take_while(|line| line.starts_with("  "))
    };
    let indent = if listed().any(|line| line.ends_with('?')) { 4 } else { 2 };
    listed()
        // A line of a longer explanation is indented further.
        .filter(move |line| line.len() - line.trim_start().len() == indent)
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HELP: &str = "\
About it.

Commands:
  run       Measure
            and more
  sim       Simulate
  help      Print this message

Options:
  -h        x
";

    #[test]
    fn the_commands_of_a_help_are_found() {
        assert_eq!(subcommands(HELP).collect::<Vec<_>>(), ["run", "sim"]);
        assert_eq!(subcommands("Usage: x\n").count(), 0);
    }

    #[test]
    fn a_section_has_no_blanks_at_line_ends() {
        assert_eq!(
            section(&["sim"], "a  \n   \nb\n\n"),
            "\n## `cardproof sim`\n\n```text\na\n\nb\n```\n"
        );
    }
}
