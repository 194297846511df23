//! `cardproof completions` and the manual pages: both follow from the definition of the arguments.

use std::path::PathBuf;

use clap::{Args, Command, ValueEnum};
use clap_complete::Shell;

use cardproof_units::in_words;

use crate::exit::Failure;
use crate::output::{self, Sink};

/// Which shell to complete for.
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Where the manual pages go.
#[derive(Debug, Args)]
pub(crate) struct ManualArgs {
    /// An existing directory
    directory: PathBuf,
}

/// What to type, where no shell was named.
pub(crate) fn without_shell() -> String {
    let shells: Vec<String> = Shell::value_variants().iter().map(Shell::to_string).collect();
    format!(
        "name your shell, such as `cardproof completions bash`; there are {}",
        shells.join(", ")
    )
}

/// Prints the completions of `program` for a shell to standard output.
///
/// # Errors
/// Standard output cannot be written to.
pub(crate) fn print(args: &CompletionsArgs, mut program: Command) -> Result<(), Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, "cardproof", &mut script);
    output::write(&Sink::Stdout, &String::from_utf8_lossy(&script))
}

/// Writes a manual page for `program` and for each of its commands.
///
/// # Errors
/// A page cannot be written.
pub(crate) fn write_manual(args: &ManualArgs, program: Command) -> Result<(), Failure> {
    clap_mangen::generate_to(program, &args.directory).map_err(|error| {
        Failure::incomplete(format!(
            "cannot write manual pages to {}: {error}; name an existing directory",
            args.directory.display(),
            error = in_words(&error)
        ))
    })
}
